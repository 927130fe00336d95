"""A class as its tablets see it: joining, playing, coming back, and what the tutor does."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa

from pyramid_lab.log import schema
from pyramid_lab.log.frames import sessions
from pyramid_lab.log.store import Store
from tests.classroom.class_server import ClassServer, is_kernel, wait_until
from tests.classroom.tablet import Tablet


def test_a_child_joins_plays_and_leaves_and_every_try_is_in_the_log(school_class: ClassServer) -> None:
    tablet = Tablet(school_class.address)
    assert tablet.join(school_class.code).url.endswith("/names")
    student = school_class.students["Gus"]
    assert tablet.choices()[student] == "Gus"
    assert tablet.take(student).headers["Location"] == "/play"
    tablet.play()
    tablet.act("draw")
    tablet.act("undo")
    assert [event.event_type for event in school_class.events("Gus")] == ["deal", "draw", "undo"]
    assert tablet.results == ("done", "done")
    (kernel,) = [one for one in school_class.kernels() if tablet.kernel_id in " ".join(one.cmdline())]
    tablet.leave()
    wait_until(lambda: not is_kernel(kernel))
    assert "Type the number from the board" in tablet.get("/play").text


def test_a_page_loaded_again_brings_the_same_game_back_and_the_kernel_before_it_ends(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Ines")
    tablet.play()
    tablet.act("draw")
    tablet.act("draw")
    before, deal, first = tablet.view["stock"]["left"], tablet.view["deal"], tablet.kernel_id
    tablet.close()

    again = Tablet(school_class.address)
    again.session.cookies.update(tablet.session.cookies)
    again.play()
    assert (again.view["deal"], again.view["stock"]["left"]) == (deal, before)
    assert again.kernel_id != first
    assert again.get(f"/api/kernels/{first}").status_code == 403
    again.act("draw")
    events = school_class.events("Ines")
    assert [event.event_index for event in events] == list(range(len(events)))
    assert len({event.session_id for event in events}) == 1
    again.leave()


def test_a_kernel_that_dies_is_missed_and_the_page_told_to_start_again(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Eve")
    tablet.play()
    tablet.stay()
    tablet.act("draw")
    wait_until(lambda: tablet.news.get("kernel") == tablet.kernel_id)
    (kernel,) = [one for one in school_class.kernels() if tablet.kernel_id in " ".join(one.cmdline())]
    kernel.kill()
    wait_until(lambda: tablet.news.get("kernel") is None)
    tablet.close()
    left = tablet.view["stock"]["left"]
    tablet.play()
    assert tablet.view["stock"]["left"] == left
    tablet.leave()


def test_two_children_pick_one_name_and_the_tutor_decides(school_class: ClassServer) -> None:
    first = school_class.tablet("Eve")
    first.stay()
    wait_until(lambda: bool(first.news))
    second = Tablet(school_class.address)
    second.join(school_class.code)
    eve = school_class.students["Eve"]
    assert second.take(eve).headers["Location"] == "/wait"
    assert "Somebody is playing as" in second.get("/wait").text
    assert second.get("/play", allow_redirects=False).status_code == 302

    tutor = school_class.tutor()
    (asking,) = [child for child in school_class.view(tutor)["asking"] if child["id"] == eve]
    assert (asking["name"], asking["twin"]) == ("Eve", False)
    tutor.post("/tutor/do", {"do": "let-in", "about": eve})
    wait_until(lambda: first.news.get("page") == "/wait")
    assert "on another tablet now" in first.get("/wait").text
    assert second.get("/wait", allow_redirects=False).headers["Location"] == "/play"
    first.close()
    second.leave()


def test_the_tutor_sees_who_plays_and_who_may_need_a_hand(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Eve")
    tablet.stay()
    tablet.play()
    cards = [card["card"] for card in tablet.view["pyramid"]][-7:]
    values = {card: "A23456789TJQK".index(card[0]) + 1 for card in cards}
    wrong = next(
        (a, b)
        for a in cards
        for b in cards
        if a < b and values[a] + values[b] != 13 and 13 not in (values[a], values[b])
    )
    for _ in range(3):
        tablet.act("try", cards=list(wrong))
    tutor = school_class.tutor()

    def row() -> dict[str, object]:
        return next(child for child in school_class.view(tutor)["children"] if child["name"] == "Eve")

    wait_until(lambda: row()["wrong"] == 3)
    assert row()["now"] == "here"
    assert row()["hand"] == "3 wrong tries in a row."
    tablet.leave()
    assert row()["now"] == "not here"


def test_a_lesson_that_fails_says_so_in_a_childs_words_and_to_the_tutor(school_class: ClassServer) -> None:
    tablet, tutor = school_class.tablet("Eve"), school_class.tutor()

    def hand() -> str:
        return next(str(child["hand"]) for child in school_class.view(tutor)["children"] if child["name"] == "Eve")

    tutor.post("/tutor/do", {"do": "lesson", "about": "2"})
    page = tablet.load()
    assert page.count("Something went wrong here. Your game is kept.") == 1
    assert "Load this page again</button>" in page
    assert not re.search("ZeroDivision|Traceback|cell \\[|Voil", page.partition('id="rendered_cells"')[2])
    assert hand() == "The lesson failed on this tablet; the window of the command line says why."
    failed = tablet.kernel_id
    tutor.post("/tutor/do", {"do": "lesson", "about": "0"})
    tablet.load()
    assert tablet.kernel_id != failed
    assert hand() == ""
    tablet.leave()


def test_pause_and_next_lesson_reach_every_tablet_and_the_log(school_class: ClassServer, tmp_path: Path) -> None:
    tablet, tutor = school_class.tablet("Gus"), school_class.tutor()
    before = len(school_class.events("Gus"))
    assert "Lesson 2</option>" in tutor.get("/tutor").text
    tablet.stay()
    wait_until(lambda: tablet.news.get("state") == "playing")
    tutor.post("/tutor/do", {"do": "pause"})
    wait_until(lambda: tablet.news["state"] == "paused")
    tutor.post("/tutor/do", {"do": "resume"})
    wait_until(lambda: tablet.news["state"] == "playing")
    kernels = set()
    for lesson in (0, 1, 0):
        tutor.post("/tutor/do", {"do": "lesson", "about": str(lesson)})
        wait_until(lambda expected=lesson: tablet.news["lesson"] == expected)
        tablet.close()
        tablet.stay()
        tablet.play()
        assert tablet.view["deal"].startswith(f"classic-{lesson + 1}-")
        tablet.act("draw")
        kernels.add(tablet.kernel_id)
    assert len(kernels) == 1  # thirty new ones at once would take half a minute
    assert tutor.post("/tutor/do", {"do": "lesson", "about": "7"}).status_code == 400
    assert tutor.post("/tutor/do", {"do": "dance"}).status_code == 400
    tablet.leave()
    with Store(school_class.place, outbox=school_class.outbox) as log:
        copy = log.backup(tmp_path / "copy.sqlite3")
    with Store(copy) as log:
        gus = school_class.students["Gus"]
        lessons = sessions(log, student=gus, progress=False).set_index("session_id")["lesson"]
        events = log.events(student_id=gus)[before:]
        draws = [event for event in events if event.event_type == "draw"]
        assert [lessons[event.session_id] for event in draws] == ["1", "2", "1"]
        # Back at the first lesson: the same game in the same sitting.
        assert (draws[0].game_id, draws[0].session_id) == (draws[2].game_id, draws[2].session_id)
        assert draws[1].game_id != draws[0].game_id
        # Every sitting of the child goes with an erasure, also those without a try.
        log.erase_student(gus)
        with log.reading() as connection:
            assert gus not in connection.execute(sa.select(schema.sessions.c.student_id)).scalars().all()
