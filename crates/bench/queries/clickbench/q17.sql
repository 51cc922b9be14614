SELECT user_id, search_phrase, count(*) AS hits
FROM hits
GROUP BY user_id, search_phrase
ORDER BY hits DESC, user_id, search_phrase
LIMIT 10;
