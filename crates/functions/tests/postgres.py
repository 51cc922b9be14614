"""Writes the results behind the calls of postgres.txt, as a server of PostgreSQL gives them.

    python postgres.py 'psql command' < calls > postgres.txt

The extension fuzzystrmatch must be there. Lines without ` => ` are asked; all others stay as they are.
"""

import subprocess
import sys

TYPES = {"bool": "boolean", "small": "smallint", "int": "integer", "big": "bigint", "real": "real",
         "dbl": "double precision", "text": "text", "date": "date", "ts": "timestamp"}
FOLDED = {"upper", "lower", "initcap"}
ALIASES = {"signum": "sign", "trim": "btrim", "datepart": "date_part"}
WORDS = {"greatest", "least", "coalesce", "nullif"}


def unescape(text):
    return text.replace("\\p", "|").replace("\\n", "\n").replace("\\\\", "\\")


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("|", "\\p")


def argument(written):
    name, colon, text = written.partition(":")
    if name == "null":
        return "NULL"
    sql = TYPES.get(name) or "numeric(" + name.removeprefix("dec") + ")"
    if not colon:
        return f"NULL::{sql}"
    return "'" + unescape(text).replace("'", "''") + f"'::{sql}"


def statement(call):
    name, *arguments = call.split("|")
    name = ALIASES.get(name, name)
    sql = [argument(it) for it in arguments]
    if name in FOLDED:
        sql[0] += ' COLLATE "pg_unicode_fast"'
    if name == "extract":
        return f"extract({arguments[0].partition(':')[2]} from {sql[1]})"
    if name == "concat_operator":
        return f"{sql[0]} || {sql[1]}"
    if name == "like":
        operator = "ILIKE" if arguments[3] == "bool:true" else "LIKE"
        return f"{sql[0]} {operator} {sql[1]} ESCAPE {sql[2]}"
    if name == "to_timestamp":
        return f"to_timestamp({', '.join(sql)}) AT TIME ZONE 'UTC'"
    quoted = name if name in WORDS else f'"{name}"'
    return f"{quoted}({', '.join(sql)})"


def main():
    lines = sys.stdin.read().splitlines()
    asked = [it for it in lines if it and not it.startswith("#") and " => " not in it]
    results = {}
    for call in asked:
        script = ("\\set VERBOSITY sqlstate\nSET timezone = 'UTC';\n"
                  f"SELECT '<' || coalesce(({statement(call)})::text, 'NULL') || '>';\n")
        run = subprocess.run(sys.argv[1].split() + ["-AtqX"], input=script, text=True,
                             capture_output=True, check=False)
        if run.stderr:
            results[call] = "!" + run.stderr.strip().split()[-1]
        else:
            results[call] = escape(run.stdout.strip("\n")[1:-1])
    for line in lines:
        print(f"{line} => {results[line]}" if line in results else line)


main()
