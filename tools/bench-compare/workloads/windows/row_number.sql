SELECT sum(place) AS places, max(place) AS most
FROM (SELECT row_number() OVER (PARTITION BY l_orderkey ORDER BY l_extendedprice, l_linenumber) AS place FROM lineitem);
