WITH means AS (
    SELECT ss_item_sk AS item_sk, avg(ss_net_profit) AS mean
    FROM store_sales
    WHERE ss_store_sk = 4
    GROUP BY ss_item_sk
    HAVING avg(ss_net_profit) > 0.9 * (
        SELECT avg(ss_net_profit)
        FROM store_sales
        WHERE ss_store_sk = 4
            AND ss_addr_sk IS NULL
        GROUP BY ss_store_sk
    )
)
SELECT ascending.rnk, i1.i_product_name AS best_performing, i2.i_product_name AS worst_performing
FROM
    (
        SELECT *
        FROM (SELECT item_sk, rank() OVER (ORDER BY mean) AS rnk FROM means) AS ranked
        WHERE rnk < 11
    ) AS ascending,
    (
        SELECT *
        FROM (SELECT item_sk, rank() OVER (ORDER BY mean DESC) AS rnk FROM means) AS ranked
        WHERE rnk < 11
    ) AS descending,
    item AS i1, item AS i2
WHERE ascending.rnk = descending.rnk
    AND i1.i_item_sk = ascending.item_sk
    AND i2.i_item_sk = descending.item_sk
ORDER BY ascending.rnk
LIMIT 100;
