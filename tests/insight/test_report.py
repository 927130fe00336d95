from __future__ import annotations

import io
import itertools
import re
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pikepdf
import pytest
from click.testing import CliRunner

from pyramid_lab.cli import cli
from pyramid_lab.insight import (
    Review,
    StudentPage,
    Thresholds,
    classroom,
    random_student,
    report_html,
    report_pdf,
    review,
)
from pyramid_lab.insight.pictures import second_process
from pyramid_lab.insight.report import printable
from pyramid_lab.insight.simulate import practise
from pyramid_lab.log.events import FIELDS
from pyramid_lab.log.names import Names, Person
from pyramid_lab.log.store import Store
from tests.insight.log_rows import PAIRS, Row

Played = tuple[pd.DataFrame, pd.DataFrame]

NASTY = 'Zoë "O\'Neil", <script>alert(1)</script> & <b>=1+1</b>'


def words_of(page: str) -> str:
    """What a reader sees of an HTML page, in one line."""
    body = re.sub(r"<(style|title)>.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def text_of(pdf: bytes) -> str:
    import subprocess

    done = subprocess.run(["pdftotext", "-", "-"], input=pdf, capture_output=True, check=True)
    return " ".join(done.stdout.decode("utf-8").split())


NAMES = {"student-0": "Łucja Ω", "student-1": NASTY, "student-2": "王芳", "student-3": "José 🎉", "absent": "Finn"}


@pytest.fixture(scope="module")
def told() -> list[tuple[int, int, str]]:
    """The steps that ``found`` told."""
    return []


@pytest.fixture(scope="module")
def found(played: Played, told: list[tuple[int, int, str]]) -> Review:
    """The report on a class of nine of whom one has not played."""
    return review(played[0], names=NAMES, progress=lambda done, total, what: told.append((done, total, what)))


@pytest.fixture(scope="module")
def html(found: Review) -> str:
    return report_html(found)


@pytest.fixture(scope="module")
def printed(found: Review) -> bytes:
    return report_pdf(found)


def test_a_page_for_the_class_and_one_for_each_student(found: Review, html: str) -> None:
    assert len(found.students) == 8
    assert html.count("<h3>Next step</h3>") == 8
    assert "Whom to sit beside today" in html
    for fact in PAIRS:
        assert f'<th scope="col">{fact}</th>' in html
    assert 1 <= len(found.sit_beside) <= Thresholds.default().report.sit_beside


def test_who_is_on_the_class_list_and_has_not_played_is_named(found: Review, html: str, printed: bytes) -> None:
    assert found.not_played == (("absent", "Finn"),)
    assert "Finn has not played yet" in words_of(html)
    for seen in (words_of(html), text_of(printed)):
        assert "9 students (1 has not played yet)" in seen
        assert "Finn" in seen
        assert "8 of 9 students have played." in seen


def test_of_a_class_that_has_not_played_all_are_named(row: Row) -> None:
    nothing = pd.DataFrame([], columns=list(FIELDS))
    seen = words_of(report_html(review(nothing, names={"p1": "Ann", "p2": "Bo"})))
    assert "2 students (2 have not played yet)" in seen
    assert "Ann has not played yet Bo has not played yet" in seen
    some = words_of(report_html(review(pd.DataFrame(only(row, 1)), names={"p1": "Ann"}, some_days=True)))
    assert "Ann has not played in these days" in some


def test_every_reason_to_sit_beside_someone_says_how_sure_it_is_and_on_how_many_tries(found: Review) -> None:
    for page, why in found.sit_beside:
        timed = {line.fact: line.tries for line in page.facts}
        claims = re.findall(r"([^;]+) (?:slow|being worked out) \((\d+) timed tr(?:y|ies)\)", why)
        assert claims
        for claim, tries in claims:
            assert claim.endswith((" almost certainly", " probably", " perhaps")), claim
            assert int(tries) == sum(n for fact, n in timed.items() if fact in claim)


def test_every_band_says_how_sure_it_is(found: Review) -> None:
    lines = [line for page in found.students for line in page.facts if line.band != "too few tries"]
    assert len(lines) > 20
    assert all(re.search("almost certainly|probably|perhaps", line.note) for line in lines)


def test_quick_and_often_wrong_is_as_sure_as_the_wrong_tries_make_it(row: Row) -> None:
    def note(wrong: int) -> str:
        rows = [row("draw")]
        for at in range(20):
            rows += [
                row(fact="5+8", rt_ms=1500 + 20 * (at % 5), outcome="incorrect" if at < wrong else "correct"),
                row(fact="K", rt_ms=1000 + 40 * (at % 5), n_legal_cards=2), row(),
            ]  # fmt: skip
        return next(line.note for line in review(pd.DataFrame(rows)).students[0].facts if line.fact == "5+8")

    # With a flat prior the share right is below 0.9 at 3 wrong of 20 with probability 0.85, at 8 of 20 with 0.9999.
    assert note(3) == "quick, but probably not right often enough"
    assert note(8) == "quick, but almost certainly not right often enough"


def test_students_who_need_it_most_come_first_and_every_next_step_has_its_reason(found: Review) -> None:
    assert [page.need for page in found.students] == sorted((page.need for page in found.students), reverse=True)
    for page in found.students:
        assert page.next_step.do
        assert page.next_step.why
        slow = [line.fact for line in page.facts if line.band == "slow"]
        if slow and not page.headline.split(";")[0].endswith("times"):
            assert page.next_step.evidence


def test_where_deals_are_advised_a_command_that_prints_them_stands_there(
    found: Review, html: str, printed: bytes, tmp_path: Path
) -> None:
    steps = [page.next_step for page in found.students if page.next_step.do.startswith("Play two deals")]
    assert steps
    for command in {step.command for step in steps}:
        assert command in words_of(html)
        assert command in text_of(printed)
    program, *arguments = steps[0].command.split()
    assert program == "pyramid-lab"
    rich_in = [value for name, value in itertools.pairwise(arguments) if name == "--rich-in"]
    assert rich_in == list(steps[0].facts)
    done = CliRunner().invoke(cli, [*arguments, "--out", str(tmp_path / "pack.pdf")])
    assert done.exit_code == 0, done.output
    assert "2 deals" in done.output


def test_names_are_text_and_nothing_else(html: str) -> None:
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<b>=1+1</b>" not in html


def test_two_students_with_one_name_are_told_apart(row: Row) -> None:
    rows = [row(student_id=f"student-{at}") for at in range(3)]
    found = review(pd.DataFrame(rows), names={"student-0": "Ann", "student-1": " Ann\n", "student-2": ""})
    names = {page.student_id: page.name for page in found.students}
    assert names["student-0"] != names["student-1"]
    assert names["student-0"].startswith("Ann (")
    assert names["student-2"] == "student-2"


def test_the_html_is_one_file_that_needs_no_network(html: str) -> None:
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", html)
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "@import" not in html


def test_every_picture_has_words_that_give_its_numbers(found: Review, html: str) -> None:
    pictures = [each for one in found.students for each in (one.fact_picture, one.growth_picture) if each]
    assert len(pictures) == 16
    for picture in pictures:
        assert re.search(r"\d\.\d s", picture.alt)
        assert "seconds" in picture.caption or "weekly median of the time" in picture.caption
        assert "timed tries" in picture.caption
    assert all(image in html for image in ('alt="Fact time of each pair', 'alt="Weekly median own time'))


def test_the_number_of_tries_beside_a_time_is_the_same_in_table_strip_and_picture(found: Review, html: str) -> None:
    for one in found.students:
        assert one.fact_picture is not None
        drawn = re.findall(r">(\S+)\s+\((\d+)\)<", one.fact_picture.svg)
        assert dict(drawn) == {line.fact: str(line.tries) for line in one.facts}
    seen = words_of(html)
    assert seen.count("wrong, interrupted and first tries of a game are not timed") >= 1 + len(found.students)


def test_the_pdf_is_tagged_and_has_a_page_for_each_student(printed: bytes) -> None:
    with pikepdf.open(io.BytesIO(printed)) as pdf:
        assert pdf.Root.MarkInfo.Marked
        assert "/StructTreeRoot" in pdf.Root
        assert len(pdf.pages) == 1 + 8 + 1
    text = text_of(printed)
    assert "Łucja Ω" in text
    assert "student-2" in text  # the type has no letter of the name
    assert "José" in text


def test_letters_that_cannot_be_printed_are_left_out() -> None:
    assert printable("José 🎉", "p1") == "José"
    assert printable("王芳", "p1") == "p1"


def only(row: Row, count: int, **changes: Any) -> list[dict[str, Any]]:
    return [row("deal"), *(row(**changes) for _ in range(count))]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("nothing", "No games yet"),
        ("one attempt", "Too few tries"),
        ("all wrong", "wrong sum"),
        ("only Kings", "Too few tries"),
        ("only a deal", "Too few tries"),
        ("no times", "Too few tries"),
        ("the clock went back", "Too few tries"),
        ("no moments", "left out of growth"),
    ],
)
def test_a_log_with_little_in_it_gives_a_sensible_page(row: Row, case: str, said: str) -> None:
    rows = {
        "nothing": [],
        "one attempt": only(row, 1),
        "all wrong": only(
            row, 40, outcome="incorrect", value_a=5, value_b=7, total=12, error_class="off_by_one", fact="5+8"
        ),
        "only Kings": only(row, 40, fact="K"),
        "only a deal": [row("deal")],
        "no times": only(row, 40, rt_ms=None, reason="no_start"),
        "the clock went back": [
            row(t_utc=pd.Timestamp("2026-10-25 01:30", tz="UTC") - pd.Timedelta(minutes=3 * at)) for at in range(20)
        ],
        "no moments": only(row, 12, t_utc=pd.NaT),
    }[case]
    events = pd.DataFrame(rows).reindex(columns=list(FIELDS))
    found = review(events)
    seen = words_of(report_html(found))
    assert said in seen
    assert not re.search(r"\b(nan|NaN|NaT|None|inf)\b", seen)
    printed = text_of(report_pdf(found))
    assert not re.search(r"\b(nan|NaN|NaT|None|inf)\b", printed)


def test_a_student_who_is_listed_and_has_not_played_gets_a_page(row: Row) -> None:
    found = review(pd.DataFrame(only(row, 3)), students=["ann", "bo"], names={"bo": "Bo"})
    page = next(page for page in found.students if page.name == "Bo")
    assert page.played == "Has not played yet."
    assert "Bo" in report_html(found)


def test_a_wrong_sum_that_comes_back_is_the_next_step(row: Row) -> None:
    rows = only(row, 20)
    rows += [
        row(outcome="incorrect", value_a=3, value_b=12, total=15, error_class="face_as_ten", fact="3+10",
            first_card="3c", second_card="Qh")
        for _ in range(4)
    ]  # fmt: skip
    page = review(pd.DataFrame(rows)).students[0]
    assert "Jack, Queen and King" in page.next_step.do
    assert "taken for ten" in page.next_step.why
    assert {line[1:3] for line in page.next_step.evidence} == {("3♣ + Q♥", "makes 15")}
    assert "3+Q (makes 15), 4 of 4 wrong sums" in page.wrong_pair


def test_every_step_is_told(found: Review, told: list[tuple[int, int, str]]) -> None:
    steps = 4 + len(found.students)
    assert [(done, total) for done, total, _ in told] == [(at, steps) for at in range(1, steps + 1)]


def test_sums_over_the_class_only_from_five_students_on(played: Played, found: Review) -> None:
    events = played[0]
    few = events[events["student_id"].isin([f"student-{at}" for at in range(4)])]
    assert review(few).totals == ()
    assert len(found.totals) == 6
    assert all(re.fullmatch(r"\d of \d", total) for total in found.totals)


def test_pairs_to_ten_are_read_too() -> None:
    rng = np.random.default_rng(3)
    from pyramid_lab.core import rule_set

    rules = rule_set("one-pass").replace(target=10)
    student = random_student("ann", rng, target=10)
    events, _ = classroom([student], 8, rng, rules=rules)
    page = review(events).students[0]
    assert [line.fact for line in page.facts] == ["A+9", "2+8", "3+7", "4+6", "5+5"]
    assert any(line.band != "too few tries" for line in page.facts)
    assert page.next_step.do.startswith("Play two deals")
    assert page.next_step.command == ""  # what is printed by name is to 13


@pytest.fixture(scope="module")
def alone(played: Played) -> tuple[pd.DataFrame, StudentPage]:
    """The rows of one student, and the page with two pictures that is made of them here."""
    rows = played[0][played[0]["student_id"] == "student-0"]
    page = review(rows).students[0]
    assert page.fact_picture is not None
    assert page.growth_picture is not None
    return rows, page


def test_a_second_process_draws_the_same_pictures(alone: tuple[pd.DataFrame, StudentPage]) -> None:
    rows, page = alone
    with second_process() as beside:
        assert beside is not None
        assert review(rows, beside=beside).students[0] == page


class Gone(Executor):
    """A second process that was ended, before it is asked to draw or while it draws."""

    def __init__(self, drawing: bool) -> None:
        self.drawing = drawing

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        if not self.drawing:
            raise BrokenExecutor
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor())
        return future


@pytest.mark.parametrize("drawing", [True, False])
def test_without_the_second_process_the_pictures_are_drawn_all_the_same(
    alone: tuple[pd.DataFrame, StudentPage], drawing: bool
) -> None:
    rows, page = alone
    assert review(rows, beside=Gone(drawing)).students[0] == page


# The command


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of two students who share a name, and two on the class list who have not played."""
    place = tmp_path_factory.mktemp("log") / "class.sqlite3"
    rng = np.random.default_rng(12)
    with Store(place) as store:
        for name in ("p1", "p2"):
            for event in practise(random_student(name, rng), 2, rng):
                store.append(event)
        Names.of(store).put(
            [
                Person("p1", "Ann", "3a"),
                Person("p2", "Ann", "3a"),
                Person("p3", "Bo", "3a"),
                Person("p4", "Cleo", "3b"),
            ],
            store,
        )
    return place


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["review", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_the_command_writes_html_and_pdf(log: Path, tmp_path: Path) -> None:
    for name in ("report.html", "report.pdf"):
        code, said = run("--store", log, "--out", tmp_path / name)
        assert code == 0, said
        assert f"Wrote {tmp_path / name}" in said
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Ann (p1)" in page
    assert "Bo has not played yet" in words_of(page)
    assert "Cleo has not played yet" in words_of(page)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_of_a_long_log_the_command_writes_the_same(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--store", log, "--out", tmp_path / "here.html")[0] == 0
    monkeypatch.setattr("pyramid_lab.cli.insight._LONG", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert run("--store", log, "--out", tmp_path / "beside.html")[0] == 0
    assert (tmp_path / "beside.html").read_bytes() == (tmp_path / "here.html").read_bytes()


def test_a_report_that_is_there_is_replaced_whole_or_not_at_all(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "reports" / "report.html"
    code, said = run("--store", log, "--out", out)
    assert code == 1
    assert f"there is no folder {out.parent}" in said
    out.parent.mkdir()
    out.write_text("last week", encoding="utf-8")
    with monkeypatch.context() as full_disk:
        full_disk.setattr(Path, "write_bytes", lambda self, data: (_ for _ in ()).throw(OSError(28, "disk full")))
        code, said = run("--store", log, "--out", out)
    assert code == 1
    assert "disk full" in said
    assert [file.name for file in out.parent.iterdir()] == ["report.html"]
    assert out.read_text(encoding="utf-8") == "last week"
    assert run("--store", log, "--out", out)[0] == 0
    assert "Ann (p1)" in out.read_text(encoding="utf-8")
    assert [file.name for file in out.parent.iterdir()] == ["report.html"]


def test_pseudonyms_instead_of_names_and_one_student_alone(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert run("--store", log, "--out", out, "--class", "3a", "--since", "2026-09-01", "--pseudonyms")[0] == 0
    page = words_of(out.read_text(encoding="utf-8"))
    assert "p3 has not played in these days" in page
    assert not {"Ann", "Bo", "p4", "Cleo"} & set(page.split())
    assert run("--store", log, "--out", out, "--student", "p1", "--pseudonyms")[0] == 0
    page = out.read_text(encoding="utf-8")
    assert "Ann" not in page
    assert not {"p2", "p3"} & set(words_of(page).split())
    assert "Whom to sit beside" not in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "r.docx"], "r.docx ends neither in .html nor in .pdf; write r.html"),
        (["--out", "folder.html"], "is a folder"),
        (["--student", "Zoë"], "nobody is called Zoë"),
        (["--student", "Ann"], "2 students are called Ann"),
        (["--since", "yesterday"], "yesterday"),
    ],
)
def test_bad_input_is_named(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    (tmp_path / "folder.html").mkdir()
    monkeypatch.chdir(tmp_path)
    out = [] if "--out" in arguments else ["--out", "r.html"]
    code, output = run("--store", log, *out, *arguments)
    assert code != 0
    assert said in output
    assert "Traceback" not in output


def test_thresholds_of_a_file_are_used_and_mistakes_in_it_named(log: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[bands]\nfast_s = 1.75\n", encoding="utf-8")
    out = tmp_path / "r.html"
    assert run("--store", log, "--out", out, "--thresholds", file)[0] == 0
    assert "up to 1.75 s" in out.read_text(encoding="utf-8")
    file.write_text("[bands]\nfats_s = 1.75\n", encoding="utf-8")
    code, output = run("--store", log, "--out", out, "--thresholds", file)
    assert code == 1
    assert "did you mean fast_s?" in output


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    code, output = run("--store", tmp_path / "no.sqlite3", "--out", tmp_path / "r.html")
    assert code == 1
    assert "no.sqlite3" in output


def test_the_command_says_how_a_date_is_written(log: Path, tmp_path: Path) -> None:
    for wrong in ("yesterday", "30.11.2026", "2026-02-30"):
        code, said = run("--store", log, "--out", tmp_path / "report.html", "--since", wrong)
        assert code == 2
        assert f"'{wrong}' is no date; write it as 2026-11-30" in said
    shown = " ".join(run("--help")[1].split())
    assert shown.count("such as 2026-11-30") == 2


def test_without_a_log_the_command_says_once_what_to_do(tmp_path: Path) -> None:
    code, said = run("--store", tmp_path / "none.sqlite3", "--out", tmp_path / "report.html")
    assert code == 1
    assert said.count("there is no log at") == 1
    assert "Play a lesson first (pyramid-lab), or name another log with --store." in said


def test_the_progress_is_said_in_plain_words(log: Path, tmp_path: Path) -> None:
    said = run("--store", log, "--out", tmp_path / "report.html")[1]
    assert re.search(r"Tries cleaned: .* 1 of \d+", said)
    assert "/s" not in said
    assert "%|" not in said
    assert "?" not in said


def test_where_the_report_is_is_said_in_full(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"Wrote {tmp_path / 'report.htm'}" in run("--store", log, "--out", "report.htm")[1]
