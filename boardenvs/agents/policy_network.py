"""The networks of policies: their layers, and what they compute in NumPy, JAX or torch.

A network has fully connected layers; or it is a residual tower, which sees which squares are
neighbours: convolutions of 3x3 squares in blocks (He et al. 2016), each second one with a global
pool, the mean of each channel over the board (Wu 2019). A tower's logits of actions by squares are
maps over the board. All its other logits, and the value, are computed from a summary: some numbers
of each square, and the mean of each channel.

In the functions here `network` is a `PolicyNetwork`, or anything else with its `layers` and `size`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from boardenvs.game.game import Game
from boardenvs.kernel import get_backend

if TYPE_CHECKING:
    from boardenvs.agents.compiled_tower import CompiledTrunk

Float32Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
# Weights (inputs, outputs), of a convolution (3, 3, inputs, outputs), and biases (outputs,).
Layer: TypeAlias = tuple[Float32Array, Float32Array]
Function: TypeAlias = Callable[..., Any]

ACTIVATIONS = ("relu", "tanh")

# The input of a flat plane of fully connected layers, relative to one square of another plane.
FLAT_SCALE = 4.0

_LOCAL_MAPS = 8  # numbers of each square in a tower's summary
_VALUE_WIDTH = 64  # the layer below a tower's value
_AT_ONCE = 64  # boards that NumPy computes: what lies between layers stays in the cache


@dataclass(frozen=True, eq=False)
class PolicyNetwork:
    """The layers, by the names that `shapes_of` has for this `size`.

    `size` has the widths of `hidden` layers, or a tower's numbers of `channels` and `blocks`; the
    `flat` planes, which are the same on all squares and enter as one number each; and the
    `activation` of hidden layers, "relu" or "tanh".
    """

    layers: Mapping[str, Layer]
    size: Mapping[str, Any]

    def outputs(self, planes: Any, library: Library | None = None) -> tuple[Any, Any]:
        """Return the logits of all actions, legal or not, (B, A) float32, and the values to the
        side that sees each board, (B,) float32, for planes (B, C, R, F); NumPy's by default.
        """
        library, flat = library or NUMPY, self.size["flat"]
        full = [plane for plane in range(planes.shape[1]) if plane not in flat]
        inputs = planes[:, full], planes[:, flat, 0, 0]
        shared = features(library, self, *(x.astype(np.float32) for x in inputs))
        return logits(library, self, shared), values(library, self, shared)

    @cached_property
    def compiled_trunk(self) -> CompiledTrunk | None:
        """The trunk in machine code, by Numba; None if the channels do not fit its vectors."""
        from boardenvs.agents.compiled_tower import CompiledTrunk
        from boardenvs.kernel.products import LANES

        return None if self.size["channels"] % LANES else CompiledTrunk(self)


def fully_connected(layers: Sequence[Any], activation: str = "relu") -> PolicyNetwork:
    """Return a network of hidden layers over all planes, plane by plane (C, R, F) and not as
    observations are, and, the last two, the layers of policy and value.
    """
    hidden = [len(biases) for _, biases in layers[:-2]]
    names = [*map(str, range(len(hidden))), "policy", "value"]
    size = {"hidden": hidden, "flat": [], "activation": activation}
    return PolicyNetwork(dict(zip(names, layers, strict=True)), size)


def shapes_of(game: Game, size: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shape of each layer's weights."""
    flat, squares = len(size["flat"]), game.board.size
    full = game.kernels.num_planes - flat
    if "hidden" in size:
        widths = [full * squares + flat, *size["hidden"]]
        hidden = {str(i): pair for i, pair in enumerate(itertools.pairwise(widths))}
        return {**hidden, "policy": (widths[-1], game.num_actions), "value": (widths[-1], 1)}
    channels, maps = size["channels"], action_maps(game)
    summary, convolution = _LOCAL_MAPS * squares + channels, (3, 3, channels, channels)
    block = {"first": convolution, "second": convolution}
    return {
        "stem": (3, 3, full, channels),
        **({"flat": (flat, channels)} if flat else {}),
        **{f"{name}_{i}": shape for i in range(size["blocks"]) for name, shape in block.items()},
        **{f"pool_{i}": (channels, channels) for i in range(1, size["blocks"], 2)},
        "maps": (channels, maps + _LOCAL_MAPS),
        "policy": (summary, game.num_actions - maps * squares),
        "hidden": (summary, _VALUE_WIDTH),
        "value": (_VALUE_WIDTH, 1),
    }


def action_maps(game: Game) -> int:
    """Return the number of parts of the actions, from the first, that have an action a square."""
    sizes = [*game.action_sizes, 0]
    return next(part for part, size in enumerate(sizes) if size != game.board.size)


# ---- what networks compute ----------------------------------------------------------------------


class Library(NamedTuple):
    """Functions of a library of arrays. Boards are (B, R, F, channels)."""

    dense: Function  # of x (..., inputs) and a layer: (..., outputs)
    convolve: Function  # of boards and a layer: boards, as if there were zeros around them
    trunk: Function  # `trunk`, or a faster function that computes the same
    mean: Function  # of boards: (B, channels)
    tile: Function  # of x (B, n) and (1, k): (B, k * n), each row repeated
    relu: Function
    tanh: Function
    concatenate: Function
    transpose: Function


def features(library: Library, network: Any, full: Any, flat: Any) -> tuple[Any, Any]:
    """Return what logits and values are computed from: the logits of a tower's actions by squares,
    (B, n), else None; and the summary, (B, m).

    `full` are the planes that are not flat, (B, N, R, F), `flat` numbers of the others, (B, M).
    """
    layers, size = network.layers, network.size
    if "hidden" in size:
        x = _flatten(full)
        if size["flat"]:
            x = library.concatenate([x, flat * FLAT_SCALE], 1)
        for i in range(len(size["hidden"])):
            x = getattr(library, size["activation"])(library.dense(x, layers[str(i)]))
        return None, x
    x = library.trunk(library, network, full, flat)
    maps = _flatten(library.transpose(library.dense(x, layers["maps"]), (0, 3, 1, 2)))
    local = _LOCAL_MAPS * math.prod(x.shape[1:3])
    summary = library.concatenate([library.relu(maps[:, -local:]), library.mean(x)], 1)
    return maps[:, :-local], summary


def trunk(library: Library, network: Any, full: Any, flat: Any) -> Any:
    """Return a tower's channels of each square, (B, R, F, channels), 0 or more."""
    convolve, mean, relu = library.convolve, library.mean, library.relu
    layers = network.layers
    x = convolve(library.transpose(full, (0, 2, 3, 1)), layers["stem"])
    if network.size["flat"]:
        x = _add(library, x, flat, layers["flat"])
    for i in range(network.size["blocks"]):
        before = relu(x)
        y = convolve(before, layers[f"first_{i}"])
        if i % 2:
            y = _add(library, y, mean(before), layers[f"pool_{i}"])
        x = x + convolve(relu(y), layers[f"second_{i}"])
    return relu(x)


def _add(library: Library, boards: Any, x: Any, layer: Any) -> Any:
    """Return boards plus, on every square, the layer's output for x, (B, inputs).

    In bfloat16 torch takes four times as long to add what it has to repeat.
    """
    squares = math.prod(boards.shape[1:3])
    return boards + library.tile(library.dense(x, layer), (1, squares)).reshape(boards.shape)


def logits(library: Library, network: Any, features: tuple[Any, Any]) -> Any:
    """Return the logits of all actions, (B, A)."""
    by_square, summary = features
    others = library.dense(summary, network.layers["policy"])
    return others if by_square is None else library.concatenate([by_square, others], 1)


def values(library: Library, network: Any, features: tuple[Any, Any]) -> Any:
    """Return the values, (B,)."""
    x, layers = features[1], network.layers
    if "hidden" in layers:
        x = library.relu(library.dense(x, layers["hidden"]))
    return library.dense(x, layers["value"])[:, 0]


def _flatten(x: Any) -> Any:
    return x.reshape(len(x), math.prod(x.shape[1:]))  # there may be no rows


# ---- in NumPy and JAX ---------------------------------------------------------------------------


def array_library(xp: Any) -> Library:
    """Return the functions in numpy or jax.numpy."""
    return Library(
        dense=_dense,
        convolve=partial(_convolve, xp),
        trunk=trunk,
        mean=lambda x: x.mean((1, 2)),
        tile=xp.tile,
        relu=lambda x: xp.maximum(x, 0),
        tanh=xp.tanh,
        concatenate=xp.concatenate,
        transpose=xp.transpose,
    )


def _dense(x: Any, layer: Any) -> Any:
    return x @ layer[0] + layer[1]


def _convolve(xp: Any, x: Any, layer: Any) -> Any:
    (weights, biases), (ranks, files) = layer, x.shape[1:3]
    padded = xp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    near = [padded[:, i : i + ranks, j : j + files] for i in range(3) for j in range(3)]
    return _dense(xp.concatenate(near, 3), (weights.reshape(-1, len(biases)), biases))


def _trunk(library: Library, network: Any, full: Float32Array, flat: Float32Array) -> Float32Array:
    """Return `trunk`, by machine code or in parts."""
    if get_backend() == "numba" and network.compiled_trunk:
        return network.compiled_trunk(full, flat)
    rows = [slice(i, i + _AT_ONCE) for i in range(0, max(len(full), 1), _AT_ONCE)]
    return np.concatenate([trunk(library, network, full[i], flat[i]) for i in rows])


NUMPY = array_library(np)._replace(trunk=_trunk)
