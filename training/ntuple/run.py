"""A run that learns an evaluation; what is on file already is read, the rest is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from boardenvs.arena.executor import HERE, Executor
from boardenvs.search import Evaluation
from boardenvs.search.evaluation import Terms
from boardenvs.search.evaluation_file import load_evaluation, save_evaluation
from training.ntuple.fit import as_evaluation, fit, stages_of
from training.ntuple.ntuple_settings import NTupleConfig
from training.ntuple.play import GamesToPlay, Positions, load_positions, save_positions
from training.ntuple.tempo import without_tempo

GAMES_A_FILE = 1000

Progress = Callable[[int, int, str], None]  # how much is done, of how much, of what


class NTupleRun:
    """Learns an evaluation, generation by generation, in a folder.

    Every file is whole, and follows from the settings and the files before it, so a run that is
    resumed ends as if it had not been interrupted.
    """

    def __init__(
        self, config: NTupleConfig, folder: Path, progress: Progress, executor: Executor = HERE
    ) -> None:
        self._config, self._folder, self._progress = config, folder, progress
        self._executor = executor
        self._game = config.make_game()
        features = self._game.feature_sizes if config.features else {}
        self._terms = Terms(self._game, config.parsed_tuples(), features)
        self._stages = stages_of(self._game.board, config.stages, *config.pieces)

    def learn(self) -> Evaluation:
        """Return the evaluation of the last generation."""
        evaluation = None
        for generation in range(len(self._config.generations)):
            path = self._folder / "evaluations" / f"{generation}.npz"
            if not path.is_file():
                path.parent.mkdir(exist_ok=True)
                save_evaluation(self._generation(generation, evaluation), path)
            evaluation = load_evaluation(path)
        assert evaluation is not None
        return evaluation

    def _generation(self, generation: int, before: Evaluation | None) -> Evaluation:
        config, settings = self._config, self._config.generations[generation]
        parts = self._play(generation, before)
        if settings.with_previous:
            paths = sorted((self._folder / "positions").glob(f"{generation - 1}_*.npz"))
            parts += map(load_positions, paths)

        def progress(stage: int) -> None:
            self._progress(stage, config.stages, f"generation {generation + 1}, stages")

        positions, terms, stages = Positions.joined(parts), self._terms, self._stages
        fitted = fit(terms, stages, config.fit, positions, progress)
        notes = {
            "run": config.name,
            "seed": config.seed,
            "generation": generation + 1,
            "games": settings.games,
            "error": fitted.error.round(2).tolist(),
            "standard_deviation": fitted.deviation.round(2).tolist(),
        }
        rng = np.random.default_rng((config.seed, generation))
        return without_tempo(as_evaluation(terms, stages, fitted.weights, notes), rng)

    def _play(self, generation: int, before: Evaluation | None) -> list[Positions]:
        settings = self._config.generations[generation]
        files: dict[Path, GamesToPlay] = {}
        for start in range(0, settings.games, GAMES_A_FILE):
            path = self._folder / "positions" / f"{generation}_{start:07d}.npz"
            count = min(GAMES_A_FILE, settings.games - start)
            seeds = self._config.seed, generation, start
            files[path] = GamesToPlay(self._game, settings, count, seeds, before)
        left = [path for path in files if not path.is_file()]
        done = settings.games - sum(files[path].games for path in left)
        tasks = [files[path] for path in left]
        for number, positions in self._executor.run(tasks):
            save_positions(left[number], positions)
            done += tasks[number].games
            self._progress(done, settings.games, f"generation {generation + 1}, games")
        return [load_positions(path) for path in files]
