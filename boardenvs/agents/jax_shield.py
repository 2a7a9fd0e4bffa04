"""The shield of `boardenvs.agents.shield` in JAX: it gives the same moves."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from boardenvs.game.jax_rules import JaxPosition, JaxRules


def shielded(
    rules: JaxRules, board: JaxPosition, action: jax.Array, preferences: jax.Array
) -> jax.Array:
    """The action, or the preferred one of those that the shield allows where it is none of them,
    () int32: of those that win at once, or else of those that do not lose at once or by the
    opponent's reply, or else of all.

    `preferences` are numbers for the actions, (A,) float32. All legal actions are played one after
    the other, and all replies to each action that is looked at.
    """
    legal = rules.legal(board)
    action = action.astype(jnp.int32)
    win = _win(rules, board, preferences.at[action].set(jnp.inf))

    def look(found: Any) -> Any:
        tried, left, _ = found
        after = rules.step_words(board, tried)
        by_reply = (after.to_move != board.to_move) & (_win(rules, after, preferences) >= 0)
        lost = rules.outcome(after, board.to_move) < 0
        loses = jnp.where(rules.is_over(after), lost, by_reply)
        left = left.at[tried].set(left[tried] & ~loses)
        best = jnp.where(left, preferences, -jnp.inf).argmax().astype(jnp.int32)
        return jnp.where(loses, best, tried), left, loses & left.any()

    looks = (win < 0) & legal.any()
    other, left, _ = jax.lax.while_loop(lambda found: found[2], look, (action, legal, looks))
    safe: jax.Array = jnp.where(left.any(), other, action)
    return jnp.where(win >= 0, win, safe)


def _win(rules: JaxRules, board: JaxPosition, preferences: jax.Array) -> jax.Array:
    """The preferred action that wins at once, () int32, -1 where none does."""
    legal = rules.legal(board)
    actions = jnp.flatnonzero(legal, size=len(legal), fill_value=0).astype(jnp.int32)
    count = jnp.where(rules.is_over(board), 0, legal.sum())

    def look(found: Any) -> Any:
        number, best = found
        action = actions[number]
        after = rules.step_words(board, action)
        wins = rules.is_over(after) & (rules.outcome(after, board.to_move) > 0)
        better = wins & ((best < 0) | (preferences[action] > preferences[best]))
        return number + 1, jnp.where(better, action, best)

    first = jnp.zeros_like(count), jnp.int32(-1)
    best: jax.Array = jax.lax.while_loop(lambda found: found[0] < count, look, first)[1]
    return best
