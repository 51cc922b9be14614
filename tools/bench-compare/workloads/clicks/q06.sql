select count(distinct search_phrase) as phrases from hits
