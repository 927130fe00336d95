"""The first tables: events, sessions, students.

Written out rather than taken from the present tables, so that it stays what it was when later versions change them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("seq", BIG, primary_key=True, autoincrement=True),
        sa.Column("schema_version", BIG, nullable=False),
        sa.Column("event_id", sa.String(36), nullable=False, unique=True),
        sa.Column("student_id", sa.String(55), nullable=False),
        sa.Column("session_id", sa.String(55), nullable=False),
        sa.Column("game_id", sa.String(55), nullable=False),
        sa.Column("deal", sa.Text(), nullable=False),
        sa.Column("rule_set", sa.Text(), nullable=False),
        sa.Column("event_index", BIG, nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("t_utc", sa.String(24), nullable=False),
        sa.Column("tz", sa.Text()),
        sa.Column("rt_ms", BIG),
        sa.Column("rt_first_ms", BIG),
        sa.Column("rt_second_ms", BIG),
        sa.Column("clock", sa.Text()),
        sa.Column("first_card", sa.Text()),
        sa.Column("second_card", sa.Text()),
        sa.Column("first_place", sa.Text()),
        sa.Column("second_place", sa.Text()),
        sa.Column("value_a", BIG),
        sa.Column("value_b", BIG),
        sa.Column("total", BIG),
        sa.Column("outcome", sa.Text()),
        sa.Column("reason", sa.Text()),
        sa.Column("error_class", sa.Text()),
        sa.Column("fact", sa.Text()),
        sa.Column("n_exposed", BIG),
        sa.Column("n_legal", BIG),
        sa.Column("n_legal_cards", BIG),
        sa.Column("legal_facts", sa.Text()),
        sa.Column("newly_exposed", BIG),
        sa.Column("best_newly_exposed", BIG),
        sa.Column("waste_top", sa.Text()),
        sa.Column("stock_left", BIG),
        sa.Column("redeals_left", BIG),
        sa.Column("score", BIG),
        sa.Column("input", sa.Text()),
        sa.Column("assistance", sa.Text()),
        sa.Column("source", sa.Text()),
        sa.Column("app_version", sa.Text()),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_game", "events", ["game_id", "event_index"])
    op.create_index("ix_events_student", "events", ["student_id"])
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.String(55), primary_key=True),
        sa.Column("student_id", sa.String(55), nullable=False),
        sa.Column("lesson", sa.Text()),
        sa.Column("t_utc", sa.String(24), nullable=False),
        sa.Column("tz", sa.Text()),
        sa.Column("app_version", sa.Text()),
    )
    op.create_table(
        "students",
        sa.Column("student_id", sa.String(55), primary_key=True),
        sa.Column("class_name", sa.Text()),
        sa.Column("t_utc", sa.String(24), nullable=False),
    )
