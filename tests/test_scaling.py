"""The page on more cores: what it computes, and that runners and learner work together."""

from __future__ import annotations

import re

import pytest

from training.costs import (
    GPU,
    LEARNING,
    PLAYING,
    RANDOM,
    SEARCHED,
    TRAINER,
    Cost,
    Measured,
    Processes,
    measure_processes,
)
from training.ppo_single_file import parse_args
from training.scaling import page

MICRO = 1e-6


def cells(text: str, heading: str) -> list[list[str]]:
    """The table below a heading, without its head."""
    part = text.split(f"## {heading}")[1].split("\n## ")[0]
    return [re.split(r" *\| *", line)[1:-1] for line in part.splitlines() if line[:2] == "| "][1:]


def test_a_cost_is_the_median_of_its_rounds() -> None:
    cost = Cost.of([3.0, 1.0, 2.0, 5.0, 4.0])
    assert (cost.seconds, cost.rate) == (3.0, 1 / 3)
    assert cost.spread == pytest.approx((4 - 2) / 3)


def test_what_the_page_computes() -> None:
    """By hand: playing costs 10 microseconds a step, learning 20, with searching players 80."""
    costs = {name: Cost(1 * MICRO) for name in (RANDOM, *TRAINER)}
    costs |= {PLAYING: Cost(10 * MICRO), SEARCHED: Cost(80 * MICRO), LEARNING: Cost(20 * MICRO)}
    processes = [Processes(n, Cost(10 * MICRO), Cost(20 * MICRO)) for n in (1, 4)]
    found = Measured(costs, processes, 200, 60.0)
    text = page(parse_args([]), 0.1, found)
    assert cells(text, "Measured: runners and a learner")[0][3:] == ["33,333", "50,000"]
    # Four play in 10, then 4 steps are learnt in 80: 4 in 90 microseconds.
    assert cells(text, "Measured: runners and a learner")[1][3:] == ["44,444", "50,000"]
    # 100 play 10 million a second: a learner is busy from half a runner on.
    alone, searching = cells(text, "Computed: 100 runners")
    assert alone[1:] == ["10,000,000", "50,000", "50,000", "0.5", "200", "10 MB"]
    assert searching[1:] == ["1,250,000", "50,000", "50,000", "4.0", "25", "10 MB"]
    # 60 million steps; against players three boards in eight have half the steps a game.
    rows = cells(text, "Computed: a million games")
    assert rows[0][1:] == ["60 million", "0.17", "0.33", "0.050"]
    assert rows[1][1:] == ["44 million", "0.97", "0.24", "0.121"]
    assert "No GPU was at hand" in text
    costs[GPU] = Cost(1 * MICRO)
    assert "1,000,000 steps a second, it is busy from 10.0 runners" in page(
        parse_args([]), 0.1, found
    )


def test_a_runner_plays_what_a_learner_learns_from() -> None:
    args = parse_args(["--hidden", "16"])
    found = measure_processes(args, runners=1, rounds=1)
    assert found.playing.seconds > 0
    assert found.learning.seconds > 0
