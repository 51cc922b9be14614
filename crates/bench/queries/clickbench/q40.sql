SELECT trafic_source_id, search_engine_id, adv_engine_id,
    CASE WHEN search_engine_id = 0 AND adv_engine_id = 0 THEN referer ELSE '' END AS source, url AS target,
    count(*) AS views
FROM hits
WHERE counter_id = 62
    AND event_date BETWEEN date '2013-07-01' AND date '2013-07-31'
    AND is_refresh = 0
GROUP BY trafic_source_id, search_engine_id, adv_engine_id, source, target
ORDER BY views DESC, trafic_source_id, search_engine_id, adv_engine_id, source, target
LIMIT 10 OFFSET 100;
