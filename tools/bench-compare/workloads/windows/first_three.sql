SELECT count(*) AS rows, sum(l_extendedprice) AS prices
FROM (
    SELECT l_extendedprice,
        row_number() OVER (PARTITION BY l_suppkey ORDER BY l_extendedprice DESC, l_orderkey, l_linenumber) AS place
    FROM lineitem
)
WHERE place <= 3;
