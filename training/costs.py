"""What the two halves of a training cost, playing and learning: measured, on one core and in
processes of their own, in which runners play and a learner learns from what they send.

The halves are those of `ppo_single_file.py`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

import boardenvs
from boardenvs.envs.batch import Batch, BoardGroup
from training.config import Config
from training.learner import make_learner
from training.ppo import make_env
from training.ppo_single_file import Network, learn, play

BOARDS, STEPS = 512, 32  # of a runner between two updates
BATCH = BOARDS * STEPS
MINIBATCH = 1024
# Players on a part of the boards; the rest is self-play.
SEARCHING = {"alphabeta:depth=1": 96, "alphabeta:depth=5": 32, "mcts:rollouts=16": 64}

# The workloads of one core.
RANDOM = "random play in `vec_env`"
PLAYING = "playing, self-play"
SEARCHED = "playing, 3 of 8 boards against searching players"
LEARNING = "learning"
TRAINER = ("`training.ppo`, playing", "`training.ppo`, learning")
GPU = "learning on the GPU, seconds on the clock"


@dataclass(frozen=True)
class Cost:
    """Seconds of CPU time for a step: the median of some rounds, and how far these lie apart."""

    seconds: float
    spread: float = 0.0  # the interquartile range as a part of the median

    @classmethod
    def of(cls, rounds: Sequence[float]) -> Cost:
        low, middle, high = np.percentile(rounds, [25, 50, 75])
        return cls(float(middle), float((high - low) / middle))

    def __str__(self) -> str:
        return f"{1 / self.seconds:,.0f} ± {self.spread / 2:.0%}"

    @property
    def rate(self) -> float:
        """Steps a second."""
        return 1 / self.seconds


@dataclass(frozen=True)
class Processes:
    """Costs a step with so many runners and one learner, each in a process."""

    runners: int
    playing: Cost  # in a runner: playing, taking in weights, sending steps
    learning: Cost  # in the learner: receiving steps, learning, sending weights

    @property
    def in_turns(self) -> float:
        """Steps a second with a core for each, where all play, then all is learnt from."""
        return self.runners / (self.playing.seconds + self.runners * self.learning.seconds)

    @property
    def side_by_side(self) -> float:
        """The same where the next steps are played while the last ones are learnt from."""
        return min(self.runners * self.playing.rate, self.learning.rate)


@dataclass(frozen=True)
class Measured:
    """All that was measured."""

    costs: dict[str, Cost]  # of one core, by workload
    processes: list[Processes]
    step_bytes: int  # of a step, as runners send it
    plies: float  # of a game of self-play from the start


# ---- one core ------------------------------------------------------------------------------------


def measure_one_core(args: argparse.Namespace, rounds: int) -> dict[str, Cost]:
    """The costs of all workloads by name, one round of each after the other."""
    game = boardenvs.games.make(args.game)
    net = Network(game, args)
    optimizer = torch.optim.Adam(net.parameters(), args.learning_rate, eps=1e-5)
    alone, searching = _boards(game, {}), _boards(game, SEARCHING)
    columns = play(alone, net, args)
    workloads: dict[str, Callable[[], float]] = {
        RANDOM: _vec_env(args.game),
        PLAYING: _timed(lambda: play(alone, net, args)),
        SEARCHED: _timed(lambda: play(searching, net, args)),
        LEARNING: _timed(lambda: learn(net, optimizer, columns, args)),
    }
    trainer = _Trainer(args)
    times: dict[str, list[float]] = {name: [] for name in workloads}
    times |= {name: [] for name in trainer.seconds}
    for number in range(rounds + 1):
        _say(f"one core, round {number} of {rounds}")
        found = {name: run() for name, run in workloads.items()} | trainer.round()
        if number:  # the first one compiles and fills caches
            for name, seconds in found.items():
                times[name].append(seconds / BATCH)
    if torch.cuda.is_available():
        times[GPU] = _learn_on_gpu(args, columns, rounds)
    return {name: Cost.of(seconds) for name, seconds in times.items()}


def _learn_on_gpu(
    args: argparse.Namespace, columns: list[torch.Tensor], rounds: int
) -> list[float]:
    """Seconds on the clock for a step, the sending of steps to the GPU included."""
    args = argparse.Namespace(**{**vars(args), "device": "cuda"})
    net = Network(boardenvs.games.make(args.game), args)
    optimizer = torch.optim.Adam(net.parameters(), args.learning_rate, eps=1e-5)
    found = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        learn(net, optimizer, [column.to("cuda") for column in columns], args)
        torch.cuda.synchronize()
        found.append((time.perf_counter() - began) / BATCH)
    return found[1:]


def _boards(game: boardenvs.Game, opponents: dict[str, int]) -> Batch:
    groups = [BoardGroup(n, opponent) for opponent, n in opponents.items()]
    groups.append(BoardGroup(BOARDS - sum(opponents.values())))
    return Batch(game, groups, symmetries=True, seed=1)


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    """The work as a function that returns its CPU seconds."""

    def run() -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    return run


def _vec_env(game: str) -> Callable[[], float]:
    """Random play, as many steps as a batch has; choosing the actions counts too."""
    envs = boardenvs.vec_env(game, BOARDS, copy=False)
    envs.reset(seed=1)
    rng = np.random.default_rng(1)

    def work() -> None:
        for _ in range(STEPS):
            envs.step(envs.game.sample(envs.batch.state, rng))

    return _timed(work)


class _Trainer:
    """`training.ppo` with the same network and settings, update by update."""

    def __init__(self, args: argparse.Namespace) -> None:
        config = Config.model_validate(
            {
                "name": "scaling",
                "game": args.game,
                "steps": 10**9,
                "precision": "bfloat16" if args.bf16 else "float32",
                "self_play": {"boards": BOARDS, "opening_plies": [0, 0]},
                "ppo": {
                    "hidden": args.hidden,
                    "steps_per_update": STEPS,
                    "batch_size": MINIBATCH,
                    "epochs": args.update_epochs,
                },
                "report": {"opponents": ["random"]},
            }
        )
        torch.distributions.Distribution.set_default_validate_args(False)
        self._model: MaskablePPO = make_learner(config, make_env(config))
        self.seconds = dict.fromkeys(TRAINER, 0.0)
        for name, method in zip(self.seconds, ("collect_rollouts", "train"), strict=True):
            setattr(self._model, method, self._counting(name, getattr(self._model, method)))

    def round(self) -> dict[str, float]:
        """One update; the CPU seconds of its halves."""
        self._model.learn(BATCH, reset_num_timesteps=False)
        return dict(self.seconds)

    def _counting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            result = method(*arguments, **named)
            self.seconds[name] = time.process_time() - began
            return result

        return counted


def measure_step(args: argparse.Namespace) -> tuple[int, float]:
    """The bytes of a step as runners send it, and the mean plies of a game from the start."""
    game = boardenvs.games.make(args.game)
    boards = _boards(game, {})
    net = Network(game, args)
    columns = play(boards, net, args)
    size = sum(column.nbytes for column in columns) // BATCH
    ended = boards.take_ended()["boards"]
    while ended.games < BOARDS:
        play(boards, net, args)
        ended.merge(boards.take_ended()["boards"])
    return size, ended.plies / ended.games


# ---- processes -----------------------------------------------------------------------------------


def measure_processes(args: argparse.Namespace, runners: int, rounds: int) -> Processes:
    """Let so many runners play, each its own boards, and one learner learn from all they send."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for number in range(runners):
        ours, theirs = context.Pipe()
        process = context.Process(target=_run_runner, args=(theirs, args, number), daemon=True)
        process.start()
        theirs.close()  # so that the end of a runner ends the waiting for it
        pipes.append(ours)
        processes.append(process)
    net = Network(boardenvs.games.make(args.game), args)
    optimizer = torch.optim.Adam(net.parameters(), args.learning_rate, eps=1e-5)
    args = _with_minibatches(args, runners)
    learning, playing = [], []
    for number in range(rounds + 1):
        _say(f"{runners} runners, round {number} of {rounds}")
        began = time.process_time()
        weights = [values.detach().numpy() for values in net.parameters()]
        for pipe in pipes:
            pipe.send(weights)
        received = [pipe.recv() for pipe in pipes]
        columns = [torch.from_numpy(np.concatenate(parts)) for parts in zip(*received, strict=True)]
        learn(net, optimizer, columns, args)
        learning.append((time.process_time() - began) / (BATCH * runners))
        playing.append([pipe.recv() / BATCH for pipe in pipes])
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(None)
        process.join()
    return Processes(runners, Cost.of(np.ravel(playing[1:]).tolist()), Cost.of(learning[1:]))


def _with_minibatches(args: argparse.Namespace, runners: int) -> argparse.Namespace:
    """The settings for the batch of so many runners, in minibatches of the same size."""
    return argparse.Namespace(
        **{**vars(args), "num_minibatches": BATCH * runners // MINIBATCH, "num_envs": BOARDS}
    )


def _run_runner(pipe: Connection, args: argparse.Namespace, number: int) -> None:
    """Play with the weights that come, and send what was played and the CPU seconds it took."""
    torch.set_num_threads(1)
    game = boardenvs.games.make(args.game)
    net = Network(game, args)
    boards = Batch(game, [BoardGroup(BOARDS)], symmetries=True, seed=BOARDS * number)
    while (weights := pipe.recv()) is not None:
        began = time.process_time()
        with torch.no_grad():
            for values, new in zip(net.parameters(), weights, strict=True):
                values.copy_(torch.from_numpy(new))
        pipe.send([column.numpy() for column in play(boards, net, args)])
        pipe.send(time.process_time() - began)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
