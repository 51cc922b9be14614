#!/usr/bin/env python3
"""Fills in what tests/sql/*.slt expect, from PostgreSQL: rows of queries, SQLSTATEs of errors.

    fill.py [FILE...]        without files: all of them

Write the statement with an empty result (a line `----`) or `statement error`, then run this. Records with a comment
`# ours` are about what PostgreSQL does not have, and stay as they are. A statement that PostgreSQL refuses although
`statement ok` stands before it stops the script.
"""

import csv
import io
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools/bench-compare"))
import reference  # noqa: E402


def fill_record(server, record):
    lines = record.split("\n")
    comments = [line for line in lines if line.startswith("#")]
    lines = [line for line in lines if not line.startswith("#")]
    if not lines or "# ours" in comments:
        return record
    head, body = lines[0], lines[1:]
    sql = "\n".join(body[: body.index("----")] if "----" in body else body)
    if head.startswith("query"):
        text = server.psql(f"copy ({sql}) to stdout (format csv, null 'NULL', force_quote *)")
        rows = [["(empty)" if field == "" else field for field in row] for row in csv.reader(io.StringIO(text))]
        if "rowsort" in head:
            rows.sort()
        lines = [head, sql, "----", *(" ".join(row) for row in rows)]
    elif head.startswith("statement error"):
        try:
            server.psql(sql)
        except RuntimeError as error:
            state = re.search(r"(?:ERROR|FATAL): +(\w{5}):", str(error)).group(1)
            lines = [f"statement error ({state})", sql]
        else:
            sys.exit(f"PostgreSQL takes what should be an error: {sql}")
    elif head == "statement ok":
        server.psql(sql)
    else:
        sys.exit(f"a record of an unknown kind: {head}")
    return "\n".join(comments + lines)


def main():
    files = [pathlib.Path(name) for name in sys.argv[1:]] or sorted((ROOT / "tests/sql").glob("*.slt"))
    server = reference.Postgres()
    try:
        for file in files:
            server.psql("drop schema public cascade")
            server.psql("create schema public")
            records = file.read_text().strip("\n").split("\n\n")
            try:
                filled = [fill_record(server, record) for record in records]
            except RuntimeError as error:
                sys.exit(f"{file.name}: {error}")
            file.write_text("\n\n".join(filled) + "\n")
            print(f"{file.name}: {len(filled)} records")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
