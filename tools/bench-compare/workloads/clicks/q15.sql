select user_id, search_phrase, count(*) as hits from hits group by user_id, search_phrase order by hits desc, user_id, search_phrase limit 10
