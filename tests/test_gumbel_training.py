"""Training by Gumbel search: what is kept to learn from, networks that begin from policies, runs
that go on, and that it learns.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import torch as th
import yaml
from same import same
from three_in_a_row import ThreeInARow
from variants import make

from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import trained_policy
from boardenvs.game.contract import Game
from boardenvs.game.fen import parse_position
from boardenvs.game.openings import random_openings
from boardenvs.game.state import FloatArray, State, stack, unstack
from boardenvs.search.analysis import search_position
from boardenvs.search.limits import Limits
from boardenvs.search.trained import trained_evaluation
from training import report
from training.checkpoint import load_newest
from training.gumbel.__main__ import main
from training.gumbel.games import SelfPlay
from training.gumbel.judge import JudgedNetwork
from training.gumbel.replay import ReplayBuffer
from training.gumbel.run import GumbelRun
from training.gumbel.settings import GumbelConfig
from training.settings import read_settings

CONFIGS = Path(__file__).resolve().parents[1] / "configs" / "gumbel"
TINY: dict[str, Any] = {
    "game": "othello",
    "steps": 512,
    "checkpoint_every": 128,
    "self_play": {"boards": 8, "opening_plies": [40, 50], "opponents": {"greedy": 0.25}},
    "search": {"simulations": 4, "considered": 2, "quick_simulations": 1, "alone_share": 0.5},
    "learning": {"hidden": [16], "replay": 512, "batch_size": 32},
    "evaluation": {"every": 256, "pairs": 2, "opponents": ["random"], "opening_plies": [40, 44]},
    "report": {"pairs": 2, "opponents": ["random"], "opening_plies": [40, 44]},
}


th.set_num_threads(1)
pytestmark = pytest.mark.usefixtures("in_python")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    for name in ("learning_curve", "rating_scale"):  # they take longer than the training
        monkeypatch.setattr(report, name, lambda *_: b"")
    return "tiny.yaml"


def config(**changes: Any) -> GumbelConfig:
    return GumbelConfig.model_validate({"name": "tiny", **TINY, **changes})


class Equal:
    """Likes all actions alike, and thinks that all is even."""

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        legal = game.legal(state) * 1.0
        return legal / legal.sum(axis=1, keepdims=True), np.zeros(len(legal))


# ---- what is learnt from -------------------------------------------------------------------------


def test_games_leave_their_results() -> None:
    """Each position of a finished game, by its side to move; those of others are not drawn."""
    settings = config(self_play={"boards": 6, "opening_plies": [44, 50]}, search={"simulations": 2})
    game = settings.make_game()
    replay = ReplayBuffer(game, 4096, search_value=0.0, symmetries=False)
    play, ended = SelfPlay(settings, game, replay), []
    finish = replay.finish

    def watched(slots: Any, games: Any, results: Any) -> None:
        ended.append((int(games[0]), results[0]))
        finish(slots, games, results)

    replay.finish = watched  # type: ignore[method-assign]
    for _ in range(40):
        before = play._state
        play.play(Equal(), 1)
        for board, position in enumerate(unstack(before)):
            after = play._state.ply[board]
            if after != position.ply + 1:  # a new game: the last move of the old one was here
                number, result = ended.pop(0)
                slots = np.flatnonzero(replay._game_number == number)
                assert replay._ready[slots].all()
                sides = replay._state.to_move[slots]
                np.testing.assert_array_equal(
                    replay._value[slots], np.where(sides == 0, result, -result)
                )
                last = play.game.next(position, _only_end(game, position, result))
                assert game.result(last)[0] / 50 - 1 == result
    assert not ended
    assert 0 < replay.ready < replay.added
    batch = replay.sample(500, np.random.default_rng(0))
    assert len(batch.value) == 500
    going = np.flatnonzero(~replay._ready & (replay._game_number >= 0))
    drawn = set(zip(batch.state.own.tolist(), batch.state.opp.tolist(), strict=True))
    unfinished = {(int(replay._state.own[k]), int(replay._state.opp[k])) for k in going}
    assert not drawn & unfinished


def _only_end(game: Game, position: Any, result: float) -> int:
    """An action that ends the game with this result to the first role."""
    for action in position.legal_actions():
        after = game.next(position, action)
        if after.terminated and game.result(after)[0] / 50 - 1 == result:
            return int(action)
    raise AssertionError(f"no action ends {position} with {result}")


@pytest.mark.parametrize("name", ["othello", "lines_of_action", "wolf_and_sheep"])
def test_batches_are_turned_with_their_policies(name: str) -> None:
    """An action of a turned position leads to the turned successor: played on both, with what the
    policy gives to each.
    """
    game, rng = make(name), np.random.default_rng(0)
    state = random_openings(game, 40, (2, 12), rng)
    policy: FloatArray = game.legal(state) * rng.random((40, game.num_actions))
    policy = policy.astype(np.float16).astype(np.float64)  # as it is kept
    replay = ReplayBuffer(game, 40, search_value=1.0, symmetries=True)
    values = np.arange(40) / 40
    replay.add(state, policy, np.ones(40, bool), values, np.arange(40))
    replay.finish(np.arange(40), np.arange(40), np.zeros(40))
    batch = replay.sample(200, rng)
    turned = 0
    for row, seen in enumerate(unstack(batch.state)):
        k = int(np.argmin(np.abs(values - batch.value[row])))
        original = unstack(state)[k]
        fitting = [
            s
            for s in game.symmetries
            if (s.apply(original.own), s.apply(original.opp)) == (seen.own, seen.opp)
        ]
        turned += original.own != seen.own
        assert any(
            np.array_equal(batch.policy[row][game.action_images(s)], policy[k]) for s in fitting
        )
    assert turned > 20


# ---- the network ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["othello", "lines_of_action"])
def test_a_judge_has_its_share_of_values(name: str) -> None:
    """The policy stays the network's; the judge's values are those of analysis, as results, and a
    win that it sees is nearly one.
    """
    game, rng = make(name), np.random.default_rng(0)
    evaluation = trained_evaluation(game)
    assert evaluation is not None
    state = random_openings(game, 12, (4, 20), rng)
    results = JudgedNetwork(Equal(), evaluation, 2, 0.5).evaluate(game, state)[1] / 0.5
    limits = Limits(2)
    found = [search_position(game, p, limits, evaluation=evaluation) for p in unstack(state)]
    values: FloatArray = np.array([x.value for x in found], np.float64)
    order = np.argsort(values)
    assert (np.diff(results[order]) >= 0).all()
    np.testing.assert_array_equal(np.sign(results), np.sign(values))
    assert np.unique(results).size > 8
    assert abs(results).max() <= 1
    policy, both = JudgedNetwork(trained_policy(game), evaluation, 2, 0.25).evaluate(game, state)
    expected, own = trained_policy(game).evaluate(game, state)
    np.testing.assert_array_equal(policy, expected)
    np.testing.assert_allclose(both, 0.75 * own + 0.25 * results, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("othello", "8/8/8/8/8/8/8/br6 black 40"),
        ("lines_of_action", "w7/8/8/7w/8/8/8/b2b4 black 10"),
    ],
)
def test_a_judge_sees_a_win(name: str, text: str) -> None:
    """Black takes Red's last piece at once, or brings its own together."""
    game = make(name)
    evaluation = trained_evaluation(game)
    assert evaluation is not None
    state = stack([parse_position(game, text)])
    assert 0.99 < JudgedNetwork(Equal(), evaluation, 1, 1.0).evaluate(game, state)[1] <= 1


# ---- runs ----------------------------------------------------------------------------------------


def end_of(name: str) -> dict[str, Any]:
    content = load_newest(Path("runs", name, "checkpoints"))[1]
    return {"learner": content["learner"], "replay": content["replay"], "games": content["games"]}


def test_an_interrupted_run_ends_like_another(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed, once without a break and once killed after a checkpoint."""
    assert main([tiny]) == 0
    folder = Path("runs/tiny")
    result = json.loads((folder / "result.json").read_text())
    assert 512 <= result["steps"] < 640
    assert {"policy.npz", "report.md", "metrics.png"} <= {p.name for p in folder.iterdir()}
    assert load_policy(folder / "policy.npz").notes["run"] == "tiny"

    monkeypatch.setattr(report, "metrics_over_steps", lambda *_: b"")
    update, calls = GumbelRun._update, []

    def killed(run: GumbelRun) -> dict[str, float]:
        calls.append(run)
        if len(calls) == 4:
            raise MemoryError
        return update(run)

    monkeypatch.setattr(GumbelRun, "_update", killed)
    with pytest.raises(MemoryError):
        main([tiny, "--set", "name=again"])
    monkeypatch.setattr(GumbelRun, "_update", update)
    assert main([tiny, "--set", "name=again", "--resume"]) == 0
    assert same(end_of("tiny"), end_of("again"))
    assert main([tiny, "--resume", "--set", "steps=700"]) == 0
    assert not same(end_of("tiny"), end_of("again"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("self_play.pool={share: .5, at_once: 1}", "both roles are learnt"),
        ("learning.replay=100", "learning.replay is 100: it must be 512 or more"),
        ("start=trained", r"start is 'trained', with layers of"),
        ("start=none.npz", "none.npz"),
        ("search.simulations=0", "search.simulations is 0"),
        ("search.judge={evaluation: none.npz}", "none.npz"),
        ("device=cuda:99", "device is 'cuda:99': torch has"),
    ],
)
def test_wrong_settings_are_named(
    tiny: str, changes: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([tiny, "--set", changes]) == 2
    assert not Path("runs").exists()
    assert re.search(message, " ".join(capsys.readouterr().err.split()))


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda p: p.stem)
def test_configurations_that_come_with_the_project_are_valid(path: Path) -> None:
    assert read_settings(GumbelConfig, path).steps > 0


# ---- learning ------------------------------------------------------------------------------------


def kept(game: Game, policy: Any, state: State) -> float:
    """The share of positions in which the policy's move keeps what best play gives."""
    from test_gumbel_search import exact

    actions = policy.evaluate(game, state)[0].argmax(axis=1)
    pairs = zip(unstack(state), actions.tolist(), strict=True)
    return float(np.mean([-exact(game.next(p, a)) == exact(p) for p, a in pairs]))


def test_it_learns_a_small_game_from_scratch(tmp_path: Path) -> None:
    settings = config(
        game="three_in_a_row:ThreeInARow",
        self_play={"boards": 32, "opening_plies": [0, 4]},
        search={"simulations": 9, "considered": 9, "full_share": 1, "c_scale": 0.2},
        learning={
            "hidden": [64],
            "plies_per_update": 4,
            "replay": 3000,
            "batch_size": 128,
            "reuse": 8,
            "learning_rate": 8e-3,
            "search_value": 0.5,
            "average": 0.95,
        },
        steps=3000,
    )
    game = ThreeInARow()
    state = random_openings(game, 300, (0, 5), np.random.default_rng(5))
    run = GumbelRun(settings, tmp_path)
    before = kept(game, run._policy(), state)
    while run.steps < settings.steps:
        run._update()
    assert before < 0.65
    assert kept(game, run._policy(), state) > 0.72
