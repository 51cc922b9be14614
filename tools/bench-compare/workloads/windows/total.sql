SELECT max(total - l_quantity) AS most, avg(total) AS middle
FROM (SELECT l_quantity, sum(l_quantity) OVER (PARTITION BY l_partkey) AS total FROM lineitem);
