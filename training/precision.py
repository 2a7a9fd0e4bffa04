"""How precisely this machine computes with networks."""

from __future__ import annotations

from typing import Any

import torch as th


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
