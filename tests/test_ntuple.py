"""Learning an evaluation: the fit against weights that are known, and runs that go on."""

from __future__ import annotations

import itertools
import json
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from negamax import lead_with_best_play

pytest.importorskip("torch")
pytest.importorskip("pydantic")

from boardenvs.board.bitboard import from_squares
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.position import Position, stack
from boardenvs.game.state import FloatArray, State
from boardenvs.games import make
from boardenvs.search import Evaluation, Limits, alphabeta_for
from boardenvs.search.evaluation import POINT, Terms
from boardenvs.search.evaluation_file import load_evaluation, parse_tuple
from boardenvs.utils.console import python_command
from training.command import read_settings
from training.evaluation import Score
from training.ntuple import run as learning
from training.ntuple.__main__ import main
from training.ntuple.fit import Fit, as_evaluation, fit, stages_of
from training.ntuple.ntuple_settings import (
    FitSettings,
    GenerationSettings,
    NTupleConfig,
    TargetSettings,
)
from training.ntuple.play import (
    WIN,
    Positions,
    load_positions,
    moved_on,
    of_ended,
    of_search,
    play,
    save_positions,
)
from training.ntuple.run import NTupleRun
from training.ntuple.tempo import without_tempo

CONFIGS = Path(__file__).resolve().parents[1] / "configs" / "ntuple"
TUPLES = tuple(map(parse_tuple, ("a1 b1", "d3 e3 f3", "b2 c3")))
LATE = "opening_plies: [52, 54]"
SHORT = (
    f"generations=[{{games: 4, depth: 1, endgame: 4, {LATE}}}, {{games: 3, depth: 1, endgame: 4, "
    f"noise: 0.1, random_move_share: 0.5, targets: {{depth: 1, endgame: 4}}, {LATE}, "
    "with_previous: true}]",
    "tuples=[a1 b1 c1 d1, a1 b1 a2 b2]",
    "stages=3",
    f"report={{opponents: [random], pairs: 1, {LATE}}}",
)


def test_weights_that_make_the_results_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of each stage; a strong prior pulls them to 0, neighbouring stages to each other."""
    monkeypatch.setattr("training.ntuple.fit._ROWS", 1000)
    game, rng = make("othello"), np.random.default_rng(1)
    terms, stages = Terms(game, TUPLES), stages_of(game.board, 2, 4, 64)
    state = random_openings(game, 6000, (6, 40), rng)
    stage, seen = stages[np.bitwise_count(state.own | state.opp)], terms.weights_of(state)

    def values(weights: FloatArray) -> FloatArray:
        found: FloatArray = weights[stage[:, None], seen].sum(axis=1)
        return found

    expected = values(rng.normal(0, 5, (2, terms.size)))
    results = (expected + rng.normal(0, 0.1, len(seen))).astype(np.float32)
    games = np.arange(len(seen), dtype=np.int32) // 3
    results[games % 20 == 0] += 9  # which are not fitted
    positions = Positions(np.stack(state.words, axis=1), results, games, state.to_move, state.ply)

    def fitted(prior: float, neighbours: float) -> Fit:
        settings = FitSettings(iterations=60, prior=prior, neighbours=neighbours)
        return fit(terms, stages, settings, positions)

    # Sums are known; the weights themselves may differ by what adds up to nothing.
    found = fitted(0.01, 0)
    assert np.abs(values(found.weights) - expected).mean() < 0.1
    assert found.error == pytest.approx(9, abs=0.5)
    for k in range(2):  # of the positions of whole games
        held_back = (games % 20 == 0) & (stage == k)
        errors = (values(found.weights) - results)[held_back]
        assert found.error[k] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-4)
        assert found.deviation[k] == pytest.approx(results[held_back].std(), rel=1e-4)
    assert np.abs(values(fitted(1e9, 0).weights)).mean() < 0.1
    assert np.isfinite(fitted(0, 0).weights).all()  # of what no position shows too
    alike = fitted(1, 1).weights
    assert alike[0] == pytest.approx(alike[1])


def test_stages_are_of_equal_length_and_weights_are_rounded() -> None:
    board = make("tictactoe").board
    assert stages_of(board, 3, 2, 7).tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert stages_of(board, 4, 0, 9).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    terms = Terms(make("tictactoe"), (parse_tuple("a1", board),))
    fitted = np.zeros((1, terms.size))
    fitted[0, :3] = np.array([1e9, -1e9, 2.6]) / POINT
    found = as_evaluation(terms, np.zeros(10, np.int64), fitted, {})
    assert found.weights[0, :3].tolist() == [32767, -32767, 3]


def test_what_an_evaluation_credits_to_the_side_to_move_is_taken_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of it, where values are nothing else."""
    monkeypatch.setattr("training.ntuple.tempo._GAMES", 20)
    game, rng = make("tictactoe"), np.random.default_rng(0)
    terms = Terms(game, tuple(parse_tuple(text, game.board) for text in ("a1 b1 c1", "a2 b2")))
    weights = np.zeros((2, terms.size), np.int16)
    weights[:, np.unique(terms.kept[-1])] = [[30], [-50]]
    stages = tuple(stages_of(game.board, 2, 0, 9).tolist())
    credited = Evaluation(game, terms.tuples, stages, weights)
    state = random_openings(game, 30, (0, 7), rng)
    assert {*credited.values(state).tolist()} == {4 * 30, 4 * -50}
    assert not without_tempo(credited, rng).values(state).any()


def position_at(game: Game, state: State, row: int) -> Position:
    own, opp, to_move = (int(column[row]) for column in (state.own, state.opp, state.to_move))
    return game.position((opp, own) if to_move else (own, opp), to_move)


def test_one_side_in_a_share_of_the_games_is_the_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here searches play the first legal move, and those of the heuristic the last one."""
    game, asked = make("tictactoe"), set[tuple[bool, Limits]]()

    def searching(game: Game, evaluation: Any = None) -> Any:
        def search(state: State, seeds: Any, limits: Limits) -> SimpleNamespace:
            asked.add((evaluation is None, limits))
            legal = [position_at(game, state, row).legal_actions() for row in range(len(seeds))]
            return SimpleNamespace(action=np.array([x[0 if evaluation else -1] for x in legal]))

        return SimpleNamespace(search=search)

    monkeypatch.setattr("training.ntuple.play.alphabeta_for", searching)
    settings = GenerationSettings(games=60, opening_plies=(0, 0), against_heuristic=0.75)
    evaluation: Any = "learnt"
    found = play(game, evaluation, settings, 60, np.random.default_rng(0))
    assert asked == {(False, settings.limits), (True, Limits(1))}
    sides = []
    for number in range(60):
        state, by = found.take(np.flatnonzero(found.game == number)).as_state(game), set()
        line = [position_at(game, state, row) for row in np.argsort(state.ply).tolist()]
        for before, after in itertools.pairwise(line):
            first, *_, last = (before.step(a).by_role() for a in before.legal_actions())
            assert after.by_role() in (first, last)
            by.add((before.to_move, after.by_role() == last))
        sides.append([role for role, is_heuristic in by if is_heuristic])
        assert len(by) == 2  # a side is one of the two in all of a game
    assert sides.count([]) == pytest.approx(15, abs=9)
    assert sides.count([0]) == pytest.approx(sides.count([1]), abs=20)
    assert sides.count([]) + sides.count([0]) + sides.count([1]) == 60


def test_positions_know_how_their_games_ended() -> None:
    """Results of one game are the same to a side, and their signs change with the side to move: at
    the end, where it is solved, they are those of best play.
    """
    settings = GenerationSettings(games=3, depth=1, endgame=6, opening_plies=(4, 8))
    game, rng = make("othello"), np.random.default_rng(0)
    positions = play(game, None, settings, 3, rng)
    last = positions.take(np.bitwise_count(positions.words).sum(axis=1) >= 60)
    assert len({*last.to_move.tolist()}) == 2
    for row, result in enumerate(last.result.tolist()):
        assert result == lead_with_best_play(game, position_at(game, last.as_state(game), row))
    for number in range(3):
        of_game = positions.game == number
        to_first = positions.result * (1 - 2 * positions.to_move)
        assert len(set(to_first[of_game].tolist())) == 1
        discs = np.bitwise_count(positions.words).sum(axis=1)[of_game]
        assert (np.diff(discs.astype(int)) >= 0).all()
    assert np.abs(positions.result).max() <= 64
    results = play(make("wolf_and_sheep"), None, settings, 2, rng).result
    assert set(np.abs(results).tolist()) <= {0, WIN}
    game = make("tictactoe")
    late = random_openings(game, 40, (6, 8), rng)
    shown = moved_on(game, late, 1.0, rng)
    assert (shown.ply > late.ply).any()
    assert not game.is_over(shown).any()


def test_noise_is_the_share_of_moves_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, game = list[int](), make("tictactoe")
    sample = Game.sample

    def noted(its: Game, state: State, rng: np.random.Generator) -> Any:
        drawn.append(len(state.ply))
        return sample(its, state, rng)

    monkeypatch.setattr(Game, "sample", noted)
    for noise in (0.1, 0.9):
        drawn.clear()
        settings = GenerationSettings(games=40, depth=1, opening_plies=(0, 0), noise=noise)
        plies = len(play(game, None, settings, 40, np.random.default_rng(0)).ply)
        assert abs(sum(drawn) / plies - noise) < 0.1


def test_positions_of_a_large_board_are_read_back(tmp_path: Path) -> None:
    """The words of a side are those of the same squares as the other's, and no more."""
    game, rng = make("go"), np.random.default_rng(0)
    found = play(game, None, GenerationSettings(games=1, depth=1, opening_plies=(70, 74)), 1, rng)
    save_positions(tmp_path / "positions.npz", found)
    again = load_positions(tmp_path / "positions.npz")
    for column, before in zip(again, found, strict=True):
        np.testing.assert_array_equal(column, before)


def test_targets_are_what_search_says() -> None:
    """Of points where it does not see the end, and the exact lead where it solves it."""
    game = make("othello")
    state = random_openings(game, 6, (20, 45), np.random.default_rng(2))
    engine, rng = alphabeta_for(game, None), np.random.default_rng(0)
    said = of_search(engine, state, TargetSettings(depth=1), rng)
    for position, value in zip(game.positions(state), said.tolist(), strict=True):
        afters = [position.step(action) for action in position.legal_actions()]
        worst = min(int(game.values(stack([after]))[0]) for after in afters)
        assert value == pytest.approx(-worst / POINT)
    wiped_out = stack([parse_position(game, "8/8/8/8/8/8/8/bw6 black")])
    assert of_search(engine, wiped_out, TargetSettings(depth=2), rng).tolist() == [64]
    ended = game.step(wiped_out, np.array([2]))  # all squares are the winner's
    assert of_ended(game, ended).tolist() == [-64]
    late = random_openings(game, 4, (54, 56), np.random.default_rng(3))
    solved = of_search(engine, late, TargetSettings(depth=1, endgame=10), rng)
    for position, value in zip(game.positions(late), solved.tolist(), strict=True):
        assert value == lead_with_best_play(game, position)


def run(*arguments: str) -> int:
    overrides = [word for item in SHORT for word in ("--set", item)]
    return main([str(CONFIGS / "othello.yaml"), *overrides, *arguments])


PARTS = "evaluations/1.npz", "positions/1_0000000.npz"


def test_a_run_ends_with_an_evaluation_and_a_report_also_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learning, "GAMES_A_FILE", 2)
    monkeypatch.setattr("training.ntuple.tempo._GAMES", 1)  # in Python, a thousand take minutes
    folder, fitted = tmp_path / "runs" / "evaluation_othello", list[int]()

    def counted(*arguments: Any) -> Fit:
        fitted.extend(len(each.result) for each in arguments if isinstance(each, Positions))
        return fit(*arguments)

    monkeypatch.setattr(learning, "fit", counted)
    with monkeypatch.context() as patch:

        def interrupted(*arguments: Any) -> Positions:
            if (folder / "evaluations/0.npz").exists():
                signal.raise_signal(signal.SIGINT)
            return play(*arguments)

        patch.setattr("training.ntuple.play.play", interrupted)
        assert run() == 130
    assert f"go on with: {python_command('training.ntuple')}" in capsys.readouterr().out
    assert len(list((folder / "positions").glob("*.npz"))) == 2
    assert run() == 2  # the folder is there
    assert run("--resume", "--set", "seed=1") == 2
    assert "seed was 0 and is 1" in capsys.readouterr().err
    assert run("--resume") == 0
    whole = load_evaluation(folder / "evaluation.npz")
    assert whole.notes["generation"] == 2
    assert len(whole.weights) == 3
    played = [
        sum(len(load_positions(path).result) for path in (folder / "positions").glob(f"{n}_*"))
        for n in range(2)
    ]
    contents = [load_positions(path).words.tobytes() for path in (folder / "positions").iterdir()]
    assert len({*contents}) == len(contents) == 4  # no game is played twice
    assert fitted[:2] == [played[0], sum(played)]  # the second with those of the first
    report = (folder / "report.md").read_text()
    assert ", 2 games against each player" in report
    for name, score in json.loads((folder / "result.json").read_text())["scores"].items():
        assert f"| `{name}` | {Score(**score)} |" in report

    for lost in PARTS:
        (folder / lost).write_bytes((folder / lost).read_bytes()[:200])
        assert run("--resume") == 2
        error = capsys.readouterr().err
        assert f"{lost} is not a" in error
        assert "remove it, and --resume makes it again" in error
        (folder / lost).unlink()
    # As if killed in the second generation.
    for lost in ("evaluation.npz", "positions/1_0000002.npz", "report.md"):
        (folder / lost).unlink()
    assert run("--resume") == 0
    again = load_evaluation(folder / "evaluation.npz")
    np.testing.assert_array_equal(again.weights, whole.weights)
    assert run("--overwrite", "--set", "seed=1") == 0
    assert (load_evaluation(folder / "evaluation.npz").weights != whole.weights).any()


def test_a_run_by_features_alone_learns(tmp_path: Path) -> None:
    """Of some games one ply deep that pieces which lie close together are better."""
    few = "generations=[{games: 14, depth: 1, opening_plies: [2, 12]}]"
    config = read_settings(NTupleConfig, CONFIGS / "lines_of_action.yaml", [few])
    evaluation = NTupleRun(config, tmp_path, lambda *_: None).learn()
    game = evaluation.game
    assert evaluation.features == game.feature_sizes
    assert not evaluation.tuples
    together = from_squares(["c3", "c4", "d4", "e5", "e6", "f5"])
    scattered = from_squares(["a1", "b8", "d2", "f7", "g2", "h6"])
    pairs = itertools.permutations((together, scattered))
    state = stack([game.position((own, opp)) for own, opp in pairs])
    first, second = evaluation.values(state).tolist()
    assert first > 0 > second
