"""Learning an evaluation: the fit against weights that are known, and runs that go on."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

from boardenvs.board.bitboard import from_squares
from boardenvs.game.openings import random_openings
from boardenvs.game.state import stack
from boardenvs.games import make
from boardenvs.kernel import set_backend
from boardenvs.search.evaluation import Terms
from boardenvs.search.evaluation_file import load_evaluation, parse_tuple
from training.evaluation import main
from training.settings import ConfigError, read_settings
from training.tuples import run as learning
from training.tuples.fit import SCALE, as_evaluation, fit, stages_of
from training.tuples.play import WIN, Positions, play
from training.tuples.settings import EvaluationConfig, FitSettings, GenerationSettings

CONFIGS = Path(__file__).resolve().parents[1] / "configs" / "evaluation"
TUPLES = tuple(map(parse_tuple, ("a1 b1", "d3 e3 f3", "b2 c3")))
SHORT = (
    "generations=[{games: 6, depth: 1, endgame: 4}, {games: 5, depth: 1, endgame: 4}]",
    "tuples=[a1 b1 c1 d1, a1 b1 a2 b2]",
    "stages=3",
    "report={depth: 1, opponents: [random], pairs: 2}",
)


@pytest.fixture(autouse=True)
def in_python():
    """Machine code for a few games would take longer to make than it saves."""
    set_backend("numpy")
    yield
    set_backend(None)


def positions_of(count: int) -> Positions:
    """Random ones, with results to be set."""
    state = random_openings(make("othello"), count, (6, 40), np.random.default_rng(0))
    results, games = np.zeros(count, np.int16), np.arange(count, dtype=np.int32)
    return Positions(state.own, state.opp, results, games, state.to_move, state.ply)


def test_weights_that_make_the_results_are_found() -> None:
    """Results are sums of known weights and of a known share of another figure."""
    game, rng = make("othello"), np.random.default_rng(1)
    terms = Terms(game, TUPLES)
    positions = positions_of(6000)
    known = rng.normal(0, 5, terms.size)
    seen = terms.weights_of(positions.as_state(game))
    other = rng.normal(0, 3, len(seen))
    results = known[seen].sum(axis=1) + 1.5 * other
    positions = positions._replace(result=np.rint(results).astype(np.int16))
    settings = FitSettings(iterations=60, prior=0.01, neighbours=1.0)
    stages = stages_of(2, 4, 64)
    found = fit(terms, stages, positions, other, settings, lambda stage: None)
    assert (found.error < 0.5).all()
    assert (found.spread > 10).all()
    assert found.heuristic == pytest.approx([1.5, 1.5], abs=0.05)
    # Rounded to hundredths, it says the same of positions on the board.
    evaluation = as_evaluation(terms, stages, found._replace(heuristic=np.zeros(2)), {})
    state = random_openings(game, 50, (6, 40), np.random.default_rng(5))
    said = known[terms.weights_of(state)].sum(axis=1)
    assert evaluation.values(state) / SCALE == pytest.approx(said, abs=1.5)


def test_a_prior_draws_to_nothing() -> None:
    game = make("othello")
    terms = Terms(game, (parse_tuple("a1 b1"),))
    positions = positions_of(400)._replace(result=np.full(400, 20, np.int16))
    sizes = []
    for prior in (0.1, 100.0, 1e6):
        settings = FitSettings(prior=prior)
        found = fit(terms, stages_of(1, 4, 64), positions, None, settings, lambda stage: None)
        sizes.append(np.linalg.norm(found.weights))
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < 0.1


def test_stages_are_of_equal_length() -> None:
    assert stages_of(15, 4, 64)[[0, 4, 8, 9, 60, 64]].tolist() == [0, 0, 0, 1, 13, 14]
    assert stages_of(1, 0, 64).tolist() == [0] * 65


def test_positions_know_how_their_games_ended() -> None:
    """Results of one game are the same to a side, and their signs change with the side to move."""
    game = make("othello")
    settings = GenerationSettings(games=3, depth=1, endgame=6, opening_plies=(4, 8))
    positions = play(game, None, settings, 3, np.random.default_rng(0))
    for number in range(3):
        of_game = positions.game == number
        assert len(set(np.abs(positions.result[of_game]).tolist())) == 1
        discs = np.bitwise_count(positions.own | positions.opp)[of_game]
        assert (np.diff(discs.astype(int)) >= 0).all()
    assert np.abs(positions.result).max() <= 64
    loa = play(make("lines_of_action"), None, settings, 2, np.random.default_rng(0))
    assert set(np.abs(loa.result).tolist()) <= {0, WIN}


def run(*arguments: str) -> int:
    overrides = [word for item in SHORT for word in ("--set", item)]
    return main([str(CONFIGS / "othello.yaml"), *overrides, *arguments])


def test_a_run_ends_with_an_evaluation_and_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run() == 0
    folder = tmp_path / "runs" / "evaluation_othello"
    evaluation = load_evaluation(folder / "evaluation.npz")
    assert evaluation.notes["generation"] == 2
    assert len(evaluation.weights) == 3
    assert "| `random` |" in (folder / "report.md").read_text()
    assert "alphabeta:depth=1" in capsys.readouterr().out
    assert run() == 2  # the folder is there
    assert run("--resume", "--set", "seed=1") == 2
    assert "seed was 0 and is 1" in capsys.readouterr().err
    assert run("--overwrite", "--set", "seed=1") == 0
    other = load_evaluation(folder / "evaluation.npz")
    assert (other.weights != evaluation.weights).any()


def test_a_run_that_was_interrupted_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learning, "GAMES_A_FILE", 2)
    assert run() == 0
    folder = tmp_path / "runs" / "evaluation_othello"
    whole = load_evaluation(folder / "evaluation.npz")
    assert len(list((folder / "positions").glob("*.npz"))) == 6
    # As if killed while the third file of the second generation was written.
    for lost in ("evaluation.npz", "evaluations/1.npz", "positions/1_0000004.npz", "report.md"):
        (folder / lost).unlink()
    assert run("--resume") == 0
    again = load_evaluation(folder / "evaluation.npz")
    np.testing.assert_array_equal(again.weights, whole.weights)


def test_a_run_by_features_alone_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some games one ply deep that pieces which lie close together are better."""
    monkeypatch.chdir(tmp_path)
    overrides = [
        "generations=[{games: 40, depth: 1, opening_plies: [2, 12]}]",
        "report={depth: 1, opponents: [random], pairs: 1}",
    ]
    settings = [word for item in overrides for word in ("--set", item)]
    assert main([str(CONFIGS / "lines_of_action.yaml"), *settings]) == 0
    evaluation = load_evaluation(tmp_path / "runs/evaluation_lines_of_action/evaluation.npz")
    game = evaluation.game
    assert evaluation.features == game.feature_sizes
    assert not evaluation.tuples
    together = from_squares(["c3", "c4", "d4", "e5", "e6", "f5"])
    scattered = from_squares(["a1", "b8", "d2", "f7", "g2", "h6"])
    state = stack([game.position((a, b)) for a, b in itertools.permutations((together, scattered))])
    first, second = evaluation.values(state).tolist()
    assert first > 0 > second


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_configurations_can_be_used(path: Path) -> None:
    config = read_settings(EvaluationConfig, path)
    assert config.all_tuples() or config.features


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("tuples=[a1 a9]", "a9"),
        ("tuples=[a1 a1]", "is not a tuple"),
        ("tuples=[]", "tuples and blocks come to 0"),
        ("features=true", "features is true, and othello has none"),
        ("blocks=[3x9]", "3x9"),
        ("pieces=[9, 3]", "it must be a range"),
        ("generations=[]", "generations"),
        ("game=wolf", "game"),
        ("report.opponents=[nobody]", "nobody"),
    ],
)
def test_wrong_settings_are_named(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_settings(EvaluationConfig, CONFIGS / "othello.yaml", [override])
