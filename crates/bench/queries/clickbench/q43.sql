SELECT date_trunc('minute', event_time) AS minute, count(*) AS views
FROM hits
WHERE counter_id = 62
    AND event_date BETWEEN date '2013-07-14' AND date '2013-07-15'
    AND is_refresh = 0
    AND dont_count_hits = 0
GROUP BY date_trunc('minute', event_time)
ORDER BY minute
LIMIT 10 OFFSET 100;
