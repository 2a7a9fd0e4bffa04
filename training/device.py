"""Where torch computes."""

from __future__ import annotations

import torch as th

from training.settings import ConfigError


def find_device(name: str) -> th.device:
    """The device that a setting means here: "auto" is a GPU if torch finds one, else the processor.

    ConfigError where there is none of that name.
    """
    gpus = th.cuda.device_count()
    if name == "auto":
        return th.device("cuda" if gpus else "cpu")
    device = th.device(name)
    if device.type == "cuda" and (device.index or 0) >= gpus:
        raise ConfigError(f"device is {name!r}: torch has {gpus} GPUs here, auto takes what it has")
    if device.type == "mps" and not th.backends.mps.is_available():
        raise ConfigError(f"device is {name!r}: torch has none here, auto takes what it has")
    return device
