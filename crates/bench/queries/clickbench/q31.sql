SELECT search_engine_id, client_ip, count(*) AS hits, sum(is_refresh) AS refreshes, avg(resolution_width) AS width
FROM hits
WHERE search_phrase <> ''
GROUP BY search_engine_id, client_ip
ORDER BY hits DESC, search_engine_id, client_ip
LIMIT 10;
