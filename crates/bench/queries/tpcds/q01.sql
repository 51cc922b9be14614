WITH customer_total_return AS (
    SELECT sr_customer_sk AS customer_sk, sr_store_sk AS store_sk, sum(sr_return_amt) AS total_return
    FROM store_returns, date_dim
    WHERE sr_returned_date_sk = d_date_sk
        AND d_year = 2000
    GROUP BY sr_customer_sk, sr_store_sk
)
SELECT c_customer_id
FROM customer_total_return AS returned, store, customer
WHERE returned.total_return > (
        SELECT 1.2 * avg(total_return)
        FROM customer_total_return AS others
        WHERE others.store_sk = returned.store_sk
    )
    AND s_store_sk = returned.store_sk
    AND s_state = 'TN'
    AND c_customer_sk = returned.customer_sk
ORDER BY c_customer_id
LIMIT 100;
