"""Trained policies: networks that play and evaluate without a deep learning library.

`boardenvs.agents.policy_network` has their networks, `boardenvs.agents.policy_file` their files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boardenvs import games
from boardenvs.agents.policy_network import (
    ACTIVATIONS,
    Float32Array,
    PolicyNetwork,
    shapes_of,
)
from boardenvs.game.game import Game
from boardenvs.game.state import Array, BoolArray, Int8Array, IntArray, State
from boardenvs.game.views import over_symmetries, reorder
from boardenvs.utils.checks import check_name
from boardenvs.utils.threads import one_thread

_LARGEST = 1e6  # weights and biases; a network that learns has none of this size


@dataclass(frozen=True, eq=False)
class Policy:
    """A network for one game with one set of rules.

    TypeError or ValueError if the layers do not fit the game or each other, or are not finite.
    """

    game: Game
    network: PolicyNetwork
    notes: Mapping[str, Any] = field(default_factory=dict)  # on how it was made, as JSON values
    name: str = "the policy"  # what messages call it
    mover_view: bool = False  # whether it sees boards as their movers do; see `game/views.py`

    def __post_init__(self) -> None:
        if self.mover_view and self.game.mover_symmetry is None:
            raise ValueError(
                f"{self.name} sees boards as their movers do: {self.game.id} has no mover_symmetry"
            )
        known = ("relu",) if "channels" in self.network.size else ACTIVATIONS
        check_name("activation", self.network.size["activation"], known)
        layers, shapes = self.network.layers, shapes_of(self.game, self.network.size)
        if layers.keys() != shapes.keys():
            raise ValueError(f"the layers are {sorted(layers)}: they must be {sorted(shapes)}")
        for name, shape in shapes.items():
            weights, biases = layers[name]
            if not all(isinstance(x, np.ndarray) and x.dtype.kind == "f" for x in layers[name]):
                raise TypeError(f"layer {name}: weights and biases must be arrays of floats")
            if weights.shape != shape or biases.shape != shape[-1:]:
                raise ValueError(
                    f"layer {name} has weights {weights.shape} and biases {biases.shape}: it must "
                    f"have {shape} and ({shape[-1]},)"
                )
            if not all(np.abs(x).max(initial=0) < _LARGEST for x in layers[name]):
                raise ValueError(f"layer {name} has numbers that are not below {_LARGEST:g}")

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """Return the probability of each action, (B, A) float32, 0 if it is illegal, and the value
        to the side to move, (B,) float32 from -1 (a loss) to 1. Terminated rows give noop 1.
        """
        own, board = self.game, state._replace(ply=state.ply + self.plies_before(game))
        seen, views = own.views.by_movers(board) if self.mover_view else (board, None)
        logits, values = self.forward(own.observe(seen))
        if views is not None:
            reorder(logits, own.views.images, views)
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
        with one_thread():
            return self.network.outputs(batch.transpose(0, 3, 1, 2))

    def plies_before(self, game: Game) -> int:
        """Return `Game.plies_before` of its game; ValueError if that has other rules."""
        before = 0 if game is self.game else self.game.plies_before(game)
        if before is None:
            why = "a network is for the rules that it was trained with"
            games.check_same_rules(game, self.game, f"{self.name} plays", why)
        return before or 0

    def check_game(self, game: Game) -> None:
        """Raise ValueError if the policy was trained for another game or other rules."""
        self.plies_before(game)


@dataclass(frozen=True)
class PolicyAgent:
    """Plays the policy's most probable action, or with `sample` draws from its probabilities.

    With `symmetries`, probabilities and values are averaged over the board's symmetries.
    """

    policy: Policy
    sample: bool = False
    symmetries: bool = False

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        preference: Array = self.evaluate(game, state)[0]
        if self.sample:
            # The Gumbel-max trick: the largest of log p + noise is distributed as p.
            with np.errstate(divide="ignore"):
                noise = np.random.default_rng(rng).gumbel(size=preference.shape)
                preference = np.log(preference) + noise
        return preference.argmax(axis=1)

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """Return what `Policy.evaluate` does, averaged if `symmetries` is set."""
        evaluate = self.policy.evaluate
        return over_symmetries(evaluate, game, state) if self.symmetries else evaluate(game, state)

    def check_game(self, game: Game) -> None:
        self.policy.check_game(game)


def legal_or_noop(game: Game, state: State) -> BoolArray:
    """Return the legal actions, (B, A) bool, and noop in terminated rows, so that none is empty."""
    legal = game.legal(state)
    legal[state.terminated, game.noop] = True
    return legal
