SELECT url, count(*) AS views
FROM hits
WHERE counter_id = 62
    AND event_date BETWEEN date '2013-07-01' AND date '2013-07-31'
    AND is_refresh = 0
    AND is_link <> 0
    AND is_download = 0
GROUP BY url
ORDER BY views DESC, url
LIMIT 10 OFFSET 100;
