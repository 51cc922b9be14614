"""The backend of Ibis: expressions, tables, rows in and out."""

import datetime
import decimal
import importlib.util
import pathlib
import tempfile
import unittest
import uuid

MISSING = [it for it in ("ibis", "pandas", "pyarrow") if importlib.util.find_spec(it) is None]
if not MISSING:
    import ibis
    import ibis.common.exceptions as com
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    import nodewise
    from nodewise.ibis import Backend


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} cannot be imported")
class Expressions(unittest.TestCase):
    def setUp(self):
        self.con = Backend().connect()
        rows = pd.DataFrame({"id": [1, 2, 3, 4], "name": ["a", "b", "a", None], "x": [1.5, 2.5, None, 4.0]})
        self.t = self.con.create_table("t", rows)

    def rows(self, expr):
        return [tuple(it.values()) for it in self.con.to_pyarrow(expr).to_pylist()]

    def test_groups_joins_and_windows(self):
        t = self.t
        groups = t.group_by("name").agg(n=t.count(), total=t.id.sum(), mean=t.x.mean()).order_by("name")
        self.assertEqual(self.rows(groups), [("a", 2, 4, 1.5), ("b", 1, 2, 2.5), (None, 1, 4, 4.0)])
        names = ibis.memtable({"key": ["a", "b"], "long": ["Ada", "Bob"]})
        joined = t.left_join(names, t.name == names.key).select("id", "long").order_by(ibis.desc("id"))
        self.assertEqual(self.rows(joined), [(4, None), (3, "Ada"), (2, "Bob"), (1, "Ada")])
        window = ibis.window(group_by="name", order_by="id", preceding=1, following=0)
        running = t.filter(t.name.notnull()).mutate(s=t.id.sum().over(window)).select("id", "s").order_by("id")
        self.assertEqual(self.rows(running), [(1, 1), (2, 2), (3, 4)])
        parts = t.select(half=t.id / 2, whole=-t.id // 2, of=t.id / t.id).order_by("half")
        self.assertEqual(self.rows(parts)[2], (1.5, -2, 1.0))
        self.assertEqual(self.con.execute(ibis.literal(2**62 + 1) // 1), 2**62 + 1)
        self.assertEqual(self.rows(t.order_by(t.x.desc()).select("id")), [(4,), (2,), (1,), (3,)])

    def test_lists_structs_and_maps(self):
        t = self.t
        lists = t.group_by("name").agg(ids=t.id.collect(order_by=t.id)).order_by("name").ids
        self.assertEqual(self.con.to_pyarrow(lists).to_pylist(), [[1, 3], [2], [4]])
        doubled = ibis.array([1, 2, 3]).map(lambda it: it * 2)
        self.assertEqual(self.con.execute(doubled.filter(lambda it: it > 2)), [4, 6])
        self.assertEqual(self.con.execute(doubled[-2:]), [4, 6])
        self.assertEqual(self.con.execute(ibis.struct({"a": 1, "B c": "x"})["B c"]), "x")
        self.assertEqual(self.con.execute(ibis.map({"k": 1}).get("q", 5)), 5)
        with self.assertRaises(com.UnsupportedOperationError):
            self.con.execute(ibis.array([[1], [2]])[0])

    def test_types_go_in_and_come_out(self):
        moment = datetime.datetime(2024, 1, 2, 3, 4, 5, 6)
        utc = moment.replace(tzinfo=datetime.timezone.utc)
        kinds = {
            "int8": -1, "uint64": 2**64 - 1, "int16": 2, "int32": 3, "!int64": 4, "float32": 0.5, "float64": 1.5,
            "decimal(9, 2)": decimal.Decimal("1.25"), "string": "x", "date": moment.date(), "time": moment.time(),
            "timestamp(6)": moment, "timestamp('UTC', 6)": utc, "boolean": True, "binary": b"\x00\xff",
            "interval('us')": datetime.timedelta(days=1, hours=2), "array<string>": ["a", None],
            "struct<a: int32, select: array<float64>>": {"a": 1, "select": [1.5]},
            "map<string, timestamp(6)>": [("k", moment)],
        }
        schema = ibis.schema({f"c{place}": kind for place, kind in enumerate(kinds)})
        table = self.con.create_table("kinds", schema=schema)
        self.assertEqual(table.schema(), schema)
        columns = [name for name, kind in schema.items() if not kind.is_interval()]
        values = dict(zip(schema, kinds.values()))
        target = table.select(columns).schema().to_pyarrow()
        self.con.insert("kinds", pa.table({it: pa.array([values[it]], target.field(it).type) for it in columns}))
        self.assertEqual(table.select(columns).to_pyarrow().to_pylist(), [{it: values[it] for it in columns}])
        one = ibis.literal(uuid.UUID(int=5))
        self.assertEqual(self.con.execute(one), uuid.UUID(int=5))
        later = self.con.execute(ibis.literal(moment) - ibis.literal(moment.replace(hour=2)))
        self.assertEqual(later, datetime.timedelta(hours=1))

    def test_tables_and_views_are_made_filled_and_dropped(self):
        con = self.con
        con.create_table("made", schema={"a": "int64", "b": "!string"})
        con.insert("made", {"a": [1, 2], "b": ["x", "y"]})
        made = con.table("made")
        self.assertEqual(str(made.schema()["b"]), "!string")
        con.create_table("made", made.filter(made.a > 1), overwrite=True)
        con.create_view("seen", con.table("made"))
        con.create_table("passing", made, temp=True)
        self.assertEqual(con.list_tables(), ["made", "passing", "seen", "t"])
        self.assertEqual(self.rows(con.table("seen")), [(2, "y")])
        con.truncate_table("made")
        self.assertEqual(con.table("made").count().execute(), 0)
        con.drop_view("seen")
        con.drop_table("made")
        with self.assertRaises(com.TableNotFound):
            con.table("made")
        con.create_database("more")
        con.create_table("t", self.t.select("id").limit(1), database="more")
        self.assertEqual((con.list_tables(database="more"), "more" in con.list_databases()), (["t"], True))
        self.assertEqual(con.table("t", database="nodewise.more").count().execute(), 1)

    def test_files_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            pq.write_table(pa.table({"A b": [1, 2], "l": [[1, None], None]}), path / "x.parquet")
            (path / "x.csv").write_text("a,b\n1,x\n2,y\n")
            (path / "x.json").write_text('{"a": 1, "b": {"c": [1, 2]}}\n{"a": 2, "b": null}\n')
            self.assertEqual(self.rows(self.con.read_parquet(path / "x.parquet")), [(1, [1, None]), (2, None)])
            texts = self.con.read_csv(path / "x.csv", types={"a": "float64"})
            self.assertEqual(self.rows(texts), [(1.0, "x"), (2.0, "y")])
            self.assertEqual(self.rows(self.con.read_json(path / "x.json")), [(1, {"c": [1, 2]}), (2, None)])

    def test_connections_are_told_apart(self):
        other = Backend().connect()
        self.assertNotEqual(self.con, other)
        shared = Backend.from_connection(self.con.con)
        self.assertEqual(shared.table("t").count().execute(), 4)
        self.assertEqual(self.con.sql("SELECT max(id) AS m FROM t").to_pyarrow().to_pylist(), [{"m": 4}])
        with self.assertRaises(nodewise.DataError):
            self.con.raw_sql("SELECT 1 / 0").fetchall()


if __name__ == "__main__":
    unittest.main()
