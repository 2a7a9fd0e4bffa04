"""A policy with wider layers, which a network that learns on may begin as."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boardenvs.agents.policy import Layer, Policy

# How far the copies of a unit are moved apart, relative to its weights: else they stay the same.
_APART = 0.02


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
