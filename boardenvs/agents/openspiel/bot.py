"""Our players as OpenSpiel's bots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from boardenvs.agents.openspiel.games import translation_to
from boardenvs.agents.spec import agent_for
from boardenvs.game.contract import stack


class BoardBot(pyspiel.Bot):  # type: ignore[misc]  # OpenSpiel has no type information
    """An agent of ours that plays OpenSpiel's games; `as_openspiel_bot` makes one.

    It looks at the state that it is asked about alone, so games may be left and begun at any time.
    """

    def __init__(self, agent: object, game: Any, player_id: int, seed: int | None) -> None:
        pyspiel.Bot.__init__(self)
        if player_id not in (0, 1):
            raise ValueError(f"player_id is {player_id}: it must be 0 or 1")
        self._translation = translation_to(game)
        self._agent = agent_for(self._translation.ours, agent)
        self._player_id = player_id
        self._rng = np.random.default_rng(seed)

    def player_id(self) -> int:
        return self._player_id

    def provides_policy(self) -> bool:
        return False

    def restart(self) -> None:
        """Nothing: no game is remembered."""

    def restart_at(self, state: Any) -> None:
        """Nothing: no game is remembered."""

    def step(self, state: Any) -> int:
        """OpenSpiel's number of the action that the agent plays here; `state` is not changed.

        ValueError where it is not this player's turn, IllegalActionError where the agent's action
        is not legal.
        """
        if state.current_player() != self._player_id:
            raise ValueError(
                f"player {state.current_player()} is to move: this bot is player {self._player_id}"
            )
        translation = self._translation
        position = translation.position(state)
        action = int(self._agent.act(translation.ours, stack([position]), self._rng)[0])
        if not position.is_legal(action):
            raise position.illegal_action(action)
        return translation.their_action(state, action)


def as_openspiel_bot(agent: object, game: Any, player_id: int, seed: int | None = None) -> BoardBot:
    """A pyspiel.Bot that plays one side of a pyspiel.Game as our agent does.

    agent: a text such as "alphabeta:depth=4", an agent or a function (`boardenvs.agents.as_agent`).
    The same seed gives the same games; None seeds unpredictably. ValueError for a game that we have
    not, or the agent cannot play.

    ```python
    import numpy as np
    import pyspiel
    from boardenvs.agents.openspiel.bot import as_openspiel_bot
    from open_spiel.python.algorithms import evaluate_bots

    game = pyspiel.load_game("othello")
    bots = [as_openspiel_bot(text, game, i, seed=1) for i, text in enumerate(["greedy", "random"])]
    print(evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random))
    ```
    """
    return BoardBot(agent, game, player_id, seed)
