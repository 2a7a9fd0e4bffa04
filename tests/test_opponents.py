"""`opponent=` in every environment that has it: what it takes, and what its games pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from openspiel_games import GAMES

from boardenvs import IllegalActionError, games
from boardenvs.agents import make_agent
from boardenvs.envs.batch import Batch, BoardGroup
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.envs.vector import BoardVectorEnv
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.text import TextEnv

OTHELLO = games.make("othello")


def vector(opponent: Any, steps: int = 0) -> Any:
    env = BoardVectorEnv(OTHELLO, 8, opponent=opponent, seat="red")
    env.reset(seed=0)
    for _ in range(steps):
        env.step(OTHELLO.legal(env.batch.state).argmax(axis=1))
    return env.batch.state.own.tolist()


def grouped(opponent: Any, steps: int = 0) -> Any:
    env = BoardVecEnv(OTHELLO, groups=[BoardGroup(8, opponent, "red")], seed=0)
    for _ in range(steps):
        env.step(env.action_masks().argmax(axis=1))
    return env.state.own.tolist()


def single(opponent: Any, steps: int = 0) -> Any:
    env = BoardSingleEnv(OTHELLO, opponent=opponent, seat="red")
    env.reset(seed=0)
    for _ in range(steps):
        env.step(env.action_masks().argmax())
    return env.board.position.own


ENVIRONMENTS = pytest.mark.parametrize("begin", [vector, grouped, single])
Begin = Callable[..., Any]


def last_of_one(observation: dict[str, Any]) -> int:
    return int(np.flatnonzero(observation["action_mask"])[-1])


def last_of_one_as_role(observation: dict[str, Any], agent: str) -> int:
    assert agent == "black"
    return last_of_one(observation)


def last_of_all(game: games.Game, state: Any, rng: np.random.Generator) -> Any:
    return game.num_actions - 1 - game.legal(state)[:, ::-1].argmax(axis=1)


class Last:
    def act(self, game: games.Game, state: Any, rng: np.random.Generator) -> Any:
        return last_of_all(game, state, rng)


@ENVIRONMENTS
def test_functions_agents_classes_and_texts_play(begin: Begin) -> None:
    played = [begin(x) for x in (last_of_one, last_of_one_as_role, last_of_all, Last, Last())]
    opened = OTHELLO.start().step(43).own
    assert all(np.all(np.array(own) == opened) for own in played)
    assert begin("greedy") == begin(make_agent("greedy"))


def chooses(choice: Callable[[int], Any]) -> Callable[..., Any]:
    def act(game: games.Game, state: Any, rng: np.random.Generator) -> Any:
        return choice(len(state.ply))

    return act


@ENVIRONMENTS
@pytest.mark.parametrize(
    ("opponent", "error", "message"),
    [
        (5, TypeError, "5 is not an agent: it must have act"),
        ("greddy", ValueError, "unknown agent 'greddy'. Did you mean 'greedy'"),
        ("perfect", ValueError, "'perfect' cannot play othello"),
        (chooses(np.zeros), TypeError, "actions are float64: they must be integers"),
        (
            chooses(lambda n: np.zeros(n, int)),
            IllegalActionError,
            r"row 0: action 0 .*; legal: 20 ",
        ),
    ],
)
def test_what_cannot_be_used_is_said_at_once(
    begin: Begin, opponent: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        begin(opponent)


# ---- seats ---------------------------------------------------------------------------------------


SEATS: dict[Any, Callable[..., int]] = {
    BoardVectorEnv: lambda env, first: env.batch.seats[0],
    BoardSingleEnv: lambda env, first: OTHELLO.roles.index(first[1]["seat"]),
    TextEnv: lambda env, first: env.role,
}


def seats_of(kind: Any, seat: str, seed: int) -> list[int]:
    """The learner's roles in seven games on one board, which its seed gives again."""
    env, seats = kind(OTHELLO, opponent="random", seat=seat), list[int]()
    for number in range(14):
        seats.append(SEATS[kind](env, env.reset(seed=None if number % 7 else seed)))
    assert seats[:7] == seats[7:]
    return seats[:7]


@pytest.mark.parametrize("kind", SEATS)
def test_seats_are_kept_drawn_or_alternate_by_the_seed(kind: Any) -> None:
    assert [seats_of(kind, role, 0) for role in OTHELLO.roles] == [[0] * 7, [1] * 7]
    drawn = [seats_of(kind, "random", seed) for seed in range(6)]
    assert len(set(map(tuple, drawn))) > 3
    assert all({0, 1} == set(seats) for seats in drawn)
    seats = seats_of(kind, "alternating", 0)
    assert seats == [number % 2 ^ seats[0] for number in range(7)]


# ---- rewards, against games replayed by hand -----------------------------------------------------


def choice(position: Position) -> int:
    """A legal action that depends on the position alone, so that a replay makes the same one."""
    legal = position.legal_actions()
    return legal[hash((position.own, position.opp, position.ply)) % len(legal)]


def by_position(game: Game, state: Any, rng: np.random.Generator) -> Any:
    return np.array([choice(position) for position in game.positions(state)])


class ByHand:
    """One game against `by_position`, played with single positions."""

    def __init__(self, game: Game, seat: int) -> None:
        self.seat = seat
        self.position = self.after_replies(game.start())

    def after_replies(self, position: Position) -> Position:
        while position.to_move != self.seat and not position.is_over():
            position = position.step(choice(position))
        return position

    def play(self, action: int) -> tuple[float, bool, bool]:
        """The learner's reward, and whether the game is terminated and truncated."""
        self.position = self.after_replies(self.position.step(action))
        reward = (self.position.result()[self.seat] - 50) / 50 if self.position.is_over() else 0.0
        return reward, self.position.terminated, self.position.is_truncated()


# Of each step: seats, actions, rewards (-1 to 1), terminated and truncated, each (B,).
Steps = Iterator[tuple[Any, Any, Any, Any, Any]]


def vector_steps(game: Game, reward: Any = "zero_sum") -> Steps:
    env = BoardVectorEnv(game, 8, opponent=by_position, seat="alternating", reward=reward)
    env.reset(seed=1)
    rng = np.random.default_rng(2)
    while True:
        seats, actions = env.batch.seats.copy(), game.sample(env.batch.state, rng)
        _, rewards, terminated, truncated, _ = env.step(actions)
        if reward == "goal":
            rewards = np.where(terminated | truncated, (rewards - 50) / 50, rewards)
        yield seats, actions, rewards, terminated, truncated


def vector_goal_steps(game: Game) -> Steps:
    return vector_steps(game, "goal")


def grouped_steps(game: Game) -> Steps:
    """Boards of two seats, whose points are counted by group."""
    groups = [BoardGroup(4, by_position, role, name=role) for role in game.roles]
    env = BoardVecEnv(game, groups=groups, seed=3)
    rng = np.random.default_rng(4)
    points, plies = dict.fromkeys(game.roles, 0.0), dict.fromkeys(game.roles, 0)
    while True:
        seats, actions = env.boards.seats.copy(), game.sample(env.state, rng)
        planes, rewards, dones, infos = env.step(actions)
        np.testing.assert_array_equal(planes, game.observe(env.state))
        (masks,) = env.env_method("action_masks")
        np.testing.assert_array_equal(masks, game.legal(env.state))
        truncated = np.array([bool(info.get("truncated")) for info in infos])
        for row in np.flatnonzero(dones):
            role = game.roles[seats[row]]
            points[role] += (rewards[row] + 1) / 2
            plies[role] += infos[row]["plies"]
        for role, ended in env.boards.take_ended().items():
            points[role] -= ended.points
            plies[role] -= ended.plies
            assert points[role] == plies[role] == 0
        yield seats, actions, rewards, dones & ~truncated, truncated


def single_steps(game: Game) -> Steps:
    env = BoardSingleEnv(game, opponent=by_position, seat="alternating")
    rng, over = np.random.default_rng(5), True
    while True:
        if over:
            _, info = env.reset(seed=None)
        seat = game.roles.index(info["seat"])
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        planes, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        if not over:
            np.testing.assert_array_equal(planes, game.observe(stack([env.board.position]))[0])
            np.testing.assert_array_equal(info["action_mask"], env.action_masks())
        yield [seat], [action], [reward], [terminated], [truncated]


REPLAYED = [
    OTHELLO,
    games.make("lines_of_action", max_steps=12),  # draws
    games.make("wolf_and_sheep", max_plies=9),  # truncated
    GAMES["checkers"].game,  # a side may move several times in a row
]


@pytest.mark.parametrize("begin", [vector_steps, vector_goal_steps, grouped_steps, single_steps])
def test_the_learner_is_paid_what_a_replay_by_hand_gives(begin: Callable[[Game], Steps]) -> None:
    """Wins, draws and losses from both seats; the opponent opens where the learner is second."""
    paid = set()
    for game in REPLAYED:
        played: dict[int, ByHand] = {}
        seats: dict[int, int] = {}
        for step in islice(begin(game), 200 if begin is single_steps else 60):
            for row, (seat, action, *seen) in enumerate(zip(*step, strict=True)):
                by_hand = played.setdefault(row, ByHand(game, seat))
                assert by_hand.seat == seat
                assert by_hand.play(int(action)) == tuple(seen)
                if by_hand.position.is_over():
                    paid.add((seat, seen[0]))
                    del played[row]
                    # Seats alternate, except in groups.
                    assert begin is grouped_steps or seats.get(row) != seat
                    seats[row] = int(seat)
    assert paid == set(product((0, 1), (-1, 0, 1)))


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("role", [0, 1])
def test_the_last_observation_is_the_learners_whoever_ends_the_game(mode: str, role: int) -> None:
    rng, by_learner = np.random.default_rng(role), set()
    for game in REPLAYED:
        options: Any = {"opponent": by_position, "seat": game.roles[role]}
        one = BoardSingleEnv(game, **options)
        many = BoardVectorEnv(game, autoreset_mode=mode, **options)
        for number in range(4):
            (_, info), over = one.reset(seed=number), False
            many.reset(seed=number)
            while not over:
                action = rng.choice(np.flatnonzero(info["action_mask"]))
                last, _, terminated, truncated, info = one.step(action)
                over = terminated or truncated
                seen, *_, infos = many.step(np.array([action]))
            shown = infos["final_obs"][0] if mode == "SameStep" else seen[0]
            np.testing.assert_array_equal(shown, last)
            assert one.board.last_position
            by_learner.add(one.board.last_position.to_move == role)
        batch = Batch(game, [BoardGroup(8), BoardGroup(8, by_position)], seed=role)
        for _ in range(30):  # seats alternate
            seats = batch.seats
            result = batch.step(game.sample(batch.state, rng))
            against = ~batch.self_play[result.ended]
            seen_by = batch.seen_at_the_end(result).to_move
            assert (seen_by == seats[result.ended])[against].all()
            assert (seen_by == result.final.to_move)[~against].all()
    assert by_learner == {True, False}


class Interrupted:
    """Plays, but for a Ctrl-C the next time if it is `due`."""

    due = False

    def act(self, game: Game, state: Any, rng: Any) -> Any:
        if self.due:
            self.due = False
            raise KeyboardInterrupt
        return by_position(game, state, rng)


def test_a_step_in_which_the_opponent_fails_is_not_played() -> None:
    game, opponent, states = GAMES["checkers"].game, Interrupted(), list[Any]()
    for opponent.due in (True, False):
        fails, opponent.due = opponent.due, False
        env = BoardVectorEnv(game, 4, opponent=opponent, seat="alternating")
        env.reset(seed=1)
        if fails:
            actions = game.legal(env.batch.state).argmax(axis=1)
            for act in (partial(env.step, actions), env.batch.restart):
                before, seats, opponent.due = env.batch.state, env.batch.seats, True
                with pytest.raises(KeyboardInterrupt):
                    act()
                assert env.batch.state is before
                assert env.batch.seats.tolist() == seats.tolist()
        for _ in range(9):
            env.step(game.legal(env.batch.state).argmax(axis=1))
        states.append(env.batch.state)
    np.testing.assert_equal(*states)
    one = BoardSingleEnv(game, opponent=opponent, seat=game.roles[0])
    one.reset(seed=1)
    opponent.due = True
    with pytest.raises(KeyboardInterrupt):
        one.step(one.action_masks().argmax())
    with pytest.raises(ResetNeededError, match="the opponent has not replied"):
        one.step(0)
    one.reset()
    one.step(one.action_masks().argmax())


def test_opponents_change_all_together() -> None:
    groups = [BoardGroup(2, "random", name="pool")] * 2
    batch = Batch(OTHELLO, groups, seed=0)
    before = [group.opponent for group in batch._groups]
    wrong: list[tuple[str, Any, str]] = [
        ("pool", [Last()], "1 opponents for 2 groups named 'pool'"),
        ("pol", [Last()] * 2, "2 opponents for 0 groups named 'pol'"),
        ("pool", [Last(), "greddy"], "Did you mean 'greedy'"),
    ]
    for name, new, said in wrong:
        with pytest.raises(ValueError, match=said):
            batch.set_opponents(name, new)
        assert [group.opponent for group in batch._groups] == before


def test_a_position_that_the_opponent_ends_at_once_is_refused() -> None:
    env = BoardSingleEnv(games.make("tictactoe"), opponent="greedy", seat="o")
    with pytest.raises(ValueError, match="ends the game before the learner's first ply"):
        env.reset(options={"position": "3/oo1/xx1 x"})
