"""The known games, and the texts that name them.

A game is named by its id, "othello", or by its place in Python, "my_games:Breakthrough", with or
without parameters of its rules: "wolf_and_sheep:rules=described,max_plies=none".

Ids belong to built-in games, to games of installed packages, which declare an entry point in the
group `boardenvs.games`, and to games registered with `boardenvs.register_game`.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any, NamedTuple

from boardenvs.game.game import Game
from boardenvs.game.rules import check_id
from boardenvs.utils.checks import cut, quote, unknown
from boardenvs.utils.imports import describe, import_object, naming_errors, top_level
from boardenvs.utils.spec import (
    check_colon,
    parameters_of,
    parse_parameters,
    signature_of,
    write_spec,
)

ENTRY_POINTS = "boardenvs.games"

Factory = Callable[..., Game]

# The games of this package and where they are, first those that it was made for.
BUILT_IN = {
    "othello": "boardenvs.games.othello:Othello",
    "othello_holes": "boardenvs.games.othello:OthelloHoles",
    "reversi": "boardenvs.games.othello:Reversi",
    "wolf_and_sheep": "boardenvs.games.wolf_and_sheep:WolfAndSheep",
    "lines_of_action": "boardenvs.games.lines_of_action:LinesOfAction",
    "chess": "boardenvs.games.chess:Chess",
    "go": "boardenvs.games.go:Go",
    "checkers": "boardenvs.games.checkers:Checkers",
    "connect_four": "boardenvs.games.connect_four:ConnectFour",
    "hex": "boardenvs.games.hex:Hex",
    "nine_mens_morris": "boardenvs.games.nine_mens_morris:NineMensMorris",
    "tictactoe": "boardenvs.games.tictactoe:TicTacToe",
}

_IN_PYTHON = re.compile(r"(?P<target>[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)(?::(?P<parameters>.*))?")


class _Games(Mapping[str, Factory]):
    """The factory of each game, by id; its module is imported on first use."""

    def __init__(self) -> None:
        built_in = (EntryPoint(name, at, ENTRY_POINTS) for name, at in BUILT_IN.items())
        self._factories: dict[str, Factory | EntryPoint] = {}
        for point in (*built_in, *importlib.metadata.entry_points(group=ENTRY_POINTS)):
            self._factories.setdefault(point.name, point)

    def __getitem__(self, game_id: str) -> Factory:
        factory = self._factories[game_id]
        if isinstance(factory, EntryPoint):
            factory = _load(factory)
            self._keep(game_id, factory)
        return factory

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._factories

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._factories))

    def __len__(self) -> int:
        return len(self._factories)

    def add(self, game_id: str, factory: Factory) -> None:
        """Add a game unless it is known already; ValueError for a wrong id or factory."""
        check_id(game_id)
        before = self[game_id] if game_id in BUILT_IN else self._factories.get(game_id, factory)
        if before is not factory and not isinstance(before, EntryPoint):
            raise ValueError(f"there is a game {game_id!r} already: take another id")
        self._keep(game_id, factory)

    def _keep(self, game_id: str, factory: Factory) -> None:
        plain = {"id": game_id} if _is_plain(factory) else {}
        made = _checked(factory, plain, f"the factory of {game_id!r}")
        if made.id != game_id:
            raise ValueError(
                f"{factory!r} makes a game with the id {made.id!r}: it must be {game_id!r}"
            )
        self._factories[game_id] = factory


GAMES = _Games()
add = GAMES.add


def importable() -> list[str]:
    """Return the ids of the games that can be made; RuntimeWarning for each that cannot be
    imported.
    """
    names = []
    for game_id in GAMES:
        try:
            make(game_id)
        except ValueError as error:
            warnings.warn(f"{error}: it is left out", RuntimeWarning, stacklevel=2)
        else:
            names.append(game_id)
    return names


def _load(point: EntryPoint) -> Factory:
    """Return the factory that an installed package declares; ValueError where it cannot be
    imported.
    """
    try:
        factory: Factory = point.load()
    except (Exception, SystemExit) as error:
        reason = describe(error, top_level(point.value))
        raise ValueError(f"game {point.name!r} cannot be imported: {reason}") from error
    return factory


class _Named(NamedTuple):
    """The factory that a text names, with the values of its parameters."""

    name: str
    factory: Factory
    values: dict[str, Any]
    hidden: tuple[str, ...]  # parameters that are not for users


def make(game: str | Game | type[Any], **rules: Any) -> Game:
    """Return the game that a text names, with rule parameters such as `rules="classic"`; a Game is
    itself, and a class in plain Python its `PlainGame`.

    ValueError for an unknown name or a wrong value, TypeError for an unknown parameter; both name
    what would be right.
    """
    if isinstance(game, Game):
        if rules:
            raise TypeError(
                f"{', '.join(rules)}: a Game has its parameters already; "
                "dataclasses.replace(game, ...) changes them"
            )
        return game
    if _is_plain(game):
        return _plain_game(game)(**rules)
    if not isinstance(game, str):
        raise TypeError(f"game is {quote(game)}: it must be a text such as 'othello', or a Game")
    name, factory, values, hidden = _find(game)
    allowed = _parameters(factory, hidden) if rules else {}
    for key in rules:
        if key not in allowed:
            raise TypeError(unknown(f"parameter of {name}", key, allowed))
        if key in values:
            raise TypeError(f"{key} is given twice, in {quote(game)} and beside it")
    return _checked(factory, {**values, **rules}, game)


def parse(spec: str) -> Game:
    """Return the game of a text: "othello", "wolf_and_sheep:rules=described",
    "my_games:Breakthrough".

    The last imports a module: for texts out of files see `make_from_file`. ValueError for unknown
    names, with the nearest one that exists, and for wrong values.
    """
    return make(spec)


def make_from_file(spec: str, **rules: Any) -> Game:
    """`make` for texts from files, which must not decide what code runs.

    "MODULE:NAME" is allowed if MODULE is imported already and NAME is a Game or a class of games
    in it; else ValueError.
    """
    if imports_code(spec):
        raise ValueError(
            f"game {cut(spec)!r} is code of the module {cut(spec.partition(':')[0])!r}, which a "
            "file does not import or call: name the game yourself, or import the module first"
        )
    # JSON has lists in place of tuples, which are no keys.
    return make(spec, **{k: tuple(v) if isinstance(v, list) else v for k, v in rules.items()})


def to_file(game: Game) -> dict[str, Any]:
    """Return the arguments of `make_from_file` for this game: its name as "game", its "rules".

    ValueError as from `spec_for_file`.
    """
    name = name_of(game)
    spec_for_file(game)
    return {"game": name, "rules": {key: game.parameter(key) for key in parameters(name)}}


def check_same_rules(game: Game, own: Game, what: str, why: str) -> None:
    """ValueError if a game has other rules than `own`, for which something was learnt.

    The message begins with `what`, such as "the policy plays", and ends with `why`.
    """
    if game is not own and not game.has_rules_of(own):
        raise ValueError(f"{what} {spec_of(own)}, not {spec_of(game)}: {why}")


def imports_code(spec: object) -> bool:
    """Return whether a game's text names code that is not in memory as a game: making it may run
    that.
    """
    if not isinstance(spec, str):
        return False
    in_python = None if spec.partition(":")[0] in GAMES else _IN_PYTHON.fullmatch(spec)
    return in_python is not None and not _is_known_game(in_python["target"])


def _is_known_game(target: str) -> bool:
    """Return whether "MODULE:NAME" is a game, or a class of games, that is in memory; nothing is
    run.
    """
    module, _, name = target.partition(":")
    named: Any = sys.modules.get(module)
    for part in name.split("."):
        named = getattr(named, "__dict__", {}).get(part)  # never what makes attributes when asked
    return isinstance(named, Game) or _is_class_of_games(named)


def spec_of(game: Game) -> str:
    """Return the text from which `parse` makes this game: its name, and the parameters that differ
    from their defaults.
    """
    name = name_of(game)
    values = {k: x for k, v in defaults(name).items() if (x := game.parameter(k)) != v}
    for key in values if len(values) > 1 else ():
        with suppress(ValueError):  # what follows from the others, as holes from a size
            others = {k: v for k, v in values.items() if k != key}
            values = others if make(name, **others) == game else values
    return write_spec(name, values)


def spec_for_file(game: Game) -> str:
    """Return `spec_of` the game; ValueError if that is the text of other rules."""
    if not make(text := spec_of(game)).has_rules_of(game):
        raise ValueError(
            f"no file can name the rules of this game, {text!r} has others: annotate the "
            "parameters as bool, int, float or str"
        )
    return text


def name_of(game: Game) -> str:
    """Return the game's text without parameters: its id or, if that is not registered, the place of
    its class, "my_games:Breakthrough".
    """
    if game.id in GAMES and make(game.id).source is game.source:
        return game.id
    return f"{game.source.__module__}:{game.source.__qualname__}"


def defaults(game: str) -> dict[str, Any]:
    """Return a game's rule parameters and their defaults; ValueError for an unknown name."""
    _, factory, _, hidden = _find(game)
    return _parameters(factory, hidden)


def parameters(game: str) -> list[str]:
    """Return the names of a game's rule parameters; ValueError for an unknown name."""
    return list(defaults(game))


def _find(spec: str) -> _Named:
    name, separator, rest = spec.partition(":")
    if name in GAMES:
        factory = GAMES[name]
        hidden = ("id", *_state_of(factory))
        values = parse_parameters(spec, name, rest if separator else None, factory, hidden)
        return _Named(name, factory, values, hidden)
    in_python = _IN_PYTHON.fullmatch(spec)
    if in_python is None:
        check_colon(spec, lambda name: name in GAMES or _IN_PYTHON.fullmatch(name))
        raise ValueError(unknown("game", name, GAMES))
    target = in_python["target"]
    try:
        maker = import_object(target)
    except ValueError as error:
        if name in sys.modules:
            raise
        raise ValueError(f"{unknown('game', name, GAMES)} As MODULE:NAME: {error}") from error
    if isinstance(maker, Game):
        maker = partial(_itself, maker)
    if not callable(maker) or (inspect.isclass(maker) and not _is_class_of_games(maker)):
        raise ValueError(
            f"{target!r} is {quote(maker)}: it must be a Game, its class, a class of positions in "
            "plain Python, or a function that makes one"
        )
    hidden = _state_of(maker)
    values = parse_parameters(spec, target, in_python["parameters"], maker, hidden)
    return _Named(target, maker, values, hidden)


def _is_class_of_games(kind: object) -> bool:
    return inspect.isclass(kind) and (issubclass(kind, Game) or _is_plain(kind))


def _is_plain(kind: object) -> bool:
    """Return whether it is a plain class of positions; only then its module is imported."""
    if not inspect.isclass(kind) or issubclass(kind, Game):
        return False
    from boardenvs.game.plain import is_plain

    return is_plain(kind)


def _plain_game(kind: Any) -> Factory:
    from boardenvs.game.plain import PlainGame

    return partial(PlainGame, kind)


def _state_of(factory: Any) -> tuple[str, ...]:
    """Return the parameters of a plain class's constructor that are no parameters of the rules: all
    that are not annotated as a bool, a number or a text.
    """
    types = parameters_of(factory) if _is_plain(factory) else {}
    return tuple(name for name, kind in types.items() if kind not in (bool, int, float, str))


def _itself(game: Game) -> Game:
    return game


def _parameters(factory: Factory, hidden: tuple[str, ...]) -> dict[str, Any]:
    return {name: p.default for name, p in signature_of(factory).items() if name not in hidden}


def _checked(factory: Factory, values: dict[str, Any], name: str) -> Game:
    """Return the game that the factory makes; ValueError if it raises, or makes something else."""
    try:
        with naming_errors(name, _package(factory)):
            kind: Any = factory
            maker = _plain_game(kind) if _is_plain(kind) else factory
            made: object = maker(**values)
    except TypeError as error:  # an abstract class, or a factory that wants arguments
        raise ValueError(f"{name} cannot be made: {error}") from error
    if not isinstance(made, Game):
        raise ValueError(f"{name} makes {quote(made)}: it must make a Game (boardenvs.Game)")
    check_id(made.id)
    return made


def _package(factory: Factory) -> str:
    """Return the top-level package that a factory is of."""
    function = getattr(factory, "func", factory)  # of a partial
    return top_level(getattr(function, "__module__", None) or "")
