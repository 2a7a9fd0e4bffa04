"""The perfect agent gets what the solution promises, and no more, against anyone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from placings import CLASSIC, DESCRIBED, SHEEP, WOLF, game_of, random_placings
from variants import make

from boardenvs.agents import Agent, PerfectAgent, check_game, make_agent
from boardenvs.game.contract import stack
from boardenvs.game.perft import successors
from boardenvs.game.state import BoolArray, State, concat, take
from boardenvs.games import WolfAndSheep
from boardenvs.tablebase import Tablebase

OPPONENTS = ["random", "greedy", "perfect"]


def play(game: WolfAndSheep, state: State, wolf: Agent, sheep: Agent, seed: int) -> State:
    """The final positions, rows in their order; a cap ends a game too."""
    rng = np.random.default_rng(seed)
    final = take(state, np.arange(len(state.ply)))
    while True:
        rows = np.flatnonzero(~(final.terminated | game.is_truncated(final)))
        if not len(rows):
            return final
        turns = [rows[final.to_move[rows] == role] for role in (WOLF, SHEEP)]
        for turn, agent in zip(turns, (wolf, sheep), strict=True):
            if len(turn):
                part = take(final, turn)
                after = game.step(part, agent.act(game, part, rng))
                for field, values in zip(final, after, strict=True):
                    field[turn] = values


def won(game: WolfAndSheep, final: State, role: int) -> BoolArray:
    """Which games the role has won, the cap's verdict included."""
    result: BoolArray = game.results(final)[:, role] == 100
    return result


@pytest.mark.parametrize("max_plies", [None, 12])
@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("variant", [CLASSIC, DESCRIBED])
def test_from_anywhere_it_gets_what_is_promised(
    variant: str, opponent: str, max_plies: int | None
) -> None:
    """Playing either role: a winner wins in time; a loser wins or lasts as long as it can."""
    game = game_of(variant, max_plies)
    state = concat([game.init(20), random_placings(game, 400, seed=7)])
    value, distance = Tablebase.load(game).lookup(state)
    assert (value == 0).any() == (max_plies is not None)  # that is the wolf's, at the cap
    promised_to_wolf = (value == 0) | (value == np.where(state.to_move == WOLF, 1, -1))
    for role in (WOLF, SHEEP):
        players: list[Agent] = [PerfectAgent(), make_agent(opponent)]
        final = play(game, state, players[role], players[1 - role], seed=role)
        promised = promised_to_wolf == (role == WOLF)
        got, plies = won(game, final, role), final.ply - state.ply
        assert got[promised].all()
        assert (plies <= distance)[promised].all()
        held_out = got | (plies >= distance)
        assert held_out[~promised].all()
        if opponent == "perfect":
            np.testing.assert_array_equal(got, promised)
            np.testing.assert_array_equal(plies, distance)
        elif variant == CLASSIC:
            assert got[~promised].any()  # others go wrong


def test_ties_are_drawn_evenly() -> None:
    game = game_of(CLASSIC)
    actions = PerfectAgent().act(game, game.init(4000), np.random.default_rng(0))
    counts = np.unique(actions, return_counts=True)[1]
    assert len(counts) == 2  # mirror images of one another
    assert counts.min() > 1850


def test_a_loser_lasts_and_sets_traps() -> None:
    """Its choices are exactly those that its rule allows, one position and one move at a time."""
    game = game_of(CLASSIC)
    table = Tablebase.load(game)
    state = random_placings(game, 3000, seed=8)
    lost = take(state, (table.lookup(state)[0] == -1) & ~state.terminated)
    told_apart = 0
    for position in game.positions(lost)[:80]:
        _, actions, after = successors(game, stack([position]))
        lasting = table.lookup(after)[1]
        share = []
        for one in game.positions(after):
            replies = [int(table.lookup(stack([one.step(a)]))[0][0]) for a in one.legal_actions()]
            # A reply is right if the side that then moves, the first one, has lost.
            share.append(sum(value != -1 for value in replies) / max(len(replies), 1))
        ranked = list(zip(lasting.tolist(), share, strict=True))
        expected = {a for a, r in zip(actions.tolist(), ranked, strict=True) if r == max(ranked)}
        many = concat([stack([position])] * 40)
        chosen = PerfectAgent().act(game, many, np.random.default_rng(3))
        assert set(chosen.tolist()) == expected
        longest = [r for r in ranked if r[0] == max(lasting)]
        told_apart += len(set(longest)) > 1
    assert told_apart > 3


def test_one_seed_plays_one_game() -> None:
    game = game_of(CLASSIC)
    first, second = (
        play(game, game.init(50), PerfectAgent(), PerfectAgent(), seed=4) for _ in range(2)
    )
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_at_the_cap_it_still_plays() -> None:
    game = game_of(CLASSIC, max_plies=3)
    for ply in (2, 3, 9):
        state = stack([dataclasses.replace(game, max_plies=None).start()._replace(ply=ply)])
        assert game.is_legal(state, PerfectAgent().act(game, state, np.random.default_rng(0))).all()


@pytest.mark.parametrize("game_id", ["othello", "reversi", "lines_of_action"])
def test_other_games_are_refused(game_id: str) -> None:
    game = make(game_id)
    with pytest.raises(ValueError, match=rf"'perfect' cannot play {game_id}.*'wolf_and_sheep'"):
        check_game(PerfectAgent(), game)
    with pytest.raises(ValueError, match="'perfect' cannot play"):
        PerfectAgent().act(game, game.init(1), np.random.default_rng(0))
