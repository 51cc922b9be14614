"""Makes the data of the workloads that are not TPC-H, with DuckDB's SQL as the generator.

Every value follows from its row number by a hash, so the same scale gives the same rows.
"""

import pathlib

# The hash of a row and a salt as a fraction of one, and as one of `n` numbers from 0 on.
MACROS = """
create macro fraction(i, salt) as (hash(i, salt) % 1000003) / 1000003.0;
create macro pick(i, salt, n) as cast(hash(i, salt) % n as integer);
"""

NATIONS = [
    ("ALGERIA", "AFRICA"), ("ARGENTINA", "AMERICA"), ("BRAZIL", "AMERICA"), ("CANADA", "AMERICA"),
    ("EGYPT", "MIDDLE EAST"), ("ETHIOPIA", "AFRICA"), ("FRANCE", "EUROPE"), ("GERMANY", "EUROPE"),
    ("INDIA", "ASIA"), ("INDONESIA", "ASIA"), ("IRAN", "MIDDLE EAST"), ("IRAQ", "MIDDLE EAST"), ("JAPAN", "ASIA"),
    ("JORDAN", "MIDDLE EAST"), ("KENYA", "AFRICA"), ("MOROCCO", "AFRICA"), ("MOZAMBIQUE", "AFRICA"),
    ("PERU", "AMERICA"), ("CHINA", "ASIA"), ("ROMANIA", "EUROPE"), ("SAUDI ARABIA", "MIDDLE EAST"),
    ("VIETNAM", "ASIA"), ("RUSSIA", "EUROPE"), ("UNITED KINGDOM", "EUROPE"), ("UNITED STATES", "AMERICA"),
]


def ssb(connection, folder, scale):
    """The star schema benchmark: one fact table of 6 million rows per scale, four dimensions."""
    def write(table, query):
        connection.execute(f"copy ({query}) to '{folder}/{table}.parquet' (format parquet)")

    connection.execute("create temporary table nations (id integer, nation varchar, region varchar)")
    connection.executemany("insert into nations values (?, ?, ?)", [(i, *pair) for i, pair in enumerate(NATIONS)])
    write("date_dim", """
        select cast(strftime(d, '%Y%m%d') as integer) as d_datekey, d as d_date, strftime(d, '%A') as d_dayofweek,
               strftime(d, '%B') as d_month, cast(year(d) as integer) as d_year,
               cast(year(d) * 100 + month(d) as integer) as d_yearmonthnum, strftime(d, '%b%Y') as d_yearmonth,
               cast((dayofyear(d) - 1) // 7 + 1 as integer) as d_weeknuminyear
        from (select cast(unnest(generate_series(date '1992-01-01', date '1998-12-31', interval 1 day)) as date) as d)
        order by d_datekey""")
    for table, key, rows in [("customer", "cust", int(30_000 * scale)), ("supplier", "supp", int(2_000 * scale))]:
        prefix = key[0]
        salt = ord(prefix)
        write(table, f"""
            select cast(i as integer) as {prefix}_{key}key,
                   '{table.title()}#' || lpad(cast(i as varchar), 9, '0') as {prefix}_name,
                   rpad(left(nation, 9), 9, ' ') || pick(i, {salt} + 1, 10) as {prefix}_city,
                   nation as {prefix}_nation, region as {prefix}_region
            from range(1, {max(rows, 1)} + 1) as r(i) join nations on id = pick(i, {salt}, 25) order by i""")
    parts = part_count(scale)
    write("part", f"""
        select cast(i as integer) as p_partkey, 'MFGR#' || m as p_mfgr, 'MFGR#' || m || c as p_category,
               'MFGR#' || m || c || b as p_brand1, 'color' || pick(i, 44, 92) as p_color,
               'type' || pick(i, 45, 150) as p_type, 1 + pick(i, 46, 50) as p_size, 'box' || pick(i, 47, 40) as p_container
        from (select i, 1 + pick(i, 41, 5) as m, 1 + pick(i, 42, 5) as c, 1 + pick(i, 43, 40) as b
              from range(1, {parts} + 1) as r(i)) order by i""")
    lines = int(6_000_000 * scale)
    write("lineorder", f"""
        select cast(o as integer) as lo_orderkey, cast(i % 4 + 1 as integer) as lo_linenumber,
               1 + pick(o, 51, {max(int(30_000 * scale), 1)}) as lo_custkey, 1 + pick(i, 52, {parts}) as lo_partkey,
               1 + pick(i, 53, {max(int(2_000 * scale), 1)}) as lo_suppkey,
               cast(strftime(date '1992-01-01' + pick(o, 54, 2406), '%Y%m%d') as integer) as lo_orderdate,
               (1 + pick(o, 55, 5)) || '-PRIORITY' as lo_orderpriority, q as lo_quantity, price as lo_extendedprice,
               d as lo_discount, cast(price * (100 - d) // 100 as integer) as lo_revenue,
               cast(price * 6 // (10 * q) as integer) as lo_supplycost, pick(i, 58, 9) as lo_tax,
               'MODE' || pick(i, 59, 7) as lo_shipmode
        from (select i, i // 4 + 1 as o, q, d, cast(q * (90000 + pick(i, 60, 110000)) // 100 as integer) as price
              from (select i, 1 + pick(i, 56, 50) as q, pick(i, 57, 11) as d from range(0, {lines}) as r(i)))
        order by i""")


def part_count(scale):
    """200,000 parts, and as many more with each doubling of the scale."""
    doublings = 0
    while scale >= 2:
        scale, doublings = scale / 2, doublings + 1
    return 200_000 * (1 + doublings)


def scans(connection, folder, scale):
    """The table of P-HANA's scan workload: 10 million rows per scale, 20 columns of random integers that take the widths of
    17 to 26 bits in turn. The first two rows have the least and the greatest value, so that the width is what it says."""
    rows = int(10_000_000 * scale)

    def column(number):
        values = 1 << (17 + number % 10)
        return (f"cast(case i when 0 then 0 when 1 then {values - 1} else hash(i, {100 + number}) % {values} end "
                f"as integer) as c{number}")

    columns = ", ".join(column(number) for number in range(20))
    connection.execute(f"copy (select {columns} from range(0, {rows}) as r(i) order by i) "
                       f"to '{folder}/scans.parquet' (format parquet)")


def shuffled(connection, folder, _scale, source):
    """TPC-H with the rows of lineitem in an order that helps nobody."""
    for path in sorted(pathlib.Path(source).glob("*.parquet")):
        order = " order by hash(l_orderkey, l_linenumber)" if path.stem == "lineitem" else ""
        connection.execute(f"copy (select * from '{path}'{order}) to '{folder}/{path.name}' (format parquet)")


def provide(name, folder, scale, source=None):
    """Makes the files of a workload in a folder unless they are there."""
    folder = pathlib.Path(folder)
    done = folder / f"{name}-{scale:g}.made"
    if done.exists():
        return
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("set enable_progress_bar = false")
    connection.execute(MACROS)
    maker = {"ssb": ssb, "scans": scans}.get(name)
    if maker:
        maker(connection, folder, scale)
    else:
        shuffled(connection, folder, scale, source)
    done.write_text("")
