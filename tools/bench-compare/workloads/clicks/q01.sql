select count(*) as hits from hits
