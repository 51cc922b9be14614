SELECT max(total) AS most, avg(total) AS middle
FROM (
    SELECT sum(l_quantity) OVER (
        PARTITION BY l_suppkey ORDER BY l_shipdate
        RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW
    ) AS total
    FROM lineitem
);
