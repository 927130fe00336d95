"""What the log says, in words: a page for the class and one for each student, every claim with how sure it is."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import betainc

from pyramid_lab.insight.cleaning import clean, in_order, latest, main_target
from pyramid_lab.insight.errors import error_counts, pair_names, wrong_pairs
from pyramid_lab.insight.flexibility import Judge, breadth, choice_points, missed_pairs, order_use, planning
from pyramid_lab.insight.pictures import Picture, begun
from pyramid_lab.insight.practice import accuracy, growth, local_times, rate, weekly
from pyramid_lab.insight.speed import bands, counting_slope, fact_times, own_times
from pyramid_lab.insight.state import fact_states, states_now
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.tries import LEFT_OUT
from pyramid_lab.log.events import facts_to

_Row = Mapping[Hashable, Any]

Progress = Callable[[int, int, str], None]
"""Told after each step: steps done, steps in all, what was done."""

SIGNS: Final = {"fast": "●", "working it out": "◐", "slow": "○", "too few tries": "–"}
"""A sign for each band, so that colour is never alone."""

_BAND_WORDS: Final = {"slow": "slow", "working it out": "being worked out", "fast": "fast"}
_HABITS: Final = ("face_as_ten", "ace_as_eleven", "king_paired", "make_ten")
# The frames that a student's page is made from, beside the tries; a student has a few rows in each.
_PAGE: Final = (
    "bands", "counting", "growth", "errors", "wrong_pairs", "rate", "breadth", "missed", "choices", "order", "planning",
)  # fmt: skip

# What is shown of a try, and what else a page asks of the tries.
_SHOWN: Final = ["t_utc", "tz", "first_card", "second_card", "fact", "outcome", "total", "rt_s"]
_OF_TRIES: Final = [
    "student_id", *_SHOWN, "error_class", "left_out", "right", "speed_s", "winsorised", "value_a", "value_b",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FactLine:
    """One pair of one student, in words; ``css`` is the band as a name for a style."""

    fact: str
    band: str
    sign: str
    css: str
    tries: int
    time: str
    interval: str
    right: str
    note: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """The one thing to do next: what, why, the tries that speak for it, and, for deals, how to come by them.

    ``how`` is a sentence that ends in the ``command`` that prints the deals; both are empty where none are advised.
    """

    do: str
    why: str
    facts: tuple[str, ...] = ()
    evidence: tuple[tuple[str, ...], ...] = ()
    how: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class StudentPage:
    """What the log says of one student; ``needs`` is the part of the headline that asks for a tutor, with its tries."""

    student_id: str
    name: str
    anchor: str
    played: str
    headline: str
    needs: str
    facts: tuple[FactLine, ...]
    left_out: str
    counting: str
    wrong_pair: str
    growth: tuple[str, ...]
    flexibility: tuple[str, ...]
    next_step: NextStep
    need: float
    fact_picture: Picture | None = None
    growth_picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that a report shows.

    Attributes:
        students: those who need it most first.
        period: first and last day.
        summary: what the log holds.
        sit_beside: students to sit beside today, and why.
        not_played: pseudonym and name of those on the class list who are not in the log.
        absence: what is said of them.
        totals: for each pair, in words, how many of the class have it fast; empty for a small class.
        facts: the pairs.
        notes: what was left out of the whole report.
        frames: the measures' frames by name, for a notebook.
    """

    students: tuple[StudentPage, ...]
    period: str
    summary: str
    sit_beside: tuple[tuple[StudentPage, str], ...]
    not_played: tuple[tuple[str, str], ...]
    absence: str
    totals: tuple[str, ...]
    facts: tuple[str, ...]
    notes: tuple[str, ...]
    thresholds: Thresholds
    frames: Mapping[str, pd.DataFrame] = field(repr=False)


@cache
def advice() -> Mapping[str, Mapping[str, str]]:
    """The texts of ``advice.toml``."""
    return tomllib.loads(files("pyramid_lab.insight").joinpath("advice.toml").read_text(encoding="utf-8"))


def sure_word(probability: float) -> str:
    """How sure a claim is, in a word: almost certainly (from 95 %), probably (from 80 %), perhaps."""
    return "almost certainly" if probability >= 0.95 else "probably" if probability >= 0.8 else "perhaps"


def review(
    events: pd.DataFrame,
    *,
    names: Mapping[str, str] | None = None,
    thresholds: Thresholds | None = None,
    judge: Judge | None = None,
    students: Iterable[str] | None = None,
    some_days: bool = False,
    progress: Progress | None = None,
    beside: Executor | None = None,
) -> Review:
    """Read a log.

    Args:
        events: everything that was logged, rows with the columns of an event, as :func:`pyramid_lab.log.frames.events`
            gives them.
        names: the class list, name by pseudonym; students without a name are shown by their pseudonym. Who is on the
            list and not in the log is named as not having played, unless ``students`` says whom to show.
        thresholds: what counts as fast, few and sure.
        judge: judges moves by whether the game could still be won; see :func:`~pyramid_lab.insight.solver_judge`.
        students: pseudonyms to show; everyone by default. Somebody who is listed and has not played gets a page too.
        some_days: the events are those of some days only, so that who is not in them may have played on others.
        progress: told after each step.
        beside: draws the pictures while the rest is measured, such as
            :func:`~pyramid_lab.insight.pictures.second_process`; without one they are drawn in turn.

    Raises:
        MissingColumnError: a column that is needed is not there.
    """
    chosen = thresholds or Thresholds.default()
    return _Reading(events, names or {}, chosen, judge, students, some_days, progress, beside).review()


class _Reading:
    """One pass over a log: all frames first, then a page for each student."""

    def __init__(
        self, events: pd.DataFrame, names: Mapping[str, str], thresholds: Thresholds, judge: Judge | None,
        students: Iterable[str] | None, some_days: bool, progress: Progress | None, beside: Executor | None,
    ) -> None:  # fmt: skip
        self.thresholds = thresholds
        self.when = "in these days" if some_days else "yet"
        self.progress = progress or (lambda done, total, what: None)
        self.beside = beside
        rows = in_order(events)
        listed = None if students is None else sorted(set(students))
        if listed is not None:
            rows = in_order(rows[rows["student_id"].isin(listed)])
        self.rows = rows
        self.students = [str(name) for name in rows["student_id"].drop_duplicates()] if listed is None else listed
        absent = [] if listed is not None else sorted(set(names) - set(self.students))
        self.names = _told_apart([*self.students, *absent], names)
        self.not_played = tuple((who, self.names[who]) for who in sorted(absent, key=lambda who: self.names[who]))
        self.target = main_target(rows)
        self.facts = facts_to(self.target)[:-1]
        known = rows[["student_id", "t_utc", "tz"]][rows["t_utc"].notna()]
        self.played_at = local_times(known["t_utc"], known["tz"])
        last = self.played_at.groupby(known["student_id"], observed=True).max()
        self.last_played: dict[str, pd.Timestamp] = {str(student): moment for student, moment in last.items()}
        self.done, self.total = 0, 4 + len(self.students)
        self.fact_pictures: dict[str, Callable[[], Picture | None]] = {}
        self.growth_pictures: dict[str, Callable[[], Picture | None]] = {}
        self.frames = self._measured(judge)

    def _step(self, what: str) -> None:
        self.done += 1
        self.progress(self.done, self.total, what)

    def _measured(self, judge: Judge | None) -> dict[str, pd.DataFrame]:
        chosen, rows = self.thresholds, self.rows
        tries = clean(rows, chosen, target=self.target)
        self._step("tries cleaned")
        own = own_times(tries, chosen)
        now = latest(tries, chosen.bands.last_tries)
        times = fact_times(now, chosen)
        found = {"tries": tries, "own": own, "bands": bands(times, accuracy(now, chosen), chosen)}
        for student, mine in _by_student(found["bands"]).items():
            self.fact_pictures[student] = begun(self.beside, "fact_time_picture", mine, chosen)
        found["states"] = fact_states(own, chosen)
        found["counting"] = counting_slope(latest(own, chosen.bands.last_tries), chosen)
        self._step("speed measured")
        found["weekly"], found["growth"] = weekly(own, chosen), growth(own, chosen)
        changes = _by_student(found["growth"])
        for student, mine in _by_student(found["weekly"]).items():
            self.growth_pictures[student] = begun(self.beside, "growth_picture", mine, changes[student], self.facts)
        found["errors"], found["wrong_pairs"] = error_counts(tries, chosen), wrong_pairs(tries, chosen)
        found["rate"] = rate(rows, chosen)
        self._step("growth and errors measured")
        found["breadth"] = breadth(rows, chosen, target=self.target)
        found["missed"] = missed_pairs(rows, chosen, judge=judge)
        found["choices"] = choice_points(rows, chosen)
        found["order"] = order_use(tries, chosen)
        found["planning"] = planning(rows, own, chosen, judge=judge)
        self._step("flexibility measured")
        return found

    def review(self) -> Review:
        tables = {name: _rows_by_student(self.frames[name]) for name in _PAGE}
        tables["now"] = _rows_by_student(states_now(self.frames["states"]))
        every = self.frames["tries"][_OF_TRIES]
        tries = _by_student(every)
        pages = []
        for number, student in enumerate(self.students, start=1):
            mine = {name: rows.get(student, []) for name, rows in tables.items()}
            pages.append(_Student(self, student, number, tries.get(student, every.iloc[:0]), mine).page())
            self._step(f"page of {self.names[student]}")
        pages.sort(key=lambda page: (-page.need, page.name))
        return Review(
            students=tuple(pages),
            period=self._period(),
            summary=self._summary(),
            sit_beside=self._sit_beside(pages),
            not_played=self.not_played,
            absence=f"not played {self.when}",
            totals=self._totals(pages),
            facts=self.facts,
            notes=self._notes(),
            thresholds=self.thresholds,
            frames=self.frames,
        )

    def _period(self) -> str:
        days = self.played_at
        if days.empty:
            return "no games yet"
        first, last = days.min(), days.max()
        return _day(first) if first.date() == last.date() else f"{_day(first)} to {_day(last)}"

    def _summary(self) -> str:
        games = self.rows.loc[self.rows["game_id"] != "", "game_id"].nunique()
        tries, own = self.frames["tries"], self.frames["own"]
        absent = len(self.not_played)
        waiting = f" ({absent} {'has' if absent == 1 else 'have'} not played {self.when})" if absent else ""
        return (
            f"{_count(len(self.students) + absent, 'student')}{waiting}, {_count(games, 'game')}, "
            f"{_tries(len(tries))}, {_count(int(own['speed_s'].notna().sum()), 'of them timed', 'of them timed')}"
        )

    def _sit_beside(self, pages: list[StudentPage]) -> tuple[tuple[StudentPage, str], ...]:
        ready = [page for page in pages if page.need > 0 and any(line.band != "too few tries" for line in page.facts)]
        return tuple((page, page.needs) for page in ready[: self.thresholds.report.sit_beside])

    def _totals(self, pages: list[StudentPage]) -> tuple[str, ...]:
        told = []
        for at in range(len(self.facts)):
            lines = [page.facts[at] for page in pages if page.facts[at].band != "too few tries"]
            if len(lines) < self.thresholds.report.smallest_group:
                return ()
            told.append(f"{sum(line.band == 'fast' for line in lines)} of {len(lines)}")
        return tuple(told)

    def _notes(self) -> tuple[str, ...]:
        notes = []
        others = int((self.rows["event_type"] == "attempt").sum()) - len(self.frames["tries"])
        if others:
            notes.append(f"{_count(others, 'try', 'tries')} at other totals than {self.target} left out.")
        unknown = int(self.rows["t_utc"].isna().sum())
        if unknown:
            notes.append(f"{_count(unknown, 'row')} without a time left out of growth and minutes.")
        return tuple(notes)


class _Student:
    """The page of one student, from his or her rows of every frame."""

    def __init__(
        self, reading: _Reading, student: str, number: int, tries: pd.DataFrame, mine: Mapping[str, list[_Row]]
    ) -> None:
        self.reading, self.student, self.tries, self.mine, self.number = reading, student, tries, mine, number
        self.thresholds = reading.thresholds
        self.table = {str(row["fact"]): row for row in mine["bands"]}
        self.p_fast: dict[str, float] = {
            str(row["fact"]): float(row["p_fast"]) for row in mine["now"] if pd.notna(row["p_fast"])
        }
        self.lines = tuple(self._line(fact) for fact in reading.facts)

    def page(self) -> StudentPage:
        habit = self._habit()
        step = self._next_step(habit)
        return StudentPage(
            student_id=self.student,
            name=self.reading.names[self.student],
            anchor=f"student-{self.number}",
            played=self._played(),
            headline=self._headline(habit),
            needs=self._needs(habit),
            facts=self.lines,
            left_out=self._left_out(),
            counting=self._counting(),
            wrong_pair=self._wrong_pair(),
            growth=self._growth(),
            flexibility=self._flexibility(),
            next_step=step,
            need=self._need(habit),
            fact_picture=self.reading.fact_pictures.get(self.student, _no_picture)(),
            growth_picture=self.reading.growth_pictures.get(self.student, _no_picture)(),
        )

    def _line(self, fact: str) -> FactLine:
        settings = self.thresholds.bands
        if fact not in self.table:
            games = -(-settings.min_tries // settings.tries_per_game)
            return FactLine(
                fact, "too few tries", SIGNS["too few tries"], "few", 0, "", "", "not tried yet",
                f"about {_count(int(games), 'more game', 'more games')}",
            )  # fmt: skip
        row = self.table[fact]
        band, n = str(row["band"]), int(row["n"])
        time = interval = ""
        if pd.notna(row["fact_time_s"]):
            time = f"{max(row['fact_time_s'], 0):.1f} s"
            interval = f"{max(row['low_s'], 0):.1f} to {max(row['high_s'], 0):.1f} s"
        elif pd.notna(row["median_s"]):
            time, interval = f"{row['median_s']:.1f} s", "with finding the cards"
        right = "no right or wrong try"
        if pd.notna(row["n_accuracy"]):
            right = f"{int(row['n_right'])} of {int(row['n_accuracy'])} right"
        return FactLine(fact, band, SIGNS[band], _css(band), n, time, interval, right, self._note(fact, row, band, n))

    def _note(self, fact: str, row: _Row, band: str, n: int) -> str:
        settings = self.thresholds.bands
        if band == "too few tries":
            if n < settings.min_tries:
                return f"about {_count(int(row['more_games']), 'more game', 'more games')}"
            return "needs more Kings to tell finding from knowing"
        word = sure_word(self._sure(fact))
        if band == "working it out":
            quick = row["fact_time_s"] <= settings.fast_s
            return f"quick, but {word} not right often enough" if quick else f"{word} working it out"
        return f"{word} {'fast now' if band == 'fast' else band}"

    def _sure(self, fact: str) -> float:
        """How probable it is that a pair is in its band, by its time or, where that decides, by its accuracy."""
        settings, row = self.thresholds.bands, self.table[fact]
        if row["band"] == "fast":
            return self.p_fast.get(fact, 0.0)
        if row["band"] == "working it out" and row["fact_time_s"] <= settings.fast_s:
            wrong = row["n_accuracy"] - row["n_right"]
            return float(betainc(row["n_right"] + 1, wrong + 1, settings.min_accuracy))
        return float(row["sure"])

    def _with_band(self, band: str) -> list[str]:
        facts = [line.fact for line in self.lines if line.band == band]
        return sorted(facts, key=lambda fact: -float(self.table[fact]["fact_time_s"])) if band == "slow" else facts

    def _played(self) -> str:
        rate_rows = self.mine["rate"]
        if not rate_rows:
            return f"Has not played {self.reading.when}."
        games = int(sum(row["games"] for row in rate_rows))
        minutes = float(np.sum([row["active_min"] for row in rate_rows]))
        last = self.reading.last_played.get(self.student)
        when = "" if last is None else f", last on {_day(last)}"
        return (
            f"{_count(games, 'game')} in {_count(len(rate_rows), 'sitting')}, {_minutes(minutes)}{when}.{self._pace()}"
        )

    def _pace(self) -> str:
        rates = [row["per_min"] for row in self.mine["rate"] if pd.notna(row["per_min"]) and row["active_min"] >= 1]
        if len(rates) < 2:
            return ""
        first, last = rates[0], rates[-1]
        return f" Right discards a minute: {first:.1f} in the first sitting, {last:.1f} in the last."

    def _left_out(self) -> str:
        tries = self.tries
        if tries.empty:
            return ""
        counts = tries["left_out"].value_counts()
        timed = int(counts.get("", 0))
        others = [f"{LEFT_OUT[str(name)]} ({int(count)})" for name, count in counts.items() if name]
        cut = int(tries["winsorised"].sum())
        more = f" {_count(cut, 'very long time')} shortened." if cut else ""
        why = f" The others say nothing about speed: {'; '.join(others)}." if others else ""
        return f"{timed} of all {_tries(len(tries))} timed.{why}{more}"

    def _counting(self) -> str:
        rows = self.mine["counting"]
        if not rows or rows[0]["reading"] == "too few tries":
            need, at = self.thresholds.bands.min_tries, self.thresholds.counting.min_facts
            so_far = int(rows[0]["n_facts"]) if rows else 0
            have = _count(so_far, "pair has", "pairs have") if so_far else "no pair has"
            return (
                f"Too few tries to see whether sums are counted: that takes {need} timed tries at each of {at} pairs; "
                f"so far {have} them."
            )
        row = rows[0]
        facts = self.reading.facts
        numbers = (
            f"{row['slope_s']:+.2f} s each step from {facts[0]} to {facts[-1]}, likely {row['low_s']:+.2f} to "
            f"{row['high_s']:+.2f} s; {_timed(int(row['n']))}"
        )
        if row["reading"] == "counting on":
            word = sure_word(0.95 if row["low_s"] >= self.thresholds.counting.step_s else 0.8)
            return f"{_capital(word)} counts on: the more there is to count, the longer it takes ({numbers})."
        if row["reading"] == "knowing":
            return f"No sign of counting on: more to count hardly takes longer ({numbers})."
        return f"Counting on can be neither seen nor ruled out yet ({numbers})."

    def _wrong_pair(self) -> str:
        pairs = self.mine["wrong_pairs"]
        wrong = int(sum(row["n"] for row in pairs))
        n = int(self.tries["right"].notna().sum())
        if not wrong:
            return f"No wrong sum in {_tries(n)}." if n else "No tries yet."
        sums = f"{_count(wrong, 'wrong sum')} in {_tries(n)}"
        row = pairs[0]
        if int(row["n"]) == 1:
            few = wrong < self.thresholds.report.habit_times
            return f"{sums}{': too few to see a habit' if few else ', none twice: no sign of a habit'}."
        often = f"{row['pair']} (makes {int(row['total'])}), {int(row['n'])} of {sums}"
        word = "probably" if int(row["n"]) >= self.thresholds.report.habit_times else "perhaps"
        return f"Most often {often}; {word} {row['reason']}."

    def _habit(self) -> tuple[str, str, pd.DataFrame] | None:
        """A wrong sum that comes back: error class, words, and its tries; ``None`` if there is none."""
        times = self.thresholds.report.habit_times
        tries = self.tries
        wrong = tries[(tries["outcome"] == "incorrect") & (tries["error_class"] != "misclick")]
        for name in _HABITS:
            rows = wrong[wrong["error_class"] == name]
            # Old habits that are gone are no habits: one of the last wrong sums must still be of this kind.
            often = len(rows) >= times and len(rows) >= self.thresholds.report.habit_share * len(wrong)
            if often and name in set(wrong["error_class"].tail(2 * times)):
                reason = next(row["reason"] for row in self.mine["errors"] if row["error_class"] == name)
                return name, f"{len(rows)} of {len(wrong)} wrong sums look alike: probably {reason}", rows
        pairs = self.mine["wrong_pairs"]
        if pairs and int(pairs[0]["n"]) >= max(times, self.thresholds.report.habit_share * len(wrong)):
            row = pairs[0]
            same = wrong[pair_names(wrong) == row["pair"]]
            return str(row["error_class"]), f"{row['pair']} was tried {int(row['n'])} times", same
        return None

    def _next_step(self, habit: tuple[str, str, pd.DataFrame] | None) -> NextStep:
        texts = advice()
        tries = self.tries
        if habit is not None:
            name, words, rows = habit
            do = texts["errors"].get(name if self.reading.target == 13 else "other", texts["errors"]["other"])
            return NextStep(do, f"{_capital(words)}.", evidence=self._evidence(rows))
        slow, working = self._with_band("slow"), self._with_band("working it out")
        for facts, word in ((slow, "slow"), (working, "being worked out")):
            chosen = tuple(facts[:2])
            if chosen:
                why = "; ".join(self._why(fact, word) for fact in chosen)
                ask = texts["ask"].get(chosen[0], texts["ask"]["other"])
                do = f"{texts['steps']['deals'].format(facts=_listed(chosen))} {ask}"
                step = NextStep(do, f"{why}.", chosen, self._evidence(tries[tries["fact"].isin(chosen)]))
                if self.reading.target != 13:
                    return step  # the lessons' boards, and the rule sets that are printed by name, are all to 13
                command = texts["steps"]["command"].format(rich_in=" ".join(f"--rich-in {fact}" for fact in chosen))
                return replace(step, how=texts["steps"]["how"], command=command)
        few = self._with_band("too few tries")
        if few:
            return self._more_games(few)
        missed = self.mine["missed"]
        if missed and float(missed[0]["low"]) >= self.thresholds.report.missed_share:
            row = missed[0]
            return NextStep(
                texts["steps"]["missed"],
                f"A card was turned {int(row['missed'])} times in {int(row['chances'])} positions with a discard.",
            )
        return NextStep(
            texts["steps"]["fluent"], f"All {len(self.lines)} pairs are fast and right.", evidence=self._evidence(tries)
        )

    def _more_games(self, few: list[str]) -> NextStep:
        settings = self.thresholds
        missing = [
            int(self.table[fact]["more_games"]) if fact in self.table
            else int(-(-settings.bands.min_tries // settings.bands.tries_per_game))
            for fact in few
        ]  # fmt: skip
        games = max([1, *missing])
        timed = int(self.tries["speed_s"].notna().sum())
        alone = self.tries["fact"] == facts_to(self.reading.target)[-1]
        kings = int((self.tries["speed_s"].notna() & alone).sum())
        need = settings.fact_time
        why = f"Too few tries at {_listed(few)}" if len(few) < len(self.lines) else "Too few tries so far"
        if timed < need.min_discards or kings < need.min_kings:
            why += (
                f": {_timed(timed)}, {kings} of them {'a King' if kings == 1 else 'Kings'}. The time for a sum can be "
                f"told from {need.min_discards} on with {need.min_kings} Kings among them"
            )
        else:
            most = max(line.tries for line in self.lines if line.fact in few)
            why += f": no more than {_timed(most)} each, and {settings.bands.min_tries} are needed"
        do = advice()["steps"]["start"].format(games=_count(games, "more game", "more games"))
        return NextStep(do, f"{why}.", tuple(few[:2]))

    def _why(self, fact: str, word: str) -> str:
        row = self.table[fact]
        accuracy_part = f"{int(row['n_right'])} of {int(row['n_accuracy'])} right"
        return (
            f"{fact} is {sure_word(self._sure(fact))} {word}: {max(float(row['fact_time_s']), 0):.1f} s "
            f"(likely {max(float(row['low_s']), 0):.1f} to {max(float(row['high_s']), 0):.1f} s), {accuracy_part}, "
            f"{_timed(int(row['n']))}"
        )

    def _evidence(self, rows: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
        """The last tries as (day and time, cards, what came of it, response time)."""
        known = np.flatnonzero(rows["t_utc"].notna())
        shown = rows[_SHOWN].iloc[known[max(len(known) - self.thresholds.report.evidence_rows, 0) :]]
        when = local_times(shown["t_utc"], shown["tz"])
        return tuple(
            (
                f"{moment.day} {moment:%b, %H:%M}",
                _cards(row),
                _came_of(row),
                f"{row['rt_s']:.1f} s" if pd.notna(row["rt_s"]) else "no time",
            )
            for moment, row in zip(when, shown.to_dict("records"), strict=True)
        )

    def _headline(self, habit: tuple[str, str, pd.DataFrame] | None) -> str:
        parts = [habit[1]] if habit is not None else []
        for band, word in _BAND_WORDS.items():
            parts += [f"{_listed(facts)} {sure} {word}" for sure, facts in self._by_sureness(band)]
        if not parts:
            return "Too few tries to say anything yet."
        return f"{_capital('; '.join(parts))}."

    def _needs(self, habit: tuple[str, str, pd.DataFrame] | None) -> str:
        """What asks for a tutor, with how sure it is and the tries that it rests on."""
        parts = [habit[1]] if habit is not None else []
        for band in ("slow", "working it out"):
            for sure, facts in self._by_sureness(band):
                tries = sum(line.tries for line in self.lines if line.fact in facts)
                parts.append(f"{_listed(facts)} {sure} {_BAND_WORDS[band]} ({_timed(tries)})")
        few = self._with_band("too few tries")
        if few:
            parts.append(f"too few tries at {_listed(few)}")
        return f"{_capital('; '.join(parts))}." if parts else ""

    def _by_sureness(self, band: str) -> list[tuple[str, list[str]]]:
        """The pairs of a band, the surest first, under the word that says how sure."""
        words: dict[str, list[str]] = {sure_word(probability): [] for probability in (1.0, 0.9, 0.0)}
        for fact in self._with_band(band):
            words[sure_word(self._sure(fact))].append(fact)
        return [(word, facts) for word, facts in words.items() if facts]

    def _growth(self) -> tuple[str, ...]:
        rows = self.mine["growth"]
        if all(row["reading"] == "too few weeks" for row in rows):
            so_far = max((int(row["weeks"]) for row in rows), default=0)
            return (
                f"Growth can be told after {self.thresholds.growth.min_weeks} weeks with tries at a pair; so far there "
                f"{'is' if so_far == 1 else 'are'} {so_far or 'none'}.",
            )
        lines = [
            f"{row['fact']} {self._one_sided()} becomes {row['reading']}: {_change(row['change'])} time each week "
            f"(likely {_change(row['low'])} to {_change(row['high'])}; {_timed(int(row['n']))} in {row['weeks']} "
            "weeks)."
            for row in rows
            if row["reading"] in ("quicker", "slower")
        ]
        rest = [str(row["fact"]) for row in rows if row["reading"] == "no clear change"]
        if rest:
            lines.append(f"No clear change yet at {_listed(rest)}.")
        return tuple(lines)

    def _flexibility(self) -> tuple[str, ...]:
        return tuple(
            line
            for line in (self._breadth(), self._missed(), self._adaptive(), self._planning(), self._order())
            if line
        )

    def _breadth(self) -> str:
        least_offered = self.thresholds.bands.min_tries
        rows = [
            row for row in self.mine["breadth"] if row["fact"] in self.reading.facts and row["offered"] >= least_offered
        ]
        if not rows:
            return "Too few positions to say anything about choices."
        ordered = sorted(rows, key=lambda row: float(row["share"]))
        least, most = ordered[0], ordered[-1]
        if least["high"] < most["low"]:
            return (
                # Not surer: these two are the ends of six.
                f"Probably takes {least['fact']} less often when it is there ({_percent(least['share'])} of "
                f"{int(least['offered'])} times) than {most['fact']} ({_percent(most['share'])} of "
                f"{int(most['offered'])})."
            )
        offered = sum(int(row["offered"]) for row in rows)
        return f"No pair is clearly passed over more than another (one was there {offered} times)."

    def _one_sided(self) -> str:
        """How sure a claim is that rests on an interval which leaves out the contrary."""
        return sure_word((1 + self.thresholds.interval.level) / 2)

    def _missed(self) -> str:
        rows = self.mine["missed"]
        if not rows or int(rows[0]["chances"]) < self.thresholds.bands.min_tries:
            return ""
        row = rows[0]
        line = (
            f"In {int(row['chances'])} positions a pair or a King could go; in "
            f"{_none(int(row['missed']))} of them a card was turned instead (likely {_percent(row['low'])} to "
            f"{_percent(row['high'])} of the time)"
        )
        if int(row["judged"]):
            line += (
                f". Of {int(row['judged'])} that the solver looked into, {_none(int(row['lost']))} made a game "
                f"impossible to win, {_none(int(row['kept']) + int(row['nothing_to_lose']))} did no harm"
            )
        return f"{line}."

    def _adaptive(self) -> str:
        rows = self.mine["choices"]
        if not rows or int(rows[0]["n"]) < self.thresholds.bands.min_tries:
            return ""
        row = rows[0]
        word = _capital(self._one_sided())
        numbers = f"{_percent(row['observed'])} of {int(row['n'])} choices; by chance {_percent(row['chance'])}"
        if row["low"] > 0:
            return f"{word} looks ahead: takes what uncovers most more often than by chance ({numbers})."
        if row["high"] < 0:
            return f"{word} takes what uncovers most less often than by chance ({numbers})."
        return f"No sign yet of choosing what uncovers most ({numbers})."

    def _planning(self) -> str:
        rows = self.mine["planning"]
        if not rows or not int(rows[0]["judged"]):
            return ""
        row = rows[0]
        at_stake = int(row["kept"]) + int(row["lost"])
        if not at_stake:
            return ""
        discards = f"{at_stake} {'discard' if at_stake == 1 else 'discards'}"
        return f"Of {discards} while the game could be won, {_none(int(row['lost']))} made it impossible to win."

    def _order(self) -> str:
        rows = self.mine["order"]
        if not rows or int(rows[0]["n"]) < self.thresholds.bands.min_tries:
            return ""
        row = rows[0]
        if row["low"] > 0.5 or row["high"] < 0.5:
            which = "smaller" if row["low"] > 0.5 else "larger"
            share = row["smaller_first"] if which == "smaller" else 1 - row["smaller_first"]
            return (
                f"{_capital(self._one_sided())} begins with the {which} card more often than not ({_percent(share)} of "
                f"{int(row['n'])} pairs)."
            )
        return ""

    def _need(self, habit: tuple[str, str, pd.DataFrame] | None) -> float:
        weights = self.thresholds.report
        each = {"slow": weights.need_slow, "working it out": weights.need_working, "too few tries": weights.need_few}
        return sum(each.get(line.band, 0.0) for line in self.lines) + (weights.need_habit if habit else 0.0)


def _no_picture() -> None:
    return None


def _rows_by_student(frame: pd.DataFrame) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for row in frame.to_dict("records"):
        found.setdefault(str(row["student_id"]), []).append(row)
    return found


def _by_student(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each student; in every frame they stand together, so that none is copied."""
    return {
        str(name): frame.iloc[at[0] : at[-1] + 1]
        for name, at in frame.groupby("student_id", observed=True).indices.items()
    }


def _told_apart(students: list[str], names: Mapping[str, str]) -> dict[str, str]:
    """A name for everyone, in one line; those who share one get their pseudonym too."""
    shown = {student: " ".join(str(names.get(student) or "").split()) or student for student in students}
    often = pd.Series(list(shown.values()), dtype=object).value_counts()
    return {student: name if often[name] == 1 else f"{name} ({student})" for student, name in shown.items()}


def _cards(row: _Row) -> str:
    cards = [str(row[name]) for name in ("first_card", "second_card") if isinstance(row[name], str)]
    if cards:
        return " + ".join(card.replace("T", "10").translate(_SUITS) for card in cards)
    return str(row["fact"])


_SUITS: Final = str.maketrans({"c": "♣", "d": "♦", "h": "♥", "s": "♠"})


def _came_of(row: _Row) -> str:
    if row["outcome"] == "correct":
        return "right"
    if row["outcome"] == "blocked":
        return "not free"
    return f"makes {row['total']:.0f}" if pd.notna(row["total"]) else "wrong"


def _css(band: str) -> str:
    return {"fast": "fast", "working it out": "working", "slow": "slow"}.get(band, "few")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}".replace(",", "\u00a0")


def _tries(number: int) -> str:
    return _count(number, "try", "tries")


def _timed(number: int) -> str:
    return _count(number, "timed try", "timed tries")


def _none(number: int) -> str:
    return str(number or "none")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _change(share: float) -> str:
    return f"{100 * share:+.0f} %"


def _minutes(minutes: float) -> str:
    if minutes < 1:
        return "less than a minute of play"
    return f"{minutes:.0f} {'minute' if round(minutes) == 1 else 'minutes'} of play"


def _day(moment: pd.Timestamp) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _listed(words: Iterable[str]) -> str:
    items = list(words)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
