"""Versions and the processor: what files were written by, and results measured on."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

__version__ = "0.1.0"


def version(package: str) -> str | None:
    """The version of an installed package; None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
