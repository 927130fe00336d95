"""What users of such games ran into, restated as small cases with their right outcome here."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from pyramid_lab.core import (
    DRAW,
    REDEAL,
    RULE_SETS,
    Card,
    Deal,
    Game,
    GameFileError,
    IllegalMoveError,
    Move,
    MoveKind,
    NothingToUndoError,
    Outcome,
    Position,
    rule_set,
)
from pyramid_lab.core.picture import position_svg, position_text
from tests.core.core_game import game_at, put_up
from tests.core.slow_game import PLAIN, SlowGame, shuffled

EVERY = sorted(RULE_SETS)
FINITE = [name for name in EVERY if RULE_SETS[name].redeals != "unlimited"]


def moves(position: Position) -> list[str]:
    return [str(move) for move in position.legal_moves()]


# A king that is still covered on one side


@pytest.mark.parametrize("name", EVERY)
def test_a_king_covered_on_one_side_stays(name: str) -> None:
    position = put_up(rule_set(name), {(1, 1): "Kh", (2, 1): "4c"})
    with pytest.raises(IllegalMoveError):
        position.play(Move.parse("Kh"))
    assert moves(position) == []
    assert [str(card) for card in position.coverers(Card.parse("Kh"))] == ["4c"]


def test_why_a_covered_king_stays_names_the_card_on_it() -> None:
    game_goes_on = put_up(rule_set("table"), {(1, 1): "Kh", (2, 1): "4c"}, stock="9c")
    with pytest.raises(IllegalMoveError, match="K♥ is covered by 4♣") as error:
        game_goes_on.play(Move.parse("Kh"))
    assert (error.value.reason, error.value.cards) == ("covered", (Card.parse("4c"),))
    assert moves(game_goes_on) == ["draw"]


def test_a_king_goes_when_its_last_coverer_has_gone() -> None:
    position = put_up(rule_set("table"), {(1, 1): "Kh"})
    assert moves(position) == ["Kh"]
    assert position.play(Move.parse("Kh")).outcome == "won"


# With several piles only the leftmost took part


@pytest.mark.parametrize("piles", ["2c 9d 8h", "8h 2c 9d", "9d 8h 2c"])
def test_the_partner_may_lie_on_any_of_three_piles(piles: str) -> None:
    position = put_up(rule_set("three-pile"), {(1, 1): "5s"}, waste=piles)
    assert moves(position) == ["5s+8h"]
    assert position.place(Card.parse("8h")).pile == piles.split().index("8h") + 1
    assert position.play(Move.parse("8h+5s")).outcome == "won"


# Undo takes back a whole move, a pair as much as a draw


@pytest.mark.parametrize("name", EVERY)
def test_one_undo_brings_back_both_cards_of_a_pair(name: str) -> None:
    deal = list(shuffled(5))
    for place, card in ((21, "6d"), (22, "7s")):  # the first two cards of the bottom row
        at = deal.index(card)
        deal[place], deal[at] = deal[at], deal[place]
    game = Game(name, Deal.from_text(" ".join(deal)))
    start = game.position
    game.play(Move.parse("6d+7s"))
    assert game.position != start
    assert game.undo() == start
    assert game.position.exposed == start.exposed
    assert (game.moves, game.can_undo) == ((), False)
    with pytest.raises(NothingToUndoError, match="start of the game"):
        game.undo()


@pytest.mark.parametrize("name", EVERY)
def test_one_undo_takes_back_one_draw(name: str) -> None:
    game = Game(name, Deal.from_seed(3))
    after_one = game.play(DRAW)
    game.play(DRAW)
    assert game.undo() == after_one


def test_three_cards_turned_come_back_in_their_order() -> None:
    rules = rule_set({"base": "classic", "draw": 3})
    game = Game(rules, Deal.from_seed(11))
    start = game.position
    turned = game.play(DRAW)
    assert turned.waste_piles[0] == start.stock[:3]
    assert turned.pile_tops == (start.stock[2],)
    game.undo()
    assert game.play(DRAW) == turned
    while game.position.stock:
        game.play(DRAW)
    before = game.position
    again = game.play(REDEAL)
    assert again.stock == start.stock
    assert again.waste_piles == ((),)
    assert again.redeals_left == 1
    assert game.undo() == before
    assert (before.redeals_left, before.waste_piles[0]) == (2, start.stock)


@pytest.mark.parametrize("name", [name for name in EVERY if not RULE_SETS[name].stock_top_in_play])
def test_a_card_put_back_by_undo_is_hidden_and_out_of_play(name: str) -> None:
    game = Game(name, Deal.from_seed(4))
    turned = game.position.stock[0]
    game.play(DRAW)
    if rule_set(name).piles == 1:
        assert turned in game.position.exposed
    game.undo()
    assert turned not in game.position.exposed
    for hidden in game.position.stock:
        assert hidden.label not in position_text(game.position)
        assert hidden.label not in position_svg(game.position)


def test_repeating_a_discard_and_its_undo_earns_nothing() -> None:
    for name in EVERY:
        game = Game(name, Deal.from_seed(1))
        start = game.position.score
        first = game.position.legal_discards()[0]
        for _ in range(10):
            game.play(first)
            game.undo()
        assert game.position.score == start


# What wins


def test_a_card_left_in_the_waste_matters_only_where_all_must_go() -> None:
    for win, outcome in (("pyramid", "won"), ("all", "playing")):
        rules = rule_set({"base": "table", "win": win})
        after = put_up(rules, {(1, 1): "5s"}, waste="Kd 8h").play(Move.parse("5s+8h"))
        assert after.outcome == outcome
        assert ("pyramid, stock and waste" in " ".join(rules.describe())) == (win == "all")
    assert after.play(Move.parse("Kd")).outcome == "won"


def test_unlimited_redeals_and_three_at_a_time_do_not_change_what_wins() -> None:
    rules = rule_set({"base": "table", "draw": 3, "redeals": "unlimited"})
    said = " ".join(rules.describe())
    assert "Three cards are turned at a time" in said
    assert "as often as you like" in said
    assert "You win when the pyramid is empty." in said


@pytest.mark.parametrize("name", EVERY)
def test_the_description_says_what_the_fields_say(name: str) -> None:
    rules = rule_set(name)
    said = " ".join(rules.describe())
    turned = {0: "is never turned over", 2: "may be turned over twice", "unlimited": "as often as you like"}
    assert turned[rules.redeals] in said
    assert ("three piles" in said) == (rules.piles == 3)
    assert ("also with each other" in said) == (rules.piles_pair or rules.stock_waste_pair)
    assert ("combo" in said) == rules.combo
    assert ("The stock's top card and the waste's top card are in play" in said) == rules.stock_top_in_play
    for number in rules.scoring.row_bonus:
        assert str(number) in said


# Passes and redeals


def can_be_won(position: Position) -> bool:
    """Every line of play; fit for a handful of cards."""
    seen, waiting = {position}, [position]
    while waiting:
        here = waiting.pop()
        if here.outcome is Outcome.WON:
            return True
        # With unlimited redeals the number used is of no account.
        for after in map(here.play, here.legal_moves()):
            if after.redeals_used > 4:
                continue
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


@pytest.mark.parametrize("stock_top", [False, True])
@pytest.mark.parametrize(("redeals", "winnable"), [(0, False), (1, False), (2, True), (3, True), ("unlimited", True)])
def test_a_chain_that_needs_two_redeals(stock_top: bool, redeals: Any, winnable: bool) -> None:
    rules = rule_set({"base": "table", "redeals": redeals, "stock_top_in_play": stock_top})
    position = put_up(rules, {(1, 1): "5c", (2, 1): "3c", (3, 1): "4c"}, stock="8d 2d Td 6d 9d")
    assert can_be_won(position) == winnable


def test_no_redeal_where_none_is_allowed() -> None:
    position = put_up(rule_set("table"), {(1, 1): "5c"}, waste="6d 8h")
    assert position.redeals_left == 0
    assert not position.redeal_allowed
    with pytest.raises(IllegalMoveError, match="passes left: 0") as error:
        position.play(REDEAL)
    assert error.value.reason == "no_redeals"


def test_the_pass_is_named_in_the_picture() -> None:
    position = put_up(rule_set("classic"), {(1, 1): "5c"}, stock="6d 8h", redeals_used=1)
    assert "pass 2" in position_text(position)


@pytest.mark.parametrize(
    ("redeals_used", "waste", "outcome"),
    [(0, "6d 2h", "playing"), (1, "6d 2h", "playing"), (2, "6d 2h", "lost"), (0, "6d", "lost"), (0, "", "lost")],
)
def test_a_classic_game_is_lost_when_no_redeal_brings_back_two(redeals_used: int, waste: str, outcome: str) -> None:
    position = put_up(rule_set("classic"), {(1, 1): "5c"}, waste=waste, redeals_used=redeals_used)
    assert position.stuck
    assert position.outcome == outcome
    assert moves(position) == (["redeal"] if outcome == "playing" else [])


def test_cardems_goes_on_as_long_as_the_waste_can_be_turned() -> None:
    position = put_up(rule_set("cardems"), {(1, 1): "5c"}, waste="6d")
    for _ in range(30):
        position = position.play(REDEAL)
        assert position.score == 0
        position = position.play(DRAW)
        assert position.outcome == "playing"


@pytest.mark.parametrize("name", ["one-pass", "table", "three-pile"])
def test_the_last_card_turned_may_still_be_used(name: str) -> None:
    position = put_up(rule_set(name), {(1, 1): "5c"}, waste="8d")
    assert (position.outcome, position.stuck, moves(position)) == ("playing", False, ["5c+8d"])
    no_way_on = put_up(rule_set(name), {(1, 1): "5c"}, waste="9d")
    assert (no_way_on.outcome, no_way_on.stuck, moves(no_way_on)) == ("lost", True, [])


# Hints


@pytest.mark.parametrize("name", EVERY)
def test_hints_never_cycle_through_a_stock_that_helps_nothing(name: str) -> None:
    rules = rule_set(name)
    for seed in range(200 // len(EVERY) + 1):
        game = Game(rules, Deal.from_seed(seed))
        turns = 0
        while (hint := game.hint()) is not None:
            turns += hint.kind is not MoveKind.DISCARD
            game.play(hint)
            # Unlimited redeals: each pass with a discard may be followed by one more.
            passes = 30 if rules.redeals == "unlimited" else int(rules.redeals)
            assert turns <= 24 * (passes + 1) + passes
        assert game.position.stuck
        if name in FINITE and rules.redeals == 0:
            assert game.outcome in ("won", "lost")
        if game.outcome == "playing":
            assert game.position.stock_left == 0


def test_a_partner_on_top_now_is_pointed_at_before_a_later_twin() -> None:
    position = put_up(rule_set("table"), {(1, 1): "6c"}, waste="7d", stock="2h 3h 7s")
    assert game_at(position).hint() == Move.parse("6c+7d")


def test_the_one_pass_hint_is_the_first_discard_in_board_order() -> None:
    for seed in range(20):
        game = Game("one-pass", Deal.from_seed(seed))
        slow = SlowGame({**PLAIN, "combo": True}, game.deal.text.split())
        while (hint := game.hint()) is not None:
            discards = slow.discards()
            assert hint == Move.parse(discards[0] if discards else "draw")
            before = game.position
            assert game.hint() == hint
            assert game.position is before
            game.play(hint)
            slow = slow.play(discards[0] if discards else "draw")
        assert slow.outcome() != "playing"


# Row bonuses


@pytest.mark.parametrize(("scoring", "points"), [({}, 45), ({"match": 0, "card": 5}, 60)])
def test_the_bottom_row_by_the_match_and_by_the_card(scoring: dict[str, int], points: int) -> None:
    rules = rule_set({"base": "microsoft", "scoring": scoring})
    bottom = ["Ks", "4d", "9d", "5d", "8d", "6d", "7d"]
    others = [card for card in shuffled(1) if card not in bottom]
    game = Game(rules, Deal.from_text(" ".join(others[:21] + bottom + others[21:])))
    for move in ("Ks", "4d+9d", "5d+8d", "6d+7d"):
        game.play(Move.parse(move))
    assert game.position.score == points


@pytest.mark.parametrize("rows", range(3, 8))
def test_row_bonuses_count_from_the_bottom_row(rows: int) -> None:
    rules = rule_set({"base": "classic", "rows": rows})
    above = {(row, 1): card for row, card in enumerate(["2c", "3c", "4c", "5c", "6c"][: rows - 2], start=1)}
    position = put_up(rules, {**above, (rows - 1, 1): "Kh", (rows, 1): "Ks"})
    after = position.play(Move.parse("Ks"))
    assert after.score == 5 + 25
    assert after.play(Move.parse("Kh")).score == 5 + 25 + 5 + 50


# The same deal again, here and in another process


def test_restart_gives_the_same_deal_each_time() -> None:
    game = Game("classic", Deal.from_seed(42))
    text = game.deal.text
    for _ in range(2):
        for _ in range(3):
            game.play(game.position.legal_moves()[0])
        assert game.restart() == Position.start(rule_set("classic"), Deal.from_text(text))
        assert (game.deal.text, game.moves, game.can_undo, game.can_redo) == (text, (), False, False)
    elsewhere = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from pyramid_lab.core import Game; game = Game.from_json(sys.stdin.read());"
            "game.restart(); game.restart(); print(game.deal.text)",
        ],
        input=game.to_json(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.strip() == text == Deal.from_seed(42).text


# Three clicks at once


def test_a_king_clicked_three_times_goes_once() -> None:
    game = game_at(put_up(rule_set("table"), {(1, 1): "5s", (2, 1): "Ks"}, stock="8d"))
    once = game.play(Move.parse("Ks"))
    for _ in range(2):
        with pytest.raises(IllegalMoveError, match="K♠ has been discarded already") as error:
            game.play(Move.parse("Ks"))
        assert error.value.reason == "discarded"
        assert game.position is once
    assert len(game.moves) == 1


# A card together with the one card on it


@pytest.mark.parametrize(
    ("pyramid", "pair"),
    [
        ({(1, 1): "Qh", (2, 1): "Ac"}, "Qh+Ac"),
        ({(1, 1): "Qh", (2, 1): "Ac", (2, 2): "5c"}, None),
        ({(1, 1): "Qh", (2, 1): "Ac", (3, 1): "2c"}, None),
        ({(1, 1): "Kh", (2, 1): "Ac"}, None),
    ],
)
def test_a_card_and_its_only_coverer(pyramid: dict[tuple[int, int], str], pair: str | None) -> None:
    off = put_up(rule_set("table"), pyramid, stock="3s")
    on = put_up(rule_set({"base": "table", "coverer_pairs": True}), pyramid, stock="3s")
    assert moves(off) == ["draw"]
    assert moves(on) == ([pair, "draw"] if pair else ["draw"])
    top, coverer = str(Card.parse(pyramid[1, 1])), pyramid[2, 1]
    with pytest.raises(IllegalMoveError) as error:
        off.play(Move.parse(f"{top}+{coverer}"))
    assert error.value.reason == "covered"
    if pair:
        game = game_at(on)
        assert game.play(Move.parse(pair)).outcome == "won"
        assert game.undo() == on


# Kings that go by themselves


def king_under_a_pair() -> Deal:
    """The first two cards of the bottom row pair, and the king above them comes free."""
    wanted = {15: "Kh", 21: "4c", 22: "9d"}
    others = iter([card for card in shuffled(9) if card not in wanted.values()])
    return Deal.from_text(" ".join(wanted.get(place) or next(others) for place in range(52)))


@pytest.mark.parametrize("name", EVERY)
def test_kings_that_go_by_themselves_score_as_by_hand_and_leave_with_one_undo(name: str) -> None:
    by_hand, by_itself = Game(name, king_under_a_pair()), Game(name, king_under_a_pair(), auto_kings=True)
    start = by_itself.position
    by_hand.play(Move.parse("4c+9d"))
    by_itself.play(Move.parse("4c+9d"))
    while kings := [move for move in by_hand.position.legal_discards() if by_pyramid_king(by_hand, move)]:
        by_hand.play(kings[0])
    assert by_itself.position == by_hand.position
    assert Card.parse("Kh") in by_itself.moves[1].cards + by_itself.moves[-1].cards
    assert by_itself.undo() == start
    assert not by_itself.can_undo
    by_itself.redo()
    assert by_itself.position == by_hand.position
    again = Game.from_json(by_itself.to_json())
    assert again.undo() == start


def by_pyramid_king(game: Game, move: Move) -> bool:
    return len(move.cards) == 1 and game.position.place(move.cards[0]).kind == "pyramid"


# Saved games that were damaged


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda saved: saved.pop("deal"), "deal"),
        (lambda saved: saved.pop("rules"), "rules"),
        (lambda saved: saved.update(deal="6d 5h"), "2 cards"),
        (lambda saved: saved.update(deal=7), "deal"),
        (lambda saved: saved.update(rules="clasic"), "clasic"),
        (lambda saved: saved.update(rules={"base": "classic", "redeal": 1}), "redeal"),
        (lambda saved: saved.update(steps=5), "steps"),
        (lambda saved: saved.update(steps=[5]), "steps"),
        (lambda saved: saved.update(steps=[[5]]), "steps"),
        (lambda saved: saved.update(redo="draw"), "redo"),
        (lambda saved: saved.update(steps=[["drew"]]), "drew"),
        (lambda saved: saved.update(steps=[["draw"], ["redeal"]]), "move 2"),
        (lambda saved: saved.update(seed=8), "seed 8"),
        (lambda saved: saved.update(seed="x"), "seed"),
        (lambda saved: saved.update(format=99), "99"),
    ],
)
def test_a_damaged_game_file_says_which_part(change: Any, said: str) -> None:
    saved = Game("classic", Deal.from_seed(7)).to_dict()
    change(saved)
    with pytest.raises(GameFileError) as error:
        Game.from_json(json.dumps(saved))
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '"classic"', "null"])
def test_a_file_that_is_no_game(text: str) -> None:
    with pytest.raises(GameFileError, match="JSON"):
        Game.from_json(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"seed": ' + "9" * 5_000 + "}"])
def test_a_file_that_no_reader_of_json_takes(text: str) -> None:
    with pytest.raises(GameFileError, match="too long, or it is nested too deeply"):
        Game.from_json(text)
