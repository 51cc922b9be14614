WITH sales AS (
    SELECT ws_sold_date_sk AS sold_date_sk, ws_ext_sales_price AS sales_price
    FROM web_sales
    UNION ALL
    SELECT cs_sold_date_sk, cs_ext_sales_price
    FROM catalog_sales
), weeks AS (
    SELECT
        d_week_seq AS week_seq,
        sum(CASE WHEN d_day_name = 'Sunday' THEN sales_price END) AS sun_sales,
        sum(CASE WHEN d_day_name = 'Monday' THEN sales_price END) AS mon_sales,
        sum(CASE WHEN d_day_name = 'Tuesday' THEN sales_price END) AS tue_sales,
        sum(CASE WHEN d_day_name = 'Wednesday' THEN sales_price END) AS wed_sales,
        sum(CASE WHEN d_day_name = 'Thursday' THEN sales_price END) AS thu_sales,
        sum(CASE WHEN d_day_name = 'Friday' THEN sales_price END) AS fri_sales,
        sum(CASE WHEN d_day_name = 'Saturday' THEN sales_price END) AS sat_sales
    FROM sales, date_dim
    WHERE d_date_sk = sold_date_sk
    GROUP BY d_week_seq
)
SELECT
    this.week_seq,
    round(this.sun_sales / next.sun_sales, 2) AS sun_ratio,
    round(this.mon_sales / next.mon_sales, 2) AS mon_ratio,
    round(this.tue_sales / next.tue_sales, 2) AS tue_ratio,
    round(this.wed_sales / next.wed_sales, 2) AS wed_ratio,
    round(this.thu_sales / next.thu_sales, 2) AS thu_ratio,
    round(this.fri_sales / next.fri_sales, 2) AS fri_ratio,
    round(this.sat_sales / next.sat_sales, 2) AS sat_ratio
FROM
    (SELECT weeks.* FROM weeks, date_dim WHERE d_week_seq = week_seq AND d_year = 2001) AS this,
    (SELECT weeks.* FROM weeks, date_dim WHERE d_week_seq = week_seq AND d_year = 2001 + 1) AS next
WHERE this.week_seq = next.week_seq - 53
ORDER BY this.week_seq;
