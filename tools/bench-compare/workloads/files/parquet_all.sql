SELECT count(*) AS rows, sum(l_quantity) AS quantity, sum(l_extendedprice * (1 - l_discount)) AS price, max(l_shipdate) AS last
FROM '{data}/parquet/lineitem.parquet';
