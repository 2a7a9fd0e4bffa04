"""Gumbel search in JAX: trees, game and network in one program, for self-play on an accelerator.

The search is that of `boardenvs.search.gumbel`, whose words are used here, by mctx: the same
actions, policies and values but for the rounding of 32-bit numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from boardenvs.agents.jax_players import NEVER, Evaluator, JaxNetwork, network_evaluator
from boardenvs.game.contract import Game
from boardenvs.game.jax_rules import JaxPosition, JaxRules, choose
from boardenvs.game.state import FloatArray, State, take
from boardenvs.search.gumbel import GumbelResults, GumbelSettings

_LEAST = 1e-9  # priors are raised to it, as in the other search
_WINS = 1e4  # added to the logit of what wins at once: more than values and noise come to


class JaxGumbel:
    """Gumbel search of a game in JAX; `search` is compiled for each power of two of rows."""

    def __init__(self, game: Game) -> None:
        self.rules = JaxRules(game)
        self._search = jax.jit(self._of_boards, static_argnames="settings")

    def search(
        self, state: State, noise: FloatArray, settings: GumbelSettings, network: JaxNetwork
    ) -> GumbelResults:
        """As `boardenvs.search.gumbel.gumbel_search`, judged by a network."""
        rows = len(state.ply)
        filled = np.arange(1 << (rows - 1).bit_length()) % rows
        boards, drawn = self.rules.boards(take(state, filled)), jnp.asarray(noise[filled])
        found = self._search(boards, drawn.astype(jnp.float32), network, settings=settings)
        actions, policy, values = (np.asarray(x)[:rows] for x in found)
        return GumbelResults(actions.astype(int), policy.astype(float), values.astype(float))

    def _of_boards(
        self, boards: JaxPosition, noise: jax.Array, network: JaxNetwork, settings: GumbelSettings
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The actions, policies and values of B boards."""
        judge = jax.vmap(partial(self._judged, network_evaluator(self.rules, network)))
        logits, value, wins = judge(boards)
        legal = jax.vmap(self.rules.legal)(boards)
        # Noise in the logits is as good as apart: at the root mctx compares actions that have been
        # tried as often, to whose scores it adds values, and the policy is worked out below.
        root = mctx.RootFnOutput(
            prior_logits=logits + noise + _WINS * wins, value=value, embedding=boards
        )

        def step(params: None, key: Any, action: jax.Array, before: JaxPosition) -> Any:
            after, reward, discount = jax.vmap(self._ply)(before, action)
            logits, value, _ = judge(after)
            return mctx.RecurrentFnOutput(
                reward=reward, discount=discount, prior_logits=logits, value=value
            ), after

        transform = partial(
            mctx.qtransform_completed_by_mix_value,
            value_scale=settings.c_scale,
            maxvisit_init=settings.c_visit,
            rescale_values=False,
        )
        found = mctx.gumbel_muzero_policy(
            None, jax.random.key(0), root, step, settings.simulations, ~legal,
            qtransform=transform, max_num_considered_actions=settings.considered, gumbel_scale=0.0,
        )  # fmt: skip
        tried = found.search_tree.summary()
        return found.action, *_improved(logits, value, tried.qvalues, tried.visit_counts, settings)

    def _judged(
        self, evaluate: Evaluator, board: JaxPosition
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The logits of the actions, the value, and which action wins at once: that has all of the
        policy then, and the value is a win.
        """
        logits, value = evaluate(board)
        actions = jnp.arange(len(logits))
        _, rewards, _ = jax.vmap(self._ply, (None, 0))(board, actions)
        legal = self.rules.legal(board)
        winning = legal & (rewards > 0)
        wins = (actions == winning.argmax()) & winning.any()
        policy = jnp.where(winning.any(), wins, jax.nn.softmax(logits))
        logits = jnp.where(legal, jnp.log(jnp.maximum(policy, _LEAST)), NEVER)
        return logits, jnp.where(winning.any(), 1.0, value), wins

    def _ply(
        self, board: JaxPosition, action: jax.Array
    ) -> tuple[JaxPosition, jax.Array, jax.Array]:
        """The board after a legal action, the reward of who played it, and what the value of the
        next position counts for it: -1 where the other side is to move, 1 where the turn goes on,
        and 0 after the end, where nothing more happens.
        """
        rules = self.rules
        over = rules.is_over(board)
        after = choose(over, board, rules.step_words(board, action))
        ended = rules.is_over(after)
        sign = jnp.where(after.to_move == board.to_move, 1.0, -1.0)
        reward = jnp.where(ended & ~over, rules.outcome(after, board.to_move), 0.0)
        return after, reward, jnp.where(ended, 0.0, sign)


def _improved(
    logits: jax.Array,
    value: jax.Array,
    values: jax.Array,
    visits: jax.Array,
    settings: GumbelSettings,
) -> tuple[jax.Array, jax.Array]:
    """The improved policy and the mixed value of B roots, by the values and visits of actions."""
    prior = jnp.where(visits > 0, jnp.exp(logits), 0)
    tries = visits.sum(axis=1)
    tried = (prior * values).sum(axis=1) / prior.sum(axis=1)
    mixed = (value + tries * tried) / (1 + tries)
    scale = (settings.c_visit + visits.max(axis=1)) * settings.c_scale
    completed = jnp.where(visits > 0, values, mixed[:, None])
    return jax.nn.softmax(logits + scale[:, None] * completed, axis=1), mixed
