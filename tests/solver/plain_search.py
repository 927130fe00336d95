"""The independent oracle: a breadth-first search over the rules' own legal moves, with no pruning at all."""

from __future__ import annotations

from random import Random

from pyramid_lab.core import UNLIMITED, Deal, Outcome, Position, Rules, pack


def fewest_steps(position: Position, most: int | None = None) -> int | None:
    """The length of a shortest win, or ``None`` if there is none; raises ``OverflowError`` past `most` positions."""
    if position.outcome is Outcome.WON:
        return 0
    unlimited = position.rules.redeals == UNLIMITED
    seen = {(position.gone, position.next, position.redeals_used)}
    layer, steps = [position], 0
    while layer:
        steps += 1
        following = []
        for current in layer:
            for move in current.legal_moves():
                after = current.play(move)
                key = (after.gone, after.next, 0 if unlimited else after.redeals_used)
                if key in seen:
                    continue
                if after.outcome is Outcome.WON:
                    return steps
                seen.add(key)
                following.append(after)
                if most is not None and len(seen) > most:
                    raise OverflowError
        layer = following
    return None


def random_rules(rng: Random, rows: int | None = None) -> Rules:
    """Rules with every field drawn anew."""
    three = rng.random() < 0.25
    stock_top = not three and rng.random() < 0.5
    return Rules(
        name="random",
        rows=rows or rng.choice((3, 3, 4, 4, 5)),
        target=rng.choice((10, 11, 12, 13)),
        draw=3 if three else rng.choice((1, 1, 2, 3)),
        piles=3 if three else 1,
        redeals=0 if three else rng.choice((0, 0, 1, 2, 3, UNLIMITED)),
        stock_top_in_play=stock_top,
        stock_waste_pair=stock_top and rng.random() < 0.7,
        piles_pair=three and rng.random() < 0.7,
        coverer_pairs=rng.random() < 0.3,
        win="all" if rng.random() < 0.3 else "pyramid",
        useful_redeal=rng.choice((1, 1, 2, 2, 3, 4)),
    )


def random_position(rng: Random, rules: Rules, pyramid_cards: int, stock_cards: int) -> Position:
    """A position with about so many cards left: cards are taken from the pyramid bottom up, and from anywhere in
    the stock; the draws and redeals made so far are drawn at random too.
    """
    cards = list(pack(rules.target))
    rng.shuffle(cards)
    if rng.random() < 0.5:
        # Few ranks make many pairs: bring the cards of some rank pairs to the front.
        wanted = set(rng.sample(range(1, rules.target + 1), 3))
        wanted |= {rules.target - rank for rank in wanted}
        cards.sort(key=lambda card: (card.rank not in wanted) and rng.random() < 0.8)
        pyramid = cards[: rules.n_pyramid + stock_cards]
        rng.shuffle(pyramid)
        cards[: len(pyramid)] = pyramid
    deal = Deal(tuple(cards), rules.target)
    gone, left = 0, rules.n_pyramid
    while left > pyramid_cards:
        free = [
            place
            for place in range(rules.n_pyramid)
            if not gone >> place & 1 and not any(not gone >> cover & 1 for cover in coverers(place, rules.rows))
        ]
        gone |= 1 << rng.choice(free)
        left -= 1
    in_front = range(rules.n_pyramid, min(rules.n_pyramid + stock_cards, rules.pack_size))
    stock = range(rules.n_pyramid, rules.pack_size)
    stock_cards = min(stock_cards, len(stock))
    kind = rng.random()
    if kind < 0.2:
        kept = list(in_front)
    elif kind < 0.4:
        kept = rng.sample(stock, stock_cards)
    else:
        # Partners of what is left in the pyramid come first, so that many positions can be won.
        wanted = [rules.target - deal[at].rank for at in range(rules.n_pyramid) if not gone >> at & 1]
        kept = sorted(stock, key=lambda at: deal[at].rank not in wanted and rng.random() < 0.95)[:stock_cards]
    for place in stock:
        if place not in kept:
            gone |= 1 << place
    following = rng.choice([rules.n_pyramid, rng.randint(rules.n_pyramid, rules.pack_size)])
    if rules.piles == 3:
        following -= (following - rules.n_pyramid) % 3
    used = 0 if rules.redeals == UNLIMITED else rng.choice((0, rng.randint(0, rules.redeals)))
    return Position.of(rules, deal, gone=gone, next=following, redeals_used=used)


def coverers(place: int, rows: int) -> tuple[int, ...]:
    """The places that lie on a place of the pyramid."""
    row = 1
    while row * (row + 1) // 2 <= place:
        row += 1
    return () if row == rows else (place + row, place + row + 1)
