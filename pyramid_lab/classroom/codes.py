"""Join codes, and slowing down whoever guesses them."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

CODE_DIGITS = 6
FREE_TRIES = 3
"""Wrong tries from one address that cost no wait: a child mistypes."""
LONGEST_WAIT = 60.0
"""Longest wait after a wrong code, in seconds."""
FORGIVEN_AFTER = 600.0
"""Seconds without a wrong code after which an address starts afresh."""
MOST_ADDRESSES = 4096
CHANGE_CODE_AFTER = 200
"""Wrong codes in all after which a new code is drawn by itself: a guess out of 10^6 never gets far."""


def new_code() -> str:
    """A random join code: digits, which every keyboard and every child has."""
    return f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}}"


def same_code(typed: str, code: str) -> bool:
    """Whether what a child typed is the code; blanks and dashes do not count. Takes the same time wherever the
    first wrong sign is."""
    plain = "".join(sign for sign in typed if sign.isalnum())
    return hmac.compare_digest(plain.encode(), code.encode())


class WrongCodeError(ValueError):
    """The code is wrong.

    Attributes:
        wait: seconds until this address may try again.
    """

    def __init__(self, wait: float) -> None:
        super().__init__("This is not the number. Look at the board and type it again.")
        self.wait = wait


class TooSoonError(ValueError):
    """This address guessed wrong before and must wait; the code was not even looked at.

    Attributes:
        wait: seconds that are left.
    """

    def __init__(self, wait: float) -> None:
        super().__init__("Too many wrong numbers. Wait a moment, then try again.")
        self.wait = wait


@dataclass(slots=True)
class _Guesser:
    wrong: int
    last: float
    free_at: float


class Doorkeeper:
    """Checks a secret and makes guessing it slow.

    After :data:`FREE_TRIES` wrong tries an address waits 1, 2, 4, ... seconds, up to :data:`LONGEST_WAIT`, before it
    may try again; meanwhile even the right code is not looked at. Every wrong try is counted.

    Args:
        now: a monotonic clock in seconds, which no change of the computer's time moves.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._guessers: dict[str, _Guesser] = {}
        self.wrong_codes = 0
        """Wrong codes since the start, from all addresses."""

    def check(self, address: str, typed: str, secret: str) -> None:
        """Let a right secret pass.

        Raises:
            TooSoonError: the address must still wait.
            WrongCodeError: it is wrong; the try is counted.
        """
        now = self._now()
        guesser = self._guessers.get(address)
        if guesser and now - guesser.last > FORGIVEN_AFTER:
            del self._guessers[address]
            guesser = None
        if guesser and now < guesser.free_at:
            raise TooSoonError(guesser.free_at - now)
        if same_code(typed, secret):
            self._guessers.pop(address, None)
            return
        self.wrong_codes += 1
        if guesser is None:
            if len(self._guessers) >= MOST_ADDRESSES:
                del self._guessers[next(iter(self._guessers))]
            guesser = _Guesser(0, now, now)
        # The address that guessed longest ago comes first.
        self._guessers.pop(address, None)
        self._guessers[address] = guesser
        guesser.wrong += 1
        guesser.last = now
        over = guesser.wrong - FREE_TRIES
        wait = min(LONGEST_WAIT, 2.0 ** min(over, 10)) if over >= 0 else 0.0
        guesser.free_at = now + wait
        raise WrongCodeError(wait)
