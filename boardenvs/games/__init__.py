"""The games, with one file of rules each; `make` makes a game by its text.

`registry` knows the built-in games, the games of installed packages, and games that a program
registers; README.md in this folder shows how to add a game.

```python
import boardenvs

game = boardenvs.games.make("wolf_and_sheep", rules="described")
assert game == boardenvs.games.make("wolf_and_sheep:rules=described")
print(list(boardenvs.games.GAMES), boardenvs.games.parameters("wolf_and_sheep"))
```
"""

from typing import TYPE_CHECKING

from boardenvs.game.game import Game
from boardenvs.games.registry import (
    BUILT_IN,
    GAMES,
    add,
    check_same_rules,
    defaults,
    importable,
    imports_code,
    make,
    make_from_file,
    name_of,
    parameters,
    parse,
    spec_for_file,
    spec_of,
    to_file,
)
from boardenvs.utils.imports import import_object

if TYPE_CHECKING:
    from boardenvs.games.checkers import Checkers
    from boardenvs.games.chess import Chess
    from boardenvs.games.connect_four import ConnectFour
    from boardenvs.games.go import Go
    from boardenvs.games.hex import Hex
    from boardenvs.games.lines_of_action import LinesOfAction
    from boardenvs.games.nine_mens_morris import NineMensMorris
    from boardenvs.games.othello import Othello
    from boardenvs.games.tictactoe import TicTacToe
    from boardenvs.games.wolf_and_sheep import WolfAndSheep

__all__ = [
    "BUILT_IN",
    "GAMES",
    "Checkers",
    "Chess",
    "ConnectFour",
    "Game",
    "Go",
    "Hex",
    "LinesOfAction",
    "NineMensMorris",
    "Othello",
    "TicTacToe",
    "WolfAndSheep",
    "add",
    "check_same_rules",
    "defaults",
    "importable",
    "imports_code",
    "make",
    "make_from_file",
    "name_of",
    "parameters",
    "parse",
    "spec_for_file",
    "spec_of",
    "to_file",
]


def __dir__() -> set[str]:
    return {*globals(), *__all__}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """A game's class; its module is imported on first use."""
        for place in BUILT_IN.values():
            if place.endswith(f":{name}"):
                return import_object(place)
        raise AttributeError(f"module 'boardenvs.games' has no attribute {name!r}")
