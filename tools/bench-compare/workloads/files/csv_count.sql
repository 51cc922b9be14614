SELECT count(*) AS rows FROM '{data}/lineitem.csv';
