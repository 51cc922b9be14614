SELECT client_ip, client_ip - 1 AS ip_1, client_ip - 2 AS ip_2, client_ip - 3 AS ip_3, count(*) AS hits
FROM hits
GROUP BY client_ip, client_ip - 1, client_ip - 2, client_ip - 3
ORDER BY hits DESC, client_ip
LIMIT 10;
