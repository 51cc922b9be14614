select count(*) as hits from hits where url like '%shop%'
