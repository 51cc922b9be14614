select min(event_date) as first_day, max(event_date) as last_day from hits
