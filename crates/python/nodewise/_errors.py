"""The exceptions of PEP 249, with what PostgreSQL's errors carry."""

from __future__ import annotations


class Warning(Exception):
    """Something was done, and is to be looked at."""


class Error(Exception):
    """Whatever ends a statement."""

    #: The class of the error, as PostgreSQL names it; None where the statement never came to the database.
    sqlstate: str | None = None
    #: More about it: the key that is there already.
    detail: str | None = None
    #: What can be done about it.
    hint: str | None = None
    #: Line and column of the text, from 1.
    position: tuple[int, int] | None = None


class InterfaceError(Error):
    """The module was used in a way that it has not."""


class DatabaseError(Error):
    """The database refused."""


class DataError(DatabaseError):
    """A value is to blame."""


class OperationalError(DatabaseError):
    """The machine, or another transaction, is to blame."""


class IntegrityError(DatabaseError):
    """Rows would break a constraint."""


class InternalError(DatabaseError):
    """The database is to blame."""


class ProgrammingError(DatabaseError):
    """The statement is to blame."""


class NotSupportedError(DatabaseError):
    """Nodewise does not do this."""


_CLASSES: dict[str, type[Error]] = {
    "0A": NotSupportedError,
    "08": OperationalError,
    "21": ProgrammingError,
    "22": DataError,
    "23": IntegrityError,
    "25": InternalError,
    "26": ProgrammingError,
    "2B": ProgrammingError,
    "34": ProgrammingError,
    "40": OperationalError,
    "42": ProgrammingError,
    "53": OperationalError,
    "54": OperationalError,
    "55": OperationalError,
    "57": OperationalError,
    "58": OperationalError,
    "72": OperationalError,
    "XX": InternalError,
}


def of_state(
    sqlstate: str, message: str, detail: str | None, hint: str | None, position: tuple[int, int] | None
) -> Error:
    """The exception of an error of the database."""
    kind = InterfaceError if sqlstate == "08003" else _CLASSES.get(sqlstate[:2], DatabaseError)
    place = f" (line {position[0]}, column {position[1]})" if position else ""
    more = (f"\nDetail: {detail}" if detail else "") + (f"\nHint: {hint}" if hint else "")
    error = kind(f"{message}{place}{more}")
    error.sqlstate, error.detail, error.hint, error.position = sqlstate, detail, hint, position
    return error
