"""TextArena: games of two players who write, `textarena.make("boardenvs/othello")`.

Importing this registers every game of this package; `TextBoardEnv(game)` is one of any other game.
"""

from __future__ import annotations

from typing import Any

import textarena as ta
from textarena.envs.registration import ENV_REGISTRY, register

from boardenvs import games
from boardenvs.game.contract import Game
from boardenvs.text.env import TextEnv


class TextBoardEnv(ta.Env):
    """A game of two; player 0 has the first role. The parameters are those of `TextEnv`.

    The player to move observes the whole prompt, which stands alone, and replies in words. A reply
    that is no legal move is asked for again, and after the last retry loses the game.
    """

    def __init__(self, game: Game | str = "othello", legal_moves: bool = True, **more: Any) -> None:
        self.text = TextEnv(game, opponent=None, legal_moves=legal_moves, **more)

    def reset(self, num_players: int = 2, seed: int | None = None) -> None:
        self.text.reset(seed=seed)
        roles = dict(enumerate(self.text.game.roles))
        self.state = ta.TwoPlayerState(num_players, seed=seed, error_allowance=None)
        self.state.reset(role_mapping=dict(roles), secret_roles=dict(roles))
        self._ask()

    def step(self, action: str) -> tuple[bool, ta.Info]:
        text, state = self.text, self.state
        player = state.current_player_id
        reading = text.step(action).reading
        kind = ta.ObservationType.PLAYER_ACTION
        state.add_observation(action, kind, from_id=player, to_id=player)
        state.step_info["reading"] = reading.kind
        state.made_invalid_move = reading.action is None  # which is no turn
        if text.result.forfeited:
            state.game_info[player]["invalid_move"] = True
            state.set_winner(1 - player, f"the reply was {reading.kind}: {reading.text}")
        elif text.done and text.reward:
            state.set_winner(int(text.reward < 0), "the game is over")
        elif text.done:
            state.set_draw("the game is a draw")
        told: tuple[bool, ta.Info] = state.step(rotate_player=False)
        if not text.done:
            self._ask()
        return told

    def _ask(self) -> None:
        """Show the prompt to the side to move."""
        player = self.text.role
        self.state.manually_set_current_player_id(player)
        kind = ta.ObservationType.PROMPT
        self.state.add_observation(self.text.prompt, kind, to_id=player)


for _name in games.BUILT_IN:
    if f"boardenvs/{_name}" not in ENV_REGISTRY:
        register(id=f"boardenvs/{_name}", entry_point=TextBoardEnv, game=_name)
