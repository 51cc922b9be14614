SELECT user_id, count(*) AS hits
FROM hits
GROUP BY user_id
ORDER BY hits DESC, user_id
LIMIT 10;
