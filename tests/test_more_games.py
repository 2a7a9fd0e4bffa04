"""The familiar games, with more state, other turns and other boards: their rules against
OpenSpiel's, and every interface.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from author_games import Stripes
from growing import search_trees
from negamax import WIN, worths
from openspiel_games import GAMES, compare
from pettingzoo.test import api_test, parallel_api_test
from test_policy import random_policy
from variants import make, random_line

import boardenvs
from boardenvs import records
from boardenvs.agents import make_agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.game import Game, PositionError, check
from boardenvs.game.check import check_rules
from boardenvs.game.fen import parse_position
from boardenvs.game.position import Position, stack
from boardenvs.games import Checkers, ConnectFour
from boardenvs.play.review import loss_of
from boardenvs.search import Limits, search_position

pytestmark = pytest.mark.usefixtures("as_written")

game = Checkers()
Seeds = np.ndarray[Any, np.dtype[np.uint64]]

LATE = "8/6w1/8/4b3/3w4/8/1b6/8 black 31 kings=b2,g7 quiet=7"


def late_positions(game: Game) -> list[Position]:
    """Of several games, some plies before their ends; one where the side to move has moved."""
    found = []
    for seed in range(6):
        line, _ = random_line(game, seed, 500)
        again = [b for a, b in pairwise(line[:-1]) if a.to_move == b.to_move]
        found += [line[-4], line[-7], *again[-1:]]
    return found


every_game = pytest.mark.parametrize("name", GAMES)
# Whose machine code takes long to compile: `make compiled` has them on both backends.
LARGE = ("chess", "go")


@every_game
def test_rules_are_those_of_openspiel(name: str) -> None:
    assert compare(name) > 300


@pytest.mark.parametrize("name", [name for name in GAMES if name not in LARGE])
def test_rules_are_consistent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In machine code those with most state."""
    if name in ("connect_four", "tictactoe"):
        monkeypatch.setattr(check, "find_spec", lambda name: None)
    most = 60 if name == "nine_mens_morris" else 10_000  # others soon end
    check_rules(GAMES[name].game, num_games=1, max_plies=most)


def test_a_position_that_comes_again() -> None:
    """For the third time it is a draw in chess; a record goes on from what has been."""
    chess = GAMES["chess"].game
    moves = "g1f3 g8f6 f3g1 f6g8 " * 2
    actions = [chess.parse_action(move) for move in moves.split()]
    line = list(records.replay(records.make_record(chess, actions)))
    assert [position.is_over() for position in line] == [False] * 8 + [True]
    assert line[-1].result() == (50, 50)
    assert not parse_position(chess, line[-1].fen()).is_over()  # a text tells nothing of before
    env, seen = boardenvs.raw_env(chess), []
    env.reset()
    for action in actions:  # a plane of ones where the position has been there
        seen.append(env.observe(env.agent_selection)["observation"][..., 11].mean())
        env.step(action)
    assert seen == [0] * 4 + [1] * 4


# Lines of play by length, as python-chess counts them: of Kiwipete and other usual positions; with
# castling past attacked squares; with pawns en passant that give check or shield a king.
PERFT = {
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -": [48, 2039, 97862],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -": [14, 191, 2812, 43238],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -": [6, 264, 9467],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": [46, 2079, 89890],
    "r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq -": [44, 1494],
    "r3k2r/8/3Q4/8/8/5q2/8/R3K2R w KQkq -": [45, 1510],
    "8/8/8/2k5/4p3/8/3P4/4K3 w - -": [6, 54, 364],
    "3k4/8/8/8/3p4/8/2P5/3RK3 w - -": [12, 69, 1019],
    "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3": [6, 121],
    "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6": [8, 104],
    "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6": [6, 82],
}


@pytest.mark.parametrize("fen", PERFT)
def test_moves_of_chess_are_counted_as_by_others(fen: str) -> None:
    position = parse_position(boardenvs.games.make("chess"), fen)
    counts = [boardenvs.perft(position.game, d, position) for d in range(1, len(PERFT[fen]) + 1)]
    assert counts == PERFT[fen]


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("3k4/8/8/8/3p4/8/2P5/3RK3 w - -", "c2c4 d8e7 e1e2 e7d8 e2e1 d8e7 e1e2 e7d8 e2e1"),
        ("4k3/8/8/8/1p6/8/P7/4K3 w - -", "a2a4 e8e7 e1e2 e7e8 e2e1 e8e7 e1e2 e7e8 e2e1 e8e7"),
    ],
    ids=["pinned", "free"],
)
def test_a_position_is_another_only_while_a_capture_en_passant_is_legal(
    fen: str, moves: str
) -> None:
    """The pawn that is pinned to its king cannot take; the free one can, once."""
    position = parse_position(boardenvs.games.make("chess"), fen)
    for move in moves.split():
        assert not position.is_over()
        before, position = position, position.step(position.game.parse_action(move))
        if before.ply == 0:
            assert position.word("en_passant") == (0 if "R" in fen else 1 << 16)
    assert position.is_over()
    assert position.game.ending(position) == "by repetition"


def test_a_position_of_chess_is_remembered_for_fifty_moves() -> None:
    """Kings on walks of four and of five steps are where they were after twenty moves."""
    position = parse_position(boardenvs.games.make("chess"), "4k3/8/8/p7/P7/8/8/4K3 w - -")
    walks = ["e1d1", "d1d2", "d2e2", "e2e1"], ["e8d8", "d8c7", "c7d7", "d7e7", "e7e8"]
    while not position.is_over():
        moves, number = walks[position.to_move], position.ply // 2
        position = position.step(position.game.parse_action(moves[number % len(moves)]))
    assert (position.ply, position.game.ending(position)) == (80, "by repetition")


def test_checkers_is_drawn_after_forty_moves_of_each_side() -> None:
    """In which no man moves; in OpenSpiel after 40 plies in which nothing is captured."""
    cycle = ["b2-c1", "e7-f8", "c1-b2", "f8-e7"] * 21
    for rules, plies in (("american", 80), ("openspiel", 40)):
        position = parse_position(
            Checkers(rules=rules), "8/4b3/8/b7/8/6w1/1w6/8 white 0 kings=b2,e7 quiet=7"
        )
        man = position.step(position.game.parse_action("g3-h4"))
        assert man.word("quiet") == (0 if rules == "american" else 8)
        assert not man.is_over()
        played = 7
        while not position.is_over():
            position = position.step(position.game.parse_action(cycle[played - 7]))
            played += 1
        assert (played, position.result()) == (plies, (50, 50))
        assert position.game.check_values(stack([position])) == 1


def test_texts_name_what_is_beside_the_squares() -> None:
    position = parse_position(game, LATE)
    assert position.fen() == LATE
    assert position.word("kings") == 1 << 54 | 1 << 9
    for text, message in (
        (LATE.replace("kings", "queens"), "unknown word 'queens'"),
        (LATE.replace("quiet=7", "quiet=81"), "quiet is 81: it must be below 81"),
        (LATE.replace("quiet=7", "quiet=x"), "quiet: 'x' is not a number"),
        ("b1b5/8/8/8/8/8/8/w7 white", "a8, c8: pieces stand on dark squares"),
    ):
        with pytest.raises(PositionError, match=message):
            parse_position(game, text)


START = "-" * 27 + "OX------XO" + "-" * 27  # of Othello, as collections of endgames have it


@pytest.mark.parametrize(
    ("text", "to_move", "ply"),
    [
        *((START, 0, 0), (f"{START}X", 0, 0), (f"{START}O", 1, 0), (f"{START} Black", 0, 0)),
        *((f"{START} O", 1, 0), (f"{START} White 13", 1, 13), (f"{START} white", 1, 0)),
        (START.replace("X", "*").replace("O", "o") + " *", 0, 0),
        (START.replace("X", "b").replace("O", "W").replace("-", ".") + "w 7", 1, 7),
        (START.replace("X", "B").replace("O", "w").replace("-", "_") + " red", 1, 0),
    ],
)
def test_positions_of_endgame_collections(text: str, to_move: int, ply: int) -> None:
    othello = make("othello")
    expected = othello.position(othello.start().by_role(), to_move, ply)
    assert parse_position(othello, text) == expected


def test_squares_of_endgame_collections_begin_with_a1() -> None:
    """Wherever that is: Othello counts its ranks from the top."""
    for name, square in (("othello", 56), ("lines_of_action", 0)):
        position = parse_position(make(name), "XX" + "-" * 61 + "O X")
        assert (position.own, position.opp) == (0b11 << square, 1 << (63 ^ square))
    for name in ("go", "connect_four", "hex"):
        for seed in range(3):  # with numbers of two digits on boards of ten files and more
            position = random_line(make(name), seed, 30)[0][-1]
            assert parse_position(position.game, position.fen()).by_role() == position.by_role()


# ---- search --------------------------------------------------------------------------------------


def test_exchanges_are_played_out() -> None:
    """A knight that takes a guarded pawn is lost, and a pawn that is not guarded is won."""
    chess = boardenvs.games.make("chess")
    for moves, best in (("e2e4 e7e5 g1f3 b8c6", False), ("e2e4 e7e5 g1f3 a7a6", True)):
        position = chess.start()
        for move in moves.split():
            position = position.step(chess.parse_action(move))
        found = search_position(position, Limits(1))
        values = {chess.action_name(move.action): move.value for move in found.moves}
        assert (found.names(found.line)[0] == "f3e5") == best
        assert ((values["f3e5"] or 0) > 60) == best


@pytest.mark.parametrize("name", ["chess", "checkers"])
def test_forcing_moves_are_captures_and_new_queens(name: str) -> None:
    """Not pawns that take and become less."""
    game = boardenvs.games.make(name)
    line = random_line(game, 5, 90)[0][: -1 : 9 if name == "chess" else 1]
    texts = [parse_position(game, fen) for fen in PERFT] if name == "chess" else []
    counts = {True: 0, False: 0}
    for position in [*line, *texts]:
        words = game.kernels.forcing.one(*position.words, position.to_move, *position.legal_bits)
        for action in position.legal_actions():
            after, other = position.step(action), 1 - position.to_move
            forcing = after.pieces(other).bit_count() < position.opp.bit_count()
            if name == "chess":
                queens = position.own & position.word("queens"), after.opp & after.word("queens")
                forcing |= queens[0].bit_count() < queens[1].bit_count()
                forcing &= game.action_name(action)[-1] not in "rbn"
            assert words[action // 64] >> action % 64 & 1 == forcing, game.action_name(action)
            counts[forcing] += 1
    assert min(counts.values()) > 10


def test_a_review_counts_what_follows_for_the_mover() -> None:
    """Where the analysis does not know the move, it is worth what comes after it."""
    line, actions = random_line(game, 3, 30)
    signs = set()
    for action, (before, after) in zip(actions, pairwise(line[:-1]), strict=False):
        seen, following = (search_position(p, Limits(2)) for p in (before, after))
        known, _ = loss_of(action, replace(seen, moves=()), following)
        expected = following.value if after.to_move == before.to_move else -(following.value or 0)
        assert known == expected
        signs.add(after.to_move == before.to_move)
    assert signs == {True, False}


def test_trees_prove_what_plain_search_proves() -> None:
    decided = 0
    for position in late_positions(game):
        seeds = np.zeros(1, np.uint64)
        found = search_trees(game, stack([position]), seeds, simulations=150)
        for action in position.legal_actions():
            lower, upper = found.lower[0, action], found.upper[0, action]
            assert lower <= found.values[0, action] <= upper
            if lower == upper:
                decided += 1
                plain = worths(game, position, 6)[action]
                assert abs(plain) < WIN // 2 or np.sign(plain) == lower
    assert decided > 5


@dataclass(frozen=True)
class Learnt(ConnectFour):
    files: ClassVar = Path()


def test_what_is_learnt_of_it_is_found_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learnt, "files", tmp_path)
    game, rng = Learnt(), np.random.default_rng(0)
    with pytest.raises(ValueError, match="there is no trained policy for"):
        make_agent("trained").act(game, game.init(1), rng)
    policy = random_policy(game)
    (tmp_path / "policies").mkdir()
    save_policy(policy, tmp_path / "policies" / "connect_four.npz")
    state = game.init(5)
    expected = PolicyAgent(policy).act(game, state, rng)
    np.testing.assert_array_equal(make_agent("trained").act(game, state, rng), expected)


# ---- interfaces ----------------------------------------------------------------------------------


@every_game
def test_environments_follow_the_turn(name: str) -> None:
    api_test(boardenvs.env(GAMES[name].game), num_cycles=300)
    parallel_api_test(boardenvs.parallel_env(GAMES[name].game), num_cycles=300)


def test_a_record_from_the_middle_of_a_turn_is_read_back(tmp_path: Path) -> None:
    line, actions = random_line(game, 3, 500)
    begun = next(ply for ply, position in enumerate(line) if position.word("jumper"))
    record = records.make_record(game, actions[begun:], start=line[begun])
    records.save(tmp_path / "games.jsonl", [record])
    (read,) = records.load(tmp_path / "games.jsonl")
    assert list(records.replay(read)) == line[begun:]


def test_boards_that_differ_are_remembered_by_different_numbers() -> None:
    """Two pieces of each side on any squares: a hash by one multiplication has 15 collisions."""
    rng, game = np.random.default_rng(1), boardenvs.games.make("lines_of_action:rules=tournament")
    squares = np.uint64(1) << rng.integers(64, size=(4, 125_000), dtype=np.uint64)
    own, opp = squares[0] | squares[1], squares[2] | squares[3]
    none, keys = np.zeros(125_000, np.uint64), np.empty(125_000, np.uint64)
    game.kernels.key.batch([own, opp, none, none, none], [keys])
    assert len(np.unique(keys)) == len(np.unique(np.stack([own, opp]), axis=1).T)


def test_pieces_are_of_one_kind_each_and_squares_out_of_play_are_not_empty() -> None:
    for game, kinds in ((Stripes(), 4), (GAMES["checkers"].game, 6), (make("othello_holes"), 2)):
        positions = [random_line(game, seed, 9)[0][-1] for seed in range(5)]
        state = stack(positions)
        squares = game.kinds_on(state)[:, 0]
        assert len(squares) == game.kernels.num_kinds == kinds
        pieces = [position.own | position.opp for position in positions]
        assert np.bitwise_or.reduce(squares).tolist() == pieces
        assert np.bitwise_count(squares).sum(axis=0).tolist() == [p.bit_count() for p in pieces]
        in_play = game.board.all & ~game.holes
        empty = [(in_play & ~one).bit_count() for one in pieces]
        assert game.empty_squares(state).tolist() == empty


def test_hex_is_seen_as_it_is_and_turned_by_half() -> None:
    game = boardenvs.games.make("hex")
    images = [game.action_images(symmetry)[:121].tolist() for symmetry in game.symmetries]
    assert sorted(images) == [[*range(121)], [*range(120, -1, -1)]]
