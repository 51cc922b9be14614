select count(distinct user_id) as users from hits
