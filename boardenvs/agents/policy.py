"""Trained policies as files that run without a deep learning library, and as players.

A policy is a small network: fully connected layers (ReLU) over the planes of an observation, and
over these one output an action and one for the value. Its file is a NumPy archive (.npz) without
pickled objects, so loading one runs no code of its maker:

    metadata             text, JSON: format, game, rules, shapes, versions, notes on the training
    weight_0, bias_0     (inputs, outputs) and (outputs,), of each hidden layer
    weight_policy, ...   of the outputs for actions, A of them
    weight_value, ...    of the output for the value

The inputs are the observation's planes, one after the other, each square by square. Weights may be
stored as float16; they are computed with as float32.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from boardenvs import games
from boardenvs.game.contract import Game
from boardenvs.game.state import Array, BoolArray, Int8Array, IntArray, State
from boardenvs.utils.checks import check_name
from boardenvs.utils.files import write_atomically

FORMAT = 1

Float32Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Layer: TypeAlias = tuple[Float32Array, Float32Array]  # weights (inputs, outputs), biases (outputs,)

_HEADS = ("policy", "value")
_STORED = ("float16", "float32")

# What NumPy, zipfile and json raise where a file is cut, changed or of another kind.
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, EOFError, NotImplementedError,
           zipfile.BadZipFile, zlib.error)  # fmt: skip


class PolicyFileError(ValueError):
    """A file that holds no policy of this version; the message names it and says why."""


@dataclass(frozen=True, eq=False)
class Policy:
    """A network that knows what to play in one game, under one set of rules.

    ValueError where the layers do not fit the game or one another.
    """

    game: Game
    hidden: tuple[Layer, ...]
    policy_head: Layer
    value_head: Layer
    notes: Mapping[str, Any] = field(default_factory=dict)  # on how it was made, as JSON values
    name: str = "the policy"  # what messages call it

    def __post_init__(self) -> None:
        width = int(np.prod(self.game.observation_shape))
        heads = ((self.policy_head, self.game.num_actions), (self.value_head, 1))
        for weights, biases in self.hidden:
            _check_layer(weights, biases, width, len(biases))
            width = len(biases)
        for (weights, biases), outputs in heads:
            _check_layer(weights, biases, width, outputs)

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """The probability of each action, (B, A) float32, 0 where it is illegal, and the value to
        the side to move, (B,) float32 from -1 (a loss) to 1. Terminated rows give noop 1.
        """
        self.check_game(game)
        logits, values = self.forward(game.observe(state))
        logits[~legal_or_noop(game, state)] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits, out=logits)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances, np.clip(values, -1, 1)

    def forward(self, observation: Int8Array) -> tuple[Float32Array, Float32Array]:
        """The network's outputs for observations (B, 8, 8, C): logits of all actions, legal or not,
        (B, A) float32, and values, (B,) float32, which may lie outside -1 to 1.
        """
        planes_first = observation.transpose(0, 3, 1, 2)
        inputs = math.prod(planes_first.shape[1:])  # no -1 for it: there may be no rows
        x = planes_first.reshape(len(planes_first), inputs).astype(np.float32)
        for weights, biases in self.hidden:
            x = x @ weights
            x += biases
            np.maximum(x, 0, out=x)
        (policy, policy_bias), (value, value_bias) = self.policy_head, self.value_head
        logits: Float32Array = x @ policy + policy_bias
        values: Float32Array = (x @ value + value_bias)[:, 0]
        return logits, values

    def check_game(self, game: Game) -> None:
        """ValueError where the policy was trained for another game or other rules."""
        if game is not self.game and not game.has_rules_of(self.game):
            raise ValueError(
                f"{self.name} plays {games.spec_of(self.game)}, not {games.spec_of(game)}: a "
                "network is for the rules that it was trained with"
            )


@dataclass(frozen=True)
class PolicyAgent:
    """Plays the policy's most probable action, or with `sample` draws from its probabilities."""

    policy: Policy
    sample: bool = False

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        liking: Array = self.policy.evaluate(game, state)[0]
        if self.sample:
            # The Gumbel-max trick: the largest of log p + noise is distributed as p.
            with np.errstate(divide="ignore"):
                liking = np.log(liking) + rng.gumbel(size=liking.shape)
        actions: IntArray = liking.argmax(axis=1)
        return actions

    def evaluate(self, game: Game, state: State) -> tuple[Float32Array, Float32Array]:
        """See `Policy.evaluate`."""
        return self.policy.evaluate(game, state)

    def check_game(self, game: Game) -> None:
        self.policy.check_game(game)


def legal_or_noop(game: Game, state: State) -> BoolArray:
    """The legal actions, (B, A) bool, and noop in terminated rows, so that none is empty."""
    legal = game.legal(state)
    legal[state.terminated, game.noop] = True
    return legal


# ---- files -------------------------------------------------------------------------------------


def save_policy(policy: Policy, path: Path, *, stored: str = "float16") -> None:
    """Write the policy to a file; its weights as `stored`, "float16" or "float32".

    ValueError where a weight is no finite number, or too large for float16.
    """
    check_name("type of stored weights", stored, _STORED)
    arrays: dict[str, Any] = {"metadata": json.dumps(_describe(policy))}
    for name, (weights, biases) in _named_layers(policy).items():
        for kind, values in (("weight", weights), ("bias", biases)):
            with np.errstate(over="ignore"):
                array = values.astype(stored)
            if not np.isfinite(array).all():
                raise ValueError(f"{kind}_{name} has values that {stored} cannot hold")
            arrays[f"{kind}_{name}"] = array
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def load_policy(path: Path | str) -> Policy:
    """The policy in a file of `save_policy`; PolicyFileError, which says why, where there is none.

    Loading runs no code from the file.
    """
    path = Path(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(str(arrays["metadata"]))
        written = about["format"]
    except FileNotFoundError:
        raise PolicyFileError(f"there is no policy file {path}") from None
    except OSError as error:
        raise PolicyFileError(f"policy file {path} cannot be read: {error}") from None
    except _DAMAGE as error:
        raise PolicyFileError(
            f"{path} is no policy file, or is damaged ({error}): it must be an .npz file as "
            "boardenvs writes it"
        ) from None
    if written != FORMAT:
        raise PolicyFileError(
            f"{path} has format {written!r}, written by boardenvs {about.get('boardenvs')}: this "
            f"version reads format {FORMAT}"
        )
    try:
        return _assemble(about, arrays, str(path))
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyFileError(f"{path} does not fit this version of boardenvs: {error}") from None


def _describe(policy: Policy) -> dict[str, Any]:
    from boardenvs import __version__  # which imports this module

    game, name = policy.game, games.name_of(policy.game)
    return {
        "format": FORMAT,
        "game": name,
        "rules": {key: getattr(game, key) for key in games.parameters(name)},
        "hidden": [len(biases) for _, biases in policy.hidden],
        "observation_shape": game.observation_shape,
        "num_actions": game.num_actions,
        "boardenvs": __version__,
        "numpy": np.__version__,
        "notes": dict(policy.notes),
    }


def _assemble(about: dict[str, Any], arrays: Mapping[str, Any], name: str) -> Policy:
    def layer(key: str) -> Layer:
        pair = arrays[f"weight_{key}"], arrays[f"bias_{key}"]
        for array in pair:
            if array.dtype.name not in _STORED or not np.isfinite(array).all():
                raise ValueError(f"layer {key} holds other things than finite numbers")
        return pair[0].astype(np.float32), pair[1].astype(np.float32)

    return Policy(
        games.make_from_file(about["game"], **about["rules"]),
        tuple(layer(str(i)) for i in range(len(about["hidden"]))),
        layer("policy"),
        layer("value"),
        about["notes"],
        name,
    )


def _named_layers(policy: Policy) -> dict[str, Layer]:
    hidden = {str(i): layer for i, layer in enumerate(policy.hidden)}
    return {**hidden, **dict(zip(_HEADS, (policy.policy_head, policy.value_head), strict=True))}


def _check_layer(weights: Float32Array, biases: Float32Array, inputs: int, outputs: int) -> None:
    if weights.shape != (inputs, outputs) or biases.shape != (outputs,):
        raise ValueError(
            f"a layer has weights {weights.shape} and biases {biases.shape}: it must have "
            f"({inputs}, {outputs}) and ({outputs},)"
        )
