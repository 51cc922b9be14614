"""Cursors: statements, and the rows that they give."""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _errors
from ._native import Rows

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._connection import Connection

#: Rows that are shown of a result.
_SHOWN = 40


class Cursor:
    """Statements of a connection, and the rows of the last one.

    Rows are made while they are read, and read once: by ``fetchone`` and its like, by iterating, or all that are left at
    once by ``arrow``, ``df``, ``pl``, ``fetchnumpy`` and whoever asks for ``__arrow_c_stream__``. Showing them reads none.
    """

    def __init__(self, connection: Connection) -> None:
        #: The connection.
        self.connection = connection
        #: Rows that ``fetchmany`` gives unless it is told.
        self.arraysize = 1
        self._rows: Rows | None = None
        self._changed = -1
        self._closed = False

    def execute(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> Cursor:
        """Runs a statement, or without parameters several, which are one transaction; the rows are those of the last."""
        self._begin()
        scanned = self.connection._prepare(sql, parameters)
        try:
            self._rows = self.connection._native.execute(sql, parameters)
        finally:
            self.connection._forget(scanned)
        words = (self._rows.tag or "").split(" ")
        self._changed = int(words[-1]) if words[-1].isdigit() else -1
        return self

    def executemany(self, sql: str, sets: Iterable[Sequence[Any] | Mapping[str, Any]]) -> Cursor:
        """Runs a statement once for each set of parameters: all of them, or none."""
        self._begin()
        scanned = self.connection._prepare(sql, ())
        try:
            self._changed = self.connection._native.execute_many(sql, sets)
        finally:
            self.connection._forget(scanned)
        return self

    @property
    def description(self) -> list[tuple[str, str, None, None, int | None, int | None, None]] | None:
        """Name and SQL type of each column, with precision and scale of decimals; None of a statement without rows."""
        if self._rows is None or not self._rows.columns:
            return None
        return [(name, kind, None, None, *_digits(kind), None) for name, kind in self._rows.columns]

    @property
    def rowcount(self) -> int:
        """Rows that were changed; -1 where rows are made while they are read."""
        return self._changed

    @property
    def statusmessage(self) -> str | None:
        """What was done, in PostgreSQL's words, as ``INSERT 0 3``."""
        return self._rows.tag if self._rows else None

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last."""
        rows = self._given().fetch(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows: ``size``, or ``arraysize``, or as many as are left."""
        return self._given().fetch(self.arraysize if size is None else size)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return self._given().fetch()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        rows = self._given()
        while block := rows.fetch(1024):
            yield from block

    def arrow(self) -> pyarrow.Table:
        """All rows that are left, as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def reader(self) -> pyarrow.RecordBatchReader:
        """The rows that are left, as a reader of pyarrow: they are made while it is read."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def df(self) -> pandas.DataFrame:
        """All rows that are left, as a data frame of pandas (needs pandas and pyarrow)."""
        return self.arrow().to_pandas()

    def pl(self) -> polars.DataFrame:
        """All rows that are left, as a data frame of Polars."""
        import polars

        return polars.DataFrame(self)

    def fetchnumpy(self) -> dict[str, Any]:
        """All rows that are left, as an array of numpy for each column (needs pyarrow); masked where it has NULL."""
        import numpy

        table = self.arrow()
        arrays = {}
        for name, column in zip(table.column_names, table.columns):
            values = column.to_numpy()
            if column.null_count:
                values = numpy.ma.masked_array(values, column.is_null().to_numpy())
            arrays[name] = values
        return arrays

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows that are left, for whoever reads Arrow."""
        return self._given().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The columns, for whoever reads Arrow."""
        return self._given().__arrow_c_schema__()

    def setinputsizes(self, sizes: object) -> None:
        """Nothing: parameters tell their sizes."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Nothing: values have any size."""

    def close(self) -> None:
        """Ends the statement, if rows are left."""
        if not self._closed:
            self._closed = True
            self._drop()

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._closed or self.connection.closed or self._rows is None:
            return "<nodewise.Cursor without rows>"
        if not self._rows.columns:
            return self._rows.tag or "done"
        if self._is_plan():
            return "\n".join(row[0] or "" for row in self._rows.peek(10_000)[0])
        return self._rows.boxed(_SHOWN, shutil.get_terminal_size((120, 40)).columns)

    def _repr_html_(self) -> str | None:
        if self._closed or self.connection.closed or self._rows is None or not self._rows.columns:
            return None
        if self._is_plan():
            return f"<pre>{html.escape(repr(self))}</pre>"
        rows, more = self._rows.peek(_SHOWN)
        head = "".join(f"<th title='{html.escape(kind)}'>{html.escape(name)}</th>" for name, kind in self._rows.columns)
        cell = "<td>{}</td>".format
        body = "".join(
            "<tr>" + "".join(cell("<i>NULL</i>" if it is None else html.escape(it)) for it in row) + "</tr>"
            for row in rows
        )
        note = f"{'the first ' if more else ''}{len(rows)} row{'' if len(rows) == 1 else 's'}"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><small>{note}</small>"

    def _is_plan(self) -> bool:
        return self._rows is not None and [it[0] for it in self._rows.columns] == ["QUERY PLAN"]

    def _begin(self) -> None:
        if self._closed:
            raise _errors.InterfaceError("the cursor is closed")
        self._drop()

    def _drop(self) -> None:
        rows, self._rows, self._changed = self._rows, None, -1
        if rows is not None:
            rows.close()

    def _given(self) -> Rows:
        if self._closed:
            raise _errors.InterfaceError("the cursor is closed")
        self.connection._check()
        if self._rows is None or not self._rows.columns:
            raise _errors.ProgrammingError("the last statement gives no rows")
        return self._rows


def _digits(kind: str) -> tuple[int | None, int | None]:
    """Precision and scale of a decimal."""
    name, _, rest = kind.partition("(")
    parts = rest.rstrip(")").split(",")
    # An array of decimals has more behind.
    if name not in ("DECIMAL", "NUMERIC") or not rest.endswith(")") or len(parts) != 2:
        return None, None
    return int(parts[0]), int(parts[1])
