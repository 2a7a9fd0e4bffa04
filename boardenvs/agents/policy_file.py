"""Policies in files that are safe to open: NumPy archives (.npz) without pickled objects.

    metadata             text, JSON: format, game, rules, shapes, versions, notes on the training
    weight_NAME, bias_NAME   of each layer: (inputs, outputs), of a convolution (3, 3, inputs,
                         outputs), and (outputs,); `boardenvs.agents.policy_network` has the names

Weights are stored as float16, in older files perhaps as float32, and computed with as float32.
Reading a file runs no code of its maker and imports nothing that it names, and takes no more memory
than the network that it says it holds, which is bounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from boardenvs import games
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_network import (
    Layer,
    PolicyNetwork,
    shapes_of,
)
from boardenvs.game.game import Game
from boardenvs.utils.checks import cut, is_whole
from boardenvs.utils.npz import ArchiveKind, notes_in, read_array, read_json, shown, write_archive
from boardenvs.utils.version import __version__

FORMAT = 3
_READ = (1, 2, 3)  # the first had no activation, the second no towers

_STORED = ("float16", "float32")
_MOST_NUMBERS = 1 << 24  # weights and biases
_WIDEST = 1 << 14  # a layer

_EXPORT = (
    "load it and write save_policy(boardenvs.agents.export.policy_from_sb3(model, game), PATH)"
)


class PolicyFileError(ValueError):
    """A file that holds no policy of this version; the message names it and says why."""


_KIND = ArchiveKind("policy", "boardenvs", PolicyFileError)


def save_policy(policy: Policy, path: Path | str) -> None:
    """Write the policy to a file, its weights as float16.

    ValueError where a weight is not a finite number, or too large for float16.
    """
    arrays: dict[str, Any] = {"metadata": json.dumps(_describe(policy))}
    for layer, weights_and_biases in policy.network.layers.items():
        for kind, values in zip(("weight", "bias"), weights_and_biases, strict=True):
            name = f"{kind}_{layer}"
            with np.errstate(over="ignore"):
                arrays[name] = values.astype(np.float16)
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"{name} has values that float16 cannot hold")
    write_archive(Path(path), arrays)


def load_policy(path: Path | str) -> Policy:
    """Return the policy in a file of `save_policy`; PolicyFileError says why there is none."""
    path = Path(path)
    with _KIND.open(path) as archive:
        if "policy.pth" in archive.files:
            raise PolicyFileError(f"{shown(path)} is a model of Stable-Baselines3: {_EXPORT}")
        about = read_json(archive, "metadata")
        if not isinstance(about, dict) or "format" not in about:
            raise ValueError("its metadata name no format")
        if about["format"] not in _READ:
            raise PolicyFileError(
                f"{shown(path)} has format {cut(repr(about['format']))}, written by boardenvs "
                f"{cut(str(about.get('boardenvs')))}: this version reads formats 1 to {FORMAT}"
            )
        with _KIND.fitting(path):
            game = games.make_from_file(about["game"], **about["rules"])
            old = {"hidden": about.get("hidden"), "activation": about.get("activation", "relu")}
            size = about.get("network", old | {"flat": []})
            shapes = readable_shapes(game, size)
        layers = {name: _read_layer(archive, name, shape) for name, shape in shapes.items()}
        with _KIND.fitting(path):
            view = about.get("mover_view", False) is True
            return Policy(game, PolicyNetwork(layers, size), notes_in(about), shown(path), view)


def _describe(policy: Policy) -> dict[str, Any]:
    game = policy.game
    return {
        "format": FORMAT,
        **games.to_file(game),
        "network": dict(policy.network.size),
        "mover_view": policy.mover_view,
        "observation_shape": game.observation_shape,
        "num_actions": game.num_actions,
        "boardenvs": __version__,
        "numpy": np.__version__,
        "notes": dict(policy.notes),
    }


def readable_shapes(game: Game, size: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return `shapes_of` the size in a file's metadata; ValueError if it is wrong or too large."""
    flat, last = size["flat"], game.kernels.num_planes - 1
    if not all(is_whole(x, 0, last) for x in flat) or flat != sorted(set(flat)):
        raise ValueError(f"flat is {cut(repr(flat))}: it must be a list of planes, 0 to {last}")
    numbers = size["hidden"] if "hidden" in size else [size["channels"], size["blocks"]]
    if not isinstance(numbers, list) or not all(is_whole(x, 1, _WIDEST) for x in numbers):
        raise ValueError(
            f"the network has {cut(repr(numbers))}: it must have widths, or channels and blocks, "
            f"from 1 to {_WIDEST}"
        )
    shapes = shapes_of(game, size)
    total = sum(math.prod(shape) + shape[-1] for shape in shapes.values())
    if total > _MOST_NUMBERS:
        raise ValueError(f"there are {total} weights and biases: at most {_MOST_NUMBERS} are read")
    return shapes


def _read_layer(archive: NpzFile, layer: str, shape: tuple[int, ...]) -> Layer:
    """Return the weights and biases of a layer, each of the shape that it must have."""
    weights = read_array(archive, f"weight_{layer}", shape, _STORED)
    biases = read_array(archive, f"bias_{layer}", shape[-1:], _STORED)
    return weights.astype(np.float32), biases.astype(np.float32)
