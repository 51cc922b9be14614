SELECT count(*) AS hits FROM hits WHERE adv_engine_id <> 0;
