"""The boards of a training in JAX: self-play and opponents side by side, openings and symmetries.

What `boardenvs.envs.sb3.BoardVecEnv` does for NumPy, as pure functions of whole batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from boardenvs.agents.jax_players import JaxNetwork, jax_player, network_player
from boardenvs.envs.batch import SAME_SIDE, ZERO_SUM
from boardenvs.game.jax_rules import Board, JaxRules, choose
from boardenvs.game.state import State
from training.settings import POOL, SELF_PLAY, SelfPlaySettings

# The networks of the pool's boards, each with a first axis for the groups of these boards.
Pool: TypeAlias = JaxNetwork

# Openings a board that each update draws from.
_SPARE = 2


class Games(NamedTuple):
    """B games in progress; where there is an opponent, the side to move is the learner's."""

    board: Board
    symmetry: jax.Array  # (B,) int32: index of the game's symmetries under which it is seen


class Seen(NamedTuple):
    """What the learner sees: each game under its symmetry."""

    planes: jax.Array  # (B, C * 64) bool, plane by plane
    legal: jax.Array  # (B, A) bool


class Result(NamedTuple):
    """What a step brought."""

    rewards: jax.Array  # (B,) float32, of who acted: +1, 0 or -1
    over: jax.Array  # (B,) bool
    plies: jax.Array  # (B,) int32: the length of the game
    wiped_out: jax.Array  # (B,) bool: a side has no piece left


class Group(NamedTuple):
    """The boards of one kind; nobody replies in self-play."""

    name: str
    rows: slice
    act: Callable[[Board, jax.Array], jax.Array] | None  # the opponent's, by a board and a key
    network: int | None  # of the pool, by its index, which plays where there is a pool


class Boards:
    """The boards of all groups, one group after the other.

    Games begin from `starts` where given, else after random plies. ValueError for opponents that
    do not play in JAX.
    """

    def __init__(
        self, rules: JaxRules, settings: SelfPlaySettings, starts: State | None = None
    ) -> None:
        self.rules = rules
        self._settings = settings
        self._starts = None if starts is None else rules.boards(starts)
        self.groups = self._make_groups()
        self.size = self.groups[-1].rows.stop
        counts = [g.rows.stop - g.rows.start for g in self.groups]
        # Of each board: whether an opponent replies, its group's size, and its group's first board.
        self._replies = np.repeat([g.act is not None for g in self.groups], counts)
        self._sizes = np.repeat(counts, counts)
        self._firsts = np.repeat([g.rows.start for g in self.groups], counts)
        self.discounts = jnp.where(self._replies, SAME_SIDE, ZERO_SUM)
        game = rules.game
        self._symmetries = game.symmetries if settings.symmetries else game.symmetries[:1]
        # Under each symmetry, the square and the action on the board of those that are seen.
        squares = np.array([symmetry.squares for symmetry in self._symmetries])
        images = np.stack([game.action_images(symmetry) for symmetry in self._symmetries])
        self._squares = jnp.asarray(np.argsort(squares, axis=1), jnp.int32)
        self._originals = jnp.asarray(np.argsort(images, axis=1), jnp.int32)

    def _make_groups(self) -> list[Group]:
        groups: list[Group] = []
        end = pool = 0
        for name, count in self._settings.groups():
            rows, end = slice(end, end + count), end + count
            if name == SELF_PLAY:
                groups.append(Group(name, rows, None, None))
            elif name == POOL:
                groups.append(Group(name, rows, self.rules.sample, pool))
                pool += 1
            else:
                groups.append(Group(name, rows, jax_player(self.rules, name).act, None))
        return groups

    # ---- what the learner sees and does ------------------------------------------------------

    def view(self, games: Games) -> Seen:
        """The games as the learner sees them."""
        planes = jax.vmap(self.rules.planes)(games.board)
        legal = jax.vmap(self.rules.legal)(games.board)
        if len(self._symmetries) > 1:
            squares = self._squares[games.symmetry][:, None]
            by_plane = planes.reshape(self.size, -1, 64)
            planes = jnp.take_along_axis(by_plane, squares, axis=2).reshape(self.size, -1)
            legal = jnp.take_along_axis(legal, self._originals[games.symmetry], axis=1)
        return Seen(planes, legal)

    def step(
        self, games: Games, actions: jax.Array, key: jax.Array, openings: Board, pool: Pool | None
    ) -> tuple[Games, Result]:
        """An action in each game, as seen, and the replies; new games, drawn from `openings`, where
        it ended one.
        """
        rules = self.rules
        if len(self._symmetries) > 1:
            actions = self._originals[games.symmetry, actions]
        reply_key, draw_key = jax.random.split(key)
        board = jax.vmap(rules.advance)(games.board, actions)
        over = jax.vmap(rules.is_over)(board)
        rewards = jnp.where(over, -jax.vmap(rules.outcome)(board), 0.0)
        board = self._replied(board, self._replies & ~over, reply_key, pool)
        ended = jax.vmap(rules.is_over)(board) & ~over
        rewards = jnp.where(ended, jax.vmap(rules.outcome)(board), rewards)
        over |= ended
        wiped_out = over & jax.vmap(rules.is_wiped_out)(board)
        result = Result(rewards, over, board.ply, wiped_out)
        begun = self.begin(draw_key, openings)
        return jax.vmap(choose)(over, begun, games._replace(board=board)), result

    def _replied(self, board: Board, waiting: Any, key: jax.Array, pool: Pool | None) -> Board:
        """The boards after the opponents' plies where one is waited for; as many times the boards
        of each group as there are.
        """
        if not self._replies.any():
            return board
        times, actions = len(board.ply) // self.size, []
        for group in self.groups:
            part = _rows(board, slice(times * group.rows.start, times * group.rows.stop))
            key, own_key = jax.random.split(key)
            act = group.act
            if pool is not None and group.network is not None:
                network = jax.tree.map(lambda x, index=group.network: x[index], pool)
                act = network_player(self.rules, network, sample=True).act
            if act is None:
                actions.append(jnp.zeros_like(part.ply))  # of no effect: nobody waits there
            else:
                actions.append(jax.vmap(act)(part, jax.random.split(own_key, len(part.ply))))
        after = jax.vmap(self.rules.advance)(board, jnp.concatenate(actions))
        chosen: Board = jax.vmap(choose)(waiting, after, board)
        return chosen

    # ---- new games ---------------------------------------------------------------------------

    def begin(self, key: jax.Array, openings: Board) -> Games:
        """New games on all boards, each with one of its group's openings."""
        row_key, symmetry_key = jax.random.split(key)
        count = _SPARE * self._sizes
        rows = _SPARE * self._firsts + jax.random.randint(row_key, (self.size,), 0, count)
        chosen = jax.random.randint(symmetry_key, (self.size,), 0, len(self._symmetries))
        return Games(_rows(openings, rows), chosen)

    def openings(self, key: jax.Array, pool: Pool | None) -> tuple[Board, jax.Array]:
        """Positions that the games of an update begin from, `_SPARE` times the boards of each
        group, with the learner to move; and whether there is one for every group, () bool.
        """
        play_key, reply_key = jax.random.split(key)
        board, fine = self._first_plies(play_key, _SPARE * self.size)
        waiting = jnp.repeat(self._replies, _SPARE) & (board.to_move != self._seats(len(fine)))
        board = self._replied(board, waiting, reply_key, pool)
        fine &= ~jax.vmap(self.rules.is_over)(board)
        # In each group, those that are fine take the places of the others.
        firsts = _SPARE * jnp.repeat(self._firsts, _SPARE)
        counts = jnp.zeros(len(fine), int).at[firsts].add(fine)[firsts]
        order = jnp.argsort(2 * firsts + ~fine, stable=True)
        place = jnp.arange(len(fine)) - firsts
        rows = order[firsts + place % jnp.maximum(1, counts)]
        return _rows(board, rows), (counts > 0).all()

    def _seats(self, count: int) -> jax.Array:
        """The learner's role against opponents: the one that learns, or each in turn."""
        learn = self._settings.learn
        if learn == "both":
            return jnp.arange(count) % 2
        return jnp.full(count, self.rules.game.roles.index(learn))

    def _first_plies(self, key: jax.Array, count: int) -> tuple[Board, jax.Array]:
        """Positions after the plies of openings, and whether the game goes on there."""
        rules, (low, high) = self.rules, self._settings.opening_plies
        length_key, key = jax.random.split(key)
        if self._starts is not None:
            rows = jax.random.randint(length_key, (count,), 0, len(self._starts.ply))
            return _rows(self._starts, rows), jnp.ones(count, bool)
        lengths = jax.random.randint(length_key, (count,), low, high + 1)

        def ply(board: Board, key: jax.Array) -> tuple[Board, None]:
            halves = jax.random.bits(key, (2, count), jnp.uint32)
            actions = jax.vmap(rules.sample_by)(board, rules.words.join(*halves))
            after = jax.vmap(rules.advance)(board, actions)
            stays = (board.ply >= lengths) | jax.vmap(rules.is_over)(board)
            return jax.vmap(choose)(stays, board, after), None

        start = jax.tree.map(lambda x: jnp.broadcast_to(x, (count,)), rules.start)
        board, _ = jax.lax.scan(ply, start, jax.random.split(key, high))
        return board, ~jax.vmap(rules.is_over)(board)


def _rows(board: Board, rows: Any) -> Board:
    chosen: Board = jax.tree.map(lambda x: x[rows], board)
    return chosen
