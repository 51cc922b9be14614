SELECT count(DISTINCT ws_order_number) AS order_count, sum(ws_ext_ship_cost) AS total_shipping_cost,
    sum(ws_net_profit) AS total_net_profit
FROM web_sales AS ws1, date_dim, customer_address, web_site
WHERE d_date BETWEEN date '1999-02-01' AND date '1999-02-01' + interval '60' day
    AND ws1.ws_ship_date_sk = d_date_sk
    AND ws1.ws_ship_addr_sk = ca_address_sk
    AND ca_state = 'IL'
    AND ws1.ws_web_site_sk = web_site_sk
    AND web_company_name = 'pri'
    AND EXISTS (
        SELECT *
        FROM web_sales AS ws2
        WHERE ws1.ws_order_number = ws2.ws_order_number
            AND ws1.ws_warehouse_sk <> ws2.ws_warehouse_sk
    )
    AND NOT EXISTS (
        SELECT *
        FROM web_returns
        WHERE ws1.ws_order_number = wr_order_number
    )
ORDER BY order_count
LIMIT 100;
