SELECT watch_id, client_ip, count(*) AS hits, sum(is_refresh) AS refreshes, avg(resolution_width) AS width
FROM hits
GROUP BY watch_id, client_ip
ORDER BY hits DESC, watch_id, client_ip
LIMIT 10;
