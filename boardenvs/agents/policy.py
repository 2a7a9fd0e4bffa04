"""Trained policies: networks that play and evaluate without a deep learning library.

A policy is a small network: fully connected layers (ReLU or Tanh) over an observation's planes, and
over these one output an action and one for the value. The inputs are the observation's planes,
one after the other, each square by square. `boardenvs.agents.policy_file` keeps policies in files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from boardenvs import games
from boardenvs.game.game import Game
from boardenvs.game.state import Array, BoolArray, Int8Array, IntArray, State
from boardenvs.utils.checks import check_name
from boardenvs.utils.threads import one_thread

Float32Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Layer: TypeAlias = tuple[Float32Array, Float32Array]  # weights (inputs, outputs), biases (outputs,)

_LARGEST = 1e6  # weights and biases; a network that learns has none of this size

# Applied after each hidden layer, in place.
ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0, out=x), "tanh": lambda x: np.tanh(x, out=x)}


@dataclass(frozen=True, eq=False)
class Policy:
    """A network for one game with one set of rules.

    TypeError or ValueError if the layers do not fit the game or each other, or are not finite.
    """

    game: Game
    hidden: tuple[Layer, ...]
    policy_head: Layer
    value_head: Layer
    notes: Mapping[str, Any] = field(default_factory=dict)  # on how it was made, as JSON values
    name: str = "the policy"  # what messages call it
    activation: str = "relu"  # after each hidden layer: "relu" or "tanh"

    def __post_init__(self) -> None:
        check_name("activation", self.activation, ACTIVATIONS)
        shapes = layer_shapes(self.game, [len(biases) for _, biases in self.hidden])
        for (name, shape), layer in zip(shapes.items(), self.layers, strict=True):
            weights, biases = layer
            if not all(isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in layer):
                raise TypeError(f"layer {name}: weights and biases must be arrays of floats")
            if weights.shape != shape or biases.shape != shape[1:]:
                raise ValueError(
                    f"layer {name} has weights {weights.shape} and biases {biases.shape}: it must "
                    f"have {shape} and ({shape[1]},)"
                )
            if not all(np.abs(x).max(initial=0) < _LARGEST for x in layer):
                raise ValueError(f"layer {name} has numbers that are not below {_LARGEST:g}")

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All layers: the hidden ones, the policy's head, the value's head."""
        return (*self.hidden, self.policy_head, self.value_head)

    @property
    def arrays(self) -> dict[str, Float32Array]:
        """All weights and biases by name: "weight_0", "bias_0", to "weight_value", "bias_value"."""
        names = layer_shapes(self.game, [0] * len(self.hidden))
        return {
            f"{kind}_{name}": values
            for name, layer in zip(names, self.layers, strict=True)
            for kind, values in zip(("weight", "bias"), layer, strict=True)
        }

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """Return the probability of each action, (B, A) float32, 0 if it is illegal, and the value
        to the side to move, (B,) float32 from -1 (a loss) to 1. Terminated rows give noop 1.
        """
        self.check_game(game)
        logits, values = self.forward(game.observe(state))
        logits[~legal_or_noop(game, state)] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        probabilities = np.exp(logits, out=logits)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities, np.clip(values, -1, 1)

    def forward(self, observation: Int8Array) -> tuple[Float32Array, Float32Array]:
        """Return the network's outputs for observations (B, R, F, C): logits of all actions, legal
        or not, (B, A) float32, and values, (B,) float32, which may lie outside -1 to 1.
        """
        batch, shape = np.asarray(observation), self.game.observation_shape
        if batch.shape[1:] != shape:
            raise ValueError(f"observations are {batch.shape}: they must be (B, *{shape})")
        planes_first = batch.transpose(0, 3, 1, 2)  # no -1 for inputs: there may be no rows
        x = planes_first.reshape(len(batch), math.prod(shape)).astype(np.float32)
        with one_thread():
            return outputs(self, x, ACTIVATIONS[self.activation])

    def check_game(self, game: Game) -> None:
        """Raise ValueError if the policy was trained for another game or other rules."""
        why = "a network is for the rules that it was trained with"
        games.check_same_rules(game, self.game, f"{self.name} plays", why)


@dataclass(frozen=True)
class PolicyAgent:
    """Plays the policy's most probable action, or with `sample` draws from its probabilities."""

    policy: Policy
    sample: bool = False

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        preference: Array = self.policy.evaluate(game, state)[0]
        if self.sample:
            # The Gumbel-max trick: the largest of log p + noise is distributed as p.
            with np.errstate(divide="ignore"):
                noise = np.random.default_rng(rng).gumbel(size=preference.shape)
                preference = np.log(preference) + noise
        actions: IntArray = preference.argmax(axis=1)
        return actions

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """Return what `Policy.evaluate` does."""
        return self.policy.evaluate(game, state)

    def check_game(self, game: Game) -> None:
        self.policy.check_game(game)


def outputs(network: Any, x: Any, activation: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return the logits (..., A) and values (...,) of a network, in NumPy or JAX, for inputs x
    (..., I); `network` has the layers of a `Policy`.
    """
    for weights, biases in network.hidden:
        x = x @ weights
        x += biases
        x = activation(x)
    (policy, policy_bias), (value, value_bias) = network.policy_head, network.value_head
    return x @ policy + policy_bias, (x @ value + value_bias)[..., 0]


def legal_or_noop(game: Game, state: State) -> BoolArray:
    """Return the legal actions, (B, A) bool, and noop in terminated rows, so that none is empty."""
    legal = game.legal(state)
    legal[state.terminated, game.noop] = True
    return legal


def layer_shapes(game: Game, hidden: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Return the shape of each layer's weights, inputs and outputs, by its name: hidden layers of
    these widths from "0", and "policy" and "value" over the last of them.
    """
    widths = [math.prod(game.observation_shape), *hidden]
    names = [*map(str, range(len(hidden))), "policy", "value"]
    inputs, outputs = [*widths, widths[-1]], [*hidden, game.num_actions, 1]
    return dict(zip(names, zip(inputs, outputs, strict=True), strict=True))
