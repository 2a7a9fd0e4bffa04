"""Policies in files that are safe to open: NumPy archives (.npz) without pickled objects.

    metadata             text, JSON: format, game, rules, shapes, versions, notes on the training
    weight_0, bias_0     (inputs, outputs) and (outputs,), of each hidden layer
    weight_policy, ...   of the outputs for actions, A of them
    weight_value, ...    of the output for the value

Weights may be stored as float16; they are computed with as float32. Reading a file runs no code of
its maker and imports nothing that it names, and takes no more memory than the network that it says
it holds, which is bounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from boardenvs import games
from boardenvs.agents.policy import Layer, Policy, layer_shapes
from boardenvs.game.game import Game
from boardenvs.utils.checks import check_name, cut, is_whole
from boardenvs.utils.npz import ArchiveKind, notes_in, read_array, read_json, shown, write_archive
from boardenvs.utils.version import __version__

FORMAT = 2
_READ = (1, 2)  # the first had no activation: all were ReLU

_STORED = ("float16", "float32")
_MOST_NUMBERS = 1 << 24  # weights and biases

_EXPORT = (
    "load it and write save_policy(boardenvs.agents.export.policy_from_sb3(model, game), PATH)"
)


class PolicyFileError(ValueError):
    """A file that holds no policy of this version; the message names it and says why."""


_KIND = ArchiveKind("policy", "boardenvs", PolicyFileError)


def save_policy(policy: Policy, path: Path | str, *, stored: str = "float16") -> None:
    """Write the policy to a file; its weights as `stored`, "float16" or "float32".

    ValueError where a weight is not a finite number, or too large for float16.
    """
    check_name("type of stored weights", stored, _STORED)
    arrays: dict[str, Any] = {"metadata": json.dumps(_describe(policy))}
    for name, values in policy.arrays.items():
        with np.errstate(over="ignore"):
            arrays[name] = values.astype(stored)
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} has values that {stored} cannot hold")
    write_archive(Path(path), arrays)


def load_policy(path: Path | str) -> Policy:
    """Return the policy in a file of `save_policy`; PolicyFileError says why there is none."""
    path = Path(path)
    with _KIND.open(path) as archive:
        if "policy.pth" in archive.files:
            raise PolicyFileError(f"{shown(path)} is a model of Stable-Baselines3: {_EXPORT}")
        about = read_json(archive, "metadata")
        if not isinstance(about, dict) or not {"format", "hidden"} <= about.keys():
            raise ValueError("its metadata name no format, or no layers")
        if about["format"] not in _READ:
            raise PolicyFileError(
                f"{shown(path)} has format {cut(repr(about['format']))}, written by boardenvs "
                f"{cut(str(about.get('boardenvs')))}: this version reads formats 1 and {FORMAT}"
            )
        with _KIND.fitting(path):
            game = games.make_from_file(about["game"], **about["rules"])
            shapes = readable_shapes(game, about["hidden"])
        layers = (_read_layer(archive, name, shape) for name, shape in shapes.items())
        *hidden, policy, value = layers
        with _KIND.fitting(path):
            notes, activation = notes_in(about), about.get("activation", "relu")
            return Policy(game, tuple(hidden), policy, value, notes, shown(path), activation)


def _describe(policy: Policy) -> dict[str, Any]:
    game = policy.game
    return {
        "format": FORMAT,
        **games.to_file(game),
        "activation": policy.activation,
        "hidden": [len(biases) for _, biases in policy.hidden],
        "observation_shape": game.observation_shape,
        "num_actions": game.num_actions,
        "boardenvs": __version__,
        "numpy": np.__version__,
        "notes": dict(policy.notes),
    }


def readable_shapes(game: Game, hidden: Any) -> dict[str, tuple[int, int]]:
    """Return `layer_shapes` of the widths in a file; ValueError if they are wrong or too large."""
    if not isinstance(hidden, list) or not all(is_whole(x, 1, _MOST_NUMBERS) for x in hidden):
        raise ValueError(f"hidden is {cut(repr(hidden))}: it must be a list of layers' widths")
    shapes = layer_shapes(game, hidden)
    numbers = sum((rows + 1) * columns for rows, columns in shapes.values())
    if numbers > _MOST_NUMBERS:
        raise ValueError(
            f"there are {numbers} weights and biases: at most {_MOST_NUMBERS} are read"
        )
    return shapes


def _read_layer(archive: NpzFile, layer: str, shape: tuple[int, int]) -> Layer:
    """Return the weights and biases of a layer, each of the shape that it must have."""
    weights = read_array(archive, f"weight_{layer}", shape, _STORED)
    biases = read_array(archive, f"bias_{layer}", shape[1:], _STORED)
    return weights.astype(np.float32), biases.astype(np.float32)
