"""A whole game of each variant, with all facts of its positions, compared with a file; of some
games, of a few positions.

`python tests/test_playthroughs.py` writes the files again; look at what then differs.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from rule_sheets import read_move, write_move
from variants import BUILT_IN, FIVE, HERE, make, random_line

from boardenvs.board import symmetries_of
from boardenvs.envs.page import _further_planes
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.games import parse
from boardenvs.render import to_ansi, to_svg
from boardenvs.utils.files import safe_name

FOLDER = HERE / "playthroughs"
PLIES = 30
# Of these, positions so many plies apart, and the last.
OTHERS = {
    "checkers": 15, "chess": 25, "connect_four": 4, "go": 30, "hex": 15, "nine_mens_morris": 15,
    "tictactoe": 2, "go:size=5,komi=0.5": 10, "hex:size=4": 4, "checkers:rules=openspiel": 20,
    "connect_four:rows=4,columns=5,connect=3": 3, "othello:size=6": 6,
    "lines_of_action:size=6": 12, "lines_of_action:rules=tournament": 25,
}  # fmt: skip


def make_game(name: str) -> Game:
    return make(name) if name in BUILT_IN else parse(name)


def playthrough(game: Game, every: int | None = None) -> Iterator[str]:
    yield f"roles {', '.join(game.roles)}"
    yield f"{game.num_actions} actions, observations {game.observation_shape}"
    further = _further_planes(game, game.observation_shape[2])
    yield f"planes {'; '.join(f'{numbers}: {text}' for numbers, text in further) or 'no others'}"
    yield f"max_plies {game.max_plies}, opening_plies {game.opening_plies}"
    turns = symmetries_of(game.board)
    yield f"symmetries {[turns.index(symmetry) for symmetry in game.symmetries]}"
    positions, actions = random_line(game, 7, PLIES if game.max_plies else 200)
    befores, last = [None, *positions], [None, *actions]
    for before, action, position in zip(befores, last, positions, strict=False):
        if not every or position.ply % every == 0 or position.is_over():
            yield ""
            yield from shown(game, before, action, position, drawn=every or 5)


def shown(
    game: Game, before: Position | None, action: int | None, position: Position, drawn: int
) -> Iterator[str]:
    state, legal = stack([position]), position.legal_actions()
    text = position.fen()
    again = parse_position(game, text)
    assert again.fen() == text
    assert game.history or again == position
    yield text
    if position.ply % drawn == 0 or position.is_over():
        counts = position.ply % 2 > 0
        yield to_ansi(
            game, position, action, before=before, legal=True, counts=counts, colour=False
        )
        svg = to_svg(game, position, action, before=before, legal=True, counts=counts)
        yield f"picture {zlib.crc32(svg.encode()):08x}"
    yield "; ".join(f"{a} {game.action_name(a, position)}" for a in legal)
    for a in legal:
        name = game.action_name(a, position)
        assert game.parse_action(name) == a
        if game.id in FIVE and game.board.size == 64:
            sheet = write_move(position, a)
            assert read_move(game, sheet) == a
    if legal:
        usual = game.usual_name(legal[-1], position)
        yield f"{usual} on {game.action_squares(legal[-1], position)}, {game.turn(position)}"
    yield "planes " + " ".join(f"{word:x}" for word in position.planes())
    yield f"margin {game.score_margin(state)[0]}, result {position.result()}"
    if game.has_heuristic:
        yield f"value {game.values(state)[0]}, features {game.feature_numbers(state)[0].tolist()}"
    if game.fills_by_capture:
        yield f"stable {game.kernels.stable.one(position.own, position.opp)[0]:x}"
    if position.is_over():
        yield "terminated" if position.terminated else "truncated"


def text_of(name: str) -> str:
    every = None if name in BUILT_IN else OTHERS[name]
    return "\n".join([*playthrough(make_game(name), every), ""])


def file_of(name: str) -> Path:
    return FOLDER / f"{safe_name(name)}.txt"


@pytest.mark.parametrize("name", [*BUILT_IN, *OTHERS])
def test_the_game_is_as_it_was(name: str) -> None:
    assert text_of(name) == file_of(name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for variant in [*BUILT_IN, *OTHERS]:
        file_of(variant).write_text(text_of(variant), encoding="utf-8", newline="\n")
