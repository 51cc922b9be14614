SELECT regexp_replace(referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS host, avg(length(referer)) AS length,
    count(*) AS hits, min(referer) AS referer
FROM hits
WHERE referer <> ''
GROUP BY host
HAVING count(*) > 1000
ORDER BY length DESC, host
LIMIT 25;
