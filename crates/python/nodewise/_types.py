"""Types of columns, and what makes parameters, as PEP 249 has them."""

from __future__ import annotations

import datetime


class TypeGroup:
    """A group of SQL types: equal to the name of each of them, as ``description`` gives it."""

    def __init__(self, name: str, *types: str) -> None:
        self._name, self._types = name, frozenset(types)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.split("(")[0].upper() in self._types
        return self is other

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return f"nodewise.{self._name}"


STRING = TypeGroup("STRING", "TEXT", "VARCHAR", "CHAR", "BPCHAR", "CHARACTER", "NAME", "UUID")
BINARY = TypeGroup("BINARY", "BYTEA")
NUMBER = TypeGroup(
    "NUMBER", "BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "DOUBLE PRECISION", "DECIMAL", "NUMERIC"
)
DATETIME = TypeGroup(
    "DATETIME", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", "TIME WITHOUT TIME ZONE",
    "TIMESTAMP WITHOUT TIME ZONE", "INTERVAL",
)
ROWID = TypeGroup("ROWID")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes
DateFromTicks = datetime.date.fromtimestamp
TimestampFromTicks = datetime.datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> datetime.time:
    """The time of day of a moment, in the zone of this machine."""
    return datetime.datetime.fromtimestamp(ticks).time()
