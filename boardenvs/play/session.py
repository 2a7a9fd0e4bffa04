"""Games between people and agents: as records, as an agent's replies, and in the file of games."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boardenvs.agents import agent_for
from boardenvs.agents.history import history_of
from boardenvs.envs.groups import choose
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.session import GameSession
from boardenvs.games import spec_of
from boardenvs.records.formats import format_of, save
from boardenvs.records.jsonl import read_jsonl
from boardenvs.records.record import Record, played
from boardenvs.utils.files import check_writable

HUMAN = "human"  # the name of a human player


def record_of(session: GameSession) -> Record:
    """Return the game so far as a record; info `resigned` names a side that has resigned."""
    start, info = session.start, session.info
    if session.resigned is not None:
        info = {**info, "resigned": session.game.sides[session.resigned]}
    own = None if start == session.game.start() else start
    return Record(session.game, session.actions, own, session.goal, session.players, info)


def session_of(record: Record) -> GameSession:
    """Return a recorded game after its last ply; IllegalActionError if it breaks the rules."""
    session, sides = played(record), record.game.sides
    resigned = session.info.get("resigned")
    if resigned in sides and not session.is_over:
        session.resign(sides.index(resigned))
        del session.info["resigned"]
    return session


def default_opponent(game: Game) -> str:
    """Return the shielded trained policy for a game that has one, else "mcts"."""
    trained = "trained:shield=true"
    try:
        agent_for(game, trained)
    except ValueError:
        return "mcts"
    return trained


def choose_action(at: Position | GameSession, player: object, seed: int = 0) -> int:
    """Return the action that a player chooses in a position, or in a game, whose plies it then gets
    if it wants them.

    The player is a text, an agent or a function, as in `boardenvs.play_match`. Random choices
    depend on seed and ply only, so a move that is taken back and played again gets the same reply.
    ValueError or TypeError if the game is over or the player cannot play it, IllegalActionError if
    the player's action is not legal.

    ```python
    import boardenvs

    position = boardenvs.games.make("othello").start()
    action = boardenvs.choose_action(position, "alphabeta:depth=3")
    print(position.game.action_name(action), position.step(action))
    ```
    """
    position, history = (at, None) if isinstance(at, Position) else (at.position, history_of(at))
    game = position.game
    if position.is_over():
        raise ValueError(f"the game is over in {position.fen()!r}: no action is left to choose")
    rng = np.random.default_rng([seed, position.ply])
    return int(choose(agent_for(game, player), game, stack([position]), rng, history)[0])


class GameStore:
    """A file of records in JSON Lines, whose last one is the game in progress.

    The constructor finds what could go wrong before there is a game to lose: ValueError if the file
    has another format or broken records, OSError if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        if format_of(path) != "jsonl":
            raise ValueError(f"{path}: games are kept in JSON Lines, so end the name in .jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
        self.path = path
        self._finished = [*read_jsonl(path)] if path.exists() else []

    def resume(self) -> GameSession:
        """Return the file's last game to go on with; ValueError if there is none, or it is over."""
        if not self._finished:
            raise ValueError(f"{self.path} has no games to go on with")
        session = session_of(self._finished[-1])
        if session.is_over:
            raise ValueError(
                f"the last game in {self.path}, of {spec_of(session.game)}, is over: leave "
                "--resume out to begin a new one"
            )
        self._finished.pop()
        return session

    def keep(self, session: GameSession) -> None:
        """Write the game so far to the file; a game without moves is not kept."""
        game = [record_of(session)] if session.actions else []
        if game or self.path.exists():
            save(self.path, [*self._finished, *game])
