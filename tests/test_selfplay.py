"""The boards of a training: returns are each mover's own result, openings, snapshots, the pool."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch as th
from returns import FirstLegal, any_legal, over, returns_and_results
from same import same
from test_policy import random_policy

from boardenvs import games
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.pool import OpponentPool
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.sb3_buffer import TurnRolloutBuffer
from boardenvs.game.game import Game
from boardenvs.game.openings import Starts, random_openings
from boardenvs.game.perft import successors
from boardenvs.game.position import stack
from boardenvs.game.state import State
from boardenvs.tablebase import Tablebase
from training.run import played_openings
from training.run_settings import SelfPlaySettings

th.set_num_threads(1)
pytestmark = [
    pytest.mark.filterwarnings("ignore:nothing reads the `discounts`"),  # boards stepped by hand
]

SHORT = [
    "othello",
    "wolf_and_sheep",
    "wolf_and_sheep:rules=described,max_plies=30",
    "lines_of_action:rules=described,max_steps=12",
]


@pytest.mark.parametrize("spec", [*SHORT, "checkers"])
def test_each_mover_learns_its_own_result(spec: str) -> None:
    """By the discounts of the boards, where those of all kinds are side by side."""
    game = games.parse(spec)
    groups = [
        BoardGroup(8, name="self-play"),
        BoardGroup(8, FirstLegal(), name="x"),
        BoardGroup(4, name="self-play"),
        BoardGroup(4, FirstLegal(), game.roles[1], "y"),
    ]
    env = BoardVecEnv(game, groups=groups, opening_plies=(0, 8), symmetries=True, mover_view=True)
    returns, truth = returns_and_results(env)
    finished = ~np.isnan(truth)
    assert finished.sum() > 100
    assert np.allclose(returns[finished], truth[finished], atol=1e-4)


def test_later_steps_count_less_by_gamma_and_lambda() -> None:
    """An advantage is the sum of what is not foreseen from its step to the end of the game."""
    rng, steps, gamma, share = np.random.default_rng(0), 9, 0.5, 0.8
    spaces = BoardVecEnv("tictactoe", 1)
    buffer = TurnRolloutBuffer(
        *(steps, spaces.observation_space, spaces.action_space),
        gamma=gamma,
        gae_lambda=share,
        n_envs=1,
    )
    rewards, values = rng.normal(size=(2, steps + 1))
    signs, over = rng.choice([-1, 1], steps), rng.random(steps) < 0.3
    for step in range(steps):
        buffer.env = SimpleNamespace(discounts=signs[step : step + 1])
        start, value = over[step - 1], th.as_tensor(values[step : step + 1])
        shown, reward = spaces.observation_space.sample(), rewards[step : step + 1]
        buffer.add(shown, np.zeros(1), reward, start, value, value, action_masks=None)
    buffer.compute_returns_and_advantage(th.as_tensor(values[-1:]), over[-1:])
    for step in range(steps):
        expected, weight = 0.0, 1.0
        for later in range(step, steps):
            discount = 0 if over[later] else gamma * signs[later]
            expected += weight * (rewards[later] + discount * values[later + 1] - values[later])
            weight *= discount * share
        found = buffer.advantages[step, 0], buffer.returns[step, 0]
        assert found == pytest.approx((expected, expected + values[step]), abs=1e-5)


@pytest.mark.parametrize("spec", ["othello", "wolf_and_sheep", "lines_of_action", "hex"])
def test_what_is_seen_under_a_symmetry_is_played_on_the_board(spec: str) -> None:
    """Step by step, terminal observations too: the image of the board's position is seen, and in
    Hex that where black is to move.
    """
    game, rng = games.make(spec), np.random.default_rng(0)
    env = BoardVecEnv(game, 8, symmetries=True, mover_view=True, seed=0)
    env.reset()
    symmetries = env.boards.symmetries
    assert symmetries is not None
    ended = 0
    for _ in range(130 if spec == "hex" else 80):
        before, chosen, mask = game.positions(env.state), symmetries.chosen, env.action_masks()
        actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        observations, _, dones, infos = env.step(actions)
        for row, (position, index, action) in enumerate(zip(before, chosen, actions, strict=True)):
            symmetry, turned = game.symmetries[index], position.to_move and game.mover_symmetry
            images = game.action_images(symmetry)
            if turned:
                images = images[game.action_images(turned)]
            assert np.flatnonzero(mask[row][images]).tolist() == position.legal_actions()
            after = position.step(int(np.flatnonzero(images == action)[0]))
            found = infos[row]["terminal_observation"] if dones[row] else observations[row]
            if after.to_move and game.mover_symmetry:
                after = after.image(game.mover_symmetry, swapped=True)
            assert np.array_equal(found, game.observe(stack([after.image(symmetry)]))[0])
            ended += bool(dones[row])
    assert ended > 5


def test_symmetries_are_drawn_by_the_seed_for_each_board() -> None:
    drawn = []
    for seed in (0, 0, 1):
        boards = BoardVecEnv("othello", 64, symmetries=True, seed=seed).boards
        assert boards.symmetries is not None
        drawn.append(boards.symmetries.chosen.tolist())
    assert drawn[0] == drawn[1] != drawn[2]
    assert {*drawn[0]} == {*range(len(games.make("othello").symmetries))}


# ---- openings ----------------------------------------------------------------------------------


def opened(game: Game, count: int, seed: int = 0, **settings: Any) -> State:
    chosen = SelfPlaySettings.model_validate(settings)
    return played_openings(game, chosen, count, np.random.default_rng(seed))


def test_openings_of_an_agent_lead_where_random_ones_do_not() -> None:
    """In Lines of Action to positions where a move connects all the mover's pieces."""
    game, shares = games.make("lines_of_action"), {}
    for who in ("random", "positional"):
        state = opened(game, 300, openings={who: 1.0}, opening_plies=(0, 45))
        assert not over(game, state).any()
        assert set(state.ply.tolist()) <= set(range(46))
        rows, _, after = successors(game, state)
        won = after.terminated & (game.score_margin(after) < 0)
        shares[who] = len(set(rows[won].tolist())) / 300
    assert shares["random"] < 0.005
    assert shares["positional"] > 0.015


def test_openings_are_shared_out_and_repeat_with_the_seed() -> None:
    game = games.make("othello")
    shares = {"random": 0.75, "greedy": 0.25}
    first, again, other = (
        opened(game, 400, seed, openings=shares, opening_plies=(3, 9)) for seed in (1, 1, 2)
    )
    assert len(first.ply) == 400
    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize("undecided", [0, 1])
def test_undecided_openings_are_those_that_the_winner_of_the_start_still_wins(
    undecided: float,
) -> None:
    """Most random ones are lost for the sheep."""
    game = games.make("wolf_and_sheep")
    state = opened(game, 400, undecided=undecided, opening_plies=(0, 30))
    value, _ = Tablebase.load(game).lookup(state)
    assert len(value) == 400
    share = (value == np.where(state.to_move == 1, 1, -1)).mean()
    assert share == 1 if undecided else share < 0.6


def test_openings_in_stock_are_drawn_once() -> None:
    starts, rng = Starts(games.make("othello"), (6, 9), None), np.random.default_rng(0)
    first, second = starts.draw(9, rng), starts.draw(9, rng)
    assert not {*first.own.tolist()} <= {*second.own.tolist()}


# ---- going on ----------------------------------------------------------------------------------


def go_on(env: BoardVecEnv, steps: int = 24) -> list[bytes]:
    rng, record = np.random.default_rng(7), []
    for _ in range(steps):
        observation, rewards, _, infos = env.step(any_legal(env, rng))
        assert not any(infos)
        record += [np.asarray(observation).tobytes(), rewards.tobytes()]
    return record


def make_mixed(
    seed: int, game: str = "othello", opponent: Any = "greedy", **options: Any
) -> BoardVecEnv:
    groups = [BoardGroup(8, name="self-play"), BoardGroup(8, opponent, name="x")]
    usual = {"opening_plies": (0, 30), "symmetries": True, "final_infos": False}
    env = BoardVecEnv(games.parse(game), **{"groups": groups, **usual, **options})
    env.seed(seed)
    env.reset()
    return env


@pytest.mark.parametrize(  # starts are drawn anew for every game
    ("game", "given"), [("othello", False), ("othello", True), ("checkers", False)]
)
def test_a_snapshot_goes_on_as_the_original(game: str, given: bool) -> None:
    rng = np.random.default_rng(0)
    starts = random_openings(games.make(game), 99, (5, 30), rng) if given else None
    env, other = (make_mixed(seed, game, starts=starts) for seed in (1, 2))
    go_on(env, 30)
    while game == "checkers" and len({*env.discounts[:8].tolist()}) == 1:
        go_on(env, 1)  # until somebody is to move again
    snapshot, discounts = env.snapshot(), env.discounts.tolist()
    expected = go_on(env)
    other.restore(snapshot)
    assert other.discounts.tolist() == discounts
    assert go_on(other) == expected
    other.restore(snapshot)  # which was not written into
    with pytest.raises(ValueError, match="the snapshot is of no batch made alike"):
        other.restore({**env.snapshot(), "rngs": []})  # of which nothing is taken
    assert go_on(other) == expected


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_as_the_original(copied: Callable[[BoardVecEnv], BoardVecEnv]) -> None:
    """With threads of its own: those of the original may end."""
    env = make_mixed(1, threads=2)
    go_on(env, 10)
    other = copied(env)
    expected = go_on(env)
    env.close()
    assert go_on(other) == expected
    other.close()


# ---- the pool ----------------------------------------------------------------------------------


def filled_pool(folder: Path, size: int = 3, seed: int = 0) -> OpponentPool:
    pool = OpponentPool(folder, size, seed)
    for steps in (0, 10, 20, 30):
        pool.add(random_policy(games.make("othello"), seed=steps), steps)
    return pool


def steps_of(agents: Any) -> list[str]:
    return [Path(agent.policy.name).stem.lstrip("0") or "0" for agent in agents]


def test_the_pool_draws_the_last_snapshots_by_its_seed(tmp_path: Path) -> None:
    pool, other = filled_pool(tmp_path / "a"), filled_pool(tmp_path / "b")
    draws = [steps_of(pool.draw(2)) for _ in range(40)]
    assert draws == [steps_of(other.draw(2)) for _ in range(40)]
    differently = filled_pool(tmp_path / "c", seed=1)
    assert draws != [steps_of(differently.draw(2)) for _ in range(40)]
    assert {name for draw in draws for name in draw} == {"10", "20", "30"}
    assert all(len(set(draw)) == 2 for draw in draws)
    assert all(len({*steps_of(pool.draw(3))}) == 3 for _ in range(9))
    assert len(pool.draw(5)) == 5  # some of them more than once
    assert all(isinstance(agent, PolicyAgent) and agent.sample for agent in pool.draw(3))
    assert len(list((tmp_path / "a").glob("*.npz"))) == 4  # the oldest stays on disk
    restored = OpponentPool(tmp_path / "a", 3, 99)
    restored.add(random_policy(games.make("othello")), 99)  # which is forgotten
    assert restored.restore(pool.snapshot()) == []
    assert [steps_of(restored.draw(2)) for _ in range(10)] == [
        steps_of(pool.draw(2)) for _ in range(10)
    ]


def test_snapshots_that_are_gone_or_damaged_are_named_and_left_out(tmp_path: Path) -> None:
    pool = filled_pool(tmp_path)
    (tmp_path / "000000000010.npz").unlink()
    (tmp_path / "000000000020.npz").write_bytes(b"torn")
    other = OpponentPool(tmp_path, 3, 0)
    gone, damaged = other.restore(pool.snapshot())
    assert "opponent 000000000010.npz is left out of the pool" in gone
    assert "opponent 000000000020.npz is left out of the pool" in damaged
    assert len(other) == 1
    assert steps_of(other.draw(2)) == ["30", "30"]
    (tmp_path / "inner").mkdir()
    inner = OpponentPool(tmp_path / "inner", 3, 0)
    (outside,) = inner.restore(pool.snapshot() | {"files": ["../000000000030.npz"]})
    assert "left out" in outside  # others may have written the checkpoint
