"""What the log says, in words: a page for the class and one for each student, every claim with how sure it is."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

import pandas as pd

from pyramid_lab.insight.cleaning import clean, in_order, latest, main_target
from pyramid_lab.insight.errors import error_counts, pair_names, wrong_pairs
from pyramid_lab.insight.flexibility import Judge, breadth, choice_points, missed_pairs, order_use, planning
from pyramid_lab.insight.plots import Picture, fact_time_picture, growth_picture
from pyramid_lab.insight.practice import accuracy, growth, local_times, rate, weekly
from pyramid_lab.insight.speed import bands, counting_slope, fact_times, own_times
from pyramid_lab.insight.state import fact_states, states_now
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.tries import LEFT_OUT
from pyramid_lab.log.events import facts_to

Progress = Callable[[int, int, str], None]
"""Told after each step: steps done, steps in all, what was done."""

SIGNS: Final = {"fast": "●", "working it out": "◐", "slow": "○", "too few tries": "–"}
"""A sign for each band, so that colour is never alone."""

_HABITS: Final = ("face_as_ten", "ace_as_eleven", "king_paired", "make_ten")
# The frames that a student's page is made from.
_PAGE: Final = (
    "tries", "bands", "counting", "weekly", "growth", "errors", "wrong_pairs", "rate", "breadth", "missed", "choices",
    "order", "planning",
)  # fmt: skip


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
    """The one thing to do next: what, why, and the tries that speak for it."""

    do: str
    why: str
    facts: tuple[str, ...] = ()
    evidence: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class StudentPage:
    """What the log says of one student."""

    student_id: str
    name: str
    anchor: str
    played: str
    headline: str
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
        totals: for each pair, in words, how many of the class have it fast; empty for a small class.
        facts: the pairs.
        notes: what was left out of the whole report.
        frames: the measures' frames by name, for a notebook.
    """

    students: tuple[StudentPage, ...]
    period: str
    summary: str
    sit_beside: tuple[tuple[StudentPage, str], ...]
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
    progress: Progress | None = None,
) -> Review:
    """Read a log.

    Args:
        events: everything that was logged, rows with the columns of an event, as :func:`pyramid_lab.log.frames.events`
            gives them.
        names: name by pseudonym; students without one are shown by their pseudonym.
        thresholds: what counts as fast, few and sure.
        judge: judges moves by whether the game could still be won; see :func:`~pyramid_lab.insight.solver_judge`.
        students: pseudonyms to show; everyone by default. Somebody who is listed and has not played gets a page too.
        progress: told after each step.

    Raises:
        MissingColumnError: a column that is needed is not there.
    """
    return _Reading(events, names or {}, thresholds or Thresholds.default(), judge, students, progress).review()


class _Reading:
    """One pass over a log: all frames first, then a page for each student."""

    def __init__(
        self, events: pd.DataFrame, names: Mapping[str, str], thresholds: Thresholds, judge: Judge | None,
        students: Iterable[str] | None, progress: Progress | None,
    ) -> None:  # fmt: skip
        self.thresholds = thresholds
        self.progress = progress or (lambda done, total, what: None)
        rows = in_order(events)
        listed = None if students is None else sorted(set(students))
        if listed is not None:
            rows = in_order(rows[rows["student_id"].isin(listed)])
        self.rows = rows
        self.students = [str(name) for name in rows["student_id"].drop_duplicates()] if listed is None else listed
        self.names = _told_apart(self.students, names)
        self.target = main_target(rows)
        self.facts = facts_to(self.target)[:-1]
        self.done, self.total = 0, 4 + len(self.students)
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
        found = {
            "tries": tries,
            "own": own,
            "bands": bands(times, accuracy(now, chosen), chosen),
            "states": fact_states(own, chosen),
            "counting": counting_slope(latest(own, chosen.bands.last_tries), chosen),
        }
        self._step("speed measured")
        found["weekly"], found["growth"] = weekly(own, chosen), growth(own, chosen)
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
        parts = {name: _by_student(self.frames[name]) for name in _PAGE}
        parts["rows"] = _by_student(self.rows)
        parts["now"] = _by_student(states_now(self.frames["states"]))
        pages = []
        for number, student in enumerate(self.students, start=1):
            mine = {name: group.get(student, self._empty(name)) for name, group in parts.items()}
            pages.append(_Student(self, student, number, mine).page())
            self._step(f"page of {self.names[student]}")
        pages.sort(key=lambda page: (-page.need, page.name))
        return Review(
            students=tuple(pages),
            period=self._period(),
            summary=self._summary(),
            sit_beside=self._sit_beside(pages),
            totals=self._totals(pages),
            facts=self.facts,
            notes=self._notes(),
            thresholds=self.thresholds,
            frames=self.frames,
        )

    def _empty(self, name: str) -> pd.DataFrame:
        if name == "rows":
            return self.rows.iloc[:0]
        return self.frames["states" if name == "now" else name].iloc[:0]

    def _period(self) -> str:
        days = self.local(self.rows)
        if days.empty:
            return "no games yet"
        first, last = days.min(), days.max()
        return _day(first) if first.date() == last.date() else f"{_day(first)} to {_day(last)}"

    def local(self, rows: pd.DataFrame) -> pd.Series:
        known = rows[rows["t_utc"].notna()]
        return local_times(known["t_utc"], known["tz"])

    def _summary(self) -> str:
        games = self.rows.loc[self.rows["game_id"] != "", "game_id"].nunique()
        tries, own = self.frames["tries"], self.frames["own"]
        return (
            f"{_count(len(self.students), 'student')}, {_count(games, 'game')}, {_count(len(tries), 'try', 'tries')}, "
            f"{_count(int(own['speed_s'].notna().sum()), 'of them timed', 'of them timed')}"
        )

    def _sit_beside(self, pages: list[StudentPage]) -> tuple[tuple[StudentPage, str], ...]:
        ready = [page for page in pages if page.need > 0 and any(line.band != "too few tries" for line in page.facts)]
        return tuple((page, page.headline) for page in ready[: self.thresholds.report.sit_beside])

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

    def __init__(self, reading: _Reading, student: str, number: int, mine: Mapping[str, pd.DataFrame]) -> None:
        self.reading, self.student, self.mine, self.number = reading, student, mine, number
        self.thresholds = reading.thresholds
        self.table = mine["bands"].set_index("fact")
        now = mine["now"].set_index("fact")
        self.p_fast: dict[str, float] = {
            str(fact): float(value) for fact, value in now["p_fast"].items() if pd.notna(value)
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
            facts=self.lines,
            left_out=self._left_out(),
            counting=self._counting(),
            wrong_pair=self._wrong_pair(),
            growth=self._growth(),
            flexibility=self._flexibility(),
            next_step=step,
            need=self._need(habit),
            fact_picture=fact_time_picture(self.mine["bands"], self.thresholds),
            growth_picture=growth_picture(self.mine["weekly"], self.mine["growth"], self.reading.facts),
        )

    def _row(self, fact: str) -> dict[str, Any]:
        """The row of a fact in the table, by column."""
        return {str(name): value for name, value in self.table.loc[fact].items()}

    def _line(self, fact: str) -> FactLine:
        settings = self.thresholds.bands
        if fact not in self.table.index:
            games = -(-settings.min_tries // settings.tries_per_game)
            return FactLine(
                fact, "too few tries", SIGNS["too few tries"], "few", 0, "", "", "not tried yet",
                f"about {_count(int(games), 'more game', 'more games')}",
            )  # fmt: skip
        row = self._row(fact)
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

    def _note(self, fact: str, row: dict[str, Any], band: str, n: int) -> str:
        settings = self.thresholds.bands
        if band == "too few tries":
            if n < settings.min_tries:
                return f"about {_count(int(row['more_games']), 'more game', 'more games')}"
            return "needs more Kings to tell finding from knowing"
        if band == "working it out" and row["fact_time_s"] <= settings.fast_s:
            return "quick, but not right often enough"
        if band == "fast":
            return f"{sure_word(self.p_fast.get(fact, 0.0))} fast now"
        return f"{sure_word(float(row['sure']))} so"

    def _with_band(self, band: str) -> list[str]:
        facts = [line.fact for line in self.lines if line.band == band]
        return sorted(facts, key=lambda fact: -float(self._row(fact)["fact_time_s"])) if band == "slow" else facts

    def _played(self) -> str:
        rate_rows = self.mine["rate"]
        if rate_rows.empty:
            return "Has not played yet."
        games, minutes = int(rate_rows["games"].sum()), float(rate_rows["active_min"].sum())
        days = self.reading.local(self.mine["rows"])
        when = "" if days.empty else f", last on {_day(days.max())}"
        return (
            f"{_count(games, 'game')} in {_count(len(rate_rows), 'sitting')}, {_minutes(minutes)}{when}.{self._pace()}"
        )

    def _pace(self) -> str:
        rates = self.mine["rate"].dropna(subset=["per_min"])
        rates = rates[rates["active_min"] >= 1]
        if len(rates) < 2:
            return ""
        first, last = float(rates["per_min"].iloc[0]), float(rates["per_min"].iloc[-1])
        return f" Right discards a minute: {first:.1f} in the first sitting, {last:.1f} in the last."

    def _left_out(self) -> str:
        tries = self.mine["tries"]
        if tries.empty:
            return ""
        counts = tries["left_out"].value_counts()
        timed = int(counts.get("", 0))
        others = [f"{int(count)} {LEFT_OUT[str(name)]}" for name, count in counts.items() if name]
        cut = int(tries["winsorised"].sum())
        more = f" {_count(cut, 'very long time')} shortened." if cut else ""
        why = f" Left out of speed: {'; '.join(others)}." if others else ""
        return f"{timed} of {_count(len(tries), 'try', 'tries')} timed.{why}{more}"

    def _counting(self) -> str:
        rows = self.mine["counting"]
        if rows.empty or rows["reading"].iloc[0] == "too few tries":
            need = self.thresholds.bands.min_tries
            return f"Too few tries to see whether facts are counted: at least {need} each at four pairs are needed."
        row = rows.iloc[0]
        numbers = (
            f"{row['slope_s']:+.2f} s for each step of the smaller addend, 90 % interval {row['low_s']:+.2f} to "
            f"{row['high_s']:+.2f}, n = {int(row['n'])}"
        )
        if row["reading"] == "counting on":
            word = sure_word(0.95 if row["low_s"] >= self.thresholds.counting.step_s else 0.8)
            return f"{_capital(word)} counts on: the larger the smaller addend, the longer it takes ({numbers})."
        if row["reading"] == "knowing":
            return f"No sign of counting on: a larger addend hardly takes longer ({numbers})."
        return f"Counting on can be neither seen nor ruled out yet ({numbers})."

    def _wrong_pair(self) -> str:
        pairs = self.mine["wrong_pairs"]
        wrong = int(pairs["n"].sum()) if len(pairs) else 0
        if not wrong:
            n = int(self.mine["tries"]["right"].notna().sum())
            return f"No wrong sum in {_count(n, 'try', 'tries')}." if n else "No tries yet."
        row = pairs.iloc[0]
        if int(row["n"]) == 1:
            return f"{_count(wrong, 'wrong sum')}, none of them twice."
        often = f"{row['pair']} (makes {int(row['total'])}), {int(row['n'])} of {_count(wrong, 'wrong sum')}"
        word = "probably" if int(row["n"]) >= self.thresholds.report.habit_times else "perhaps"
        return f"Most often {often}; {word} {row['reason']}."

    def _habit(self) -> tuple[str, str, pd.DataFrame] | None:
        """A wrong sum that comes back: error class, words, and its tries; ``None`` if there is none."""
        times = self.thresholds.report.habit_times
        tries = self.mine["tries"]
        wrong = tries[(tries["outcome"] == "incorrect") & (tries["error_class"] != "misclick")]
        for name in _HABITS:
            rows = wrong[wrong["error_class"] == name]
            # Old habits that are gone are no habits: one of the last wrong sums must still be of this kind.
            often = len(rows) >= times and len(rows) >= self.thresholds.report.habit_share * len(wrong)
            if often and name in set(wrong["error_class"].tail(2 * times)):
                reason = self.mine["errors"].set_index("error_class")["reason"].to_dict()[name]
                return name, f"{len(rows)} of {len(wrong)} wrong sums look alike: {reason}", rows
        pairs = self.mine["wrong_pairs"]
        if (
            len(pairs)
            and int(pairs["n"].iloc[0]) >= times
            and int(pairs["n"].iloc[0]) >= self.thresholds.report.habit_share * len(wrong)
        ):
            row = pairs.iloc[0]
            same = wrong[pair_names(wrong) == row["pair"]]
            return str(row["error_class"]), f"{row['pair']} was tried {int(row['n'])} times", same
        return None

    def _next_step(self, habit: tuple[str, str, pd.DataFrame] | None) -> NextStep:
        texts = advice()
        tries = self.mine["tries"]
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
                return NextStep(do, f"{why}.", chosen, self._evidence(tries[tries["fact"].isin(chosen)]))
        few = self._with_band("too few tries")
        if few:
            return self._more_games(few)
        missed = self.mine["missed"]
        if len(missed) and float(missed["low"].iloc[0]) >= self.thresholds.report.missed_share:
            row = missed.iloc[0]
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
            int(self._row(fact)["more_games"]) if fact in self.table.index
            else int(-(-settings.bands.min_tries // settings.bands.tries_per_game))
            for fact in few
        ]  # fmt: skip
        games = max([1, *missing])
        timed = int(self.mine["tries"]["speed_s"].notna().sum())
        alone = self.mine["tries"]["fact"] == facts_to(self.reading.target)[-1]
        kings = int((self.mine["tries"]["speed_s"].notna() & alone).sum())
        need = settings.fact_time
        why = f"Too few tries at {_listed(few)}" if len(few) < len(self.lines) else "Too few tries so far"
        if timed < need.min_discards or kings < need.min_kings:
            why += f" ({timed} timed, {_count(kings, 'King')}; {need.min_discards} and {need.min_kings} are needed)"
        do = advice()["steps"]["start"].format(games=_count(games, "more game", "more games"))
        return NextStep(do, f"{why}.", tuple(few[:2]))

    def _why(self, fact: str, word: str) -> str:
        row = self._row(fact)
        sure = f"{sure_word(float(row['sure']))} " if pd.notna(row["sure"]) else ""
        accuracy_part = f"{int(row['n_right'])} of {int(row['n_accuracy'])} right"
        return (
            f"{fact} is {sure}{word}: {max(float(row['fact_time_s']), 0):.1f} s "
            f"({max(float(row['low_s']), 0):.1f} to {max(float(row['high_s']), 0):.1f}), {accuracy_part}, "
            f"{_count(int(row['n']), 'timed try', 'timed tries')}"
        )

    def _evidence(self, rows: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
        """The last tries as (day and time, cards, what came of it, response time)."""
        shown = rows[rows["t_utc"].notna()].tail(self.thresholds.report.evidence_rows)
        when = local_times(shown["t_utc"], shown["tz"])
        return tuple(
            (
                f"{moment.day} {moment:%b, %H:%M}",
                _cards(row),
                _came_of(row),
                f"{row['rt_s']:.1f} s" if pd.notna(row["rt_s"]) else "no time",
            )
            for moment, (_, row) in zip(when, shown.iterrows(), strict=True)
        )

    def _headline(self, habit: tuple[str, str, pd.DataFrame] | None) -> str:
        slow, working, fast = (self._with_band(band) for band in ("slow", "working it out", "fast"))
        parts = []
        if habit is not None:
            parts.append(habit[1])
        if slow:
            parts.append(f"{_listed(slow)} slow")
        if working:
            parts.append(f"{_listed(working)} being worked out")
        if fast:
            parts.append(f"{_listed(fast)} fast" if len(fast) < len(self.lines) else "every pair fast")
        if not parts:
            return "Too few tries to say anything yet."
        return f"{_capital('; '.join(parts))}."

    def _growth(self) -> tuple[str, ...]:
        rows = self.mine["growth"]
        claimed = rows[rows["reading"].isin(("quicker", "slower"))]
        if rows.empty or rows["reading"].eq("too few weeks").all():
            return (f"Growth shows after {self.thresholds.growth.min_weeks} weeks with tries.",)
        lines = [
            f"{row.fact} becomes {row.reading}: {_change(row.change)} a week (90 % interval {_change(row.low)} to "
            f"{_change(row.high)}, n = {row.n} in {row.weeks} weeks)."
            for row in cast("Iterable[Any]", claimed.itertuples())
        ]
        rest = [str(row.fact) for row in rows.itertuples() if row.reading == "no clear change"]
        if rest:
            lines.append(f"No clear change of {_listed(rest)}.")
        return tuple(lines)

    def _flexibility(self) -> tuple[str, ...]:
        return tuple(
            line
            for line in (self._breadth(), self._missed(), self._adaptive(), self._planning(), self._order())
            if line
        )

    def _breadth(self) -> str:
        rows = self.mine["breadth"]
        rows = rows[(rows["fact"].isin(self.reading.facts)) & (rows["offered"] >= self.thresholds.bands.min_tries)]
        if rows.empty:
            return "Too few positions to say anything about choices."
        ordered = rows.sort_values("share", kind="stable")
        least, most = ordered.iloc[0], ordered.iloc[-1]
        if least["high"] < most["low"]:
            return (
                f"Takes {most['fact']} when it is there ({_percent(most['share'])} of {int(most['offered'])} times), "
                f"{least['fact']} less often ({_percent(least['share'])} of {int(least['offered'])})."
            )
        return f"Takes all pairs about equally often when they are there ({int(rows['offered'].sum())} offers)."

    def _missed(self) -> str:
        rows = self.mine["missed"]
        if rows.empty or int(rows["chances"].iloc[0]) < self.thresholds.bands.min_tries:
            return ""
        row = rows.iloc[0]
        line = (
            f"Turned a card {_times(int(row['missed']))} although a discard was there, in {int(row['chances'])} such "
            f"positions (likely {_percent(row['low'])} to {_percent(row['high'])} of the time)"
        )
        if int(row["judged"]):
            line += (
                f"; of {int(row['judged'])} looked into, {int(row['lost'])} gave a winnable game away, "
                f"{int(row['kept']) + int(row['nothing_to_lose'])} did no harm"
            )
        return f"{line}."

    def _adaptive(self) -> str:
        rows = self.mine["choices"]
        if rows.empty or int(rows["n"].iloc[0]) < self.thresholds.bands.min_tries:
            return ""
        row = rows.iloc[0]
        numbers = (
            f"{_percent(row['observed'])} against {_percent(row['chance'])} by chance, n = {int(row['n'])} choices"
        )
        if row["low"] > 0:
            return f"Looks ahead: takes the discard that uncovers most oftener than chance ({numbers})."
        if row["high"] < 0:
            return f"Takes the discard that uncovers most less often than chance ({numbers})."
        return f"No sign yet of choosing what uncovers most ({numbers})."

    def _planning(self) -> str:
        rows = self.mine["planning"]
        if rows.empty or not int(rows["judged"].iloc[0]):
            return ""
        row = rows.iloc[0]
        at_stake = int(row["kept"]) + int(row["lost"])
        if not at_stake:
            return ""
        discards = f"{at_stake} {'discard' if at_stake == 1 else 'discards'}"
        return f"Of {discards} while the game could be won, {int(row['lost'])} gave it away."

    def _order(self) -> str:
        rows = self.mine["order"]
        if rows.empty or int(rows["n"].iloc[0]) < self.thresholds.bands.min_tries:
            return ""
        row = rows.iloc[0]
        if row["low"] > 0.5 or row["high"] < 0.5:
            which = "smaller" if row["low"] > 0.5 else "larger"
            share = row["smaller_first"] if which == "smaller" else 1 - row["smaller_first"]
            return f"Mostly begins with the {which} card ({_percent(share)} of {int(row['n'])} pairs)."
        return ""

    def _need(self, habit: tuple[str, str, pd.DataFrame] | None) -> float:
        weights = self.thresholds.report
        each = {"slow": weights.need_slow, "working it out": weights.need_working, "too few tries": weights.need_few}
        return sum(each.get(line.band, 0.0) for line in self.lines) + (weights.need_habit if habit else 0.0)


def _by_student(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each student; in every frame they stand together, so that none is copied."""
    return {str(name): frame.iloc[at[0] : at[-1] + 1] for name, at in frame.groupby("student_id").indices.items()}


def _told_apart(students: list[str], names: Mapping[str, str]) -> dict[str, str]:
    """A name for everyone, in one line; those who share one get their pseudonym too."""
    shown = {student: " ".join(str(names.get(student) or "").split()) or student for student in students}
    often = pd.Series(list(shown.values()), dtype=object).value_counts()
    return {student: name if often[name] == 1 else f"{name} ({student})" for student, name in shown.items()}


def _cards(row: pd.Series[Any]) -> str:
    cards = [str(row[name]) for name in ("first_card", "second_card") if isinstance(row[name], str)]
    if cards:
        return " + ".join(card.replace("T", "10").translate(_SUITS) for card in cards)
    return str(row["fact"])


_SUITS: Final = str.maketrans({"c": "♣", "d": "♦", "h": "♥", "s": "♠"})


def _came_of(row: pd.Series[Any]) -> str:
    if row["outcome"] == "correct":
        return "right"
    if row["outcome"] == "blocked":
        return "not free"
    return f"makes {row['total']:.0f}" if pd.notna(row["total"]) else "wrong"


def _css(band: str) -> str:
    return {"fast": "fast", "working it out": "working", "slow": "slow"}.get(band, "few")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}".replace(",", "\u00a0")


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _change(share: float) -> str:
    return f"{100 * share:+.0f} %"


def _minutes(minutes: float) -> str:
    if minutes < 1:
        return "less than a minute at it"
    return f"{minutes:.0f} {'minute' if round(minutes) == 1 else 'minutes'} at it"


def _day(moment: pd.Timestamp) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _listed(words: Iterable[str]) -> str:
    items = list(words)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
