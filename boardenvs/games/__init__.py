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

from boardenvs.game.contract import Game
from boardenvs.games.lines_of_action import LinesOfAction
from boardenvs.games.othello import Othello
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
    spec_of,
    to_file,
)
from boardenvs.games.wolf_and_sheep import WolfAndSheep

__all__ = [
    "BUILT_IN",
    "GAMES",
    "Game",
    "LinesOfAction",
    "Othello",
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
    "spec_of",
    "to_file",
]
