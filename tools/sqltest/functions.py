#!/usr/bin/env python3
"""Writes behind each call of tests/functions.txt what PostgreSQL gives for it.

    functions.py

A call stands as `name: call`; what PostgreSQL gives follows behind ` --> `, rows between slashes, fields between bars.
The test `functions` of this crate makes docs/functions.md of them and of what Nodewise gives.
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

CALLS = ROOT / "tests/functions.txt"


def result_of(server, call):
    """Rows as text, or the SQLSTATE."""
    try:
        text = server.psql(f"copy (select {call}) to stdout (format csv, null 'NULL', force_quote *)")
    except RuntimeError as error:
        return "error " + re.search(r"(?:ERROR|FATAL): +(\w{5}):", str(error)).group(1)
    rows = csv.reader(io.StringIO(text))
    return " / ".join("|".join("(empty)" if it == "" else it.replace("\n", "\\n") for it in row) for row in rows)


def main():
    server = reference.Postgres()
    lines = []
    try:
        for line in CALLS.read_text().splitlines():
            if line.startswith("! "):
                server.psql(line[2:])
            elif line and not line.startswith(("# ", "## ")):
                name, call = line.split(" --> ")[0].split(": ", 1)
                line = f"{name}: {call} --> {result_of(server, call)}"
            lines.append(line)
    finally:
        server.stop()
    CALLS.write_text("\n".join(lines) + "\n")
    print(f"{sum(' --> ' in it for it in lines)} calls, {sum(' --> error' in it for it in lines)} of them errors")


if __name__ == "__main__":
    main()
