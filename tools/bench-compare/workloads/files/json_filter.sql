SELECT l_shipmode, count(*) AS rows, sum(l_extendedprice) AS price
FROM '{data}/lineitem.json'
WHERE l_shipdate >= DATE '1995-01-01' AND l_shipdate < DATE '1996-01-01'
GROUP BY l_shipmode
ORDER BY l_shipmode;
