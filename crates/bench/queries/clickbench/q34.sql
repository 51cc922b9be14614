SELECT url, count(*) AS hits
FROM hits
GROUP BY url
ORDER BY hits DESC, url
LIMIT 10;
