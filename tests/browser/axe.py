"""What axe-core finds wrong with a part of a page."""

from __future__ import annotations

from collections.abc import Sequence

from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Page

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# What depends on the colours alone.
COLOURS = ("color-contrast", "link-in-text-block")


def assert_axe_finds_nothing(
    page: Page, root: str, state: str = "", *, rules: Sequence[str] = RULES, without: str | None = None
) -> None:
    """Fail, with axe's report, if it finds anything in the element, except in what `without` selects.

    A document that has axe already is not given it again, and what passes is not told: both take as long as the rules.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    violations = page.evaluate(
        """async ([root, without, runOnly]) => {
            const context = { include: [root], exclude: without === null ? [] : [without] };
            return (await axe.run(context, { runOnly, resultTypes: ["violations"] })).violations;
        }""",
        [root, without, list(rules)],
    )
    assert violations == [], f"{state}: {AxeResults({'violations': violations}).generate_report()}"
