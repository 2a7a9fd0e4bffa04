"""Environments of every game as pure functions of JAX, for one board: `jax.vmap` makes batches.

    env = boardenvs.envs.jax.make("othello")
    state = jax.vmap(env.init)(keys)
    state = jax.vmap(env.step)(state, actions, keys)

The fields of a state are named as in Pgx.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from boardenvs.utils.imports import extra

with extra("jax"):
    import jax
    import jax.numpy as jnp


from boardenvs import games
from boardenvs.agents.jax_players import JaxPlayer, jax_evaluator, jax_player
from boardenvs.envs.groups import Opponent
from boardenvs.game.game import Game
from boardenvs.game.jax_rules import JaxPosition, JaxRules, choose
from boardenvs.game.rules import ILLEGAL_ACTION_REWARD
from boardenvs.game.state import State

PLAYERS = 2
_LEARNER = 0  # the player that an environment with an opponent is for


class JaxState(NamedTuple):
    """One game. Players are 0 and 1; which of them has the first role is drawn for each game."""

    current_player: jax.Array  # () int32: the player to move
    observation: jax.Array  # (8, 8, C) bool: what that player sees
    rewards: jax.Array  # (2,) float32: of the players, for the last step
    terminated: jax.Array  # () bool: the last step ended a game
    truncated: jax.Array  # () bool: the last step ended a game by the cap on plies
    legal_action_mask: jax.Array  # (A,) bool
    board: JaxPosition

    @property
    def is_over(self) -> jax.Array:
        """() bool: the last step ended a game."""
        return self.terminated | self.truncated


# Returns the logits of the actions, (A,) float32, and the value to the current player, () float32.
Evaluate: TypeAlias = Callable[[JaxState], tuple[jax.Array, jax.Array]]


def make(
    game: str | Game, *, opponent: Opponent | None = None, autoreset: bool = True, **rules: Any
) -> JaxEnv:
    """Return the environment of a game, or of its text with the parameters of its rules.

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
    """A game for JAX. `init` and `step` take one board and may be jitted and vmapped.

    A step is one ply of the current player. At the end of a game the winner's reward is +1 and the
    loser's -1; an illegal action loses, and changes no square. With `autoreset` the step that ends
    a game returns the first observation, mask and board of the next game, with the rewards and
    `terminated` or `truncated` of the last one. Without it the game stays over: steps change
    nothing, rewards are 0 and, as in Pgx, every action is marked legal.

    With an `opponent` that plays in JAX (see `agents.jax_players`), player 0 learns, and a step is
    its ply and the reply; `init` and `step` then need keys. ValueError for other opponents.
    """

    def __init__(
        self, game: Game, *, opponent: Opponent | None = None, autoreset: bool = True
    ) -> None:
        self.game = game
        self.rules = JaxRules(game)
        self.autoreset = autoreset
        self._opponent: JaxPlayer | None = None
        if opponent is not None:
            self._opponent = jax_player(self.rules, opponent)
        self._from_boards = jax.jit(jax.vmap(self._from_board))

    @property
    def num_actions(self) -> int:
        return self.game.num_actions

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return self.game.observation_shape

    def init(self, key: jax.Array) -> JaxState:
        """Start a game; `key` draws which player has the first role, and an opponent's ply."""
        return self._state(*self._begin(key))

    def from_state(self, state: State) -> JaxState:
        """Return B games that continue from these NumPy positions; each array has B rows.

        Player 0 has the first role or, with an opponent, whichever role is to move. It cannot be
        jitted, and is compiled once for each B. ValueError for games that are over, unless
        `autoreset` is False.
        """
        over = self.game.is_over(state)
        if self.autoreset and over.any():
            raise ValueError(
                f"state has {over.sum()} games that are over: only autoreset=False takes them"
            )
        return self._from_boards(self.rules.boards(state))

    def _from_board(self, board: JaxPosition) -> JaxState:
        player = board.to_move if self._opponent is None else jnp.int32(_LEARNER)
        return self._state(board, player, 0, board.terminated, self.rules.is_truncated(board))

    def step(self, state: JaxState, action: jax.Array, key: jax.Array | None = None) -> JaxState:
        """Return the state after the current player's action, () int.

        `key` draws for the next game what `init` draws; without it players swap roles from game to
        game. ValueError if there is an opponent and no key, TypeError if the action is no integer.
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
        paid = jnp.where(over, paid, 0.0)  # to the mover
        player = state.current_player ^ passed
        if self._opponent is not None and key is not None:
            key, ply_key = jax.random.split(key)
            board = self._after_reply(board, ~over & (passed == 1), ply_key)
            ended = self.rules.is_over(board) & ~over
            paid = jnp.where(ended, self.rules.outcome(board, mover), paid)
            over, player = over | ended, state.current_player
        rewards = jnp.where(jnp.arange(PLAYERS) == state.current_player, paid, -paid)
        truncated = self.rules.is_truncated(board) & ~illegal
        if self.autoreset:
            first = player ^ board.to_move  # the player with the first role
            begun = (self.rules.start, 1 - first) if key is None else self._begin(key)
            board, player = choose(over, begun, (board, player))
            return self._state(board, player, rewards, over & ~truncated, truncated)
        before = state.board, state.current_player
        board, player = choose(illegal, before, (board, player))
        after = self._state(board, player, rewards, over & ~truncated, truncated)
        same = state._replace(rewards=jnp.zeros(PLAYERS, jnp.float32))
        return choose(state.is_over, same, after)

    def sample(self, state: JaxState, key: jax.Array) -> jax.Array:
        """Draw a uniformly random legal action, () int32; noop if the game is over. It is drawn
        from words, several times faster than from a mask.
        """
        return self.rules.sample(state.board, key)

    def evaluator(self, agent: Opponent) -> Evaluate:
        """Return a policy's network: the logits of the actions, the lowest float32 for illegal
        ones, and the value to the current player, from -1 to 1.

        ValueError for an agent without such a network.
        """
        evaluate = jax_evaluator(self.rules, agent)
        return lambda state: evaluate(state.board)

    def observe(self, state: JaxState, player: jax.Array) -> jax.Array:
        """Return the observation of this player as if it were to move, (8, 8, C) bool."""
        board, rules = state.board, self.rules
        return rules.observe(choose(player == state.current_player, board, rules.swap_sides(board)))

    def _state(
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
        """Return a new game's board and the player to move; the key draws who is first."""
        start = self.rules.start
        if self._opponent is None:
            return start, (jax.random.bits(key, (), jnp.uint32) & 1).astype(jnp.int32)
        role_key, reply_key = jax.random.split(key)
        reply = self._after_reply(start, jax.random.bernoulli(role_key), reply_key)
        return reply, jnp.int32(_LEARNER)

    def _after_reply(self, board: JaxPosition, waits: jax.Array, key: jax.Array) -> JaxPosition:
        """Return the board after the opponent's turn where it `waits`, () bool; else unchanged."""
        assert self._opponent is not None
        act, rules, role = self._opponent, self.rules, board.to_move

        def ply(going: Any) -> Any:
            board, waits, key = going
            key, ply_key = jax.random.split(key)
            board = choose(waits, rules.step_words(board, act(board, ply_key)), board)
            return board, waits & (board.to_move == role) & ~rules.is_over(board), key

        going = board, waits, key
        if self.game.alternates:
            after: JaxPosition = ply(going)[0]
        else:
            after = jax.lax.while_loop(lambda going: going[1], ply, going)[0]
        return after


def outcome_of_mover(before: JaxState, after: JaxState) -> tuple[jax.Array, jax.Array]:
    """Return the reward of the player who moved, () float32, and the discount of the next value.

    The discount, () float32, is -1 if the other player is to move next, whose gain is the mover's
    loss, 1 if the mover is to move again, and 0 if the game is over.
    """
    mover = before.current_player
    sign = jnp.where(after.current_player == mover, 1.0, -1.0)
    discount = jnp.where(after.is_over, 0.0, sign)
    return after.rewards[mover], discount.astype(jnp.float32)
