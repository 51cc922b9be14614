SELECT count(*) AS rows, sum(l_extendedprice) AS price
FROM '{data}/parquet/lineitem.parquet'
WHERE l_orderkey BETWEEN 3000000 AND 3010000;
