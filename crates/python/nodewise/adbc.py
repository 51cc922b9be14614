"""ADBC: connections of `adbc_driver_manager` to databases in this process, by the driver in the package's own library.

>>> import nodewise.adbc
>>> with nodewise.adbc.connect() as con, con.cursor() as cursor:
...     cursor.execute("SELECT 6 * 7 AS answer").fetchall()
[(42,)]
"""

from __future__ import annotations

import os
from typing import Any

from adbc_driver_manager import dbapi

from . import _native

#: The library with the driver, for driver managers of other languages in processes that have Python.
DRIVER: str = _native.__file__
#: Its function that begins it. Managers that look for `AdbcDriverInit` find that, too.
ENTRYPOINT = "AdbcNodewiseInit"


def connect(
    path: str | os.PathLike[str] | None = None, *, autocommit: bool = False, **options: Any
) -> dbapi.Connection:
    """Opens the database of a folder, which is made if it is not there, or without one a new database in memory.

    ``autocommit``: whether each statement is a transaction of its own. Otherwise the first statement opens one, which ends
    with ``commit()`` or ``rollback()``.
    ``options``: ``threads``, the number of workers, and all that SET takes, as ``memory_limit="4GB"``.
    """
    given = {name: _text(value) for name, value in options.items()}
    if path is not None:
        given["path"] = os.fspath(path)
    return dbapi.connect(driver=DRIVER, entrypoint=ENTRYPOINT, db_kwargs=given, autocommit=autocommit)


def _text(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
