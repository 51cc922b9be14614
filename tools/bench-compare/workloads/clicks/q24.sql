select url, count(*) as views from hits where counter_id = 62 and event_date >= date '2013-07-01' and event_date <= date '2013-07-31' and is_refresh = 0 group by url order by views desc, url limit 10
