"""Callbacks of Stable-Baselines3 beside a training, named in its settings or given in Python.

They see what callbacks of SB3 see: the model, its logger, every step. The logger gets the metrics
of each update, and its `dir` is the run's folder. They have no part in a checkpoint.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback, CallbackList

from boardenvs.utils.checks import quote
from boardenvs.utils.imports import import_object


class Callbacks(CallbackList):
    """Those of a run. One that returns False ends the run after the update, not at once."""

    def __init__(self, callbacks: Sequence[BaseCallback]) -> None:
        super().__init__(list(callbacks))
        self.stop_requested = False
        self._begun = False

    def _on_training_start(self) -> None:
        super()._on_training_start()
        self._begun = True

    def _on_step(self) -> bool:
        if not super()._on_step():
            self.stop_requested = True
        return True

    def _on_training_end(self) -> None:
        """Not yet: the last policy has not been evaluated."""

    def end(self) -> None:
        """Tell them that the training has ended, with all its files, or was interrupted."""
        if self._begun:
            super()._on_training_end()


def check_callback(target: str, parameters: Mapping[str, Any]) -> None:
    """ValueError where "MODULE:NAME" is nothing that can be called with these parameters."""
    found = import_object(target)
    if not callable(found):
        raise ValueError(f"it is {quote(found)}: it must be a class of callbacks, or a function")
    try:
        inspect.signature(found).bind(**parameters)
    except TypeError as error:
        raise ValueError(f"{error}: it takes {inspect.signature(found)}") from None


def make_callback(target: str, parameters: Mapping[str, Any]) -> BaseCallback:
    """What "MODULE:NAME" makes with these parameters; ValueError where it is no callback."""
    made = import_object(target)(**parameters)
    if not isinstance(made, BaseCallback):
        raise ValueError(
            f"callback {target} is {quote(made)}: it must be a BaseCallback of Stable-Baselines3"
        )
    return made
