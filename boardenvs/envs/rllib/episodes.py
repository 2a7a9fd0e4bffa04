"""What an env runner has seen, as columns, and the same cut into RLlib's episodes.

RLlib's own env runner adds to a Python object a board in each step. Here a step writes one row of
each array for all boards, and the arrays are cut at the ends of games when the fragment is full: an
episode holds views of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer

from boardenvs.game.state import Array, BoolArray, FloatArray, Int8Array, IntArray

# Columns of an episode beside RLlib's own, (T,) float32: the value of the next state to who is to
# move there, 0 at a game's end, and the factor with which it counts for the one who acted.
NEXT_VALUES, DISCOUNTS = "next_values", "discounts"


@dataclass(frozen=True)
class Fragment:
    """So many steps on all boards: arrays (B, T) and more, and one step more where that is said."""

    observed: Mapping[str, Int8Array]  # what was seen before each step, (B, T + 1, ...) by its name
    actions: IntArray
    rewards: FloatArray  # float32
    ended: BoolArray  # whether the step ended the game
    logp: FloatArray  # float32: of the actions
    values: FloatArray  # float32 (B, T + 1): of the states before each step
    discounts: FloatArray  # float32 (B,): the factor of the next state's value

    @classmethod
    def empty(cls, discounts: FloatArray, steps: int, space: Mapping[str, Any]) -> Fragment:
        """Room for so many steps; `space` is that of one board's observations."""
        boards = len(discounts)
        return cls(
            {k: np.empty((boards, steps + 1, *part.shape), np.int8) for k, part in space.items()},
            np.empty((boards, steps), np.int64),
            np.empty((boards, steps), np.float32),
            np.empty((boards, steps), np.bool_),
            np.empty((boards, steps), np.float32),
            np.empty((boards, steps + 1), np.float32),
            discounts.astype(np.float32),
        )

    def see(self, step: int, observed: Mapping[str, Array]) -> None:
        """Write down what was observed before this step."""
        for name, array in self.observed.items():
            array[:, step] = observed[name]

    def columns(self) -> dict[str, Array]:
        """What an episode has beside observations, actions and rewards, (B, T) float32."""
        return {
            Columns.ACTION_LOGP: self.logp,
            Columns.VF_PREDS: self.values[:, :-1],
            NEXT_VALUES: np.where(self.ended, np.float32(0), self.values[:, 1:]),
            DISCOUNTS: np.broadcast_to(self.discounts[:, None], self.rewards.shape),
        }


class FragmentEpisodes(list[SingleAgentEpisode]):
    """The games, whole or in part, of a fragment of the env runner of this number.

    `games` (B,) says how many games have ended on each board before, and `plies` (B,) how many
    steps of the one in progress came before. A list travels between processes as the arrays of its
    fragment, a dozen instead of a dozen for each episode.
    """

    def __init__(self, fragment: Fragment, runner: int, games: IntArray, plies: IntArray) -> None:
        super().__init__()
        self._made_of = fragment, runner, games, plies
        columns, steps = fragment.columns(), fragment.actions.shape[1]
        for board, (before, started) in enumerate(zip(games.tolist(), plies.tolist(), strict=True)):
            first = 0
            for number, end in enumerate([*_ends(fragment, board), steps]):
                if first < end:
                    episode = _episode(fragment, columns, board, slice(first, end))
                    episode.id_ = f"{runner}/{board}/{before + number}"
                    episode.t_started = 0 if number else started
                    episode.t += episode.t_started
                    self.append(episode)
                first = end

    def __reduce__(self) -> tuple[Any, ...]:
        return FragmentEpisodes, self._made_of


def after(fragment: Fragment, games: IntArray, plies: IntArray) -> tuple[IntArray, IntArray]:
    """`games` and `plies` of the fragment that follows."""
    steps = fragment.ended.shape[1]
    since = np.argmax(fragment.ended[:, ::-1], axis=1)
    ended = fragment.ended.sum(axis=1)
    return games + ended, np.where(ended > 0, since, plies + steps)


def _ends(fragment: Fragment, board: int) -> list[int]:
    """The steps after those that ended a game."""
    ends: list[int] = (np.flatnonzero(fragment.ended[board]) + 1).tolist()
    return ends


def _episode(
    fragment: Fragment, columns: Mapping[str, Array], board: int, part: slice
) -> SingleAgentEpisode:
    """The steps of `part` on a board, in which no game ends but in the last."""
    seen = slice(part.start, part.stop + 1)  # after an end the last one is not used
    return SingleAgentEpisode(
        "",
        observations=_buffer({name: x[board, seen] for name, x in fragment.observed.items()}),
        actions=_buffer(fragment.actions[board, part]),
        rewards=_buffer(fragment.rewards[board, part]),
        infos=_buffer([{}] * (part.stop - part.start + 1)),
        extra_model_outputs={name: _buffer(x[board, part]) for name, x in columns.items()},
        terminated=bool(fragment.ended[board, part.stop - 1]),
        len_lookback_buffer=0,
    )


def _buffer(data: Any) -> InfiniteLookbackBuffer:
    return InfiniteLookbackBuffer(data=data, lookback=0)
