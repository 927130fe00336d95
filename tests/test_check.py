"""A notebook in which no board appears: what is missing is named, and a game can be played all the same."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

import pyramid_lab.check
from pyramid_lab.check import AS_TEXT, PARTS, check


def test_here_nothing_is_missing() -> None:
    assert check().problems == ()
    assert str(check()) == "All that a board needs is here."


def test_a_package_that_is_not_installed_is_named_with_its_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(package: str) -> str:
        if package == "jupyterlab_widgets":
            raise PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(pyramid_lab.check, "version", without)
    (problem,) = check().problems
    assert "jupyterlab_widgets is not installed" in problem
    assert "python -m pip install jupyterlab_widgets" in problem
    assert "can be played as text" in check()._repr_html_()


@pytest.mark.parametrize("package", PARTS)
def test_a_part_that_jupyterlab_does_not_find_is_named(package: str, tmp_path: Path) -> None:
    for name, part in PARTS.items():
        if name != package:
            (tmp_path / part).mkdir(parents=True)
            (tmp_path / part / "package.json").touch()
    (problem,) = check([tmp_path]).problems
    assert f"does not find its part of {package}" in problem


def test_the_game_as_text_can_be_typed_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(AS_TEXT, names)
    assert "stock: 24" in capsys.readouterr().out
    assert [str(move) for move in names["game"].moves] == ["Qs+Ah"]
