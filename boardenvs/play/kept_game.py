"""Who plays a game, the game, and the file that it is kept in."""

from __future__ import annotations

import numpy as np

from boardenvs.agents import Agent, agent_for, default_analyst
from boardenvs.envs.opponent import choose
from boardenvs.game.contract import Game, Position, stack
from boardenvs.play.session import GameSession
from boardenvs.play.store import GameStore

HUMAN = "human"


class KeptGame:
    """A session whose players are `human` or the texts of agents; every change is kept at once."""

    def __init__(self, session: GameSession, store: GameStore) -> None:
        self.session, self.store = session, store

    # ---- what is -----------------------------------------------------------------------------

    @property
    def players(self) -> tuple[str, str]:
        """By role."""
        return self.session.players or (HUMAN, HUMAN)

    @property
    def humans(self) -> tuple[int, ...]:
        """The roles that people play."""
        return tuple(role for role in (0, 1) if self.players[role] == HUMAN)

    @property
    def is_humans_turn(self) -> bool:
        """Whether a person is to move."""
        return not self.session.is_over and self.session.position.to_move in self.humans

    @property
    def mover(self) -> str:
        """The role to move."""
        return self.session.game.roles[self.session.position.to_move]

    @property
    def adviser(self) -> str:
        """The agent that gives hints: the opponent, or else the game's default analyst."""
        agents = [name for name in self.players if name != HUMAN]
        return agents[0] if agents else default_analyst(self.session.game)

    @property
    def counts(self) -> str:
        """How many pieces both sides have, in words."""
        counted = zip(self.session.game.roles, self.session.pieces, strict=True)
        return ", ".join(f"{role} has {count}" for role, count in counted)

    @property
    def result(self) -> str:
        """How the game ended, in words; it is over."""
        session = self.session
        goal = session.goal or (0.0, 0.0)
        if goal[0] == goal[1]:
            return "the game is a draw"
        winner = session.game.roles[goal[1] > goal[0]]
        if session.resigned is not None:
            return f"{session.game.roles[session.resigned]} resigned: {winner} wins"
        return f"the game is over: {winner} wins"

    # ---- what is done ------------------------------------------------------------------------

    def play(self, action: int) -> None:
        """Play a legal action; see `GameSession.play`."""
        self.session.play(action)
        self.store.keep(self.session)

    def undo(self) -> None:
        """Back to a person's last choice, or a resignation taken back; ValueError without one."""
        resigned = self.session.resigned is not None
        if not self.session.undo_to(self.humans) and not resigned:
            raise ValueError("there is no move of yours to take back")
        self.store.keep(self.session)

    def redo(self) -> None:
        """Play again what was taken back, up to a person's turn; ValueError where nothing was."""
        session = self.session
        if not session.redo():
            raise ValueError("there is nothing to play again")
        while session.undone and session.position.to_move not in self.humans:
            session.redo()
        self.store.keep(session)

    def resign(self) -> None:
        """Give the game up for the person whose turn it is, or comes next; ValueError where it is
        over.
        """
        mover = self.session.position.to_move
        self.session.resign(mover if mover in self.humans else 1 - mover)
        self.store.keep(self.session)

    def new_game(self) -> None:
        """Begin another game from where this one began, which stays in the file."""
        self.store.begin_another(self.session)
        session = self.session
        self.session = GameSession(session.game, session.positions[0], players=self.players)

    def change_player(self, role: int, name: str) -> None:
        """Have an agent, or `human`, go on for a role."""
        first, second = self.players
        self.session.players = (name, second) if role == 0 else (first, name)


def default_opponent(game: Game) -> str:
    """The trained policy where the game has one, else tree search, which plays all games."""
    try:
        agent_for(game, "trained")
    except ValueError:
        return "mcts"
    return "trained"


def reply(agent: Agent, game: Game, position: Position, seed: int) -> int:
    """What an agent plays in a position.

    Random choices follow from seed and ply: a move that is taken back and made again is answered
    alike. IllegalActionError where it plays what is not legal.
    """
    rng = np.random.default_rng([seed, position.ply])
    return int(choose(agent, game, stack([position]), rng)[0])
