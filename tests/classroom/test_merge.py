"""Logs of many laptops in one."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyramid_lab.classroom import merge as merge_module
from pyramid_lab.classroom.merge import merge
from pyramid_lab.cli import cli
from pyramid_lab.core import Deal, Position, rule_set
from pyramid_lab.log.errors import StoreAwayError
from pyramid_lab.log.events import Event, new_id, record
from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store

START = Position.start(rule_set("classic"), Deal.from_seed(17))


def event(student: str, game: str, index: int) -> Event:
    return record(
        "deal" if index == 0 else "draw",
        START,
        event_id=new_id(),
        student_id=student,
        session_id=f"sitting of {student}",
        game_id=game,
        event_index=index,
        t_utc=datetime(2026, 11, 30, 12, tzinfo=UTC) + timedelta(seconds=index),
    )


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    """laptop(name): the log of a computer, with its names beside it."""
    opened: list[Store] = []

    def open_log(name: str) -> Store:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        opened.append(Store(folder / "log.sqlite3", outbox=folder / "outbox.sqlite3"))
        return opened[-1]

    yield open_log
    for store in opened:
        store.close()


def test_two_logs_become_one_and_again_changes_nothing(
    laptop: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_module, "_BATCH", 5)
    one, two, school = laptop("one"), laptop("two"), laptop("school")
    ones = [event("s-1", "game-1", index) for index in range(3)]
    twos = [event("s-2", "game-2", index) for index in range(13)]  # more than two batches
    for store, events in ((one, ones), (two, twos)):
        store.open_session(events[0].student_id, session_id=events[0].session_id, lesson="Lesson 1")
        store.put_students({events[0].student_id: "2b"})
        for each in events:
            store.append(each)
    assert [merge(source, school).events for source in (one, two)] == [3, 13]
    assert school.events() == ones + twos
    for source in (one, two, one):
        again = merge(source, school)
        assert (again.events, again.sessions, again.students, again.conflicts) == (0, 0, 0, [])
        assert again.known == len(source.events())
    assert school.events() == ones + twos


def test_an_event_that_differs_is_named_and_left_as_it_is(laptop: Callable[[str], Store]) -> None:
    one, school = laptop("one"), laptop("school")
    here = event("s-1", "game-1", 0)
    there = dataclasses.replace(here, score=99, waste_top="7c")
    school.append(here)
    one.append(there)
    done = merge(one, school)
    assert done.events == 0
    (sentence,) = done.conflicts
    assert here.event_id in sentence and "game-1" in sentence and "score" in sentence and "waste_top" in sentence
    assert school.events() == [here]


def test_a_game_that_went_on_on_two_computers_is_named_and_nothing_is_lost(laptop: Callable[[str], Store]) -> None:
    one, school = laptop("one"), laptop("school")
    begun = [event("s-1", "game-1", index) for index in range(2)]
    here, there = event("s-1", "game-1", 2), event("s-1", "game-1", 2)
    for each in (*begun, here):
        school.append(each)
    for each in (*begun, there):
        one.append(each)
    done = merge(one, school)
    assert (done.events, done.known) == (1, 2)
    assert ["game-1" in sentence and "number 2" in sentence for sentence in done.conflicts] == [True]
    assert {each.event_id for each in school.events()} == {each.event_id for each in (*begun, here, there)}
    assert merge(one, school).conflicts == []  # said once, when it happens


def test_names_come_along_and_those_that_do_not_agree_are_named(laptop: Callable[[str], Store]) -> None:
    one, school = laptop("one"), laptop("school")
    names = Names.of(one), Names.of(school)
    ana = names[0].add(one, "Ana, É 🦊", class_name="2b")
    ben = names[0].add(one, "Ben", class_name="2b")
    names[1].put([dataclasses.replace(ben, name="Benjamin")], school)
    done = merge(one, school, names=names)
    assert done.names == 1
    assert names[1].name_of(ana.student_id) == "Ana, É 🦊"
    assert names[1].name_of(ben.student_id) == "Benjamin"
    assert ["Benjamin" in sentence and "'Ben'" in sentence for sentence in done.conflicts] == [True]


def test_one_child_under_two_pseudonyms_is_told_and_joined_when_asked(laptop: Callable[[str], Store]) -> None:
    one, school = laptop("one"), laptop("school")
    names = Names.of(one), Names.of(school)
    there, here = names[0].add(one, "Ana", class_name="2b"), names[1].add(school, " ana", class_name="2b")
    one.append(event(there.student_id, "game-1", 0))
    for _ in range(2):
        done = merge(one, school, names=names, same_names=True)
        assert (done.twins, done.conflicts) == ([], [])
    assert [each.student_id for each in school.events()] == [here.student_id]
    assert [person.student_id for person in names[1].people()] == [here.student_id]

    other = laptop("other")
    named = (names[0], Names.of(other))
    named[1].add(other, "Ana", class_name="2b")
    done = merge(one, other, names=named)
    assert ["--same-names" in sentence and "Ana" in sentence for sentence in done.twins] == [True]


def test_a_log_that_breaks_off_leaves_the_target_as_it_was(
    laptop: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, school = laptop("one"), laptop("school")
    for index in range(13):
        one.append(event("s-1", "game-1", index))
    monkeypatch.setattr(merge_module, "_BATCH", 5)
    whole = merge_module._put
    calls = 0

    def breaks_off(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreAwayError("the stick was pulled out")
        whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(merge_module, "_put", breaks_off)
    with pytest.raises(StoreAwayError):
        merge(one, school)
    assert school.events() == []


def test_the_command_says_what_it_did(laptop: Callable[[str], Store], tmp_path: Path) -> None:
    one = laptop("one")
    one.append(event("s-1", "game-1", 0))
    Names.of(one).add(one, "Ana", class_name="2b")
    one.close()
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    into = tmp_path / "school" / "log.sqlite3"
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_DATA_HOME": str(tmp_path / "data")}
    sources = [str(tmp_path / name / "log.sqlite3") for name in ("one", "copy")]
    done = CliRunner().invoke(cli, ["merge", *sources, f"--into={into}"], env=environment)
    assert done.exit_code == 0, done.output
    assert "1 new events (0 were there already), 0 new sittings, 1 new students, 1 new names." in done.output
    assert "0 new events (1 were there already)" in done.output
    missing = CliRunner().invoke(cli, ["merge", str(tmp_path / "none.sqlite3"), f"--into={into}"], env=environment)
    assert missing.exit_code == 1 and "There is no file" in missing.output
    same = CliRunner().invoke(cli, ["merge", str(into), f"--into={into}"], env=environment)
    assert same.exit_code == 1 and "is the log that the others go into" in same.output
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    for words in ([sources[0], f"--into={nowhere}"], [nowhere, f"--into={into}"]):
        away = CliRunner().invoke(cli, ["merge", *words], env=environment)
        assert away.exit_code == 1 and "Error: the log's database cannot be reached" in away.output, away.output
