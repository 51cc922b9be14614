select search_phrase, min(url) as first_url, count(*) as hits from hits where url like '%news%' and search_phrase <> '' group by search_phrase order by hits desc, search_phrase limit 10
