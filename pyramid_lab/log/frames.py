"""The log as pandas DataFrames: one row per attempt, event, game, session or student.

The database writes delimited text and Arrow reads it, so that no Python object is made for a cell: with SQLite the rows
come in blocks, two at a time, from a ``printf``; with PostgreSQL from ``COPY``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, tzinfo
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import sqlalchemy as sa
from tqdm import tqdm

from pyramid_lab.log import schema
from pyramid_lab.log.choice import Choice, choose
from pyramid_lab.log.errors import DamagedLogError
from pyramid_lab.log.events import FIELDS, NUMBER_FIELDS, facts_to
from pyramid_lab.log.progress import PLAIN
from pyramid_lab.log.store import Store

ATTEMPT_COLUMNS: Final = (
    "student_id", "class_name", "session_id", "lesson", "game_id", "rule_set", "event_index", "t_utc", "tz",
    "rt_ms", "rt_first_ms", "rt_second_ms", "clock", "first_card", "second_card", "first_place", "second_place",
    "value_a", "value_b", "total", "outcome", "reason", "error_class", "fact", "n_exposed", "n_legal", "n_legal_cards",
    "legal_facts", "newly_exposed", "best_newly_exposed", "waste_top", "stock_left", "redeals_left", "score", "input",
    "assistance", "source", "first_move", "interrupted",
)  # fmt: skip
"""The columns of :func:`attempts`. An event's own fields ``deal``, ``event_id``, ``app_version`` and
``schema_version`` can be asked for by name; ``deal`` is in :func:`games`."""

_TEXTS: Final = ("event_id", "student_id", "session_id", "game_id", "deal", "waste_top")
_JOINED: Final = ("class_name", "lesson")
_REACHED: Final = ("first_move", "interrupted")

# Rows of a block: some megabytes of text.
_BLOCK: Final = 20_000
_WORKERS: Final = 2
# No text of an event holds a control character, so these two cannot be mistaken for content.
_BETWEEN: Final = "\x1f"
_QUOTE: Final = "\x1e"

_MOVES: Final = ("draw", "redeal", "undo", "redo")
_BREAKS: Final = ("pause", "resume", "focus_lost", "focus_back")
_AWAY: Final = ("pause", "focus_lost")


def attempts(
    store: Store,
    *,
    student: str | Iterable[str] | None = None,
    class_name: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    lesson: str | None = None,
    tz: str | tzinfo = "UTC",
    columns: Sequence[str] | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """One row per try at a discard, right or wrong, in the order they were written.

    Args:
        store: an open store.
        student: one pseudonym or several.
        class_name: only students who are in this class now.
        since: from this moment on (``2026-11-30`` or a datetime).
        until: before this moment.
        lesson: only sittings at this lesson.
        tz: the zone of dates and times that name none themselves.
        columns: which columns, of :data:`ATTEMPT_COLUMNS` and the event's fields; default :data:`ATTEMPT_COLUMNS`.
        progress: show a bar on standard error when it takes more than a second.

    Returns:
        Ids are text; fields with few values categories; numbers ``Int64`` with ``<NA>`` (``*_ms`` in milliseconds);
        ``t_utc`` is ``datetime64[ms, UTC]``; two columns are bool. ``first_move``: nothing was discarded, turned or
        taken back since the deal. ``interrupted``: the game was paused or out of sight while the position was shown.

    Raises:
        StoreAwayError, DamagedLogError: the rows cannot be read.
        ValueError: an unknown column, or a date that cannot be read.
    """
    choice = choose(student, class_name, since, until, lesson, tz, ("attempt",))
    wanted = _columns(columns, ATTEMPT_COLUMNS)
    needed = [name for name in wanted if name in FIELDS]
    if set(_REACHED) & set(wanted):
        needed = _with(needed, "game_id", "event_index", "outcome")
    table = _read(store, _with(needed, *_join_keys(wanted)), choice, progress)
    extra: dict[str, Any] = _joined(store, table, wanted)
    if set(_REACHED) & set(wanted):
        kinds = ("deal", *_MOVES, *_BREAKS)
        marks = choose(student, class_name, None, None, lesson, tz, kinds)
        marked = _read(store, ["game_id", "event_index", "event_type"], marks, progress)
        extra |= _reached(table, marked)
    return _frame(table, wanted, extra)


def events(
    store: Store,
    *,
    student: str | Iterable[str] | None = None,
    class_name: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    lesson: str | None = None,
    tz: str | tzinfo = "UTC",
    types: Iterable[str] | None = None,
    columns: Sequence[str] | None = None,
    compact: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """One row per event, all fields by default; arguments, dtypes and errors as :func:`attempts`.

    Args:
        compact: a long log in less than half the memory: ids of students, sessions and games are categories too,
            numbers float with NaN, and the deal stands in the first row of its game alone.
    """
    choice = choose(student, class_name, since, until, lesson, tz, types)
    wanted = _columns(columns, FIELDS)
    names = [name for name in wanted if name in FIELDS]
    table = _read(store, _with(names, *_join_keys(wanted)), choice, progress, compact=compact)
    return _frame(table, wanted, _joined(store, table, wanted), compact=compact)


def games(
    store: Store,
    *,
    student: str | Iterable[str] | None = None,
    class_name: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    lesson: str | None = None,
    tz: str | tzinfo = "UTC",
    progress: bool = True,
) -> pd.DataFrame:
    """One row per game, in the order of their starts; arguments and errors as :func:`attempts`.

    Returns:
        ``game_id, student_id, class_name, session_id, lesson, rule_set, deal, source, tz, started, ended`` (UTC),
        ``wall_ms`` (first to last event), ``active_ms`` (without the time paused or out of sight), ``n_events,
        n_attempts, n_correct, n_incorrect, n_blocked, n_draws, n_redeals, n_undos, n_hints``, ``outcome`` (``won``,
        ``lost``, ``stopped``; missing while it is not ended), ``score`` (after the last event).
    """
    return chosen_games(store, choose(student, class_name, since, until, lesson, tz), progress=progress)


def chosen_games(store: Store, choice: Choice, *, progress: bool = False) -> pd.DataFrame:
    """:func:`games` of a ready-made choice."""
    played = _played(store, choice, progress)
    found = _sums(played, "game_id")
    order = played.sort_values(["game_id", "event_index"], kind="stable")
    found["score"] = _last(order.dropna(subset=["score"]), "score").reindex(found.index)
    found["outcome"] = _last(order[order["event_type"] == "end"], "outcome").reindex(found.index)
    first = _firsts(store, choice)
    found = first.set_index("game_id").join(found).reset_index()
    found = found.assign(**_joined_columns(store, found["student_id"], found["session_id"]))
    found = found.sort_values(["started", "game_id"], kind="stable", ignore_index=True)
    return found[
        [
            "game_id", "student_id", "class_name", "session_id", "lesson", "rule_set", "deal", "source", "tz",
            "started", "ended", "wall_ms", "active_ms", "n_events", "n_attempts", "n_correct", "n_incorrect",
            "n_blocked", "n_draws", "n_redeals", "n_undos", "n_hints", "outcome", "score",
        ]
    ]  # fmt: skip


def sessions(
    store: Store,
    *,
    student: str | Iterable[str] | None = None,
    class_name: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    lesson: str | None = None,
    tz: str | tzinfo = "UTC",
    progress: bool = True,
) -> pd.DataFrame:
    """One row per sitting in which something was played; arguments and errors as :func:`attempts`.

    Returns:
        ``session_id, student_id, class_name, lesson, tz, started, ended, wall_ms, active_ms, n_games, n_events,
        n_attempts, n_correct, n_incorrect, n_blocked``. ``active_ms`` is the sum over its games.
    """
    return chosen_sessions(store, choose(student, class_name, since, until, lesson, tz), progress=progress)


def chosen_sessions(store: Store, choice: Choice, *, progress: bool = False) -> pd.DataFrame:
    """:func:`sessions` of a ready-made choice."""
    played = _played(store, choice, progress)
    found = _sums(played, "session_id")
    by = played.groupby("session_id", observed=True)
    found["n_games"] = _texts(by["game_id"].nunique()).astype("Int64")
    found["student_id"] = _texts(by["student_id"].first()).astype("str")
    found["tz"] = _texts(by["tz"].first())
    found = found.reset_index()
    found = found.assign(**_joined_columns(store, found["student_id"], found["session_id"]))
    found = found.sort_values(["started", "session_id"], kind="stable", ignore_index=True)
    return found[
        [
            "session_id", "student_id", "class_name", "lesson", "tz", "started", "ended", "wall_ms", "active_ms",
            "n_games", "n_events", "n_attempts", "n_correct", "n_incorrect", "n_blocked",
        ]
    ]  # fmt: skip


def students(
    store: Store,
    *,
    class_name: str | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """One row per student who is listed or has played, by pseudonym; errors as :func:`attempts`.

    Returns:
        ``student_id, class_name, n_sessions, n_games, n_attempts, n_correct, active_ms, first_seen, last_seen`` (UTC,
        missing for someone who has not played).
    """
    played = _played(store, choose(class_name=class_name), progress)
    sums = _sums(played, "student_id").rename(columns={"started": "first_seen", "ended": "last_seen"})
    by = played.groupby("student_id", observed=True)
    sums["n_games"] = _texts(by["game_id"].nunique())
    sums["n_sessions"] = _texts(by["session_id"].nunique())
    listed = _listed_students(store)
    if class_name is not None:
        listed = {student: name for student, name in listed.items() if name == class_name}
    ids = sorted(set(sums.index) | set(listed))
    found = sums.reindex(pd.Index(ids, dtype="str", name="student_id")).reset_index()
    counts = ["n_sessions", "n_games", "n_attempts", "n_correct", "active_ms"]
    found[counts] = found[counts].astype("Int64").fillna(0)
    found["class_name"] = pd.Categorical([listed.get(student) for student in ids])
    return found[["student_id", "class_name", *counts, "first_seen", "last_seen"]]


# From the database to Arrow


def _columns(columns: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    known = [*FIELDS, *_JOINED, *(_REACHED if default is ATTEMPT_COLUMNS else ())]
    for name in columns or ():
        if name not in known:
            raise ValueError(f"no column is called {name!r}; there are {', '.join(known)}")
    return list(default if columns is None else columns)


def _with(names: list[str], *more: str) -> list[str]:
    return [*names, *(name for name in more if name not in names)]


def _join_keys(wanted: Sequence[str]) -> list[str]:
    return [key for name, key in (("class_name", "student_id"), ("lesson", "session_id")) if name in wanted]


def _arrow_type(name: str, compact: bool) -> pa.DataType:
    if name in NUMBER_FIELDS or name == "seq":
        return pa.int64()
    if name == "t_utc":
        return pa.timestamp("ms", "UTC")
    # No two events share an id.
    plain = name == "event_id" or (name in _TEXTS and not compact)
    return pa.string() if plain else pa.dictionary(pa.int32(), pa.string())


def _read(store: Store, names: Sequence[str], choice: Choice, progress: bool, *, compact: bool = False) -> pa.Table:
    """The chosen rows of ``events``, in the order they were written; ``compact`` as in :func:`events`."""
    table = schema.events
    with store.reading() as connection:
        low, high = connection.execute(sa.select(sa.func.min(table.c.seq), sa.func.max(table.c.seq))).one()
    wanted = pa.schema([(name, _arrow_type(name, compact)) for name in names])
    if low is None:
        return wanted.empty_table()
    conditions = choice.conditions()
    first = sa.case((table.c.event_index == 0, table.c.deal))
    cells = [first.label(name) if compact and name == "deal" else table.c[name] for name in names]

    def block(start: int) -> pa.Table:
        inside = table.c.seq.between(start, min(start + _BLOCK - 1, high))
        query = sa.select(*cells).where(inside, *conditions).order_by(table.c.seq)
        with store.reading() as connection:
            return _parsed(_text(connection, query), wanted)

    with (
        ThreadPoolExecutor(_WORKERS) as pool,
        tqdm(
            desc="Rows read:",
            total=high - low + 1,
            bar_format=PLAIN,
            unit_scale=True,
            delay=1.0,
            disable=not progress,
            leave=False,
        ) as bar,
    ):
        parts = []
        for part in pool.map(block, range(low, high + 1, _BLOCK)):
            parts.append(part)
            bar.update(min(_BLOCK, high - low + 1 - int(bar.n)))
    return pa.concat_tables(parts).unify_dictionaries()


def _text(connection: sa.Connection, query: sa.Select[Any]) -> bytes:
    """The rows of a query as lines of text, made by the database where it can."""
    if connection.dialect.name == "sqlite":
        shape = _BETWEEN.join("%s" for _ in query.selected_columns)
        lines = query.with_only_columns(sa.func.printf(shape, *query.selected_columns).label("line")).subquery()
        whole = sa.cast(sa.func.group_concat(lines.c.line, "\n"), sa.LargeBinary)
        return connection.execute(sa.select(whole)).scalar() or b""
    if connection.dialect.driver == "psycopg":
        compiled = query.compile(dialect=connection.dialect, compile_kwargs={"render_postcompile": True})
        copy = f"COPY ({compiled}) TO STDOUT (FORMAT csv, DELIMITER '{_BETWEEN}', QUOTE '{_QUOTE}')"
        cursor = connection.connection.cursor()
        with cursor.copy(copy, compiled.params) as lines_of_bytes:
            return b"".join(lines_of_bytes)
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=_BETWEEN, quotechar=_QUOTE, lineterminator="\n")
    writer.writerows(tuple(row) for row in connection.execute(query))
    return buffer.getvalue().encode()


def _parsed(text: bytes, wanted: pa.Schema) -> pa.Table:
    if not text:
        return wanted.empty_table()
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(text),
            read_options=pyarrow.csv.ReadOptions(column_names=wanted.names, block_size=len(text) + 1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=_BETWEEN, quote_char=False, double_quote=False, ignore_empty_lines=False
            ),
            convert_options=pyarrow.csv.ConvertOptions(column_types=wanted, null_values=[""], strings_can_be_null=True),
        )
    except pa.ArrowInvalid as error:
        raise DamagedLogError(f"a row of the log cannot be read ({error}); run: pyramid-lab log check") from error


# From Arrow to pandas


def _frame(table: pa.Table, wanted: Sequence[str], extra: dict[str, Any], *, compact: bool = False) -> pd.DataFrame:
    kinds: dict[pa.DataType, Any] = {pa.string(): pd.StringDtype(na_value=np.nan)}
    if not compact:
        kinds[pa.int64()] = pd.Int64Dtype()
    own = [name for name in wanted if name in table.column_names]
    frame: pd.DataFrame = table.select(own).to_pandas(types_mapper=kinds.get, split_blocks=True, self_destruct=True)
    if "fact" in frame:
        frame["fact"] = _in_order(frame["fact"])
    return frame.assign(**extra)[list(wanted)]


def _in_order(column: pd.Series[Any]) -> pd.Series[Any]:
    """Facts from the smallest addend up, so that tables and pictures come in the order in which they are taught."""
    place = {fact: (at, target) for target in (10, 11, 12, 13) for at, fact in enumerate(facts_to(target))}
    return column.cat.reorder_categories(sorted(column.cat.categories, key=lambda fact: place.get(fact, (99, 99))))


def _listed_students(store: Store) -> dict[str, str | None]:
    with store.reading() as connection:
        rows = connection.execute(sa.select(schema.students.c.student_id, schema.students.c.class_name))
        return {row.student_id: row.class_name for row in rows}


def _lessons(store: Store) -> dict[str, str | None]:
    with store.reading() as connection:
        rows = connection.execute(sa.select(schema.sessions.c.session_id, schema.sessions.c.lesson))
        return {row.session_id: row.lesson for row in rows}


def _joined(store: Store, table: pa.Table, wanted: Sequence[str]) -> dict[str, Any]:
    sources = {"class_name": ("student_id", _listed_students), "lesson": ("session_id", _lessons)}
    found = {}
    for name, (key, source) in sources.items():
        if name in wanted:
            coded = table[key].combine_chunks().dictionary_encode()
            values = coded.dictionary.to_pylist()
            found[name] = _categorical(source(store), values, coded.indices.to_numpy())
    return found


def _joined_columns(store: Store, student_ids: pd.Series[Any], session_ids: pd.Series[Any]) -> dict[str, Any]:
    classes, lessons = _listed_students(store), _lessons(store)
    return {
        "class_name": pd.Categorical([classes.get(str(name)) for name in student_ids]),
        "lesson": pd.Categorical([lessons.get(str(name)) for name in session_ids]),
    }


def _categorical(source: dict[str, str | None], keys: list[str], places: np.ndarray[Any, Any]) -> pd.Categorical:
    values = [source.get(key) for key in keys]
    names = sorted({value for value in values if value is not None})
    at = {name: code for code, name in enumerate(names)}
    codes = np.array([-1 if value is None else at[value] for value in values], dtype=np.int32)
    return pd.Categorical.from_codes(codes[places] if len(codes) else places, pd.Index(names, dtype="str"))


# What happened in a game before an attempt


def _reached(tries: pa.Table, marks: pa.Table) -> dict[str, np.ndarray[Any, Any]]:
    """Two columns for attempts: whether nothing had moved since the deal, and whether the look at it was broken off."""
    both = pa.chunked_array([*tries["game_id"].chunks, *marks["game_id"].chunks], pa.string())
    game = both.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    own = game[: len(tries)] << 32 | tries["event_index"].to_numpy()
    mark = game[len(tries) :] << 32 | marks["event_index"].to_numpy()
    kinds = marks["event_type"].to_pandas().to_numpy(dtype=object)
    correct = np.asarray(tries["outcome"].to_pandas() == "correct", dtype=bool)

    moved = _last_before(own, np.concatenate([own[correct], mark[np.isin(kinds, _MOVES)]]))
    dealt = _last_before(own, mark[kinds == "deal"])
    broken = _last_before(own, mark[np.isin(kinds, _BREAKS)])
    return {"first_move": moved <= dealt, "interrupted": broken > np.maximum(moved, dealt)}


def _last_before(own: np.ndarray[Any, Any], marks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """For each key the largest mark of the same game below it; the game's own floor if there is none."""
    floor = (own >> 32 << 32) - 1
    if not len(marks):
        return floor
    marks = np.sort(marks)
    at = np.searchsorted(marks, own, side="left") - 1
    found = np.where(at >= 0, marks[at], -1)
    latest: np.ndarray[Any, Any] = np.maximum(found, floor)
    return latest


# Sums over games, sessions and students

_PLAYED: Final = ("student_id", "session_id", "game_id", "event_index", "event_type", "t_utc", "tz", "outcome", "score")


def _played(store: Store, choice: Choice, progress: bool) -> pd.DataFrame:
    """Every chosen event with the ms that it adds to its game's active time."""
    played = _frame(_read(store, _PLAYED, choice, progress, compact=True), _PLAYED, {})
    order = played.sort_values(["game_id", "event_index"], kind="stable")
    same = order["game_id"].eq(order["game_id"].shift())
    gap = order["t_utc"].diff().dt.total_seconds().mul(1000)
    # A clock that was set back gives a negative gap, which is no time played.
    counts = same & ~order["event_type"].shift().isin(_AWAY) & gap.gt(0)
    played["active_ms"] = gap.where(counts, 0.0).round().astype("int64")
    return played


def _sums(played: pd.DataFrame, key: str) -> pd.DataFrame:
    tries = played["event_type"] == "attempt"
    flags = played.assign(
        n_events=1,
        n_attempts=tries,
        n_correct=tries & (played["outcome"] == "correct"),
        n_incorrect=tries & (played["outcome"] == "incorrect"),
        n_blocked=tries & (played["outcome"] == "blocked"),
        n_draws=played["event_type"] == "draw",
        n_redeals=played["event_type"] == "redeal",
        n_undos=played["event_type"] == "undo",
        n_hints=played["event_type"] == "hint",
    )
    counts = [name for name in map(str, flags) if name.startswith("n_")]
    by = flags.groupby(key, observed=True)
    found = by[[*counts, "active_ms"]].sum().astype("Int64")
    found["started"] = by["t_utc"].min()
    found["ended"] = by["t_utc"].max()
    span = (found["ended"] - found["started"]).dt.total_seconds().mul(1000).round()
    found["wall_ms"] = span.astype("Int64")
    with_texts: pd.DataFrame = _texts(found)
    return with_texts


def _last(order: pd.DataFrame, column: str) -> pd.Series[Any]:
    last: pd.Series[Any] = _texts(order.groupby("game_id", observed=True)[column].last())
    return last


def _texts(found: Any) -> Any:
    """The same, with texts as its index: two categorical indexes of different sizes do not align."""
    return found.set_axis(found.index.astype("str"), axis=0)


def _firsts(store: Store, choice: Choice) -> pd.DataFrame:
    """What stays the same all through a game, from the first row of each."""
    table = schema.events
    names = ("game_id", "student_id", "session_id", "rule_set", "deal", "source", "tz")
    first = sa.select(sa.func.min(table.c.seq)).where(*choice.conditions()).group_by(table.c.game_id)
    query = sa.select(*(table.c[name] for name in names)).where(table.c.seq.in_(first))
    with store.reading() as connection:
        rows = connection.execute(query).all()
    frame = pd.DataFrame.from_records([tuple(row) for row in rows], columns=list(names))
    return frame.astype({name: "str" if name in _TEXTS else "category" for name in names})
