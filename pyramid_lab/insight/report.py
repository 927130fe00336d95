"""The tutor's report: one HTML file that works offline, or a tagged PDF to print or hand to a parent."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, cast

from jinja2 import Environment, PackageLoader, StrictUndefined

from pyramid_lab.insight.pictures import TIMED_TRIES
from pyramid_lab.insight.reading import Review, StudentPage

Paper = Literal["a4", "us-letter"]

TITLE: Final = "Pyramid Lab: what the log says"

_SHORT: Final = {"working it out": "working", "too few tries": "too few"}
_LEGEND: Final = "● fast, ◐ working it out, ○ slow, – too few tries."
_SURE: Final = "Almost certainly means 95 % or more, probably 80 to 95 %, perhaps less."


def report_html(review: Review, *, title: str = TITLE) -> str:
    """The report as one HTML file: no script, no network, pictures inside, ready to print.

    Args:
        review: as :func:`~pyramid_lab.insight.review` gives it. With two students or more there is a class page.
        title: of the report.
    """
    environment = Environment(
        loader=PackageLoader("pyramid_lab.insight", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["data_uri"] = _data_uri
    shown = {
        "students": [
            asdict(page) | {"facts": [asdict(line) | {"band_short": _short(line.band)} for line in page.facts]}
            for page in review.students
        ],
        "sit_beside": review.sit_beside,
        "totals": review.totals,
        "not_played": review.not_played,
        "absence": review.absence,
    }
    fields = {name: getattr(review, name) for name in ("period", "summary", "facts", "notes", "thresholds")}
    return environment.get_template("report.html.j2").render(
        review=fields | shown, title=title, with_class=_with_class(review), legend=_LEGEND,
        nobody=_nobody(review), played=_played(review), sure=_SURE, timed=_timed(review),
    )  # fmt: skip


def report_pdf(review: Review, *, title: str = TITLE, paper: Paper = "a4") -> bytes:
    """The report as a PDF, tagged for screen readers (PDF/UA-1), set in DejaVu Sans.

    A name with letters that DejaVu Sans lacks is shown without them; if none is left, by its pseudonym.

    Args:
        review: as :func:`~pyramid_lab.insight.review` gives it.
        title: of the report.
        paper: size of the page.
    """
    import typst

    found = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(_fonts())])
    with as_file(files("pyramid_lab.insight").joinpath("templates")) as templates:
        made = typst.Compiler(
            str(templates / "report.typ"),
            root=str(templates),
            font_paths=found,
            sys_inputs={"data": json.dumps(_for_paper(review, title, paper), ensure_ascii=False)},
        ).compile(format="pdf", pdf_standards="ua-1", timestamp=0)
    return cast(bytes, made)


def _with_class(review: Review) -> bool:
    return len(review.students) + len(review.not_played) > 1


def _nobody(review: Review) -> str:
    fast = bool(review.students) and all(line.band == "fast" for page in review.students for line in page.facts)
    return f"Nobody needs you more than the others yet: {'every pair is fast' if fast else 'too few tries to tell'}."


def _played(review: Review) -> str:
    """How many of the class list have played; empty where all have."""
    played, everyone = len(review.students), len(review.students) + len(review.not_played)
    return f"{played} of {everyone} students have played." if played < everyone else ""


def _timed(review: Review) -> str:
    return TIMED_TRIES.format(last=review.thresholds.bands.last_tries)


def _short(band: str) -> str:
    return _SHORT.get(band, band)


def _data_uri(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}"


def _for_paper(review: Review, title: str, paper: Paper) -> dict[str, Any]:
    settings = review.thresholds
    with_class = _with_class(review)
    level = round(100 * settings.interval.level)
    return {
        "title": printable(title, TITLE),
        "paper": paper,
        "audience": "For the tutor; please do not show the class page to students." if with_class else "For the tutor.",
        "period": review.period,
        "summary": review.summary,
        "with_class": with_class,
        "legend": _LEGEND,
        "absence": review.absence,
        "not_played": [printable(name, student) for student, name in review.not_played],
        "nobody": _nobody(review),
        "played": _played(review),
        "sure": _SURE,
        "timed": _timed(review),
        "facts": review.facts,
        "totals": review.totals,
        "beside": [
            {"name": printable(page.name, page.student_id), "why": why, "do": page.next_step.do}
            for page, why in review.sit_beside
        ],
        "students": [_student(page) for page in review.students],
        "reading": [
            "Fact time is the time for the sum alone: what is left of the response time when the time to find and "
            "touch cards, known from the Kings, is taken off.",
            f"Fast is a fact time up to {settings.bands.fast_s:g} s and at least "
            f"{100 * settings.bands.min_accuracy:.0f} % right; slow is above {settings.bands.slow_s:g} s; between is "
            f"working it out. Fewer than {settings.bands.min_tries} tries say nothing yet. With A+Q, 2+J and 3+10, "
            "counting quickly and knowing look the same.",
            f'{_SURE} "Likely" and the ranges in brackets are {level} % intervals.',
            f"Timed beside a pair: {_timed(review)}. Right and wrong are counted over the same stretch, so there can "
            "be more of them.",
            "Blocked tries (a card that was not free) and misclicks are not wrong sums. Turning a card although a pair "
            "was there is not always a mistake.",
            *review.notes,
        ],
    }


def _student(page: StudentPage) -> Mapping[str, Any]:
    return {
        "name": printable(page.name, page.student_id),
        "played": page.played,
        "headline": page.headline,
        "facts": [asdict(line) | {"short": _short(line.band)} for line in page.facts],
        "next": asdict(page.next_step),
        "counting": page.counting,
        "wrong_pair": page.wrong_pair,
        "flexibility": page.flexibility or ("Nothing to say yet.",),
        "growth": page.growth,
        "left_out": page.left_out,
        "fact_picture": page.fact_picture and asdict(page.fact_picture),
        "growth_picture": page.growth_picture and asdict(page.growth_picture),
    }


def printable(text: str, instead: str) -> str:
    """The text without letters that the PDF's type lacks; ``instead`` if none is left."""
    kept = " ".join("".join(sign for sign in text if ord(sign) in _letters()).split())
    return kept or instead


def _fonts() -> Path:
    """The folder of DejaVu Sans that matplotlib brings, which :func:`matplotlib.get_data_path` tells as well, but only
    after a third of a second of loading."""
    package = find_spec("matplotlib")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("matplotlib is not installed; its type is needed for a PDF", name="matplotlib")
    return Path(package.origin).parent / "mpl-data" / "fonts" / "ttf"


@cache
def _letters() -> frozenset[int]:
    from fontTools.ttLib import TTFont

    with TTFont(_fonts() / "DejaVuSans-Bold.ttf", lazy=True) as font:
        return frozenset(font.getBestCmap())
