"""Whether two states, checkpoints or results are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch as th


def same(a: Any, b: Any) -> bool:
    """Whether all in nested dicts, lists and tuples is the same; nan is the same as nan."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, th.Tensor):
        return th.equal(a, b)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b or (a != a and b != b))
