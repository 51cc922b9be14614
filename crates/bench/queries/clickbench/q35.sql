SELECT 1 AS one, url, count(*) AS hits
FROM hits
GROUP BY one, url
ORDER BY hits DESC, url
LIMIT 10;
