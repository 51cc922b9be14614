WITH customer_total_return AS (
    SELECT wr_returning_customer_sk AS customer_sk, ca_state AS state, sum(wr_return_amt) AS total_return
    FROM web_returns, date_dim, customer_address
    WHERE wr_returned_date_sk = d_date_sk
        AND d_year = 2002
        AND wr_returning_addr_sk = ca_address_sk
    GROUP BY wr_returning_customer_sk, ca_state
)
SELECT c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_day, c_birth_month,
    c_birth_year, c_birth_country, c_login, c_email_address, c_last_review_date_sk, total_return
FROM customer_total_return AS returned, customer_address, customer
WHERE returned.total_return > (
        SELECT 1.2 * avg(total_return)
        FROM customer_total_return AS others
        WHERE others.state = returned.state
    )
    AND ca_address_sk = c_current_addr_sk
    AND ca_state = 'GA'
    AND c_customer_sk = returned.customer_sk
ORDER BY c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_day, c_birth_month,
    c_birth_year, c_birth_country, c_login, c_email_address, c_last_review_date_sk, total_return
LIMIT 100;
