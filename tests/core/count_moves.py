"""Count legal move sequences with the slow game and write them down: ``python -m tests.core.count_moves``.

Only the slow game is asked. Each entry of ``tests/data/perft.json`` is a rule set (with changes), a deal, moves that
lead to a position, and how many sequences of 1, 2, 3 ... legal moves start there. Run it again only when the rules
themselves change.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.core.slow_game import NAMED, SlowGame, count, shuffled, spec, walk

PERFT_FILE = Path(__file__).parents[1] / "data" / "perft.json"
SOURCE = (
    "Counted by tests/core/slow_game.py, which knows nothing of pyramid_lab.core; written by tests/core/count_moves.py."
)

# Each with the deals and the numbers of random moves played before counting.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in NAMED),
    ("classic", {"redeals": 0}),
    ("classic", {"redeals": 1}),
    ("classic", {"win": "all"}),
    ("classic", {"draw": 3}),
    ("classic", {"coverer_pairs": True}),
    ("classic", {"stock_waste_pair": False}),
    ("cardems", {"rows": 3}),
    ("one-pass", {"rows": 4, "target": 10}),
    ("one-pass", {"draw": 2, "redeals": 2}),
    ("classic", {"rows": 5, "target": 11}),
    ("table", {"rows": 6, "target": 12, "coverer_pairs": True}),
    ("three-pile", {"piles_pair": False}),
    ("three-pile", {"rows": 5, "coverer_pairs": True, "win": "all"}),
]
MOST_SEQUENCES = 10_000


def rules_for(base: str, changes: dict[str, Any]) -> dict[str, Any]:
    return spec(NAMED[base], **changes)


def position(rules: dict[str, Any], deal: list[str], moves: list[str]) -> SlowGame:
    game = SlowGame(rules, deal)
    for move in moves:
        game = game.play(move)
    return game


def counts(game: SlowGame) -> list[int]:
    """Sequences of 1, 2, 3 ... moves, as far as there are not too many to count in a test."""
    found: list[int] = []
    while len(found) < 12:
        found.append(count(game, len(found) + 1))
        if found[-1] == 0 or found[-1] * found[-1] / (found[-2] if len(found) > 1 else 1) > MOST_SEQUENCES:
            break
    return found


def entries() -> list[dict[str, Any]]:
    found = []
    for number, (base, changes) in enumerate(VARIANTS):
        rules = rules_for(base, changes)
        for before in (0, 15, 32, 50):
            deal = shuffled(1000 * number + before, rules["target"])
            moves = [move for move, _ in walk(SlowGame(rules, deal), before, before)]
            # A game that ended on the way is counted from a little before its end.
            if not position(rules, deal, moves).moves():
                moves = moves[:-4]
            found.append(
                {
                    "base": base,
                    "changes": changes,
                    "deal": " ".join(deal),
                    "moves": " ".join(moves),
                    "counts": counts(position(rules, deal, moves)),
                }
            )
    return found


def main() -> None:
    lines = ",\n".join("    " + json.dumps(entry) for entry in entries())
    PERFT_FILE.write_text(
        f'{{\n  "source": {json.dumps(SOURCE)},\n  "positions": [\n{lines}\n  ]\n}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    main()
