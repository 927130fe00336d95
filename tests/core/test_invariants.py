"""What holds in every position of every rule set, tried on random games beside the slow game."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramid_lab.core import (
    RULE_SETS,
    Card,
    Deal,
    Game,
    IllegalMoveError,
    InvalidMoveError,
    Move,
    Position,
    Rules,
    pack,
    rule_set,
)
from tests.core.core_game import assert_same, game_pair, rules_pair, same_move
from tests.core.rule_changes import rule_changes
from tests.core.slow_game import SlowGame, shuffled, walk

numbers = st.integers(0, 1_000_000)
names = st.sampled_from(sorted(RULE_SETS))


def random_game(rules: Rules, number: int, length: int) -> Game:
    """A game of up to ``length`` random moves, mostly discards."""
    chance = random.Random(number)
    game = Game(rules, Deal.from_seed(number, rules.target))
    for _ in range(length):
        moves = game.position.legal_moves()
        if not moves:
            break
        discards = game.position.legal_discards()
        game.play(chance.choice(discards if discards and chance.random() < 0.7 else moves))
    return game


def pair_of(changes: tuple[str, dict[str, Any]], number: int) -> Any:
    """A game of those rules and the slow one beside it, with a shuffled deal."""
    base, fields = changes
    _, slow_rules = rules_pair(base, fields)
    return game_pair(base, fields, shuffled(number, slow_rules["target"]))


@given(rule_changes(), numbers)
def test_a_random_game_move_for_move(changes: tuple[str, dict[str, Any]], number: int) -> None:
    game, slow = pair_of(changes, number)
    assert_same(game.position, slow)
    for move, after in walk(slow, number, 120):
        assert_same(game.play(Move.parse(move)), after)


@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_random_games_of_the_named_rule_sets(name: str) -> None:
    for number in range(12):
        game, slow = game_pair(name, {}, shuffled(number))
        for move, after in walk(slow, number, 150):
            assert_same(game.play(Move.parse(move)), after)


@given(rule_changes(), numbers)
def test_what_a_discard_sets_free_is_seen_after_it(changes: tuple[str, dict[str, Any]], number: int) -> None:
    game, slow = pair_of(changes, number)
    for move, _after in walk(slow, number, 40):
        before = game.position
        for discard in before.legal_discards():
            after = before.play(discard)
            free = [card for card in after.exposed if after.place(card).kind == "pyramid"]
            assert before.newly_exposed(discard) == len(set(free) - set(before.exposed))
        game.play(Move.parse(move))


@settings(max_examples=20)  # each with all the 1,400 tries of a pack
@given(rule_changes(), numbers, st.integers(0, 60))
def test_legal_moves_check_and_play_agree_on_every_try(
    changes: tuple[str, dict[str, Any]], number: int, length: int
) -> None:
    base, fields = changes
    _, slow_rules = rules_pair(base, fields)
    deal = shuffled(number, slow_rules["target"])
    game, slow = game_pair(base, fields, deal)
    for move, after in walk(SlowGame(slow_rules, deal), number, length):
        game.play(Move.parse(move))
        slow = after
    position = game.position
    legal = set(position.legal_moves())
    tries = [(card,) for card in deal] + list(combinations(deal, 2)) + [(card, card) for card in deal]
    for move_text in ["draw", "redeal", *("+".join(cards) for cards in tries)]:
        move = Move.parse(move_text)
        reasons = slow.reasons(move_text)
        assert (move in legal) == (not reasons), f"{move_text}: the slow game says {reasons or 'legal'}"
        try:
            position.check(move)
        except IllegalMoveError as error:
            assert error.reason in reasons, f"{move_text}: {error}"
            assert error.move == move
            assert str(error)
            if error.reason == "covered":
                # The cards of the error are exactly those that lie on one of the cards tried.
                assert [str(card) for card in error.cards] in [slow.coverers(card) for card in move_text.split("+")]
        else:
            assert not reasons, f"{move_text}: the slow game says {reasons}"
    for move in set(map(Move.parse, ["draw", "redeal", *deal])) - legal:
        with pytest.raises(IllegalMoveError):
            game.play(move)
    assert game.position is position


@given(rule_changes(), numbers, st.integers(0, 80))
def test_every_card_is_somewhere_once_and_nothing_covered_is_legal(
    changes: tuple[str, dict[str, Any]], number: int, length: int
) -> None:
    rules, _ = rules_pair(*changes)
    position = random_game(rules, number, length).position
    in_pyramid = [card for row in position.pyramid for card in row if card is not None]
    in_waste = [card for pile in position.waste_piles for card in pile]
    discarded = [card for card in position.deal if position.place(card).kind == "discard"]
    everywhere = [*in_pyramid, *in_waste, *position.stock, *discarded]
    assert len(everywhere) == rules.pack_size
    assert set(everywhere) == set(pack(rules.target))
    for move in position.legal_discards():
        covered = [card for card in move.cards if position.coverers(card)]
        if rules.coverer_pairs and covered:
            assert [position.coverers(card) for card in covered] == [tuple(set(move.cards) - set(covered))]
        else:
            assert not covered
        assert sum(card.value for card in move.cards) == rules.target
    for card in position.deal:
        place = position.place(card)
        if place.kind == "pyramid":
            assert position.pyramid[place.row - 1][place.column - 1] == card
        elif place.kind == "waste":
            pile = position.waste_piles[max(place.pile, 1) - 1]
            assert pile[len(pile) - 1 - place.depth] == card
        elif place.kind == "stock":
            assert position.stock[place.depth] == card


@given(rule_changes(), numbers, st.integers(0, 120))
def test_as_many_undos_as_moves_lead_back_to_the_start(
    changes: tuple[str, dict[str, Any]], number: int, length: int
) -> None:
    rules, _ = rules_pair(*changes)
    game = random_game(rules, number, length)
    moves = game.moves
    fresh = Game(rules, game.deal)
    seen = [fresh.position] + [fresh.play(move) for move in moves]
    for before in reversed(seen[:-1]):
        assert game.undo() == before
        assert (game.position.score, game.position.combo) == (before.score, before.combo)
        assert game.position.pass_number == before.pass_number
    assert not game.can_undo
    assert game.moves == ()
    assert game.position == Position.start(rules, game.deal)
    for after in seen[1:]:
        assert game.redo() == after
    assert game.moves == moves
    assert not game.can_redo


@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_a_game_undone_to_its_start_is_saved_as_a_new_one(name: str) -> None:
    # 1,000 games in all, over the named rule sets.
    for number in range(1000 // len(RULE_SETS) + 1):
        game = random_game(rule_set(name), number, 60)
        while game.can_undo:
            game.undo()
        saved = game.to_dict()
        saved["redo"] = []
        assert json.dumps(saved) == Game(rule_set(name), game.deal).to_json()


@given(names, numbers, st.lists(st.sampled_from(["move", "move", "move", "undo", "redo", "restart"]), max_size=80))
def test_any_string_of_moves_undos_and_redos(name: str, number: int, steps: list[str]) -> None:
    rules = rule_set(name)
    game = Game(rules, Deal.from_seed(number))
    chance = random.Random(number)
    line: list[Position] = [game.position]  # every position from the start to the last one that can be redone
    at = 0
    for step in steps:
        if step == "move" and game.position.legal_moves():
            line[at + 1 :] = [game.play(chance.choice(game.position.legal_moves()))]
            at += 1
        elif step == "undo" and at:
            at -= 1
            game.undo()
        elif step == "redo" and at + 1 < len(line):
            at += 1
            game.redo()
        elif step == "restart":
            game.restart()
            line, at = line[:1], 0
        assert game.position == line[at]
        assert (game.can_undo, game.can_redo) == (at > 0, at + 1 < len(line))
        assert len(game.moves) == at


@given(rule_changes(), numbers, st.integers(0, 60), st.integers(0, 10), st.booleans())
def test_a_game_comes_back_from_its_file(
    changes: tuple[str, dict[str, Any]], number: int, length: int, undos: int, done: bool
) -> None:
    rules, _ = rules_pair(*changes)
    game = random_game(rules, number, length)
    for _ in range(min(undos, len(game.moves))):
        game.undo()
    if done:
        game.finish()
    again = Game.from_json(game.to_json())
    assert again.to_json() == game.to_json()
    assert (again.position, again.moves, again.rules, again.deal) == (game.position, game.moves, rules, game.deal)
    assert (again.finished, again.outcome) == (done, game.outcome)
    again.finished = game.finished = False
    while game.can_redo:
        assert again.redo() == game.redo()
    while game.can_undo:
        assert again.undo() == game.undo()


@given(st.sampled_from(pack()), st.sampled_from(pack()))
def test_moves_come_back_from_their_texts(one: Card, two: Card) -> None:
    pair = Move.discard(one, two)
    assert str(pair) == f"{one}+{two}"
    assert Move.parse(str(pair)) == pair == Move.discard(two, one) == Move.parse(f" {two.label} + {one.label} ")
    assert hash(pair) == hash(Move.discard(two, one))
    assert Move.parse(str(Move.discard(one))) == Move.discard(one) != pair
    for word in ("draw", "redeal"):
        assert str(Move.parse(word.upper())) == word


@pytest.mark.parametrize("text", ["", "+", "8c+", "8c+5d+", "8c+5d+Kh", "X9", "8c 5d", "drew", "undo", "draw+Kh"])
def test_a_text_that_is_no_move_is_named(text: str) -> None:
    with pytest.raises(InvalidMoveError, match=r"is no move|a move discards one or two") as error:
        Move.parse(text)
    assert repr(text) in str(error.value)


@given(rule_changes(), numbers, st.integers(0, 60))
def test_equal_positions_have_equal_hashes(changes: tuple[str, dict[str, Any]], number: int, length: int) -> None:
    rules, _ = rules_pair(*changes)
    position = random_game(rules, number, length).position
    again = Position.of(
        rules,
        Deal.from_text(position.deal.text, rules.target),
        gone=position.gone,
        next=position.next,
        redeals_used=position.redeals_used,
        score=position.score,
        combo=position.combo,
    )
    assert again == position
    assert hash(again) == hash(position)
    assert {same_move(str(move)) for move in again.legal_moves()} == {
        same_move(str(move)) for move in position.legal_moves()
    }
