"""Environments of every game as pure functions of JAX, for one board: `jax.vmap` makes batches.

    env = boardenvs.envs.jax.make("othello")
    state = jax.vmap(env.init)(keys)
    state = jax.vmap(env.step)(state, actions, keys)

The fields of a state are named as Pgx names them; `pgx` beside it has the same as a `pgx.Env`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from boardenvs import games
from boardenvs.agents.jax_players import JaxPlayer, jax_evaluator, jax_player
from boardenvs.envs.groups import Opponent
from boardenvs.game.contract import Game, stack
from boardenvs.game.jax_rules import JaxPosition, JaxRules, choose
from boardenvs.game.rules import ILLEGAL_ACTION_REWARD
from boardenvs.game.state import State

PLAYERS = 2
_LEARNER = 0  # the player that an environment with an opponent is for


class JaxState(NamedTuple):
    """One game. Players are 0 and 1; which of them has the first role is drawn for each game."""

    current_player: jax.Array  # () int32: who is to move
    observation: jax.Array  # (8, 8, C) bool: what that player sees
    rewards: jax.Array  # (2,) float32: of the players, for the last step
    terminated: jax.Array  # () bool: the last step ended a game
    truncated: jax.Array  # () bool: the last step ended a game by the cap on plies
    legal_action_mask: jax.Array  # (A,) bool
    board: JaxPosition


# What a network says of a game: the logits of actions, (A,) float32, and the value to the current
# player, () float32.
Evaluate: TypeAlias = Callable[[JaxState], tuple[jax.Array, jax.Array]]


class RecurrentOutput(NamedTuple):
    """What a step of a search gives, of B games: the fields of `mctx.RecurrentFnOutput`."""

    reward: jax.Array  # (B,) float32: to who has moved
    discount: jax.Array  # (B,) float32: what the value counts for who has moved
    prior_logits: jax.Array  # (B, A) float32
    value: jax.Array  # (B,) float32: to who is to move


RecurrentFn: TypeAlias = Callable[
    [Any, jax.Array, jax.Array, JaxState], tuple[RecurrentOutput, JaxState]
]


def make(
    game: str | Game, *, opponent: Opponent | None = None, autoreset: bool = True, **rules: Any
) -> JaxEnv:
    """The environment of a game, or of its text with the parameters of its rules.

    ```python
    import boardenvs.envs.jax
    import jax

    env = boardenvs.envs.jax.make("othello")
    step = jax.jit(jax.vmap(env.step))
    keys = jax.random.split(jax.random.key(0), 8)
    state = jax.vmap(env.init)(keys)
    state = step(state, jax.vmap(env.sample)(state, keys), keys)
    print(state.observation.shape, state.current_player)
    ```
    """
    return JaxEnv(games.make(game, **rules), opponent=opponent, autoreset=autoreset)


class JaxEnv:
    """A game for JAX. `init` and `step` take one board, and may be jitted and vmapped.

    A step is one ply of the current player. At the end of a game the winner's reward is +1 and the
    loser's -1; an illegal action loses, and changes no square. With `autoreset` the step that ends
    a game returns the next one's first observation, mask and board, beside the last one's rewards
    and `terminated` or `truncated`. Without it the game stays over: steps change nothing, rewards
    are 0 and, as in Pgx, every action is marked legal.

    With an `opponent`, an agent that plays in JAX (see `agents.jax_players`), player 0 learns and a
    step is its ply and the reply; `init` and `step` then need keys.

    Words are 64-bit integers where JAX has them (`jax_enable_x64`) when this is made, else pairs of
    32 bits; results are the same. Raises ValueError for an opponent that cannot play here.
    """

    def __init__(
        self, game: Game, *, opponent: Opponent | None = None, autoreset: bool = True
    ) -> None:
        self.game = game
        self.rules = JaxRules(game)
        self.autoreset = autoreset
        self._opponent: JaxPlayer | None = None
        self._made_of = partial(JaxEnv, opponent=opponent, autoreset=autoreset)
        if opponent is not None:
            self._opponent = jax_player(self.rules, opponent)
            self._replies = self._first_replies(self._opponent)
        self._from_boards = jax.jit(jax.vmap(self._from_board))

    def __reduce__(self) -> Any:
        return self._made_of, (self.game,)  # what is compiled belongs to one process

    @property
    def num_actions(self) -> int:
        return self.game.num_actions

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return self.game.observation_shape

    def init(self, key: jax.Array) -> JaxState:
        """A new game; `key` draws which player has the first role, and an opponent's ply."""
        return self._seen(*self._begin(key))

    def from_state(self, state: State) -> JaxState:
        """B games that go on from these positions, each array of B rows.

        Player 0 has the first role or, with an opponent, whichever role is to move. Not to be
        jitted: `state` is in NumPy. Compiled once for each B. ValueError for games that are over,
        unless they stay over, `autoreset=False`.
        """
        over = self.game.is_over(state)
        if self.autoreset and over.any():
            raise ValueError(
                f"state has {over.sum()} games that are over: only autoreset=False takes them"
            )
        found: JaxState = self._from_boards(self.rules.boards(state))
        return found

    def _from_board(self, board: JaxPosition) -> JaxState:
        player = board.to_move if self._opponent is None else jnp.int32(_LEARNER)
        return self._seen(board, player, 0, board.terminated, self.rules.is_truncated(board))

    def step(self, state: JaxState, action: jax.Array, key: jax.Array | None = None) -> JaxState:
        """The state after the current player's action, () int.

        `key` draws what `init` draws for the game that follows; without it players swap roles from
        game to game. ValueError where there is an opponent and no key, TypeError for an action that
        is no integer.
        """
        action = jnp.asarray(action)
        if not jnp.issubdtype(action.dtype, jnp.integer):
            raise TypeError(f"action is {action.dtype}: it must be an integer")
        if key is None and self._opponent is not None:
            raise ValueError("key is missing: the opponent draws from it, step(state, ..., key)")
        illegal = ~self.rules.is_legal(state.board, action)
        board = self.rules.step_words(state.board, action)
        over = self.rules.is_over(board) | illegal
        mover = state.board.to_move
        passed = board.to_move ^ mover
        paid = jnp.where(illegal, ILLEGAL_ACTION_REWARD, self.rules.outcome(board, mover))
        paid = jnp.where(over, paid, 0.0)  # to who has moved
        player = state.current_player ^ passed
        if self._opponent is not None and key is not None:
            key, ply_key = jax.random.split(key)
            board = self._replied(board, ~over & (passed == 1), ply_key)
            ended = self.rules.is_over(board) & ~over
            paid = jnp.where(ended, self.rules.outcome(board, mover), paid)
            over, player = over | ended, state.current_player
        rewards = jnp.where(jnp.arange(PLAYERS) == state.current_player, paid, -paid)
        truncated = self.rules.is_truncated(board) & ~illegal
        if self.autoreset:
            first = player ^ board.to_move  # who has had the first role
            begun = (self.rules.start, 1 - first) if key is None else self._begin(key)
            board, player = choose(over, begun, (board, player))
            return self._seen(board, player, rewards, over & ~truncated, truncated)
        before = state.board, state.current_player
        board, player = choose(illegal, before, (board, player))
        new = self._seen(board, player, rewards, over & ~truncated, truncated)
        same = state._replace(rewards=jnp.zeros(PLAYERS, jnp.float32))
        chosen: JaxState = choose(state.terminated | state.truncated, same, new)
        return chosen

    def sample(self, state: JaxState, key: jax.Array) -> jax.Array:
        """A uniformly random legal action, () int32, drawn from words: several times as fast as
        from a mask. Noop where the game is over.
        """
        return self.rules.sample(state.board, key)

    def player(self, agent: Opponent) -> JaxPlayer:
        """The agent in JAX: `player.act(state.board, key)` is its action, () int32.

        ValueError for an agent that does not play in JAX; see `agents.jax_players.jax_player`.
        """
        return jax_player(self.rules, agent)

    def evaluator(self, agent: Opponent) -> Evaluate:
        """A policy's network: the logits of actions, the lowest of float32 where illegal, and the
        value to the current player, from -1 to 1.

        ValueError for an agent that does not play in JAX, or has no network.
        """
        evaluate = jax_evaluator(self.rules, agent)
        return lambda state: evaluate(state.board)

    def recurrent_fn(self, evaluate: Evaluate) -> RecurrentFn:
        """The `recurrent_fn` of a search of mctx, whose embeddings are states of B games.

        A reward is the mover's, and the value that of the next player: the discount is -1, as the
        other player's gain is the mover's loss, 1 where the mover is to move again, with an
        opponent, and 0 where a game has ended. `params` are not used.
        """

        def recurrent_fn(
            params: Any, key: jax.Array, action: jax.Array, state: JaxState
        ) -> tuple[RecurrentOutput, JaxState]:
            mover = state.current_player
            state = jax.vmap(self.step)(state, action, jax.random.split(key, len(action)))
            logits, value = jax.vmap(evaluate)(state)
            reward = jnp.take_along_axis(state.rewards, mover[:, None], axis=1)[:, 0]
            sign = jnp.where(state.current_player == mover, 1.0, -1.0)
            discount = jnp.where(state.terminated | state.truncated, 0.0, sign)
            return RecurrentOutput(reward, discount.astype(jnp.float32), logits, value), state

        return recurrent_fn

    def observe(self, state: JaxState, player: jax.Array) -> jax.Array:
        """What this player would see if it were to move, (8, 8, C) bool."""
        board, rules = state.board, self.rules
        return rules.observe(choose(player == state.current_player, board, rules.turned(board)))

    def _seen(
        self,
        board: JaxPosition,
        player: jax.Array,
        rewards: jax.Array | float = 0,
        terminated: jax.Array | bool = False,
        truncated: jax.Array | bool = False,
    ) -> JaxState:
        mask = self.rules.legal(board)
        if not self.autoreset:
            mask |= terminated | truncated
        paid = jnp.full(PLAYERS, rewards, jnp.float32)
        ended = jnp.asarray(terminated), jnp.asarray(truncated)
        return JaxState(player, self.rules.observe(board), paid, *ended, mask, board)

    def _begin(self, key: jax.Array) -> tuple[JaxPosition, jax.Array]:
        """A new game's board and the player to move; the key draws who has the first role."""
        start = self.rules.start
        if self._opponent is None:
            return start, (jax.random.bits(key, (), jnp.uint32) & 1).astype(jnp.int32)
        seat_key, reply_key = jax.random.split(key)
        if self._replies is None:
            reply = self._replied(start, jnp.bool_(True), reply_key)
        else:
            boards, logits = self._replies
            chosen = jax.random.categorical(reply_key, logits)
            reply = jax.tree.map(lambda x: x[chosen], boards)
        return choose(jax.random.bernoulli(seat_key), reply, start), jnp.int32(_LEARNER)

    def _replied(self, board: JaxPosition, waits: jax.Array, key: jax.Array) -> JaxPosition:
        """Where the board `waits`, the one after the opponent's plies, to the end of its turn."""
        assert self._opponent is not None
        act, rules = self._opponent.act, self.rules

        def ply(board: JaxPosition, key: jax.Array) -> JaxPosition:
            return rules.step_words(board, act(board, key))

        return rules.after_turn(board, waits, ply, key)

    def _first_replies(self, opponent: JaxPlayer) -> tuple[JaxPosition, jax.Array] | None:
        """The boards after each first ply, and the logarithm of its probability; None
        where a turn may be more than a ply.
        """
        if not self.game.alternates:
            return None
        start = self.game.start()
        actions = start.legal_actions()
        boards = self.rules.boards(stack([start.step(action) for action in actions]))
        with jax.ensure_compile_time_eval():
            probabilities = opponent.probabilities(self.rules.start)[jnp.array(actions)]
            return boards, jnp.log(probabilities)
