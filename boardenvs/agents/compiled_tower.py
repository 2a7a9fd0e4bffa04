"""The trunk of a residual tower as machine code, by Numba (extra `fast`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boardenvs.kernel.generated import load_source
from boardenvs.kernel.numba_writer import made_by

if TYPE_CHECKING:
    from boardenvs.agents.policy_network import Float32Array, Layer, PolicyNetwork

# All arrays are C-contiguous and of float32. An image (R, FILES + 2, P) has zeros beside the first
# and the last file.
_SOURCE = '''
"""Written by boardenvs.agents."""
from numba import float32
from boardenvs.kernel.compile_cache import njit
from boardenvs.kernel.products import add_product

FILES, CHANNELS, ZERO = {files}, {channels}, float32(0)
add_row, add_square = add_product(FILES, CHANNELS), add_product(1, CHANNELS)
function = njit(nogil=True, error_model='numpy', _nrt=False, no_cpython_wrapper=True,
                no_cfunc_wrapper=True)


@function
def add_convolution(image, weights, sums):
    # Squares side by side are one row of a matrix, which overlaps with that of the next square.
    rows = len(sums)
    for line in range(3):  # of the weights, which stay in the cache for all rows of squares
        for row in range(max(1 - line, 0), min(rows + 1 - line, rows)):
            add_row(image[row + line - 1], weights[line], sums[row])


@function
def rectify(x, biases, image):
    for row in range(len(x)):
        for file in range(FILES):
            for k in range(CHANNELS):
                y = x[row, file, k] + biases[k]
                image[row, file + 1, k] = y if y > ZERO else ZERO


@function
def set_biases(x, biases):
    for row in range(len(x)):
        for file in range(FILES):
            for k in range(CHANNELS):
                x[row, file, k] = biases[k]


@function
def average(x, means):
    for k in range(CHANNELS):
        means[k] = ZERO
    for row in range(len(x)):
        for file in range(FILES):
            for k in range(CHANNELS):
                means[k] += x[row, file, k]
    for k in range(CHANNELS):
        means[k] /= float32(len(x) * FILES)


@njit(nogil=True, cache=True, error_model='numpy', _nrt=False)
def add_trunk(images, stem, convolutions, pools, biases, image, hidden, room, sums):
    # `total` has the biases of second convolutions, which are not in the sums.
    mean, shift, total = room[:1], room[1:2], room[2]
    for board in range(len(images)):
        x = sums[board]
        add_convolution(images[board], stem, x)
        for k in range(CHANNELS):
            total[k] = ZERO
        for block in range(len(pools)):
            rectify(x, total, image)
            average(image[:, 1:-1], mean[0])
            set_biases(hidden, biases[block, 0])
            add_convolution(image, convolutions[block, 0], hidden)
            for k in range(CHANNELS):
                shift[0, k] = biases[block, 1, k]
            add_square(mean, pools[block], shift)
            rectify(hidden, shift[0], image)
            add_convolution(image, convolutions[block, 1], x)
            for k in range(CHANNELS):
                total[k] += biases[block, 2, k]
'''


class CompiledTrunk:
    """`policy_network.trunk` of one network whose channels are a multiple of `products.LANES`."""

    def __init__(self, network: PolicyNetwork) -> None:
        def stacked(part: int, *names: str) -> Float32Array:
            blocks = range(network.size["blocks"])
            arrays = [[layer(f"{name}_{i}")[part] for name in names] for i in blocks]
            return np.array(arrays, np.float32)

        def layer(name: str) -> Layer:
            return layers.get(name, no_pool)

        layers = network.layers
        stem, self._biases = layers["stem"]
        self._flat, channels = layers.get("flat"), len(self._biases)
        no_pool = np.zeros((channels, channels), np.float32), np.zeros(channels, np.float32)
        convolutions = stacked(0, "first", "second")
        self._arrays = (
            np.ascontiguousarray(stem, np.float32).reshape(3, -1, channels),
            convolutions.reshape(*convolutions.shape[:3], -1, channels),
            stacked(0, "pool")[:, 0],
            stacked(1, "first", "pool", "second"),
        )

    def __call__(self, full: Float32Array, flat: Float32Array) -> Float32Array:
        """Return the channels of each square, for the arguments of `trunk`."""
        (boards, planes, ranks, files), channels = full.shape, len(self._biases)
        images = np.zeros((boards, ranks, files + 2, planes), np.float32)
        images[:, :, 1:-1] = full.transpose(0, 2, 3, 1)
        x = np.empty((boards, ranks, files, channels), np.float32)
        x[:] = self._biases
        if self._flat:
            x += (flat @ self._flat[0] + self._flat[1])[:, None, None]
        image = np.zeros((ranks, files + 2, channels), np.float32)
        hidden, room = np.empty_like(image[:, 2:]), np.zeros((3, channels), np.float32)
        _compiled(files, channels)(images, *self._arrays, image, hidden, room, x)
        x += room[2]
        return np.maximum(x, 0, out=x)


@cache
def _compiled(files: int, channels: int) -> Callable[..., None]:
    """Return `add_trunk` for boards and towers of these widths."""
    source = _SOURCE.format(files=files, channels=channels)
    source += made_by("products.py", "columns.py", "simd.py")
    return load_source(source).add_trunk
