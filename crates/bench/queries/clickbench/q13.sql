SELECT search_phrase, count(*) AS hits
FROM hits
WHERE search_phrase <> ''
GROUP BY search_phrase
ORDER BY hits DESC, search_phrase
LIMIT 10;
