"""A backend of Ibis: ``ibis.nodewise.connect()`` in memory, ``ibis.nodewise.connect("FOLDER")`` on a folder.

Expressions are compiled as for PostgreSQL, with DuckDB's functions of lists and maps. What the backend does not do:
functions written in Python, geometry, lists of lists.
"""

from __future__ import annotations

import contextlib
import decimal
import json
import os
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import ibis
import ibis.common.exceptions as com
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import ibis.expr.types as ir
import pyarrow as pa
import sqlglot as sg
import sqlglot.expressions as sge
from ibis import util
from ibis.backends import CanCreateDatabase, CanListCatalog, DirectExampleLoader, HasCurrentCatalog, HasCurrentDatabase
from ibis.backends import SupportsTempTables, UrlFromPath
from ibis.backends.sql import SQLBackend

import nodewise

from ._ibis_compiler import Compiler

if TYPE_CHECKING:
    import pandas


class Backend(
    SupportsTempTables, SQLBackend, CanListCatalog, CanCreateDatabase, HasCurrentCatalog, HasCurrentDatabase,
    UrlFromPath, DirectExampleLoader,
):
    """A connection, as Ibis has it."""

    name = "nodewise"
    compiler = Compiler()

    def do_connect(self, database: str | os.PathLike[str] | None = None, **settings: Any) -> None:
        """Opens the database of a folder, or without one a new one in memory; `nodewise.connect` has the settings."""
        # Points of time without a zone are meant in UTC.
        self.con = nodewise.connect(database, scan_variables=False, **{"timezone": "UTC", **settings})

    @classmethod
    def from_connection(cls, con: nodewise.Connection, /) -> Backend:
        """The backend of a connection that is open."""
        made = cls()
        made._can_reconnect = False
        made.con = con
        return made

    @property
    def db_identity(self) -> str:
        """Tables of two connections in memory are not those of one database."""
        return f"nodewise {id(getattr(self, 'con', None))}"

    @property
    def version(self) -> str:
        return nodewise.__version__

    def raw_sql(self, query: str | sge.Expression, **kwargs: Any) -> nodewise.Cursor:
        """Runs a statement, and gives the cursor with its rows."""
        if not isinstance(query, str):
            query = query.sql(self.dialect)
        return self.con.execute(query, **kwargs)

    @contextlib.contextmanager
    def _safe_raw_sql(self, query: str | sge.Expression, **kwargs: Any) -> Iterator[nodewise.Cursor]:
        cursor = self.raw_sql(query, **kwargs)
        try:
            yield cursor
        finally:
            cursor.close()

    # What there is.

    def _asked(self, query: str, *parameters: Any) -> list[Any]:
        return [row[0] for row in self.con.execute(query, parameters).fetchall()]

    @property
    def current_catalog(self) -> str:
        return self._asked("SELECT current_database()")[0]

    @property
    def current_database(self) -> str:
        return self._asked("SELECT current_schema()")[0]

    def list_catalogs(self, *, like: str | None = None) -> list[str]:
        return self._filter_with_like([self.current_catalog], like)

    def list_databases(self, *, like: str | None = None, catalog: str | None = None) -> list[str]:
        query = "SELECT schema_name FROM information_schema.schemata WHERE catalog_name = $1"
        found = self._asked(query, self._catalog(catalog))
        return self._filter_with_like(found, like)

    def list_tables(self, *, like: str | None = None, database: tuple[str, str] | str | None = None) -> list[str]:
        """Tables and views of a schema, and with those of the current one temporary ones and rows in memory."""
        schema = self._schema(database)
        found = self._asked(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = coalesce($1::TEXT, current_schema())"
            " OR $1::TEXT IS NULL AND table_schema LIKE 'pg\\_temp%'",
            schema,
        )
        return self._filter_with_like(found + ([] if schema else [it.name for it in self._memtables]), like)

    def create_database(self, name: str, /, *, catalog: str | None = None, force: bool = False) -> None:
        """Makes a schema."""
        self._catalog(catalog)
        self.con.execute(f"CREATE SCHEMA {'IF NOT EXISTS ' * force}{self._quoted(name)}")

    def drop_database(self, name: str, /, *, catalog: str | None = None, force: bool = False) -> None:
        """Drops a schema."""
        self._catalog(catalog)
        self.con.execute(f"DROP SCHEMA {'IF EXISTS ' * force}{self._quoted(name)}")

    def _catalog(self, catalog: str | None) -> str:
        """The only catalog that there is."""
        if catalog not in (None, self.current_catalog):
            raise com.UnsupportedOperationError(f"{catalog!r} is another database than {self.current_catalog!r}")
        return self.current_catalog

    def _to_catalog_db_tuple(self, table_loc: sge.Table) -> tuple[None, str | None]:
        """The schema that is meant. SQL names no catalog, as there is one."""
        self._catalog(table_loc.catalog or None)
        return None, table_loc.db or None

    def _schema(self, database: tuple[str, str] | str | None) -> str | None:
        return self._to_catalog_db_tuple(self._to_sqlglot_table(database))[1]

    def _quoted(self, name: str, schema: str | None = None) -> str:
        return sg.table(name, db=schema, quoted=True).sql(self.dialect)

    def table(self, name: str, /, *, database: tuple[str, str] | str | None = None) -> ir.Table:
        """A table or view."""
        schema = self._schema(database)
        columns = self.get_schema(name, database=schema)
        place = ops.Namespace(catalog=None, database=schema)
        return ops.DatabaseTable(name, schema=columns, source=self, namespace=place).to_expr()

    def get_schema(self, name: str, *, catalog: str | None = None, database: str | None = None) -> sch.Schema:
        """Names and types of the columns of a table or view."""
        self._catalog(catalog)
        try:
            return self._described(self._quoted(name, database))
        except nodewise.ProgrammingError as error:
            if error.sqlstate in ("42P01", "3F000"):
                raise com.TableNotFound(name) from error
            raise

    def _get_schema_using_query(self, query: str) -> sch.Schema:
        return self._described(query)

    def _described(self, what: str) -> sch.Schema:
        kind = self.compiler.type_mapper.from_string
        rows = self.con.execute(f"DESCRIBE {what}").fetchall()
        found = {name: kind(text, nullable=null == "YES") for name, text, null, *_ in rows}
        if any(it.is_unknown() for it in found.values()):
            labels = self._asked("SELECT typname FROM pg_type WHERE typtype = 'e'")
            found.update({name: dt.String(nullable=null == "YES") for name, text, null, *_ in rows if text in labels})
        return sch.Schema(found)

    # Rows in.

    def _register_in_memory_table(self, op: ops.InMemoryTable) -> None:
        self.con.register(op.name, _storable(op.data.to_pyarrow(op.schema)))
        weakref.finalize(op, _forget, self.con, op.name).atexit = False

    def create_table(
        self,
        name: str,
        /,
        obj: Any = None,
        *,
        schema: Any = None,
        database: tuple[str, str] | str | None = None,
        temp: bool = False,
        overwrite: bool = False,
    ) -> ir.Table:
        """Makes a table of an expression, of rows that are in memory, or of a schema."""
        if obj is None and schema is None:
            raise ValueError("a table is made of rows, of a schema or of both")
        if isinstance(obj, pa.RecordBatchReader):
            obj = obj.read_all()
        if obj is not None and not isinstance(obj, ir.Expr):
            obj = ibis.memtable(obj)
        schema = obj.schema() if schema is None else ibis.schema(schema)
        if schema.null_fields:
            raise com.IbisTypeError(f"columns without a type: {schema.null_fields}")
        place = self._schema(database)
        if temp and place is not None:
            raise com.UnsupportedArgumentError("a temporary table has no database")
        made = util.gen_name("made") if overwrite else name
        typed = self.compiler.type_mapper.to_string
        needed = {it: "" if kind.nullable else " NOT NULL" for it, kind in schema.items()}
        columns = (f"{self._quoted(it)} {typed(kind)}{needed[it]}" for it, kind in schema.items())
        statements = [f"CREATE {'TEMP TABLE' if temp else 'TABLE'} {self._quoted(made, place)} ({', '.join(columns)})"]
        if obj is not None:
            self._run_pre_execute_hooks(obj)
            columns = ", ".join(self._quoted(it) for it in obj.columns)
            statements.append(f"INSERT INTO {self._quoted(made, place)} ({columns}) {self.compile(obj)}")
        if overwrite:
            statements.append(f"DROP TABLE IF EXISTS {self._quoted(name, place)}")
            statements.append(f"ALTER TABLE {self._quoted(made, place)} RENAME TO {self._quoted(name)}")
        self.con.execute(";\n".join(statements))
        return self.table(name, database=place)

    def drop_table(self, name: str, /, *, database: tuple[str, str] | str | None = None, force: bool = False) -> None:
        """Drops a table."""
        self.con.execute(f"DROP TABLE {'IF EXISTS ' * force}{self._quoted(name, self._schema(database))}")

    def drop_view(self, name: str, /, *, database: tuple[str, str] | str | None = None, force: bool = False) -> None:
        """Drops a view."""
        self.con.execute(f"DROP VIEW {'IF EXISTS ' * force}{self._quoted(name, self._schema(database))}")

    def rename_table(self, old_name: str, new_name: str) -> None:
        """Gives a table another name."""
        self.con.execute(f"ALTER TABLE {self._quoted(old_name)} RENAME TO {self._quoted(new_name)}")

    def read_parquet(self, path: Any, /, *, table_name: str | None = None, **kwargs: Any) -> ir.Table:
        """A table of Parquet files, which are read when it is; ``kwargs`` are options as in SQL."""
        return self._read("read_parquet", path, table_name, kwargs)

    def read_csv(
        self,
        path: Any,
        /,
        *,
        table_name: str | None = None,
        columns: Mapping[str, Any] | None = None,
        types: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> ir.Table:
        """A table of CSV files; ``columns`` are types of all columns, ``types`` of some, ``kwargs`` those of SQL."""
        return self._read("read_csv", path, table_name, {"columns": columns, "types": types, **kwargs})

    def read_json(
        self, path: Any, /, *, table_name: str | None = None, columns: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> ir.Table:
        """A table of files of JSON; ``columns`` are the types of all columns, ``kwargs`` options as in SQL."""
        return self._read("read_json", path, table_name, {"columns": columns, **kwargs})

    def _read(self, function: str, paths: Any, name: str | None, options: Mapping[str, Any]) -> ir.Table:
        """A temporary view of what a function reads."""
        files = util.normalize_filenames(paths)
        arguments = [_constant(files if len(files) > 1 else files[0])]
        arguments += [f"{key} = {_constant(self._typed(value))}" for key, value in options.items() if value is not None]
        name = name or util.gen_name(function)
        query = f"SELECT * FROM {function}({', '.join(arguments)})"
        view = self._quoted(name, "pg_temp")
        self.con.execute(f"DROP VIEW IF EXISTS {view}; CREATE TEMP VIEW {self._quoted(name)} AS {query}")
        return self.table(name)

    def _typed(self, value: Any) -> Any:
        """Types of columns in the words of SQL."""
        if not isinstance(value, Mapping):
            return value
        return {key: self.compiler.type_mapper.to_string(ibis.dtype(it)) for key, it in value.items()}

    # Rows out.

    def _reader(self, table: ir.Table, params: Any, limit: Any) -> pa.RecordBatchReader:
        """The rows of a table. What has parts goes out as JSON, in which no part is lost."""
        self._run_pre_execute_hooks(table)
        query = self.compile(table, params=params, limit=limit)
        schema = table.schema()
        if any(it.is_nested() for it in schema.types):
            names = [(self._quoted(name), kind.is_nested()) for name, kind in schema.items()]
            shown = ", ".join(f"to_json({name}) AS {name}" if nested else name for name, nested in names)
            query = f"SELECT {shown} FROM ({query}) AS t"
        return self.con.execute(query).reader()

    def to_pyarrow_batches(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Any = None,
        limit: int | str | None = None,
        chunk_size: int = 1_000_000,
        **_: Any,
    ) -> pa.RecordBatchReader:
        """The rows of an expression, which are made while they are read."""
        table = expr.as_table()
        schema = table.schema().to_pyarrow()
        reader = self._reader(table, params, limit)

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in reader:
                columns = [_converted(it, kind) for it, kind in zip(batch.columns, table.schema().types)]
                yield from pa.Table.from_arrays(columns, schema=schema).to_batches(chunk_size)

        return pa.RecordBatchReader.from_batches(schema, batches())

    def execute(
        self, expr: ir.Expr, /, *, params: Any = None, limit: int | str | None = None, **_: Any
    ) -> pandas.DataFrame | pandas.Series | Any:
        """The rows of an expression for pandas."""
        table = expr.as_table()
        rows = self._reader(table, params, limit).read_all()
        return expr.__pandas_result__(_framed(rows, table.schema()))


def _forget(con: nodewise.Connection, name: str) -> None:
    if not con.closed:
        con.unregister(name)


def _constant(value: Any) -> str:
    """A value of Python as SQL writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_constant(key)}: {_constant(it)}" for key, it in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_constant, value)) + "]"
    return sge.convert(value).sql("nodewise")


# Values: nested ones come as JSON, all others as Arrow has them.


def _storable(rows: pa.Table) -> pa.Table:
    """Rows with types that Nodewise has: columns of nothing are texts, points of time have microseconds."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_null(field.type):
            rows = rows.set_column(place, field.name, rows[place].cast(pa.string()))
        elif pa.types.is_timestamp(field.type):
            rows = rows.set_column(place, field.name, rows[place].cast(pa.timestamp("us", field.type.tz)))
    return rows


def _converted(column: pa.Array, kind: dt.DataType) -> pa.Array:
    """A column as Ibis expects it in Arrow."""
    to = kind.to_pyarrow()
    if kind.is_null():
        return pa.nulls(len(column))
    if kind.is_nested():
        texts = column.to_pylist()
        return pa.array((_value(it and json.loads(it, parse_float=decimal.Decimal), kind) for it in texts), to)
    if kind.is_uuid():
        return pa.array((it and str(it) for it in column.to_pylist()), to)
    if kind.is_interval() and pa.types.is_duration(to):
        return _durations(column).cast(to)
    if kind.is_decimal() and kind.scale is None:
        digits = decimal.Decimal(1).scaleb(-to.scale)
        return pa.array((it and decimal.Decimal(it).quantize(digits) for it in column.to_pylist()), to)
    return column.cast(to)


def _durations(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return pa.array(map(_nanoseconds, column.to_pylist()), pa.duration("ns"))


def _nanoseconds(value: pa.MonthDayNano | None) -> int | None:
    if value is not None and value.months:
        raise com.UnsupportedOperationError("an interval of months has no length")
    return value and value.days * 86_400_000_000_000 + value.nanoseconds


def _value(value: Any, kind: dt.DataType) -> Any:
    """A value out of JSON."""
    if value is None:
        return None
    if isinstance(value, list) and not (kind.is_array() or kind.is_json()):
        raise com.UnsupportedOperationError("an array of several dimensions")
    if kind.is_array():
        return [_value(it, kind.value_type) for it in value]
    if kind.is_struct():
        return {name: _value(value[name], it) for name, it in kind.items()}
    if kind.is_map():
        return [(_value(key, kind.key_type), _value(it, kind.value_type)) for key, it in value.items()]
    if kind.is_json():
        return json.dumps(value, default=_number)
    if kind.is_binary():
        return bytes.fromhex(value[2:])
    if kind.is_floating():
        return float(value)
    if kind.is_decimal():
        return decimal.Decimal(value)
    if kind.is_integer():
        return int(value)
    if kind.is_boolean():
        return value in (True, "true")
    if kind.is_temporal():
        return pa.scalar(value).cast(kind.to_pyarrow()).as_py()
    return value


def _number(value: decimal.Decimal) -> float:
    if decimal.Decimal(repr(float(value))) != value:
        raise com.UnsupportedOperationError(f"a number of JSON in a list has more digits than a float: {value}")
    return float(value)


def _framed(rows: pa.Table, schema: sch.Schema) -> pandas.DataFrame:
    """Rows for pandas."""
    import pandas
    from ibis.formats.pandas import PandasData

    def column(values: pa.ChunkedArray, kind: dt.DataType) -> Any:
        if kind.is_decimal():
            return [it and decimal.Decimal(it) for it in values.to_pylist()]
        if kind.is_interval():
            return _durations(values).to_pandas()
        chunks = [_converted(it, kind) for it in values.chunks]
        values = pa.chunked_array(chunks, kind.to_pyarrow())
        return values.to_pylist() if kind.is_nested() or values.null_count else values.to_pandas()

    frame = pandas.DataFrame({name: column(rows[name], kind) for name, kind in schema.items()})
    return PandasData.convert_table(frame, schema)
