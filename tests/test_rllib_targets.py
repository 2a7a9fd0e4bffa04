"""Who is to be thanked: RLlib's value targets against the results of games played by the rules."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import torch as th
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.utils.minibatch_utils import ShardEpisodesIterator

import boardenvs
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.rllib.advantages import advantages
from boardenvs.envs.rllib.episodes import NEXT_VALUES
from boardenvs.envs.rllib.ppo import BoardPPOConfig
from boardenvs.envs.rllib.runner import BoardEnvRunner

CAPPED = "wolf_and_sheep:rules=described,max_plies=9"
GAMES = ["othello", "wolf_and_sheep", CAPPED]
BOARDS = 6


class LowestLegal:
    """An opponent whose replies can be computed again."""

    def act(self, game, state, rng=None):
        return game.legal(state).argmax(axis=1)


def make_config(game, seats, **training):
    """A config with a group of boards for each of `seats`, None being self-play."""
    groups = [
        BoardGroup(BOARDS, seat and LowestLegal(), seat or "alternating", f"group {i}")
        for i, seat in enumerate(seats)
    ]
    config = BoardPPOConfig().boards(game, groups).network((16,)).debugging(seed=0)
    return config.training(lambda_=1.0, **training)


def sampled(config, steps):
    """The episodes of a runner, and the runner."""
    runner = BoardEnvRunner(config=config, worker_index=0)
    return runner.sample(num_timesteps=steps * runner.num_envs), runner


def learnt_from(config, runner, episodes):
    """What the learner that RLlib builds makes of episodes, in their order."""
    learner = config.build_learner(spaces=runner.get_spaces())
    identity = th.arange(sum(len(e) for e in episodes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(th, "randperm", lambda n: identity)
        batch = learner._learner_connector(
            rl_module=learner.module, batch={}, episodes=episodes, shared_data={}, metrics=None
        )
    return batch[DEFAULT_MODULE_ID]


def results_for_movers(game, seat, actions):
    """The result of a game for whoever took each of these actions, and whether that was its end.

    The rules alone play it; the opponent's replies are computed again.
    """
    position, movers = game.start(), []

    def reply(position):
        while not position.is_over() and seat and position.to_move != role:
            position = position.step(min(position.legal_actions()))
        return position

    role = game.roles.index(seat) if seat else None
    position = reply(position)
    for action in actions.tolist():
        assert action in position.legal_actions()
        movers.append(position.to_move)
        position = reply(position.step(action))
    results = position.result()
    return np.array([results[m] / 50 - 1 for m in movers]), position.is_over()


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_targets_are_the_results_of_whole_games_for_each_mover(name, mixed) -> None:
    game = boardenvs.games.make(name)
    kinds = [None, *game.roles]
    checked = dict.fromkeys(kinds, 0)
    losses = 0
    for seats in [kinds] if mixed else [[kind] for kind in kinds]:
        config = make_config(game, seats)
        episodes, runner = sampled(config, 150)
        targets = learnt_from(config, runner, episodes)[Postprocessing.VALUE_TARGETS].numpy()
        parts = np.split(targets, np.cumsum([len(e) for e in episodes])[:-1])
        for episode, part in zip(episodes, parts, strict=True):
            if not episode.is_terminated:
                continue
            seat = seats[int(episode.id_.split("/")[1]) // BOARDS]
            expected, over = results_for_movers(game, seat, episode.get_actions())
            assert over
            assert part == pytest.approx(expected, abs=1e-5)
            checked[seat] += 1
            losses += expected[-1] < 0
    assert min(checked.values()) >= BOARDS
    assert losses  # there are results that a wrong sign would show


@pytest.mark.parametrize(("seat", "factor"), [(None, -1), ("black", 1)])
def test_a_game_that_goes_on_counts_by_the_value_of_its_last_state(seat, factor) -> None:
    config = make_config("othello", [seat])
    episodes, runner = sampled(config, 7)
    batch = learnt_from(config, runner, episodes)
    targets = batch[Postprocessing.VALUE_TARGETS].numpy().reshape(BOARDS, 7)
    for episode, row in zip(episodes, targets, strict=True):
        seen = {k: th.from_numpy(v[-1:]) for k, v in episode.observations.data.items()}
        value = runner.module.compute_values({Columns.OBS: seen}).item()
        expected = value * float(factor) ** np.arange(7, 0, -1)
        assert row == pytest.approx(expected, abs=1e-5)


def test_one_discount_lies_on_the_factors() -> None:
    config = make_config("othello", [None], gamma=0.5)
    episodes, runner = sampled(config, 3)
    targets = learnt_from(config, runner, episodes)[Postprocessing.VALUE_TARGETS].numpy()
    for episode, row in zip(episodes, targets.reshape(BOARDS, 3), strict=True):
        value = episode.extra_model_outputs[NEXT_VALUES].data[-1]
        assert row == pytest.approx(value * (-0.5) ** np.arange(3, 0, -1), abs=1e-5)


def test_advantages_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, 40)
    deltas, decays = rng.normal(size=(2, lengths.sum()))
    found = advantages(deltas, decays, lengths)
    start = 0
    for length in lengths:
        for t in range(start, start + length):
            weights = np.cumprod(np.concatenate([[1], decays[t : start + length - 1]]))
            assert found[t] == pytest.approx((weights * deltas[t : start + length]).sum())
        start += length


def test_episodes_are_the_same_after_travelling_and_sharing_out_among_learners() -> None:
    game = boardenvs.games.make("othello")
    config = make_config(game, [None, *game.roles])
    episodes, runner = sampled(config, 100)
    whole = learnt_from(config, runner, episodes)
    arrived = pickle.loads(pickle.dumps(episodes))
    assert [(e.id_, e.t_started, e.t) for e in arrived] == [
        (e.id_, e.t_started, e.t) for e in episodes
    ]
    again = learnt_from(config, runner, arrived)
    for name in (Postprocessing.VALUE_TARGETS, Postprocessing.ADVANTAGES, Columns.ACTIONS):
        assert (whole[name] == again[name]).all()
    # RLlib cuts episodes where it shares them out; what is known of a step must not change.
    shards = ShardEpisodesIterator(list(arrived), 7, len_lookback_buffer=1)
    shared = [episode for shard in shards for episode in shard]
    assert len(shared) > len(episodes)
    config.training(lambda_=0.0)  # targets of one step, which no cut can change
    found = []
    for given in (list(episodes), shared):
        targets = learnt_from(config, runner, given)[Postprocessing.VALUE_TARGETS].tolist()
        steps = [(e.id_, e.t_started + t) for e in given for t in range(len(e))]
        found.append(dict(zip(steps, targets, strict=True)))
    assert found[0] == pytest.approx(found[1])


def test_a_game_has_one_name_in_all_fragments() -> None:
    config = make_config("othello", [None])
    runner = BoardEnvRunner(config=config, worker_index=0)
    fragments = [runner.sample(num_timesteps=25 * BOARDS) for _ in range(6)]
    plies: dict[str, int] = {}
    ended: set[str] = set()
    for episode in (e for fragment in fragments for e in fragment):
        assert episode.id_ not in ended
        assert episode.t_started == plies.get(episode.id_, 0)
        assert episode.t == episode.t_started + len(episode)
        plies[episode.id_] = episode.t
        if episode.is_terminated:
            ended.add(episode.id_)
    assert len(ended) >= BOARDS
    assert {plies[name] for name in ended} <= set(range(9, 80))


def test_other_episodes_are_refused() -> None:
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode

    config = make_config("othello", [None])
    _, runner = sampled(config, 1)
    foreign = SingleAgentEpisode(
        observations=[0, 1], actions=[0], rewards=[0.0], len_lookback_buffer=0
    )
    with pytest.raises(ValueError, match="BoardEnvRunner"):
        learnt_from(config, runner, [foreign])
