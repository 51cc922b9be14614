"""The peers, one class each: load a folder of Parquet files into memory, then run SQL and take the whole result.

A result is taken as Arrow (`form`), as Nodewise gives it, where there is a way to ask for it, so that nobody is measured by
what Python objects cost. Text is made of it after the clock has stopped.

As a program it is the process of one engine, driven over pipes by compare.py: a JSON object per line in, one out. With
`clients` behind its arguments the data are loaded so that many clients can ask at once.
"""

import datetime
import decimal
import itertools
import json
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import threading
import time
import warnings

import reference


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


def rows_of(result):
    """A result in any form as lists of values."""
    if hasattr(result, "columns") and hasattr(result, "num_rows"):  # an Arrow table or batch
        return [list(row) for row in zip(*(column.to_pylist() for column in result.columns))]
    if result and hasattr(result[0], "num_rows"):
        return [row for batch in result for row in rows_of(batch)]
    return result


class DuckDB:
    """In memory, tables made by CREATE TABLE AS over the Parquet files."""

    form = "an Arrow table"

    def load(self, data, threads, _clients):
        import duckdb

        warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")
        self.version = duckdb.__version__
        self.connection = duckdb.connect(config={"threads": threads})
        self.connection.execute(reference.NULLS)
        for table in tables_in(data):
            self.connection.execute(f"create table {table} as select * from '{data}/{table}.parquet'")

    def run(self, sql):
        # By `sql` it would be planned twice; the copy that DuckDB warns of is not to be seen in times.
        return self.connection.execute(sql).to_arrow_table()

    def loaded_bytes(self):
        memory = "select sum(memory_usage_bytes) from duckdb_memory() where tag in ('BASE_TABLE', 'IN_MEMORY_TABLE')"
        return int(self.connection.execute(memory).fetchone()[0])

    def client(self):
        """A connection of its own to the same tables; returns how to ask for rows, and for their number and sum."""
        cursor = self.connection.cursor()

        def rows(sql):
            (values,) = cursor.execute(sql).fetchnumpy().values()
            return len(values), int(values.sum(dtype="int64"))

        def sums(sql):
            found, total = cursor.execute(sql).fetchone()
            return found, int(total or 0)

        return {"rows": rows, "sums": sums}

    def close(self):
        pass


class Hyper:
    """Temporary tables, which Hyper keeps in memory; the result crosses from its server process. A temporary table is of
    one connection, so many clients get a database in a file system in memory. Its package for Python gives rows and
    nothing else."""

    form = "rows of Python objects"

    def load(self, data, threads, clients):
        import tableauhyperapi as hyper

        self.version, self.folder = hyper.__version__, None
        self.process = hyper.HyperProcess(
            hyper.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU, parameters={"log_config": ""})
        before, place, kind = resident_of_children(), [], "temporary table"
        if clients:
            memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
            self.folder, kind = tempfile.mkdtemp(prefix="hyper-", dir=memory), "table"
            place = [f"{self.folder}/tables.hyper", hyper.CreateMode.CREATE_AND_REPLACE]
        self.connection = hyper.Connection(self.process.endpoint, *place)
        for table in tables_in(data):
            self.connection.execute_command(
                f"create {kind} {table} as (select * from external('{data}/{table}.parquet'))")
        # Hyper does not tell the size of a temporary table: what its server has grown by is the next best.
        self.bytes = os.path.getsize(place[0]) if clients else resident_of_children() - before

    def run(self, sql):
        with self.connection.execute_query(sql) as result:
            return list(result)

    def loaded_bytes(self):
        return self.bytes

    def client(self):
        import tableauhyperapi as hyper

        connection = hyper.Connection(self.process.endpoint, f"{self.folder}/tables.hyper")

        def rows(sql):
            with connection.execute_query(sql) as result:
                values = [row[0] for row in result]
            return len(values), sum(values)

        def sums(sql):
            ((found, total),) = connection.execute_list_query(sql)
            return found, int(total or 0)

        return {"rows": rows, "sums": sums, "close": connection.close}

    def close(self):
        self.connection.close()
        self.process.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class Polars:
    """Data frames in memory, the queries as SQL through SQLContext: it takes all 22 as they are."""

    form = "an Arrow table"

    def load(self, data, threads, _clients):
        import polars

        self.version = polars.__version__
        frames = {table: polars.read_parquet(f"{data}/{table}.parquet") for table in tables_in(data)}
        self.bytes = sum(frame.estimated_size() for frame in frames.values())
        self.context = polars.SQLContext({table: frame.lazy() for table, frame in frames.items()})

    def run(self, sql):
        return self.context.execute(sql, eager=True).to_arrow()

    def loaded_bytes(self):
        return self.bytes

    def close(self):
        pass


class DataFusion:
    """Record batches in memory, as many partitions as threads."""

    form = "Arrow batches"

    def load(self, data, threads, _clients):
        import datafusion
        import pyarrow.parquet

        self.bytes = 0

        self.version = datafusion.__version__
        config = datafusion.SessionConfig().with_target_partitions(threads)
        self.context = datafusion.SessionContext(config)
        for table in tables_in(data):
            rows = pyarrow.parquet.read_table(f"{data}/{table}.parquet").combine_chunks()
            self.bytes += rows.get_total_buffer_size()
            batches = rows.to_batches(max_chunksize=8192)
            count = min(threads, len(batches))
            self.context.register_record_batches(table, [batches[part::count] for part in range(count)])

    def run(self, sql):
        return self.context.sql(sql).collect()

    def loaded_bytes(self):
        return self.bytes

    def close(self):
        pass


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


def resident_of_children():
    """Resident bytes of the processes that this one started."""
    pages = 0
    for child in children():
        with open(f"/proc/{child}/statm") as statm:
            pages += int(statm.read().split()[1])
    return pages * resource.getpagesize()


def run_clients(engine, statements, count, asked):
    """Statements by many clients, each in a thread of its own that takes the next one that nobody has begun: the seconds
    from the first to the last, and the rows that qualified, with their sum, over all."""
    clients = [engine.client() for _ in range(count)]
    numbers = itertools.count()
    ready = threading.Barrier(count + 1)
    found, failed = [(0, 0)] * len(statements), []

    def work(client):
        ready.wait()
        try:
            while (number := next(numbers)) < len(statements):
                found[number] = client[asked](statements[number])
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    ready.wait()
    begin = time.perf_counter()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - begin
    for client in clients:
        client.get("close", lambda: None)()
    if failed:
        raise failed[0]
    return elapsed, sum(it[0] for it in found), sum(it[1] for it in found)


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
    name, data, threads, clients = sys.argv[1], sys.argv[2], int(sys.argv[3]), "clients" in sys.argv[4:]
    engine = ENGINES[name]()

    def reply(**facts):
        replies.write(json.dumps(facts) + "\n")
        replies.flush()

    begin = time.perf_counter()
    engine.load(data, threads, clients)
    load_ms = (time.perf_counter() - begin) * 1e3
    reply(load_ms=load_ms, version=engine.version, form=engine.form, loaded_bytes=engine.loaded_bytes())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "statements" in request:
                elapsed, found, total = run_clients(engine, request["statements"], request["clients"], request["asked"])
                reply(ms=elapsed * 1e3, found=found, sum=total, peak_bytes=peak_bytes())
                continue
            begin = time.perf_counter()
            result = engine.run(request["sql"])
            elapsed = (time.perf_counter() - begin) * 1e3
            text = [[text_of(value) for value in row] for row in rows_of(result)] if request["rows"] else None
            reply(ms=elapsed, rows=text, peak_bytes=peak_bytes())
        except Exception as error:
            reply(error=f"{type(error).__name__}: {error}"[:300])
    engine.close()


if __name__ == "__main__":
    main()
