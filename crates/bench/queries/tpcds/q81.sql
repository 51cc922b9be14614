WITH customer_total_return AS (
    SELECT cr_returning_customer_sk AS customer_sk, ca_state AS state, sum(cr_return_amt_inc_tax) AS total_return
    FROM catalog_returns, date_dim, customer_address
    WHERE cr_returned_date_sk = d_date_sk
        AND d_year = 2000
        AND cr_returning_addr_sk = ca_address_sk
    GROUP BY cr_returning_customer_sk, ca_state
)
SELECT c_customer_id, c_salutation, c_first_name, c_last_name, ca_street_number, ca_street_name, ca_street_type,
    ca_suite_number, ca_city, ca_county, ca_state, ca_zip, ca_country, ca_gmt_offset, ca_location_type, total_return
FROM customer_total_return AS returned, customer_address, customer
WHERE returned.total_return > (
        SELECT 1.2 * avg(total_return)
        FROM customer_total_return AS others
        WHERE others.state = returned.state
    )
    AND ca_address_sk = c_current_addr_sk
    AND ca_state = 'GA'
    AND c_customer_sk = returned.customer_sk
ORDER BY c_customer_id, c_salutation, c_first_name, c_last_name, ca_street_number, ca_street_name, ca_street_type,
    ca_suite_number, ca_city, ca_county, ca_state, ca_zip, ca_country, ca_gmt_offset, ca_location_type, total_return
LIMIT 100;
