"""A game in plain Python has every interface, and is an oracle for rules on words."""

from __future__ import annotations

import copy
import pickle
import re
import runpy
import sys
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from author_games import Heaps
from gymnasium.vector import AutoresetMode
from sowing import Sowing
from variants import random_line

import boardenvs
from boardenvs import PlainGame, render
from boardenvs.board import Board, Symmetry
from boardenvs.envs.page import page_of
from boardenvs.exams.positions import exam_positions
from boardenvs.game import PositionError
from boardenvs.game.check import RulesError, check_rules
from boardenvs.game.fen import parse_position
from boardenvs.game.openings import random_openings
from boardenvs.game.position import stack
from boardenvs.game.session import GameSession
from boardenvs.kernel import get_backend
from boardenvs.search.mcts import Trees, TreeSettings
from boardenvs.text.prompt import write_prompt
from boardenvs.web.boards import describe_game, describe_position

GAME = boardenvs.games.make("sowing:Sowing")
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.usefixtures("as_written"),
]


class PlainHeaps:
    """Take any number from one of the heaps; whoever takes the last one wins."""

    roles, opening_plies = ("first", "second"), (0, 1)
    actions = tuple(f"{heap}{n}" for heap in "abc" for n in range(1, 8))

    def __init__(self, heaps: Any = (3, 4, 5), to_move: int = 0) -> None:
        self.heaps, self.to_move = heaps, to_move

    def legal_actions(self) -> list[int]:
        return [7 * heap + n for heap in range(3) for n in range(self.heaps[heap])]

    def left(self, action: int) -> list[int]:
        heap, n = divmod(action, 7)
        return [x - (n + 1) * (place == heap) for place, x in enumerate(self.heaps)]

    def step(self, action: int) -> PlainHeaps:
        return type(self)(self.left(action), 1 - self.to_move)

    def is_over(self) -> bool:
        return not any(self.heaps)

    def result(self) -> tuple[int, int]:
        return self.to_move, 1 - self.to_move

    def observe(self, role: int) -> list[int]:
        return [heap >> digit & 1 for digit in range(3) for heap in (*self.heaps, role)]

    def evaluate(self) -> int:
        return 0

    shape = (1, 4)


class Changing:
    """The same, as an object that changes itself."""

    actions, shape, roles = PlainHeaps.actions, (1, 4), PlainHeaps.roles

    def __init__(self) -> None:
        self.heaps, self.to_move = [3, 4, 5], 0

    def step(self, action: int) -> None:
        after = PlainHeaps(self.heaps).step(action)
        self.heaps, self.to_move = list(after.heaps), 1 - self.to_move

    legal_actions, is_over, result = PlainHeaps.legal_actions, PlainHeaps.is_over, PlainHeaps.result
    observe = PlainHeaps.observe


class Fluent(Changing):
    def step(self, action: int) -> Fluent:  # type: ignore[override]
        super().step(action)
        return self


class Buggy(PlainHeaps):
    """Three may not be taken from a heap of five."""

    def legal_actions(self) -> list[int]:
        return [a for a in super().legal_actions() if a != 16 or self.heaps[2] != 5]


class Misere(PlainHeaps):
    """Whoever takes the last one loses."""

    def result(self) -> tuple[int, int]:
        return 1 - self.to_move, self.to_move


class Signed(PlainHeaps):
    """Shows numbers of both sides."""

    squares, largest = (2, -2, 1, 0), 2


class Turning:
    """Its step depends on chance."""

    actions, shape, to_move, is_over, result = 2, (1, 1), 0, False, (0, 0)

    def __init__(self, square: int = 1) -> None:
        self.squares = (square,)

    def legal_actions(self) -> range:
        return range(2)

    def step(self, action: int) -> Turning:
        return Turning(int(np.random.default_rng().integers(2)))


def test_it_passes_the_checks() -> None:
    for kind in (Sowing, PlainHeaps, Changing):
        check_rules(kind, num_games=3)


class Strict(Sowing):
    """It is asked for legal actions alone."""

    def step(self, action: int) -> Strict:
        assert not self.is_over
        assert action in self.legal_actions()
        after = super().step(action)
        return Strict(after.squares, after.to_move)


def test_finished_boards_are_left_alone() -> None:
    """An author's `step` sees no action after the end, and never the number after the last."""
    game, rng = PlainGame(Strict), np.random.default_rng(1)
    check_rules(Strict, num_games=1, max_plies=20)
    state = random_openings(game, 8, (4, 9), rng)
    while not game.is_over(state).all():
        state = game.step(state, game.sample(state, rng))
    kept = game.step(state, game.sample(state, rng), check=True)
    assert all((x == y).all() for x, y in zip(state.arrays, kept.arrays, strict=True))
    for mode in AutoresetMode:
        envs = boardenvs.vec_env(game, 8, autoreset_mode=mode)
        _, info = envs.reset(seed=1)
        for _ in range(60):
            masks = info["action_mask"] + 1e-9  # after an end nothing may be legal
            actions = (masks * rng.random(masks.shape)).argmax(axis=1)
            _, _, terminated, truncated, info = envs.step(actions)
            if mode is AutoresetMode.DISABLED and (over := terminated | truncated).any():
                _, info = envs.reset(options={"reset_mask": over})
    boardenvs.play_match(game, "mcts:5", "greedy", pairs=1)


def test_observations_are_counts_in_binary_digits_and_the_turn() -> None:
    position = GAME.start().step(GAME.parse_action("a1"))
    state = GAME.init(2)
    state = GAME.step(state, np.array([0, 2]), check=True)
    seen = GAME.observe(state)[0]
    own = sum(seen[:, :, digit].astype(int) << digit for digit in range(6))
    assert position.to_move == 1
    assert own.tolist() == [[0] * 7] * 2  # south's and the pits' counts are positive numbers
    theirs = sum(seen[:, :, 6 + digit].astype(int) << digit for digit in range(6))
    assert theirs.ravel().tolist() == position.words[0].board.squares  # type: ignore[attr-defined]
    assert seen[:, :, 12].all()


class Crossing:
    """Connect the lower and upper rank, or the left and right file, by pieces side by side."""

    roles, shape = ("black", "white"), (3, 3)
    actions = tuple(file + rank for rank in "123" for file in "abc")
    mover_symmetry = Symmetry(transpose=True, board=Board(3, 3))

    def __init__(self, squares: tuple[int, ...] = (0,) * 9, to_move: int = 0) -> None:
        self.squares, self.to_move = squares, to_move
        lines = [{0, 3, 6}, {1, 4, 7}, {2, 5, 8}], [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}]
        self.result = tuple(
            any(all(squares[s] == sign for s in line) for line in lines[role])
            for role, sign in enumerate((1, -1))
        )
        self.is_over = any(self.result) or all(squares)

    def legal_actions(self) -> list[int]:
        return [square for square in range(9) if not self.squares[square]]

    def step(self, action: int) -> Crossing:
        squares = [*self.squares]
        squares[action] = 1 - 2 * self.to_move
        return type(self)(tuple(squares), 1 - self.to_move)


class Watched(Crossing):
    def observe(self, role: int) -> list[int]:
        return [int(n == sign * (1 - 2 * role)) for sign in (1, -1) for n in self.squares]


class Backwards(Crossing):
    """Shows its squares from the last one to the first."""

    def __init__(self, squares: tuple[int, ...] = (0,) * 9, to_move: int = 0) -> None:
        super().__init__(squares, to_move)
        self.squares, self.real = squares[::-1], squares

    def legal_actions(self) -> list[int]:
        return Crossing(self.real).legal_actions()

    def step(self, action: int) -> Backwards:
        after = Crossing(self.real, self.to_move).step(action)
        return Backwards(after.squares, after.to_move)


@pytest.mark.parametrize("kind", [Crossing, Watched])
def test_the_second_side_is_seen_as_the_first(kind: type[Crossing]) -> None:
    """The board transposed, with the sides swapped; and so are the actions."""
    game, rng = PlainGame(kind), np.random.default_rng(0)
    state = game.init(8)
    for ply in range(4):
        views = game.views.of_movers(state)
        seen = game.views.seen(state, views)
        assert not seen.to_move.any()
        board = np.arange(9).reshape(3, 3)
        places = (board.T if ply % 2 else board).ravel()
        legal, planes = game.legal(state)[:, :9], game.observe_planes(state)[:, :2].reshape(8, 2, 9)
        np.testing.assert_array_equal(game.legal(seen)[:, :9], legal[:, places])
        shown = game.observe_planes(seen).reshape(8, -1, 9)
        np.testing.assert_array_equal(shown[:, :2], planes[..., places])
        assert not shown[:, 2:].any()
        state = game.step(state, game.sample(state, rng))
    numbered = type("Numbered", (kind,), {"actions": 9})
    with pytest.raises(ValueError, match="names of actions must tell the squares"):
        PlainGame(numbered)


def test_players_and_search() -> None:
    game: Any = boardenvs.games.make(PlainHeaps)
    assert boardenvs.play_match(game, "alphabeta:depth=6", "random", pairs=3).score > 0.5
    with pytest.raises(ValueError, match=r"write Sowing\.evaluate\(self\)"):
        boardenvs.analyse(GAME, "alphabeta")


@pytest.mark.usefixtures("in_machine_code")
def test_the_backend_is_the_same_while_a_game_in_plain_python_is_searched() -> None:
    backends = list[str]()
    trees = Trees(GAME, GAME.init(2), np.zeros(2, np.uint64), TreeSettings(3, 1.0))

    def never() -> bool:
        backends.append(get_backend())
        return False

    trees.search(3, stop=never)
    assert GAME.backend == "numpy"
    assert {*backends} == {get_backend()} == {Heaps().backend}


@pytest.mark.parametrize("analyst", ["alphabeta:depth=12", "mcts:200"])
def test_search_finds_what_it_finds_by_rules_on_words(
    analyst: str,
) -> None:
    plain, fast = (boardenvs.analyse(game, analyst) for game in (PlainGame(PlainHeaps), Heaps()))
    assert plain.outcome == fast.outcome
    assert [move.visits for move in plain.moves] == [move.visits for move in fast.moves]
    if analyst.startswith("alphabeta"):
        assert plain.outcome == "win"
        assert plain.names(plain.line[:1]) == fast.names(fast.line[:1]) == ["a2"]


class Stores(Sowing):
    """Only seeds in the stores count, of which there are none at first."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.result = self.squares[6], self.squares[13]

    def step(self, action: int) -> Stores:
        after = super().step(action)
        return Stores(after.squares, after.to_move)


def test_the_page_counts_seeds_and_not_the_pits_that_hold_some() -> None:
    for kind, counts in ((Sowing, (24, 24)), (Stores, (0, 0))):
        positions, _ = random_line(PlainGame(kind), 1, 200)
        assert describe_position(positions[0])["counts"] == counts
        first, second = sorted(positions[-1].points(), reverse=True)
        assert describe_position(positions[-1])["caption"].endswith(f": {first}-{second}")


def test_texts_and_pictures() -> None:
    position = GAME.start().step(0)
    assert parse_position(GAME, position.fen()) == position
    env = boardenvs.env(GAME, render_mode="ansi")
    env.reset(options={"position": "start c1"})
    assert "south to move" in env.render()
    assert "<svg" in render.to_svg(GAME, position)
    assert "2 S4 S4 S4 S4 S4 S4 ." in write_prompt(GameSession(GAME))
    assert "Sow the seeds" in page_of(GAME)
    assert describe_game(GAME)["text"] == "sowing:Sowing"
    assert [*describe_position(GAME.start())["legal"][2][:2]] == ["c1", (2,)]
    shown = render.ShownGame(GAME, [GAME.start(), position], [0], "a game")
    assert "a1" in render.to_page([shown], title="games")


def test_it_is_kept_and_sent_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(GAME)) == GAME == boardenvs.games.make(Sowing)
    assert pickle.loads(pickle.dumps(GAME.start())) == GAME.start()


def test_it_has_the_id_and_the_parameters_that_it_is_given() -> None:
    """An id alone is no other game; parameters are, whose positions are not its own."""
    nim, usual = PlainGame(PlainHeaps, "nim", heaps=(1, 2, 3)), PlainGame(PlainHeaps)
    named: Any = type("Named", (PlainHeaps,), {"id": "called"})
    assert [game.id for game in (nim, usual, PlainGame(named))] == ["nim", "plain_heaps", "called"]
    sent = pickle.loads(pickle.dumps(nim))
    assert (sent, sent.id, sent.parameter("heaps"), sent.parameter("to_move")) == (
        nim,
        "nim",
        (1, 2, 3),
        0,
    )
    assert not hasattr(nim, "nothing")
    other = PlainGame(PlainHeaps, "other", heaps=(1, 2, 3))
    assert [nim.has_rules_of(game) for game in (other, usual, GAME, Heaps())] == [True] + [
        False
    ] * 3
    assert nim.fresh(other.start()).game is nim
    with pytest.raises(PositionError, match="one of plain_heaps, not of nim"):
        nim.fresh(usual.start())


class Tall(Crossing):
    """Lists where others have tuples, and numbers that are no whole ones at the end."""

    def __init__(self, squares: tuple[int, ...] = (0,) * 9, to_move: int = 0) -> None:
        super().__init__(squares, to_move)
        self.shape: Any = [3, 3]
        self.result: Any = [0.25 + x / 2 for x in self.result]


@pytest.mark.parametrize("kind", [Tall, PlainHeaps])
def test_environments_show_what_positions_show(kind: Any) -> None:
    game = PlainGame(kind)
    env = boardenvs.raw_env(game, reward="zero_sum")
    env.reset()
    for position, action in zip(*random_line(game, 3, 99), strict=False):
        for role, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            board: Any = position.words[0]
            planes = game.kernels._observed([board], np.array([role], np.int8))
            shown = seen["observation"].transpose(2, 0, 1).ravel()
            assert shown.tolist() == planes[0].tolist()
            legal = position.legal_actions() if role == position.to_move else []
            assert np.flatnonzero(seen["action_mask"]).tolist() == legal
        env.step(action)
    last = random_line(game, 3, 99)[0][-1]
    signs = [(goal - 50) / 50 for goal in last.result()]
    assert [env.rewards[agent] for agent in env.possible_agents] == signs != [0, 0]


@pytest.mark.parametrize("to_move", [0, 1])
def test_results_may_be_numbers_of_any_kind(to_move: int) -> None:
    for result, goals in (
        ((0.25, 0.75), (0, 100)),
        ((0.5, 0.5), (50, 50)),
        ((True, False), (100, 0)),
        (np.array([-2, -1]), (0, 100)),
        (None, (50, 50)),
    ):
        kind = type("Ended", (Turning,), {"result": result, "to_move": to_move})
        assert PlainGame(kind).start().result() == goals


def test_batches_are_packed_with_the_moves_that_led_to_them() -> None:
    positions = [random_line(GAME, seed, 3 * seed)[0][-1] for seed in range(4)]
    state = stack(positions)
    paths, *rest = GAME.packed(state)
    assert [[a for a in path if a >= 0] for path in paths.tolist()] == [
        p.words[0].actions  # type: ignore[attr-defined]
        for p in positions
    ]
    again = GAME.unpacked([paths, *rest])
    assert GAME.positions(again) == positions
    assert copy.deepcopy(positions[3]) == positions[3]
    with pytest.raises(TypeError, match="words of the state must be boards of sowing"):
        GAME.check_state(state._replace(words=(np.array([None] * 4, object),)))
    with pytest.raises(ValueError, match="the state has"):
        GAME.check_state(boardenvs.games.make("go").init(4))


def test_both_programs_of_a_game_are_compared() -> None:
    check_rules(Heaps(), num_games=5, against=PlainHeaps)
    with pytest.raises(RulesError) as error:
        check_rules(Heaps(), num_games=5, against=Buggy)
    text = str(error.value)
    assert re.match(
        r"heaps differs at ply 0, after no move: the legal moves are a1 .*, in Buggy", text
    )
    assert "heap_a=3 heap_b=4 heap_c=5" in text
    assert text.endswith("\nstart")
    again = {"step": lambda self, action: type(self)(self.left(action), self.to_move)}
    short = {"is_over": lambda self: sum(self.heaps) < 2}
    for game, other, said in (
        (Heaps(), Misere, r"the result is \(100.0, 0.0\), in Misere \(0"),
        (
            Heaps(),
            type("Again", (PlainHeaps,), again),
            "ply 1, .*the side to move is 1, in Again 0",
        ),
        (Heaps(), type("Short", (PlainHeaps,), short), "it is over: False, in Short True"),
        (Crossing, Backwards, r"ply 1, .*squares of the sides are \(.*\), in Backwards \("),
    ):
        with pytest.raises(RulesError, match=said):
            check_rules(game, num_games=9, against=other)


def test_numbers_of_both_sides_are_written_without_signs() -> None:
    game = PlainGame(Signed)
    assert game.labels(game.start()) == {0: "2", 1: "2", 2: "1"}


@pytest.mark.usefixtures("in_machine_code")
def test_rules_are_checked_by_python_whatever_compiles_them() -> None:
    used = list[str]()

    def legal(board: Turning) -> list[int]:
        used.append(get_backend())
        return [0, 1]

    with pytest.raises(RulesError):
        check_rules(type("Noting", (Turning,), {"legal_actions": legal}), num_games=1)
    assert ({*used}, get_backend()) == ({"numpy"}, "numba")


def test_chance_is_found() -> None:
    with pytest.raises(RulesError, match="different positions: games have two players, who see"):
        check_rules(Turning, num_games=20)


WRONG: list[tuple[str, object, str]] = [
    ("is_over", None, "is_over is None: it must be True or False"),
    ("legal_actions", lambda _: [0.0], r"legal_actions\(\) is \[0.0\]: .* numbers of .*, 0 to 20"),
    ("legal_actions", lambda _: [False, True], r"legal_actions\(\) is \[False, True\]: it must be"),
    ("legal_actions", lambda _: [1, 0, 1], r"is \[1, 0, 1\]: .*, 0 to 20, each once"),  # a mask
    ("to_move", 1.0, "to_move is 1.0: it must be 0 or 1"),
    ("observe", lambda *_: [0.5, 1, 1, 0], r"observe\(role\) is \[0.5, 1, .* be planes of 4 whole"),
    ("observe", lambda *_: [], r"observe\(role\) is \[\]: it must be planes of 4 whole numbers"),
    ("squares", [1, 2], r"squares is \[1, 2\]: it must be 4 whole numbers from -1 to 1"),
    ("actions", 0, "actions of Wrong is 0: it must be names, or how many .*, 1 to 1000000"),
    ("shape", 4, "the shape of Wrong is 4: it must be two numbers of ranks and files"),
    ("max_plies", "9", "max_plies of Wrong is '9': it must be 1 or more, or None"),
    ("roles", None, "the roles of Wrong are None: they must be two words"),
    ("roles", ("red", "green", "blue"), "Wrong has 3 roles: games have two players"),
    ("result", property(attrgetter("nothing")), "Wrong lacks result: a position needs them"),
    ("step", lambda _, action: action, r"step\(action\) is \d+: it must be another position, or N"),
    ("look", "felt", "look of Wrong is 'felt': it must be a Look"),
    ("largest", 0, "largest is 0: it must be a whole number from 1 on"),
    ("opening_plies", 3, "opening_plies of Wrong are 3: they must be a range"),
    *(
        ("evaluate", lambda _, value=value: value, rf"evaluate\(\) is {value}: .* number below 1")
        for value in (100_000, -100_000, 1.5, True)
    ),
    *(("result", x, "result is .*: it must be two numbers") for x in (5, (1,), (2**70, 0), "ab")),
]


def test_no_two_actions_are_called_pass() -> None:
    members = {"actions": [*map(str, range(20)), "pass"], "legal_actions": lambda _: []}
    with pytest.raises(ValueError, match="must be the number of its 'pass'"):
        PlainGame(type("Stuck", (PlainHeaps,), members)).start()


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_value_that_no_game_can_have_is_named(name: str, value: Any, message: str) -> None:
    kind: Any = type("Wrong", (PlainHeaps,), {"__init__": lambda *_: None, "heaps": (1, 2, 3)})
    kind.to_move = 0
    setattr(kind, name, value)

    def play() -> None:
        game = PlainGame(kind)
        game.kernels.points.one(*game.start()[0], 0)
        game.values(game.init(1))

    with pytest.raises((TypeError, ValueError), match=message):
        play()


class Wide(PlainHeaps):
    """The same with numbers of actions from 33,000 on, which 16 bits do not hold."""

    actions: Any = 40_000

    def legal_actions(self) -> list[int]:
        return [33_000 + action for action in super().legal_actions()]

    def step(self, action: int) -> PlainHeaps:
        return super().step(action - 33_000)


class Bounded(PlainHeaps):
    """Its heaps have at most so many; what has no type of a text is no parameter of the rules."""

    def __init__(self, most: int = 9, to_move: Any = 0, heaps: Any = (3, 4, 5)) -> None:
        super().__init__([min(most, heap) for heap in heaps], to_move)

    def step(self, action: int) -> Bounded:
        return Bounded(9, 1 - self.to_move, self.left(action))


def test_a_file_names_the_rules_of_a_plain_class_or_says_that_it_cannot() -> None:
    """A game is that of its file, whether defaults are given or not."""
    for game in (PlainGame(Bounded), PlainGame(Bounded, most=2)):
        named = boardenvs.games.to_file(game)
        assert named["game"] == "test_plain:Bounded"
        assert boardenvs.games.make_from_file(named["game"], **named["rules"]).has_rules_of(game)
    with pytest.raises(ValueError, match="heaps cannot be given in a text: it must be annotated"):
        boardenvs.games.make("test_plain:Bounded:heaps=3")
    with pytest.raises(
        ValueError, match="no file can name the rules of this game, 'test_plain:Bounded' has"
    ):
        boardenvs.games.to_file(PlainGame(Bounded, heaps=[1, 2, 3]))


class Points(PlainHeaps):
    """Its parameter is called as a method of games is, and the sizes of its heaps as a board's."""

    margin_counts = True

    def __init__(self, points: int = 3, size: int = 4, to_move: Any = 0, heaps: Any = None) -> None:
        super().__init__(heaps or (1, size, 1), to_move)
        self.points, self.size = points, size

    def step(self, action: int) -> Points:
        return Points(self.points, self.size, 1 - self.to_move, self.left(action))

    @property
    def result(self) -> Any:
        return np.array([self.to_move, 1 - self.to_move]) * self.points


def test_parameters_have_any_names_and_points_any_whole_type() -> None:
    game = boardenvs.games.make("test_plain:Points:points=5,size=2")
    assert boardenvs.games.spec_of(game) == "test_plain:Points:points=5,size=2"
    with pytest.raises(ValueError, match="there is no exam for test_plain:Points:points=5,size=2"):
        exam_positions(game)
    assert game.board.size == 4
    position = game.start().step(0).step(game.parse_action("b2")).step(game.parse_action("c1"))
    assert position.terminated
    assert position.points() == (5, 0)


def test_large_numbers_of_actions_are_played_as_they_are() -> None:
    game = PlainGame(Wide, heaps=[3, 4, 5])
    match = boardenvs.play_match(game, "mcts:2", "random", pairs=1)
    assert match.actions is not None
    assert match.actions.max() >= 33_000
    assert hash(game) == hash(PlainGame(Wide))  # although a list is no key


class Shared(Turning):
    """Its copies share their squares, so that a turn shows in the position before."""

    actions: Any = 1
    is_over: Any = property(attrgetter("ended"))
    squares: Any

    def __init__(self, squares: Any = None, plies: int = 0) -> None:
        self.squares, self.plies, self.ended = squares or [0], plies, plies > 2

    def legal_actions(self) -> range:
        return range(1)

    def step(self, action: int) -> Shared:
        self.squares[0] ^= 1
        return Shared(self.squares, self.plies + 1)


def test_squares_that_positions_share_are_found() -> None:
    with pytest.raises(RulesError, match="changes its own"):
        check_rules(Shared, num_games=2)


def test_an_object_that_changes_and_returns_itself_is_copied_before() -> None:
    position = PlainGame(Fluent).start()
    assert [len(position.step(a).legal_actions()) for a in (0, 18, 0)] == [11, 7, 11]
    assert len(position.legal_actions()) == 12


def test_pieces_of_both_sides_count_and_a_value_is_of_the_side_to_move() -> None:
    parts = {"__init__": lambda self: None, "squares": (1, -1, -1, 0), "shape": (1, 4)}
    game = PlainGame(type("Still", (Turning,), {**parts, "evaluate": lambda self: 7}))
    state = game.init(2)
    assert game.piece_counts(state).tolist() == [3, 3]
    assert game.empty_squares(state).tolist() == [1, 1]
    assert game.kernels.pieces_of(state.words[0][0].board) == (0b1, 0b110)
    assert game.values(state).tolist() == [7, 7]


class Blind:
    """Shows nothing."""

    actions, to_move, is_over, result = 1, 0, False, None

    def legal_actions(self) -> list[int]:
        return [0]

    def step(self, action: int) -> Blind:
        return Blind()


def test_wrong_classes_positions_and_kernels() -> None:
    with pytest.raises(TypeError, match="<class 'int'> is no class of positions in plain Python"):
        PlainGame(int)
    with pytest.raises(PositionError, match=r'it must be "start" and the moves since then'):
        parse_position(GAME, "8/8 black 0")
    with pytest.raises(PositionError, match="a position of sowing is made by playing from"):
        GAME.position((0, 0))
    with pytest.raises(TypeError, match="sowing is written in plain Python: it has no rules on w"):
        GAME.moves()
    with pytest.raises(TypeError, match=r"Blind lacks squares, or observe\(role\)"):
        PlainGame(Blind).start()
    with pytest.raises(ValueError, match="plain Python: step_words is compiled for rules"):
        GAME.kernels.step_words.program()
    with pytest.raises(boardenvs.IllegalActionError, match=r"legal: 0 \(a1\)"):
        GAME.start().step(11)


def test_the_guide_s_program_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 40 lines."""
    pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    text = Path(str(sys.modules[Sowing.__module__].__file__)).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    few, short = {"pairs": 1}, {"batch_size": 128, "steps_per_update": 8}
    given = f"128, self_play={{'boards': 16}}, ppo={short}, evaluation={few}, report={few}"
    text = text.replace("200_000", given).replace("pairs=50", "pairs=1")
    Path("program.py").write_text(text, encoding="utf-8")
    runpy.run_path("program.py", run_name="__main__")
    assert Path("runs/sowing/policy.npz").exists()
