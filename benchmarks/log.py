"""How fast the log is: events a second by number of writing processes, frames by number of events.

Run it as ``python benchmarks/log.py [--events 100000 1000000] [--writers 1 2 10 30]``. Times are also given as ratios
to a reference in the same run, since machines and their load differ: for writers, plain ``sqlite3`` inserts with a
commit each, from one process; for frames, the same columns read by ``sqlite3`` into Python rows and a DataFrame of
objects. The target for ``attempts`` is 5 s and 2 GB for a million events on two idle cores; the processor time, which
other programs disturb less, is spread over both.

Why text and Arrow: of the ways to a frame that were tried (rows into Python, ``json_array``, ``||``, ``printf`` parsed
by Arrow's CSV reader, ADBC), ``printf`` and ADBC took the least processor time, about the same. ADBC brings an SQLite
of its own into the process; two of them on one file undo each other's POSIX locks, which can lose rows of a board that
writes in the same kernel (sqlite.org, "How to corrupt an SQLite database file", 2.2.1).
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sqlite3
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyramid_lab.core.deal import Deal
from pyramid_lab.log.events import FIELDS, Event
from pyramid_lab.log.schema import time_text
from pyramid_lab.log.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
DEALS = [Deal.from_seed(seed).text for seed in range(200)]
A_GAME = 50
A_BLOCK = 30 * 1000  # whole games and sittings of every student


def events(count: int, who: int = 0) -> Iterator[Event]:
    """Games of 50 events, one deal and 49 tries each, of thirty students."""
    for number in range(count):
        game, index = divmod(number, A_GAME)
        common = {
            "event_id": str(uuid.UUID(int=who << 64 | number)),
            "student_id": f"s-{game % 30}",
            "session_id": f"sit-{who}-{game // 5}",
            "game_id": f"game-{who}-{game}",
            "deal": DEALS[game % len(DEALS)],
            "rule_set": "classic",
            "event_index": index,
            "t_utc": START + timedelta(seconds=3 * number),
            "tz": "Europe/Berlin",
            "source": "board",
        }
        if index == 0:
            yield Event(event_type="deal", **common)
        else:
            yield Event(
                event_type="attempt", rt_ms=900 + number % 3000, rt_first_ms=500, rt_second_ms=400 + number % 3000,
                clock="browser", first_card="4c", second_card="9d", first_place="r7c1", second_place="r7c2", value_a=4,
                value_b=9, total=13, outcome="correct", fact="4+9", n_exposed=7, n_legal=3, n_legal_cards=6,
                legal_facts="4+9 6+7", newly_exposed=1, best_newly_exposed=2, waste_top="Td", stock_left=20,
                redeals_left=2, score=45, input="mouse", assistance="none", **common,
            )  # fmt: skip


def write(place: Path, who: int, count: int, ready: Any, done: Any) -> None:
    """A writing process; begins and ends with the others."""
    rows = list(events(count, who))
    with Store(place, outbox=place.with_suffix(".outbox")) as store:
        ready.wait()
        for event in rows:
            store.append(event)
        store.flush()
        done.wait()


def plain_writes(place: Path, count: int) -> float:
    """Seconds for the reference: the same commits with nothing but ``sqlite3``."""
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE rows (body TEXT)")
        begun = time.perf_counter()
        for event in events(count):
            connection.execute("INSERT INTO rows VALUES (?)", (event.to_json(),))
        return time.perf_counter() - begun


def writers(counts: list[int], each: int) -> None:
    """Print events a second by number of writing processes."""
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder:
        reference = each / plain_writes(Path(folder) / "reference.sqlite3", each)
        print(f"reference: {reference:,.0f} plain commits a second from one process")
        for count in counts:
            place = Path(folder) / f"{count}.sqlite3"
            ready, done = context.Barrier(count + 1), context.Barrier(count + 1)
            processes = [context.Process(target=write, args=(place, who, each, ready, done)) for who in range(count)]
            for process in processes:
                process.start()
            ready.wait()
            begun = time.perf_counter()
            done.wait()
            speed = count * each / (time.perf_counter() - begun)
            for process in processes:
                process.join()
            with closing(sqlite3.connect(place)) as connection:
                (written,) = connection.execute("SELECT count(*) FROM events").fetchone()
            print(
                f"{count:3} writers: {speed:8,.0f} events/s, {speed / reference:.2f} of the reference; "
                f"{written:,} of {count * each:,} rows"
            )


def fill(place: Path, count: int) -> None:
    """Make a log of many events: the first by Python, then SQLite writes them again under new ids and later times."""
    Store(place).close()
    first = min(count, A_BLOCK)
    new = {
        "event_id": "substr(event_id, 1, 24) || printf('%012x', seq - 1 + :shift)",
        "session_id": f"printf('sit-0-%d', (seq - 1 + :shift) / {5 * A_GAME})",
        "game_id": f"printf('game-0-%d', (seq - 1 + :shift) / {A_GAME})",
        "t_utc": "strftime('%Y-%m-%dT%H:%M:%fZ', t_utc, (3 * :shift) || ' seconds')",
    }
    copied = ", ".join(new.get(name, name) for name in FIELDS)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA cache_size=-500000")
        indexes = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql > ''").fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        rows = ([getattr(event, name) if name != "t_utc" else time_text(event.t_utc) for name in FIELDS]
                for event in events(first))  # fmt: skip
        connection.executemany(
            f"INSERT INTO events ({', '.join(FIELDS)}) VALUES ({', '.join('?' * len(FIELDS))})", rows
        )
        for shift in range(first, count, first):
            connection.execute(
                f"INSERT INTO events ({', '.join(FIELDS)}) SELECT {copied} FROM events WHERE seq <= :block",
                {"shift": shift, "block": min(first, count - shift)},
            )
        for _, sql in indexes:
            connection.execute(sql)
        connection.commit()


def read(place: Path, how: str, answer: Any) -> None:
    """Read a log in a process of its own; tell the rows, the seconds by the clock and of the processor, and the MB."""
    import pandas as pd  # loaded before the clock starts, as in a notebook that is open

    from pyramid_lab.log import frames

    names = [name for name in frames.ATTEMPT_COLUMNS if name in FIELDS]
    begun, worked = time.perf_counter(), time.process_time()
    if how == "rows":
        with closing(sqlite3.connect(place)) as connection:
            query = f"SELECT {', '.join(names)} FROM events WHERE event_type = 'attempt'"
            count = len(pd.DataFrame.from_records(connection.execute(query).fetchall(), columns=names))
    else:
        with Store(place) as store:
            count = len(getattr(frames, how)(store, progress=False))
    taken, work = time.perf_counter() - begun, time.process_time() - worked
    scale = 1e6 if sys.platform == "darwin" else 1e3
    answer.send((count, taken, work, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale))


def frames_by_size(sizes: list[int]) -> None:
    """Print the time and memory of frames by number of events; the reference is read at the first size only."""
    context = multiprocessing.get_context("spawn")
    of_reference = 0.0  # seconds for one event
    with TemporaryDirectory() as folder:
        for size in sizes:
            place = Path(folder) / f"{size}.sqlite3"
            fill(place, size)
            print(f"{size:11,} events: {place.stat().st_size / 1e6:,.0f} MB on the disk", flush=True)
            for how in ("rows",) * (not of_reference) + ("attempts", "games", "sessions", "students"):
                mine, theirs = context.Pipe(duplex=False)
                process = context.Process(target=read, args=(place, how, theirs))
                process.start()
                theirs.close()  # so that a process that dies is noticed
                count, taken, work, memory = mine.recv()
                process.join()
                of_reference = of_reference or taken / size
                name = "reference" if how == "rows" else how
                print(
                    f"{size:11,} events: {name:9} {count:11,} rows {taken:7.2f} s ({work:.2f} s of the processor, "
                    f"{work / size * 1e6:.2f} a million), {taken / size / of_reference:.2f} of the reference, "
                    f"{memory:,.0f} MB",
                    flush=True,
                )
            place.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--writers", type=int, nargs="*", default=[1, 2, 10, 30])
    parser.add_argument("--each", type=int, default=200, help="events of each writer")
    options = parser.parse_args()
    writers(options.writers, options.each)
    frames_by_size(options.events)
