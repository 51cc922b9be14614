"""Answers statements for the fuzzer: one per line of input, each as an escaped text; see duckdb.rs for the format."""

import codecs
import sys

import duckdb

FIELD, RECORD, NULL, END = "\x1f", "\x1e", "\x01", "\x02end"


def text(value):
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "t" if value else "f"
    return str(value)


def answer(connection, sql):
    if sql == "RESET":
        connection = duckdb.connect()
        return connection, ""
    try:
        result = connection.execute(sql)
        rows = result.fetchall() if result.description else []
    except Exception as error:  # every refusal is an answer
        return connection, "ERROR:  " + type(error).__name__ + ": " + str(error).split("\n")[0] + "\n"
    head = FIELD.join(column[0] for column in result.description or [])
    records = [head] + [FIELD.join(text(value) for value in row) for row in rows]
    return connection, RECORD.join(records) + "\n"


connection = duckdb.connect()
for line in sys.stdin:
    sql = codecs.decode(line.rstrip("\n"), "unicode_escape")
    connection, reply = answer(connection, sql)
    sys.stdout.write(reply + END + "\n")
    sys.stdout.flush()
