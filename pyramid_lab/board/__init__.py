"""The board: the widget on which a game is played on the page, and measured."""

from pyramid_lab.board.board import Board
from pyramid_lab.board.modes import ModeError, Modes
from pyramid_lab.board.replay import ResumeError
from pyramid_lab.board.times import ResponseTimes, response_times

__all__ = ["Board", "ModeError", "Modes", "ResponseTimes", "ResumeError", "response_times"]
