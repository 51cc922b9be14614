SELECT url_hash, event_date, count(*) AS views
FROM hits
WHERE counter_id = 62
    AND event_date BETWEEN date '2013-07-01' AND date '2013-07-31'
    AND is_refresh = 0
    AND trafic_source_id IN (-1, 6)
    AND referer_hash = 8612267537832600297
GROUP BY url_hash, event_date
ORDER BY views DESC, url_hash, event_date
LIMIT 10 OFFSET 10;
