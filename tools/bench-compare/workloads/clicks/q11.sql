select phone_model, count(distinct user_id) as users from hits where phone_model <> '' group by phone_model order by users desc, phone_model limit 10
