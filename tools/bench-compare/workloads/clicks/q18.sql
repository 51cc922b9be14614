select url, event_time from hits where url like '%/item/77%' order by event_time, url limit 10
