"""A run that learns an evaluation: what is on file is taken from there, the rest is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from boardenvs.arena.executor import HERE, Executor
from boardenvs.search import Evaluation
from boardenvs.search.evaluation import Int16Array, Terms
from boardenvs.search.evaluation_file import load_evaluation, save_evaluation
from training.ntuple.fit import as_evaluation, as_weights, fit, stages_of
from training.ntuple.play import GamesToPlay, Positions, load_positions, save_positions
from training.ntuple.settings import NTupleConfig, OnePlySettings

GAMES_A_FILE = 1000
_AT_ONCE = 2000  # games of a round

Progress = Callable[[str, int, int], None]  # of what is done, how much of how much


class NTupleRun:
    """Learns an evaluation, generation by generation, in a folder.

    Every file follows from the settings and the files before it, so that a run which goes on after
    an interruption ends as if there had been none. What `progress` raises ends it; what is on file
    then is whole.
    """

    def __init__(
        self, config: NTupleConfig, folder: Path, progress: Progress, executor: Executor = HERE
    ) -> None:
        self._config, self._folder, self._progress = config, folder, progress
        self._executor = executor
        self._game = config.make_game()
        features = self._game.feature_sizes if config.features else {}
        self._terms = Terms(self._game, config.all_tuples(), features)
        self._stages = stages_of(self._game.board, config.stages, *config.pieces)

    def learn(self) -> Evaluation:
        """The evaluation of the last generation, with weights of their own for one ply where these
        are wanted.
        """
        evaluation = None
        for generation in range(len(self._config.generations)):
            make = partial(self._generation, generation, evaluation)
            evaluation = self._on_file(str(generation), make)
        assert evaluation is not None
        settings = self._config.one_ply
        if settings is None:
            return evaluation
        rounds = [evaluation]
        for number in range(settings.rounds):
            make = partial(self._round, number, rounds[-1], settings)
            rounds.append(self._on_file(f"one_ply_{number}", make))
        return replace(evaluation, one_ply=mean_weights(rounds[-settings.averaged :]))

    def _on_file(self, name: str, make: Callable[[], Evaluation]) -> Evaluation:
        path = self._folder / "evaluations" / f"{name}.npz"
        if not path.is_file():
            found = make()
            path.parent.mkdir(exist_ok=True)
            save_evaluation(found, path)
        return load_evaluation(path)

    def _generation(self, generation: int, before: Evaluation | None) -> Evaluation:
        config, settings = self._config, self._config.generations[generation]
        parts = self._play(generation, before)
        if settings.with_previous:
            paths = sorted((self._folder / "positions").glob(f"{generation - 1}_*.npz"))
            parts += map(load_positions, paths)
        positions = Positions.joined(parts)
        heuristic = np.zeros(len(positions.result))
        if config.heuristic:
            heuristic = self._game.values(positions.as_state(self._game)).astype(np.float64)

        def progress(stage: int) -> None:
            self._progress(f"generation {generation + 1}, stages", stage, config.stages)

        found = fit(self._terms, self._stages, positions, heuristic, config.fit, progress)
        notes = {
            "run": config.name,
            "seed": config.seed,
            "generation": generation + 1,
            "games": settings.games,
            "error": found.error.round(2).tolist(),
            "standard_deviation": found.deviation.round(2).tolist(),
            "held_back": found.held_back.tolist(),
        }
        return as_evaluation(self._terms, self._stages, found.weights, notes)

    def _play(self, generation: int, before: Evaluation | None) -> list[Positions]:
        settings = self._config.generations[generation]
        files: dict[Path, GamesToPlay] = {}
        for start, count in _shares(settings.games, GAMES_A_FILE):
            path = self._folder / "positions" / f"{generation}_{start:07d}.npz"
            seeds = self._config.seed, generation, start
            files[path] = GamesToPlay(self._game, settings, count, seeds)
        left = [path for path in files if not path.is_file()]
        done = settings.games - sum(files[path].games for path in left)
        tasks = [files[path] for path in left]
        for number, positions in self._executor.run(tasks, before):
            save_positions(left[number], positions)
            done += tasks[number].games
            self._progress(f"generation {generation + 1}, games", done, settings.games)
        return [load_positions(path) for path in files]

    def _round(self, number: int, before: Evaluation, settings: OnePlySettings) -> Evaluation:
        def progress(games: int) -> None:
            done = number * settings.games + games
            self._progress("one ply, games", done, settings.rounds * settings.games)

        seed = [self._config.seed, len(self._config.generations), number]
        return play_round(before, settings, seed, progress, self._executor)


# ---- weights for a search of one ply -------------------------------------------------------------
#
# An evaluation for deeper search says what comes of a position by good play. Who looks one ply
# ahead plays less well, and needs to know what comes of a position by such play. That changes with
# the weights, so they are learnt in rounds: games, and a step towards what came of them (policy
# iteration by Monte Carlo). Steps lead to and fro; the mean of several rounds plays better.


def play_round(
    before: Evaluation,
    settings: OnePlySettings,
    seed: list[int],
    progress: Callable[[int], None],
    executor: Executor = HERE,
) -> Evaluation:
    """The evaluation before, a step nearer to what came of games by it; `progress` gets how many
    games are played.
    """
    shares = list(_shares(settings.games, _AT_ONCE))
    tasks = [
        GamesToPlay(before.game, settings.playing, count, (*seed, start)) for start, count in shares
    ]
    parts, done = dict[int, Positions](), 0
    for number, found in executor.run(tasks, before):
        start, count = shares[number]
        parts[number] = found._replace(game=found.game + np.int32(start))
        done += count
        progress(done)
    positions = Positions.joined([parts[number] for number in range(len(tasks))])
    stages = np.array(before.stages)
    fitted = fit(
        before.terms,
        stages,
        positions,
        np.zeros(len(positions.result)),
        settings.fit,
        lambda stage: progress(settings.games),
        as_weights(before),
        settings.step,
    )
    return as_evaluation(before.terms, stages, fitted.weights, {})


def _shares(games: int, at_once: int) -> Iterator[tuple[int, int]]:
    """So many games at once: from which one on, and how many."""
    return ((start, min(at_once, games - start)) for start in range(0, games, at_once))


def mean_weights(rounds: list[Evaluation]) -> Int16Array:
    """The mean of their weights."""
    rounded: Int16Array = np.rint(np.mean([e.weights for e in rounds], axis=0)).astype(np.int16)
    return rounded
