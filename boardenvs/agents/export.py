"""Policies of Stable-Baselines3 as policies that play without torch.

policy = policy_from_sb3(model, game)     # a PPO, A2C or MaskablePPO trained on our environments
save_policy(policy, "policy.npz")         # which "policy:policy.npz" plays
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boardenvs.agents.policy import ACTIVATIONS, Layer, Policy
from boardenvs.game.contract import Game
from boardenvs.game.state import Array


def policy_from_sb3(model: Any, game: Game, notes: Mapping[str, Any] | None = None) -> Policy:
    """A copy of what a model has learnt, for the game that it was trained on.

    `model` is an algorithm of Stable-Baselines3 or sb3-contrib with an actor-critic policy
    ("MlpPolicy" of PPO, A2C, MaskablePPO), or that policy. Its layers must be fully connected, with
    ReLU or Tanh between them, of any number and width; policy and value may share them or not. A
    policy of one's own takes part where it has a method `as_policy(game, notes) -> Policy`. `notes`
    are JSON values to keep with the policy.

    TypeError for a model of another kind, ValueError for layers that have no such form.
    """
    policy = getattr(model, "policy", model)
    if hasattr(policy, "as_policy"):
        made: Policy = policy.as_policy(game, notes)
        return made
    for part in ("mlp_extractor", "action_net", "value_net", "features_extractor"):
        if not hasattr(policy, part):
            raise TypeError(
                f"{type(model).__name__} has no {part}: it must be an algorithm of "
                "Stable-Baselines3 with an actor-critic policy, such as PPO or MaskablePPO"
            )
    extractor = type(policy.features_extractor).__name__
    if extractor != "FlattenExtractor":
        raise ValueError(f"the features extractor is {extractor}: it must be FlattenExtractor")
    towers = [_tower(policy.mlp_extractor.policy_net), _tower(policy.mlp_extractor.value_net)]
    activations = {name for _, name in towers if name}
    if len(activations) > 1:
        raise ValueError(f"there are both {' and '.join(sorted(activations))}: one is written")
    activation = next(iter(activations), "relu")
    hidden = _side_by_side(towers[0][0], towers[1][0], activation)
    heads = _layer(policy.action_net), _layer(policy.value_net)
    if hidden:
        widths = [len(tower[-1][1]) for tower, _ in towers]
        heads = _beside(heads[0], widths[1], after=True), _beside(heads[1], widths[0], after=False)
    layers = [*hidden, *heads]
    for index in range(1 if hidden else 2):  # those that read the observation
        layers[index] = _planes_first(layers[index], game)
    return Policy(
        game,
        tuple(layers[:-2]),
        layers[-2],
        layers[-1],
        dict(notes or {}),
        activation=activation,
    )


def _tower(modules: Sequence[Any]) -> tuple[list[Layer], str]:
    """The fully connected layers of one network, and what stands between them."""
    layers, found = [], set()
    for module in modules:
        name = type(module).__name__
        if name == "Linear":
            layers.append(_layer(module))
        elif name.lower() in ACTIVATIONS:
            found.add(name.lower())
        else:
            raise ValueError(f"there is a {name}: layers must be Linear, ReLU or Tanh")
    if len(found) > 1:
        raise ValueError(f"the layers have both {' and '.join(sorted(found))}: one is written")
    return layers, next(iter(found), "")


def _layer(module: Any) -> Layer:
    if type(module).__name__ != "Linear":
        raise ValueError(f"an output is made by {type(module).__name__}: it must be Linear")
    weights, biases = (x.detach().cpu().float().numpy() for x in (module.weight, module.bias))
    return weights.T.copy(), biases.copy()


def _side_by_side(one: list[Layer], other: list[Layer], activation: str) -> list[Layer]:
    """Two networks over the same inputs as one, whose layers hold those of both."""
    if len(one) != len(other):
        if activation != "relu":
            raise ValueError(
                f"policy and value have {len(one)} and {len(other)} layers with {activation}: with "
                "it they must have the same number"
            )
        one, other = _padded(one, len(other)), _padded(other, len(one))
    found: list[Layer] = []
    for index, ((w, b), (v, c)) in enumerate(zip(one, other, strict=True)):
        weights = np.hstack([w, v]) if index == 0 else _blocks(w, v)
        found.append((weights, np.concatenate([b, c])))
    return found


def _padded(layers: list[Layer], count: int) -> list[Layer]:
    """More layers, which change nothing: what ReLU has left is not negative."""
    if not layers and count:
        raise ValueError("policy or value has no layer of its own, the other has: give both some")
    more = [(np.eye(len(layers[-1][1]), dtype=np.float32), np.zeros_like(layers[-1][1]))]
    return layers + more * max(0, count - len(layers))


def _blocks(a: Array, b: Array) -> Array:
    whole = np.zeros((a.shape[0] + b.shape[0], a.shape[1] + b.shape[1]), np.float32)
    whole[: a.shape[0], : a.shape[1]] = a
    whole[a.shape[0] :, a.shape[1] :] = b
    return whole


def _beside(head: Layer, others: int, *, after: bool) -> Layer:
    """The head where the outputs of another network stand after, or before, those that it reads."""
    weights, biases = head
    nothing = np.zeros((others, weights.shape[1]), np.float32)
    return np.vstack([weights, nothing] if after else [nothing, weights]), biases


def _planes_first(layer: Layer, game: Game) -> Layer:
    """The layer's inputs plane by plane, where they were square by square with all planes."""
    weights, biases = layer
    planes = game.observation_shape[2]
    if len(weights) != 64 * planes:
        raise ValueError(
            f"the model has {len(weights)} inputs: an observation of {game.id} has {64 * planes}"
        )
    by_square = weights.reshape(64, planes, -1)
    return np.ascontiguousarray(by_square.transpose(1, 0, 2)).reshape(64 * planes, -1), biases
