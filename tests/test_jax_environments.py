"""Environments and players in JAX: what more there is to them than `test_jax.py` has."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from jax_rules import UINT64, compiled_batch, jax, keys, with_words
from test_policy import random_policy
from test_shield import CASES
from test_shield import positions as decided_soon

import boardenvs.envs.jax
from boardenvs import games
from boardenvs.agents.jax_players import jax_player
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.shield import Shield, policy_player
from boardenvs.game.contract import Game, stack
from boardenvs.game.jax_rules import JaxRules, positions_of
from boardenvs.game.state import Array, IntArray, State, where

jnp = jax.numpy
SMALL = "three_in_a_row:ThreeInARow"  # soon compiled


@pytest.fixture(scope="module")
def small():
    return boardenvs.envs.jax.make(SMALL)


@pytest.fixture(scope="module")
def small_batch(small):
    return compiled_batch(small)


def test_without_a_key_players_swap_roles(small, small_batch):
    state = small_batch.init(keys(4))
    after = jax.jit(jax.vmap(small.step))(state, jnp.full(64, -1))
    assert (np.asarray(after.board.ply) == 0).all()
    np.testing.assert_array_equal(after.current_player, 1 - state.current_player)


def test_without_autoreset_a_game_stays_over():
    env = boardenvs.envs.jax.make(SMALL, autoreset=False)
    batch = compiled_batch(env)
    state = batch.init(keys(0))
    for ply in range(9):
        before, state = state, batch.step(state, batch.sample(state, keys(ply)), keys(0))
        ended = np.asarray(before.terminated)
        assert (np.asarray(state.rewards)[ended] == 0).all()
        kept = before._replace(rewards=state.rewards)
        for x, y in zip(jax.tree.leaves(kept), jax.tree.leaves(state), strict=True):
            np.testing.assert_array_equal(np.asarray(x)[ended], np.asarray(y)[ended])
        assert np.asarray(state.legal_action_mask)[np.asarray(state.terminated)].all()
    assert ended.any()
    assert np.asarray(state.terminated).all()


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
        for x, y in zip(positions_of(state.board).arrays, position.arrays, strict=True):
            np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(state.current_player, position.to_move)
        np.testing.assert_array_equal(state.observation, game.observe(position))
        np.testing.assert_array_equal(state.legal_action_mask, game.legal(position) | over[:, None])
        np.testing.assert_array_equal(state.terminated, position.terminated)
        np.testing.assert_array_equal(state.truncated, game.is_truncated(position))
        same = env.from_state(position)
        for x, y in zip(same._replace(rewards=state.rewards), state, strict=True):
            jax.tree.map(np.testing.assert_array_equal, x, y)
        actions = game.sample(position, rng)
        state = step(state, actions)
        moved = game.step(position, actions)
        position = where(over, position, moved)
    assert over.all()
    with pytest.raises(ValueError, match="12 games that are over"):
        boardenvs.envs.jax.make("wolf_and_sheep:max_plies=16").from_state(position)


def test_a_search_counts_the_other_players_value_as_a_loss():
    """And nothing after the end; the reward is the mover's."""
    env = boardenvs.envs.jax.make(SMALL, autoreset=False)
    start = env.game.start()
    almost = start.step(0).step(8).step(1).step(9)  # two in a row each
    second = almost.step(16)
    recurrent = jax.jit(env.recurrent_fn(lambda s: (s.legal_action_mask * 1.0, jnp.float32(0.5))))
    state = env.from_state(stack([start, almost, second, almost]))
    actions = jnp.array([0, 2, 10, 0])  # goes on, wins, the other wins, is illegal
    output, after = recurrent(None, jax.random.key(0), actions, state)
    np.testing.assert_array_equal(output.reward, [0, 1, 1, -1])
    np.testing.assert_array_equal(output.discount, [-1, 0, 0, 0])
    np.testing.assert_array_equal(output.value, 0.5)
    np.testing.assert_array_equal(after.terminated, [False, True, True, True])
    output, _ = recurrent(None, jax.random.key(1), actions, after)
    np.testing.assert_array_equal(output.reward[1:], 0)
    np.testing.assert_array_equal(output.discount[1:], 0)


def test_policies_choose_as_in_numpy():
    """The most probable action; where chance decides, by the same probabilities."""
    env = boardenvs.envs.jax.make("wolf_and_sheep:max_plies=30")
    game, rules = env.game, env.rules
    policy = random_policy(game, (16, 8), seed=1)
    rng, state = np.random.default_rng(0), game.init(200)
    for _ in range(7):
        state = game.step(state, game.sample(state, rng))
    boards = rules.boards(state)
    probabilities, values = policy.evaluate(game, state)
    best = jax_player(rules, PolicyAgent(policy))
    actions = np.asarray(jax.jit(jax.vmap(best.act))(boards, keys(0, 200)))
    np.testing.assert_array_equal(actions, PolicyAgent(policy).act(game, state))
    sampling = jax_player(rules, PolicyAgent(policy, sample=True))
    np.testing.assert_allclose(
        jax.jit(jax.vmap(sampling.probabilities))(boards), probabilities, atol=1e-5
    )
    evaluate = jax.jit(jax.vmap(env.evaluator(PolicyAgent(policy))))
    logits, value = evaluate(env.from_state(state))
    np.testing.assert_allclose(jax.nn.softmax(logits), probabilities, atol=1e-5)
    np.testing.assert_allclose(value, values, atol=1e-5)
    with pytest.raises(ValueError, match="'random' has no network"):
        env.evaluator("random")
    one = jax.tree.map(lambda x: x[0], boards)
    drawn = np.asarray(jax.jit(jax.vmap(sampling.act, (None, 0)))(one, keys(1, 20_000)))
    shares = np.bincount(drawn, minlength=game.num_actions) / 20_000
    np.testing.assert_allclose(shares, probabilities[0], atol=0.02)
    assert not shares[~game.legal(state)[0]].any()


@pytest.mark.parametrize(("spec", "plies"), [CASES[0], CASES[2]])
def test_policies_with_a_shield_choose_as_in_numpy(
    spec: str, plies: tuple[int, int] | None
) -> None:
    game = games.parse(spec)
    rules, policy, state = JaxRules(game), random_policy(game), decided_soon(game, plies)
    boards, size = rules.boards(state), len(state.ply)
    for sample in (False, True):
        bare, player = (
            jax_player(rules, policy_player(policy, sample, shield)) for shield in (False, True)
        )
        drawn, actions = (
            np.asarray(jax.jit(jax.vmap(one.act))(boards, keys(0, size))) for one in (bare, player)
        )
        assert (actions != drawn).any()
        expected = Shield(Chosen(policy, drawn)).act(game, state)
        np.testing.assert_array_equal(actions, expected)
    row = int(np.argmax(actions != drawn))
    board = jax.tree.map(lambda x: x[row], boards)
    many = np.asarray(jax.jit(jax.vmap(player.act, (None, 0)))(board, keys(1, 2000)))
    shares = np.bincount(many, minlength=game.num_actions) / len(many)
    np.testing.assert_allclose(jax.jit(player.probabilities)(board), shares, atol=0.04)


@dataclass(frozen=True)
class Chosen:
    """Plays what has been chosen, and likes what a policy likes."""

    policy: Policy
    actions: IntArray

    def act(self, game: Game, state: State, rng: object = None) -> IntArray:
        return self.actions

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        return self.policy.evaluate(game, state)


def test_steps_may_stand_in_conditionals(small, small_batch):
    """Of batches too, as in the wrappers of other libraries."""

    def maybe(state, go, key):
        action = small.sample(state, key)
        return jax.lax.cond(go, lambda: small.step(state, action, key), lambda: state)

    state = small_batch.init(keys(0))
    go = np.arange(64) % 2 == 0
    after = jax.jit(jax.vmap(maybe))(state, go, keys(1))
    np.testing.assert_array_equal(after.board.ply, go.astype(int))


def test_an_opponent_replies_inside_the_step():
    """Player 0 is always to move, in either role; the rewards are those of its games."""
    env = boardenvs.envs.jax.make(SMALL, opponent="random")
    batch = compiled_batch(env)
    state = batch.init(keys(0))
    assert set(np.asarray(state.board.to_move).tolist()) == {0, 1}
    assert (np.asarray(state.board.ply) == np.asarray(state.board.to_move)).all()
    results = []
    for ply in range(40):
        before = np.asarray(state.board.ply)
        state = batch.step(state, batch.sample(state, keys(ply)), keys(100 + ply))
        assert (np.asarray(state.current_player) == 0).all()
        over = np.asarray(state.terminated)
        assert (np.asarray(state.board.ply)[~over] == before[~over] + 2).all()
        assert (np.asarray(state.rewards)[~over] == 0).all()
        results += np.asarray(state.rewards)[over, 0].tolist()
    assert set(results) == {-1.0, 0.0, 1.0}
    assert abs(np.mean(results)) < 0.2  # the same play on both sides, and the first role is drawn
    with pytest.raises(ValueError, match="key is missing"):
        env.step(jax.tree.map(lambda x: x[0], state), jnp.int32(0))


def test_states_keep_their_types_and_copies_work():
    """A scan may begin with `init`'s state, with 64-bit integers too; numbers of Python are
    actions; nothing relies on arrays of one rank standing in for those of another.
    """
    with with_words(UINT64), jax.numpy_rank_promotion("raise"):
        env = pickle.loads(pickle.dumps(boardenvs.envs.jax.make(SMALL)))
        state = env.init(jax.random.key(0))
        step = jax.jit(env.step)
        after = step(state, 3, jax.random.key(1))
        types = [[x.dtype for x in jax.tree.leaves(s)] for s in (state, after)]
        assert types[0] == types[1]
        assert state.rewards.dtype == np.float32
        with pytest.raises(TypeError, match="it must be an integer"):
            env.step(state, 3.0, jax.random.key(1))
