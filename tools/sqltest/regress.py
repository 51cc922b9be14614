#!/usr/bin/env python3
"""Runs PostgreSQL's regression files on PostgreSQL and on Nodewise, statement by statement, and counts what is the same.

    regress.py FOLDER BINARY [--report DIR] [--files NAME,NAME] [--postgres DSN]

FOLDER is `src/test/regress` of PostgreSQL's source, of which `sql` is read, and `data` where it is there: without it the tables
`onek` and `tenk1` get rows of the same kind. Each file runs in a database of its own on both. psycopg 3 is needed, and a
PostgreSQL whose role may make databases. Statements that read files, load libraries or tell plans are skipped.

right    the same rows (in any order where none is asked for), or the same SQLSTATE
order    the same rows in another order, which ties of ORDER BY and windows may have
wrong    other rows
taken    an error there, none here
state    another SQLSTATE
refused  an error here alone
follows  any of these, of a statement that names what an earlier one left otherwise
"""

import argparse
import collections
import pathlib
import random
import re
import socket
import subprocess
import time

from psycopg import pq

SKIPPED = re.compile(r"\s*(explain|vacuum|analyze|show\s+all|reindex|cluster|create\s+tablespace)\b", re.I)
OUTSIDE = re.compile(r"abs_srcdir|:'filename|regresslib|dlsuffix|language\s+'?(c|internal|plpgsql)\b", re.I)
CHANGED = re.compile(
    r"(?:insert\s+into|update(?:\s+only)?|delete\s+from(?:\s+only)?|merge\s+into|truncate(?:\s+table)?|copy"
    r"|(?:alter|drop|create)\s+(?:\w+\s+)*?(?:table|view|index|function|type|domain|sequence|schema|role|user)"
    r"(?:\s+if\s+(?:not\s+)?exists)?(?:\s+only)?|prepare|declare|into(?:\s+temp)?(?:\s+table)?)\s+\"?(?:\w+\.)?(\w+)",
    re.I,
)
TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*)|(?P<command>\\[^\n]*)|(?P<text>[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')|(?P<name>"[^"]*")"""
    r"""|(?P<dollar>\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)|(?P<end>;)|(?P<sign>[()])|(?P<block>/\*.*?\*/)|(?P<other>[\w$]+|.)""",
    re.S,
)


def statements(text):
    """The statements of a file for psql, each with the rows that follow a COPY."""
    place, depth, parts = 0, 0, []
    while place < len(text):
        found = TOKEN.match(text, place)
        place, kind = found.end(), found.lastgroup if found.lastgroup != "tag" else "dollar"
        if kind in ("comment", "block"):
            parts.append(" ")
        elif kind == "command" or (kind == "end" and depth == 0):
            statement = "".join(parts).strip()
            if not statement or (kind == "command" and not re.match(r"\\g", found.group())):
                if kind == "end":
                    parts = []
                continue
            parts, rows = [], None
            if re.match(r"copy\b.*\bfrom\s+stdin\b", statement, re.I | re.S):
                begin = text.find("\n", place) + 1
                end = re.compile(r"^\\\.\s*$", re.M).search(text, begin)
                if end:
                    rows, place = text[begin : end.start()], end.end()
            yield statement, rows
        else:
            depth += {"(": 1, ")": -1}.get(found.group(), 0) if kind == "sign" else 0
            parts.append(found.group())
    if "".join(parts).strip():
        yield "".join(parts).strip(), None


class Session:
    """A connection by the simple protocol; all values are texts."""

    def __init__(self, dsn):
        self.link = pq.PGconn.connect(dsn.encode())
        if self.link.status != pq.ConnStatus.OK:
            raise RuntimeError(self.link.error_message)
        self.link.notice_handler = lambda _: None

    def run(self, sql, rows=None):
        """What the last result is: its kind, a SQLSTATE or a tag, and rows or a message."""
        last = ("done", "", [])
        self.link.send_query(sql.encode())
        while (result := self.link.get_result()) is not None:
            if result.status == pq.ExecStatus.COPY_IN:
                self.link.put_copy_data((rows or "").encode())
                self.link.put_copy_end()
            elif result.status == pq.ExecStatus.COPY_OUT:
                lines = iter(lambda: self.link.get_copy_data(0), None)
                copied = []
                for size, line in lines:
                    if size <= 0:
                        break
                    copied.append((bytes(line).decode(errors="replace"),))
                last = ("rows", "COPY", copied)
            elif result.status == pq.ExecStatus.TUPLES_OK:
                last = ("rows", "", [self.row(result, it) for it in range(result.ntuples)])
            elif result.status == pq.ExecStatus.FATAL_ERROR:
                state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
                last = ("error", state.decode(), result.error_message.decode(errors="replace"))
            elif last[1] != "COPY":
                last = ("done", (result.command_status or b"").decode(), [])
        return last

    @staticmethod
    def row(result, number):
        values = (result.get_value(number, it) for it in range(result.nfields))
        return tuple(None if it is None else it.decode(errors="replace") for it in values)


def made_rows(count):
    """Rows of the tables `onek` and `tenk1`."""
    chance, lines = random.Random(5), []
    numbers = list(range(count))
    chance.shuffle(numbers)
    name = lambda it: "".join(chr(65 + it // 26**place % 26) for place in range(3)) + "AAA"  # noqa: E731
    for place, it in enumerate(numbers):
        parts = [it, place, *(it % of for of in (2, 4, 10, 20, 100, 1000, 2000, 5000, 10000))]
        parts += [it % 100 * 2, it % 100 * 2 + 1, name(it), name(place), ("AAAA", "HHHH", "OOOO", "VVVV")[place % 4]]
        lines.append("\t".join(map(str, parts)))
    return "\n".join(lines) + "\n"


def setup(folder):
    """What the files find before they begin."""
    for statement, rows in statements((folder / "sql/test_setup.sql").read_text()):
        copied = re.match(r"copy\s+(\w+)\s+from\b", statement, re.I)
        if copied:
            table = copied.group(1).lower()
            file = folder / f"data/{table.replace('tenk1', 'tenk').replace('road', 'streets')}.data"
            made = {"onek": 1000, "tenk1": 10000}
            if file.exists() or table in made:
                rows = file.read_text() if file.exists() else made_rows(made[table])
                yield f"COPY {table} FROM STDIN", rows
        elif not re.search("regresslib|tablespace", statement, re.I):
            yield statement, rows


def kind_of(statement, there, here):
    if there[0] == "error" or here[0] == "error":
        if there[0] == here[0]:
            return "right" if there[1] == here[1] else "state"
        return "taken" if there[0] == "error" else "refused"
    if there[2] == here[2]:
        return "right"
    if sorted(map(repr, there[2])) != sorted(map(repr, here[2])):
        return "wrong"
    return "order" if re.search(r"order\s+by", statement, re.I) else "right"


def compare(file, sessions, before, report):
    """Counts of one file; what differs goes into a report."""
    counts, changed = collections.Counter(), set()
    for session in sessions:
        for statement, rows in before:
            session.run(statement, rows)
        session.run("SET statement_timeout = '20s'")
        session.run("SET TimeZone = 'America/Los_Angeles'")
    for statement, rows in statements(file.read_text()):
        there, here = (session.run(statement, rows) for session in sessions)
        if SKIPPED.match(statement) or OUTSIDE.search(statement):
            counts["skipped"] += 1
            continue
        kind, words = kind_of(statement, there, here), set(re.findall(r"\w+", statement.lower()))
        named = CHANGED.search(statement)
        if kind != "right" and named:
            changed.add(named.group(1).lower())
        own = {named.group(1).lower()} if named and re.match(r"\s*create", statement, re.I) else set()
        is_late = words & (changed - own) or here[1] in ("25P02", "3B001")
        kind = "follows" if kind != "right" and is_late else kind
        counts[kind] += 1
        if kind != "right":
            report.write(f"#### {kind}\n{statement}\n--there\n{there[1]} {there[2]}\n--here\n{here[1]} {here[2]}\n\n")
        states = {session.link.transaction_status for session in sessions}
        if len(states) > 1 and pq.TransactionStatus.INERROR in states:
            for session in sessions:
                session.run("ROLLBACK")
    return counts


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as it:
        return it.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("binary")
    parser.add_argument("--report", type=pathlib.Path, default=pathlib.Path("regress-report"))
    parser.add_argument("--files", help="names without .sql; all of the folder when not given")
    parser.add_argument("--postgres", default="host=127.0.0.1 user=nodewise dbname=nodewise")
    given = parser.parse_args()
    given.report.mkdir(parents=True, exist_ok=True)
    names = given.files.split(",") if given.files else sorted(it.stem for it in (given.folder / "sql").glob("*.sql"))
    before, total = list(setup(given.folder)), collections.Counter()
    owner = Session(given.postgres)
    for name in names:
        owner.run("DROP DATABASE IF EXISTS regress_here WITH (FORCE)")
        owner.run("CREATE DATABASE regress_here TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
        port = free_port()
        server = subprocess.Popen(
            [given.binary, "serve", "--listen", f"127.0.0.1:{port}", "--trust-loopback"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(100):
                time.sleep(0.05)
                if pq.PGconn.ping(f"host=127.0.0.1 port={port}".encode()) == pq.Ping.OK:
                    break
            dsn = given.postgres + " dbname=regress_here"
            sessions = [Session(dsn), Session(f"host=127.0.0.1 port={port} user=nodewise dbname=nodewise")]
            with open(given.report / f"{name}.txt", "w", encoding="utf-8") as report:
                counts = compare(given.folder / f"sql/{name}.sql", sessions, before, report)
        finally:
            server.terminate()
            server.wait()
        print(f"{name:20}", " ".join(f"{kind} {count}" for kind, count in sorted(counts.items())), flush=True)
        total += counts
    run = sum(count for kind, count in total.items() if kind != "skipped")
    print(f"{run} statements, {100 * total['right'] / max(run, 1):.1f} % right:", dict(total))


if __name__ == "__main__":
    main()
