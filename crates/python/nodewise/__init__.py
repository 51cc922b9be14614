"""Nodewise, an analytical SQL database for machines whose memory is not uniform, in this process.

>>> import nodewise
>>> con = nodewise.connect()
>>> con.sql("SELECT 6 * 7 AS answer").fetchall()
[(42,)]

The module is a DB-API 2.0 (PEP 249); rows leave and come in as Arrow streams, so that pandas, Polars, pyarrow and DuckDB
take them without copies.
"""

from __future__ import annotations

import os
from typing import Any

from ._connection import Connection
from ._cursor import Cursor
from ._errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from ._native import __version__
from ._types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
#: Threads may share the module and connections; statements of one connection run one after the other.
threadsafety = 2
#: ``?`` in order. ``$1`` in order and ``$name`` with a dictionary are understood, too.
paramstyle = "qmark"


def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    autocommit: bool = True,
    scan_variables: bool = True,
    **settings: Any,
) -> Connection:
    """Opens the database of a folder, which is made if it is not there, or without one a new database in memory.

    ``autocommit``: whether each statement outside of BEGIN is a transaction of its own. Otherwise the first statement
    opens one, which ends with ``commit()`` or ``rollback()``.
    ``scan_variables``: whether the name of a table that there is not may mean a variable of the caller that holds rows.
    ``settings``: ``threads``, the number of workers, and all that SET takes, as ``memory_limit="4GB"``.
    """
    return Connection._open(path, autocommit, scan_variables, settings)


def topology() -> list[dict[str, Any]]:
    """The NUMA nodes of this machine: one dictionary for each, as `Connection.topology` gives them."""
    with connect() as connection:
        return connection.topology()


__all__ = [
    "BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "Binary", "Connection", "Cursor", "DataError", "DatabaseError",
    "Date", "DateFromTicks", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "ProgrammingError", "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks", "Warning",
    "__version__", "apilevel", "connect", "paramstyle", "threadsafety", "topology",
]
