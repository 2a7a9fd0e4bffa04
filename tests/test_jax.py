"""JAX against NumPy: rules and environments; more in `test_jax_environments.py`."""

import re

import numpy as np
import pytest
from jax_rules import PAIRS, compare, jax, keys

import boardenvs.envs.jax
from boardenvs import games
from boardenvs.game.jax_rules import positions_of

jnp = jax.numpy


def test_rules_are_those_of_numpy():
    """Those of all games, and the words that they are made of, in `test_jax_all.py`."""
    assert compare(games.make("othello"), plies=70, boards=40, kind=PAIRS) > 0


# ---- environments --------------------------------------------------------------------------------


def test_a_game_from_reset_to_reset(jax_env, jax_batch):
    """Rewards, ends and masks are the game's; the step that ends one begins the next."""
    game, state = jax_env.game, jax_batch.init(keys(0))
    assert set(np.asarray(state.current_player).tolist()) == {0, 1}
    ends = {"terminated": 0, "truncated": 0}
    for ply in range(80):
        before = positions_of(state.board)
        first = np.asarray(state.current_player) ^ before.to_move
        actions = np.asarray(jax_batch.sample(state, keys(ply)))
        assert game.is_legal(before, actions).all()
        movers = np.asarray(state.current_player)
        state = jax_batch.step(state, actions, keys(100 + ply))
        after = game.step(before, actions)
        over = game.is_over(after)
        paid = np.where(over, (game.results(after)[range(64), before.to_move] - 50) / 50, 0)
        np.testing.assert_array_equal(np.asarray(state.rewards)[range(64), movers], paid)
        np.testing.assert_array_equal(np.asarray(state.rewards).sum(axis=1), 0)
        np.testing.assert_array_equal(state.terminated, after.terminated)
        np.testing.assert_array_equal(state.truncated, game.is_truncated(after))
        for name in ends:
            ends[name] += int(np.asarray(getattr(state, name)).sum())
        now = positions_of(state.board)
        assert (now.ply[over] == 0).all()
        np.testing.assert_array_equal(now.own[~over], after.own[~over])
        np.testing.assert_array_equal(state.legal_action_mask, game.legal(now))
        np.testing.assert_array_equal(state.observation, game.observe(now))
        player = np.asarray(state.current_player)
        np.testing.assert_array_equal(player[~over], (first ^ after.to_move)[~over])
    assert all(ends.values())


def test_an_illegal_action_loses(jax_env, jax_batch):
    state = jax_batch.init(keys(1))
    movers = np.asarray(state.current_player)
    illegal = np.asarray(~state.legal_action_mask).argmax(axis=1)
    for actions in (illegal, np.full(64, -1), np.full(64, jax_env.num_actions), np.full(64, 10**6)):
        after = jax_batch.step(state, jnp.asarray(actions, jnp.int32), keys(2))
        rewards = np.asarray(after.rewards)
        assert (rewards[range(64), movers] == -1).all()
        assert (rewards[range(64), 1 - movers] == 1).all()
        assert np.asarray(after.terminated).all()
        assert (np.asarray(after.board.ply) == 0).all()


def test_the_other_player_sees_the_other_side(jax_env, jax_batch):
    state = jax_batch.init(keys(3))
    observe = jax.jit(jax.vmap(jax_env.observe))
    np.testing.assert_array_equal(observe(state, state.current_player), state.observation)
    other = observe(state, 1 - state.current_player)
    board = positions_of(state.board)
    turned = board._replace(own=board.opp, opp=board.own, to_move=1 - board.to_move)
    np.testing.assert_array_equal(other, jax_env.game.observe(turned))


# ---- players -------------------------------------------------------------------------------------


def test_an_opponent_that_does_not_play_in_jax_is_named():
    for opponent in ("alphabeta:depth=2", "trained:shield=true"):
        with pytest.raises(ValueError, match=r"does not play in JAX: those that do are"):
            boardenvs.envs.jax.make("othello", opponent=opponent)
    with pytest.raises(ValueError, match="Did you mean 'othello'"):
        boardenvs.envs.jax.make("otello")


# ---- what XLA makes of it ------------------------------------------------------------------------


def test_rules_stand_apart_from_what_uses_them(jax_env, jax_batch):
    """Merged with it, they would be computed for each byte: a hundred times the work."""
    state, actions = jax_batch.init(keys(0)), jnp.zeros(64, jnp.int32)
    compiled = jax_batch.step.lower(state, actions, keys(1)).compile()
    assert re.search(r" call\(.*inlineable", compiled.as_text())
