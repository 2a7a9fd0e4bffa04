"""The familiar games: names of moves, results in words, and what pictures show."""

from __future__ import annotations

import pytest

from boardenvs import games
from boardenvs.game import Game
from boardenvs.game.fen import parse_position
from boardenvs.game.position import Position
from boardenvs.play import parse_move

# Games in algebraic notation, of which the last moves are: mate, castling on both sides, capture en
# passant, check, two knights that could go there, by file and by rank, and promotion.
LINES = {
    "f3 e5 g4 Qh4#": "d8h4",
    "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#": "h5f7",
    "e4 e5 Nf3 Nc6 Bc4 Nf6 O-O": "e1g1",
    "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O": "e1c1",
    "e4 a6 e5 d5 exd6": "e5d6",
    "e4 d6 Bb5+": "f1b5",
    "Nf3 a6 d3 a5 Nbd2": "b1d2",
    "Nf3 a6 d3 a5 Nfd2": "f3d2",
    "Nc3 a6 Nd5 a5 Nf3 b6 Nd4 b5 Nb3 a4 Nc5 b4 Ne4 a3 Nec3": "e4c3",
    "a4 b5 axb5 a6 bxa6 Bb7 a7 Bc6 axb8=Q": "a7b8",
    "a4 b5 axb5 a6 bxa6 Bb7 a7 Bc6 axb8=N": "a7b8n",
}
# The games' last plies and the results in words.
ENDINGS = {
    ("chess", "f2f3 e7e5 g2g4 d8h4"): "by checkmate",
    ("chess", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"): "by repetition",
    ("go", "pass pass"): "by 7.5 points",
    ("connect_four", "1 2 1 2 1 2 1"): "by four in a line",
    ("tictactoe", "a1 a2 b1 b2 c1"): "by three in a line",
    ("tictactoe", "a1 b1 c1 b2 a2 c2 b3 a3 c3"): "on a full board",
}
TEXTS = {  # of chess
    "7b/5w2/6w1/8/8/8/8/8 black 99 queens=f7 kings=g6,h8": "by stalemate",
    "7b/8/6w1/8/8/8/8/8 black 99 kings=g6,h8": "by insufficient material",
}


def _played(game: Game, names: str) -> Position:
    position = game.start()
    for name in names.split():
        position = position.step(parse_move(name, position))
    return position


@pytest.mark.parametrize("line", LINES)
def test_moves_of_chess_are_written_and_read_in_algebraic_notation(line: str) -> None:
    chess = games.make("chess")
    names = line.split()
    position = chess.start()
    for name in names:
        action = parse_move(name, position)
        assert chess.other_name(action, position) == name
        before, position = position, position.step(action)
    assert parse_move(LINES[line], before) == action


@pytest.mark.parametrize(("name", "line"), ENDINGS)
def test_games_end_in_words(name: str, line: str) -> None:
    game = games.make(name)
    position = _played(game, line)
    assert position.is_over()
    assert game.ending(position) == ENDINGS[name, line]


@pytest.mark.parametrize("text", TEXTS)
def test_draws_of_chess_end_in_words(text: str) -> None:
    position = parse_position(games.make("chess"), text)
    assert position.is_over()
    assert position.result() == (50, 50)
    assert position.game.ending(position) == TEXTS[text]
