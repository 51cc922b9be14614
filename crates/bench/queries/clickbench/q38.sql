SELECT title, count(*) AS views
FROM hits
WHERE counter_id = 62
    AND event_date BETWEEN date '2013-07-01' AND date '2013-07-31'
    AND dont_count_hits = 0
    AND is_refresh = 0
    AND title <> ''
GROUP BY title
ORDER BY views DESC, title
LIMIT 10;
