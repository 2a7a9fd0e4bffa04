"""Environments in JAX against the rules in NumPy, and players in JAX: `make jax`."""

from dataclasses import replace

import numpy as np
import pytest
from jax_rules import compiled_batch, jax, keys, positions_of
from test_policy import FULLY_CONNECTED, TOWER, random_policy

import boardenvs.envs.jax
from boardenvs.agents.jax_players import jax_player
from boardenvs.agents.policy import PolicyAgent
from boardenvs.envs.jax import outcome_of_mover
from boardenvs.game.position import stack
from boardenvs.game.state import where

jnp = jax.numpy
SMALL = "three_in_a_row:ThreeInARow"  # soon compiled


@pytest.fixture(scope="module")
def env():
    return boardenvs.envs.jax.make("wolf_and_sheep:max_plies=30")


@pytest.fixture(scope="module")
def batch(env):
    """The functions for batches, compiled once for 64 boards."""
    return compiled_batch(env)


def test_a_game_from_reset_to_reset(env, batch):
    """Rewards, ends and masks are the game's; the step that ends one begins the next."""
    game, state, rows = env.game, batch.init(keys(0)), range(64)
    assert set(np.asarray(state.current_player).tolist()) == {0, 1}
    ends = np.zeros(2)
    for ply in range(80):
        before = positions_of(env.game, state.board)
        movers = np.asarray(state.current_player)
        actions = np.asarray(batch.sample(state, keys(ply)))
        assert game.is_legal(before, actions).all()
        state = batch.step(state, actions, keys(100 + ply))
        after = game.step(before, actions)
        over = game.is_over(after)
        paid = np.where(over, (game.results(after)[rows, before.to_move] - 50) / 50, 0)
        rewards = np.asarray(state.rewards)
        np.testing.assert_array_equal(rewards[rows, movers], paid)
        np.testing.assert_array_equal(rewards[rows, 1 - movers], -paid)
        np.testing.assert_array_equal(state.terminated, after.terminated)
        np.testing.assert_array_equal(state.truncated, game.is_truncated(after))
        ends += np.asarray(state.terminated).sum(), np.asarray(state.truncated).sum()
        now = positions_of(env.game, state.board)
        assert (now.ply[over] == 0).all()
        np.testing.assert_array_equal(now.own[~over], after.own[~over])
        np.testing.assert_array_equal(state.legal_action_mask, game.legal(now))
        np.testing.assert_array_equal(state.observation, game.observe(now))
        player = movers ^ before.to_move ^ after.to_move
        np.testing.assert_array_equal(np.asarray(state.current_player)[~over], player[~over])
    assert ends.all()


def test_an_illegal_action_loses(env, batch):
    """Without a key for the next game players swap roles."""
    state = batch.init(keys(1))
    movers = np.asarray(state.current_player)
    illegal, step = np.asarray(~state.legal_action_mask).argmax(axis=1), jax.jit(jax.vmap(env.step))
    for actions in (illegal, np.full(64, -1), np.full(64, env.num_actions), np.full(64, 10**6)):
        after = step(state, jnp.asarray(actions, jnp.int32))
        assert (np.asarray(after.rewards)[range(64), movers] == -1).all()
        assert np.asarray(after.terminated).all()
        assert (np.asarray(after.board.ply) == 0).all()
        np.testing.assert_array_equal(after.current_player, 1 - movers)


def test_the_other_player_sees_the_other_side(env, batch):
    state = batch.init(keys(3))
    observe = jax.jit(jax.vmap(env.observe))
    np.testing.assert_array_equal(observe(state, state.current_player), state.observation)
    other = observe(state, 1 - state.current_player)
    board = positions_of(env.game, state.board)
    turned = board._replace(words=board.words[::-1], to_move=1 - board.to_move)
    np.testing.assert_array_equal(other, env.game.observe(turned))


def test_games_go_on_from_positions():
    """Whichever side is to move, to the end and past it, as the positions themselves."""
    env = boardenvs.envs.jax.make("wolf_and_sheep:max_plies=16", autoreset=False)
    game, rng = env.game, np.random.default_rng(0)
    position, positions = game.start(), []
    for _ in range(12):
        positions.append(position)
        position = position.step(position.legal_actions()[-1])
    position = stack(positions)
    state, step = env.from_state(position), jax.jit(jax.vmap(env.step))
    for _ in range(17):
        over = game.is_over(position)
        found = positions_of(env.game, state.board).arrays
        jax.tree.map(np.testing.assert_array_equal, found, position.arrays)
        np.testing.assert_array_equal(state.current_player, position.to_move)
        np.testing.assert_array_equal(state.legal_action_mask, game.legal(position) | over[:, None])
        same = env.from_state(position)._replace(rewards=state.rewards)
        jax.tree.map(np.testing.assert_array_equal, same, state)
        actions = game.sample(position, rng)
        state = step(state, actions)
        position = where(over, position, game.step(position, actions))
    assert over.all()
    with pytest.raises(ValueError, match="12 games that are over"):
        boardenvs.envs.jax.make("wolf_and_sheep:max_plies=16").from_state(position)


def test_the_next_value_is_the_other_players_or_the_movers_own():
    """And there is none after the end; the reward is the mover's."""
    env = boardenvs.envs.jax.make(SMALL, autoreset=False)
    start = env.game.start()
    almost = start.step(0).step(8).step(1).step(9)  # two in a row each
    state = env.from_state(stack([start, almost, almost.step(16), almost]))
    actions = jnp.array([0, 2, 10, 0])  # goes on, wins, the other player wins, is illegal
    step, outcome = jax.vmap(env.step), jax.vmap(outcome_of_mover)
    after = step(state, actions)
    rewards, discounts = outcome(state, after)
    np.testing.assert_array_equal(rewards, [0, 1, 1, -1])
    np.testing.assert_array_equal(discounts, [-1, 0, 0, 0])
    rewards, discounts = outcome(after, step(after, actions))
    np.testing.assert_array_equal(rewards[1:], 0)
    np.testing.assert_array_equal(discounts[1:], 0)
    again = state._replace(current_player=after.current_player)
    assert outcome(again, after)[1][0] == 1


def test_an_opponent_replies_inside_the_step():
    """Player 0 is always to move, in either role; the rewards are those of its games."""
    env = boardenvs.envs.jax.make(SMALL, opponent="random")
    batch, results = compiled_batch(env), []
    state = batch.init(keys(0))
    assert set(np.asarray(state.board.to_move).tolist()) == {0, 1}
    for ply in range(40):
        before = np.asarray(state.board.ply)
        state = batch.step(state, batch.sample(state, keys(ply)), keys(100 + ply))
        assert (np.asarray(state.current_player) == 0).all()
        over, rewards = np.asarray(state.terminated), np.asarray(state.rewards)[:, 0]
        assert (np.asarray(state.board.ply)[~over] == before[~over] + 2).all()
        assert (rewards[~over] == 0).all()
        results += rewards[over].tolist()
    assert set(results) == {-1.0, 0.0, 1.0}
    assert abs(np.mean(results)) < 0.2  # the same play on both sides, and the first role is drawn
    with pytest.raises(ValueError, match="key is missing"):
        env.step(jax.tree.map(lambda x: x[0], state), jnp.int32(0))


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ("wolf_and_sheep:max_plies=30", FULLY_CONNECTED),
        ("wolf_and_sheep:max_plies=30", TOWER | {"flat": [3, 4]}),
        ("hex", FULLY_CONNECTED),
    ],
)
def test_policies_choose_as_in_numpy(spec, size):
    """The most probable action; a player that samples draws with the same probabilities. In Hex
    by the mover's view, after an odd number of plies.
    """
    env = boardenvs.envs.jax.make(spec)
    game, rules = env.game, env.rules
    policy = random_policy(game, size, seed=1)
    policy = replace(policy, mover_view=game.mover_symmetry is not None)
    rng, state = np.random.default_rng(0), game.init(200)
    for _ in range(7):
        state = game.step(state, game.sample(state, rng))
    boards = rules.boards(state)
    probabilities, values = policy.evaluate(game, state)
    best = jax_player(rules, PolicyAgent(policy))
    actions = np.asarray(jax.jit(jax.vmap(best))(boards, keys(0, 200)))
    np.testing.assert_array_equal(actions, PolicyAgent(policy).act(game, state))
    evaluate = jax.jit(jax.vmap(env.evaluator(PolicyAgent(policy))))
    logits, value = evaluate(env.from_state(state))
    np.testing.assert_allclose(jax.nn.softmax(logits), probabilities, atol=1e-5)
    np.testing.assert_allclose(value, values, atol=1e-5)
    one, sampling = jax.tree.map(lambda x: x[0], boards), PolicyAgent(policy, sample=True)
    draw = jax.jit(jax.vmap(jax_player(rules, sampling), (None, 0)))
    drawn = np.asarray(draw(one, keys(1, 20_000)))
    shares = np.bincount(drawn, minlength=game.num_actions) / 20_000
    np.testing.assert_allclose(shares, probabilities[0], atol=0.02)
    assert not shares[~game.legal(state)[0]].any()


def test_an_opponent_that_does_not_play_in_jax_is_named():
    for opponent in ("alphabeta:depth=2", "trained:symmetries=true", "trained:shield=true"):
        with pytest.raises(ValueError, match=f"'{opponent}' does not play in JAX: 'random', "):
            boardenvs.envs.jax.make("othello", opponent=opponent)
    for player in ("random", "trained:symmetries=true"):
        with pytest.raises(ValueError, match=f"'{player}' has no network in JAX"):
            boardenvs.envs.jax.make("othello").evaluator(player)
    with pytest.raises(ValueError, match="Did you mean 'othello'"):
        boardenvs.envs.jax.make("otello")


def test_states_keep_their_types():
    """A scan may begin with `init`'s state, with 64-bit integers too; numbers of Python are
    actions; no array is broadcast to a higher rank.
    """
    with jax.enable_x64(True), jax.numpy_rank_promotion("raise"):
        env = boardenvs.envs.jax.make(SMALL)
        state = env.init(jax.random.key(0))
        step = jax.jit(env.step)
        after = step(state, 3, jax.random.key(1))
        types = [[x.dtype for x in jax.tree.leaves(s)] for s in (state, after)]
        assert types[0] == types[1]
        assert state.rewards.dtype == np.float32
        with pytest.raises(TypeError, match="it must be an integer"):
            env.step(state, 3.0, jax.random.key(1))
