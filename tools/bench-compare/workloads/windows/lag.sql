SELECT count(*) AS later, sum(l_extendedprice - before) AS difference
FROM (
    SELECT l_extendedprice,
        lag(l_extendedprice) OVER (PARTITION BY l_suppkey ORDER BY l_shipdate, l_orderkey, l_linenumber) AS before
    FROM lineitem
)
WHERE before IS NOT NULL;
