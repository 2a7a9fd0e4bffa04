"""One game through every interface at once, against the slow reference; and what the libraries that
the interfaces come from check themselves.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from reference import REFERENCE, ClassicLinesOfAction
from rule_sheets import read_move
from test_reference import words
from variants import GAMES, make, public_module

import boardenvs
from boardenvs import IllegalActionError, ResetNeededError, games
from boardenvs.envs.factory import gymnasium_id, single_env
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import stack
from boardenvs.kernel import set_backend

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")


class Seen(NamedTuple):
    """What an interface says of a game: of one that goes on, or of its end."""

    to_move: int | None
    legal: list[int] | None
    planes: Any  # of the side to move, (8, 8, C)
    terminated: bool = False
    truncated: bool = False
    rewards: tuple[float, float] = (0.0, 0.0)  # zero-sum, by role

    def assert_same(self, other: Seen | None, name: str) -> None:
        assert other is not None, name
        for field, mine, theirs in zip(self._fields, self, other, strict=True):
            assert np.array_equal(mine, theirs), (name, field, mine, theirs)


def end(terminated: Any, truncated: Any, rewards: Any, scale: str = "zero_sum") -> Seen:
    first, second = ((r - 50) / 50 if scale == "goal" else r for r in rewards)
    return Seen(None, None, None, bool(terminated), bool(truncated), (first, second))


def end_for(mover: int, reward: float, terminated: Any, truncated: Any) -> Seen:
    to_first = -reward if mover else reward
    return end(terminated, truncated, (to_first, -to_first))


class AsPosition:
    """Positions, one after the other; and how every other interface is asked."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def begin(self) -> None:
        self.position = self.game.start()

    def play(self, action: int, ends: bool) -> None:
        """A legal action; whether the game is over then."""
        self.position = self.position.step(action)

    def offend(self, action: int) -> None:
        """An illegal action, which must be refused and change nothing, or lose the game."""
        before = self.seen()
        with pytest.raises(IllegalActionError):
            self.play(action, True)
        if before is not None:
            before.assert_same(self.seen(), type(self).__name__)

    def again(self) -> AsPosition:
        """What goes on in its place: a copy, or itself, started anew from where it is."""
        return copy.deepcopy(self)

    def seen(self) -> Seen | None:
        """What there is to be seen; None where it shows nothing now."""
        p = self.position
        if p.is_over():
            return end(p.terminated, p.is_truncated(), p.result(), "goal")
        return Seen(p.to_move, p.legal_actions(), self.game.observe(stack([p]))[0])


class AsAEC(AsPosition):
    """`raw_env`, which refuses, with goal values."""

    def begin(self) -> None:
        self.env = boardenvs.raw_env(self.game)
        self.env.reset(seed=1)

    def play(self, action: int, ends: bool) -> None:
        self.env.step(action)

    def again(self) -> AsPosition:
        if self.env.is_over:
            return super().again()
        self.env.reset(seed=1, options={"position": self.env.position.fen()})
        return self

    def seen(self) -> Seen:
        env, (first, second) = self.env, self.env.possible_agents
        if env.is_over:
            assert not any(env.observe(a)["action_mask"].any() for a in (first, second))
            rewards = [env.rewards[agent] for agent in (first, second)]
            return end(env.terminations[first], env.truncations[second], rewards, "goal")
        mover = env.agent_selection
        other = second if mover == first else first
        shown, theirs = env.observe(mover), env.observe(other)
        assert not theirs["action_mask"].any()
        assert np.array_equal(theirs["observation"][..., :2], shown["observation"][..., 1::-1])
        state = env.state()
        assert np.array_equal(state[..., :-1], env.observe(first)["observation"])
        assert (state[..., -1] == (mover == second)).all()
        legal = np.flatnonzero(shown["action_mask"]).tolist()
        return Seen(env.possible_agents.index(mover), legal, shown["observation"])


class AsForfeitingAEC(AsAEC):
    """`env`, in which an illegal action loses; pickled where others are copied."""

    def begin(self) -> None:
        self.env = boardenvs.env(self.game, reward="goal")
        self.env.reset()

    def again(self) -> AsPosition:
        copied: AsPosition = pickle.loads(pickle.dumps(self))
        return copied

    def offend(self, action: int) -> None:
        if not 0 <= action < self.game.num_actions:
            super().offend(action)
            return
        env, offender = self.env, self.env.agent_selection
        env.step(action)
        assert env.infos[offender] == {"illegal_action": action}
        assert env.rewards == {a: -1 if a == offender else 100 for a in env.possible_agents}
        assert all(env.terminations.values())
        assert not any(env.truncations.values())


class AsParallel(AsPosition):
    def begin(self) -> None:
        self.env = boardenvs.parallel_env(self.game, reward="zero_sum")
        self.views, _ = self.env.reset()
        self.result: Any = None

    def joint(self, action: int) -> dict[str, int]:
        roles, mover = self.env.possible_agents, self.env.position.to_move
        return {roles[mover]: action, roles[1 - mover]: self.game.noop}

    def play(self, action: int, ends: bool) -> None:
        self.views, *self.result = self.env.step(self.joint(action))
        assert not any(self.result[3].values())  # infos

    def again(self) -> AsPosition:
        if self.env.agents:
            self.views, _ = self.env.reset(options={"position": self.env.position})
        return self

    def offend(self, action: int) -> None:
        if not 0 <= action < self.game.num_actions:
            super().offend(action)
            return
        joint = self.joint(action)
        offender = next(iter(joint))
        _, rewards, terminations, _, infos = self.env.step(joint)
        assert rewards == {a: -1 if a == offender else 1 for a in joint}
        assert all(terminations.values())
        assert infos[offender] == {"illegal_action": action}
        assert self.env.agents == []

    def seen(self) -> Seen:
        roles = self.env.possible_agents
        if not self.env.agents:
            assert not any(view["action_mask"].any() for view in self.views.values())
            rewards, terminations, truncations, _ = self.result
            over = terminations[roles[0]], truncations[roles[1]]
            return end(*over, [rewards[role] for role in roles])
        mover = self.env.position.to_move
        waits = self.views[roles[1 - mover]]["action_mask"]
        assert np.flatnonzero(waits).tolist() == [self.game.noop]
        shown = self.views[roles[mover]]
        return Seen(mover, np.flatnonzero(shown["action_mask"]).tolist(), shown["observation"])


class AsVector(AsPosition):
    """`vec_env`, whose games stay over."""

    def begin(self) -> None:
        self.env = boardenvs.vec_env(self.game, 2, autoreset_mode="Disabled")
        self.planes, self.infos = self.env.reset(seed=1)
        self.over: Seen | None = None

    def play(self, action: int, ends: bool) -> None:
        mover = self.infos["to_move"][1]
        actions = np.array([action, action])
        self.planes, rewards, terminated, truncated, self.infos = self.env.step(actions)
        assert not self.infos["illegal_action"].any()
        if ends:
            self.over = end_for(mover, rewards[1], terminated[1], truncated[1])
        else:
            assert not np.any([rewards, terminated, truncated])

    def offend(self, action: int) -> None:
        before = self.env.batch.state.own.tolist()
        _, rewards, terminated, truncated, infos = self.env.step(np.array([action, action]))
        assert infos["illegal_action"].all()
        assert terminated.all()
        assert rewards.tolist() == [-1, -1]
        assert not truncated.any()
        assert not infos["action_mask"].any()
        assert self.env.batch.state.own.tolist() == before

    def seen(self) -> Seen:
        if self.over is not None:
            return self.over
        legal = np.flatnonzero(self.infos["action_mask"][1]).tolist()
        return Seen(int(self.infos["to_move"][1]), legal, self.planes[1])


# SB3's and Gymnasium's, in which an opponent replies, are in test_opponents.py.
ADAPTERS = [AsPosition, AsAEC, AsForfeitingAEC, AsParallel, AsVector]
# One of each way to move and of each cap; the other variants' games are in test_playouts.py.
VARIANTS = {
    **{name: (make(name), REFERENCE[name])
       for name in ("othello", "wolf_and_sheep", "wolf_and_sheep_described", "lines_of_action")},
    "capped": (games.make("wolf_and_sheep", max_plies=9), REFERENCE["wolf_and_sheep"]),
    "short": (games.make("lines_of_action", max_steps=7), ClassicLinesOfAction(7)),
}  # fmt: skip


def machine(name: str) -> type[RuleBasedStateMachine]:
    """Plays one variant through all interfaces."""
    game, rules = VARIANTS[name]

    class Interfaces(RuleBasedStateMachine):
        @initialize()
        def begin(self) -> None:
            self.board = rules.start
            self.offended = False
            self.adapters = [kind(game) for kind in ADAPTERS]
            for adapter in self.adapters:
                adapter.begin()

        def over(self) -> tuple[bool, bool]:
            """Terminated and truncated, by the reference."""
            terminated = rules.over(self.board)
            cap = game.max_plies
            return terminated, cap is not None and self.board.ply >= cap and not terminated

        def legal(self) -> dict[int, Any]:
            return {read_move(game, rules.spell(m)): m for m in rules.legal(self.board)}

        @precondition(lambda self: not (any(self.over()) or self.offended))
        @rule(picks=st.lists(st.integers(0, 1000), min_size=1, max_size=25))
        def play(self, picks: list[int]) -> None:
            for pick in picks:
                legal = self.legal()
                action = sorted(legal)[pick % len(legal)]
                self.board = rules.after(self.board, legal[action])
                ends = any(self.over())
                for adapter in self.adapters:
                    adapter.play(action, ends)
                if ends:
                    return

        @precondition(lambda self: not (any(self.over()) or self.offended))
        @rule(action=st.integers(-3, game.num_actions + 3))
        def offend(self, action: int) -> None:
            if action not in self.legal():
                for adapter in self.adapters:
                    adapter.offend(action)
                self.offended = True

        @precondition(lambda self: any(self.over()) or self.offended)
        @rule()
        def begin_again(self) -> None:
            self.begin()

        @precondition(lambda self: not self.offended)
        @rule()
        def go_on_from_here(self) -> None:
            self.adapters = [adapter.again() for adapter in self.adapters]

        @invariant()
        def all_see_the_same(self) -> None:
            if self.offended:
                return
            position = game.position(words(self.board), self.board.to_move,
                                     self.board.ply)  # fmt: skip
            expected = Seen(self.board.to_move, sorted(self.legal()),
                            game.observe(stack([position]))[0])  # fmt: skip
            terminated, truncated = self.over()
            if terminated or truncated:
                expected = end(terminated, truncated, rules.goals(self.board), "goal")
            for adapter in self.adapters:
                seen = adapter.seen()
                if seen is not None:
                    expected.assert_same(seen, type(adapter).__name__)

    return Interfaces


@pytest.mark.usefixtures("as_written")
@pytest.mark.parametrize("name", VARIANTS)
def test_every_interface_plays_the_reference(name: str) -> None:
    """With machine code for Othello; that of the others is compared in test_turn.py."""
    set_backend("numba" if name == "othello" and find_spec("numba") else "numpy")
    how = settings(max_examples=4, phases=[Phase.generate], stateful_step_count=12)
    try:
        run_state_machine_as_test(machine(name), settings=how)
    finally:
        set_backend(None)


# ---- the libraries' own checks -------------------------------------------------------------------

# Those of another package too, where it is installed.
ONE_OF_EACH = [game_id for game_id in GAMES if game_id not in ("othello_holes", "reversi")]


@pytest.mark.parametrize("game_id", ONE_OF_EACH)
def test_pettingzoo_accepts_it(game_id: str, capsys: Any) -> None:
    module = public_module(game_id)
    for maker, reward in (("env", "goal"), ("raw_env", "zero_sum")):
        api_test(getattr(module, maker)(reward=reward), num_cycles=100)
    seed_test(module.env, 100)
    parallel_api_test(module.parallel_env(), num_cycles=100)
    parallel_seed_test(module.parallel_env, 100)


@pytest.mark.parametrize("game_id", ONE_OF_EACH)
@pytest.mark.parametrize("mask_in_observation", [False, True])
def test_gymnasium_accepts_it(game_id: str, mask_in_observation: bool) -> None:
    """`check_env` samples unmasked actions, so most games here end by an illegal one."""
    env = gymnasium.make(gymnasium_id(game_id), mask_in_observation=mask_in_observation)
    check_env(env.unwrapped, skip_render_check=True)


# ---- what they are given -------------------------------------------------------------------------


BLACK_WINS = "8/8/8/8/8/8/8/brr5 black 0"  # d1 is black's only move, and red has no disc then


def test_order_of_calls_is_enforced() -> None:
    env = boardenvs.reversi_v0.env(render_mode="ansi")
    calls: list[Callable[[], Any]] = [
        *(lambda: env.step(20), env.last, env.state, env.render, lambda: env.agents),
        *(lambda: env.num_agents, lambda: env.position),
        lambda: boardenvs.reversi_v0.parallel_env().step({"black": 20, "red": 64}),
        lambda: gymnasium.make("boardenvs/Othello-v0").unwrapped.step(20),
        gymnasium.make("boardenvs/Othello-v0").get_wrapper_attr("action_masks"),
    ]
    for call in calls:
        with pytest.raises(ResetNeededError, match="reset"):
            call()
    assert not hasattr(env, "rewards")
    env.reset(options={"position": BLACK_WINS})
    with pytest.raises(AssertionError, match="step"):
        list(env.agent_iter())
    env.step(3)
    with pytest.raises(ValueError, match="None"):
        env.step(5)
    for _ in env.agent_iter(2):
        env.reset()  # is as good as a step


def stepped(action: Any, maker: str = "env") -> Callable[[], Any]:
    def call() -> Any:
        env = getattr(boardenvs, maker)("othello")
        env.reset()
        try:
            return env.step(action)
        finally:
            assert env.position.ply == 0

    return call


def made(maker: str, **options: Any) -> Callable[[], Any]:
    return lambda: getattr(boardenvs, maker)("lines_of_action", **options)


def seeded(maker: str, seed: Any) -> Callable[[], Any]:
    return lambda: getattr(boardenvs, maker)("reversi").reset(seed=seed)


def at(position: Any) -> Callable[[], Any]:
    return lambda: boardenvs.othello_holes_v0.env().reset(options={"position": position})


def at_the_cap() -> Any:
    """By its own, not by that of the position's game."""
    late = games.make("wolf_and_sheep").start()._replace(ply=9)
    boardenvs.env("wolf_and_sheep", max_plies=9).reset(options={"position": late})


def optioned(maker: str) -> Callable[[], Any]:
    return lambda: getattr(boardenvs, maker)("othello").reset(options={"positon": BLACK_WINS})


BOTH, GAME = "parallel_env", games.make("othello")
NONE: Any = None
HALF: Any = 2.5
# What is wrong with texts of positions and with options of `reset` is in test_errors.py.
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (stepped(np.int64(10**12)), IllegalActionError, "actions are 0 to 64"),
    (stepped(0, "raw_env"), IllegalActionError, r"action 0 \(a8\).*black.*20 \(e6\), 29 \(f5\)"),
    (stepped({"black": 20}, BOTH), ValueError, "no action for red"),
    (stepped({"black": 20, "rde": 64}, BOTH), ValueError, "agent 'rde'. Did you mean 'red'"),
    (stepped(3, BOTH), TypeError, "they must be a dict"),
    (seeded("env", "a"), TypeError, "seed is 'a': it must be"),
    *((seeded(m, -1), ValueError, "seed is -1: it must be 0") for m in ("env", BOTH, "vec_env")),
    (lambda: parse_position(GAME, NONE), TypeError, "position is None: .* '8/8/8/3wb3"),
    (lambda: boardenvs.perft(GAME, HALF), ValueError, "depth is 2.5: it must be 0 or more"),
    (at("8/8/8/8/8/8/8/bbb5 black 9"), ValueError, "the game is over"),
    (at_the_cap, ValueError, "is over in position .*: nothing is left to play"),
    *((optioned(m), ValueError, "Did you mean 'position'") for m in ("env", BOTH)),
    (made("env", reward="gaol"), ValueError, "unknown reward 'gaol'. Did you mean 'go"),
    (made(BOTH, render_mode="rgb"), ValueError, "mode 'rgb'. Did you mean 'rgb_array'"),
    (made("raw_env", reword=1), TypeError, "unknown option 'reword'.*'reward'"),
    (made("vec_env", num_envs=0), ValueError, "num_envs is 0"),
    (made("vec_env", seat="blakc"), ValueError, "unknown seat 'blakc'. Did you mean 'black'"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS, ids=[m for *_, m in ERRORS])
def test_what_is_wrong_is_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "make_env", [single_env, partial(boardenvs.vec_env, num_envs=3, opening_plies=(0, 9))]
)
def test_what_is_refused_leaves_no_trace(make_env: Callable[..., Any]) -> None:
    env = make_env("reversi")
    env.reset(seed=1)
    twin, wrong = copy.deepcopy(env), {"positon": BLACK_WINS}
    for call in (lambda: env.step("x"), lambda: env.reset(seed=2, options=wrong)):
        with pytest.raises((TypeError, ValueError)):
            call()
    for _ in range(9):
        action = env.action_masks().argmax(axis=-1)
        assert str(env.step(action)) == str(twin.step(action))
    assert str(env.reset()) == str(twin.reset())


@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_infos_have_the_same_keys_in_every_step(opponent: str) -> None:
    """What records steps, as Minari does, wants them to be alike, of the first observation too."""
    single = gymnasium.make("boardenvs/Othello-v0", opponent=opponent, seat="black")
    options: Any = {"opponent": opponent, "seat": "black", "autoreset_mode": "NextStep"}
    batch = boardenvs.vec_env("othello", 1, **options)
    actions: Any
    seed: Any = np.int64(1)
    for env, actions in ((single, (20, 0)), (batch, ([20], [0]))):
        infos = [env.reset(seed=seed)[1], *(env.step(np.array(action))[-1] for action in actions)]
        assert [bool(np.all(info["illegal_action"])) for info in infos] == [False, False, True]
        first, *others = ({key: np.asarray(x).dtype for key, x in i.items()} for i in infos)
        assert others == [first, first]


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_libraries_can_try_options(game_id: str) -> None:
    """TorchRL's GymEnv gives `frameskip`, and looks for Python's words where that is refused."""
    name, words = gymnasium_id(game_id), "unexpected keyword argument 'frameskip'"
    for make_envs in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(TypeError, match=words):
            make_envs(name, frameskip=1)


def test_both_agents_can_offend() -> None:
    env = boardenvs.othello_v0.parallel_env()
    for actions, rewards in (
        ({"black": 20, "red": 3}, {"black": 100, "red": -1}),
        ({"black": 64, "red": 3}, {"black": -1, "red": -1}),
    ):
        env.reset()
        _, paid, _, _, infos = env.step(actions)
        assert paid == rewards
        offences = {a: {"illegal_action": actions[a]} for a, x in rewards.items() if x < 0}
        assert infos == {"black": {}, "red": {}, **offences}
