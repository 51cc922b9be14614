SELECT search_phrase, min(url) AS url, min(title) AS title, count(*) AS hits, count(DISTINCT user_id) AS users
FROM hits
WHERE title LIKE '%Google%'
    AND url NOT LIKE '%.google.%'
    AND search_phrase <> ''
GROUP BY search_phrase
ORDER BY hits DESC, search_phrase
LIMIT 10;
