"""The dialect of SQLAlchemy: statements, transactions, reflection."""

import datetime
import decimal
import importlib.util
import tempfile
import unittest

MISSING = importlib.util.find_spec("sqlalchemy") is None
if not MISSING:
    import sqlalchemy as sa
    from sqlalchemy.dialects import registry
    from sqlalchemy.orm import DeclarativeBase, Session, mapped_column

    registry.register("nodewise", "nodewise.sqlalchemy", "Dialect")


@unittest.skipIf(MISSING, "sqlalchemy cannot be imported")
class Engine(unittest.TestCase):
    def test_tables_are_made_filled_and_asked(self):
        engine = sa.create_engine("nodewise://")
        metadata = sa.MetaData()
        table = sa.Table(
            "t", metadata, sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(20), nullable=False),
            sa.Column("price", sa.Numeric(9, 2)), sa.Column("at", sa.DateTime), sa.Column("day", sa.Date),
        )
        metadata.create_all(engine)
        rows = [
            {"id": i, "name": f"n{i}", "price": decimal.Decimal(i) / 4, "at": datetime.datetime(2024, 1, i), "day": datetime.date(2024, 1, i)}
            for i in range(1, 6)
        ]
        with engine.begin() as con:
            con.execute(table.insert(), rows)
        with engine.connect() as con:
            found = con.execute(sa.select(table).where(table.c.id.in_([2, 3])).order_by(table.c.id)).mappings().all()
            self.assertEqual([dict(it) for it in found], rows[1:3])
            self.assertEqual(con.scalar(sa.select(sa.func.sum(table.c.price))), decimal.Decimal("3.75"))
            self.assertEqual(con.execute(sa.update(table).values(name="x").where(table.c.id > 3)).rowcount, 2)
            con.rollback()
            self.assertEqual(con.scalar(sa.select(sa.func.count()).where(table.c.name == "x")), 0)
        with self.assertRaises(sa.exc.IntegrityError):
            with engine.begin() as con:
                con.execute(table.insert(), rows[:1])

    def test_what_there_is_is_reflected(self):
        with tempfile.TemporaryDirectory() as folder:
            engine = sa.create_engine(f"nodewise:///{folder}")
            with engine.begin() as con:
                con.exec_driver_sql("CREATE TABLE t (a INTEGER, b VARCHAR(7) NOT NULL, c DECIMAL(12, 3), d TIMESTAMPTZ, PRIMARY KEY (b, a))")
                con.exec_driver_sql("CREATE VIEW v AS SELECT a FROM t")
            inspector = sa.inspect(engine)
            self.assertEqual((inspector.get_table_names(), inspector.get_view_names()), (["t"], ["v"]))
            self.assertEqual(inspector.get_pk_constraint("t")["constrained_columns"], ["b", "a"])
            table = sa.Table("t", sa.MetaData(), autoload_with=engine)
            self.assertEqual([str(it.type) for it in table.c], ["INTEGER", "VARCHAR(7)", "DECIMAL(12, 3)", "TIMESTAMP"])
            self.assertEqual([it.nullable for it in table.c], [False, False, True, True])
            with self.assertRaises(sa.exc.NoSuchTableError):
                sa.Table("none", sa.MetaData(), autoload_with=engine)
            engine.dispose()

    def test_objects_are_kept_and_numbered(self):
        class Base(DeclarativeBase):
            pass

        class Person(Base):
            __tablename__ = "person"
            id = mapped_column(sa.Integer, primary_key=True)
            name = mapped_column(sa.String)

        engine = sa.create_engine("nodewise://")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            session.add_all([Person(name="Ada"), Person(name="Bob")])
            session.commit()
            names = session.scalars(sa.select(Person.name).order_by(Person.id)).all()
            self.assertEqual(names, ["Ada", "Bob"])
            self.assertEqual(session.get(Person, 1).name, "Ada")


if __name__ == "__main__":
    unittest.main()
