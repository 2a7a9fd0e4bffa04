"""Records of play: of a match's games, and of the games of an environment as they happen."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pettingzoo.utils import BaseWrapper

from boardenvs.envs.aec import BoardAECEnv
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.game.rules import LOSS, WIN
from boardenvs.records.record import Record, make_record

if TYPE_CHECKING:
    from boardenvs.arena.match_result import MatchResult


def record_match(
    game: Game, match: MatchResult, players: tuple[str, str], *, cpu: bool = False
) -> list[Record]:
    """Return the finished games of a match that `play_match` returned.

    The two games of an opening follow one another. info has the number of the `opening`, from 1,
    the player that forfeited as `forfeit`, and as `per_game` the mean counts of a game: tokens,
    illegal replies.
    cpu: add moves and CPU seconds, which vary from run to run. ValueError if the match has no
    actions because it was read from a journal.
    """
    if match.actions is None:
        raise ValueError("the match has no actions: a journal does not keep them")
    per_game = _per_game(match, players, cpu)
    found: list[Record] = []
    for opening, seat in itertools.product(range(match.scores.shape[1]), (0, 1)):
        score = float(match.scores[seat, opening])  # of the first player, in this role
        if math.isnan(score):
            continue
        actions, forfeited = match.actions[seat, opening], match.forfeits[seat, opening]
        info: dict[str, Any] = {"opening": opening + 1}
        if forfeited:
            info["forfeit"] = players[forfeited - 1]
        if per_game:
            info["per_game"] = per_game
        goal = WIN * score, WIN * (1 - score)
        if seat == 1:
            goal = goal[::-1]
        names = players if seat == 0 else players[::-1]
        plies = tuple(actions[actions >= 0].tolist())
        found.append(Record(game, plies, goal=goal, players=names, info=info))
    return found


def _per_game(
    match: MatchResult, players: tuple[str, str], cpu: bool
) -> dict[str, dict[str, float]]:
    games = max(1, int(np.isfinite(match.scores).sum()))
    found = {}
    for player, faults in zip(players, match.faults, strict=True):
        counted = dict(faults.counts)
        if cpu:
            counted |= {"moves": faults.moves, "cpu_seconds": faults.all_cpu_seconds}
        if counted:
            found[player] = {name: round(amount / games, 6) for name, amount in counted.items()}
    return found


class EnvRecorder(BaseWrapper):  # type: ignore[misc]  # PettingZoo has no types
    """A turn-based environment that keeps the records of its games.

        env = EnvRecorder(boardenvs.othello_v0.env())
        ...  # play
        save(Path("games.jsonl"), env.records)

    A game goes to `records` when it is over, or when `reset` begins another one. One that ends
    with an illegal action has the goal values of a forfeit, and the offender as info `forfeit`.
    """

    def __init__(self, env: Any, players: tuple[str, str] | None = None) -> None:
        if not isinstance(env.unwrapped, BoardAECEnv):
            raise TypeError(f"{env} is not a turn-based environment of boardenvs")
        super().__init__(env)
        self.records: list[Record] = []
        self._players = players  # names by role
        self._start: Position | None = None
        self._actions: list[int] = []

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; see `BoardAECEnv.reset`."""
        if self._actions:
            self._keep(None)
        super().reset(seed, options)
        position = self._board.position
        self._start = None if position == self._board.game.start() else position

    def step(self, action: Any) -> None:
        """Play `action`; see `BoardAECEnv.step`."""
        board, before = self._board, self._board.position
        was_over, role = board.is_over, before.to_move
        super().step(action)
        if board.position is not before:
            self._actions.append(int(action))
        if board.is_over and not was_over:
            self._keep(role if board.position is before else None)

    @property
    def _board(self) -> BoardAECEnv:
        board: BoardAECEnv = self.env.unwrapped
        return board

    def _keep(self, forfeit: int | None) -> None:
        """Keep the game; forfeit: the role that forfeited it."""
        game = self._board.game
        record = make_record(game, self._actions, start=self._start, players=self._players)
        if forfeit is not None:
            goal = (LOSS, WIN) if forfeit == 0 else (WIN, LOSS)
            record = replace(record, goal=goal, info={"forfeit": game.roles[forfeit]})
        self.records.append(record)
        self._actions = []
