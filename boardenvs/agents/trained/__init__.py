"""The trained policies that come with the package, one for each game and rules.

`python -m training.ppo` and `training.gumbel` made them with settings in `configs/`; the notes of a
file tell how (`trained_policy(game).notes`). Reversi, which has Othello's rules, uses Othello's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boardenvs.agents.base import Agent, AgentByGame
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.policy_network import Float32Array
from boardenvs.agents.shield import policy_player
from boardenvs.game.game import Game
from boardenvs.game.state import State
from boardenvs.games.files import require_file

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class TrainedAgent(AgentByGame):
    """Plays any game for which the package has a trained policy: see `policy_player`."""

    sample: bool = False
    shield: bool = False
    symmetries: bool = False

    def player(self, game: Game) -> Agent:
        return policy_player(trained_policy(game), **vars(self))

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """Return what `PolicyAgent.evaluate` does."""
        return PolicyAgent(trained_policy(game), symmetries=self.symmetries).evaluate(game, state)


def policy_agent(
    path: str, sample: bool = False, shield: bool = False, symmetries: bool = False
) -> Agent:
    """Return the player of a policy file; PolicyFileError if it cannot be read."""
    return policy_player(load_policy(path), sample, shield, symmetries)


@cache
def trained_policy(game: Game) -> Policy:
    """Return the package's policy for the rules of this game; ValueError if there is none."""
    advice = (
        "in a checkout of boardenvs, python -m training.ppo CONFIG makes one, which "
        "policy:PATH plays"
    )
    policy = load_policy(require_file(FOLDER, game, "there is no trained policy", ".npz", advice))
    policy.check_game(game)
    return policy
