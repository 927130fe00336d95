"""The one kind of error that sheets raise for bad input."""


class SheetError(ValueError):
    """A sheet that cannot be made or saved as asked. The message names the input and what to give instead."""
