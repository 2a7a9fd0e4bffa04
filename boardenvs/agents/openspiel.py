"""OpenSpiel's bots as players: "openspiel:mcts,simulations=200".

Only this module needs OpenSpiel, which is imported when it is used: `pip install open_spiel`, or
the extra `peers`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from boardenvs import games
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.utils.checks import is_number, is_whole, quote, unknown

# From a pyspiel.Game, a player's number and a seed to a pyspiel.Bot.
MakeBot: TypeAlias = Callable[[Any, int, int], Any]

BOTS = ("mcts",)  # which texts of players can name

_SEEDS = 2**31 - 1
_MEMORY_MB = 1000


# ---- games that OpenSpiel has too, and the translation of their actions --------------------------


@dataclass(frozen=True)
class Counterpart:
    """OpenSpiel's version of a game of ours.

    name: OpenSpiel's name of the game. read: turns OpenSpiel's name of an action into ours, as for
    `Game.parse_action`. parameters: our rules' names, and OpenSpiel's names of the same; all other
    rules must have their defaults.
    """

    name: str
    read: Callable[[str], str] = str
    parameters: Mapping[str, str] = field(default_factory=dict)


def _without_capture(text: str) -> str:
    """Captures are written "c1xa3" in OpenSpiel."""
    return text.replace("x", "-")


# By the id of our game; a line here adds a game.
COUNTERPARTS = {
    "othello": Counterpart("othello"),
    "reversi": Counterpart("othello"),
    # OpenSpiel plays rules="tournament"; with "classic" its rules differ: repeating a position
    # draws, having no move loses, a move that connects both sides wins, and the last step is a draw
    # even if it connects.
    "lines_of_action": Counterpart(
        "lines_of_action", _without_capture, {"max_steps": "max_game_length"}
    ),
}


def pyspiel() -> Any:
    """Return OpenSpiel's module; ImportError with the command that installs it."""
    if find_spec("pyspiel") is None:
        raise ImportError("OpenSpiel is not installed: pip install open_spiel")
    return import_module("pyspiel")


class Translation:
    """Translates actions and games between our game and OpenSpiel's."""

    def __init__(self, ours: Game, theirs: Any, read: Callable[[str], str]) -> None:
        self.ours = ours
        self.theirs = theirs  # a pyspiel.Game
        self._read = read
        self._start = theirs.new_initial_state()
        self._known: dict[tuple[int, int], int] = {}

    def our_action(self, role: int, action: int) -> int:
        """Return our number of OpenSpiel's action."""
        if (role, action) not in self._known:
            text = self._start.action_to_string(role, action)
            self._known[role, action] = self.ours.parse_action(self._read(text))
        return self._known[role, action]

    def their_action(self, state: Any, action: int) -> int:
        """Return OpenSpiel's number of our action, which must be legal in this pyspiel.State."""
        role = state.current_player()
        known: dict[int, int] = {self.our_action(role, a): a for a in state.legal_actions()}
        return known[action]

    def state(self, actions: Sequence[int]) -> Any:
        """Return OpenSpiel's state after our actions, or where its rules end the game."""
        state = self.theirs.new_initial_state()
        for action in self._without_circles(actions):
            if state.is_terminal():
                break
            state.apply_action(self.their_action(state, action))
        return state

    def _without_circles(self, actions: Sequence[int]) -> list[int]:
        """Return actions to the same position without repeating one, which may end OpenSpiel's
        game but not ours.
        """
        position = self.ours.start()
        kept: list[int] = []
        seen = {position[:2]: 0}  # own and opposing squares, and how many actions led there
        for action in actions:
            position = position.step(action)
            kept.append(action)
            before = seen.get(position[:2])
            # After an odd number of plies it is the other side's turn.
            if before is not None and (len(kept) - before) % 2 == 0:
                del kept[before:]
                seen = {squares: ply for squares, ply in seen.items() if ply <= before}
            seen[position[:2]] = len(kept)
        return kept


@lru_cache(maxsize=64)
def translation_of(game: Game) -> Translation:
    """Return the translation of a game; ValueError if OpenSpiel does not have it."""
    counterpart = COUNTERPARTS.get(game.id)
    if counterpart is None:
        raise ValueError(f"OpenSpiel has no {game.id}: it has {', '.join(COUNTERPARTS)}")
    usual = games.defaults(games.name_of(game))
    values = {name: getattr(game, name) for name in usual}
    if values.get("rules") == "tournament":  # which are OpenSpiel's own
        return Translation(game, pyspiel().load_game(counterpart.name), counterpart.read)
    for name in usual:
        if name not in ("id", *counterpart.parameters) and values[name] != usual[name]:
            raise ValueError(f"OpenSpiel's {game.id} has {name}={usual[name]}, not {values[name]}")
    given = {theirs: values[ours] for ours, theirs in counterpart.parameters.items()}
    return Translation(game, pyspiel().load_game(counterpart.name, given), counterpart.read)


# ---- its bots ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MCTSBotMaker:
    """Makes OpenSpiel's MCTSBot, which evaluates positions by random games.

    simulations: for a move. c: the weight of exploration. rollouts: random games for a simulation.
    solve: whether proven results are backed up as such.
    """

    simulations: int = 200
    c: float = 2.0
    rollouts: int = 1
    solve: bool = True

    def __post_init__(self) -> None:
        for name in ("simulations", "rollouts"):
            value = getattr(self, name)
            if not is_whole(value, 1, _SEEDS):
                raise ValueError(f"{name} is {quote(value)}: it must be whole, 1 to {_SEEDS}")
        if not is_number(self.c, 0, sys.float_info.max):
            raise ValueError(f"c is {quote(self.c)}: it must be 0 or more, and finite")

    def __call__(self, game: Any, player: int, seed: int) -> Any:
        spiel = pyspiel()
        evaluator = spiel.RandomRolloutEvaluator(self.rollouts, seed)
        settings = self.c, self.simulations, _MEMORY_MB, self.solve, seed, False
        return spiel.MCTSBot(game, evaluator, *settings)


@dataclass(frozen=True)
class OpenSpielAgent:
    """Plays as a bot of OpenSpiel does; each move gets a new bot with a seed of its own.

    OpenSpiel's states can only be reached by playing, so it needs the actions of each game (see
    `boardenvs.agents.base.HistoryAgent`), which matches and tournaments give. It plays a random
    legal action if OpenSpiel's rules have ended a game that goes on by ours, as after a repetition
    in Lines of Action. ValueError for actions that do not lead to the positions.

    ```python
    import boardenvs
    from boardenvs.agents.openspiel import MCTSBotMaker, OpenSpielAgent

    game = boardenvs.games.make("othello")
    theirs = OpenSpielAgent(MCTSBotMaker(simulations=20))  # or any function that makes a bot
    print(boardenvs.play_match(game, "mcts:rollouts=20", theirs, pairs=2))
    ```
    """

    make_bot: MakeBot

    def check_game(self, game: Game) -> None:
        """ValueError for a game that OpenSpiel does not have."""
        translation_of(game)

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        """ValueError: see `act_after`."""
        raise ValueError(
            "OpenSpiel's bots need all actions of a game: they play in matches and in the arena, "
            "which give them, and nowhere else"
        )

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        """See `HistoryAgent`."""
        translation = translation_of(game)
        seeds = rng.integers(_SEEDS, size=len(state.ply)).tolist()
        chosen = np.full(len(state.ply), game.noop, np.int64)
        for row, position in enumerate(game.positions(state)):
            legal = position.legal_actions()
            if len(legal) < 2:
                chosen[row] = legal[0] if legal else game.noop
                continue
            played = actions[row, : position.ply].tolist()
            reached = reduce(Position.step, played, game.start())
            if (reached.words, reached.to_move) != (position.words, position.to_move):
                raise ValueError(
                    f"row {row}: the actions {quote(played)} do not lead to {position.fen()!r}"
                )
            theirs = translation.state(played)
            if theirs.is_terminal():
                chosen[row] = legal[seeds[row] % len(legal)]
                continue
            bot = self.make_bot(translation.theirs, position.to_move, seeds[row])
            chosen[row] = translation.our_action(position.to_move, bot.step(theirs))
        return chosen


def openspiel_agent(
    bot: str, simulations: int = 200, c: float = 2.0, rollouts: int = 1, solve: bool = True
) -> OpenSpielAgent:
    """Return OpenSpiel's bot with a name in `BOTS`; see `MCTSBotMaker`.

    ValueError for an unknown name or a wrong parameter, ImportError without OpenSpiel.
    """
    if bot not in BOTS:
        raise ValueError(unknown("bot of OpenSpiel", bot, BOTS))
    maker = MCTSBotMaker(simulations, c, rollouts, solve)
    pyspiel()
    return OpenSpielAgent(maker)
