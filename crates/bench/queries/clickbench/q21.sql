SELECT count(*) AS hits FROM hits WHERE url LIKE '%google%';
