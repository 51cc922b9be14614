select user_id, count(*) as hits from hits group by user_id order by hits desc, user_id limit 10
