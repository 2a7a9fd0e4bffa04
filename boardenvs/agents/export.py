"""Policies of Stable-Baselines3 as policies that play without torch.

policy = policy_from_sb3(model, game)     # a PPO, A2C or MaskablePPO trained on our environments
save_policy(policy, "policy.npz")         # which "policy:policy.npz" plays
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_network import ACTIVATIONS, Layer, fully_connected
from boardenvs.game.game import Game


def policy_from_sb3(
    model: Any, game: Game, notes: Mapping[str, Any] | None = None, mover_view: bool = False
) -> Policy:
    """Return a copy of what a model has learnt, for the game that it was trained on.

    `model` is an algorithm of Stable-Baselines3 or sb3-contrib with an actor-critic policy
    ("MlpPolicy" of PPO, A2C, MaskablePPO), or that policy. Its layers must be fully connected, with
    ReLU or Tanh between them, of any number and width; policy and value may share them or not. A
    policy class of your own needs a method `as_policy(game, notes) -> Policy`. `notes` are JSON
    values to keep with the policy; `mover_view` is that of the boards on which the model learnt.

    TypeError for a model of another kind, ValueError for layers that have no such form and for a
    model that learnt behind `VecNormalize`: the policy would see other observations.
    """
    if hasattr(model, "get_vec_normalize_env") and model.get_vec_normalize_env():
        raise ValueError(
            "the model learnt behind VecNormalize, which a policy does not have: leave it out, "
            "observations are 0 and 1 and rewards from -1 to 1 already"
        )
    policy = getattr(model, "policy", model)
    if hasattr(policy, "as_policy"):
        return policy.as_policy(game, notes)
    for part in ("mlp_extractor", "action_net", "value_net", "features_extractor"):
        if not hasattr(policy, part):
            raise TypeError(
                f"{type(model).__name__} has no {part}: it must be an algorithm of "
                "Stable-Baselines3 with an actor-critic policy, such as PPO or MaskablePPO"
            )
    extractor = type(policy.features_extractor).__name__
    if extractor != "FlattenExtractor":
        raise ValueError(f"the features extractor is {extractor}: it must be FlattenExtractor")
    parts = policy.mlp_extractor
    towers = [*parts.policy_net, policy.action_net], [*parts.value_net, policy.value_net]
    names = {type(module).__name__ for tower in towers for module in tower} - {"Linear"}
    activation = "".join(names).lower() or "relu"
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"there are {sorted(names)} between the layers: it must be either ReLU or Tanh"
        )
    one, other = (
        [layer_of(module) for module in tower if type(module).__name__ == "Linear"]
        for tower in towers
    )
    first, *others = _side_by_side(one, other, activation)
    *hidden, output = [_planes_first(first, game), *others]
    weights, biases = (np.split(x, [game.num_actions], axis=-1) for x in output)
    layers = [*hidden, (weights[0], biases[0]), (weights[1], biases[1])]
    return Policy(
        game, fully_connected(layers, activation), dict(notes or {}), mover_view=mover_view
    )


def layer_of(module: Any) -> Layer:
    """Return a copy of the weights and biases of torch's linear layer or convolution."""
    weights, biases = (x.detach().cpu().float().numpy() for x in (module.weight, module.bias))
    return np.array(np.moveaxis(weights, (0, 1), (-1, -2)), order="C"), biases.copy()


def _side_by_side(one: list[Layer], other: list[Layer], activation: str) -> list[Layer]:
    """Merge two networks over the same inputs into one."""
    if len(one) != len(other):
        if activation != "relu":
            raise ValueError(
                f"policy and value have {len(one) - 1} and {len(other) - 1} layers with "
                f"{activation}: with it they must have the same number"
            )
        one, other = _padded(one, len(other)), _padded(other, len(one))
    layers: list[Layer] = []
    for (w, b), (v, c) in zip(one, other, strict=True):
        if layers:  # each reads its own layer before
            w, v = np.pad(w, ((0, len(v)), (0, 0))), np.pad(v, ((len(w), 0), (0, 0)))
        layers.append((np.hstack([w, v]), np.concatenate([b, c])))
    return layers


def _padded(layers: list[Layer], count: int) -> list[Layer]:
    """Add identity layers before the last; with ReLU they change nothing, inputs are 0 or more."""
    *hidden, output = layers
    width = len(output[0])
    same = np.eye(width, dtype=np.float32), np.zeros(width, np.float32)
    return [*hidden, *[same] * (count - len(layers)), output]


def _planes_first(layer: Layer, game: Game) -> Layer:
    """Reorder the layer's inputs from square by square to plane by plane."""
    weights, biases = layer
    squares, planes = game.board.size, game.observation_shape[2]
    if len(weights) != squares * planes:
        raise ValueError(
            f"the model has {len(weights)} inputs: an observation of {game.id} has "
            f"{squares * planes}"
        )
    return weights.reshape(squares, planes, -1).swapaxes(0, 1).reshape(weights.shape), biases
