WITH web AS (
    SELECT ws_item_sk AS item,
        CAST(sum(coalesce(wr_return_quantity, 0)) AS DECIMAL(15, 4)) / sum(coalesce(ws_quantity, 0)) AS return_ratio,
        CAST(sum(coalesce(wr_return_amt, 0)) AS DECIMAL(15, 4)) / sum(coalesce(ws_net_paid, 0)) AS currency_ratio
    FROM web_sales LEFT JOIN web_returns ON ws_order_number = wr_order_number AND ws_item_sk = wr_item_sk, date_dim
    WHERE wr_return_amt > 10000
        AND ws_net_profit > 1
        AND ws_net_paid > 0
        AND ws_quantity > 0
        AND ws_sold_date_sk = d_date_sk
        AND d_year = 2001
        AND d_moy = 12
    GROUP BY ws_item_sk
), catalog AS (
    SELECT cs_item_sk AS item,
        CAST(sum(coalesce(cr_return_quantity, 0)) AS DECIMAL(15, 4)) / sum(coalesce(cs_quantity, 0)) AS return_ratio,
        CAST(sum(coalesce(cr_return_amount, 0)) AS DECIMAL(15, 4)) / sum(coalesce(cs_net_paid, 0)) AS currency_ratio
    FROM catalog_sales LEFT JOIN catalog_returns ON cs_order_number = cr_order_number AND cs_item_sk = cr_item_sk,
        date_dim
    WHERE cr_return_amount > 10000
        AND cs_net_profit > 1
        AND cs_net_paid > 0
        AND cs_quantity > 0
        AND cs_sold_date_sk = d_date_sk
        AND d_year = 2001
        AND d_moy = 12
    GROUP BY cs_item_sk
), store AS (
    SELECT ss_item_sk AS item,
        CAST(sum(coalesce(sr_return_quantity, 0)) AS DECIMAL(15, 4)) / sum(coalesce(ss_quantity, 0)) AS return_ratio,
        CAST(sum(coalesce(sr_return_amt, 0)) AS DECIMAL(15, 4)) / sum(coalesce(ss_net_paid, 0)) AS currency_ratio
    FROM store_sales LEFT JOIN store_returns ON ss_ticket_number = sr_ticket_number AND ss_item_sk = sr_item_sk,
        date_dim
    WHERE sr_return_amt > 10000
        AND ss_net_profit > 1
        AND ss_net_paid > 0
        AND ss_quantity > 0
        AND ss_sold_date_sk = d_date_sk
        AND d_year = 2001
        AND d_moy = 12
    GROUP BY ss_item_sk
)
SELECT channel, item, return_ratio, return_rank, currency_rank
FROM (
    SELECT 'web' AS channel, item, return_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
    FROM web
) AS ranked
WHERE return_rank <= 10 OR currency_rank <= 10
UNION
SELECT channel, item, return_ratio, return_rank, currency_rank
FROM (
    SELECT 'catalog' AS channel, item, return_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
    FROM catalog
) AS ranked
WHERE return_rank <= 10 OR currency_rank <= 10
UNION
SELECT channel, item, return_ratio, return_rank, currency_rank
FROM (
    SELECT 'store' AS channel, item, return_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
    FROM store
) AS ranked
WHERE return_rank <= 10 OR currency_rank <= 10
ORDER BY channel, return_rank, currency_rank, item
LIMIT 100;
