WITH wss AS (
    SELECT
        d_week_seq AS week_seq, ss_store_sk AS store_sk,
        sum(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price END) AS sun_sales,
        sum(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price END) AS mon_sales,
        sum(CASE WHEN d_day_name = 'Tuesday' THEN ss_sales_price END) AS tue_sales,
        sum(CASE WHEN d_day_name = 'Wednesday' THEN ss_sales_price END) AS wed_sales,
        sum(CASE WHEN d_day_name = 'Thursday' THEN ss_sales_price END) AS thu_sales,
        sum(CASE WHEN d_day_name = 'Friday' THEN ss_sales_price END) AS fri_sales,
        sum(CASE WHEN d_day_name = 'Saturday' THEN ss_sales_price END) AS sat_sales
    FROM store_sales, date_dim
    WHERE d_date_sk = ss_sold_date_sk
    GROUP BY d_week_seq, ss_store_sk
)
SELECT
    this.s_store_name, this.s_store_id, this.week_seq,
    this.sun_sales / next.sun_sales AS sun_ratio,
    this.mon_sales / next.mon_sales AS mon_ratio,
    this.tue_sales / next.tue_sales AS tue_ratio,
    this.wed_sales / next.wed_sales AS wed_ratio,
    this.thu_sales / next.thu_sales AS thu_ratio,
    this.fri_sales / next.fri_sales AS fri_ratio,
    this.sat_sales / next.sat_sales AS sat_ratio
FROM
    (
        SELECT s_store_name, s_store_id, wss.*
        FROM wss, store, date_dim
        WHERE d_week_seq = week_seq
            AND store_sk = s_store_sk
            AND d_month_seq BETWEEN 1212 AND 1212 + 11
    ) AS this,
    (
        SELECT s_store_name, s_store_id, wss.*
        FROM wss, store, date_dim
        WHERE d_week_seq = week_seq
            AND store_sk = s_store_sk
            AND d_month_seq BETWEEN 1212 + 12 AND 1212 + 23
    ) AS next
WHERE this.s_store_id = next.s_store_id
    AND this.week_seq = next.week_seq - 52
ORDER BY this.s_store_name, this.s_store_id, this.week_seq
LIMIT 100;
