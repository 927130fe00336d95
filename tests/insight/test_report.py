from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pikepdf
import pytest
from click.testing import CliRunner

from pyramid_lab.cli import cli
from pyramid_lab.insight import (
    Thresholds,
    classroom,
    random_student,
    report_html,
    report_pdf,
    review,
)
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


def test_a_page_for_the_class_and_one_for_each_student(played: Played) -> None:
    found = review(played[0], names={"student-0": "Ann", "student-1": NASTY})
    page = report_html(found)
    assert len(found.students) == 8
    assert page.count("<h3>Next step</h3>") == 8
    assert "Whom to sit beside today" in page
    for fact in PAIRS:
        assert f'<th scope="col">{fact}</th>' in page
    assert 1 <= len(found.sit_beside) <= Thresholds.default().report.sit_beside


def test_students_who_need_it_most_come_first_and_every_next_step_has_its_reason(played: Played) -> None:
    found = review(played[0])
    assert [page.need for page in found.students] == sorted((page.need for page in found.students), reverse=True)
    for page in found.students:
        assert page.next_step.do
        assert page.next_step.why
        slow = [line.fact for line in page.facts if line.band == "slow"]
        if slow and not page.headline.split(";")[0].endswith("times"):
            assert page.next_step.evidence


def test_names_are_text_and_nothing_else(played: Played) -> None:
    page = report_html(review(played[0], names={"student-1": NASTY}))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<b>=1+1</b>" not in page


def test_two_students_with_one_name_are_told_apart(played: Played) -> None:
    found = review(played[0], names={"student-0": "Ann", "student-1": " Ann\n", "student-2": ""})
    names = {page.student_id: page.name for page in found.students}
    assert names["student-0"] != names["student-1"]
    assert names["student-0"].startswith("Ann (")
    assert names["student-2"] == "student-2"


def test_the_html_is_one_file_that_needs_no_network(played: Played) -> None:
    page = report_html(review(played[0]))
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "@import" not in page


def test_every_picture_has_words_that_give_its_numbers(played: Played) -> None:
    found = review(played[0])
    pictures = [picture for page in found.students for picture in (page.fact_picture, page.growth_picture) if picture]
    assert len(pictures) == 16
    for picture in pictures:
        assert re.search(r"\d\.\d s", picture.alt)
        assert " s" in picture.caption or "seconds" in picture.caption
        assert "n" in picture.caption
    assert all(image in report_html(found) for image in ('alt="Fact time of each pair', 'alt="Weekly median own time'))


def test_the_pdf_is_tagged_and_has_a_page_for_each_student(played: Played) -> None:
    found = review(played[0], names={"student-0": "Łucja Ω", "student-1": "王芳", "student-2": "José 🎉"})
    made = report_pdf(found)
    with pikepdf.open(io.BytesIO(made)) as pdf:
        assert pdf.Root.MarkInfo.Marked
        assert "/StructTreeRoot" in pdf.Root
        assert len(pdf.pages) == 1 + 8 + 1
    text = text_of(made)
    assert "Łucja Ω" in text
    assert "student-1" in text  # the type has no letter of the name
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


def test_every_step_is_told(played: Played) -> None:
    told: list[tuple[int, int, str]] = []
    review(played[0], progress=lambda done, total, what: told.append((done, total, what)))
    assert [done for done, _, _ in told] == list(range(1, 13))
    assert {total for _, total, _ in told} == {12}


def test_sums_over_the_class_only_from_five_students_on(played: Played) -> None:
    events = played[0]
    few = events[events["student_id"].isin([f"student-{at}" for at in range(4)])]
    assert review(few).totals == ()
    totals = review(events).totals
    assert len(totals) == 6
    assert all(re.fullmatch(r"\d of \d", total) for total in totals)


def test_pairs_to_ten_are_read_too() -> None:
    rng = np.random.default_rng(3)
    from pyramid_lab.core import rule_set

    rules = rule_set("one-pass").replace(target=10)
    student = random_student("ann", rng, target=10)
    events, _ = classroom([student], 8, rng, rules=rules)
    page = review(events).students[0]
    assert [line.fact for line in page.facts] == ["A+9", "2+8", "3+7", "4+6", "5+5"]
    assert any(line.band != "too few tries" for line in page.facts)


# The command


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two students who share a name."""
    place = tmp_path / "class.sqlite3"
    rng = np.random.default_rng(12)
    with Store(place) as store:
        for name in ("p1", "p2"):
            for event in practise(random_student(name, rng), 2, rng):
                store.append(event)
        Names.of(store).put([Person("p1", "Ann"), Person("p2", "Ann")], store)
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
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


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
    assert run("--store", log, "--out", out, "--student", "p1", "--pseudonyms")[0] == 0
    page = out.read_text(encoding="utf-8")
    assert "Ann" not in page
    assert "p2" not in words_of(page)
    assert "Whom to sit beside" not in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "r.docx"], "neither in .html nor in .pdf"),
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
