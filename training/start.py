"""A policy with wider layers, which a network that learns on may begin as."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boardenvs.agents.policy import Policy

# How far the copies of a unit are moved apart, relative to its weights: else they stay the same.
_APART = 0.02


def widened(policy: Policy, hidden: tuple[int, ...], rng: np.random.Generator) -> Policy:
    """The policy with layers of these widths, none of them narrower than its own, which gives what
    it gave.

    A wider layer has copies of the units, which share what a unit gave (Net2Net, Chen et al.
    2016), moved apart a little.
    """
    layers = list(policy.layers)
    for index, width in enumerate(hidden):
        weights, biases = layers[index]
        units = len(biases)
        if width == units:
            continue
        more = np.resize(rng.permutation(units), width - units)
        source = np.concatenate([np.arange(units), more])
        part = rng.uniform(0.3, 0.7, width)
        part /= np.bincount(source, part)[source]
        noise = 1 + _APART * rng.standard_normal((len(weights), width))
        noise[:, :units] = 1
        layers[index] = (weights[:, source] * noise).astype(np.float32), biases[source]
        readers = layers[index + 1 :] if index == len(hidden) - 1 else [layers[index + 1]]
        for place, (w, b) in enumerate(readers, start=index + 1):
            layers[place] = (w[source] * part[:, None]).astype(np.float32), b
    *wide, policy_head, value_head = layers
    return replace(policy, hidden=tuple(wide), policy_head=policy_head, value_head=value_head)
