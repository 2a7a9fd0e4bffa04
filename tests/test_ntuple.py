"""Learning an evaluation: the fit against weights that are known, and runs that go on."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from negamax import lead_with_best_play

pytest.importorskip("torch")
pytest.importorskip("pydantic")

from boardenvs.board.bitboard import EIGHT, Board, from_squares
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.position import stack
from boardenvs.game.state import FloatArray
from boardenvs.games import make
from boardenvs.search import alphabeta_for
from boardenvs.search.evaluation import POINT, Terms
from boardenvs.search.evaluation_file import load_evaluation, parse_tuple, trained_evaluation
from training.command import read_settings
from training.ntuple import run as learning
from training.ntuple.__main__ import main
from training.ntuple.fit import Fit, Regression, as_evaluation, as_weights, stages_of
from training.ntuple.ntuple_settings import (
    FitSettings,
    GenerationSettings,
    NTupleConfig,
    OnePlySettings,
    TargetSettings,
)
from training.ntuple.play import WIN, Positions, moved_on, of_ended, of_search, play
from training.ntuple.run import NTupleRun, mean_weights, play_round

CONFIGS = Path(__file__).resolve().parents[1] / "configs" / "ntuple"
TUPLES = tuple(map(parse_tuple, ("a1 b1", "d3 e3 f3", "b2 c3")))
LATE = "opening_plies: [40, 48]"
SHORT = (
    f"generations=[{{games: 6, depth: 1, endgame: 4, {LATE}}}, {{games: 5, depth: 1, endgame: 4, "
    f"noise: 0.1, random_move_share: 0.5, targets: {{depth: 1, endgame: 4}}, {LATE}}}]",
    "one_ply={rounds: 3, games: 4}",
    "tuples=[a1 b1 c1 d1, a1 b1 a2 b2]",
    "stages=3",
    f"report={{opponents: [random], pairs: 2, {LATE}}}",
)


pytestmark = pytest.mark.usefixtures("in_python")


def test_weights_that_make_the_results_are_found() -> None:
    """Those of each stage, a share of the way from others; with a strong prior those stay."""
    game, rng = make("othello"), np.random.default_rng(1)
    terms, stages = Terms(game, TUPLES), stages_of(game.board, 2, 4, 64)
    state = random_openings(game, 6000, (6, 40), rng)
    stage, seen = stages[np.bitwise_count(state.own | state.opp)], terms.weights_of(state)

    def said(weights: FloatArray) -> FloatArray:
        found: FloatArray = weights[stage[:, None], seen].sum(axis=1)
        return found

    first, last = rng.normal(0, 5, (2, 2, terms.size))
    begun = as_weights(as_evaluation(terms, stages, first, {}))
    assert begun == pytest.approx(first, abs=0.51 / POINT)
    results, games = said(last).astype(np.float32), np.arange(len(seen), dtype=np.int32)
    positions = Positions(np.stack(state.words, axis=1), results, games, state.to_move, state.ply)

    def fitted(begun: FloatArray | None, share: float, prior: float, neighbours: float) -> Fit:
        settings = FitSettings(iterations=60, prior=prior, neighbours=neighbours)
        return Regression(terms, stages, settings).fit(positions, begun=begun, share=share)

    # Sums are what is known; the weights themselves may differ by what adds up to nothing.
    for prior, share, part in ((0.01, 1.0, 1.0), (0.01, 0.25, 0.25), (1e9, 1.0, 0.0)):
        found = fitted(begun, share, prior, 0)
        expected = begun + part * (last - begun)
        assert np.abs(said(found.weights) - said(expected)).mean() < 0.1
        assert (found.error < 0.5).all() == (part == 1)
        assert (found.deviation > 10).all()
    alike = fitted(None, 1, 1, 1).weights  # of positions of both stages
    assert alike[0] == pytest.approx(alike[1])


def test_stages_are_of_equal_length() -> None:
    assert stages_of(EIGHT, 15, 4, 64)[[0, 4, 8, 9, 60, 64]].tolist() == [0, 0, 0, 1, 13, 14]
    assert stages_of(Board(6, 7), 1, 0, 42).tolist() == [0] * 43


def test_rounds_of_one_ply_go_on_from_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is played by the weights of the one before, and fits better what its games come to."""
    game = make("othello")
    terms, stages = Terms(game, TUPLES), stages_of(game.board, 2, 4, 64)
    settings = OnePlySettings(games=14)
    monkeypatch.setattr(learning, "_STEP", 1.0)
    monkeypatch.setattr(learning, "_FIT", FitSettings(iterations=8, prior=1.0))
    before = as_evaluation(terms, stages, np.zeros((2, terms.size)), {})
    once = play_round(before, settings, [0], lambda done: None)
    positions = play(
        game, before, settings.playing, 14, np.random.default_rng([0, 0]), after_own_moves=True
    )
    state = positions.as_state(game)
    errors = [np.mean((e.values(state) / POINT - positions.result) ** 2) for e in (before, once)]
    assert errors[1] < 0.9 * errors[0]
    other = play_round(once, settings, [0], lambda done: None)
    assert (other.weights != once.weights).any()
    halves = (before.weights.astype(int) + once.weights) / 2
    assert np.abs(mean_weights([before, once]) - halves).max() <= 0.5


def test_positions_know_how_their_games_ended() -> None:
    """Results of one game are the same to a side, and their signs change with the side to move."""
    settings = GenerationSettings(games=3, depth=1, endgame=6, opening_plies=(4, 8))
    rng = np.random.default_rng(0)
    positions = play(make("othello"), None, settings, 3, rng)
    for number in range(3):
        of_game = positions.game == number
        to_first = positions.result * (1 - 2 * positions.to_move)
        assert len(set(to_first[of_game].tolist())) == 1
        discs = np.bitwise_count(positions.words).sum(axis=1)[of_game]
        assert (np.diff(discs.astype(int)) >= 0).all()
    assert np.abs(positions.result).max() <= 64
    results = play(make("wolf_and_sheep"), None, settings, 2, rng).result
    assert set(np.abs(results).tolist()) <= {0, WIN}


# Black takes all discs with the last of these moves.
WIPED_OUT = "f4 d3 c4 f5 e2 f3 g4 e3 e6"


def test_who_has_no_disc_left_has_lost_the_whole_board() -> None:
    """As tournaments count it, by the end of the game and by a search that sees it."""
    game = make("othello")
    position, before = game.start(), game.start()
    for square in WIPED_OUT.split():
        before, position = position, position.step(game.parse_action(square))
    assert position.terminated
    assert 0 in position.words
    sign = 1 if position.own else -1
    assert of_ended(game, stack([position])).tolist() == [64 * sign]
    engine, rng = alphabeta_for(game, None), np.random.default_rng(0)
    for depth in (1, 3):  # at most so many squares are filled before the end
        targets = TargetSettings(depth=depth)
        assert of_search(engine, stack([before]), targets, rng).tolist() == [65 - depth]


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
    late = random_openings(game, 4, (54, 56), np.random.default_rng(3))
    solved = of_search(engine, late, TargetSettings(depth=1, endgame=10), rng)
    for position, value in zip(game.positions(late), solved.tolist(), strict=True):
        assert value == lead_with_best_play(game, position)


def test_the_heuristic_plays_a_side() -> None:
    """Of a share of the games: there one role makes its best moves alone, elsewhere none does."""
    game = make("othello")
    for share in (0.0, 1.0):
        settings = GenerationSettings(
            games=2, depth=1, endgame=0, opening_plies=(0, 0), against_heuristic=share
        )
        positions, after = (
            play(game, trained_evaluation(game), settings, 2, np.random.default_rng(0), own)
            for own in (False, True)
        )
        for number in range(2):
            of_game = positions.game == number
            line = list(map(tuple, positions.words[of_game].tolist()))
            best = [is_best(game, *pair) for pair in itertools.pairwise(line)]
            greedy = [all(best[role::2]) for role in (0, 1)]
            assert sum(greedy) == share
            # After moves of the evaluation's the heuristic is to move.
            kept = set(after.to_move[after.game == number].tolist())
            assert kept == ({greedy.index(True)} if share else {0, 1})


def is_best(game: Game, before: Any, after: Any) -> bool:
    """Whether the heuristic finds no better move than the one between these squares."""
    position = game.position(before)
    afters = [position.step(action) for action in position.legal_actions()]
    values = {(a.own, a.opp): int(game.values(stack([a]))[0]) for a in afters}
    over = any(a.terminated for a in afters)  # a win or loss counts more
    return over or values[after] == min(values.values())


def test_a_share_is_a_random_move_later() -> None:
    game = make("othello")
    state = random_openings(game, 300, (10, 30), np.random.default_rng(4))
    after = moved_on(game, state, 0.5, np.random.default_rng(5))
    moved = after.ply != state.ply
    assert 0.35 < moved.mean() < 0.65
    for old, new in zip(game.positions(state), game.positions(after), strict=True):
        assert new == old or new in [old.step(a) for a in old.legal_actions()]
    assert not game.is_over(after).any()


def run(*arguments: str) -> int:
    overrides = [word for item in SHORT for word in ("--set", item)]
    return main([str(CONFIGS / "othello.yaml"), *overrides, *arguments])


def test_a_run_ends_with_an_evaluation_and_a_report_also_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learning, "GAMES_A_FILE", 2)
    folder = tmp_path / "runs" / "evaluation_othello"
    with monkeypatch.context() as patch:

        def interrupted(*arguments: Any) -> Positions:
            if (folder / "evaluations/0.npz").exists():
                signal.raise_signal(signal.SIGINT)
            return play(*arguments)

        patch.setattr("training.ntuple.play.play", interrupted)
        assert run() == 130
    assert "go on with: python -m training.ntuple" in capsys.readouterr().out
    assert len(list((folder / "positions").glob("*.npz"))) == 4
    assert run() == 2  # the folder is there
    assert run("--resume", "--set", "seed=1") == 2
    assert "seed was 0 and is 1" in capsys.readouterr().err
    assert run("--resume") == 0
    whole = load_evaluation(folder / "evaluation.npz")
    assert whole.notes["generation"] == 2
    assert len(whole.weights) == 3
    rounds = [load_evaluation(folder / f"evaluations/one_ply_{k}.npz") for k in range(3)]
    np.testing.assert_array_equal(whole.one_ply, mean_weights(rounds))
    assert "| `random` |" in (folder / "report.md").read_text()

    for lost in ("evaluations/1.npz", "positions/1_0000000.npz"):
        (folder / lost).write_bytes((folder / lost).read_bytes()[:200])
        assert run("--resume") == 2
        error = capsys.readouterr().err
        assert f"{lost} is not a" in error
        assert "remove it, and --resume makes it again" in error
        (folder / lost).unlink()
    # As if killed in the second generation, and in the last round.
    later = [f"evaluations/one_ply_{k}.npz" for k in range(3)]
    for files in (["positions/1_0000004.npz", "report.md", *later], later[2:]):
        for lost in ("evaluation.npz", *files):
            (folder / lost).unlink()
        assert run("--resume") == 0
        again = load_evaluation(folder / "evaluation.npz")
        np.testing.assert_array_equal(again.weights, whole.weights)
        np.testing.assert_array_equal(again.one_ply, whole.one_ply)
    monkeypatch.setattr(learning, "play_round", lambda before, *_: before)
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
