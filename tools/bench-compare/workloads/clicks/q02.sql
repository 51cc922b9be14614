select count(*) as hits from hits where adv_engine_id <> 0
