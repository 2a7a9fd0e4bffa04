"""What a network begins as: untrained, or as a policy that was trained before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from pydantic import model_validator

from boardenvs.agents.policy import Layer, Policy
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import trained_policy
from training.settings import RunSettings

SCRATCH, TRAINED = "scratch", "trained"

# How far the copies of a unit are moved apart, relative to its weights: else they stay the same.
_APART = 0.02


class StartSettings(RunSettings, ABC):
    """The settings of a training whose network may begin as a policy; `configs/othello.yaml` says
    what each means.
    """

    start: str = SCRATCH

    hidden_setting: ClassVar[str]  # where the layers' widths are set

    @property
    @abstractmethod
    def hidden(self) -> tuple[int, ...]:
        """The widths of the layers that policy and value share."""

    @model_validator(mode="after")
    def _possible_start(self) -> Self:
        self._policy_to_start()
        return self

    def start_policy(self) -> Policy | None:
        """The policy that the network begins as, with layers as wide; None where it is untrained.

        ValueError where there is no such policy, or it does not fit.
        """
        policy = self._policy_to_start()
        if policy is None:
            return None
        return widened(policy, self.hidden, np.random.default_rng([self.seed, 3]))

    def _policy_to_start(self) -> Policy | None:
        if self.start == SCRATCH:
            return None
        game, hidden = self.make_game(), self.hidden
        policy = trained_policy(game) if self.start == TRAINED else load_policy(self.start)
        policy.check_game(game)
        widths = tuple(len(biases) for _, biases in policy.hidden)
        wider = [a > b for a, b in zip(widths, hidden, strict=False)]
        if policy.activation != "relu" or len(widths) != len(hidden) or any(wider):
            raise ValueError(
                f"start is {self.start!r}, with layers of {widths} and {policy.activation}: it "
                f"must have relu and as many layers as {self.hidden_setting}, {hidden}, none of "
                "them wider"
            )
        return policy


def widened(policy: Policy, hidden: tuple[int, ...], rng: np.random.Generator) -> Policy:
    """The policy with layers of these widths, none of them narrower than its own, which gives what
    it gave.

    A wider layer has copies of the units, which share what a unit gave (Net2Net, Chen et al.
    2016), moved apart a little.
    """
    layers, heads = list(policy.hidden), [policy.policy_head, policy.value_head]
    for index, width in enumerate(hidden):
        is_last = index == len(hidden) - 1
        after = heads if is_last else [layers[index + 1]]
        layers[index], wider = _widen(layers[index], after, width, rng)
        if is_last:
            heads = wider
        else:
            layers[index + 1] = wider[0]
    return replace(policy, hidden=tuple(layers), policy_head=heads[0], value_head=heads[1])


def _widen(
    layer: Layer, after: list[Layer], width: int, rng: np.random.Generator
) -> tuple[Layer, list[Layer]]:
    """The layer with `width` units, and the layers that read it, which then give what they gave."""
    weights, biases = layer
    units = len(biases)
    if width == units:
        return layer, after
    more = np.resize(rng.permutation(units), width - units)
    source = np.concatenate([np.arange(units), more])
    part = rng.uniform(0.3, 0.7, width)
    part /= np.bincount(source, part)[source]
    noise = 1 + _APART * rng.standard_normal((len(weights), width))
    noise[:, :units] = 1
    wide = ((weights[:, source] * noise).astype(np.float32), biases[source])
    return wide, [((w[source] * part[:, None]).astype(np.float32), b) for w, b in after]
