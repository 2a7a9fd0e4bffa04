"""The search of rust-reversi as a player: the moves it finds are those of a plain search here."""

from __future__ import annotations

import numpy as np
import pytest
from variants import random_line

from boardenvs import make_agent
from boardenvs.agents import agent_for
from boardenvs.arena import play_match
from boardenvs.game.contract import Game, Position, stack
from boardenvs.games import make
from boardenvs.games.othello import WEIGHTS


@pytest.fixture
def rust() -> None:
    pytest.importorskip("rust_reversi", reason="rust-reversi is not installed")


def worth(game: Game, position: Position, depth: int) -> int:
    """To the side to move, by the weights of the squares."""
    own, opp = position.own, position.opp
    if position.terminated:
        return (1 << 20) * int(np.sign(own.bit_count() - opp.bit_count()))
    if depth == 0:
        return sum(w * ((own >> s & 1) - (opp >> s & 1)) for s, w in enumerate(WEIGHTS))
    return max(
        -worth(game, position.step(action), depth - 1) for action in position.legal_actions()
    )


@pytest.mark.usefixtures("rust")
def test_its_moves_are_the_best_of_a_plain_search() -> None:
    """A wrong square, side or depth would be seen. Its depth is that after the move. Early, where
    no side has to pass: whether a pass counts as a ply is its own affair.
    """
    game = make("othello")
    player = make_agent("rust_reversi:depth=2,evaluator=weights")
    for seed in range(2):
        for position in random_line(game, seed, 36)[0][1::5]:
            (action,) = player.act(game, stack([position]), np.random.default_rng(0))
            assert -worth(game, position.step(int(action)), 2) == worth(game, position, 3)


@pytest.mark.usefixtures("rust")
def test_it_plays_whole_games() -> None:
    result = play_match(make("othello"), "rust_reversi:depth=3", "random", pairs=3)
    assert result.score > 0.6
    assert not result.faults[0].forfeits


@pytest.mark.usefixtures("rust")
@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        ("rust_reversi:depth=0", "othello", "depth is 0: it must be 1 to 60 plies"),
        ("rust_reversi:evaluator=disks", "othello", "evaluator of rust-reversi"),
        ("rust_reversi", "othello_holes", "without holes"),
        ("rust_reversi", "lines_of_action", "not lines_of_action"),
    ],
)
def test_wrong_texts_are_named(text: str, game: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agent_for(make(game), text)


def test_without_it_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boardenvs.agents.rust_reversi.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install rust-reversi"):
        make_agent("rust_reversi:depth=2")
