"""Games by text: ids, places in Python, parameters, registration, and what is refused."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import gymnasium
import pytest
from pettingzoo.env_registry import registration
from three_in_a_row import FullThreeInARow, ThreeInARow

import boardenvs
from boardenvs import games
from boardenvs.games import Othello, WolfAndSheep, registry

PLACE = "three_in_a_row:ThreeInARow"


@pytest.mark.parametrize(
    "text",
    [
        *games.BUILT_IN,
        "wolf_and_sheep:max_plies=none,rules=described",
        "othello:holes=256",
        PLACE,
        "boardenvs.games.othello:Othello:id=tilted,holes=3",
    ],
)
def test_a_game_is_made_again_of_its_text(text: str) -> None:
    game = games.parse(text)
    assert games.spec_of(game) == text
    assert games.parse(games.spec_of(game)) == game
    assert games.make(text) == game == games.make(game)


def test_parameters_may_stand_in_the_text_or_beside_it() -> None:
    game = games.make("wolf_and_sheep:rules=described", max_plies=None)
    assert game == WolfAndSheep(rules="described", max_plies=None)
    wrong: Any
    for wrong, message in (
        ("wolf_and_sheep:rules=described", "rules is given twice"),
        (game, "a Game has its parameters already"),
        (3, "must be a text such as 'othello', or a Game"),
    ):
        with pytest.raises(TypeError, match=message):
            games.make(wrong, rules="classic")


def test_games_that_are_played_alike_are_known() -> None:
    """Whatever they are called."""
    othello, reversi = games.make("othello"), games.make("reversi")
    others = (Othello(empties="winner"), Othello(size=6), Othello(holes=1), WolfAndSheep())
    assert othello.has_rules_of(reversi)
    assert othello.plies_before(reversi) == reversi.plies_before(othello) == 0
    assert [othello.has_rules_of(other) for other in others] == [False] * 4
    assert [othello.plies_before(other) for other in others] == [None] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("othelo:holes=1", r"unknown game 'othelo'. Did you mean 'othello'"),
        ("othello:id=mine", r"unknown parameter of othello 'id'"),
        ("no_such:Game", r"unknown game 'no_such'.* cannot import 'no_such'"),
        (
            "three_in_a_row:ThreeInRow",
            r"^unknown name in three_in_a_row 'ThreeInRow'. Did you mean",
        ),
        (
            "collections:OrderedDict",
            "it must be a Game, its class, a class of positions in",
        ),
        (f"{PLACE},size=3", f"has no colon before its parameters: write {PLACE}:size=3"),
        ("go,komi=6.5", "'go,komi=6.5' has no colon before its parameters: write go:komi=6.5"),
        (f"{PLACE}:size=3", "unknown parameter of three_in_a_row:ThreeInARow 'size'"),
    ],
)
def test_texts_that_name_no_game(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        games.parse(text)


# ---- registration --------------------------------------------------------------------------------


def test_a_registered_game_has_its_names_everywhere() -> None:
    boardenvs.register_game("three_in_a_row", ThreeInARow)
    boardenvs.register_game("three_in_a_row", ThreeInARow)  # again is no harm
    try:
        assert games.spec_of(games.make("three_in_a_row")) == "three_in_a_row"
        env = registration.make("aec", "boardenvs/three_in_a_row-v0", reward="zero_sum")
        assert env.unwrapped.game == ThreeInARow()
        many = gymnasium.make_vec(
            "boardenvs/ThreeInARow-v0", 3, vectorization_mode="vector_entry_point"
        )
        assert many.reset(seed=1)[0].shape == (3, 8, 8, 2)
        assert boardenvs.env("three_in_a_row").metadata["name"] == "three_in_a_row_v0"
    finally:
        games.GAMES._factories.pop("three_in_a_row")
        registration.aec_registry.pop("boardenvs/three_in_a_row-v0")
        registration.parallel_registry.pop("boardenvs/three_in_a_row-v0")
        gymnasium.registry.pop("boardenvs/ThreeInARow-v0")


@pytest.mark.parametrize(
    ("game_id", "factory", "message"),
    [
        ("Othello2", Othello, "'Othello2' is not an id of a game: write it in small letters"),
        ("othello", FullThreeInARow, "there is a game 'othello' already"),
        ("mine", FullThreeInARow, "with the id 'full_three_in_a_row': it must be 'mine'"),
        ("mine", lambda: 3, "makes 3: it must make a Game"),
    ],
)
def test_what_cannot_be_registered(game_id: str, factory: type, message: str) -> None:
    known = list(games.GAMES)
    with pytest.raises(ValueError, match=message):
        boardenvs.register_game(game_id, factory)
    assert list(games.GAMES) == known


# ---- environments of any game --------------------------------------------------------------------


def declare(monkeypatch, *points):
    """Have installed packages declare these entry points, (name, value), and read them anew."""
    group = registry.ENTRY_POINTS
    found = [importlib.metadata.EntryPoint(name, value, group) for name, value in points]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found)
    monkeypatch.setattr(registry, "GAMES", registry._Games())


def test_one_package_that_cannot_be_imported_leaves_the_others(monkeypatch):
    others = (("three", "three_in_a_row:ThreeInARow"), ("othello", "three_in_a_row:ThreeInARow"))
    declare(monkeypatch, ("broken", "no_such_module:Game"), *others)
    with pytest.warns(RuntimeWarning, match="'broken' cannot be imported: .*left out"):
        found = registry.importable()
    assert "broken" not in found
    assert {"othello", "reversi"} <= set(found)
    assert isinstance(registry.make("othello"), Othello)  # no other package's
