select region_id, count(distinct user_id) as users from hits group by region_id order by users desc, region_id limit 10
