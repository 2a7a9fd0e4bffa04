"""Learnt evaluations: what tables over tuples of squares say, their files, search by them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openspiel_games import GAMES as OUTSIDE
from variants import make, random_line

from boardenvs import games
from boardenvs.agents import make_agent
from boardenvs.agents.base import check_game
from boardenvs.board import Board
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import State
from boardenvs.search import Evaluation, Limits, alphabeta_for
from boardenvs.search.evaluation import Terms, Tuple
from boardenvs.search.evaluation_file import (
    EvaluationFileError,
    load_evaluation,
    parse_tuple,
    save_evaluation,
    trained_evaluation,
    tuple_text,
)

TUPLES = tuple(map(parse_tuple, ("a1 b1 c1 b2", "d4 e4 d5 e5", "a1 b2 c3 d4 e5", "c2", "b1 a2")))
GAMES = ("othello", "othello_holes", "lines_of_action")
# More kinds of pieces, numbers, two words a set.
MORE = ("checkers", "nine_mens_morris", "hex")
SEED = np.ones(1, np.uint64)
OTHELLO = make("othello")


def of_any(name: str) -> Game:
    return OUTSIDE[name].game if name in MORE else make(name)


def random_evaluation(game: Game, **options: Any) -> Evaluation:
    """By tuples and, where the game has some, its features."""
    rng = np.random.default_rng(0)
    stages = tuple(min(n // 9, 5) for n in range(game.board.size + 1))
    features = options.pop("features", game.feature_sizes)
    size = Terms(game, TUPLES, features).size
    weights = rng.integers(-3000, 3000, (6, size)).astype(np.int16)
    evaluation = Evaluation(game, TUPLES, stages, weights, features=features)
    return replace(evaluation, **options)


def with_one_ply(evaluation: Evaluation) -> Evaluation:
    """It judges the other way round where one ply is searched."""
    return replace(evaluation, one_ply=-evaluation.weights)


def sample(game: Game) -> State:
    return stack([p for seed in range(4) for p in random_line(game, seed, 60)[0][:-1:6]])


def digit_on(position: Position, square: int) -> int:
    """0 where it is empty, 1 for own pieces, 2 for opposing ones, and two more for each further set
    of squares that they are in, but the first one counts.
    """
    own, opp, *further = position.game.join(position.words)[: len(position.game.squares)]
    side = (own >> square & 1) + 2 * (opp >> square & 1)
    kinds = [k for k, squares in enumerate(further, start=1) if squares >> square & 1]
    return int(side + 2 * kinds[0] if side and kinds else side)


def plain_value(evaluation: Evaluation, position: Position, numbers: dict[Tuple, list[int]]) -> int:
    """Image by image, square by square; the weight of a number is that of the least number which
    any symmetry of the game makes of it and which maps the tuple to itself: all such `numbers` are
    kept. Then the features, by the rule run on ints.
    """
    game, words = evaluation.game, position.words
    base = 1 + 2 * (len(game.squares) - 1)
    own, opp = game.join(words)[:2]
    stage = evaluation.stages[(own | opp).bit_count()]
    total, start = 0, 0
    for squares in evaluation.tuples:
        images = [[s.squares[q] for q in squares] for s in evaluation.game.symmetries]
        same = [image for image in images if set(image) == set(squares)]

        def least(digits: Iterable[int], squares: Tuple = squares, same: list = same) -> int:
            on = dict(zip(squares, digits, strict=True))
            return int(min(sum(on[q] * base**k for k, q in enumerate(image)) for image in same))

        kept = numbers.get(squares)
        if kept is None:
            every = itertools.product(range(base), repeat=len(squares))
            kept = numbers[squares] = sorted({least(digits) for digits in every})
        for image in {frozenset(image): image for image in images}.values():
            number = least(digit_on(position, q) for q in image)
            total += int(evaluation.weights[stage, start + kept.index(number)])
        start += len(kept)
    for feature in game.features(*words, 0, 0).values():
        total += int(evaluation.weights[stage, start + feature.number])
        start += feature.size
    assert start == evaluation.weights.shape[1]
    return total


@pytest.mark.parametrize("name", [*GAMES, *MORE])
def test_values_are_sums_over_images(name: str) -> None:
    game = of_any(name)
    evaluation, state = random_evaluation(game), sample(game)
    numbers: dict[Tuple, list[int]] = {}
    expected = [plain_value(evaluation, position, numbers) for position in game.positions(state)]
    assert evaluation.values(state).tolist() == expected


def test_search_judges_by_the_tables() -> None:
    """One ply deep: the best of the values after each move."""
    evaluations = [random_evaluation(of_any(name)) for name in (*GAMES, *MORE)]
    evaluations.append(random_evaluation(make(GAMES[-1]), features={}))  # a game's may be unused
    for evaluation in evaluations:
        for position in random_line(evaluation.game, 1, 40)[0][4:-1:12]:
            after = stack([position.step(action) for action in position.legal_actions()])
            search = alphabeta_for(evaluation.game, evaluation).search
            found = search(stack([position]), SEED, Limits(1), forced=True)
            worth = evaluation.values(after)
            best = np.where(after.to_move == position.to_move, worth, -worth).max()
            forcing = evaluation.game.kernels.forcing.one
            goes_on = any(
                any(forcing(*p.words, p.to_move, *p.legal_bits))
                for p in evaluation.game.positions(after)
            )
            assert found.value == best or goes_on or after.terminated.any()


# ---- files and texts -----------------------------------------------------------------------------


def test_tuples_are_written_by_the_names_of_their_own_board() -> None:
    text, board = "a1 b2 f6", Board(6, 6)
    assert parse_tuple(text, board) == (0, 7, 35)
    assert tuple_text((0, 7, 35), board) == text


@pytest.mark.parametrize("name", GAMES)
def test_files_hold_all_of_it(name: str, tmp_path: Path) -> None:
    game = make(name)
    evaluation = random_evaluation(game)
    for written in (replace(evaluation, notes={"games": 7}), with_one_ply(evaluation)):
        save_evaluation(written, tmp_path / "a.npz")
        again = load_evaluation(tmp_path / "a.npz")
        assert again.game.has_rules_of(game)
        for part in ("tuples", "stages", "weights", "features", "one_ply", "notes"):
            np.testing.assert_equal(getattr(again, part), getattr(written, part))


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
        ({"heuristic": [0.0, 0.5]}, "cannot be used: .* heuristic"),
        ({"game": "chess"}, "cannot be used: .*chess"),
        ({"stages": [0] * 64 + [10**9]}, "at most"),
        ({"features": {"discs": 65}}, r"features are \{'discs': 65\}: those of othello are \{\}"),
        ({"one_ply": True}, "is not an evaluation file, or is damaged .*one_ply"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(
    metadata: dict[str, object], message: str, tmp_path: Path
) -> None:
    save_evaluation(random_evaluation(OTHELLO), tmp_path / "a.npz")
    with pytest.raises(EvaluationFileError, match=message):
        load_evaluation(changed(tmp_path / "a.npz", **metadata))


def test_players_by_text(tmp_path: Path) -> None:
    """Which judge by weights of their own where they look one ply ahead."""
    one_way = random_evaluation(OTHELLO)
    other_way = replace(one_way, weights=-one_way.weights)
    save_evaluation(with_one_ply(one_way), tmp_path / "both.npz")
    state, text = sample(OTHELLO), f"evaluation={tmp_path / 'both.npz'}"
    seeds = np.random.default_rng(0).integers(1 << 64, size=len(state.ply), dtype=np.uint64)
    for depth, right, wrong in ((1, other_way, one_way), (2, one_way, other_way)):
        player = make_agent(f"alphabeta:depth={depth},{text}")
        check_game(player, OTHELLO)
        played = player.act(OTHELLO, state, np.random.default_rng(0)).tolist()
        found, others = (
            alphabeta_for(OTHELLO, judge).search(state, seeds, Limits(depth)).action.tolist()
            for judge in (right, wrong)
        )
        assert played == found != others


def test_tournament_rules_are_judged_by_the_evaluation_of_the_usual_ones() -> None:
    usual, tournament = make("lines_of_action"), games.make("lines_of_action", rules="tournament")
    positions = random_line(tournament, 0, 40)[0]
    values = []
    for game in (usual, tournament):
        evaluation = trained_evaluation(game)
        assert evaluation is not None
        same = [game.position(p.by_role(), p.to_move) for p in positions]
        values.append(evaluation.values(stack(same)).tolist())
        check_game(make_agent("alphabeta:evaluation=trained"), game)
    assert values[0] == values[1] != [0] * len(positions)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    evaluation = random_evaluation(OTHELLO)
    with pytest.raises(ValueError, match=r"one_ply are int16 of \(6, 1\): they must be int16 of"):
        replace(evaluation, one_ply=evaluation.weights[:, :1])
    wrong: Any
    for part, wrong, message in (
        ("stages", (*evaluation.stages[:-1], 2.5), "stages must be 65 numbers from 0 to 64"),
        ("stages", evaluation.stages[:-1], "stages must be 65 numbers from 0 to 64"),
        ("tuples", (parse_tuple("a1 b1 c2"),) * 33, "more than 256 tuples and images"),
        ("tuples", (parse_tuple("a1 b1 a1"),), "is not a tuple: it must be 1 to 10 different"),
        ("tuples", ((0, 64),), r"\['a1', 64\] is not a tuple"),
        ("tuples", (tuple(range(11)),), "is not a tuple: it must be 1 to 10 different"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(evaluation, **{part: wrong})
    for text, name in (
        ("probcut=1", "othello"),
        ("probcut=1,evaluation=trained", "lines_of_action"),
    ):
        with pytest.raises(ValueError, match=r"probcut is 1\.0: probcut needs a learnt evaluation"):
            check_game(make_agent(f"alphabeta:{text}"), make(name))
    check_game(make_agent("alphabeta:probcut=1,evaluation=trained"), OTHELLO)
    save_evaluation(evaluation, tmp_path / "a.npz")
    with pytest.raises(ValueError, match="judges othello, not othello_holes"):
        check_game(make_agent(f"alphabeta:evaluation={tmp_path / 'a.npz'}"), make("othello_holes"))
    with pytest.raises(ValueError, match="no trained evaluation for wolf_and_sheep"):
        check_game(make_agent("alphabeta:evaluation=trained"), make("wolf_and_sheep"))
    with pytest.raises(ValueError, match="there is no evaluation file nowhere"):
        make_agent("alphabeta:evaluation=nowhere")
