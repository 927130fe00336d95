"""What the lessons of the course call besides a board: flash rounds, a deal chosen for this child, pictures, odds and
the class's report.

Rooms that bring pandas load only in the calls that need them, so that a child's page stays small.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyramid_lab.board import Board
from pyramid_lab.board.flash import Flash
from pyramid_lab.core import Deal, Outcome, Position, rule_set
from pyramid_lab.core.rules import Rules
from pyramid_lab.lesson import (
    GOES_ON_FOR,
    SESSION_VARIABLE,
    STUDENT_VARIABLE,
    parted,
    play,
    session_of,
    shared_store,
    student_named,
)
from pyramid_lab.log.errors import StoreError
from pyramid_lab.log.events import Event, rules_text
from pyramid_lab.log.progress import PLAIN
from pyramid_lab.solver import RICH, CertifiedDeal, Unknown, Winnable, find_deals, solve

if TYPE_CHECKING:
    import pandas as pd
    from IPython.display import HTML

    from pyramid_lab.insight.wish import Wish

CHOICES: Final = 20
"""So many winnable deals are looked at to find a rich one."""

_SOLVE_S: Final = 0.5
_VERDICT_S: Final = 5.0
_PICTURE_SCALE: Final = 1.6
_NO_LIST: Final = (
    "<details><summary>For the tutor: does more than one child play on this computer?</summary>"
    "<p>If it is one child, all is well: go on.</p>"
    "<p>For more, make a list of names first. Without one, everybody's tries are kept together, as if one child had "
    "played, and the report cannot tell them apart. In the window in which you typed <code>pyramid-lab</code>, stop it "
    "with Ctrl+C and type, once for each child,</p>"
    "<pre>pyramid-lab student add Ada</pre>"
    "<p>or <code>pyramid-lab student import roster.csv</code> for a whole class. Then each lesson begins with the "
    "names to choose from, and this line is gone.</p></details>"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A deal chosen for a student.

    Attributes:
        certified: the deal, proved to be winnable, with a line.
        wish: the facts it was chosen for, and why.
    """

    certified: CertifiedDeal
    wish: Wish

    @property
    def reason(self) -> str:
        """Why this deal, for the child."""
        return self.wish.told(self.certified.facts)


def choose_deal(events: Sequence[Event], rules: Rules | str = "one-pass") -> Chosen:
    """A winnable deal that is rich in the facts that a student needs most, as the report would choose it.

    The facts are those of :func:`pyramid_lab.insight.wish.wish_for`. Of the certified deals of the next seeds the first
    that is rich in them is taken, else the richest of :data:`CHOICES`; how hard it is would take too long to measure
    while a child waits.

    Args:
        events: the student's log; the same log gives the same deal, and after another game it is another one.
        rules: the rule set or its name.

    Raises:
        ValueError: none of 5000 deals can be won under these rules.
    """
    # Here, since it brings numpy, which most lessons do without.
    from pyramid_lab.insight.wish import APART, TRIES, facts_now, wish_for

    chosen = rule_set(rules)
    wish = replace(wish_for(facts_now(events, chosen.target), chosen.target), difficulty=None)
    start = APART * (1 + len({event.game_id for event in events}))

    def poorest(deal: CertifiedDeal) -> int:
        return min((deal.facts.get(fact, 0) for fact in wish.rich_in), default=RICH)

    looked_at: list[CertifiedDeal] = []
    for deal in find_deals(chosen, CHOICES, start=start, tries=TRIES):
        if poorest(deal) >= RICH:
            return Chosen(deal, wish)
        looked_at.append(deal)
    if not looked_at:
        raise ValueError(f"none of {TRIES} deals can be won under {chosen.title}: choose other rules")
    # A short line makes no two facts four times: as often as possible the one that comes less, then both.
    return Chosen(max(looked_at, key=lambda deal: (poorest(deal), _made(deal, wish))), wish)


def _made(deal: CertifiedDeal, wish: Wish) -> int:
    return sum(deal.facts.get(fact, 0) for fact in wish.rich_in)


def _chosen_before(events: Sequence[Event], rules: Rules) -> Chosen | None:
    """The newest unfinished game of these rules, if it was chosen by :func:`choose_deal`, as it was chosen then."""
    last = {event.game_id: event.event_type for event in events}
    since, sitting = datetime.now(UTC) - GOES_ON_FOR, os.environ.get(SESSION_VARIABLE)
    text = rules_text(rules)
    for begun in reversed(events):
        if (
            begun.event_type == "deal"
            and begun.rule_set == text
            and last[begun.game_id] != "end"
            and (begun.t_utc >= since or begun.session_id == sitting)
        ):
            chosen = choose_deal([event for event in events if event.t_utc < begun.t_utc], rules)
            if chosen.certified.deal.text == begun.deal:
                return chosen
    return None


def play_next(
    rules: Rules | str = "one-pass", *, student: str | None = None, place: str | Path | None = None, **choices: Any
) -> Board:
    """A board with a deal chosen for the student (:func:`choose_deal`), and above it the reason in a sentence.

    A game of this kind that was begun and not ended goes on.

    Args:
        rules: the rule set or its name.
        student: the student's pseudonym; default ``$PYRAMID_LAB_STUDENT``, else ``guest``.
        place: path or URL of the log.
        choices: as for :func:`pyramid_lab.lesson.play`.
    """
    from IPython.display import HTML, display

    who = student_named(student)
    try:
        events = shared_store(place).events(student_id=who)
    except StoreError:
        events = []  # the game matters more than the choice
    modes, changes = parted(choices)
    played = rule_set(rules).replace(**changes)
    chosen = _chosen_before(events, played) or choose_deal(events, played)
    why = f"<details><summary>For the tutor: why</summary><p>{escape(chosen.wish.why)}</p></details>"
    if os.environ.get(SESSION_VARIABLE):
        why = ""  # a tablet of a class is the child's alone
    display(HTML(f"<p style='font-size:1.4em;line-height:1.5;max-width:33em'>{escape(chosen.reason)}</p>{why}"))
    return play(played, chosen.certified.deal, student=student, place=place, **modes)


def flash(
    count: int = 12,
    *,
    facts: Sequence[str] | None = None,
    target: int = 13,
    student: str | None = None,
    place: str | Path | None = None,
) -> Flash:
    """A flash round, "what goes with 8?", whose answers are logged.

    Args:
        count: cards in a round.
        facts: ask for these facts only, such as ``["5+8"]``; default: all.
        target: what two cards make, 10 to 13.
        student: the student's pseudonym; default ``$PYRAMID_LAB_STUDENT``, else ``guest``.
        place: path or URL of the log.

    Raises:
        ValueError, RulesError: an argument that cannot be, by name.
    """
    who, store = student_named(student), shared_store(place)
    return Flash(
        target=target,
        count=count,
        facts=facts,
        seed=lambda: random.SystemRandom().randrange(1_000_000),
        on_event=store.append,
        student_id=who,
        session_id=session_of(store, who),
    )


def picture(rules: Rules | str, deal: Deal | int, *, guided: bool = True, **changes: Any) -> HTML:
    """A pyramid to look at and talk about before it is played, in the child's size.

    Args:
        rules: the rule set or its name.
        deal: a deal or its seed.
        guided: dim the covered cards, as on a board; off: the child has to see which cards are free.
        changes: single rules, such as ``rows=4``.
    """
    from IPython.display import HTML

    from pyramid_lab.core.picture import pyramid_svg

    chosen = rule_set(rules).replace(**changes)
    start = Position.start(chosen, deal if isinstance(deal, Deal) else Deal.from_seed(deal, chosen.target))
    return HTML(pyramid_svg(start, guided=guided, scale=_PICTURE_SCALE))


def compare_rules(*names: str) -> HTML:
    """The rule sets beside each other in plain sentences, made from the rules themselves; what is the same for all of
    them is said once.

    Args:
        names: of rule sets; default: the five of the lessons.
    """
    from IPython.display import HTML

    columns = [rule_set(name) for name in names or ("classic", "one-pass", "cardems", "table", "three-pile")]
    lines = [one.describe() for one in columns]
    same = [line for line in lines[0] if all(line in others for others in lines)]
    heads = "".join(f"<th scope='col' style='text-align:left'>{escape(one.title)}</th>" for one in columns)
    cells = "".join(
        "<td style='vertical-align:top;text-align:left;white-space:normal'>"
        + _list(line for line in one if line not in same)
        + "</td>"
        for one in lines
    )
    return HTML(
        f"<div style='font-size:1.15em'><p><b>The same for all</b></p>{_list(same)}"
        f"<table style='font-size:1em'><caption>What differs</caption><tr>{heads}</tr><tr>{cells}</tr></table></div>"
    )


def _list(lines: Iterable[str]) -> str:
    return f"<ul style='padding-left:1.2em'>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def odds(rules: Rules | str = "one-pass", deals: int = 500, *, first_seed: int = 1) -> pd.DataFrame:
    """Whether deals can be won, one after another: the data of "can every deal be won?".

    Args:
        rules: the rule set or its name.
        deals: how many.
        first_seed: the first deal's seed.

    Returns:
        A row for each deal: ``seed``, ``answer`` (``winnable``, ``unwinnable`` or ``unknown``), ``moves`` (of the line
        that was found; NaN without one), ``n_decided``, ``n_winnable`` (up to here), ``share``, ``low``, ``high``
        (share of winnable deals among the decided ones so far, with a 90 % interval from a flat prior).
    """
    import pandas as pd
    from tqdm.auto import tqdm

    from pyramid_lab.insight.practice import share_interval

    chosen = rule_set(rules)
    rows: list[tuple[int, str, float]] = []
    # The bar stays when it is full: a page of Voila would show an error in the place of one that is gone.
    for seed in tqdm(range(first_seed, first_seed + deals), desc="Deals looked at:", bar_format=PLAIN, delay=1):
        answer = solve(Position.start(chosen, Deal.from_seed(seed, chosen.target)), max_seconds=_SOLVE_S)
        moves = float(len(answer.line)) if isinstance(answer, Winnable) else float("nan")
        word = (
            "winnable" if isinstance(answer, Winnable) else "unknown" if isinstance(answer, Unknown) else "unwinnable"
        )
        rows.append((seed, word, moves))
    table = pd.DataFrame(rows, columns=["seed", "answer", "moves"])
    table["n_decided"] = (table["answer"] != "unknown").cumsum()
    table["n_winnable"] = (table["answer"] == "winnable").cumsum()
    table["share"], table["low"], table["high"] = share_interval(table["n_winnable"], table["n_decided"])
    return table


def odds_table(table: pd.DataFrame, deals: int = 10) -> HTML:
    """The first deals one by one, in words; folded, so that a guess can come first.

    Args:
        table: as :func:`odds` gives it.
        deals: how many of its rows.
    """
    from IPython.display import HTML

    first = table.head(deals)
    answers = {"winnable": "yes", "unwinnable": "no", "unknown": "not known"}
    rows = "".join(
        f"<tr><th scope='row'>{row['seed']}</th><td style='text-align:left'>{answers[row['answer']]}</td>"
        f"<td>{int(row['moves']) if row['answer'] == 'winnable' else ''}</td>"
        f"<td>{row['n_winnable']} of {row['n_decided']}</td></tr>"
        for row in first.to_dict("records")
    )
    heads = "".join(
        f"<th scope='col'>{head}</th>"
        for head in ("Deal", "Can it be won?", "Moves of the way found", "Can be won so far")
    )
    return HTML(
        _folded(f"The first {len(first)} deals", f"<table style='font-size:1.15em'><tr>{heads}</tr>{rows}</table>")
    )


def odds_picture(table: pd.DataFrame, *, title: str = "") -> HTML:
    """The share of winnable deals as more and more deals are looked at, with its 90 % interval; says it in words too.
    Folded, so that a guess can come first.

    Args:
        table: as :func:`odds` gives it.
        title: above the picture.
    """
    import base64

    from IPython.display import HTML
    from matplotlib.figure import Figure

    last = table.iloc[-1]
    words = (
        f"{last['n_winnable']} of {last['n_decided']} deals can be won: about "
        f"{100 * last['n_winnable'] / last['n_decided']:.0f} of 100. With a chance of 90 % the true share lies between "
        f"{100 * last['low']:.1f} and {100 * last['high']:.1f} of 100."
    )
    undecided = len(table) - last["n_decided"]
    if undecided:
        words += f" {undecided} more took too long to find out."
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    deals = range(1, len(table) + 1)
    axes.fill_between(deals, 100 * table["low"], 100 * table["high"], color="#c9dcec", label="90 % interval")
    axes.plot(deals, 100 * table["share"], color="#1f4e79", label="share so far")
    axes.set_xlabel("deals looked at")
    axes.set_ylabel("can be won, of 100")
    axes.set_ylim(0, None)
    axes.set_title(title)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    data = base64.b64encode(out.getvalue()).decode("ascii")
    return HTML(
        _folded(
            f"{title}: what the computer found" if title else "What the computer found",
            f"<p style='font-size:1.2em'>{escape(words)}</p>"
            f"<p><img style='max-width:100%' src='data:image/png;base64,{data}' alt='{escape(words, quote=True)}'></p>",
        )
    )


def _folded(summary: str, html: str) -> str:
    """A line to press, in the child's size, and under it what it shows."""
    return (
        "<details><summary style='font-size:1.4em;line-height:1.5;padding:0.3em 0;cursor:pointer'>"
        f"<b>{escape(summary)}</b></summary>{html}</details>"
    )


def who_plays() -> Any:
    """The list of names to choose from; where there is none, a folded line that tells the tutor what that means.

    After Run All the page is brought back here. Nothing on a page of a class, which knows the child; no line where
    ``$PYRAMID_LAB_STUDENT`` names one. A board belongs to whoever is chosen when its cell is run.
    """
    from pyramid_lab.log.names import Names
    from pyramid_lab.picker import LessonStart, pick_student

    if os.environ.get(SESSION_VARIABLE):
        return None
    playing = os.environ.get(STUDENT_VARIABLE)
    if not Names.of(shared_store()).people():
        return LessonStart("" if playing else _NO_LIST)
    picker = pick_student()
    picker.keep(playing)
    picker.children = (*picker.children, LessonStart())
    return picker


def still_to_win(board: Board) -> Any:
    """A button to put under a board: can the position that it shows still be won? The solver answers in a sentence.

    Args:
        board: the board that is asked about, whatever it shows when the button is pressed.
    """
    import ipywidgets

    button = ipywidgets.Button(
        description="Can this still be won?",
        layout=ipywidgets.Layout(width="22em", height="3.4em"),
        style={"font_size": "1.3em"},
    )
    said = ipywidgets.HTML()

    def ask(_: object) -> None:
        said.value = f"<p style='font-size:1.2em' role='status'>{escape(verdict(board.game.position))}</p>"

    def forget(_: object) -> None:
        said.value = ""  # it was true of the position before

    button.on_click(ask)
    board.observe(forget, "view")
    return ipywidgets.HBox([button, said], layout=ipywidgets.Layout(flex_flow="row wrap"))


def verdict(position: Position) -> str:
    """Whether a position can still be won, in a sentence; proved, or "not known" if that would take too long."""
    if position.outcome is Outcome.WON:
        return "It is won already!"
    answer = solve(position, max_seconds=_VERDICT_S)
    if isinstance(answer, Winnable):
        moves = "1 move" if len(answer.line) == 1 else f"{len(answer.line)} moves"
        return f"Yes. There is a way, {moves} long. Can you find one?"
    if isinstance(answer, Unknown):
        return "I do not know: to be sure I would have to look for too long."
    return "No. Whatever you do now, cards will be left. Undo, and try another way."


def class_report(*, place: str | Path | None = None, simulated: int = 10) -> HTML:
    """The tutor's report on everyone in the log; if nobody has tried anything yet, on a simulated class.

    Args:
        place: path or URL of the log.
        simulated: students in the simulated class.
    """
    from IPython.display import HTML
    from tqdm.auto import tqdm

    from pyramid_lab.insight.cleaning import events_frame
    from pyramid_lab.insight.reading import review
    from pyramid_lab.insight.report import report_html
    from pyramid_lab.log.names import Names

    store = shared_store(place)
    logged = store.events()
    names = {person.student_id: person.name for person in Names.of(store).people()}
    said = ""
    if any(event.event_type == "attempt" for event in logged):
        events = events_frame(logged)
    else:
        events, names = simulated_class(simulated)
        said = (
            "<p style='font-size:1.2em'><strong>Nobody has played yet.</strong> So that you can see what a report "
            f"looks like, here is one on {simulated} <strong>simulated</strong> children. It shows your class as soon "
            "as one try is logged.</p>"
        )
    with tqdm(desc="Reading the log", bar_format=PLAIN, delay=1) as bar:

        def tell(done: int, total: int, what: str) -> None:
            bar.total = total
            bar.set_description(what)
            bar.update(done - bar.n)

        page = report_html(review(events, names=names, progress=tell))
    return HTML(
        f"<div>{said}<iframe title='Report on the class' style='width:100%;height:80vh;border:1px solid #888' "
        f"srcdoc='{escape(page, quote=True)}'></iframe></div>"
    )


def simulated_class(students: int = 10, *, games: int = 10, seed: int = 13) -> tuple[pd.DataFrame, dict[str, str]]:
    """The events of simulated children who play, and their names by pseudonym.

    Args:
        students: how many children.
        games: games of each.
        seed: the same seed gives the same class.
    """
    import numpy as np

    from pyramid_lab.insight.simulate import classroom, random_student

    rng = np.random.default_rng(seed)
    names = {f"simulated-{number}": f"Child {number} (simulated)" for number in range(1, students + 1)}
    events, _truth = classroom([random_student(name, rng) for name in names], games, rng)
    return events, names


__all__ = [
    "Chosen",
    "choose_deal",
    "class_report",
    "compare_rules",
    "flash",
    "odds",
    "odds_picture",
    "odds_table",
    "picture",
    "play_next",
    "simulated_class",
    "still_to_win",
    "verdict",
    "who_plays",
]
