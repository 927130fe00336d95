"""Where the log is, as commands are told: whatever they write is to be there when they have ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import click

_Places = TypeVar("_Places", str | None, tuple[str, ...])


def kept(context: click.Context, parameter: click.Parameter, places: _Places) -> _Places:
    """Callback of an option or argument that names logs: refuses databases in memory, also from the environment.

    Raises:
        click.BadParameter: the place is gone when the command ends.
    """
    from pyramid_lab.log.errors import StoreError
    from pyramid_lab.log.store import default_place, store_url

    named: Sequence[str] = places if isinstance(places, tuple) else [places or default_place()]
    for place in named:
        try:
            url = store_url(place)
        except StoreError:
            continue  # the command itself says what is wrong with it
        where = url.database or ":memory:"
        if url.get_backend_name() == "sqlite" and (":memory:" in where or url.query.get("mode") == "memory"):
            raise click.BadParameter(
                f"{place} is a database in memory: what is written there is lost when the command ends. Name a file, "
                "such as log.sqlite3 or sqlite:///C:/school/log.sqlite3.",
                context,
                parameter,
            )
    return places
