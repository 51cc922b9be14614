SELECT count(*) AS hits FROM hits;
