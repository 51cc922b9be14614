"""The peers, one class each: load a folder of Parquet files into memory, then run SQL and fetch the whole result.

As a program it is the process of one engine, driven over pipes by compare.py: a JSON object per line in, one out.
"""

import datetime
import decimal
import json
import os
import pathlib
import resource
import sys
import time


def tables_in(folder):
    """Each Parquet file is a table called as the file."""
    return sorted(path.stem for path in pathlib.Path(folder).glob("*.parquet"))


def text_of(value):
    if value is None:
        return "NULL"
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if hasattr(value, "to_datetime"):  # Hyper's own timestamp
        return value.to_datetime().isoformat(" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


class DuckDB:
    """In memory, tables made by CREATE TABLE AS over the Parquet files."""

    def load(self, data, threads):
        import duckdb

        self.version = duckdb.__version__
        self.connection = duckdb.connect(config={"threads": threads})
        for table in tables_in(data):
            self.connection.execute(f"create table {table} as select * from '{data}/{table}.parquet'")

    def run(self, sql):
        return self.connection.execute(sql).fetchall()


class Hyper:
    """Temporary tables, which Hyper keeps in memory; the result crosses from its server process."""

    def load(self, data, threads):
        import tableauhyperapi as hyper

        self.version = hyper.__version__
        self.process = hyper.HyperProcess(
            hyper.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU, parameters={"log_config": ""})
        self.connection = hyper.Connection(self.process.endpoint)
        for table in tables_in(data):
            self.connection.execute_command(
                f"create temporary table {table} as (select * from external('{data}/{table}.parquet'))")

    def run(self, sql):
        with self.connection.execute_query(sql) as result:
            return list(result)


class Polars:
    """Data frames in memory, the queries as SQL through SQLContext: it takes all 22 as they are."""

    def load(self, data, threads):
        import polars

        self.version = polars.__version__
        frames = {table: polars.read_parquet(f"{data}/{table}.parquet").lazy() for table in tables_in(data)}
        self.context = polars.SQLContext(frames)

    def run(self, sql):
        return self.context.execute(sql, eager=True).rows()


class DataFusion:
    """Record batches in memory, as many partitions as threads."""

    def load(self, data, threads):
        import datafusion
        import pyarrow.parquet

        self.version = datafusion.__version__
        config = datafusion.SessionConfig().with_target_partitions(threads)
        self.context = datafusion.SessionContext(config)
        for table in tables_in(data):
            rows = pyarrow.parquet.read_table(f"{data}/{table}.parquet").combine_chunks()
            batches = rows.to_batches(max_chunksize=8192)
            count = min(threads, len(batches))
            self.context.register_record_batches(table, [batches[part::count] for part in range(count)])

    def run(self, sql):
        batches = self.context.sql(sql).collect()
        return [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns))]


ENGINES = {"duckdb": DuckDB, "hyper": Hyper, "polars": Polars, "datafusion": DataFusion}


def peak_bytes():
    """Peak resident memory of this process and, for Hyper, of its server."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for child in children():
        try:
            with open(f"/proc/{child}/status") as status:
                own += sum(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        except OSError:
            pass
    return own


def children():
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return file.read().split()
    except OSError:
        return []


def main():
    # Only replies go to the pipe, whatever an engine prints.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, data, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    engine = ENGINES[name]()

    def reply(**facts):
        replies.write(json.dumps(facts) + "\n")
        replies.flush()

    begin = time.perf_counter()
    engine.load(data, threads)
    reply(load_ms=(time.perf_counter() - begin) * 1e3, version=engine.version)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            begin = time.perf_counter()
            rows = engine.run(request["sql"])
            elapsed = (time.perf_counter() - begin) * 1e3
            text = [[text_of(value) for value in row] for row in rows] if request["rows"] else None
            reply(ms=elapsed, rows=text, peak_bytes=peak_bytes())
        except Exception as error:
            reply(error=f"{type(error).__name__}: {error}"[:300])
    if name == "hyper":
        engine.connection.close()
        engine.process.close()


if __name__ == "__main__":
    main()
