select adv_engine_id, count(*) as hits from hits where adv_engine_id <> 0 group by adv_engine_id order by hits desc, adv_engine_id
