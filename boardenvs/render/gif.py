"""Pictures one after the other as an animated GIF, by Pillow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def write_gif(frames: Sequence[Pixels], seconds: float) -> bytes:
    """The frames, each (H, W, 3) uint8 and shown for so many seconds, again and again; the last one
    stays three times as long.

    Needs Pillow: ImportError where it is missing.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError('a GIF needs Pillow: pip install "boardenvs[render]"') from error
    images = [Image.fromarray(frame).quantize(128) for frame in frames]
    milliseconds = round(1000 * seconds)
    content = io.BytesIO()
    images[0].save(
        content,
        "GIF",
        save_all=True,
        append_images=images[1:],
        duration=[milliseconds] * (len(images) - 1) + [3 * milliseconds],
        loop=0,
        optimize=True,
    )
    return content.getvalue()
