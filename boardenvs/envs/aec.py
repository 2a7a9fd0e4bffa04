"""PettingZoo's turn-based environment, for every game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pettingzoo import AECEnv

from boardenvs.envs.core import BoardEnv, OnIllegal, RenderMode, ResetNeededError, Reward
from boardenvs.game.game import Game
from boardenvs.game.state import Int8Array
from boardenvs.utils.checks import unknown


class BoardAECEnv(BoardEnv, AECEnv):
    """The agent to move acts; the other one's action mask is all zeros. Rewards: see `BoardEnv`.

    With `on_illegal="raise"` (`raw_env`) an illegal action raises IllegalActionError and changes
    nothing; with "forfeit" (`env`) it ends the game: the offender gets -1, the other agent the
    reward of a win. PettingZoo's wrappers for order, bounds and illegal actions are not needed:
    the same checks are made here, for a fraction of their cost.
    """

    def __init__(
        self,
        game: Game,
        *,
        on_illegal: OnIllegal,
        reward: Reward = "goal",
        render_mode: RenderMode | None = None,
    ) -> None:
        super().__init__(game, reward=reward, render_mode=render_mode)
        self.on_illegal = on_illegal
        self._updates = 0  # steps and resets so far, for the check in agent_iter
        self._next_bytes: Int8Array | None = None  # of the side to move, made with the last ply

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game, at `options["position"]` where given (see `boardenvs.game.fen`).

        Nothing in the games is random: the seed changes nothing. TypeError or ValueError for what
        is no seed.
        """
        self._start(seed, options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self._position.to_move]
        self._skip_agent_selection = None
        self.is_over = False  # terminated or truncated; the agents may still be there
        self._updates += 1
        self._next_bytes = None
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Play `action` for `agent_selection`; None once that agent is out.

        Raises TypeError for what is not an integer, IllegalActionError for one that is out of range
        or, under `on_illegal="raise"`, not legal, and ResetNeededError when nobody is left.
        """
        agent = self.agent_selection
        if not self.agents:
            raise ResetNeededError("the game is over and no agent is left: call reset()")
        self._updates += 1
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        position = self._position
        number = self._checked(action)
        # All rewards are 0 until the last ply, so there is nothing to clear or accumulate before.
        if not position.is_legal(number):
            if self.on_illegal == "raise":
                raise position.illegal_action(number)
            self.infos[agent] = {"illegal_action": number}
            self._finish(self._rewards(position.to_move), truncated=False)
            return
        self.last_action, self.last_position = number, position
        self._position, self._next_bytes = position.step_observe(number)
        position = self._position
        self.agent_selection = self.possible_agents[position.to_move]
        if position.terminated or position.is_truncated():
            self._finish(self._rewards(), truncated=not position.terminated)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the observation of `agent`: "observation" (8, 8, C) and "action_mask" (A,), both
        int8.

        ValueError for an agent that does not play.
        """
        position = self._position
        try:
            role = self.possible_agents.index(agent)
        except ValueError:
            raise ValueError(unknown("agent", agent, self.possible_agents)) from None
        if self.is_over or role != position.to_move:
            return self._observation(role, (0,) * len(position.legal_bits))
        if self._next_bytes is None:
            return self._observation(role, position.legal_bits)
        bits, self._next_bytes = self._next_bytes, None  # given away once: it may be written to
        return self._from_bytes(bits)

    if TYPE_CHECKING:
        # PettingZoo's own says that the observation may be None, which it is for observe=False.
        def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            """Observation, reward, termination, truncation and info of `agent_selection`."""

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """The agent to act, again and again until the game is over.

        Raises AssertionError where the loop goes on without a step or reset.
        """
        updates = None
        for _ in range(max_iter):
            if not self.agents:
                return
            assert updates != self._updates, "call step() or reset() in a loop over agent_iter()"
            updates = self._updates
            yield self.agent_selection

    def _finish(self, rewards: list[float], *, truncated: bool) -> None:
        self.is_over = True
        for agent, reward in zip(self.possible_agents, rewards, strict=True):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] = reward
            self.terminations[agent] = not truncated
            self.truncations[agent] = truncated
