"""The driver of ADBC: what comes out and goes in as Arrow, transactions, metadata, errors."""

import datetime
import decimal
import doctest
import importlib.util
import pathlib
import tempfile
import threading
import time
import unittest

MISSING = importlib.util.find_spec("adbc_driver_manager") is None or importlib.util.find_spec("pyarrow") is None
if not MISSING:
    import adbc_driver_manager
    import nodewise.adbc
    import pyarrow as pa
    from adbc_driver_manager import dbapi

LONG = "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b WHERE (a + b) % 7 = 8"


class Case(unittest.TestCase):
    def connect(self, *arguments, **options):
        con = nodewise.adbc.connect(*arguments, **options)
        self.addCleanup(con.close)
        return con

    def rows(self, con, sql, parameters=None):
        with con.cursor() as cursor:
            return cursor.execute(sql, parameters).fetchall()

    def refused(self, sqlstate, kind, call, *arguments, **options):
        with self.assertRaises(kind) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.sqlstate, sqlstate)
        return raised.exception


@unittest.skipIf(MISSING, "adbc_driver_manager or pyarrow cannot be imported")
class Queries(Case):
    def test_rows_come_as_arrow_in_batches(self):
        with self.connect().cursor() as cursor:
            cursor.execute("SELECT a::bigint AS a, a::text AS b FROM generate_series(1, 1000000) a")
            reader = cursor.fetch_record_batch()
            self.assertEqual([str(it) for it in reader.schema.types], ["int64", "string"])
            sizes = [it.num_rows for it in reader]
            self.assertGreater(len(sizes), 1)
            self.assertEqual(sum(sizes), 1000000)

    def test_examples_of_the_module_come_out(self):
        found = doctest.testmod(nodewise.adbc)
        self.assertEqual((found.failed, found.attempted), (0, 2))

    def test_the_library_is_a_driver_by_its_path(self):
        with dbapi.connect(driver=nodewise.adbc.DRIVER, uri="nodewise://", autocommit=True) as con:
            self.assertEqual(self.rows(con, "SELECT 1 AS a"), [(1,)])

    def test_parameters_have_places_numbers_or_names(self):
        con = self.connect()
        self.assertEqual(self.rows(con, "SELECT ? - ?", (5, 2)), [(3,)])
        self.assertEqual(self.rows(con, "SELECT $2 - $1", (2, 5)), [(3,)])
        self.assertEqual(self.rows(con, "SELECT $b - $a", {"a": 2, "b": 5}), [(3,)])
        self.assertEqual(self.rows(con, "SELECT '?', ?", ("x",)), [("?", "x")])
        self.assertEqual(self.rows(con, """SELECT '{"a": 1}'::jsonb ? 'a'"""), [(True,)])
        self.assertEqual(self.rows(con, "SELECT $1", pa.table({"v": [1, 2, 3]})), [(1,), (2,), (3,)])

    def test_values_are_of_their_types_or_of_those_that_are_taken(self):
        con = self.connect(autocommit=True)
        self.assertEqual(self.rows(con, "SELECT 1 + ?", (2**40,)), [(2**40 + 1,)])
        self.assertEqual(self.rows(con, "SELECT a FROM (VALUES ('1'), ('2')) t (a) WHERE a = ?", (2,)), [("2",)])
        self.assertEqual(self.rows(con, "SELECT ? = DATE '2024-01-01'", ("2024-01-01",)), [(True,)])

    def test_a_prepared_statement_tells_its_parameters(self):
        with self.connect().cursor() as cursor:
            schema = cursor.adbc_prepare("SELECT $1::integer, $2::date, $3")
            self.assertEqual([(it.name, str(it.type)) for it in schema], [("$1", "int32"), ("$2", "date32[day]"), ("$3", "string")])
            for value in (1, "a"):
                self.assertEqual(cursor.execute("SELECT ? AS v", (value,)).fetchall(), [(value,)])

    def test_a_schema_comes_without_running(self):
        with self.connect().cursor() as cursor:
            schema = cursor.adbc_execute_schema("SELECT 1 / 0 AS a, ARRAY['x'] AS b")
            self.assertEqual([(it.name, str(it.type)) for it in schema], [("a", "int32"), ("b", "list<item: string>")])

    def test_values_of_python_come_back(self):
        values = [
            True, 7, 2**40, 1.5, "text", b"\x00\xff", decimal.Decimal("1234.50"), datetime.date(2024, 2, 29), datetime.time(1, 2, 3),
            datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None,
        ]
        con = self.connect()
        for value in values:
            self.assertEqual(self.rows(con, "SELECT ?", (value,)), [(value,)], value)
        moment = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
        self.assertEqual(self.rows(con, "SELECT ? = TIMESTAMPTZ '2024-02-29 00:00:00+00'", (moment,)), [(True,)])

    def test_statements_without_rows_give_none(self):
        con = self.connect()
        with con.cursor() as cursor:
            cursor.execute("CREATE TABLE t (a INTEGER)")
            self.assertEqual(cursor.fetchall(), [])
            cursor.executemany("INSERT INTO t VALUES (?)", [(1,), (2,), (3,)])
            self.assertEqual(cursor.rowcount, 3)
            returned = pa.table({"v": [4, 5]})
            self.assertEqual(cursor.execute("INSERT INTO t VALUES (?) RETURNING a * 10 AS b", returned).fetchall(), [(40,), (50,)])
            cursor.executescript("INSERT INTO t VALUES (6); DELETE FROM t WHERE a = 6")
        self.assertEqual(self.rows(con, "SELECT count(*) FROM t"), [(5,)])


@unittest.skipIf(MISSING, "adbc_driver_manager or pyarrow cannot be imported")
class Ingesting(Case):
    def test_each_mode_does_what_it_says(self):
        con = self.connect(autocommit=True)
        rows = pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", None]})
        with con.cursor() as cursor:
            self.refused("42P01", dbapi.ProgrammingError, cursor.adbc_ingest, "t", rows, "append")
            self.assertEqual(cursor.adbc_ingest("t", rows, "create"), 2)
            self.refused("42P07", dbapi.ProgrammingError, cursor.adbc_ingest, "t", rows, "create")
            self.assertEqual(cursor.adbc_ingest("t", rows.select(["b"]), "append"), 2)
            self.assertEqual(cursor.adbc_ingest("t", rows.to_reader(), "create_append"), 2)
            self.assertEqual(self.rows(con, "SELECT count(*), count(a), count(b) FROM t"), [(6, 4, 3)])
            self.assertEqual(cursor.adbc_ingest("t", rows.slice(0, 0), "replace"), 0)
            self.assertEqual(cursor.execute("SELECT * FROM t").fetch_arrow_table().schema.names, ["a", "b"])
            error = self.refused("42703", dbapi.ProgrammingError, cursor.adbc_ingest, "t", pa.table({"c": [1]}), "append")
            self.assertEqual(error.status_code, adbc_driver_manager.AdbcStatusCode.ALREADY_EXISTS)

    def test_columns_without_nulls_stay_so(self):
        con = self.connect(autocommit=True)
        with con.cursor() as cursor:
            cursor.adbc_ingest("t", pa.table([[1]], pa.schema([pa.field("a", pa.int64(), nullable=False)])))
        self.refused("23502", dbapi.IntegrityError, self.rows, con, "INSERT INTO t VALUES (NULL)")

    def test_schemas_and_temporary_tables(self):
        con = self.connect()
        self.rows(con, 'CREATE SCHEMA "S p"')
        rows = pa.table({"a": [1]})
        with con.cursor() as cursor:
            cursor.adbc_ingest('t "x"', rows, db_schema_name="S p")
        with con.cursor() as cursor:
            cursor.adbc_ingest("t", rows)
            cursor.adbc_ingest("t", pa.table({"a": [1, 2]}), temporary=True)
            self.assertEqual(self.rows(con, 'SELECT count(*) FROM "S p"."t ""x"""'), [(1,)])
            self.assertEqual(self.rows(con, "SELECT (SELECT count(*) FROM public.t), (SELECT count(*) FROM pg_temp.t)"), [(1, 2)])
            self.refused("3F000", dbapi.ProgrammingError, cursor.adbc_ingest, "t", rows, db_schema_name="none")
            con.rollback()
            self.refused("0A000", dbapi.NotSupportedError, cursor.adbc_ingest, "t", rows, catalog_name="other")

    def test_what_cannot_be_read_leaves_nothing(self):
        def batches():
            yield pa.record_batch({"a": [1]})
            raise ValueError("no more")

        con = self.connect(autocommit=True)
        with con.cursor() as cursor:
            with self.assertRaisesRegex(dbapi.Error, "no more"):
                cursor.adbc_ingest("t", pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()))
        self.refused("42P01", dbapi.ProgrammingError, self.rows, con, "SELECT * FROM t")

    def test_a_result_of_the_connection_can_be_ingested(self):
        con = self.connect()
        with con.cursor() as cursor, con.cursor() as other:
            reader = cursor.execute("SELECT a FROM generate_series(1, 100000) a").fetch_record_batch()
            self.assertEqual(other.adbc_ingest("t", reader), 100000)

    def test_types_come_back_as_they_went(self):
        moment = datetime.datetime(2024, 2, 29, 1, 2, 3, 4)
        table = pa.table({
            "i16": pa.array([1, None], pa.int16()), "i32": pa.array([1, None], pa.int32()), "i64": pa.array([1, None], pa.int64()),
            "f32": pa.array([0.5, None], pa.float32()), "f64": pa.array([0.1, None]), "flag": pa.array([True, None]),
            "text": ["\u00e4", None], "bytes": pa.array([b"\x00", None]), "day": pa.array([datetime.date(2024, 2, 29), None]),
            "time": pa.array([datetime.time(1, 2, 3), None], pa.time64("us")), "at": pa.array([moment, None], pa.timestamp("us")),
            "moment": pa.array([moment, None], pa.timestamp("us", "UTC")), "price": pa.array([decimal.Decimal("1.25"), None], pa.decimal128(9, 2)),
            "list": pa.array([[1, None], None], pa.list_(pa.int32())), "span": pa.array([(1, 2, 3000), None], pa.month_day_nano_interval()),
        })
        with self.connect().cursor() as cursor:
            cursor.adbc_ingest("t", table)
            self.assertTrue(cursor.execute("SELECT * FROM t").fetch_arrow_table().equals(table))


@unittest.skipIf(MISSING, "adbc_driver_manager or pyarrow cannot be imported")
class Transactions(Case):
    def test_rolled_back_and_committed(self):
        con = self.connect()
        self.rows(con, "CREATE TABLE t (a INTEGER)")
        con.commit()
        self.rows(con, "INSERT INTO t VALUES (1)")
        con.rollback()
        self.rows(con, "INSERT INTO t VALUES (2)")
        con.commit()
        con.rollback()
        self.assertEqual(self.rows(con, "SELECT * FROM t"), [(2,)])

    def test_one_that_failed_is_not_committed_in_silence(self):
        con = self.connect()
        self.refused("42P01", dbapi.ProgrammingError, self.rows, con, "SELECT * FROM none")
        self.refused("25P02", dbapi.ProgrammingError, self.rows, con, "SELECT 1")
        self.refused("25P02", dbapi.ProgrammingError, con.commit)
        self.assertEqual(self.rows(con, "SELECT 1"), [(1,)])

    def test_autocommit_can_be_changed(self):
        con = self.connect(autocommit=True)
        with self.assertRaises(dbapi.ProgrammingError):
            con.adbc_connection.commit()
        con.adbc_connection.set_autocommit(False)
        self.rows(con, "CREATE TABLE t (a INTEGER)")
        con.adbc_connection.set_autocommit(True)
        self.assertEqual(self.rows(con.adbc_clone(), "SELECT count(*) FROM t"), [(0,)])

    def test_many_runs_are_all_or_none(self):
        con = self.connect(autocommit=True)
        self.rows(con, "CREATE TABLE t (a INTEGER PRIMARY KEY)")
        with con.cursor() as cursor:
            self.refused("23505", dbapi.IntegrityError, cursor.executemany, "INSERT INTO t VALUES (?)", [(1,), (2,), (1,)])
        self.assertEqual(self.rows(con, "SELECT count(*) FROM t"), [(0,)])

    def test_connections_share_a_database(self):
        with tempfile.TemporaryDirectory() as folder:
            first = nodewise.adbc.connect(folder, autocommit=True)
            self.rows(first, "CREATE TABLE t AS SELECT 1 AS a")
            second = nodewise.adbc.connect(pathlib.Path(folder))
            self.assertEqual(self.rows(second, "SELECT * FROM t"), [(1,)])
            with nodewise.connect(folder) as other:
                self.assertEqual(other.sql("SELECT * FROM t").fetchall(), [(1,)])
            for con in (first, second):
                con.close()
            with dbapi.connect(driver=nodewise.adbc.DRIVER, uri=f"nodewise:///{folder}") as con:
                self.assertEqual(self.rows(con, "SELECT * FROM t"), [(1,)])

    def test_rows_are_read_on_after_a_commit(self):
        con = self.connect()
        with con.cursor() as cursor:
            reader = cursor.execute("SELECT a FROM generate_series(1, 2000000) a").fetch_record_batch()
            first = reader.read_next_batch()
            con.commit()
            self.assertEqual(first.num_rows + sum(it.num_rows for it in reader), 2000000)


@unittest.skipIf(MISSING, "adbc_driver_manager or pyarrow cannot be imported")
class Catalog(Case):
    def test_objects_are_told_at_each_depth(self):
        con = self.connect(autocommit=True)
        self.rows(con, "CREATE TABLE part (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, price DECIMAL(10, 2) DEFAULT 1)")
        self.rows(con, "CREATE TABLE stock (part BIGINT REFERENCES part (id), many INTEGER, UNIQUE (many, part))")
        self.rows(con, "CREATE VIEW v AS SELECT 1 AS a")
        self.rows(con, "COMMENT ON COLUMN part.name IS 'what it is called'")
        catalogs = con.adbc_get_objects(depth="catalogs").read_all().to_pylist()
        self.assertEqual(catalogs, [{"catalog_name": "nodewise", "catalog_db_schemas": None}])
        self.assertEqual(con.adbc_get_objects(depth="catalogs", catalog_filter="other").read_all().num_rows, 0)

        def schemas(**asked):
            found = con.adbc_get_objects(**asked).read_all().to_pylist()[0]["catalog_db_schemas"]
            return {it["db_schema_name"]: it["db_schema_tables"] for it in found}

        self.assertIsNone(schemas(depth="db_schemas")["public"])
        self.assertEqual(list(schemas(depth="db_schemas", db_schema_filter="pub%")), ["public"])
        tables = schemas(depth="tables", table_types_filter=["TABLE"])["public"]
        self.assertEqual([(it["table_name"], it["table_type"], it["table_columns"]) for it in tables],
                         [("part", "TABLE", None), ("stock", "TABLE", None)])
        self.assertEqual([it["table_name"] for it in schemas(depth="tables", table_name_filter="_")["public"]], ["v"])
        part, stock, _ = schemas()["public"]
        columns = [(it["column_name"], it["xdbc_type_name"], it["xdbc_nullable"], it["xdbc_column_size"], it["remarks"]) for it in part["table_columns"]]
        self.assertEqual(columns, [("id", "bigint", 0, 19, None), ("name", "character varying(20)", 0, 20, "what it is called"),
                                   ("price", "numeric(10,2)", 1, 10, None)])
        keys = {it["constraint_type"]: it for it in stock["table_constraints"]}
        self.assertEqual(keys["UNIQUE"]["constraint_column_names"], ["many", "part"])
        self.assertEqual(keys["FOREIGN KEY"]["constraint_column_usage"],
                         [{"fk_catalog": "nodewise", "fk_db_schema": "public", "fk_table": "part", "fk_column_name": "id"}])
        only = schemas(table_name_filter="part", column_name_filter="n%")["public"][0]["table_columns"]
        self.assertEqual([it["column_name"] for it in only], ["name"])

    def test_tables_have_schemas_and_types(self):
        con = self.connect(autocommit=True)
        self.rows(con, "CREATE TABLE t (a INTEGER, b TEXT[], c TIMESTAMPTZ)")
        schema = con.adbc_get_table_schema("t", db_schema_filter="public")
        self.assertEqual([str(it) for it in schema.types], ["int32", "list<item: string>", "timestamp[us, tz=UTC]"])
        self.refused("42P01", dbapi.ProgrammingError, con.adbc_get_table_schema, "none")
        self.assertEqual(con.adbc_get_table_types(), ["LOCAL TEMPORARY", "MATERIALIZED VIEW", "TABLE", "VIEW"])

    def test_the_driver_tells_what_it_is(self):
        info = self.connect().adbc_get_info()
        self.assertEqual((info["vendor_name"], info["vendor_version"], info["driver_adbc_version"]), ("Nodewise", nodewise.__version__, 1001000))

    def test_what_is_not_there_is_refused(self):
        con = self.connect()
        with con.cursor() as cursor:
            for call in (lambda: cursor.adbc_execute_partitions("SELECT 1"), lambda: cursor.execute(b"plan"), con.adbc_get_statistics,
                         con.adbc_get_statistic_names, lambda: con.adbc_connection.read_partition(b"p")):
                self.refused("0A000", dbapi.NotSupportedError, call)


@unittest.skipIf(MISSING, "adbc_driver_manager or pyarrow cannot be imported")
class Errors(Case):
    def test_they_carry_their_sqlstate_and_parts(self):
        con = self.connect(autocommit=True)
        error = self.refused("22012", dbapi.DataError, self.rows, con, "SELECT 1 / 0")
        self.assertEqual(dict(error.details)[b"hint"], b"guard the divisor with NULLIF(divisor, 0)")
        self.rows(con, "CREATE TABLE t (a INTEGER PRIMARY KEY)")
        self.rows(con, "INSERT INTO t VALUES (1)")
        error = self.refused("23505", dbapi.IntegrityError, self.rows, con, "INSERT INTO t VALUES (1)")
        self.assertEqual(dict(error.details)[b"constraint"], b"t_pkey")
        self.refused("42601", dbapi.ProgrammingError, self.rows, con, "SELEC 1")
        self.refused("07002", dbapi.ProgrammingError, self.rows, con, "SELECT ?::integer")
        self.refused("42P02", dbapi.ProgrammingError, self.rows, con, "SELECT ?::integer", (1, 2))
        self.refused("42P02", dbapi.ProgrammingError, self.rows, con, "SELECT $a::integer", {"b": 1})
        self.refused("0A000", dbapi.NotSupportedError, self.rows, con, "COPY t TO STDOUT")

    def test_rows_that_are_null_are_refused_and_harm_nobody(self):
        class Rows:
            def __arrow_c_array__(self, requested_schema=None):
                return pa.StructArray.from_arrays([pa.array([1, 2])], ["a"], mask=pa.array([False, True])).__arrow_c_array__()

        con = self.connect()
        with self.assertRaisesRegex(dbapi.ProgrammingError, "NULL as a whole"):
            self.rows(con, "SELECT ?", Rows())
        self.assertEqual(self.rows(con, "SELECT 1"), [(1,)])

    def test_those_of_later_rows_are_told_as_well(self):
        con = self.connect()
        with con.cursor() as cursor:
            cursor.execute("CREATE TABLE t AS SELECT a, repeat('x', 100) AS b FROM generate_series(1, 500000) a")
            cursor.execute("SELECT b, 1 / (500000 - a) AS q FROM t")
            with self.assertRaisesRegex(Exception, "22012"):
                cursor.fetch_arrow_table()

    def test_wrong_options_are_refused(self):
        for options in ({"threads": "none"}, {"no_such_setting": 1}, {"uri": "http://host"}, {"uri": "a", "path": "b"}, {"adbc.none": "1"}):
            with self.assertRaises(dbapi.Error, msg=options):
                nodewise.adbc.connect(**options)
        con = self.connect(memory_limit="1GB", threads=2)
        self.assertEqual(self.rows(con, "SHOW memory_limit"), [("1GB",)])
        native = con.adbc_connection
        level = "adbc.connection.transaction.isolation_level"
        native.set_options(**{level: "adbc.connection.transaction.isolation.serializable"})
        self.assertEqual(native.get_option(level), "adbc.connection.transaction.isolation.serializable")
        for name, value in ((level, "none"), ("adbc.connection.autocommit", "maybe"), ("adbc.none", "1"), ("none", "1")):
            with self.assertRaises(dbapi.Error, msg=name):
                native.set_options(**{name: value})
        with self.assertRaises(dbapi.ProgrammingError):
            con.adbc_current_db_schema = "none"
        self.assertEqual((con.adbc_current_catalog, con.adbc_current_db_schema), ("nodewise", "public"))

    def test_a_statement_is_ended_from_another_thread(self):
        con = self.connect()
        with con.cursor() as cursor:
            timer = threading.Timer(0.3, cursor.adbc_cancel)
            timer.start()
            began = time.monotonic()
            self.refused("57014", dbapi.OperationalError, cursor.execute, LONG)
            self.assertLess(time.monotonic() - began, 60)
            timer.join()
            con.rollback()
            self.assertEqual(cursor.execute("SELECT 1").fetchall(), [(1,)])

    def test_rows_end_with_their_connection(self):
        con = nodewise.adbc.connect()
        reader = con.cursor().execute("SELECT a FROM generate_series(1, 2000000) a").fetch_record_batch()
        con.close()
        with self.assertRaises(Exception):
            reader.read_all()


if __name__ == "__main__":
    unittest.main()
