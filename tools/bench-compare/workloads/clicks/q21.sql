select sum(resolution_width) as w0, sum(resolution_width + 1) as w1, sum(resolution_width + 2) as w2, sum(resolution_width + 3) as w3, sum(resolution_width + 4) as w4 from hits
