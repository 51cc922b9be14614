SELECT max(total) AS most, avg(total) AS middle
FROM (SELECT sum(l_quantity) OVER (ORDER BY l_orderkey, l_linenumber) AS total FROM lineitem);
