"""The PPO in one file: it stands alone, its returns are results, and what it saves plays."""

from __future__ import annotations

import re
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from returns import paid, results_of_movers
from test_policy import positions

import boardenvs
from boardenvs.agents.policy_file import load_policy
from boardenvs.envs.batch import Batch, BoardGroup, StepResult
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from training import ppo_single_file

FILE = Path(ppo_single_file.__file__)
TINY = ["--total-timesteps", "1000", "--num-envs", "32", "--num-steps", "16", "--hidden", "16"]
TINY += ["--num-minibatches", "2", "--pool-every", "512", "--eval-pairs", "3"]


def test_it_needs_torch_numpy_and_boardenvs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    text = FILE.read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        ppo_single_file.parse_args(["--help"])
    assert "(default: 0.9)" in capsys.readouterr().out
    names = set(re.findall(r"^ *(?:import|from) (\w+)", text, re.MULTILINE))
    assert names - set(sys.stdlib_module_names) == {"torch", "numpy", "boardenvs"}


def test_a_copy_in_an_empty_folder_makes_a_policy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(FILE, tmp_path / "mine.py")
    monkeypatch.chdir(tmp_path)
    game = "othello:holes=1"
    monkeypatch.setattr(sys, "argv", ["mine.py", "--game", game, *TINY])
    runpy.run_path("mine.py", run_name="__main__")
    assert "against greedy" in capsys.readouterr().out
    policy = load_policy(tmp_path / "policy.npz")
    assert policy.game == boardenvs.games.make(game)
    assert policy.notes == {"seed": 0, "steps": 1024}
    result = boardenvs.play_match(policy.game, f"policy:{tmp_path / 'policy.npz'}", "random", 2)
    assert not any(stats.forfeits for stats in result.stats)


def test_of_earlier_selves_the_latest_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[ppo_single_file.NetworkPlayer]()

    def player(*arguments: Any, **named: Any) -> ppo_single_file.NetworkPlayer:
        made.append(NetworkPlayer(*arguments, **named))
        return made[-1]

    NetworkPlayer, learn = ppo_single_file.NetworkPlayer, ppo_single_file.learn  # noqa: N806
    rates = list[float]()

    def noted(net: Any, optimizer: Any, *rest: Any) -> dict[str, float]:
        rates.append(optimizer.param_groups[0]["lr"])
        return learn(net, optimizer, *rest)

    def batch(*arguments: Any, **named: Any) -> Batch:
        assert named == {"opening_plies": (0, 2), "symmetries": True, "seed": 0}
        return Batch(*arguments, **named)

    monkeypatch.setattr(ppo_single_file, "learn", noted)
    monkeypatch.setattr(ppo_single_file, "Batch", batch)
    monkeypatch.setattr(ppo_single_file, "NetworkPlayer", player)
    words = [*TINY, "--game", "tictactoe", "--total-timesteps", "128", "--num-steps", "2"]
    words += ["--pool-every", "64", "--pool-size", "1", "--opening-plies", "0", "2"]
    args = ppo_single_file.parse_args([*words, "--out", str(tmp_path / "policy.npz")])
    ppo_single_file.main(args)
    first_policy = args.out.read_bytes()
    ppo_single_file.main(args)
    assert args.out.read_bytes() == first_policy  # of the same seed
    del made[len(made) // 2 :], rates[2:]
    assert rates == pytest.approx([2e-3, 1.05e-3])  # falling to 1e-4 at the end
    th.manual_seed(0)
    first = ppo_single_file.Network(boardenvs.games.make("tictactoe"), args)
    assert [its.sample for its in made[:2]] == [True, False]  # earlier selves draw their moves
    opponent, learner = (its.net.policy_head.weight for its in made[:2])
    assert not th.equal(opponent, first.policy_head.weight)
    assert not th.equal(opponent, learner)


def test_an_update_goes_down_the_gradient_of_ppo_s_loss() -> None:
    """Of the clipped objective, written out sample by sample, with the error of values and the
    entropy; what it prints are means.
    """
    game, rng, count = boardenvs.games.make("tictactoe"), np.random.default_rng(0), 30
    words = ["--hidden", "8", "--no-bf16", "--num-minibatches", "1", "--update-epochs", "1"]
    words += ["--num-envs", "1", "--max-grad-norm", "1e9", "--vf-coef", "0.7", "--ent-coef", "0.3"]
    args = ppo_single_file.parse_args(words)
    th.manual_seed(0)
    net = ppo_single_file.Network(game, args)
    for values in net.parameters():
        th.nn.init.normal_(values, std=0.5)
    planes, mask = ppo_single_file.look(game, random_openings(game, count, (0, 5), rng), "cpu")
    actions = mask.float().multinomial(1)
    with th.no_grad():
        now = th.log_softmax(net(planes, mask)[0], 1).gather(1, actions).squeeze(1)
    old, advantage, target = now + th.randn(count) / 4, th.randn(count), th.randn(count)
    weights = [*net.parameters()]
    before, directions = ([f(x.detach()) for x in weights] for f in (th.clone, th.randn_like))

    def losses(distance: float = 0.0) -> tuple[float, float, float, float]:
        """At this distance from the weights: the loss, and what is printed."""
        with th.no_grad():
            for x, start, direction in zip(weights, before, directions, strict=True):
                x.copy_(start + distance * direction)
            logits, predicted = (x.double().numpy() for x in net(planes, mask))
        objective, entropy, kl = [], [], []
        worth = (advantage - advantage.mean()) / advantage.std()
        for row in range(count):
            likely = np.exp(logits[row][mask[row].numpy()])
            likely /= likely.sum()
            entropy.append(-(likely * np.log(likely)).sum())
            log = logits[row, actions[row]].item() - np.log(np.exp(logits[row]).sum())
            ratio, a = np.exp(log - old[row].item()), worth[row].item()
            kl.append(ratio - 1 - np.log(ratio))
            objective.append(min(ratio, 1.2) * a if a > 0 else max(ratio, 0.8) * a)
        error = float(np.mean((predicted - target.numpy()) ** 2))
        whole = -np.mean(objective) + 0.7 * error - 0.3 * np.mean(entropy)
        return float(whole), float(np.mean(entropy)), error, float(np.mean(kl))

    slope = (losses(1e-4)[0] - losses(-1e-4)[0]) / 2e-4
    expected = losses()[1:]
    columns = [planes, mask, actions.squeeze(1), old, advantage, target]
    optimizer: Any = th.optim.SGD(net.parameters(), lr=1.0)
    metrics = ppo_single_file.learn(net, optimizer, columns, args)
    assert [*metrics.values()] == pytest.approx(expected, abs=1e-5)
    moved = [old - x.detach() for old, x in zip(before, weights, strict=True)]
    found = sum(float((x * y).sum()) for x, y in zip(moved, directions, strict=True))
    assert found == pytest.approx(slope, rel=1e-2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--num-envs 5 --num-steps 5", "--num-minibatches must divide --num-envs times"),
        ("--pool-share 1.5", "--pool-share is 1.5: it must be from 0 to 1"),
        ("--game othelo", "unknown game 'othelo'. Did you mean 'othello'"),
    ],
)
def test_wrong_options_are_named(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        ppo_single_file.parse_args(words.split())
    assert message in capsys.readouterr().err


class Watched(Batch):
    """Notes who moves in each step, and what the games that it ended paid each role."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.movers, self.ends = list[Any](), list[Any]()

    def step(self, actions: Any) -> StepResult:
        self.movers.append(self.state.to_move.copy())
        result = super().step(actions)
        self.ends.append(np.full((self.size, 2), np.nan))
        self.ends[-1][result.ended] = paid(self.game, result.final)
        return result


@pytest.mark.parametrize("name", ["othello", "wolf_and_sheep", "checkers"])
def test_returns_are_the_results_of_whole_games_for_the_mover(game: Game) -> None:
    """With lambda 1, in self-play and against an opponent, on boards side by side."""
    words = ["--gae-lambda", "1", "--num-steps", "70", "--hidden", "16"]
    args = ppo_single_file.parse_args(words)
    th.manual_seed(1)
    net = ppo_single_file.Network(game, args)
    groups = [BoardGroup(16), BoardGroup(8, "greedy")]
    openings = (0, 10 if game.id == "wolf_and_sheep" else 40)
    boards = Watched(game, groups, opening_plies=openings, symmetries=True, seed=1)
    returns = ppo_single_file.play(boards, net, args)[-1].reshape(70, 24).numpy()
    results = results_of_movers(boards.movers, boards.ends)
    ended = ~np.isnan(results)
    assert ended.sum() > 200
    assert returns[ended] == pytest.approx(results[ended], abs=1e-4)


def test_the_policy_that_it_saves_is_the_network(game: Game) -> None:
    net = ppo_single_file.Network(
        game, ppo_single_file.parse_args(["--hidden", "24", "16", "--no-bf16"])
    )
    th.manual_seed(1)
    with th.no_grad():
        for values in net.parameters():
            th.nn.init.normal_(values, std=0.2)
        state = positions(game)
        logits, value = net(*ppo_single_file.look(game, state, "cpu"))
    legal = game.legal(state)
    ours, worth = net.to_policy(game, {}).forward(game.observe(state))
    assert ours[legal] == pytest.approx(logits.numpy()[legal], abs=1e-4)
    assert worth == pytest.approx(value.numpy(), abs=1e-4)
    assert (logits.numpy()[~legal] < -1e7).all()
