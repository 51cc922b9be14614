SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, avg(l_extendedprice) AS price, count(*) AS rows
FROM '{data}/parquet/lineitem.parquet'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;
