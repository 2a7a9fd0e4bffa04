"""A run that learns an evaluation: what is on file is taken from there, the rest is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from boardenvs.search import Evaluation
from boardenvs.search.evaluation import Int16Array, Terms
from boardenvs.search.evaluation_file import load_evaluation, save_evaluation
from training.ntuple.fit import Correction, Fit, as_evaluation, fit, stages_of
from training.ntuple.play import Positions, load_positions, play, save_positions
from training.ntuple.settings import NTupleConfig, OnePlySettings

GAMES_A_FILE = 250
_AT_ONCE = 2000  # games of a round

Progress = Callable[[str, int, int], None]  # of what is done, how much of how much


class StopLearning(Exception):  # noqa: N818 - no error, as StopIteration
    """The run was asked to stop; what is on file is whole."""


class NTupleRun:
    """Learns an evaluation, generation by generation, in a folder.

    Every file follows from the settings and the files before it, so that a run which goes on after
    an interruption ends as if there had been none.
    """

    def __init__(
        self,
        config: NTupleConfig,
        folder: Path,
        progress: Progress,
        stop: Callable[[], bool],
    ) -> None:
        self._config, self._folder = config, folder
        self._progress, self._stop = progress, stop
        self._game = config.make_game()
        features = self._game.feature_sizes if config.features else {}
        self._terms = Terms(self._game, config.all_tuples(), features)
        self._stages = stages_of(config.stages, *config.pieces)

    def learn(self) -> Evaluation:
        """The evaluation of the last generation, with weights of their own for one ply where these
        are wanted. StopLearning where the run was asked to stop.
        """
        evaluation = None
        for generation, settings in enumerate(self._config.generations):
            path = self._folder / "evaluations" / f"{generation}.npz"
            if not path.is_file():
                parts = self._play(generation, evaluation)
                if settings.with_previous:
                    parts += self._played(generation - 1)
                found = self._fit(generation, Positions.joined(parts))
                path.parent.mkdir(exist_ok=True)
                save_evaluation(found, path)
            evaluation = load_evaluation(path)
        assert evaluation is not None
        if self._config.one_ply is not None:
            evaluation = self._with_one_ply(evaluation, self._config.one_ply)
        return evaluation

    def _with_one_ply(self, evaluation: Evaluation, settings: OnePlySettings) -> Evaluation:
        rounds, before = list[Evaluation](), evaluation
        for number in range(settings.rounds):
            path = self._folder / "evaluations" / f"one_ply_{number}.npz"
            if not path.is_file():
                seed = [self._config.seed, len(self._config.generations), number]
                progress = partial(self._in_round, number, settings)
                save_evaluation(play_round(before, settings, seed, progress), path)
            before = load_evaluation(path)
            rounds.append(before)
        return replace(evaluation, one_ply=mean_weights(rounds[-settings.averaged :]))

    def _in_round(self, number: int, settings: OnePlySettings, games: int) -> None:
        done = number * settings.games + games
        self._progress("one ply, games", done, settings.rounds * settings.games)
        self._check_stop()

    def _played(self, generation: int) -> list[Positions]:
        paths = sorted((self._folder / "positions").glob(f"{generation}_*.npz"))
        return [load_positions(path) for path in paths]

    def _play(self, generation: int, evaluation: Evaluation | None) -> list[Positions]:
        settings = self._config.generations[generation]
        parts = []
        for start in range(0, settings.games, GAMES_A_FILE):
            path = self._folder / "positions" / f"{generation}_{start:07d}.npz"
            if not path.is_file():
                self._check_stop()
                rng = np.random.default_rng([self._config.seed, generation, start])
                games = min(GAMES_A_FILE, settings.games - start)
                save_positions(path, play(self._game, evaluation, settings, games, rng))
            parts.append(load_positions(path))
            done = min(start + GAMES_A_FILE, settings.games)
            self._progress(f"generation {generation + 1}, games", done, settings.games)
        return parts

    def _fit(self, generation: int, positions: Positions) -> Evaluation:
        settings, heuristic = self._config.fit, np.zeros(len(positions.own))
        if self._config.heuristic:
            heuristic = self._game.values(positions.as_state(self._game)).astype(np.float64)

        def progress(stage: int) -> None:
            self._progress(f"generation {generation + 1}, stages", stage, self._config.stages)
            self._check_stop()

        fitted = fit(self._terms, self._stages, positions, heuristic, settings, progress)
        return as_evaluation(self._terms, self._stages, fitted, self._notes(generation, fitted))

    def _notes(self, generation: int, fitted: Fit) -> dict[str, object]:
        """What the file says of where it comes from."""
        config = self._config
        return {
            "run": config.name,
            "seed": config.seed,
            "generation": generation + 1,
            "games": config.generations[generation].games,
            "error": [round(float(x), 2) for x in fitted.error],
            "standard_deviation": [round(float(x), 2) for x in fitted.deviation],
            "held_back": fitted.held_back.tolist(),
        }

    def _check_stop(self) -> None:
        if self._stop():
            raise StopLearning


# ---- weights for a search of one ply -------------------------------------------------------------
#
# An evaluation for deeper search says what comes of a position by good play. Who looks one ply
# ahead plays less well, and needs to know what comes of a position by such play. That changes with
# the weights, so they are learnt in rounds: games, and a step towards what came of them (policy
# iteration by Monte Carlo). Steps lead to and fro; the mean of several rounds plays better.


def play_round(
    before: Evaluation, settings: OnePlySettings, seed: list[int], progress: Callable[[int], None]
) -> Evaluation:
    """The evaluation before, a step nearer to what came of games by it; `progress` gets how many
    games are played.
    """
    parts: list[Positions] = []
    for start in range(0, settings.games, _AT_ONCE):
        rng = np.random.default_rng([*seed, start])
        count = min(_AT_ONCE, settings.games - start)
        found = play(before.game, before, settings.playing, count, rng)
        parts.append(found._replace(game=found.game + np.int32(start)))
        progress(start + count)
    return _step(before, Positions.joined(parts), settings, progress)


def _step(
    before: Evaluation,
    positions: Positions,
    settings: OnePlySettings,
    progress: Callable[[int], None],
) -> Evaluation:
    terms, stages = before.terms, np.array(before.stages)
    correction = Correction(before, settings.step)

    def fitted(stage: int) -> None:
        progress(settings.games)

    found = fit(
        terms, stages, positions, np.zeros(len(positions.own)), settings.fit, fitted, correction
    )
    return as_evaluation(terms, stages, found, {})


def mean_weights(rounds: list[Evaluation]) -> Int16Array:
    """The mean of their weights."""
    weights = np.mean([e.weights.astype(np.float64) for e in rounds], axis=0)
    rounded: Int16Array = np.rint(weights).astype(np.int16)
    return rounded
