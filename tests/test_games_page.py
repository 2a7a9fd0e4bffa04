"""The page that tells how to add a game, followed from an empty folder as a reader would."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest
from examples import ROOT, follow
from variants import HERE

from boardenvs.board import symmetries_of
from boardenvs.board.bitboard import Board, from_squares
from boardenvs.game import Game, Named
from boardenvs.game.check import check_rules
from boardenvs.kernel import Bits, Table, nonzero

pytestmark = pytest.mark.usefixtures("as_written")

PAGE = ROOT / "boardenvs" / "games" / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def test_each_block_runs_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few games; modules of the tests are not found. `sowing.py` is run in test_plain.py."""
    page = tmp_path / "page.md"
    short = TEXT.replace("check_rules(Breakthrough())", "check_rules(Breakthrough(), num_games=1)")
    page.write_text(short.replace("num_games=3", "num_games=1"), encoding="utf-8")
    follow(page, tmp_path)
    assert (tmp_path / "sowing.py").read_text() == "# sowing.py\n" + (
        HERE / "sowing.py"
    ).read_text()
    (block,) = (text for language, text in BLOCKS if language == "toml")
    ((name, value),) = tomllib.loads(block)["project"]["entry-points"]["boardenvs.games"].items()
    monkeypatch.syspath_prepend(tmp_path)
    assert EntryPoint(name, value, "boardenvs.games").load()().id == name


BOARD = Board(2, 3)
PAIRS = ("a1-a2", "b1-b2", "c1-c2", "a1-b1", "b1-c1", "a2-b2", "b2-c2")  # the first three upright
SQUARES = [from_squares(name.split("-"), BOARD) for name in PAIRS]
COVERED = Table([*SQUARES, 0])


def test_images_of_two_squares() -> None:
    """In Domineering, whose names have their squares in one of both orders."""

    @dataclass(frozen=True)
    class Domineering(Game):
        id: str = "domineering"

        roles: ClassVar = ("upright", "flat")
        shape: ClassVar = BOARD
        notation: ClassVar = Named(PAIRS)
        symmetries: ClassVar = symmetries_of(BOARD)

        def setup(self) -> tuple[int, ...]:
            return 0, 0

        def moves(self, own: Bits, opp: Bits, to_move: Bits) -> list[Bits]:
            taken = own | opp
            free = [nonzero(squares & taken) ^ 1 for squares in SQUARES]
            mine = [flag & (to_move ^ (k < 3)) for k, flag in enumerate(free)]
            return [sum(flag << k for k, flag in enumerate(mine))]

        def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
            return own | COVERED[action], opp

        def over(self, moves: Any) -> Bits:
            return nonzero(moves[0]) ^ 1

        def points(self, to_move: Bits) -> tuple[int, int]:
            return 0, 1

        def planes(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
            return own, opp, to_move * BOARD.all

    assert len(Domineering.symmetries) == 4
    check_rules(Domineering(), num_games=3)
