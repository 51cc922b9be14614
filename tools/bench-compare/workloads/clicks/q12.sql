select search_phrase, count(*) as hits from hits where search_phrase <> '' group by search_phrase order by hits desc, search_phrase limit 10
