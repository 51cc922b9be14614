SELECT sum(place) AS places, max(place) AS most
FROM (SELECT rank() OVER (PARTITION BY l_suppkey ORDER BY l_shipdate) AS place FROM lineitem);
