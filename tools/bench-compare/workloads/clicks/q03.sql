select sum(adv_engine_id) as engines, count(*) as hits, avg(resolution_width) as width from hits
