"""The same game under other names, so that what a model has read of it does not help: the board is
turned or mirrored, squares, roles and pieces are renamed, and the game is not named.

Names alone change: a game that is played in disguise is kept, as any other, with its own actions.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from boardenvs.board.bitboard import Board, square_name
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.utils.checks import check_name

PARTS = ("symmetry", "squares", "roles", "pieces")

# Without vowels, of which words are made, without "l", which looks like 1, and "x", which captures.
_FILES = "bcdfghjkmnpqrstvwyz"
_ROLES = (("amber", "teal"), ("silver", "gold"), ("violet", "olive"), ("cyan", "mauve"))
_PIECES = (("stone", "stones"), ("token", "tokens"), ("bead", "beads"), ("counter", "counters"))


@dataclass(frozen=True)
class Disguise:
    """How a game's squares, roles and pieces are called, and from where the board is seen.

    `Disguise(game)` is the game as it is; `Disguise.draw(game, seed)` draws another.

    ```python
    import boardenvs
    from boardenvs.text import Disguise

    game = boardenvs.games.make("lines_of_action")
    disguise = Disguise.draw(game, seed=1)
    print(disguise.write("Black moves b1-b3."))
    ```
    """

    game: Game
    transpose: bool = False  # x and y change places, before the mirrors
    flip_files: bool = False
    flip_ranks: bool = False
    files: tuple[str, ...] = tuple("abcdefghijklmnop")
    ranks: tuple[str, ...] = tuple(str(y) for y in range(1, 17))
    words: tuple[tuple[str, str], ...] = ()  # of the game's, and what stands in their place

    @classmethod
    def draw(cls, game: Game, seed: int, parts: Collection[str] = PARTS) -> Disguise:
        """A disguise of these parts, the same for the same seed.

        ValueError for an unknown part, and for a game whose `About` has no `instructions`: other
        texts may name ranks, files and directions, which nobody can rename.
        """
        for part in parts:
            check_name("part of a disguise", part, PARTS)
        if not game.about.instructions:
            raise ValueError(
                f"{game.id} cannot be disguised: its About has no instructions, rules in words "
                "that name squares alone and no ranks, files or directions"
            )
        rng = np.random.default_rng(seed)
        mirrors = rng.integers(2, size=3).astype(bool).tolist()
        if not any(mirrors):
            mirrors[2] = True
        longest = max(game.board)
        file, rank = rng.integers(len(_FILES) - longest + 1), rng.integers(10, 100 - longest)
        roles, pieces = _ROLES[rng.integers(len(_ROLES))], _PIECES[rng.integers(len(_PIECES))]
        shown: dict[str, Any] = {}
        if "symmetry" in parts:
            shown |= dict(zip(("transpose", "flip_files", "flip_ranks"), mirrors, strict=True))
        if "squares" in parts:
            shown["files"] = tuple(_FILES[file : file + longest])
            shown["ranks"] = tuple(str(rank + y) for y in range(longest))
        words = list(zip(game.roles, roles, strict=True)) if "roles" in parts else []
        if "pieces" in parts:
            plural = game.about.pieces
            words += [(plural.removesuffix("s"), pieces[0]), (plural, pieces[1])]
        return cls(game, words=tuple(words), **shown)

    @property
    def is_plain(self) -> bool:
        """Whether the game is shown as it is."""
        return self == Disguise(self.game)

    @property
    def roles(self) -> tuple[str, str]:
        """What the roles are called."""
        first, second = map(self.write, self.game.roles)
        return first, second

    @property
    def pieces(self) -> str:
        """What the pieces are called."""
        return self.write(self.game.about.pieces)

    @property
    def title(self) -> str:
        """What the game is called."""
        title = self.game.about.title or self.game.id.replace("_", " ")
        return title if not self.words else "a board game for two"

    @property
    def board(self) -> Board:
        """The board as it is shown."""
        rows, columns = self.game.board
        return Board(columns, rows) if self.transpose else Board(rows, columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each square is called."""
        places = map(self._seen_at, range(self.game.board.size))
        return tuple(self.files[x] + self.ranks[y] for x, y in places)

    @cached_property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The squares as the board is seen, from the upper left corner, row by row."""
        rows, columns = self.board
        seen = {self._seen_at(square): square for square in range(self.game.board.size)}
        return tuple(tuple(seen[x, y] for x in range(columns)) for y in reversed(range(rows)))

    def write(self, text: str) -> str:
        """A text that speaks of the game, with all names as they are shown."""
        return self._known.sub(self._renamed, text)

    def move(self, action: int, position: Position) -> str:
        """An action as a player is shown it."""
        return self.write(self.game.action_name(action, position))

    def to_json(self) -> dict[str, Any]:
        """What a record says of it: of every square, role and word, how it was shown."""
        return {"squares": self._squares, "words": dict(self.words)}

    def _seen_at(self, square: int) -> tuple[int, int]:
        """The column from the left and the row from below."""
        y, x = divmod(square, self.game.board.columns)
        if self.transpose:
            x, y = y, x
        rows, columns = self.board
        return columns - 1 - x if self.flip_files else x, rows - 1 - y if self.flip_ranks else y

    @property
    def _squares(self) -> dict[str, str]:
        return {square_name(s, self.game.board): name for s, name in enumerate(self.names)}

    @cached_property
    def _shown(self) -> dict[str, str]:
        return dict(self.words) | self._squares

    @cached_property
    def _known(self) -> re.Pattern[str]:
        words = sorted(map(re.escape, self._shown), key=len, reverse=True)
        return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)

    def _renamed(self, found: re.Match[str]) -> str:
        word = self._shown[found[0].lower()]
        return word.capitalize() if found[0][0].isupper() else word
