-- Placements of a whole table and of its columns.
CREATE TABLE t AS SELECT l_orderkey AS k, l_linenumber AS small, l_shipdate AS day, l_shipmode AS name,
  l_extendedprice AS price, l_comment AS remark FROM '/lab/tpch-0.01/lineitem.parquet';
CREATE TABLE r AS SELECT * FROM '/lab/tpch-0.01/nation.parquet';
-- query: SELECT count(*), sum(k), sum(price), count(name), min(day) FROM t
-- query: SELECT small, count(*), sum(k), min(day) FROM t WHERE day < DATE '1995-02-01' GROUP BY small ORDER BY small
-- query: SELECT k, small, name, remark FROM t WHERE k = 4711 ORDER BY small
-- query: SELECT count(*), min(n_name) FROM r
ALTER TABLE t NUMA NODE (0);
ALTER TABLE t NUMA NODE (3);
ALTER TABLE t NUMA NODE SPLIT;
ALTER TABLE t NUMA NODE SPLIT (1, 3);
ALTER TABLE t NUMA NODE INTERLEAVE;
ALTER TABLE t NUMA NODE INTERLEAVE (2 TO 3) IMMEDIATE;
ALTER TABLE t NUMA NODE ROUNDROBIN;
ALTER TABLE t ALTER COLUMN k NUMA NODE (2);
ALTER TABLE t ALTER (k BIGINT NUMA NODE (1), name NUMA NODE INTERLEAVE);
ALTER TABLE t ROWS 10000 TO 59999 NUMA NODE (3);
ALTER TABLE t NUMA NODE (1) DEFERRED;
CALL nodewise.apply_placement('t');
ALTER TABLE r NUMA NODE REPLICATE;
ALTER TABLE t NUMA NODE NULL;
CREATE TABLE u AS (SELECT * FROM t) NUMA NODE SPLIT;
DROP TABLE u;
