SELECT sum(adv_engine_id) AS engines, count(*) AS hits, avg(resolution_width) AS width FROM hits;
