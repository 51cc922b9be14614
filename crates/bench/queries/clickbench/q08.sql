SELECT adv_engine_id, count(*) AS hits
FROM hits
WHERE adv_engine_id <> 0
GROUP BY adv_engine_id
ORDER BY hits DESC, adv_engine_id;
