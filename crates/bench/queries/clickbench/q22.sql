SELECT search_phrase, min(url) AS url, count(*) AS hits
FROM hits
WHERE url LIKE '%google%'
    AND search_phrase <> ''
GROUP BY search_phrase
ORDER BY hits DESC, search_phrase
LIMIT 10;
