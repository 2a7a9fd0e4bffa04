"""Learnt evaluations: what tables over tuples of squares say, their files, search by them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import loops_perft
import numpy as np
import pytest
from variants import make, random_line, searched

from boardenvs import games
from boardenvs.agents import make_agent
from boardenvs.agents.base import check_game
from boardenvs.board.bitboard import from_squares, parse_square
from boardenvs.game.contract import Game, stack
from boardenvs.game.state import State
from boardenvs.games import Othello
from boardenvs.kernel import set_backend
from boardenvs.search import Evaluation, Limits, engine_for
from boardenvs.search.compiler import compile_for
from boardenvs.search.evaluation import Places, Tuple, tuple_tables
from boardenvs.search.evaluation_file import (
    EvaluationFileError,
    load_evaluation,
    parse_tuple,
    save_evaluation,
)
from boardenvs.search.trained import FOLDER, trained_evaluation

TUPLES = tuple(map(parse_tuple, ("a1 b1 c1 b2", "d4 e4 d5 e5", "a1 b2 c3 d4 e5", "c2", "b1 a2")))
GAMES = ("othello", "othello_holes", "lines_of_action")


def random_evaluation(game: Game, tuples: tuple[Tuple, ...] = TUPLES, seed: int = 0) -> Evaluation:
    """By tuples, the game's heuristic and, where it has some, its features."""
    rng, stages = np.random.default_rng(seed), tuple(min(n // 9, 5) for n in range(65))
    size = Places(game, tuples).size + sum(game.feature_sizes.values())
    weights = rng.integers(-3000, 3000, (6, size)).astype(np.int16)
    shares = tuple(rng.uniform(-2, 2, 6).tolist())
    return Evaluation(game, tuples, stages, weights, shares, features=game.feature_sizes)


def with_one_ply(evaluation: Evaluation) -> Evaluation:
    """It judges the other way round where one ply is searched."""
    return replace(evaluation, one_ply=-evaluation.weights)


def sample(game: Game) -> State:
    return stack([p for seed in range(4) for p in random_line(game, seed, 60)[0][:-1:3]])


def plain_value(evaluation: Evaluation, own: int, opp: int, heuristic: int) -> int:
    """Image by image, square by square; the weight of a number is that of the least number which
    any symmetry of the game makes of it and which maps the tuple to itself. Then the features, by
    the rule run on ints.
    """
    stage = evaluation.stages[(own | opp).bit_count()]
    total, start = 0, 0
    for squares in evaluation.tuples:
        symmetries = evaluation.game.symmetries
        same = [s for s in symmetries if {s.squares[q] for q in squares} == set(squares)]

        def least(number: int, squares: Tuple = squares, same: list = same) -> int:
            digits = {q: number // 3**k % 3 for k, q in enumerate(squares)}
            found: int = min(
                sum(digits[s.squares[q]] * 3**k for k, q in enumerate(squares)) for s in same
            )
            return found

        kept = sorted({least(number) for number in range(3 ** len(squares))})
        seen = set()
        for symmetry in symmetries:
            image = [symmetry.squares[q] for q in squares]
            if frozenset(image) not in seen:
                seen.add(frozenset(image))
                read = [(own >> q & 1) + 2 * (opp >> q & 1) for q in image]
                number = sum(digit * 3**k for k, digit in enumerate(read))
                total += int(evaluation.weights[stage, start + kept.index(least(number))])
        start += len(kept)
    for feature in evaluation.game.features(own, opp, 0, 0).values():
        total += int(evaluation.weights[stage, start + feature.number])
        start += feature.size
    assert start == evaluation.weights.shape[1]
    return total + heuristic * round(256 * evaluation.heuristic[stage]) // 256


@pytest.mark.parametrize("name", GAMES)
def test_values_are_sums_over_images(name: str) -> None:
    game = make(name)
    evaluation, state = random_evaluation(game), sample(game)
    heuristic = game.values(state).tolist()
    values = evaluation.values(state).tolist()
    for row in range(0, len(values), 2):
        expected = plain_value(evaluation, int(state.own[row]), int(state.opp[row]), heuristic[row])
        assert values[row] == expected


def test_search_judges_by_the_tables(backend: str) -> None:
    """One ply deep: the best of the values after each move. The games stand for both backends."""
    evaluations = [random_evaluation(make(name)) for name in GAMES]
    size = Places(evaluations[-1].game, TUPLES).size  # of a game with features, which may be unused
    weights = evaluations[-1].weights[:, :size]
    evaluations.append(replace(evaluations[-1], weights=weights, features={}))
    for evaluation in evaluations if backend == "numpy" else evaluations[:1]:
        game = evaluation.game
        for position in random_line(game, 1, 40)[0][4:-1:6]:
            state = stack([position])
            search = engine_for(game, evaluation).search
            found = search(state, np.ones(1, np.uint64), Limits(1), forced=True)
            after = [position.step(action) for action in position.legal_actions()]
            values = evaluation.values(stack(after))
            if not any(p.terminated for p in after):
                assert found.value == -values.min()


def test_features_are_weighed_by_loops(backend: str) -> None:
    """Of both backends, as search calls them."""
    game = make("lines_of_action")
    evaluation, state = random_evaluation(game), sample(game)
    judge: Any = compile_for(game, loops_perft.judge)
    tables = tuple_tables(evaluation)
    word = np.uint64 if backend == "numba" else int
    rows = zip(state.own, state.opp, state.to_move, state.ply, strict=True)
    found = [judge(*map(word, row), tables) for row in rows]
    assert found == evaluation.values(state).tolist()


def test_the_exact_end_is_the_same_by_whatever_moves_are_ordered() -> None:
    """Whether the tables speak nonsense or the heuristic."""
    set_backend("numpy")
    game = Othello()
    for position in random_line(game, 5, 200)[0]:
        if (position.own | position.opp).bit_count() == 53:
            state, seed = stack([position]), np.ones(1, np.uint64)
            by_nonsense = engine_for(game, random_evaluation(game)).search(
                state, seed, Limits(endgame=64), forced=True
            )
            by_heuristic = searched(position, endgame=64)
            assert by_nonsense.exact == 1
            lead = int(by_nonsense.value[0]) % 1_000_000
            assert lead == (by_heuristic.margin or 0) % 1_000_000
    set_backend(None)


# ---- files and texts -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_files_hold_all_of_it(name: str, tmp_path: Path) -> None:
    game = make(name)
    evaluation = random_evaluation(game)
    save_evaluation(evaluation, tmp_path / "a.npz")
    again = load_evaluation(tmp_path / "a.npz")
    assert (again.tuples, again.stages) == (evaluation.tuples, evaluation.stages)
    assert again.heuristic == evaluation.heuristic
    assert again.features == evaluation.features
    assert again.game.has_rules_of(game)
    np.testing.assert_array_equal(again.weights, evaluation.weights)
    assert again.one_ply is None
    save_evaluation(with_one_ply(evaluation), tmp_path / "b.npz")
    both = load_evaluation(tmp_path / "b.npz")
    np.testing.assert_array_equal(both.weights, evaluation.weights)
    np.testing.assert_array_equal(both.one_ply, -evaluation.weights)


def changed(path: Path, **metadata: object) -> Path:
    """The file with other metadata."""
    with np.load(path) as arrays:
        about = json.loads(str(arrays["metadata"])) | metadata
        np.savez(path.with_name("b.npz"), metadata=json.dumps(about), weights=arrays["weights"])
    return path.with_name("b.npz")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": 2}, "is not an evaluation of format 1"),
        ({"game": "chess"}, "does not fit this version of boardenvs: .*chess"),
        ({"tuples": ["a1 a1"]}, "'a1', 'a1'.* is not a tuple"),
        ({"tuples": ["a1 b9"]}, "b9"),
        ({"tuples": [" ".join(f"{x}{y}" for x in "abcdefgh" for y in "12")]}, "is not a tuple"),
        ({"tuples": "a1"}, "tuples must be a list"),
        ({"stages": [0] * 64 + [10**9]}, "at most"),
        ({"stages": [0] * 65}, r"weights is int16 of shape .*: it must be .* bytes at most"),
        ({"features": {"discs": 65}}, r"features are \{'discs': 65\}: those of othello are \{\}"),
        ({"features": [1]}, "does not fit this version"),
        ({"one_ply": True}, "is not an evaluation file, or is damaged .*one_ply"),
        ({"heuristic": [1.0]}, "heuristic must be 6 numbers"),
        ({"heuristic": [float("nan")] * 6}, "heuristic must be 6 numbers"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(
    metadata: dict[str, object], message: str, tmp_path: Path
) -> None:
    save_evaluation(random_evaluation(make("othello")), tmp_path / "a.npz")
    with pytest.raises(EvaluationFileError, match=message):
        load_evaluation(changed(tmp_path / "a.npz", **metadata))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    save_evaluation(random_evaluation(make("othello")), tmp_path / "a.npz")
    content = (tmp_path / "a.npz").read_bytes()
    for damaged in (content[:-100], content[: len(content) // 2], b"", b"PK" + content[:50]):
        (tmp_path / "b.npz").write_bytes(damaged)
        with pytest.raises(EvaluationFileError, match=r"b\.npz is not an evaluation file"):
            load_evaluation(tmp_path / "b.npz")
    with pytest.raises(EvaluationFileError, match="there is no evaluation file"):
        load_evaluation(tmp_path / "c.npz")
    with zipfile.ZipFile(tmp_path / "d.npz", "w"):
        pass
    with pytest.raises(EvaluationFileError, match=r"d\.npz is not an evaluation file"):
        load_evaluation(tmp_path / "d.npz")


def test_players_by_text(tmp_path: Path) -> None:
    game = make("othello")
    path = tmp_path / "a.npz"
    save_evaluation(random_evaluation(game), path)
    player = make_agent(f"alphabeta:depth=2,evaluation={path}")
    check_game(player, game)
    state = sample(game)
    seeds = np.random.default_rng(0).integers(1 << 64, size=len(state.ply), dtype=np.uint64)
    found = engine_for(game, load_evaluation(path)).search(state, seeds, Limits(2)).action
    np.testing.assert_array_equal(player.act(game, state, np.random.default_rng(0)), found)
    with pytest.raises(ValueError, match="judges othello, not othello_holes"):
        check_game(player, make("othello_holes"))
    with pytest.raises(ValueError, match="no trained evaluation for wolf_and_sheep"):
        check_game(make_agent("alphabeta:evaluation=trained"), make("wolf_and_sheep"))
    with pytest.raises(ValueError, match="there is no evaluation file nowhere"):
        make_agent("alphabeta:evaluation=nowhere")


def test_one_ply_is_judged_by_weights_of_its_own(tmp_path: Path) -> None:
    game, rng = make("othello"), np.random.default_rng
    one_way = replace(random_evaluation(game), heuristic=(0.0,) * 6)
    other_way = replace(one_way, weights=-one_way.weights)
    for name, evaluation in (
        ("one", one_way),
        ("other", other_way),
        ("both", with_one_ply(one_way)),
    ):
        save_evaluation(evaluation, tmp_path / f"{name}.npz")
    state = sample(game)

    def moves(name: str, depth: int) -> list[int]:
        player = make_agent(f"alphabeta:depth={depth},evaluation={tmp_path / name}.npz")
        return list(map(int, player.act(game, state, rng(0))))

    assert moves("both", 1) == moves("other", 1) != moves("one", 1)
    assert moves("both", 2) == moves("one", 2) != moves("other", 2)
    both = load_evaluation(tmp_path / "both.npz")
    assert both.for_one_ply is both.for_one_ply  # whatever searches by it shares an engine
    assert one_way.for_one_ply is one_way
    with pytest.raises(ValueError, match=r"one_ply are int16 of \(6, 1\): they must be int16 of"):
        replace(one_way, one_ply=one_way.weights[:, :1])


def test_tuples_by_text() -> None:
    assert parse_tuple("a1 h8") == (parse_square("a1"), parse_square("h8"))
    corners = {squares for (squares,) in Places(make("othello"), [(0,)]).squares}
    assert corners == {0, 7, 56, 63}
    lopsided = Othello(holes=from_squares(["a2"]))
    assert Places(lopsided, [(0,)]).squares == [(0,)]


# ---- what comes with the package -----------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.npz")))
def test_trained_evaluations_are_small_and_of_their_games(name: str) -> None:
    game = make(name)
    evaluation = trained_evaluation(game)
    assert evaluation is not None
    assert evaluation.game.has_rules_of(game)
    assert (FOLDER / f"{name}.npz").stat().st_size <= 2 << 20
    assert evaluation.notes["run"]


def test_reversi_has_that_of_othello() -> None:
    assert trained_evaluation(games.make("othello")) is not None
    assert trained_evaluation(games.make("reversi")) is not None
    assert trained_evaluation(games.make("othello:holes=1")) is None
