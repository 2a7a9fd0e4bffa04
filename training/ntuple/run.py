"""A run that learns an evaluation; what is on file already is read, the rest is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from boardenvs.arena.executor import HERE, Executor
from boardenvs.search import Evaluation
from boardenvs.search.evaluation import Int16Array, Terms
from boardenvs.search.evaluation_file import load_evaluation, save_evaluation
from training.ntuple.fit import Regression, as_evaluation, as_weights, stages_of
from training.ntuple.ntuple_settings import FitSettings, NTupleConfig, OnePlySettings
from training.ntuple.play import GamesToPlay, Positions, load_positions, save_positions

GAMES_A_FILE = 1000
_AT_ONCE = 2000  # games of a round

# Weights for one ply: the mean of the last rounds, each adding a share of its fitted correction.
_AVERAGED, _STEP = 8, 0.5
_FIT = FitSettings(iterations=6, prior=300, neighbours=0.6)

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much


class NTupleRun:
    """Learns an evaluation, generation by generation, in a folder.

    Every file follows from the settings and the files before it, so a run that is resumed ends as
    if it had not been interrupted. An exception of `progress` ends the run; files are whole then.
    """

    def __init__(
        self, config: NTupleConfig, folder: Path, progress: Progress, executor: Executor = HERE
    ) -> None:
        self._config, self._folder, self._progress = config, folder, progress
        self._executor = executor
        self._game = config.make_game()
        features = self._game.feature_sizes if config.features else {}
        terms = Terms(self._game, config.parsed_tuples(), features)
        stages = stages_of(self._game.board, config.stages, *config.pieces)
        self._regression = Regression(terms, stages, config.fit)

    def learn(self) -> Evaluation:
        """Return the evaluation of the last generation, with weights for one ply if set."""
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
        return replace(evaluation, one_ply=mean_weights(rounds[1:][-_AVERAGED:]))

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

        def progress(stage: int) -> None:
            self._progress(f"generation {generation + 1}, stages", stage, config.stages)

        found = self._regression.fit(Positions.joined(parts), progress)
        notes = {
            "run": config.name,
            "seed": config.seed,
            "generation": generation + 1,
            "games": settings.games,
            "error": found.error.round(2).tolist(),
            "standard_deviation": found.deviation.round(2).tolist(),
            "held_back": found.held_back.tolist(),
        }
        return as_evaluation(self._regression.terms, self._regression.stages, found.weights, notes)

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
# An evaluation for deep search predicts results of good play. A search of one ply plays less well,
# and needs predictions of its own play, which changes with the weights. So they are learnt in
# rounds: games, then a step towards their results (policy iteration by Monte Carlo). Steps swing to
# and fro; the mean of several rounds plays better.


def play_round(
    before: Evaluation,
    settings: OnePlySettings,
    seed: Sequence[int],
    progress: Callable[[int], None],
    executor: Executor = HERE,
) -> Evaluation:
    """Return the evaluation after a step towards the results of games that it played.

    `progress` is called with the number of games played.
    """
    shares = list(_shares(settings.games, _AT_ONCE))
    tasks = [
        GamesToPlay(before.game, settings.playing, count, (*seed, start), after_own_moves=True)
        for start, count in shares
    ]
    parts, done = dict[int, Positions](), 0
    for number, found in executor.run(tasks, before):
        start, count = shares[number]
        parts[number] = found._replace(game=found.game + np.int32(start))
        done += count
        progress(done)
    positions = Positions.joined([parts[number] for number in range(len(tasks))])
    regression = Regression(before.terms, np.array(before.stages), _FIT)
    fitted = regression.fit(positions, begun=as_weights(before), share=_STEP)
    return as_evaluation(before.terms, regression.stages, fitted.weights, {})


def _shares(games: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Split games into parts: yields the first game of each part, and how many it has."""
    return ((start, min(at_once, games - start)) for start in range(0, games, at_once))


def mean_weights(rounds: Sequence[Evaluation]) -> Int16Array:
    """Return the mean of the evaluations' weights."""
    rounded: Int16Array = np.rint(np.mean([e.weights for e in rounds], axis=0)).astype(np.int16)
    return rounded
