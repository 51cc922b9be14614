#!/usr/bin/env python3
"""Makes the reference answers of the 22 TPC-H queries, of the 99 of TPC-DS, or of the 13 of the star schema benchmark.

    reference.py --scale 0.01 --data DIR [--suite tpcds|ssb] [--postgres]

DIR holds the Parquet files of one scale, as `nodewise generate` writes them. DuckDB answers the queries
over exactly these files, and the answers go to answers/sfSCALE/qNN.csv beside the queries, in the format
that crates/nodewise/queries/tpch/answers/README.md describes. With --postgres a PostgreSQL server of its own is started in
a scratch folder, loaded with the same rows, and must give the same answers, or the script fails.
"""

import argparse
import csv
import datetime
import decimal
import glob
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = ROOT / "crates/nodewise/queries/tpch"
SUITES = {"tpch": QUERIES, "tpcds": ROOT / "crates/bench/queries/tpcds", "ssb": ROOT / "crates/bench/queries/ssb"}
CLICKBENCH = ROOT / "crates/bench/queries/clickbench"
# DuckDB puts NULL last in any order; PostgreSQL and we put it first where the order descends.
NULLS = "set default_null_order = 'nulls_last_on_asc_first_on_desc'"


def pieces(text):
    """Cuts a list at its commas, but not within brackets."""
    depth, found = 0, [""]
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [" ".join(it.split()) for it in found]


def outermost(sql, words):
    """Where words begin last outside of all brackets; -1 when they are nowhere."""
    return max((it.start() for it in re.finditer(words, sql) if sql.count("(", 0, it.start()) == sql.count(")", 0, it.start())),
               default=-1)


def keys_of(sql, names):
    """Positions (from 1) of the ORDER BY keys in the select list, up to the first that is no column of it. What they leave
    undecided may come in any order. And whether these are all keys."""
    start = outermost(sql, r"\bORDER BY\b")
    if start < 0:
        return [], True
    end = outermost(sql, r"\bLIMIT\b")
    keys = []
    for key in pieces(sql[start + len("ORDER BY") : end if end > start else len(sql)].rstrip().rstrip(";")):
        name = key.removesuffix(" DESC").rsplit(".", 1)[-1]
        if name not in names:
            return keys, False
        keys.append(names.index(name) + 1)
    return keys, True


BYTES_MAX = 200_000
HEAD_ROWS = 100
MASK = (1 << 64) - 1


def kind_of(duckdb_type):
    """The rule by which a column is compared."""
    name = str(duckdb_type)
    if name in ("DOUBLE", "FLOAT"):
        return "approx"
    if name.startswith("DECIMAL") or name.endswith("INT") or name == "INTEGER":
        return "exact"
    return "text"


def text_of(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def normal(text, kind):
    """An exact number without trailing zeros, so that 1.50 and 1.5 are the same text."""
    if kind != "exact" or text == "NULL":
        return text
    number = decimal.Decimal(text)
    if number == 0:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def checksum(rows, kinds):
    """The sum, modulo 2^64, of the FNV-1a hash of each normalised row; approximate columns stay out."""
    total = 0
    for row in rows:
        fields = [normal(t, k) for t, k in zip(row, kinds) if k != "approx"]
        value = 0xCBF29CE484222325
        for byte in "\x1f".join(fields).encode():
            value = ((value ^ byte) * 0x100000001B3) & MASK
        total = (total + value) & MASK
    return total


def groups(rows, keys, kinds):
    """Cuts rows into runs with equal ORDER BY keys."""
    runs = []
    last = None
    for row in rows:
        key = [normal(row[k - 1], kinds[k - 1]) for k in keys]
        if not runs or key != last:
            runs.append([])
        runs[-1].append(row)
        last = key
    return runs


def equal(expected, actual, keys, kinds, approx=1e-6):
    """The comparison rule of answers/README.md; the Rust side is crates/nodewise/src/reference.rs."""
    if len(expected) != len(actual):
        return f"{len(actual)} rows instead of {len(expected)}"
    at = 0
    for run in groups(expected, keys, kinds):
        other = actual[at : at + len(run)]
        at += len(run)

        def stable(row):
            return [normal(t, k) for t, k in zip(row, kinds) if k != "approx"]

        for want, got in zip(sorted(run, key=stable), sorted(other, key=stable)):
            for index, (a, b, kind) in enumerate(zip(want, got, kinds)):
                if normal(a, kind) == normal(b, kind):
                    continue
                tolerance = {"exact": 1e-9, "approx": approx}.get(kind)
                if tolerance is None or "NULL" in (a, b):
                    return f"column {index + 1}: {b!r} instead of {a!r}"
                x, y = float(a), float(b)
                if abs(x - y) > tolerance * max(abs(x), abs(y)):
                    return f"column {index + 1}: {b} instead of {a}"
    return None


def render(query, scale, names, kinds, rows, keys):
    def body(some):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([f"{n}:{k}" for n, k in zip(names, kinds)])
        writer.writerows(some)
        return out.getvalue()

    order = " ".join(str(k) for k in keys) or "none"
    head = f"# query {query}, scale {scale}, rows {len(rows)}, order {order}"
    text = body(rows)
    if len(text) <= BYTES_MAX:
        return f"{head}\n{text}"
    shown = []
    for run in groups(rows, keys, kinds):
        if len(shown) + len(run) > HEAD_ROWS:
            break
        shown += run
    return f"{head}, checksum {checksum(rows, kinds):016x}\n{body(shown)}"


def read_answer(text):
    """The rows, ORDER BY keys, kinds, row count and checksum (or None) of an answer file."""
    head, body = text.split("\n", 1)
    facts = dict(fact.strip().split(" ", 1) for fact in head.lstrip("#").split(","))
    rows = list(csv.reader(io.StringIO(body)))
    kinds = [column.rsplit(":", 1)[1] for column in rows.pop(0)]
    keys = [] if facts["order"] == "none" else [int(key) for key in facts["order"].split()]
    total = int(facts["checksum"], 16) if "checksum" in facts else None
    return rows, keys, kinds, int(facts["rows"]), total


def fault_of(text, actual, approx=1e-6):
    """Compares a whole result with an answer file; None if it is right."""
    rows, keys, kinds, count, total = read_answer(text)
    if len(actual) != count:
        return f"{len(actual)} rows instead of {count}"
    if total is not None and checksum(actual, kinds) != total:
        return "the checksum over all rows differs"
    return equal(rows, actual[: len(rows)], keys, kinds, approx)


def duckdb_answers(data, queries):
    """Names, kinds, rows and keys of each query; and what no answer decides, because of a tie across its LIMIT."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(NULLS)
    for path in sorted(pathlib.Path(data).glob("*.parquet")):
        connection.execute(f"create table {path.stem} as select * from '{path}'")
    answers, ties = {}, []
    for path in sorted(queries.glob("*.sql")):
        sql = path.read_text()
        result = connection.execute(sql)
        names = [d[0] for d in result.description]
        kinds = [kind_of(d[1]) for d in result.description]
        rows = [[text_of(v) for v in row] for row in result.fetchall()]
        keys, whole = keys_of(sql, names)
        limit = re.search(r"LIMIT (\d+);\s*$", sql)
        if limit and whole and len(keys) < len(names):
            cut = int(limit[1])
            open_ended = connection.execute(sql[: limit.start()]).fetchall()
            if len(open_ended) > cut:
                last, next_ = ([text_of(open_ended[i][k - 1]) for k in keys] for i in (cut - 1, cut))
                same = all(text_of(a) == text_of(b) for a, b in zip(open_ended[cut - 1], open_ended[cut]))
                if last == next_ and not same:
                    ties.append(f"{path.stem}: a tie across LIMIT {cut}: the answer is not determined")
        answers[path.stem] = (names, kinds, rows, keys)
    return connection, answers, ties


class Postgres:
    """A server in a scratch folder, reachable through its socket only. Takes no other server's port or data."""

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        initdb = shutil.which("initdb") or (found[-1] if found else None)
        if initdb is None:
            sys.exit("PostgreSQL's initdb is not here; on Debian: apt-get install postgresql")
        self.bin = pathlib.Path(initdb).resolve().parent
        self.folder = tempfile.mkdtemp(prefix="nodewise-postgres-")
        self.prefix = []
        if os.getuid() == 0:
            # The server refuses to run as root.
            shutil.chown(self.folder, "postgres")
            self.prefix = ["runuser", "-u", "postgres", "--"]
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "nodewise", "-A", "trust", "--locale=C", "-E", "UTF8")
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=256MB -c fsync=off"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", options, "start")

    def run(self, program, *arguments):
        subprocess.run([*self.prefix, str(self.bin / program), *arguments], check=True,
                       stdout=subprocess.DEVNULL, cwd=self.folder)

    def psql(self, sql, stdin=None):
        command = [*self.prefix, str(self.bin / "psql"), "-h", self.folder, "-U", "nodewise", "-d", "postgres",
                   "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-c", sql]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    def stop(self):
        subprocess.run([*self.prefix, str(self.bin / "pg_ctl"), "-D", f"{self.folder}/data", "-m", "immediate",
                        "stop"], check=False, stdout=subprocess.DEVNULL, cwd="/")
        shutil.rmtree(self.folder, ignore_errors=True)


def check_postgres(connection, answers, queries):
    server = Postgres()
    bad = 0
    try:
        for (table,) in connection.execute("select table_name from duckdb_tables()").fetchall():
            columns = connection.execute(f"describe {table}").fetchall()
            server.psql(f"create table {table} ({', '.join(f'{c[0]} {c[1]}' for c in columns)})")
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(
                [["\\N" if v is None else text_of(v) for v in row]
                 for row in connection.execute(f"select * from {table}").fetchall()])
            server.psql(f"copy {table} from stdin (format csv, null '\\N')", out.getvalue())
        if "q22" in answers and "q99" not in answers:
            server.psql("create index on lineitem (l_partkey); create index on lineitem (l_orderkey);"
                        "create index on partsupp (ps_partkey); create index on orders (o_custkey)")
        server.psql("analyze")
        for query, (_, kinds, rows, keys) in answers.items():
            sql = (queries / f"{query}.sql").read_text().rstrip().rstrip(";")
            text = server.psql(f"copy ({sql}) to stdout (format csv, null 'NULL')")
            fault = equal(rows, list(csv.reader(io.StringIO(text))), keys, kinds)
            if fault:
                bad += 1
                print(f"{query}: PostgreSQL disagrees: {fault}")
    finally:
        server.stop()
    print(f"PostgreSQL: {len(answers) - bad} of {len(answers)} answers equal DuckDB's")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of the Parquet files")
    parser.add_argument("--scale", required=True, help="scale of that data, as it is to be written")
    parser.add_argument("--suite", default="tpch", choices=list(SUITES))
    parser.add_argument("--out", help="where to write; default: answers/sfSCALE beside the queries")
    parser.add_argument("--postgres", action="store_true", help="check against PostgreSQL as well")
    args = parser.parse_args()
    queries = SUITES[args.suite]
    out = pathlib.Path(args.out or queries / "answers" / f"sf{args.scale}")
    out.mkdir(parents=True, exist_ok=True)
    connection, answers, ties = duckdb_answers(args.data, queries)
    if ties:
        sys.exit("\n".join(ties))
    for query, (names, kinds, rows, keys) in answers.items():
        text = render(query, args.scale, names, kinds, rows, keys)
        (out / f"{query}.csv").write_text(text)
        print(f"{query}: {len(rows)} rows, {len(text)} bytes")
    if args.postgres and check_postgres(connection, answers, queries):
        sys.exit(1)


if __name__ == "__main__":
    main()
