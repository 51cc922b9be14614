SELECT sum(most) AS sum, min(most) AS least
FROM (
    SELECT max(l_extendedprice) OVER (
        PARTITION BY l_partkey ORDER BY l_shipdate, l_orderkey, l_linenumber
        ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING
    ) AS most
    FROM lineitem
);
