"""The file that a game in progress is kept in, ply by ply, beside the games before it."""

from __future__ import annotations

from pathlib import Path

from boardenvs.games import spec_of
from boardenvs.play.session import GameSession
from boardenvs.records.formats import format_of, load, save
from boardenvs.records.record import Record
from boardenvs.utils.files import check_writable


class GameStore:
    """A file of records in JSON Lines. What was in it stays; the game in progress is its last.

    ValueError where the file has another format, or holds what is no record; OSError where it
    cannot be written. Both before there is a game to lose.
    """

    def __init__(self, path: Path) -> None:
        if format_of(path) != "jsonl":
            raise ValueError(f"{path}: games are kept in JSON Lines, so end the name in .jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
        self.path = path
        self._finished: list[Record] = load(path) if path.exists() else []

    def resume(self) -> GameSession:
        """The file's last game, to go on with; ValueError where there is none, or it is over."""
        if not self._finished:
            raise ValueError(f"{self.path} has no games to go on with")
        session = GameSession.of_record(self._finished[-1])
        if session.is_over:
            raise ValueError(
                f"the last game in {self.path}, of {spec_of(session.game)}, is over: leave "
                "--resume out to begin a new one"
            )
        self._finished.pop()
        return session

    def keep(self, session: GameSession) -> None:
        """Write the game as it stands; one without a move is not kept."""
        game = [session.record()] if session.actions else []
        if game or self.path.exists():
            save(self.path, [*self._finished, *game])

    def begin_another(self, session: GameSession) -> None:
        """Keep this game for good, as another one begins."""
        self.keep(session)
        if session.actions:
            self._finished.append(session.record())
