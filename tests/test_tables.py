"""Published tables name what they were made with, and are made anew when that has changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import boardenvs
from boardenvs.agents.levels import FOLDER as LEVELS
from boardenvs.arena.pools import rating_pool
from boardenvs.arena.pools.__main__ import GAMES, made_with
from boardenvs.games import make
from boardenvs.games.files import digest

PACKAGE = Path(boardenvs.__file__).parent
ROOT = PACKAGE.parent
NAMED = re.compile(r"`(\w+/trained/\w+\.npz)`\s+([0-9a-f]{8})\b")
PAGES = ("boardenvs/arena/README.md", "training/results/README.md", "training/README.md")


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_as_new_as_what_they_measure(page: str) -> None:
    named = NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
    assert named, "no table says what it was made with"
    for path, found in named:
        now = digest(PACKAGE / path)
        assert found == now, f"{path} has changed: measure the tables anew that name {found}"


@pytest.mark.parametrize("game_id", GAMES)
def test_pools_and_levels_are_as_new_as_their_players(game_id: str) -> None:
    """Where this fails: `python -m boardenvs.arena.pools GAME`."""
    game, pool = make(game_id), rating_pool(make(game_id))
    assert pool.made_with == made_with(game, [anchor.agent for anchor in pool.anchors])
    values = json.loads((LEVELS / f"{game_id}.json").read_text(encoding="utf-8"))
    players = [level[side] for level in values["levels"] for side in ("weaker", "stronger")]
    assert values["made_with"] == made_with(game, players)


def test_what_players_have_learnt_is_known_by_their_texts() -> None:
    game = make("othello")
    assert made_with(game, ["random", "alphabeta:depth=4", "perfect"]) == {}
    both = made_with(game, ["trained", "alphabeta:depth=1,evaluation=trained"])
    assert list(both) == ["agents/trained/othello.npz", "search/trained/othello.npz"]
    assert made_with(game, ["trained:shield=false"]).keys() == {"agents/trained/othello.npz"}
    assert made_with(make("reversi"), ["trained"]) == made_with(game, ["trained"])
