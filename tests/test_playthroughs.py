"""A whole game of each variant, with all facts of each position, compared with a file.

`python tests/test_playthroughs.py` writes the files again; look at what then differs.
"""

from collections.abc import Iterator

import pytest
from rule_sheets import read_move, write_move
from variants import BUILT_IN, HERE, make, random_line

from boardenvs.board.symmetry import ALL_EIGHT
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.render import to_ansi

FOLDER = HERE / "playthroughs"
PLIES = 30


def playthrough(game: Game) -> Iterator[str]:
    yield f"roles {', '.join(game.roles)}"
    yield f"{game.num_actions} actions, observations {game.observation_shape}"
    yield f"max_plies {game.max_plies}, opening_plies {game.opening_plies}"
    yield f"symmetries {[ALL_EIGHT.index(symmetry) for symmetry in game.symmetries]}"
    positions, actions = random_line(game, 7, PLIES if game.max_plies else 200)
    befores, last = [None, *positions], [None, *actions]
    for before, action, position in zip(befores, last, positions, strict=False):
        yield ""
        yield from shown(game, before, action, position)


def shown(
    game: Game, before: Position | None, action: int | None, position: Position
) -> Iterator[str]:
    state, legal = stack([position]), position.legal_actions()
    text = position.fen()
    assert parse_position(game, text) == position
    yield text
    if position.ply % 5 == 0 or position.is_over():
        counts = position.ply % 2 > 0
        yield to_ansi(
            game, position, action, before=before, legal=True, counts=counts, colour=False
        )
    yield "; ".join(f"{a} {game.action_name(a, position)}" for a in legal)
    for a in legal:
        name = game.action_name(a, position)
        sheet = write_move(position, a)
        assert [game.parse_action(name), read_move(game, sheet)] == [a, a]
    if legal:
        yield f"{sheet} on {game.action_squares(legal[-1], position)}"
    yield "planes " + " ".join(f"{word:x}" for word in position.planes())
    yield f"margin {game.score_margin(state)[0]}, result {position.result()}"
    yield f"value {game.values(state)[0]}, features {game.feature_numbers(state)[0].tolist()}"
    yield f"stable {game.kernels.stable.one(position.own, position.opp)[0]:x}"
    if position.is_over():
        yield "terminated" if position.terminated else "truncated"


def text_of(name: str) -> str:
    return "\n".join([*playthrough(make(name)), ""])


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_game_is_as_it_was(name: str) -> None:
    assert text_of(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for variant in BUILT_IN:
        (FOLDER / f"{variant}.txt").write_text(text_of(variant), encoding="utf-8", newline="\n")
