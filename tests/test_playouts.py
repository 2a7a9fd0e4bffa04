"""Recorded games of every variant, ply by ply, on one board, and their ends as batches.

Each file in `playouts/` was played by another implementation: by the rule sheets, or for the
`_described` ones by a slow set-based one. A game without a file fails here.
"""

import dataclasses

from reference import REFERENCE
from rule_sheets import read_move
from variants import load_playouts, of_built_in

from boardenvs.board.bitboard import squares_of
from boardenvs.games import WolfAndSheep
from boardenvs.records import check, make_record, replay


def same(game, names, position, cells):
    """Whether the position has these cells. A role is written in full or by its first letter."""
    named = [set(cells.get(role, cells.get(role[0], []))) for role in game.roles]
    return named == [{names[s] for s in squares_of(position.pieces(role))} for role in (0, 1)]


def goals(game, played):
    return played["goals"] and tuple(played["goals"][role] for role in game.roles)


WIN, LOSS, DRAW = (100, 0), (0, 100), (50, 50)
# What the rules of a variant allow; of the wolf's loss in the described ones see test_described.py.
ENDINGS = {
    "othello": {WIN, LOSS, DRAW},
    "othello_holes": {WIN, LOSS, DRAW},
    "reversi": {WIN, LOSS, DRAW},
    "lines_of_action": {WIN, LOSS, DRAW},
    "wolf_and_sheep": {WIN, LOSS},
    "wolf_and_sheep_described": {WIN},
}


@of_built_in
def test_recorded_games(name, game):
    """Role, squares, legal actions, end and goals at each ply."""
    if isinstance(game, WolfAndSheep):
        game = dataclasses.replace(game, max_plies=None)  # they were played without a cap
    games = load_playouts(name)[::2]
    names = [REFERENCE[name].spell(((s % 8 + 1, s // 8 + 1),)) for s in range(64)]
    assert len(games) >= 15
    seen = {goals(game, played) for played in games} - {None}
    assert seen == ENDINGS.get(name, seen)
    texts = {text for played in games for ply in played["plies"] for text in ply["legal"]}
    parsed = {text: read_move(game, text) for text in texts}
    records = [make_record(game, [parsed[p["move"]] for p in g["plies"]]) for g in games]
    for played, record, verdict in zip(games, records, check(records), strict=True):
        *positions, last = replay(record)
        for position, ply in zip(positions, played["plies"], strict=True):
            assert game.roles[position.to_move] == ply["player"], position
            assert same(game, names, position, ply["cells"]), position
            assert position.legal_actions() == sorted(parsed[text] for text in ply["legal"])
            assert not position.terminated, position
        goal = goals(game, played)
        assert same(game, names, last, played["final"]), last
        assert verdict == ("cut off" if goal is None else "finished", goal, None)
        assert record.goal == goal
        assert goal is None or last.legal_actions() == []
