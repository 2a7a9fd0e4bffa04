"""Recorded games as a dataset of Minari, for offline learning; `pip install 'minari[hdf5]'`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import gymnasium
import minari
from gymnasium.spaces import Discrete
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_dataset import MinariDataset

from boardenvs.envs.aec import BoardAECEnv
from boardenvs.envs.core import observation_and_mask
from boardenvs.envs.factory import gymnasium_id
from boardenvs.game.rules import goal_to_reward
from boardenvs.games import spec_of
from boardenvs.records.record import Record


def write_dataset(
    records: Iterable[Record],
    dataset_id: str,
    *,
    players: Collection[str] | None = None,
    **described: Any,
) -> MinariDataset:
    """Write games of one kind as `dataset_id`, such as "boardenvs/othello/levels-v0".

    An episode is a game as one side saw it, in Gymnasium's environment with `mask_in_observation`:
    the opponent's plies are part of its steps. Its options name the side and the players.
    players: the names of those to learn from; None: all.
    described: other arguments of `minari.create_dataset_from_buffers`, such as `author`.

    A game that was given up ends there, with its goal. ValueError without any game and for games of
    several kinds, IllegalActionError for a record that breaks the rules.
    """
    games = list(records)
    kinds = {record.game for record in games}
    if len(kinds) != 1:
        found = ", ".join(sorted(map(spec_of, kinds))) or "none"
        raise ValueError(f"these are games of {found}: a dataset is of one kind")
    (game,) = kinds
    episodes: list[EpisodeBuffer] = []
    for record in games:
        for role in (0, 1):
            if players is None or (record.players and record.players[role] in players):
                episodes += _episode(record, role, len(episodes))
    if not episodes:
        raise ValueError("nobody in these games has one of the names in players")
    who = sorted({episode.options["player"] for episode in episodes if episode.options})
    told: dict[str, Any] = {
        "algorithm_name": ", ".join(who),
        "description": f"Games of {spec_of(game)}, recorded",
    }
    if gymnasium_id(game.id) in gymnasium.registry:
        spec = spec_of(game)
        env = gymnasium.make(gymnasium_id(game.id), game=spec, mask_in_observation=True)
        told["env"] = env
    return minari.create_dataset_from_buffers(
        dataset_id,
        episodes,
        observation_space=observation_and_mask(game),
        action_space=Discrete(game.num_actions),
        **(told | described),
    )


def _episode(record: Record, role: int, number: int) -> Iterator[EpisodeBuffer]:
    """Yield the game as this role saw it, unless it never moved."""
    board, name = BoardAECEnv(record.game, on_illegal="raise"), record.game.roles[role]
    board.reset(options={"position": record.first_position.fen()})
    seen, actions = [], []
    for action in record.actions:
        if board.agent_selection == name:
            seen.append(board.observe(name))
            actions.append(action)
        board.step(action)
    if not actions:
        return
    seen.append(board.observe(name))
    steps, goal = len(actions), record.goal
    reward = 0.0 if goal is None else float(goal_to_reward(goal[role]))
    cut = goal is None or board.truncations[name]
    names = record.players or ("", "")
    yield EpisodeBuffer(
        id=number,
        options={"seat": name, "player": names[role], "opponent": names[1 - role]},
        observations={key: [view[key] for view in seen] for key in seen[0]},
        actions=actions,
        rewards=[0.0] * (steps - 1) + [reward],
        terminations=[False] * (steps - 1) + [not cut],
        truncations=[False] * (steps - 1) + [cut],
    )
