SELECT count(*) AS rows
FROM '{data}/parquet/lineitem.parquet'
WHERE l_comment LIKE '%special%requests%';
