SELECT window_client_width, window_client_height, count(*) AS views
FROM hits
WHERE counter_id = 62
    AND event_date BETWEEN date '2013-07-01' AND date '2013-07-31'
    AND is_refresh = 0
    AND dont_count_hits = 0
    AND url_hash = 8612267537832600297
GROUP BY window_client_width, window_client_height
ORDER BY views DESC, window_client_width, window_client_height
LIMIT 10 OFFSET 10;
