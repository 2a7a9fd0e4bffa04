"""A window with a board to play on, by mouse and keys; pygame is imported when it opens."""

from boardenvs.play.window.game import WindowGame

__all__ = ["WindowGame"]
