"""OpenSpiel's bots as players: "openspiel:mcts,simulations=200"."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from boardenvs.agents.openspiel.games import pyspiel, translation_of
from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State
from boardenvs.utils.checks import is_number, is_whole, quote, unknown

# From a pyspiel.Game, a player's number and a seed to a pyspiel.Bot.
MakeBot: TypeAlias = Callable[[Any, int, int], Any]

BOTS = ("mcts",)  # which texts of players can name

_SEEDS = 2**31 - 1
_MEMORY_MB = 1000


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
    in Lines of Action.

    ```python
    import boardenvs
    from boardenvs.agents.openspiel.player import MCTSBotMaker, OpenSpielAgent

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
            theirs = translation.state(actions[row, : position.ply].tolist())
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
