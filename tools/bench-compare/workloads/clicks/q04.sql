select avg(user_id) as mean from hits
