"""Makes the data of the workloads that `nodewise generate` does not make, with DuckDB's SQL as the generator.

Every value follows from its row number by a hash, so the same scale gives the same rows.
"""

import pathlib
import shutil


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


def files(connection, folder, _scale, source):
    """Lineitem of TPC-H as files that queries read in place: Parquet, CSV, JSON lines of its first two million rows. A folder of
    tables needs one, so nation is there too."""
    lineitem = f"{source}/lineitem.parquet"
    (folder / "parquet").mkdir(exist_ok=True)
    shutil.copyfile(lineitem, folder / "parquet/lineitem.parquet")
    shutil.copyfile(f"{source}/nation.parquet", folder / "nation.parquet")
    connection.execute(f"copy (select * from '{lineitem}') to '{folder}/lineitem.csv' (header)")
    connection.execute(f"copy (select * from '{lineitem}' limit 2000000) to '{folder}/lineitem.json' (format json)")


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
    if name == "scans":
        scans(connection, folder, scale)
    else:
        {"shuffled": shuffled, "files": files}[name](connection, folder, scale, source)
    done.write_text("")
