"""Where torch computes, and how precisely."""

from __future__ import annotations

from typing import Any

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


def find_precision(setting: str) -> str:
    """The precision that a setting means here: "auto" is bfloat16 where the processor has it."""
    if setting != "auto":
        return setting
    found = processor()
    return "bfloat16" if found.get("avx512_bf16") or found.get("amx_bf16") else "float32"


def processor() -> dict[str, Any]:
    """What torch knows of the processor; nothing in versions that do not tell."""
    capabilities: dict[str, Any] = getattr(th.cpu, "get_capabilities", dict)()
    return capabilities
