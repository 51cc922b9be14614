select counter_id, avg(url_length) as length, count(*) as hits from hits where url_length > 0 group by counter_id having count(*) > 1000 order by length desc, counter_id limit 25
