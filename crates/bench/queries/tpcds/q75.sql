WITH all_sales AS (
    SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id, sum(sales_cnt) AS sales_cnt,
        sum(sales_amt) AS sales_amt
    FROM (
        SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
            cs_quantity - coalesce(cr_return_quantity, 0) AS sales_cnt,
            cs_ext_sales_price - coalesce(cr_return_amount, 0.0) AS sales_amt
        FROM catalog_sales
            JOIN item ON i_item_sk = cs_item_sk
            JOIN date_dim ON d_date_sk = cs_sold_date_sk
            LEFT JOIN catalog_returns ON cs_order_number = cr_order_number AND cs_item_sk = cr_item_sk
        WHERE i_category = 'Books'
        UNION
        SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
            ss_quantity - coalesce(sr_return_quantity, 0),
            ss_ext_sales_price - coalesce(sr_return_amt, 0.0)
        FROM store_sales
            JOIN item ON i_item_sk = ss_item_sk
            JOIN date_dim ON d_date_sk = ss_sold_date_sk
            LEFT JOIN store_returns ON ss_ticket_number = sr_ticket_number AND ss_item_sk = sr_item_sk
        WHERE i_category = 'Books'
        UNION
        SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
            ws_quantity - coalesce(wr_return_quantity, 0),
            ws_ext_sales_price - coalesce(wr_return_amt, 0.0)
        FROM web_sales
            JOIN item ON i_item_sk = ws_item_sk
            JOIN date_dim ON d_date_sk = ws_sold_date_sk
            LEFT JOIN web_returns ON ws_order_number = wr_order_number AND ws_item_sk = wr_item_sk
        WHERE i_category = 'Books'
    ) AS sales_detail
    GROUP BY d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id
)
SELECT prev.d_year AS prev_year, curr.d_year AS year, curr.i_brand_id, curr.i_class_id, curr.i_category_id,
    curr.i_manufact_id, prev.sales_cnt AS prev_yr_cnt, curr.sales_cnt AS curr_yr_cnt,
    curr.sales_cnt - prev.sales_cnt AS sales_cnt_diff, curr.sales_amt - prev.sales_amt AS sales_amt_diff
FROM all_sales AS curr, all_sales AS prev
WHERE curr.i_brand_id = prev.i_brand_id
    AND curr.i_class_id = prev.i_class_id
    AND curr.i_category_id = prev.i_category_id
    AND curr.i_manufact_id = prev.i_manufact_id
    AND curr.d_year = 2002
    AND prev.d_year = 2002 - 1
    AND CAST(curr.sales_cnt AS DECIMAL(17, 2)) / CAST(prev.sales_cnt AS DECIMAL(17, 2)) < 0.9
ORDER BY sales_cnt_diff, sales_amt_diff
LIMIT 100;
