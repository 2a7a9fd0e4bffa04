"""Published tables name the files they were measured with, and `.ci/tables` measures them again."""

from __future__ import annotations

import json
import re
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import typer

import boardenvs
from boardenvs.agents.levels import FOLDER as LEVELS, LEVELS as COUNT, read_levels
from boardenvs.arena import rating_pool
from boardenvs.exams.positions import exam_positions
from boardenvs.games import ConnectFour, make

PACKAGE = Path(boardenvs.__file__).parent
ROOT = PACKAGE.parent
sys.path.append(str(ROOT / ".ci" / "tables"))

import exam as exam_script  # type: ignore[import-not-found]  # noqa: E402
import levels as levels_script  # type: ignore[import-not-found]  # noqa: E402
import pool as pool_script  # type: ignore[import-not-found]  # noqa: E402

NAMED = re.compile(r"`(\w+/trained/\w+\.npz)`\s+([0-9a-f]{8})\b")
PAGES = ("boardenvs/arena/README.md", "training/results/README.md")
GAMES = ("othello", "othello_holes", "lines_of_action", "wolf_and_sheep")


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_as_new_as_what_they_measure(page: str) -> None:
    named = NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
    assert named, "no table says which files it was measured with"
    for path, found in named:
        now = pool_script.digest(PACKAGE / path)
        assert found == now, f"{path} has changed: measure the tables again that name {found}"


@pytest.mark.parametrize("game_id", GAMES)
def test_pools_and_levels_are_as_new_as_their_players(game_id: str) -> None:
    """If this fails: `python .ci/tables GAME`."""
    game, pool = make(game_id), rating_pool(make(game_id))
    players = [anchor.agent for anchor in pool.anchors]
    assert pool.made_with == pool_script.made_with(game, players)
    values = json.loads((LEVELS / f"{game_id}.json").read_text(encoding="utf-8"))
    players = [level[side] for level in values["levels"] for side in ("weaker", "stronger")]
    assert values["made_with"] == pool_script.made_with(game, players)


def test_the_table_of_levels_has_the_published_scores() -> None:
    """If this fails: the table of levels in the guide to the arena is of other files."""
    guide = (ROOT / "boardenvs" / "arena" / "README.md").read_text(encoding="utf-8")
    section = guide.partition("## Ten levels")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ")[1:] for line in section.splitlines() if " | ." in line]
    expected = []
    first = ("othello", "othello_holes", "wolf_and_sheep", "lines_of_action")
    others = {path.stem for path in LEVELS.glob("*.json")} - {*first}
    for game_id in (*first, *sorted(others)):
        values = json.loads((LEVELS / f"{game_id}.json").read_text(encoding="utf-8"))
        steps = [level["beats_level_below"] for level in values["levels"][1:]]
        scores = [step["score"] for step in steps]
        found = min(scores), max(scores), min(step["low"] for step in steps)
        (games,) = {step["games"] for step in steps}
        expected.append([*(f"{x:.3f}".removeprefix("0") for x in found), f"{games:,}"])
    assert rows == expected


def test_the_readme_has_the_published_ratings_of_anchors() -> None:
    """A player has one rating on all pages."""
    rows = re.findall(r"^\| (`.*?`) \|.*\| ([\d, ]+) \|$", (ROOT / "README.md").read_text(), re.M)
    found = {
        name.strip("`"): float(rating)
        for names, ratings in rows
        for name, rating in zip(names.split(", "), ratings.split(", "), strict=True)
    }
    anchors = {anchor.agent: round(anchor.rating) for anchor in rating_pool("othello").anchors}
    both = found.keys() & anchors.keys()
    assert len(both) >= 3
    assert {name: found[name] for name in both} == {name: anchors[name] for name in both}


def test_levels_are_in_the_order_of_all_that_was_measured() -> None:
    for path in LEVELS.glob("*.json"):
        levels = json.loads(path.read_text(encoding="utf-8"))["levels"]
        ratings = [level["rating"] for level in levels]
        assert ratings == sorted(ratings), path.stem
        assert all(level["low"] < level["rating"] < level["high"] for level in levels)


def test_a_level_is_rated_by_the_pool_and_by_its_neighbours() -> None:
    """Three levels, of which the outer ones are anchors: of equal errors the mean counts."""

    def levels(score: float, middle: float) -> list[dict[str, Any]]:
        step = {"score": score, "low": score - 0.05, "high": score + 0.05}
        one = {"weaker": "a", "stronger": "b", "share": 0.0}
        rated = {"rating": middle, "low": middle - 50, "high": middle + 50}
        first = one | {"rating": 0.0, "low": -20.0, "high": 20.0}
        last = one | {"share": 1.0, "rating": 400.0, "low": 380.0, "high": 420.0}
        return [
            first,
            one | rated | {"share": 0.5, "beats_level_below": step},
            last | {"beats_level_below": step},
        ]

    expected = 1 / (1 + 10 ** (-200 / 400))
    first, found, last = levels_script.combined(levels(expected, 200.0), {"a", "b"})
    assert (first["rating"], last["rating"]) == (0, 400)
    assert found["rating"] == pytest.approx(200, abs=1)
    narrow = found["high"] - found["low"]
    assert 40 < narrow < 80  # three measurements of about 50 to each side
    _, found, _ = levels_script.combined(levels(expected, 380.0), {"a", "b"})
    assert 200 < found["rating"] < 300
    assert found["high"] - found["low"] > 2 * narrow  # the pool contradicts the games


def test_near_pairings_count_more_than_far_ones() -> None:
    """If the model is true, the ratings are the model's; otherwise the near games decide."""
    true = np.array([0.0, 150.0, 300.0, 700.0])
    games = 1e5 * (1 - np.eye(4))
    expected = 1 / (1 + 10 ** ((true - true[:, None]) / 400))
    rating, error = pool_script.fit_near(games * expected, games)
    assert rating - rating[0] == pytest.approx(true, abs=2)  # the prior costs a little
    assert (error > 0).all()
    expected[0, 3] += 0.1  # the weakest sometimes beats the strongest
    expected[3, 0] -= 0.1
    rating, _ = pool_script.fit_near(games * expected, games)
    assert rating[1:3] - rating[0] == pytest.approx(true[1:3], abs=20)


@dataclass(frozen=True)
class Own(ConnectFour):
    files: ClassVar = Path()


def test_a_game_of_another_package_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Own, "files", tmp_path / "files")
    monkeypatch.setattr("boardenvs.arena.tournament._cores", lambda: 0)  # all in this process
    monkeypatch.setattr(pool_script, "PLAYOUTS", ("mcts:simulations=5",))
    monkeypatch.setattr(levels_script, "_GAMES", 2)
    monkeypatch.setattr(exam_script, "PLAYOUTS", ("mcts:simulations=5",))
    main = runpy.run_path(str(ROOT / ".ci" / "tables"))["main"]
    settings = {
        "pairs": 1,
        "level_pairs": 2,
        "rounds": 1,
        "exam_pairs": 16,
        "work": tmp_path,
        "resume": False,
    }
    with pytest.raises(typer.BadParameter, match="give ThreeInARow one as `files`"):
        main(["test_tables:Own", "three_in_a_row:ThreeInARow"], only="", seed=0, **settings)
    assert not list(tmp_path.iterdir())  # it is said before hours of measuring
    main(["test_tables:Own"], only="", seed=0, **settings)
    ratings = [anchor.rating for anchor in rating_pool(Own()).anchors]
    assert ratings == sorted(ratings)
    assert len(read_levels(Own())) == COUNT
    kinds = set(exam_positions(Own()).kinds)
    assert kinds >= {"win in 1 ply", "win in 3 plies", "only defence"}
