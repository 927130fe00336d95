"""What can be wrong with a log. Every message says what was found, that nothing was changed, and what to do."""

from __future__ import annotations


class StoreError(ValueError):
    """A log that cannot be opened or used; nothing was overwritten."""


class NewerSchemaError(StoreError):
    """The log was written by a newer Pyramid Lab than this one."""


class NotALogError(StoreError):
    """The path or database holds something else than a log: a folder, another file, other tables."""


class DamagedLogError(StoreError):
    """The database file is damaged."""


class StoreAwayError(StoreError):
    """The database cannot be reached, is locked or cannot be written now; trying again later can help."""


class NoLogError(StoreError):
    """There is no log at this place, and none was to be made."""


class RosterError(ValueError):
    """A roster that cannot be read; nothing was written.

    Attributes:
        problems: ``(line, sentence)`` for each thing that is wrong; line 0 stands for the file as a whole.
    """

    def __init__(self, problems: list[tuple[int, str]]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        lines = [f"line {line}: {sentence}" if line else sentence for line, sentence in self.problems]
        return "\n".join(lines)


class ExportError(ValueError):
    """An export that cannot be written or read back; the message names the file and the mend."""
