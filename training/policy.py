"""A trained policy as a player."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from boardenvs.games import Game
from boardenvs.state import IntArray, State


@dataclass(frozen=True)
class PolicyAgent:
    """Plays the policy's most probable legal action, or samples from its probabilities."""

    policy: MaskableActorCriticPolicy
    sample: bool = False

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        """A legal action for each row, (B,) int64; noop where the game is terminated."""
        masks = game.legal(state)
        masks[state.terminated, game.noop] = True
        observation = th.as_tensor(game.observe(state), device=self.policy.device)
        with th.no_grad():
            chances = self.policy.get_distribution(observation, masks).distribution
        assert isinstance(chances, MaskableCategorical)
        scores = chances.logits.cpu().numpy()
        if self.sample:
            # The Gumbel-max trick samples from the softmax, with chance from `rng`, not torch's.
            scores = scores + rng.gumbel(size=scores.shape)
        actions: IntArray = scores.argmax(axis=1)
        return actions


def load_policy(path: Path | str, *, sample: bool = False) -> PolicyAgent:
    """The player saved as a model of MaskablePPO, such as `runs/NAME/best_model.zip`.

    Such files hold pickled code: load only those that you trust.
    """
    model = MaskablePPO.load(path, device="cpu")
    return PolicyAgent(model.policy, sample=sample)
