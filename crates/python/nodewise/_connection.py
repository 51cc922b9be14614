"""Connections: sessions of a database in this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any

from . import _errors
from ._cursor import Cursor
from ._native import Connection as Native

_HERE = os.path.dirname(__file__)


class Connection:
    """A session of a database in this process. `nodewise.connect` opens one."""

    # PEP 249, optional extensions.
    Warning = _errors.Warning
    Error = _errors.Error
    InterfaceError = _errors.InterfaceError
    DatabaseError = _errors.DatabaseError
    DataError = _errors.DataError
    OperationalError = _errors.OperationalError
    IntegrityError = _errors.IntegrityError
    InternalError = _errors.InternalError
    ProgrammingError = _errors.ProgrammingError
    NotSupportedError = _errors.NotSupportedError

    def __init__(self, native: Native, autocommit: bool, scan_variables: bool) -> None:
        self._native = native
        self._scan = scan_variables
        #: Whether each statement outside of BEGIN is a transaction of its own.
        self.autocommit = autocommit

    @classmethod
    def _open(
        cls, path: str | os.PathLike[str] | None, autocommit: bool, scan_variables: bool, settings: Mapping[str, Any]
    ) -> Connection:
        folder = None if path is None or path == ":memory:" else os.fspath(path)
        return cls(Native(folder, dict(settings)), autocommit, scan_variables)

    def cursor(self) -> Cursor:
        """A cursor, by which statements of this connection are run."""
        self._check()
        return Cursor(self)

    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> Cursor:
        """Runs a statement, or without parameters several, and gives a cursor with the rows of the last."""
        return self.cursor().execute(sql, parameters)

    #: The same, as it is called where rows are looked at rather than fetched.
    sql = execute

    def executemany(self, sql: str, sets: Iterable[Sequence[Any] | Mapping[str, Any]]) -> Cursor:
        """Runs a statement once for each set of parameters: all of them, or none."""
        return self.cursor().executemany(sql, sets)

    def register(self, name: str, rows: Any) -> None:
        """Gives rows a name in the statements of this connection.

        ``rows`` is any object with ``__arrow_c_stream__``: a data frame of pandas or Polars, a table or a reader of pyarrow,
        a relation of DuckDB, a cursor of another connection. They are read here, once. What a table is called stays a table.
        """
        self._check()
        self._native.register(name, _streaming(rows))

    def unregister(self, name: str) -> bool:
        """Forgets the rows of a name; tells whether there were any."""
        return self._native.unregister(name)

    def begin(self) -> None:
        """Opens a transaction."""
        self._native.execute("BEGIN")

    def commit(self) -> None:
        """Makes what the open transaction has done last. Nothing where none is open."""
        self._check()
        if self._native.in_transaction:
            self._native.execute("COMMIT")

    def rollback(self) -> None:
        """Takes back what the open transaction has done. Nothing where none is open."""
        self._check()
        if self._native.in_transaction:
            self._native.execute("ROLLBACK")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._native.in_transaction

    def cancel(self) -> None:
        """Ends the statement that runs, from any thread: it fails with SQLSTATE 57014."""
        self._native.cancel()

    def notices(self) -> list[tuple[str, str, str]]:
        """What statements have said beside their rows since this was last asked: severity, SQLSTATE and a sentence."""
        return self._native.take_notices()

    def duplicate(self) -> Connection:
        """Another connection to the same database: its statements run beside those of this one."""
        return Connection(self._native.duplicate(), self.autocommit, self._scan)

    def topology(self) -> list[dict[str, Any]]:
        """The NUMA nodes of the machine, in order: number, socket, hardware threads, memory, distances."""
        return self._dictionaries("SELECT * FROM nodewise.nodes ORDER BY node")

    def placement(self, table: str | None = None) -> Cursor:
        """Where columns lie: a row for each table, column and node, with the bytes there."""
        sql = (
            "SELECT table_name, column_name, node, sum(bytes)::BIGINT AS bytes, max(placement) AS placement"
            " FROM nodewise.column_placement WHERE $1::TEXT IS NULL OR lower(table_name) = lower($1::TEXT)"
            " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        return self.execute(sql, [table])

    def close(self) -> None:
        """Ends what is open, without committing it. The last connection to a folder gives it back to others."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._native.closed

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commits, or where an exception comes out rolls back, and closes."""
        if not self.closed:
            try:
                self.rollback() if kind else self.commit()
            finally:
                self.close()

    def __repr__(self) -> str:
        return f"<nodewise.Connection, {'closed' if self.closed else 'open'}>"

    def _check(self) -> None:
        if self._native.closed:
            raise _errors.InterfaceError("the connection is closed")

    def _dictionaries(self, sql: str) -> list[dict[str, Any]]:
        rows = self.execute(sql)
        names = [it[0] for it in rows.description or ()]
        return [dict(zip(names, row)) for row in rows]

    def _prepare(self, sql: str, parameters: object) -> list[str]:
        """Opens the transaction of a statement, and registers the variables that it names; their names."""
        self._check()
        if not self.autocommit and not self._native.in_transaction:
            self._native.execute("BEGIN")
        if not self._scan:
            return []
        found = []
        for name in self._native.unknown_tables(sql, parameters):
            rows = _variable(name, sys._getframe(1))
            if rows is not None:
                self._native.register(name, _streaming(rows))
                found.append(name)
        return found

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._native.unregister(name)


def _variable(name: str, frame: FrameType | None) -> Any:
    """The variable of a name that holds rows, where this package was called."""
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        frame = frame.f_back
    if frame is None:
        return None
    for names in (frame.f_locals, frame.f_globals):
        if name in names and hasattr(names[name], "__arrow_c_stream__"):
            return names[name]
    return None


def _streaming(rows: Any) -> Any:
    """The rows, without the index that pandas would give as a column."""
    if type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "columns"):
        import pyarrow

        return pyarrow.Table.from_pandas(rows, preserve_index=False)
    return rows
