-- A table cut into parts, and parts that move.
CREATE TABLE t AS SELECT l_orderkey AS k, l_linenumber AS small, l_shipdate AS day, l_shipmode AS name,
  l_extendedprice AS price, l_comment AS remark FROM '/lab/tpch-0.01/lineitem.parquet';
CREATE TABLE h AS SELECT o_orderkey AS k, o_totalprice AS total FROM '/lab/tpch-0.01/orders.parquet' WHERE o_orderkey < 20000;
-- query: SELECT count(*), sum(k), sum(price), count(name), min(day) FROM t
-- query: SELECT small, count(*), sum(k), min(day) FROM t WHERE day < DATE '1995-02-01' GROUP BY small ORDER BY small
-- query: SELECT k, small, name FROM t WHERE k = 4711 ORDER BY small
-- query: SELECT count(*), sum(h.total), max(t.day) FROM h JOIN t ON h.k = t.k
ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 4;
ALTER TABLE h PARTITION BY HASH (k) PARTITIONS 4;
ALTER TABLE t PARTITION 2 NUMA NODE (0);
ALTER TABLE t PARTITION 1 NUMA NODE INTERLEAVE;
ALTER TABLE t PARTITION BY HASH (name, small) PARTITIONS 3 NUMA NODE (1);
ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 5;
ALTER TABLE t PARTITION BY RANGE (day) (PARTITION VALUES < DATE '1994-01-01',
  PARTITION DATE '1994-01-01' <= VALUES < DATE '1996-01-01', PARTITION OTHERS);
ALTER TABLE t SPLIT PARTITION 2 AT (DATE '1997-01-01');
ALTER TABLE t PARTITION 3 NUMA NODE (3);
ALTER TABLE t MERGE PARTITIONS 0 TO 1;
ALTER TABLE t NUMA NODE SPLIT;
ALTER TABLE t MERGE PARTITIONS;
ALTER TABLE t NUMA NODE NULL;
