SELECT sum(place) AS places, sum(l_quantity - middle) AS differences, sum(tile) AS tiles
FROM (
    SELECT l_quantity,
        row_number() OVER (PARTITION BY l_suppkey ORDER BY l_shipdate, l_orderkey, l_linenumber) AS place,
        avg(l_quantity) OVER (PARTITION BY l_returnflag, l_linestatus) AS middle,
        ntile(4) OVER (PARTITION BY l_suppkey ORDER BY l_shipdate, l_orderkey, l_linenumber) AS tile
    FROM lineitem
);
