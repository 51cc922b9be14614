"""PEP 249: the module, connections, cursors, parameters, types, exceptions."""

import datetime
import decimal
import os
import signal
import tempfile
import threading
import time
import unittest
import uuid

import nodewise


class Module(unittest.TestCase):
    def test_says_what_it_is(self):
        self.assertEqual((nodewise.apilevel, nodewise.threadsafety, nodewise.paramstyle), ("2.0", 2, "qmark"))
        self.assertTrue(issubclass(nodewise.IntegrityError, nodewise.DatabaseError))
        self.assertTrue(issubclass(nodewise.DatabaseError, nodewise.Error))
        self.assertTrue(issubclass(nodewise.InterfaceError, nodewise.Error))
        self.assertIs(nodewise.Connection.Error, nodewise.Error)


class Statements(unittest.TestCase):
    def setUp(self):
        self.con = nodewise.connect()
        self.addCleanup(self.con.close)

    def one(self, sql, parameters=None):
        rows = self.con.execute(sql, parameters).fetchall()
        self.assertEqual(len(rows), 1)
        return rows[0][0] if len(rows[0]) == 1 else rows[0]

    def test_rows_are_fetched_one_by_one_some_and_all(self):
        cur = self.con.cursor()
        cur.execute("SELECT i, i * 10 FROM generate_series(1, 10) AS s(i) ORDER BY i")
        self.assertEqual(cur.fetchone(), (1, 10))
        self.assertEqual(cur.fetchmany(2), [(2, 20), (3, 30)])
        cur.arraysize = 3
        self.assertEqual(len(cur.fetchmany()), 3)
        self.assertEqual([it[0] for it in cur], [7, 8, 9, 10])
        self.assertEqual((cur.fetchone(), cur.fetchmany(5), cur.fetchall()), (None, [], []))

    def test_many_rows_come_in_order(self):
        rows = self.con.execute("SELECT i FROM generate_series(1, 300000) AS s(i) ORDER BY i")
        self.assertEqual([it[0] for it in rows], list(range(1, 300001)))

    def test_description_and_rowcount(self):
        cur = self.con.execute("CREATE TABLE t (n INTEGER, d DECIMAL(9, 2), s TEXT, b BYTEA, at TIMESTAMP)")
        self.assertIsNone(cur.description)
        self.assertEqual(self.con.execute("INSERT INTO t (n) VALUES (1), (2)").rowcount, 2)
        cur = self.con.execute("SELECT * FROM t")
        self.assertEqual(cur.rowcount, -1)
        self.assertEqual([it[0] for it in cur.description], ["n", "d", "s", "b", "at"])
        kinds = [it[1] for it in cur.description]
        for kind, group in zip(kinds, ["NUMBER", "NUMBER", "STRING", "BINARY", "DATETIME"]):
            self.assertTrue(kind == getattr(nodewise, group), (kind, group))
        self.assertEqual(cur.description[1][4:6], (9, 2))
        self.assertEqual(self.con.execute("UPDATE t SET s = 'x'").rowcount, 2)
        self.assertEqual(self.con.execute("DELETE FROM t WHERE n = 1").statusmessage, "DELETE 1")

    def test_values_come_as_objects_of_python(self):
        utc = datetime.timezone.utc
        for sql, value in [
            ("NULL", None),
            ("true", True),
            ("7::SMALLINT", 7),
            ("-9223372036854775808", -(2**63)),
            ("1.5::REAL", 1.5),
            ("0.1::DOUBLE PRECISION", 0.1),
            ("'1.50'::DECIMAL(9, 2)", decimal.Decimal("1.50")),
            ("-99999999999999999999999999999999999999::DECIMAL(38, 0)", decimal.Decimal(-(10**38 - 1))),
            ("'g\u00fcnter'", "g\u00fcnter"),
            ("DATE '0001-01-01'", datetime.date(1, 1, 1)),
            ("DATE '9999-12-31'", datetime.date(9999, 12, 31)),
            ("TIMESTAMP '1969-12-31 23:59:59.999999'", datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)),
            ("TIMESTAMPTZ '2024-07-01 12:00:00+02'", datetime.datetime(2024, 7, 1, 10, tzinfo=utc)),
            ("TIME '12:34:56.789'", datetime.time(12, 34, 56, 789000)),
            ("TIMETZ '12:34:56.789-03:30'",
             datetime.time(12, 34, 56, 789000, datetime.timezone(datetime.timedelta(hours=-3, minutes=-30)))),
            ("INTERVAL '1 day 2 hours'", datetime.timedelta(days=1, hours=2)),
            ("UUID '12345678-1234-5678-1234-567812345678'", uuid.UUID("12345678123456781234567812345678")),
            ("'\\x00ff'::BYTEA", b"\x00\xff"),
        ]:
            with self.subTest(sql=sql):
                found = self.one(f"SELECT {sql}")
                self.assertEqual((found, type(found)), (value, type(value)))

    def test_what_python_has_no_place_for_is_an_error(self):
        for sql in ["DATE '10000-01-01'", "TIMESTAMP '0044-03-15 00:00:00 BC'", "TIME '24:00'", "TIMETZ '24:00+00'"]:
            with self.subTest(sql=sql), self.assertRaises(nodewise.DataError):
                self.con.execute(f"SELECT {sql}").fetchall()

    def test_moments_are_in_the_zone_of_the_session(self):
        self.con.execute("SET TIME ZONE 'Europe/Berlin'")
        found = self.one("SELECT TIMESTAMPTZ '2024-07-01 12:00:00+00'")
        self.assertEqual((found.hour, found.utcoffset()), (14, datetime.timedelta(hours=2)))

    def test_parameters_go_there_and_back(self):
        utc = datetime.timezone.utc
        for value in [
            None, True, False, 0, -1, 2**62, 10**30, 1.25, "text", "quote ' and ? and $1", "",
            decimal.Decimal("123.4500"), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
            datetime.datetime(2024, 2, 29, 1, tzinfo=utc), datetime.time(1, 2, 3, 4),
            datetime.time(1, 2, 3, 4, datetime.timezone(datetime.timedelta(hours=2))),
            datetime.timedelta(days=-1, seconds=5, microseconds=6), uuid.UUID(int=5), b"", b"\x00\xfe", bytearray(b"ab"),
            memoryview(b"cd"),
        ]:
            with self.subTest(value=value):
                found = self.one("SELECT ?", [value])
                self.assertEqual(found, bytes(value) if isinstance(value, (bytearray, memoryview)) else value)

    def test_parameters_have_three_styles(self):
        self.assertEqual(self.one("SELECT ? + 1, '?' /* ? */ -- ?\n, \"a?\" FROM (SELECT ? AS \"a?\") x", [1, 2]), (2, "?", 2))
        self.assertEqual(self.one("SELECT $2 - $1, $$?$$, $t$ $1 $t$", [1, 5]), (4, "?", " $1 "))
        self.assertEqual(self.one("SELECT $big - $small + $big", {"small": 1, "big": 5}), 9)
        self.assertEqual(self.one("SELECT E'\\'?' || ?", ["x"]), "'?x")
        for sql, parameters in [("SELECT ?", []), ("SELECT ?", [1, 2]), ("SELECT $a", {"b": 1}), ("SELECT ?", "x")]:
            with self.subTest(sql=sql), self.assertRaises(nodewise.Error):
                self.con.execute(sql, parameters)
        with self.assertRaises(nodewise.NotSupportedError):
            self.con.execute("SELECT ?", [object()])

    def test_executemany_is_all_or_nothing(self):
        self.con.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT)")
        cur = self.con.executemany("INSERT INTO t VALUES (?, ?)", [(i, str(i)) for i in range(100)])
        self.assertEqual((cur.rowcount, self.one("SELECT count(*) FROM t")), (100, 100))
        with self.assertRaises(nodewise.IntegrityError) as caught:
            self.con.executemany("INSERT INTO t VALUES (?, ?)", [(200, "a"), (1, "b")])
        self.assertEqual((caught.exception.sqlstate, self.one("SELECT count(*) FROM t")), ("23505", 100))

    def test_several_statements_are_one_transaction(self):
        found = self.con.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2); SELECT sum(n) FROM t")
        self.assertEqual(found.fetchall(), [(3,)])
        with self.assertRaises(nodewise.DataError):
            self.con.execute("DELETE FROM t; SELECT 1 / 0")
        self.assertEqual(self.one("SELECT count(*) FROM t"), 2)

    def test_errors_are_told_by_their_class(self):
        self.con.execute("CREATE TABLE t (n INTEGER NOT NULL)")
        for sql, kind, state in [
            ("SELECT nothing", nodewise.ProgrammingError, "42703"),
            ("SELEC 1", nodewise.ProgrammingError, "42601"),
            ("SELECT * FROM none", nodewise.ProgrammingError, "42P01"),
            ("SELECT 1 / 0", nodewise.DataError, "22012"),
            ("INSERT INTO t VALUES (NULL)", nodewise.IntegrityError, "23502"),
            ("COPY t TO STDOUT", nodewise.NotSupportedError, "0A000"),
            ("SELECT * FROM 'no-such-file.csv'", nodewise.OperationalError, "58P01"),
            ("", nodewise.ProgrammingError, "42601"),
        ]:
            with self.subTest(sql=sql), self.assertRaises(kind) as caught:
                self.con.execute(sql).fetchall()
            self.assertEqual(caught.exception.sqlstate, state, sql)
        with self.assertRaises(nodewise.ProgrammingError) as caught:
            self.con.execute("SELECT\n  nothing")
        self.assertEqual(caught.exception.position, (2, 3))

    def test_cursors_do_not_disturb_one_another(self):
        first = self.con.execute("SELECT i FROM generate_series(1, 2000000) AS s(i)")
        self.assertEqual(first.fetchone(), (1,))
        self.con.execute("CREATE TABLE t AS SELECT 5 AS n")
        self.assertEqual(self.con.execute("SELECT n FROM t").fetchall(), [(5,)])
        self.assertEqual(first.fetchone(), (2,))
        first.close()
        with self.assertRaises(nodewise.InterfaceError):
            first.fetchone()
        self.assertEqual(self.one("SELECT count(*) FROM nodewise.queries"), 1)

    def test_a_failing_row_fails_where_it_is_read(self):
        cur = self.con.execute("SELECT 1 / (i - 1900000) FROM generate_series(1, 2000000) AS s(i)")
        with self.assertRaises(nodewise.DataError):
            cur.fetchall()
        self.assertEqual(self.one("SELECT 1"), 1)

    def test_without_rows_there_is_nothing_to_fetch(self):
        cur = self.con.cursor()
        for fetch in [cur.fetchone, cur.fetchall, cur.fetchmany]:
            with self.assertRaises(nodewise.ProgrammingError):
                fetch()

    def test_notices_are_kept(self):
        self.con.execute("ROLLBACK")
        self.assertEqual([(it[0], it[1]) for it in self.con.notices()], [("WARNING", "25P01")])
        self.assertEqual(self.con.notices(), [])


class Transactions(unittest.TestCase):
    def test_without_autocommit_the_first_statement_opens_one(self):
        with nodewise.connect(autocommit=False) as con:
            con.execute("CREATE TABLE t (n INTEGER)")
            self.assertTrue(con.in_transaction)
            con.commit()
            con.execute("INSERT INTO t VALUES (1)")
            con.rollback()
            self.assertEqual(con.execute("SELECT count(*) FROM t").fetchall(), [(0,)])
            con.commit()
            self.assertFalse(con.in_transaction)

    def test_with_it_they_are_opened_by_hand(self):
        with nodewise.connect() as con:
            con.execute("CREATE TABLE t (n INTEGER)")
            con.begin()
            con.execute("INSERT INTO t VALUES (1)")
            other = con.duplicate()
            self.assertEqual(other.execute("SELECT count(*) FROM t").fetchall(), [(0,)])
            con.commit()
            self.assertEqual(other.execute("SELECT count(*) FROM t").fetchall(), [(1,)])

    def test_a_block_commits_or_rolls_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "db")
            with nodewise.connect(path, autocommit=False) as con:
                con.execute("CREATE TABLE t AS SELECT 1 AS n")
            with self.assertRaises(ZeroDivisionError):
                with nodewise.connect(path, autocommit=False) as con:
                    con.execute("INSERT INTO t VALUES (2)")
                    raise ZeroDivisionError
            with nodewise.connect(path) as con:
                self.assertEqual(con.execute("SELECT * FROM t").fetchall(), [(1,)])

    def test_connections_to_a_folder_share_one_database(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = nodewise.connect(folder), nodewise.connect(folder)
            first.execute("CREATE TABLE t AS SELECT 7 AS n")
            self.assertEqual(second.execute("SELECT n FROM t").fetchall(), [(7,)])
            unread = first.execute("SELECT i FROM generate_series(1, 1000000) AS s(i)")
            first.close()
            second.close()
            with self.assertRaises(nodewise.InterfaceError):
                unread.fetchone()
            # It is free again, though the cursor is still there.
            with nodewise.connect(folder) as third:
                self.assertEqual(third.execute("SELECT n FROM t").fetchall(), [(7,)])

    def test_what_is_closed_is_closed(self):
        con = nodewise.connect()
        con.close()
        con.close()
        for use in [con.commit, con.rollback, con.cursor, lambda: con.execute("SELECT 1")]:
            with self.assertRaises(nodewise.InterfaceError):
                use()

    def test_settings_are_those_of_set(self):
        with nodewise.connect(threads=2, memory_limit="1GB") as con:
            self.assertEqual(con.execute("SHOW memory_limit").fetchall(), [("1GB",)])
            self.assertEqual(con.execute("SELECT count(*) FROM nodewise.workers").fetchall(), [(2,)])
        for wrong in [{"no_such": 1}, {"threads": 0}, {"memory_limit": "much"}]:
            with self.subTest(wrong=wrong), self.assertRaises(nodewise.Error):
                nodewise.connect(**wrong)


LONG = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 1000000) b"


class Threads(unittest.TestCase):
    def test_control_c_ends_the_statement(self):
        # What runs behind others is started without a handler.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        con = nodewise.connect()
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            con.execute(LONG).fetchall()
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(con.execute("SELECT 1").fetchall(), [(1,)])

    def test_other_threads_run_meanwhile_and_can_end_it(self):
        con = nodewise.connect()
        steps = []

        def beside():
            for _ in range(20):
                steps.append(time.monotonic())
                time.sleep(0.01)
            con.cancel()

        thread = threading.Thread(target=beside)
        thread.start()
        with self.assertRaises(nodewise.OperationalError) as caught:
            con.execute(LONG).fetchall()
        thread.join()
        self.assertEqual((caught.exception.sqlstate, len(steps)), ("57014", 20))

    def test_threads_that_share_a_connection_wait_for_one_another_alone(self):
        con = nodewise.connect()
        steps = []

        def waits():
            with self.assertRaises(nodewise.OperationalError):
                con.execute(LONG).fetchall()

        first = threading.Thread(target=waits)
        first.start()
        time.sleep(0.2)
        second = threading.Thread(target=lambda: steps.append(con.execute("SELECT 1").fetchall()))
        second.start()
        time.sleep(0.2)
        self.assertEqual((steps, con.closed), ([], False))
        con.cancel()
        first.join()
        second.join()
        self.assertEqual(steps, [[(1,)]])

    def test_connections_work_on_threads_of_their_own(self):
        con = nodewise.connect()
        con.execute("CREATE TABLE t AS SELECT i FROM generate_series(1, 100000) AS s(i)")
        sums = []

        def work():
            own = con.duplicate()
            for _ in range(20):
                sums.append(own.execute("SELECT sum(i) FROM t").fetchone()[0])

        threads = [threading.Thread(target=work) for _ in range(4)]
        [it.start() for it in threads]
        [it.join() for it in threads]
        self.assertEqual((len(sums), set(sums)), (80, {5000050000}))


class Display(unittest.TestCase):
    def setUp(self):
        self.con = nodewise.connect()

    def test_a_result_shows_itself_and_stays_unread(self):
        rows = self.con.sql("SELECT * FROM (VALUES (1, 'a<b'), (2, NULL)) AS t (n, s)")
        text = repr(rows)
        self.assertIn("a<b", text)
        self.assertIn("NULL", text)
        self.assertTrue(text.endswith("(2 rows)"), text)
        markup = rows._repr_html_()
        self.assertIn("<td>a&lt;b</td>", markup)
        self.assertEqual(rows.fetchall(), [(1, "a<b"), (2, None)])

    def test_long_results_show_their_beginning(self):
        rows = self.con.sql("SELECT i FROM generate_series(1, 100) AS s(i) ORDER BY i")
        self.assertTrue(repr(rows).endswith("(the first 40 rows)"))
        self.assertEqual(len(rows.fetchall()), 100)

    def test_statements_and_plans_show_what_they_are(self):
        self.assertEqual(repr(self.con.sql("CREATE TABLE t (n INTEGER)")), "CREATE TABLE")
        self.assertNotIn("\u2502", repr(self.con.sql("EXPLAIN SELECT * FROM t")))


class Machine(unittest.TestCase):
    def test_topology_and_placement(self):
        nodes = nodewise.topology()
        self.assertGreaterEqual(len(nodes), 1)
        self.assertIn("memory_total", nodes[0])
        with nodewise.connect() as con:
            con.execute("CREATE TABLE T (n INTEGER); INSERT INTO t VALUES (1)")
            rows = con.placement("t").fetchall()
            self.assertEqual({it[1] for it in rows}, {"n"})
            self.assertEqual(con.placement("none").fetchall(), [])


if __name__ == "__main__":
    unittest.main()
