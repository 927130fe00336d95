"""Hypothesis strategy: a named rule set with some of its fields changed, in any combination that can be."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.core.slow_game import NAMED


@st.composite
def rule_changes(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    base = draw(st.sampled_from(sorted(NAMED)))
    changes: dict[str, Any] = {}
    if draw(st.booleans()):
        changes |= {"rows": draw(st.integers(3, 7)), "target": draw(st.integers(10, 13))}
    if draw(st.booleans()):
        changes |= {"coverer_pairs": draw(st.booleans()), "win": draw(st.sampled_from(["pyramid", "all"]))}
    if draw(st.booleans()):
        if NAMED[base]["piles"] == 3:
            changes["piles_pair"] = draw(st.booleans())
        else:
            changes |= {
                "draw": draw(st.integers(1, 3)),
                "redeals": draw(st.sampled_from([0, 1, 2, 3, "unlimited"])),
                "useful_redeal": draw(st.integers(1, 2)),
                "stock_top_in_play": draw(st.booleans()),
            }
            changes["stock_waste_pair"] = changes["stock_top_in_play"] and draw(st.booleans())
    if draw(st.booleans()):
        points = st.integers(-20, 20)
        changes["combo"] = draw(st.booleans())
        changes["scoring"] = {
            "start_per_card": draw(st.integers(-2, 2)),
            "card": draw(points),
            "match": draw(points),
            "pyramid_card": draw(points),
            "row_bonus": tuple(
                draw(st.sampled_from([[], [1, 2, 4, 8, 16, 32, 64], [700, 600, 500, 400, 300, 200, 100]]))
            ),
            "redeal": draw(points),
            "floor": draw(st.sampled_from([None, 0, -30])),
            "clear": tuple(draw(st.lists(points, max_size=3))),
            "clear_per_card_left": draw(st.integers(-5, 5)),
        }
    return base, changes
