select search_phrase, event_time from hits where search_phrase <> '' order by event_time, search_phrase limit 10
