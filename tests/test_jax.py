"""An environment in JAX against the rules in NumPy: `make jax`, as all `test_jax*.py`."""

import re

import numpy as np
import pytest
from jax_rules import compiled_batch, jax, keys

import boardenvs.envs.jax
from boardenvs.game.jax_rules import positions_of

jnp = jax.numpy


@pytest.fixture(scope="module")
def env():
    return boardenvs.envs.jax.make("wolf_and_sheep:max_plies=30")


@pytest.fixture(scope="module")
def batch(env):
    """The functions for batches, compiled once for 64 boards."""
    return compiled_batch(env)


# ---- environments --------------------------------------------------------------------------------


def test_a_game_from_reset_to_reset(env, batch):
    """Rewards, ends and masks are the game's; the step that ends one begins the next."""
    game, state = env.game, batch.init(keys(0))
    assert set(np.asarray(state.current_player).tolist()) == {0, 1}
    ends = {"terminated": 0, "truncated": 0}
    for ply in range(80):
        before = positions_of(state.board)
        first = np.asarray(state.current_player) ^ before.to_move
        actions = np.asarray(batch.sample(state, keys(ply)))
        assert game.is_legal(before, actions).all()
        movers = np.asarray(state.current_player)
        state = batch.step(state, actions, keys(100 + ply))
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


def test_an_illegal_action_loses(env, batch):
    state = batch.init(keys(1))
    movers = np.asarray(state.current_player)
    illegal = np.asarray(~state.legal_action_mask).argmax(axis=1)
    for actions in (illegal, np.full(64, -1), np.full(64, env.num_actions), np.full(64, 10**6)):
        after = batch.step(state, jnp.asarray(actions, jnp.int32), keys(2))
        rewards = np.asarray(after.rewards)
        assert (rewards[range(64), movers] == -1).all()
        assert (rewards[range(64), 1 - movers] == 1).all()
        assert np.asarray(after.terminated).all()
        assert (np.asarray(after.board.ply) == 0).all()


def test_the_other_player_sees_the_other_side(env, batch):
    state = batch.init(keys(3))
    observe = jax.jit(jax.vmap(env.observe))
    np.testing.assert_array_equal(observe(state, state.current_player), state.observation)
    other = observe(state, 1 - state.current_player)
    board = positions_of(state.board)
    turned = board._replace(words=board.words[::-1], to_move=1 - board.to_move)
    np.testing.assert_array_equal(other, env.game.observe(turned))


# ---- players -------------------------------------------------------------------------------------


def test_an_opponent_that_does_not_play_in_jax_is_named():
    for opponent in ("alphabeta:depth=2", "greedy"):
        with pytest.raises(ValueError, match=r"does not play in JAX: those that do are"):
            boardenvs.envs.jax.make("othello", opponent=opponent)
    with pytest.raises(ValueError, match="Did you mean 'othello'"):
        boardenvs.envs.jax.make("otello")


# ---- what XLA makes of it ------------------------------------------------------------------------


def test_rules_stand_apart_from_what_uses_them(env, batch):
    """Merged with it, they would be computed for each byte: a hundred times the work."""
    state, actions = batch.init(keys(0)), jnp.zeros(64, jnp.int32)
    compiled = batch.step.lower(state, actions, keys(1)).compile()
    assert re.search(r" call\(.*inlineable", compiled.as_text())
