SELECT max(total) AS most, avg(total) AS middle
FROM (
    SELECT sum(l_extendedprice) OVER (
        PARTITION BY l_suppkey ORDER BY l_shipdate, l_orderkey, l_linenumber
        ROWS BETWEEN 9 PRECEDING AND CURRENT ROW
    ) AS total
    FROM lineitem
);
