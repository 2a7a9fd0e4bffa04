"""The env runner that steps all its boards at once, in self-play and against opponents.

RLlib's own makes a Python object a board and step: it spends most of its time there. This one has
the boards of `boardenvs.envs.batch`, and one network call and one call of the rules a step.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch as th
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode

from boardenvs.agents import Agent
from boardenvs.agents.network import draw
from boardenvs.envs.batch import Batch, EndedGames
from boardenvs.envs.rllib.episodes import Fragment, FragmentEpisodes, after
from boardenvs.envs.rllib.vector import GroupedVectorEnv
from boardenvs.game.state import IntArray

# Under which RLlib's results have what became of the games, by the groups' names.
GAMES = "games"

# The CPU time of a process of RLlib since it was asked last, its start included.
CPU_SECONDS = "cpu_seconds"


class BoardEnvRunner(SingleAgentEnvRunner):
    """Samples fragments of `rollout_fragment_length` steps on all its boards.

    `env_config` has "game" (a Game) and "groups" (of `BoardGroup`, their boards being those of one
    runner), and may have "opening_plies", "starts", "symmetries" and "threads", which are those of
    `Batch`. Opponents think here, in the runner.

    Its episodes hold the values of their states (`boardenvs.envs.rllib.episodes`), so that the
    learner need not compute them. Connectors and callbacks of single episodes and steps are not
    called.
    """

    env: Any
    _cpu_time = 0.0  # when it was last logged
    _games: IntArray  # how many have ended on each board
    _plies: IntArray  # how many of the one in progress came before

    def make_env(self) -> None:
        if self.env is not None:
            self.env.close()
        options = dict(self.config.env_config)
        boards = Batch(options.pop("game"), options.pop("groups"), **options)
        self.env = GroupedVectorEnv(boards)
        self.num_envs = boards.size
        self._needs_initial_reset = True

    def make_module(self) -> None:
        # RLlib warns of a deprecated class that it makes itself, in each runner.
        logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)
        super().make_module()

    def set_opponents(self, name: str, opponents: Sequence[Agent]) -> None:
        """Let these play on the groups of this name, one on each, from the next step on."""
        self.env.boards.set_opponents(name, opponents)

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        if num_timesteps is None or random_actions:
            raise NotImplementedError(
                "boards are sampled by steps and by the policy: batch_mode must be "
                '"truncate_episodes", and evaluation is by boardenvs.arena'
            )
        if force_reset or self._needs_initial_reset:
            self._restart()
        fragment = self._play(-(-num_timesteps // self.num_envs), explore)
        steps = fragment.actions.size
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=steps)
        self._increase_sampled_metrics(steps, int(fragment.ended.sum()))
        self.num_env_steps_sampled_lifetime += steps
        self._log_games(self.env.boards.take_ended())
        if self.worker_index:
            self._log_cpu_time()
        begun = self._games, self._plies
        self._games, self._plies = after(fragment, *begun)
        return FragmentEpisodes(fragment, self.worker_index or 0, *begun)

    def _restart(self) -> None:
        """New games everywhere, by a seed of this runner and of how far the training is."""
        seed = [self._seed, self.num_env_steps_sampled_lifetime]
        if self._seed is None:
            seed = [int(np.random.default_rng().integers(1 << 63))]
        boards, chance = np.random.SeedSequence(seed).generate_state(2, np.uint64).tolist()
        self._chance = th.Generator(self._device).manual_seed(chance)
        self._observed, _ = self.env.reset(seed=boards)
        self._games = self._plies = np.zeros(self.num_envs, np.int64)
        self._needs_initial_reset = False

    @th.no_grad()
    def _play(self, steps: int, explore: bool) -> Fragment:
        """So many steps on every board; the values of the last states too."""
        space = self.env.single_observation_space
        fragment = Fragment.empty(self.env.boards.discounts, steps, space)
        observed = self._observed
        for step in range(steps):
            fragment.see(step, observed)
            chances, values = self._judge(observed)
            actions = draw(chances, self._chance) if explore else chances.argmax(1)
            fragment.logp[:, step] = chances.gather(1, actions[:, None])[:, 0].log().cpu()
            fragment.values[:, step] = values
            fragment.actions[:, step] = actions.cpu()
            observed, rewards, ended, _, _ = self.env.step(fragment.actions[:, step])
            fragment.rewards[:, step], fragment.ended[:, step] = rewards, ended
        fragment.see(steps, observed)
        fragment.values[:, steps] = self._judge(observed)[1]
        self._observed = observed
        return fragment

    def _judge(self, observed: dict[str, Any]) -> tuple[th.Tensor, th.Tensor]:
        """The probabilities of all actions (B, A), and the values (B,)."""
        batch = {Columns.OBS: {k: th.from_numpy(x).to(self._device) for k, x in observed.items()}}
        found = self.module.forward_exploration(batch)
        values = self.module.compute_values(batch, found[Columns.EMBEDDINGS])
        return th.softmax(found[Columns.ACTION_DIST_INPUTS], dim=1), values.cpu()

    def _log_cpu_time(self) -> None:
        now = time.process_time()
        self.metrics.log_value(CPU_SECONDS, now - self._cpu_time, reduce="sum")
        self._cpu_time = now

    def _log_games(self, ended: dict[str, EndedGames]) -> None:
        for name, games in ended.items():
            for figure, value in vars(games).items():
                self.metrics.log_value((GAMES, name, figure), value, reduce="sum")
