"""Self-play by workers: this process, others on this machine, or others on a cluster.

Each worker has its own boards. While a round of plies is learnt, the next one is played with the
weights from before: what comes out depends on the seed and the number of workers, not on where they
are or how fast. A round is played again if its process dies.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Generator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import torch as th

from boardenvs.agents.network import BoardNetwork
from boardenvs.arena.executor import Executor, WorkerError
from boardenvs.envs.batch import EndedGames
from boardenvs.game.state import Array
from boardenvs.utils.decoding import decode
from training.gumbel.gumbel_settings import GumbelConfig, LearningSettings, SearchSettings
from training.gumbel.network import NetworkEvaluator
from training.gumbel.self_play import PlayedRound, SelfPlay
from training.run_settings import find_device, find_precision, set_up_torch


@dataclass(frozen=True)
class Round:
    """A round to play with these weights, on from a snapshot of a worker's games, or from none."""

    settings: str  # the run's, as JSON
    worker: int
    weights: dict[str, Array]
    games: dict[str, Any] | None

    def run(self) -> PlayedRound:
        """Play it."""
        play, network = _prepared(self.settings)
        if self.games is None:
            play.begin(self.worker)
        else:
            play.restore(deepcopy(self.games))  # games that go on write into their arrays
        network.load_state_dict({name: th.tensor(x) for name, x in self.weights.items()})
        played = play.play(NetworkEvaluator(network), LearningSettings.PLIES_PER_UPDATE)
        before, _cpu[0] = _cpu[0], time.process_time()
        return played._replace(seconds=_cpu[0] - before)

    def lost(self, side: int) -> NoReturn:
        """Raise WorkerError."""
        raise WorkerError(
            "two workers died over a round: something kills them, there is too little memory, or "
            "what they printed says why"
        )


_cpu = [0.0]  # seconds of this process until the end of its last round


@lru_cache(maxsize=1)
def _prepared(settings: str) -> tuple[SelfPlay, BoardNetwork]:
    """Return boards for the games of any worker, and a network for any weights."""
    set_up_torch()
    if multiprocessing.parent_process() and hasattr(os, "nice"):
        os.nice(10)  # all workers wait for the learner: it goes first
    config = decode(GumbelConfig, json.loads(settings), "the settings")
    play, device = SelfPlay(config, config.game_to_train()), find_device(config.device)
    network = BoardNetwork(play.game, config.network.size, find_precision(device))
    return play, network.to(device)


class SelfPlayWorkers:
    """The workers of a training. `in_progress` is all that the round in progress depends on."""

    def __init__(self, config: GumbelConfig, network: BoardNetwork) -> None:
        self._settings, self._network = config.model_dump_json(), network
        self._executor = _executor(config.search)
        self.in_progress: dict[str, Any] = {"games": [None] * max(1, config.search.workers)}

    def rounds(self) -> Generator[list[PlayedRound], None, None]:
        """Yield each round, by worker, while the next one is played; closing it ends the workers.

        WorkerError if processes die again and again.
        """
        rounds = list[PlayedRound]()
        self.in_progress.setdefault("weights", self._weights())
        with self._executor:
            while True:
                weights = self.in_progress["weights"]
                begun = self._executor.run(
                    [
                        Round(self._settings, worker, weights, games)
                        for worker, games in enumerate(self.in_progress["games"])
                    ]
                )
                if rounds:
                    yield rounds
                rounds = [played for _, played in sorted(begun)]
                games = [played.games for played in rounds]
                self.in_progress = {"games": games, "weights": self._weights()}

    def _weights(self) -> dict[str, Array]:
        state = self._network.state_dict()
        return {name: x.numpy(force=True).copy() for name, x in state.items()}


def _executor(settings: SearchSettings) -> Executor:
    if not settings.workers or settings.workers_on == "processes":
        return Executor(settings.workers, print)
    # Ray takes signals for itself as it begins: the run sets its own afterwards.
    from training.gumbel.ray_executor import RayExecutor

    return RayExecutor(settings.workers)


def total(parts: list[dict[str, EndedGames]]) -> dict[str, EndedGames]:
    """Return the sums of totals, by group."""
    return {
        name: EndedGames(**sum((Counter(vars(part[name])) for part in parts), Counter()))
        for name in parts[0]
    }
