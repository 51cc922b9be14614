SELECT avg(user_id) AS user_id FROM hits;
