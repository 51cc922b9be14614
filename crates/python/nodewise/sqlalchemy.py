"""A dialect of SQLAlchemy: ``create_engine("nodewise://")`` in memory, ``create_engine("nodewise:///FOLDER")`` on a folder.

SQL is compiled as for PostgreSQL. What the dialect does not do: arrays, JSON, sequences of its own, comments, two-phase commit.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import pool, types
from sqlalchemy.dialects.postgresql.base import PGDialect, PGExecutionContext
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import NoSuchTableError

_TYPES: dict[str, Any] = {
    "BOOLEAN": types.BOOLEAN,
    "SMALLINT": types.SMALLINT,
    "INTEGER": types.INTEGER,
    "BIGINT": types.BIGINT,
    "REAL": types.REAL,
    "DOUBLE PRECISION": types.DOUBLE_PRECISION,
    "DECIMAL": types.DECIMAL,
    "DATE": types.DATE,
    "TIMESTAMP": types.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": types.TIMESTAMP,
    "TIME": types.TIME,
    "INTERVAL": types.Interval,
    "UUID": types.UUID,
    "BYTEA": types.LargeBinary,
    "CHAR": types.CHAR,
    "VARCHAR": types.VARCHAR,
    "TEXT": types.TEXT,
    "NAME": types.TEXT,
}


class Context(PGExecutionContext):
    """Executions without cursors of the server: rows are made while they are read in any case."""

    def create_server_side_cursor(self) -> Any:
        return self.create_default_cursor()


class Dialect(PGDialect):
    """The dialect."""

    name = "nodewise"
    driver = "nodewise"
    default_paramstyle = "qmark"
    execution_ctx_cls = Context
    supports_statement_cache = True
    supports_server_side_cursors = False
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = False
    supports_native_enum = False
    supports_native_uuid = True
    use_insertmanyvalues = True
    default_schema_name = "public"
    server_version_info = (18, 0)

    @classmethod
    def import_dbapi(cls) -> Any:
        import nodewise

        return nodewise

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        # A database in memory lives as long as its connection.
        return pool.QueuePool if url.database else pool.SingletonThreadPool

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        return [url.database or None], {"autocommit": False, "scan_variables": False, **url.query}

    def on_connect(self) -> None:
        return None

    def initialize(self, connection: Any) -> None:
        """Nothing is asked: what is connected to is known."""
        self._backslash_escapes = False

    def get_isolation_level_values(self, dbapi_connection: Any) -> list[str]:
        return ["AUTOCOMMIT", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]

    def get_default_isolation_level(self, dbapi_connection: Any) -> str:
        return "READ COMMITTED"

    def get_isolation_level(self, dbapi_connection: Any) -> str:
        if dbapi_connection.autocommit:
            return "AUTOCOMMIT"
        level = dbapi_connection.execute("SHOW transaction_isolation").fetchone()[0]
        dbapi_connection.rollback()
        return level.upper()

    def set_isolation_level(self, dbapi_connection: Any, level: str) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"
        if level != "AUTOCOMMIT":
            dbapi_connection.execute(f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}")
            dbapi_connection.commit()

    def reset_isolation_level(self, dbapi_connection: Any) -> None:
        self.set_isolation_level(dbapi_connection, "READ COMMITTED")

    def is_disconnect(self, error: Any, connection: Any, cursor: Any) -> bool:
        return getattr(error, "sqlstate", None) == "08003"

    def do_ping(self, dbapi_connection: Any) -> bool:
        dbapi_connection.execute("SELECT 1").close()
        return True

    # What tables there are: asked of the views of the database.

    def _rows(self, connection: Any, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return [tuple(it) for it in connection.exec_driver_sql(sql, parameters).fetchall()]

    def _check(self, connection: Any, table: str) -> None:
        if not self.has_table(connection, table):
            raise NoSuchTableError(table)

    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return ["public", "nodewise", "information_schema"]

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        sql = "SELECT 1 FROM information_schema.tables WHERE table_name = ? AND table_schema = ?"
        return bool(self._rows(connection, sql, table_name, schema or "public"))

    def has_schema(self, connection: Any, schema_name: str, **kw: Any) -> bool:
        return schema_name in self.get_schema_names(connection)

    def has_sequence(self, connection: Any, sequence_name: str, schema: str | None = None, **kw: Any) -> bool:
        return sequence_name in self.get_sequence_names(connection)

    def get_sequence_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [it[0] for it in self._rows(connection, "SELECT name FROM nodewise.sequences ORDER BY 1")]

    def _names(self, connection: Any, kind: str, schema: str | None) -> list[str]:
        sql = "SELECT table_name FROM information_schema.tables WHERE table_type = ? AND table_schema = ? ORDER BY 1"
        return [it[0] for it in self._rows(connection, sql, kind, schema or "public")]

    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return self._names(connection, "BASE TABLE", schema)

    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return self._names(connection, "VIEW", schema)

    def get_temp_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []

    def get_materialized_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []

    def get_view_definition(self, connection: Any, view_name: str, schema: str | None = None, **kw: Any) -> str:
        found = self._rows(connection, "SELECT definition FROM nodewise.views WHERE name = ?", view_name)
        if not found:
            raise NoSuchTableError(view_name)
        return found[0][0]

    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        self._check(connection, table_name)
        sql = (
            "SELECT column_name, data_type, is_nullable, column_default, character_maximum_length, numeric_precision,"
            " numeric_scale FROM information_schema.columns WHERE table_name = ? AND table_schema = ?"
            " ORDER BY ordinal_position"
        )
        columns = []
        for name, kind, nullable, default, *sizes in self._rows(connection, sql, table_name, schema or "public"):
            made = _type(kind.upper(), *sizes)
            columns.append({"name": name, "type": made, "nullable": nullable == "YES", "default": default, "comment": None})
        return columns

    def _constraints(self, connection: Any, table: str, kind: str) -> list[tuple[str, list[str]]]:
        sql = (
            "SELECT k.constraint_name, k.column_name FROM information_schema.key_column_usage k"
            " JOIN information_schema.table_constraints c ON c.constraint_name = k.constraint_name"
            " AND c.table_name = k.table_name WHERE c.table_name = ? AND c.constraint_type = ?"
            " ORDER BY k.constraint_name, k.ordinal_position"
        )
        found: dict[str, list[str]] = {}
        for name, column in self._rows(connection, sql, table, kind):
            found.setdefault(name, []).append(column)
        return list(found.items())

    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        self._check(connection, table_name)
        for name, columns in self._constraints(connection, table_name, "PRIMARY KEY"):
            return {"name": name, "constrained_columns": columns, "comment": None}
        return {"name": None, "constrained_columns": []}

    def get_unique_constraints(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        self._check(connection, table_name)
        found = self._constraints(connection, table_name, "UNIQUE")
        return [{"name": name, "column_names": columns} for name, columns in found]

    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        self._check(connection, table_name)
        return []

    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        self._check(connection, table_name)
        return []

    def get_check_constraints(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        self._check(connection, table_name)
        return []

    def get_table_options(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {}

    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        return {"text": None}


# PostgreSQL's dialect asks for many tables at once, by queries of its catalog that need arrays: here one is asked after the other.
for _name in (
    "columns", "pk_constraint", "unique_constraints", "foreign_keys", "indexes", "check_constraints", "table_comment",
    "table_options",
):
    setattr(Dialect, f"get_multi_{_name}", getattr(DefaultDialect, f"get_multi_{_name}"))


def _type(kind: str, length: int | None, precision: int | None, scale: int | None) -> Any:
    names = {
        "CHARACTER": "CHAR", "CHARACTER VARYING": "VARCHAR", "NUMERIC": "DECIMAL", "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP",
        "TIME WITHOUT TIME ZONE": "TIME",
    }
    kind = names.get(kind, kind)
    made = _TYPES.get(kind, types.NullType)
    if kind == "DECIMAL" and precision is not None:
        return made(precision, scale)
    if kind in ("CHAR", "VARCHAR") and length is not None:
        return made(length)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return made(timezone=True)
    return made()
