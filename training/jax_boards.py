"""The boards of a training in JAX: self-play and opponents side by side, openings and symmetries.

What `boardenvs.envs.sb3.BoardVecEnv` does for NumPy, as pure functions of whole batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardenvs.agents.jax_players import (
    JaxNetwork,
    jax_player,
    network_evaluator,
    network_player,
)
from boardenvs.agents.jax_ppo import Result
from boardenvs.envs.batch import SAME_SIDE, ZERO_SUM
from boardenvs.game.jax_rules import JaxPosition, JaxRules, choose
from training.boards import board_groups, played_starts
from training.config import Config
from training.settings import POOL

# Openings a board that each update draws from.
_SPARE = 2


class Games(NamedTuple):
    """B games in progress; where there is an opponent, the side to move is the learner's."""

    board: JaxPosition
    symmetry: jax.Array  # (B,) int32: index of the game's symmetries under which it is seen


class Seen(NamedTuple):
    """What the learner sees: each game under its symmetry."""

    planes: jax.Array  # (B, C * R * F) bool, plane by plane
    legal: jax.Array  # (B, A) bool


class Boards:
    """The boards of all groups, one group after the other.

    ValueError for opponents that do not play in JAX.
    """

    def __init__(self, config: Config) -> None:
        game = config.make_game()
        self.rules = JaxRules(game)
        self._settings = config.self_play
        starts = played_starts(config)
        self._starts = None if starts is None else self.rules.boards(starts)
        self._groups = board_groups(config)
        sizes = [group.boards for group in self._groups]
        opponents = [group.opponent for group in self._groups]
        self._players = [None if x is None else jax_player(self.rules, x) for x in opponents]
        # Of each board: its group's name, size and first board, and whether an opponent replies.
        self.names = np.repeat([group.name for group in self._groups], sizes)
        self._sizes = np.repeat(sizes, sizes)
        self._firsts = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        self._replies = np.repeat([player is not None for player in self._players], sizes)
        self.size = len(self.names)
        self._symmetries = game.symmetries if self._settings.symmetries else game.symmetries[:1]
        # Under each symmetry, the square and the action on the board of those that are seen.
        squares = np.array([symmetry.squares for symmetry in self._symmetries])
        images = np.stack([game.action_images(symmetry) for symmetry in self._symmetries])
        self._squares = jnp.asarray(np.argsort(squares, axis=1), jnp.int32)
        self._originals = jnp.asarray(np.argsort(images, axis=1), jnp.int32)

    # ---- what the learner sees and does ------------------------------------------------------

    def view(self, games: Games) -> Seen:
        """The games as the learner sees them."""
        planes = jax.vmap(self.rules.planes)(games.board)
        legal = jax.vmap(self.rules.legal)(games.board)
        if len(self._symmetries) > 1:
            squares = self._squares[games.symmetry][:, None]
            by_plane = planes.reshape(self.size, -1, self.rules.game.board.size)
            planes = jnp.take_along_axis(by_plane, squares, axis=2).reshape(self.size, -1)
            legal = jnp.take_along_axis(legal, self._originals[games.symmetry], axis=1)
        return Seen(planes, legal)

    def step(
        self,
        games: Games,
        actions: jax.Array,
        key: jax.Array,
        openings: JaxPosition,
        pool: Sequence[JaxNetwork],
    ) -> tuple[Games, Result]:
        """An action in each game, as seen, and the replies; new games, drawn from `openings`, where
        it ended one. `pool` are the networks of the pool's groups, empty where they play randomly;
        `Result.more` are the fields of `EndedGames`, for each board.
        """
        rules = self.rules
        if len(self._symmetries) > 1:
            actions = self._originals[games.symmetry, actions]
        reply_key, draw_key = jax.random.split(key)
        board = jax.vmap(rules.step_words)(games.board, actions)
        over = rules.is_over(board)
        seats = games.board.to_move
        rewards = jnp.where(over, jax.vmap(rules.outcome)(board, seats), 0.0)
        passed = board.to_move != seats
        discounts = jnp.where(self._replies | ~passed, SAME_SIDE, ZERO_SUM)
        board = self._replied(board, self._replies & ~over & passed, reply_key, pool)
        by_reply = rules.is_over(board) & ~over
        rewards = jnp.where(by_reply, jax.vmap(rules.outcome)(board, seats), rewards)
        over |= by_reply
        ended = {
            "games": over,
            "plies": jnp.where(over, board.ply, 0),
            "points": jnp.where(over, (1 + rewards) / 2, 0),
            "wiped_out": over & jax.vmap(rules.is_wiped_out)(board),
        }
        begun = self.begin(draw_key, openings)
        games = choose(over, begun, games._replace(board=board))
        return games, Result(rewards, over, discounts, ended)

    def _replied(
        self, board: JaxPosition, waiting: Any, key: jax.Array, pool: Sequence[JaxNetwork]
    ) -> JaxPosition:
        """The boards after the opponents' plies where they are waited for; as many times the boards
        of each group as there are.
        """
        if not self._replies.any():
            return board
        return self.rules.after_turn(board, waiting, partial(self._ply, pool), key)

    def _ply(self, pool: Sequence[JaxNetwork], board: JaxPosition, key: jax.Array) -> JaxPosition:
        """The boards after a ply of the opponents."""
        times, end, networks, actions = len(board.ply) // self.size, 0, iter(pool), []
        for group, player in zip(self._groups, self._players, strict=True):
            begin, end = end, end + times * group.boards
            part = _rows(board, slice(begin, end))
            key, own_key = jax.random.split(key)
            if pool and group.name == POOL:
                evaluate = network_evaluator(self.rules, next(networks))
                player = network_player(evaluate, sample=True)
            if player is None:
                actions.append(jnp.zeros_like(part.ply))  # of no effect: nobody waits there
            else:
                keys = jax.random.split(own_key, end - begin)
                actions.append(jax.vmap(player.act)(part, keys))
        after: JaxPosition = jax.vmap(self.rules.step_words)(board, jnp.concatenate(actions))
        return after

    # ---- new games ---------------------------------------------------------------------------

    def begin(self, key: jax.Array, openings: JaxPosition) -> Games:
        """New games on all boards, each with one of its group's openings."""
        row_key, symmetry_key = jax.random.split(key)
        count = _SPARE * self._sizes
        rows = _SPARE * self._firsts + jax.random.randint(row_key, (self.size,), 0, count)
        chosen = jax.random.randint(symmetry_key, (self.size,), 0, len(self._symmetries))
        return Games(_rows(openings, rows), chosen)

    def openings(self, key: jax.Array, pool: Sequence[JaxNetwork]) -> tuple[JaxPosition, jax.Array]:
        """Positions that the games of an update begin from, `_SPARE` times the boards of each
        group, with the learner to move; and whether there is one for every group, () bool.
        """
        rules = self.rules
        play_key, reply_key = jax.random.split(key)
        board, fine = self._first_plies(play_key, _SPARE * self.size)
        # The learner's role against opponents: the one that learns, or each in turn.
        learn, roles = self._settings.learn, rules.game.roles
        seats = np.arange(len(fine)) % 2 if learn == "both" else roles.index(learn)
        waiting = np.repeat(self._replies, _SPARE) & (board.to_move != seats)
        board = self._replied(board, waiting, reply_key, pool)
        fine &= ~rules.is_over(board)
        # In each group, those that are fine take the places of the others.
        firsts = _SPARE * jnp.repeat(self._firsts, _SPARE)
        counts = jnp.zeros(len(fine), int).at[firsts].add(fine)[firsts]
        order = jnp.argsort(2 * firsts + ~fine, stable=True)
        place = jnp.arange(len(fine)) - firsts
        rows = order[firsts + place % jnp.maximum(1, counts)]
        return _rows(board, rows), (counts > 0).all()

    def _first_plies(self, key: jax.Array, count: int) -> tuple[JaxPosition, jax.Array]:
        """Positions after the plies of openings, and whether the game goes on there."""
        rules, (low, high) = self.rules, self._settings.opening_plies
        length_key, key = jax.random.split(key)
        if self._starts is not None:
            rows = jax.random.randint(length_key, (count,), 0, len(self._starts.ply))
            return _rows(self._starts, rows), jnp.ones(count, bool)
        lengths = jax.random.randint(length_key, (count,), low, high + 1)

        def ply(board: JaxPosition, key: jax.Array) -> tuple[JaxPosition, None]:
            halves = jax.random.bits(key, (2, count), jnp.uint32)
            actions = jax.vmap(rules.sample_by)(board, rules.words.join(*halves))
            after = jax.vmap(rules.step_words)(board, actions)
            return choose((board.ply >= lengths) | rules.is_over(board), board, after), None

        start = jax.tree.map(lambda x: jnp.broadcast_to(x, (count,)), rules.start)
        board, _ = jax.lax.scan(ply, start, jax.random.split(key, high))
        return board, ~rules.is_over(board)


def _rows(board: JaxPosition, rows: Any) -> JaxPosition:
    chosen: JaxPosition = jax.tree.map(lambda x: x[rows], board)
    return chosen
