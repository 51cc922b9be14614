"""Rows as Arrow: out to pyarrow, pandas, Polars and DuckDB, and in from all of them."""

import importlib.util
import unittest

import nodewise


def needs(*modules):
    missing = [it for it in modules if importlib.util.find_spec(it) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} cannot be imported")


TYPES = """
    SELECT i AS n, i::SMALLINT AS small, i::INTEGER AS middle, i::REAL AS r, i / 4.0::DOUBLE PRECISION AS f,
        i > 1 AS b, (i * 1.25)::DECIMAL(12, 3) AS d, 'text ' || i AS s, DATE '2024-01-01' + i::INTEGER AS day,
        TIMESTAMP '2024-01-01 10:00:00' AS at, TIMESTAMPTZ '2024-01-01 10:00:00+00' AS moment, TIME '10:00' AS hour,
        UUID '12345678-1234-5678-1234-567812345678' AS u, '\\x01'::BYTEA AS y, CASE WHEN i = 2 THEN NULL ELSE i END AS gap
    FROM generate_series(1, 3) AS s(i)
"""


class Arrow(unittest.TestCase):
    def setUp(self):
        self.con = nodewise.connect()
        self.addCleanup(self.con.close)

    @needs("pyarrow")
    def test_every_type_goes_out_and_comes_in_again(self):
        rows = self.con.sql(TYPES).fetchall()
        table = self.con.sql(TYPES).arrow()
        self.assertEqual((table.num_rows, len(table.column_names)), (3, 15))
        self.con.register("again", table)
        self.assertEqual(self.con.sql("SELECT * FROM again ORDER BY n").fetchall(), rows)

    @needs("pyarrow")
    def test_rows_stream_batch_by_batch(self):
        reader = self.con.sql("SELECT i, i * 2 AS j FROM generate_series(1, 3000000) AS s(i)").reader()
        first = reader.read_next_batch()
        self.assertLess(first.num_rows, 3_000_000)
        rest = sum(it.num_rows for it in reader)
        self.assertEqual(first.num_rows + rest, 3_000_000)

    @needs("pyarrow")
    def test_an_error_in_the_middle_comes_out_of_the_stream(self):
        import pyarrow

        with self.assertRaises((pyarrow.ArrowInvalid, OSError, pyarrow.ArrowException)) as caught:
            self.con.sql("SELECT 1 / (i - 2900000) FROM generate_series(1, 3000000) AS s(i)").arrow()
        self.assertIn("division by zero", str(caught.exception))
        self.assertEqual(self.con.sql("SELECT 1").fetchall(), [(1,)])

    @needs("pyarrow")
    def test_schemas_come_without_rows(self):
        import pyarrow

        cur = self.con.sql("SELECT 1 AS n, 'a' AS s WHERE false")
        self.assertEqual(pyarrow.schema(cur).names, ["n", "s"])
        self.assertEqual(cur.arrow().num_rows, 0)
        self.con.register("none", self.con.duplicate().sql("SELECT 1 AS n WHERE false"))
        self.assertEqual(self.con.sql("SELECT count(*) FROM none").fetchall(), [(0,)])

    @needs("pyarrow")
    def test_layouts_of_others_are_read(self):
        import pyarrow as pa

        table = pa.table({
            "large": pa.array(["a", None, "c"], pa.large_string()),
            "view": pa.array(["a", "b", None], pa.string_view()),
            "words": pa.array(["x", "y", "x"]).dictionary_encode(),
            "tiny": pa.array([1, 2, None], pa.int8()),
            "unsigned": pa.array([1, 2, 2**63], pa.uint64()),
            "seconds": pa.array([0, 1, 2], pa.timestamp("s")),
            "millis": pa.array([0, 1, 2], pa.timestamp("ms", "UTC")),
            "slices": pa.array([9, 9, 1, 2, 3], pa.int64())[2:],
        })
        self.con.register("t", table)
        row = self.con.sql("SELECT large, view, words, tiny, unsigned, slices FROM t WHERE slices = 3").fetchall()[0]
        self.assertEqual((row[:4], int(row[4]), row[5]), (("c", None, "x", None), 2**63, 3))
        self.con.register("lists", pa.table({"x": pa.array([[1, 2], [3]])}))
        self.assertEqual(self.con.sql("SELECT sum(x[1]) AS n FROM lists").fetchall(), [(4,)])
        self.con.register("pairs", pa.table({"x": pa.array([{"a": 1}, {"a": 2}])}))
        self.assertEqual(self.con.sql("SELECT sum((p.x).a) AS n FROM pairs p").fetchall(), [(3,)])

    @needs("pyarrow", "pandas")
    def test_pandas_there_and_back(self):
        import pandas

        frame = pandas.DataFrame({"n": [1, 2, 3], "s": ["a", None, "c"]}, index=[7, 8, 9])
        found = self.con.sql("SELECT s, n + 1 AS m FROM frame WHERE n <> 2 ORDER BY n").df()
        self.assertEqual(list(found.columns), ["s", "m"])
        self.assertEqual(found["m"].tolist(), [2, 4])
        self.assertEqual(self.con.sql(TYPES).df().shape, (3, 15))

    @needs("polars")
    def test_polars_there_and_back(self):
        import polars

        frame = polars.DataFrame({"n": [1, 2, 3], "s": ["a", "b", None]})
        found = self.con.sql("SELECT max(n) AS n, count(s) AS c FROM frame").pl()
        self.assertEqual(found.rows(), [(3, 2)])
        plain = TYPES.replace("UUID '12345678-1234-5678-1234-567812345678' AS u,", "")
        self.assertEqual(self.con.sql(plain).pl().shape, (3, 14))

    @needs("duckdb", "pyarrow")
    def test_duckdb_reads_ours_and_we_read_its(self):
        import duckdb

        ours = self.con.sql("SELECT i AS n FROM generate_series(1, 1000) AS s(i)").reader()
        self.assertEqual(duckdb.sql("SELECT sum(n) FROM ours").fetchall(), [(500500,)])
        theirs = duckdb.sql("SELECT range AS n, 'x' || range AS s FROM range(1000)")
        self.assertEqual(self.con.sql("SELECT sum(n), max(s) FROM theirs").fetchall(), [(499500, "x999")])

    @needs("pyarrow", "numpy")
    def test_numpy(self):
        arrays = self.con.sql("SELECT i AS n, nullif(i, 2) AS gap FROM generate_series(1, 3) AS s(i) ORDER BY i").fetchnumpy()
        self.assertEqual(arrays["n"].tolist(), [1, 2, 3])
        self.assertEqual(arrays["gap"].mask.tolist(), [False, True, False])

    @needs("pyarrow")
    def test_variables_are_read_unless_they_are_not_to_be(self):
        import pyarrow

        local = pyarrow.table({"n": [1, 2]})
        self.assertEqual(self.con.sql("SELECT sum(n) FROM local").fetchall(), [(3,)])
        self.con.execute("CREATE TABLE kept AS SELECT n * 10 AS n FROM local")
        self.assertEqual(self.con.sql("SELECT sum(n) FROM kept").fetchall(), [(30,)])
        self.assertEqual(self.con.sql("SELECT n FROM local WHERE n > ?", [1]).fetchall(), [(2,)])
        local = pyarrow.table({"n": [5]})
        self.assertEqual(self.con.sql("SELECT sum(n) FROM local").fetchall(), [(5,)])
        with self.assertRaises(nodewise.ProgrammingError):
            nodewise.connect(scan_variables=False).sql("SELECT sum(n) FROM local")
        number = 5
        with self.assertRaises(nodewise.ProgrammingError):
            self.con.sql("SELECT * FROM number")
        self.assertEqual(number, 5)
        # A table of the name comes first.
        self.con.execute("CREATE TABLE local (n INTEGER)")
        self.assertEqual(self.con.sql("SELECT count(*) FROM local").fetchall(), [(0,)])

    def test_what_gives_no_rows_is_refused(self):
        for thing in [5, "text", [1], None]:
            with self.subTest(thing=thing), self.assertRaises(nodewise.Error):
                self.con.register("t", thing)

    def test_rows_of_one_connection_go_into_another(self):
        other = nodewise.connect()
        other.register("t", self.con.sql("SELECT i AS n FROM generate_series(1, 100000) AS s(i)"))
        self.assertEqual(other.sql("SELECT count(*), sum(n) FROM t").fetchall(), [(100000, 5000050000)])
        self.assertTrue(other.unregister("t"))
        self.assertFalse(other.unregister("t"))


if __name__ == "__main__":
    unittest.main()
