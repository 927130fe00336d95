"""A flash round: one card at a time, "what goes with it?", logged like every other try."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

import anywidget
import traitlets

from pyramid_lab.board.view import spoken
from pyramid_lab.core import Card, Deal, addend, pack, rule_set
from pyramid_lab.core.rules import Rules
from pyramid_lab.log.events import Event, InvalidEventError, error_class, fact_of, facts_to, new_id, rules_text

FLASH: Final = "flash"
"""The name of a flash round's rules, and of the help that its attempts carry: the card is given, nothing is searched
for, so that their times say nothing about a board's."""

_ESM: Final = files("pyramid_lab.board").joinpath("flash.js").read_text(encoding="utf-8")
_CSS: Final = files("pyramid_lab.board").joinpath("flash.css").read_text(encoding="utf-8")
_AGAIN: Final = "Another round"
_HOUR_MS: Final = 3_600_000


def flash_rules(target: int = 13) -> Rules:
    """The rules under which a flash round is logged: pairs that make the target, one card after another."""
    return rule_set("one-pass").replace(name=FLASH, title=f"Flash round to {target}", target=target)


def prompts_of(deal: Deal, facts: Sequence[str] | None = None) -> tuple[Card, ...]:
    """The cards of a deal that a flash round can ask for, in order: all but those that go alone.

    Args:
        deal: the pack, in the order in which it is asked.
        facts: ask for these only, such as ``["5+8"]``; default: every pair of the target.

    Raises:
        ValueError: a fact is no pair of this target.
    """
    known = facts_to(deal.target)[:-1]
    wrong = [fact for fact in facts or () if fact not in known]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no pair that makes {deal.target}; the pairs are {', '.join(known)}")
    wanted = facts or known
    return tuple(card for card in deal if card.rank < deal.target and fact_of([card], deal.target) in wanted)


class Prompts:
    """What a round asks, card after card: every fact once, then, again and again, the harder half of them.

    Harder is a fact that was answered wrongly in this round, then one that took longer. When a fact comes again it
    comes as its other card, and never twice running while there is another fact.

    Args:
        deal: the pack; its order says which fact comes first.
        facts: ask for these only; default: every pair of the target.

    Raises:
        ValueError: a fact is no pair of the deal's target.
    """

    def __init__(self, deal: Deal, facts: Sequence[str] | None = None) -> None:
        self._cards: dict[str, list[Card]] = {}
        for card in prompts_of(deal, facts):
            self._cards.setdefault(fact_of([card], deal.target), []).append(card)
        self._wrong = dict.fromkeys(self._cards, 0)
        self._slowest_ms = dict.fromkeys(self._cards, 0)
        self._coming = list(self._cards)
        self._fact = ""

    def next(self) -> Card:
        """The next card to ask for."""
        if not self._coming:
            self._coming = self._harder()
        self._fact = self._coming.pop(0)
        cards = self._cards[self._fact]
        card = cards.pop(0)
        cards.append(card)
        cards.sort(key=lambda other: other.rank == card.rank)  # its partners come first now
        return card

    def answered(self, right: bool, rt_ms: int | None) -> None:
        """Take in an answer to the newest card, with its time if that is known."""
        self._wrong[self._fact] += not right
        self._slowest_ms[self._fact] = max(self._slowest_ms[self._fact], rt_ms or 0)

    def _harder(self) -> list[str]:
        by_need = sorted(self._cards, key=lambda fact: (-self._wrong[fact], -self._slowest_ms[fact]))
        harder = by_need[: max(2, (len(by_need) + 1) // 2)]
        # In the deal's order, so that the hardest is not always the first; what was just asked waits.
        return sorted(harder, key=lambda fact: (fact == self._fact, [*self._cards].index(fact)))


class Flash(anywidget.AnyWidget):
    """One flash round on the page; at its end another can be asked for.

    A wrong answer says what the two make, and the same card is asked again. There is no clock to see and no count of
    wrong answers. Every fact comes once before one comes again; then those that are harder for this child
    (:class:`Prompts`).

    Args:
        target: what two cards make, 10 to 13.
        count: cards in a round.
        facts: ask for these facts only; default: all.
        seed: gives the seed of each round's pack.
        on_event: called with every event before the next card is shown. If it raises, the answer is not counted and
            the child is told so.
        student_id: the student's pseudonym.
        session_id: one sitting; default: a new one.
        now: gives the present time, aware.

    Raises:
        ValueError: a count below 1, or a fact that is no pair of the target.
        RulesError: a target that cannot be.
    """

    _esm = traitlets.Unicode(_ESM).tag(sync=True)
    _css = traitlets.Unicode(_CSS).tag(sync=True)
    view = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        *,
        target: int = 13,
        count: int = 12,
        facts: Sequence[str] | None = None,
        seed: Callable[[], int],
        on_event: Callable[[Event], object] | None = None,
        student_id: str = "guest",
        session_id: str | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        if count < 1:
            raise ValueError(f"a flash round asks for 1 card or more, not {count}")
        self.rules = flash_rules(target)
        self.student_id = student_id
        self.session_id = session_id or new_id()
        self._count = count
        self._facts = facts
        self._seed = seed
        self._on_event = on_event
        self._now = now or (lambda: datetime.now(UTC))
        self._lock = threading.RLock()
        self._number = 0
        self._begin()
        super().__init__(view=self._made("", "calm"))
        self.on_msg(self._receive)

    @property
    def prompt(self) -> Card | None:
        """The card that is asked for, or ``None`` at the end of the round."""
        return self._prompt

    def _begin(self) -> None:
        self._deal = Deal.from_seed(self._seed(), self.rules.target)
        self._prompts = Prompts(self._deal, self._facts)
        self._prompt: Card | None = self._prompts.next()
        self._game_id = new_id()
        self._index = 0
        self._done = 0

    def _made(self, message: str, tone: str) -> dict[str, Any]:
        prompt, target = self.prompt, self.rules.target
        answers = [card for card in pack(target) if card.suit == "c" and card.rank < target]
        return {
            "number": self._number,
            "title": f"What makes {target}?",
            "prompt": prompt and {"label": prompt.label, "name": spoken(prompt), "red": prompt.red},
            "answers": [
                {"value": card.rank, "label": card.rank_label, "name": spoken(card).partition(" of ")[0]}
                for card in answers
            ],
            "message": message,
            "tone": tone,
            "done": self._done,
            "total": self._count,
            "again": "" if prompt else _AGAIN,
        }

    def _receive(self, _widget: object, content: Any, _buffers: object) -> None:
        with self._lock:
            if not isinstance(content, dict) or content.get("number") != self._number:
                return  # an answer to a card that is gone, or the same message twice
            if content.get("kind") == "again" and self.prompt is None:
                self._begin()
                self._show("", "calm")
            elif content.get("kind") == "answer" and self.prompt is not None:
                self._answer(self.prompt, content)

    def _answer(self, prompt: Card, content: dict[str, Any]) -> None:
        value, target = content.get("value"), self.rules.target
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < target:
            return
        right = prompt.rank + value == target
        judged = self._judged(prompt, value, right, content)
        try:
            if self._index == 0:
                self._log("deal", content)
            self._log("attempt", content, **judged)
            if right and self._done + 1 == self._count:
                self._log("end", content, outcome="won")
        except Exception as error:  # the child is told, whatever it was
            self._show(f"Something went wrong; your answer was not counted. ({error})", "trouble")
            return
        self._prompts.answered(right, judged["rt_ms"])
        said = f"{addend(prompt.rank)} + {addend(value)} is {prompt.rank + value}"
        if right:
            self._done += 1
            self._prompt = self._prompts.next() if self._done < self._count else None
            self._show(f"{said}." + ("" if self.prompt else " Well done!"), "good")
        else:
            self._show(f"{said}, not {target}. Try another.", "try")

    def _judged(self, prompt: Card, value: int, right: bool, content: dict[str, Any]) -> dict[str, Any]:
        outcome = "correct" if right else "incorrect"
        rt_ms = content.get("rt_ms")
        if not isinstance(rt_ms, int) or isinstance(rt_ms, bool) or not 0 <= rt_ms <= _HOUR_MS:
            rt_ms = None
        return {
            "rt_ms": rt_ms,
            "clock": "browser",
            "first_card": prompt.text,
            "value_a": prompt.rank,
            "value_b": value,
            "total": prompt.rank + value,
            "outcome": outcome,
            "reason": None if rt_ms is not None else str(content.get("why") or "no_start"),
            "error_class": error_class([prompt.rank, value], self.rules.target, outcome, rt_ms),
            "fact": fact_of([prompt], self.rules.target),
            "input": content.get("input") if content.get("input") in ("mouse", "touch", "keyboard") else None,
            "assistance": FLASH,
        }

    def _log(self, kind: str, content: dict[str, Any], **fields: Any) -> None:
        tz = content.get("tz")
        common: dict[str, Any] = {
            "event_id": new_id(),
            "student_id": self.student_id,
            "session_id": self.session_id,
            "game_id": self._game_id,
            "deal": self._deal.text,
            "rule_set": rules_text(self.rules),
            "event_index": self._index,
            "event_type": kind,
            "t_utc": self._now(),
            "source": "board",
        }
        try:
            event = Event(**common, tz=tz, **fields)
        except InvalidEventError:
            event = Event(**common, **fields)  # what the page said of its time zone cannot be kept
        if self._on_event is not None:
            self._on_event(event)
        self._index += 1

    def _show(self, message: str, tone: str) -> None:
        self._number += 1
        self.view = self._made(message, tone)
