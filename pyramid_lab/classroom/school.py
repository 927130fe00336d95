"""A school's PostgreSQL log: every student writes their own rows, a tutor reads those of their own classes.

The rights are the database's (row-level security), not the program's: a student's server can be made to run anything,
and still reads and writes nothing that is not theirs. A database role is called like its user: a student's by the
pseudonym, so that no name is in the database. Each role's password is derived from one secret, which only the school's
administrator and the hub hold; there is no list of passwords to keep or lose.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from pyramid_lab.log import schema
from pyramid_lab.log.store import Store, store_url

STUDENTS: Final = "pyramid_lab_student"
TUTORS: Final = "pyramid_lab_tutor"
SHORTEST_SECRET: Final = 32
"""Bytes of the secret that passwords are derived from."""
_USER: Final = re.compile(r"[a-z][a-z0-9_-]{1,39}")
_DATA: Final = (schema.events, schema.sessions, schema.students)


class SchoolError(ValueError):
    """A school that cannot be set up as it is described; the message says what to change."""


@dataclass(frozen=True, slots=True)
class School:
    """What the hub needs to know.

    Attributes:
        store: URL of the log, without user and password.
        students: user names (pseudonyms).
        tutors: user name of each tutor with their classes.
    """

    store: str
    students: tuple[str, ...]
    tutors: Mapping[str, tuple[str, ...]]

    @property
    def users(self) -> frozenset[str]:
        """Everyone who may log in."""
        return frozenset(self.students) | frozenset(self.tutors)

    def save(self, path: Path) -> None:
        """Write the file that the hub reads."""
        values = {"store": self.store, "students": self.students, "tutors": self.tutors}
        path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> School:
        """Read the file that :meth:`save` wrote.

        Raises:
            SchoolError: it is missing or is another kind of file.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            tutors = {name: tuple(classes) for name, classes in values["tutors"].items()}
            return cls(values["store"], tuple(values["students"]), tutors)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise SchoolError(f"{path} is not what 'pyramid-lab school' writes ({error}); run it again") from None


def read_secret(path: Path) -> bytes:
    """The secret from its file.

    Raises:
        SchoolError: the file is missing or the secret too short.
    """
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise SchoolError(f"the secret in {path} cannot be read ({error.strerror})") from None
    if len(secret) < SHORTEST_SECRET:
        raise SchoolError(f"the secret in {path} is shorter than {SHORTEST_SECRET} signs")
    return secret


def password(secret: bytes, user: str) -> str:
    """The database password of a user."""
    return hmac.new(secret, b"pyramid-lab " + user.encode(), hashlib.sha256).hexdigest()


def url_for(school: School, secret: bytes, user: str) -> str:
    """The store's URL for one user's server, password included: to be kept in that server's environment only.

    Raises:
        SchoolError: nobody of this school.
    """
    if user not in school.users:
        raise SchoolError(f"{user!r} is no student or tutor of this school")
    url: URL = store_url(school.store).set(username=user, password=password(secret, user))
    return url.render_as_string(hide_password=False)


def set_up(store: Store, tutors: Mapping[str, Sequence[str]], secret: bytes) -> School:
    """Give the log of a school its roles and rights. May be run again after every change of the class lists.

    Args:
        store: the log, opened as its owner, who may make roles.
        tutors: user name of each tutor with the classes they teach.
        secret: see :func:`read_secret`.

    Raises:
        SchoolError: the database is no PostgreSQL, a user name cannot be, or a class has no students.
        StoreError: the database cannot be reached.
    """
    if store.engine.dialect.name != "postgresql":
        raise SchoolError("a school's log is a PostgreSQL database: postgresql://server/pyramid_lab")
    with store.reading() as connection:
        classes = dict(
            connection.execute(sa.select(schema.students.c.student_id, schema.students.c.class_name)).fetchall()
        )
    for user in (*classes, *tutors):
        if not _USER.fullmatch(user):
            raise SchoolError(f"{user!r} cannot be a user: small letters, digits, - and _ only, a letter first")
    for user, theirs in tutors.items():
        if user in classes:
            raise SchoolError(f"{user!r} is a student's pseudonym; call the tutor something else")
        unknown = sorted(set(theirs) - set(classes.values()))
        if unknown:
            raise SchoolError(f"tutor {user}: there are no students in class {', '.join(map(repr, unknown))}")
    with store.transaction() as connection:
        _rights(connection)
        _tutors(connection, tutors)
        for user in classes:
            _user(connection, user, STUDENTS, password(secret, user))
        for user in tutors:
            _user(connection, user, TUTORS, password(secret, user))
        _lock_out(connection, {*classes, *tutors})
    plain = store.url.set(username=None, password=None).render_as_string()
    return School(plain, tuple(sorted(classes)), {user: tuple(theirs) for user, theirs in tutors.items()})


def _rights(connection: Connection) -> None:
    """Roles, grants and row-level security; everything may be there already."""
    for role in (STUDENTS, TUTORS):
        if not _is_role(connection, role):
            connection.exec_driver_sql(f"CREATE ROLE {role} NOLOGIN")
        database = connection.exec_driver_sql("SELECT current_database()").scalar_one()
        connection.exec_driver_sql(f"GRANT CONNECT ON DATABASE {_quoted(connection, database)} TO {role}")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA public TO {role}")
        connection.exec_driver_sql(f"GRANT SELECT ON {schema.VERSION_TABLE} TO {role}")
    names = ", ".join(table.name for table in _DATA)
    connection.exec_driver_sql(f"REVOKE ALL ON {names}, {schema.VERSION_TABLE} FROM PUBLIC")
    connection.exec_driver_sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    connection.exec_driver_sql(
        "CREATE TABLE IF NOT EXISTS class_tutors (role_name text NOT NULL, class_name text NOT NULL, "
        "PRIMARY KEY (role_name, class_name))"
    )
    connection.exec_driver_sql("REVOKE ALL ON class_tutors FROM PUBLIC")
    connection.exec_driver_sql(f"GRANT SELECT ON {names} TO {STUDENTS}")
    connection.exec_driver_sql(f"GRANT INSERT ON events, sessions TO {STUDENTS}")
    connection.exec_driver_sql(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {STUDENTS}")
    connection.exec_driver_sql(f"GRANT SELECT ON {names}, class_tutors TO {TUTORS}")
    taught = "class_name IN (SELECT t.class_name FROM class_tutors t WHERE t.role_name = current_user)"
    in_class = f"student_id IN (SELECT s.student_id FROM students s WHERE s.{taught})"
    for table in (*_DATA, None):
        name = table.name if table is not None else "class_tutors"
        connection.exec_driver_sql(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        for policy in ("own_rows", "own_new_rows", "own_classes"):
            connection.exec_driver_sql(f"DROP POLICY IF EXISTS {policy} ON {name}")
        if table is None:
            connection.exec_driver_sql(
                f"CREATE POLICY own_classes ON {name} FOR SELECT TO {TUTORS} USING (role_name = current_user)"
            )
            continue
        connection.exec_driver_sql(
            f"CREATE POLICY own_rows ON {name} FOR SELECT TO {STUDENTS} USING (student_id = current_user)"
        )
        if table is not schema.students:
            connection.exec_driver_sql(
                f"CREATE POLICY own_new_rows ON {name} FOR INSERT TO {STUDENTS} WITH CHECK (student_id = current_user)"
            )
        condition = taught if table is schema.students else in_class
        connection.exec_driver_sql(f"CREATE POLICY own_classes ON {name} FOR SELECT TO {TUTORS} USING ({condition})")


def _tutors(connection: Connection, tutors: Mapping[str, Sequence[str]]) -> None:
    connection.exec_driver_sql("DELETE FROM class_tutors")
    for user, classes in tutors.items():
        for class_name in dict.fromkeys(classes):
            connection.execute(
                sa.text("INSERT INTO class_tutors VALUES (:user, :class_name)"),
                {"user": user, "class_name": class_name},
            )


def _user(connection: Connection, user: str, role: str, secret: str) -> None:
    name = _quoted(connection, user)
    verb = "ALTER" if _is_role(connection, user) else "CREATE"
    # The password is of hexadecimal digits; a statement that makes a role takes no parameters.
    connection.exec_driver_sql(f"{verb} ROLE {name} LOGIN PASSWORD '{secret}'")
    other = TUTORS if role == STUDENTS else STUDENTS
    connection.exec_driver_sql(f"REVOKE {other} FROM {name}")
    connection.exec_driver_sql(f"GRANT {role} TO {name}")


def _lock_out(connection: Connection, users: set[str]) -> None:
    """Roles of students and tutors who are no longer on a list keep nothing."""
    query = sa.text(
        "SELECT u.rolname, g.rolname FROM pg_auth_members m JOIN pg_roles u ON u.oid = m.member "
        "JOIN pg_roles g ON g.oid = m.roleid WHERE g.rolname IN (:students, :tutors)"
    )
    for user, role in connection.execute(query, {"students": STUDENTS, "tutors": TUTORS}).fetchall():
        if user not in users:
            connection.exec_driver_sql(f"REVOKE {role} FROM {_quoted(connection, user)}")


def _is_role(connection: Connection, name: str) -> bool:
    found = connection.execute(sa.text("SELECT 1 FROM pg_roles WHERE rolname = :name"), {"name": name})
    return found.first() is not None


def _quoted(connection: Connection, name: Any) -> str:
    return connection.dialect.identifier_preparer.quote_identifier(str(name))
