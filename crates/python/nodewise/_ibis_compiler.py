"""Expressions of Ibis as SQL: PostgreSQL's, and where it has no word for something DuckDB's."""

from __future__ import annotations

import re
from typing import Any

import ibis.common.exceptions as com
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import NULL, SQLGlotCompiler
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.backends.sql.datatypes import SqlglotType
from ibis.backends.sql.dialects import Postgres
from sqlglot.tokens import TokenType

_Kind = sge.DataType.Type


class Nodewise(Postgres):
    """How SQL is read and written."""

    class Tokenizer(Postgres.Tokenizer):
        KEYWORDS = Postgres.Tokenizer.KEYWORDS | {
            "UTINYINT": TokenType.UTINYINT, "USMALLINT": TokenType.USMALLINT, "UINTEGER": TokenType.UINT,
            "UBIGINT": TokenType.UBIGINT, "HUGEINT": TokenType.INT128, "UHUGEINT": TokenType.INT128,
        }

    class Generator(Postgres.Generator):
        STRUCT_DELIMITER = ("(", ")")
        TRY_SUPPORTED = True
        TYPE_MAPPING = Postgres.Generator.TYPE_MAPPING | {
            _Kind.TINYINT: "TINYINT", _Kind.UTINYINT: "UTINYINT", _Kind.USMALLINT: "USMALLINT", _Kind.UINT: "UINTEGER",
            _Kind.UBIGINT: "UBIGINT",
        }
        TRANSFORMS = Postgres.Generator.TRANSFORMS | {
            sge.TryCast: lambda self, it: f"TRY_CAST({self.sql(it, 'this')} AS {self.sql(it, 'to')})",
        }


class Types(SqlglotType):
    """Types, both ways."""

    dialect = "nodewise"
    default_interval_precision = "us"
    default_temporal_scale = 6
    unknown_type_strings = {"cidr": dt.inet, "oid": dt.int64, '"char"': dt.string}

    @classmethod
    def from_string(cls, text: str, nullable: bool | None = None) -> dt.DataType:
        if text.startswith(("bit(", "bit varying")):
            return dt.String(nullable=nullable)
        # Fields may be called as words of SQL are.
        quoted = re.sub(r'("(?:[^"]|"")*")|(?<=[( ])([a-z_]\w*)(?= [A-Z])', lambda it: it[1] or f'"{it[2]}"', text)
        return super().from_string(quoted, nullable=nullable)

    @classmethod
    def _from_sqlglot_TIMETZ(cls, *_: Any, nullable: bool | None = None) -> dt.DataType:
        return dt.String(nullable=nullable)

    @classmethod
    def _from_ibis_Null(cls, dtype: dt.Null) -> sge.DataType:
        return sge.DataType(this=_Kind.TEXT)

    @classmethod
    def _from_ibis_Timestamp(cls, dtype: dt.Timestamp) -> sge.DataType:
        return sge.DataType(this=_Kind.TIMESTAMP if dtype.timezone is None else _Kind.TIMESTAMPTZ)

    @classmethod
    def _from_ibis_Interval(cls, dtype: dt.Interval) -> sge.DataType:
        return sge.DataType(this=_Kind.INTERVAL)

    @classmethod
    def _from_ibis_MACADDR(cls, dtype: dt.MACADDR) -> sge.DataType:
        raise com.UnsupportedBackendType("Nodewise has no type of hardware addresses")

    @classmethod
    def _from_ibis_GeoSpatial(cls, dtype: dt.GeoSpatial) -> sge.DataType:
        raise com.UnsupportedBackendType("Nodewise has no geometry")


class Compiler(PostgresCompiler):
    """What is called or written otherwise than in PostgreSQL."""

    __slots__ = ()

    dialect = Nodewise
    type_mapper = Types
    _compile_python_udf = SQLGlotCompiler._compile_python_udf

    SIMPLE_OPS = {
        ops.Arbitrary: "any_value",
        ops.MapContains: "map_contains",
        ops.MapLength: "cardinality",
        ops.MapKeys: "map_keys",
        ops.MapValues: "map_values",
    }
    UNSUPPORTED_OPS = tuple(it for it in PostgresCompiler.SIMPLE_OPS if it.__name__.startswith("Geo")) + (ops.Hash,)

    def to_sqlglot(self, expr: Any, *, limit: Any = None, params: Any = None) -> Any:
        # A copy, in which no two places share a node: writing SQL may change nodes (the operands of a division).
        return SQLGlotCompiler.to_sqlglot(self, expr, limit=limit, params=params).copy()

    def visit_node(self, op: Any, **kwargs: Any) -> Any:
        # They would be arrays of two dimensions, whose items are no lists.
        if isinstance(op, ops.Value) and op.dtype.is_array() and op.dtype.value_type.is_array():
            raise com.UnsupportedOperationError("lists of lists")
        return super().visit_node(op, **kwargs)

    # Types.

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: dt.DataType) -> Any:
        if dtype.is_map() or dtype.is_array():
            return self.cast(self.visit_DefaultLiteral(op, value=value, dtype=dtype), dtype)
        if dtype.is_struct():
            parts = zip(value.values(), dtype.types)
            made = (self.visit_Literal(ops.Literal(it, of), value=it, dtype=of) for it, of in parts)
            return self.cast(self.f.row(*made), dtype)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_Cast(self, op: Any, *, arg: Any, to: dt.DataType) -> Any:
        made = super().visit_Cast(op, arg=arg, to=to)
        if not to.is_timestamp() or to.scale in (None, 6):
            return made
        if to.scale > 6:
            raise com.UnsupportedOperationError("points of time have six digits of a second")
        kind = self.type_mapper.from_ibis(to)
        kind.set("expressions", [sge.DataTypeParam(this=sge.convert(to.scale))])
        return sge.Cast(this=made, to=kind)

    def visit_TryCast(self, op: Any, *, arg: Any, to: dt.DataType) -> Any:
        if op.arg.dtype.is_timestamp() and to.is_numeric():
            return self.visit_Cast(op, arg=arg, to=to)
        return SQLGlotCompiler.visit_TryCast(self, op, arg=arg, to=to)

    # Aggregates.

    def visit_First(self, op: Any, *, arg: Any, where: Any, order_by: Any, include_null: bool) -> Any:
        return self._of_values(type(op).__name__.lower(), arg, where, order_by, include_null)

    visit_Last = visit_First

    def visit_ArgMin(self, op: Any, *, arg: Any, key: Any, where: Any) -> Any:
        there = key.is_(sge.Not(this=NULL))
        where = there if where is None else sge.And(this=there, expression=where)
        return self.agg.first(arg, where=where, order_by=[sge.Ordered(this=key, desc=isinstance(op, ops.ArgMax))])

    visit_ArgMax = visit_ArgMin

    def _of_values(self, name: str, arg: Any, where: Any, order_by: Any, include_null: bool) -> Any:
        if not include_null:
            there = arg.is_(sge.Not(this=NULL))
            where = there if where is None else sge.And(this=there, expression=where)
        return self.agg[name](arg, where=where, order_by=order_by)

    def visit_MultiQuantile(self, op: Any, *, arg: Any, quantile: Any, where: Any) -> Any:
        # The shares are constants, without a cast.
        return self.visit_Quantile(op, arg=arg, quantile=getattr(quantile, "this", quantile), where=where)

    visit_ApproxMultiQuantile = visit_MultiQuantile

    def visit_Kurtosis(self, op: Any, *, arg: Any, where: Any, how: str) -> Any:
        # It has no FILTER.
        arg = arg if where is None else self.if_(where, arg, NULL)
        return SQLGlotCompiler.visit_Kurtosis(self, op, arg=arg, where=None, how=how)

    # Structs, maps and arrays.

    def visit_StructColumn(self, op: Any, *, names: Any, values: Any) -> Any:
        return self.cast(self.f.row(*values), op.dtype)

    def visit_StructField(self, op: Any, *, arg: Any, field: str) -> Any:
        return self.f.anon.struct_extract(arg, field)

    def visit_Map(self, op: Any, *, keys: Any, values: Any) -> Any:
        return self.f.anon.map(self.cast(keys, op.keys.dtype), self.cast(values, op.values.dtype))

    def visit_MapGet(self, op: Any, *, arg: Any, key: Any, default: Any) -> Any:
        if op.dtype.is_null():
            return NULL
        found = self.f.anon.map_contains(arg, key)
        value = self.cast(self.f.anon.map_extract_value(arg, key), op.dtype)
        return sge.Case(ifs=[self.if_(found, value), self.if_(sge.Not(this=found), self.cast(default, op.dtype))])

    def visit_MapMerge(self, op: Any, *, left: Any, right: Any) -> Any:
        return self.if_(left.is_(NULL).or_(right.is_(NULL)), NULL, self.f.anon.map_concat(left, right))

    def visit_ArraySlice(self, op: Any, *, arg: Any, start: Any, stop: Any) -> Any:
        length = self.f.anon.len(arg)

        def place(value: Any) -> Any:
            return self.if_(value < 0, self.f.greatest(length + value, 0), value)

        first = 1 if start is None else place(start) + 1
        return self.f.anon.list_slice(arg, first, length if stop is None else place(stop))

    def visit_ArraySort(self, op: Any, *, arg: Any) -> Any:
        return self.f.anon.list_sort(arg)

    def visit_ArrayRepeat(self, op: Any, *, arg: Any, times: Any) -> Any:
        place, length = sge.to_identifier("i"), self.f.anon.len(arg)
        item = sge.Lambda(this=self.f.anon.list_extract(arg, place % length + 1), expressions=[place])
        return self.f.anon.list_apply(self.f.anon.range(length * self.f.greatest(times, 0)), item)

    def visit_ArrayZip(self, op: Any, *, arg: Any) -> Any:
        place = sge.to_identifier("i")
        row = sge.Lambda(this=self.f.row(*(self.f.anon.list_extract(it, place) for it in arg)), expressions=[place])
        places = self.f.anon.range(1, self.f.greatest(*map(self.f.anon.len, arg)) + 1)
        missing = sge.or_(*(it.is_(NULL) for it in arg))
        return self.if_(missing, NULL, self.cast(self.f.anon.list_apply(places, row), op.dtype))

    def visit_IntegerRange(self, op: Any, *, start: Any, stop: Any, step: Any) -> Any:
        # A series with a step of nothing is empty, and one with a step of zero an error.
        zero = self.f.make_interval() if op.step.dtype.is_interval() else 0
        return self.visit_Range(op, start=start, stop=stop, step=self.f.nullif(step, zero))

    visit_TimestampRange = visit_IntegerRange

    # JSON.

    def json_extract_path_text(self, op: Any, arg: Any, *rest: Any) -> Any:
        name = "jsonb_extract_path_text" if op.arg.dtype.binary else "json_extract_path_text"
        return self.f.anon[name](arg, *rest, sge.Var(this="VARIADIC ARRAY[]::TEXT[]"))

    def visit_UnwrapJSONInt64(self, op: Any, *, arg: Any) -> Any:
        text = self.json_extract_path_text(op, arg)
        whole = sge.and_(self.json_typeof(op, arg).eq(sge.convert("number")), text.rlike(r"^-?\d+$"))
        return self.if_(whole, self.cast(text, op.dtype), NULL)

    def visit_ToJSONArray(self, op: Any, *, arg: Any) -> Any:
        # The items of what is no array are not asked for, as both are computed.
        is_array = self.json_typeof(op, arg).eq(sge.convert("array"))
        name = "jsonb_array_elements" if op.arg.dtype.binary else "json_array_elements"
        items = sge.select("*").from_(self.f.anon[name](self.if_(is_array, arg, NULL)))
        return self.if_(is_array, self.f.array(items), NULL)

    # Points of time, numbers and texts.

    def visit_RegexExtract(self, op: Any, *, arg: Any, pattern: Any, index: Any) -> Any:
        groups = self.f.anon.regexp_match(arg, self.f.concat("(", pattern, ")"))
        return self.f.anon.list_extract(groups, index + 1)

    def visit_FloorDivide(self, op: Any, *, left: Any, right: Any) -> Any:
        # A quotient of whole numbers as decimals has all digits that tell below which number it is.
        if op.left.dtype.is_integer() and op.right.dtype.is_integer():
            left = self.cast(left, dt.Decimal(20, 0))
        quotient = sge.Div(this=sge.paren(left), expression=sge.paren(right), typed=True)
        return self.cast(self.f.floor(quotient), op.dtype)

    def visit_TimestampDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:
        return self.f.anon.date_diff(part, right, left)

    visit_DateDelta = visit_TimestampDelta

    def visit_TimeDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:
        day = self.cast("1970-01-01", dt.date)
        return self.f.anon.date_diff(part, day + right, day + left)

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:
        return self.cast(self.f.floor(self.f.extract("epoch", arg)), op.dtype)

    def visit_DateTruncate(self, op: Any, *, arg: Any, unit: Any) -> Any:
        return self.cast(self.visit_TimestampTruncate(op, arg=arg, unit=unit), op.dtype)

    def visit_DateDiff(self, op: Any, *, left: Any, right: Any) -> Any:
        return self._make_interval(sge.paren(left - right), dt.Interval("D").unit)

    def visit_TimestampFromUNIX(self, op: Any, *, arg: Any, unit: Any) -> Any:
        if unit.short == "ns":
            raise com.UnsupportedOperationError("points of time have six digits of a second")
        step = sge.Interval(this=sge.convert("1"), unit=sge.Var(this=unit.singular.upper()))
        return self.cast(sge.convert("1970-01-01"), dt.timestamp) + sge.paren(arg) * step

    def visit_HashBytes(self, op: Any, *, arg: Any, how: str) -> Any:
        if how == "md5":
            return self.f.anon.decode(self.f.anon.md5(arg), "hex")
        if how not in ("sha256", "sha512"):
            raise com.UnsupportedOperationError(f"there is no {how}")
        return self.f.anon[how](arg if op.arg.dtype.is_binary() else self.f.anon.convert_to(arg, "UTF8"))

    def visit_HexDigest(self, op: Any, *, arg: Any, how: str) -> Any:
        return self.f.anon.encode(self.visit_HashBytes(op, arg=arg, how=how), "hex")


for _name in ("All", "Any", "Contains", "Filter", "Index", "Map", "Max", "Mean", "Min", "Mode", "Sum"):
    setattr(Compiler, f"visit_Array{_name}", getattr(DuckDBCompiler, f"visit_Array{_name}"))
