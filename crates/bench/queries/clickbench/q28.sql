SELECT counter_id, avg(length(url)) AS length, count(*) AS hits
FROM hits
WHERE url <> ''
GROUP BY counter_id
HAVING count(*) > 1000
ORDER BY length DESC, counter_id
LIMIT 25;
