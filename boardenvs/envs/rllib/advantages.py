"""Who is to be thanked for a result, in games of turns: RLlib's episodes as a batch to learn from.

RLlib takes one discount for all. In self-play the next state is the other side's, and what is good
for it is bad for the one who acted: its value must count with the factor -1. Against an opponent,
whose plies are played inside the step, the next state is the learner's own: the factor is +1. Here
each episode brings its factor, so that boards of both kinds may stand side by side. (RLlib cannot
be told by `gamma=-1`: see `boardenvs.envs.rllib.ppo`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch as th
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
from ray.rllib.evaluation.postprocessing import Postprocessing

from boardenvs.envs.rllib.episodes import DISCOUNTS, NEXT_VALUES
from boardenvs.envs.rllib.vector import ACTION_MASK, OBSERVATIONS
from boardenvs.game.state import Array, IntArray

_SMALLEST_DEVIATION = 1e-4  # of advantages, which are divided by it: RLlib's own bound

EXPLAINED_VARIANCE = "explained_variance"  # of the values before the update


def advantages(deltas: Array, decays: Array, lengths: IntArray) -> Array:
    """Generalised advantages of episodes that stand one after the other, (N,).

    `deltas` (N,) are the one-step advantages, `decays` (N,) what the advantage of the next step
    counts, `lengths` the episodes' steps, N together.
    """
    found = np.empty_like(deltas)
    starts = np.cumsum(lengths) - lengths
    following = np.zeros(len(lengths), deltas.dtype)
    for step in reversed(range(int(lengths.max()))):
        longer = np.flatnonzero(lengths > step)
        rows = starts[longer] + step
        following[longer] = deltas[rows] + decays[rows] * following[longer]
        found[rows] = following[longer]
    return found


class BoardAdvantages(ConnectorV2):
    """A learner connector that does all: columns of `BoardEnvRunner`'s episodes, put together and
    shuffled, with standardised advantages and value targets.

    The factor of the next state's value is `gamma` times the episode's own, -1 or 1.
    """

    def __init__(self, *spaces: Any, gamma: float = 1.0, lambda_: float = 1.0) -> None:
        super().__init__(*spaces)
        self.gamma, self.lambda_ = gamma, lambda_

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: Sequence[SingleAgentEpisode],
        metrics: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        lengths = np.array([len(episode) for episode in episodes])
        columns = _columns(episodes, lengths)
        values = columns.pop(Columns.VF_PREDS)
        factors = self.gamma * columns.pop(DISCOUNTS)
        deltas = columns.pop(Columns.REWARDS) + factors * columns.pop(NEXT_VALUES) - values
        gained = advantages(deltas, self.lambda_ * factors, lengths)
        targets = gained + values
        if metrics is not None:
            key = (DEFAULT_MODULE_ID, EXPLAINED_VARIANCE)
            metrics.log_value(key, _explained_variance(values, targets), window=1)
        deviation = max(_SMALLEST_DEVIATION, gained.std())
        columns[Postprocessing.ADVANTAGES] = (gained - gained.mean()) / deviation
        columns[Postprocessing.VALUE_TARGETS] = targets
        device = next(rl_module[DEFAULT_MODULE_ID].parameters()).device
        order = th.randperm(len(targets))
        found: dict[str, Any] = {k: _tensor(x, order, device) for k, x in columns.items()}
        seen = (OBSERVATIONS, ACTION_MASK)
        found[Columns.OBS] = {
            name: _tensor(_seen(episodes, lengths, name), order, device) for name in seen
        }
        return {DEFAULT_MODULE_ID: found}


def _columns(episodes: Sequence[SingleAgentEpisode], lengths: IntArray) -> dict[str, Array]:
    """All columns but the observations, (N,) each."""
    extra = (Columns.ACTION_LOGP, Columns.VF_PREDS, NEXT_VALUES, DISCOUNTS)
    for name in extra:
        if name not in episodes[0].extra_model_outputs:
            raise ValueError(f"an episode has no {name!r}: the env runner must be BoardEnvRunner")
    found = {name: [e.extra_model_outputs[name] for e in episodes] for name in extra}
    found[Columns.ACTIONS] = [e.actions for e in episodes]
    found[Columns.REWARDS] = [e.rewards for e in episodes]
    return {name: _together(buffers, lengths) for name, buffers in found.items()}


def _together(buffers: Sequence[InfiniteLookbackBuffer], lengths: IntArray) -> Array:
    """The data without what was kept to look back on, one episode after the other."""
    parts = zip(buffers, lengths.tolist(), strict=True)
    return np.concatenate([b.data[b.lookback : b.lookback + n] for b, n in parts])


def _seen(episodes: Sequence[SingleAgentEpisode], lengths: IntArray, name: str) -> Array:
    """What was observed before each step; what came after the last one of an episode is left."""
    parts = zip([e.observations for e in episodes], lengths.tolist(), strict=True)
    return np.concatenate([b.data[name][b.lookback : b.lookback + n] for b, n in parts])


def _explained_variance(values: Array, targets: Array) -> float:
    variance = float(targets.var())
    return float("nan") if variance == 0 else 1 - float((targets - values).var()) / variance


def _tensor(column: Array, order: th.Tensor, device: th.device) -> th.Tensor:
    return th.from_numpy(column)[order].to(device)
