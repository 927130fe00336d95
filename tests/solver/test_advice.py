"""Best moves, dead positions, budgets and the worker that thinks ahead."""

from __future__ import annotations

import threading

import pytest

from pyramid_lab.core import DRAW, REDEAL, Deal, InvalidPositionError, Move, Outcome, Position, rule_set
from pyramid_lab.solver import Answers, Unknown, Unwinnable, Winnable, best_move, is_dead, solve

CLASSIC = rule_set("classic")
ONE_PASS = rule_set("one-pass")
HARD = Deal.from_text(
    "6H 4C JC QH 7H JD AH 7S 9D AD TS KS 9C 4H 6S TD AC 2H QS 3S 5C 2D 6C 7D 3C JS 4S TH 9H 2C 8H KC 6D 5D KH "
    "8D 2S 3H AS QC 8S 9S 7C TC 4D 3D 5H KD 5S JH QD 8C"
)
HARD_POSITION = Position.start(rule_set({"base": "classic", "redeals": 1}), HARD)


def with_only(cards: str, rules_name: str = "one-pass") -> Position:
    """A pyramid of an apex alone or of its few upper cards: the named places 'place:card' are left, all else gone."""
    rules = rule_set(rules_name)
    left = {int(place): card for place, card in (word.split(":") for word in cards.split())}
    placed = {Move.parse(card).cards[0]: place for place, card in left.items()}
    rest = [card for card in Deal.from_seed(1) if card not in placed]
    by_place = {place: card for card, place in placed.items()}
    deal = Deal(tuple(by_place[place] if place in by_place else rest.pop() for place in range(52)))
    gone = sum(1 << place for place in range(52) if place not in left)
    return Position.of(rules, deal, gone=gone)


def test_the_only_way_is_the_best_move() -> None:
    # The 5 at the apex needs the 8 that comes second in the stock.
    position = with_only("0:5c 28:2d 29:8h")
    best = best_move(position)
    assert (best.move, best.by) == (DRAW, "shortest")
    assert best.line == (DRAW, DRAW, Move.parse("5c+8h"))


def test_a_move_that_throws_the_win_away_is_not_the_best() -> None:
    # The apex 5 lies under 8c and 5h; both eights: taking 5h with the waste's 8 leaves 8c and the apex 5, which still
    # cover one another, and no eight to help; with the 8d for the apex the other pair has to go first.
    position = with_only("0:5c 1:8c 2:5h 28:8d")
    best = best_move(position)
    assert (best.move, best.by) == (Move.parse("8c+5h"), "shortest")
    assert best.line == (Move.parse("8c+5h"), DRAW, Move.parse("5c+8d"))


def test_a_dead_position_has_no_best_move() -> None:
    position = with_only("0:5c 28:7d")
    assert is_dead(position) is True
    assert best_move(position).move is None
    assert best_move(position).by == "dead"


def test_a_won_position() -> None:
    position = with_only("28:7d")
    assert position.outcome is Outcome.WON
    assert solve(position) == Winnable((), shortest=True)
    assert best_move(position).by == "won"


def test_by_score_the_king_that_scores_is_taken_before_the_game_ends() -> None:
    # Classic: 5 a card. The pair at once wins in one step; the waste's king first is 5 points more.
    position = with_only("0:5c 28:8d 29:Kd", "classic")
    shortest = best_move(position)
    assert shortest.line == (Move.parse("5c+8d"),)
    by_score = best_move(position, prefer="score")
    assert by_score.by == "score"
    assert by_score.score is not None
    assert shortest.score is not None
    assert by_score.score >= shortest.score


@pytest.mark.parametrize("name", ["one-pass", "classic", "cardems", "table", "three-pile"])
def test_the_best_move_keeps_the_win_all_the_way(name: str) -> None:
    rules = rule_set(name)
    seed = next(seed for seed in range(200) if isinstance(solve(Position.start(rules, Deal.from_seed(seed))), Winnable))
    position = Position.start(rules, Deal.from_seed(seed))
    steps = 0
    while position.outcome is Outcome.PLAYING:
        best = best_move(position, prefer="win")
        assert best.move is not None
        assert best.by == "win"
        for move in best.line:
            position = position.play(move)
            steps += 1
    assert position.outcome is Outcome.WON


def test_budgets_end_a_search_as_unknown() -> None:
    assert solve(HARD_POSITION, max_nodes=0) == Unknown("nodes")
    assert solve(HARD_POSITION, max_nodes=3) == Unknown("nodes")
    assert solve(HARD_POSITION, max_seconds=0) == Unknown("time")
    ticks = iter([0.0, 0.5, 2.0])
    assert solve(HARD_POSITION, max_seconds=1, clock=lambda: next(ticks, 2.0)) == Unknown("time")
    assert solve(HARD_POSITION, cancel=lambda: True) == Unknown("cancelled")
    assert is_dead(HARD_POSITION, max_nodes=3) is None
    assert best_move(HARD_POSITION, max_seconds=0).by == "unknown"
    assert solve(HARD_POSITION) == Unwinnable()


@pytest.mark.parametrize("budget", [{"max_nodes": -1}, {"max_seconds": -0.1}, {"max_seconds": float("nan")}])
def test_an_impossible_budget_is_named(budget: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(budget))):
        solve(HARD_POSITION, **budget)  # type: ignore[arg-type]


def test_positions_that_cannot_occur_are_refused() -> None:
    start = Position.start(CLASSIC, HARD)
    with pytest.raises(InvalidPositionError, match="still lies on it"):
        solve(Position(CLASSIC, HARD, 1, start.next, 0, 0, 0))
    with pytest.raises(InvalidPositionError, match="not 60"):
        solve(Position(CLASSIC, HARD, 0, 60, 0, 0, 0))
    with pytest.raises(InvalidPositionError, match="redeals"):
        solve(Position(CLASSIC, HARD, 0, start.next, 3, 0, 0))
    with pytest.raises(InvalidPositionError, match="discarded"):
        solve(Position(CLASSIC, HARD, 1 << 30, 30, 0, 0, 0))


def test_a_redeal_that_the_rules_call_useless_is_no_way_on() -> None:
    # Two cards in the waste, nothing to discard: with useful_redeal = 3 the game is lost there.
    position = with_only("0:5c 28:8d 29:2d", "one-pass")
    loose = rule_set("cardems")
    strict = loose.replace(useful_redeal=3)
    place = {"gone": position.gone, "next": 52}
    assert isinstance(solve(Position.of(loose, position.deal, **place)), Winnable)
    assert Position.of(strict, position.deal, **place).outcome is Outcome.LOST
    assert solve(Position.of(strict, position.deal, **place)) == Unwinnable()
    assert REDEAL in Position.of(loose, position.deal, **place).legal_moves()


def test_the_answer_is_ready_while_the_player_thinks_and_old_questions_are_dropped() -> None:
    told: list[Position] = []
    ready = threading.Event()

    def tell(position: Position, _: object) -> None:
        told.append(position)
        ready.set()

    won = with_only("0:5c 28:2d 29:8h")
    with Answers(tell) as answers:
        answers.ask(HARD_POSITION)
        answers.ask(won)
        best = answers.get(won, timeout=30)
        assert best is not None
        assert best.move == DRAW
        assert answers.get(HARD_POSITION) is None
        assert ready.wait(30)
        assert told[-1] == won
        answers.cancel()
    with pytest.raises(ValueError, match="closed"):
        answers.ask(won)


def test_two_threads_ask_at_once() -> None:
    positions = [Position.start(ONE_PASS, Deal.from_seed(seed)) for seed in range(60)]
    alone = [solve(position) for position in positions]
    together: dict[int, list[object]] = {}

    def work(number: int) -> None:
        together[number] = [solve(position) for position in positions]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(together.values()) == [alone] * 3
