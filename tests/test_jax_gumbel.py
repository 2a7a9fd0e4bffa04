"""Gumbel search in JAX against the search on the processor, by the same networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("mctx", reason="mctx is not installed: pip install '.[jax]'")
pytest.importorskip("torch")

import torch as th
from test_gumbel_training import BOARDS, TINY, Recorder

import boardenvs
from boardenvs.agents.jax_players import network_of
from boardenvs.envs.jax.gumbel import JaxGumbel
from boardenvs.game.contract import Game
from boardenvs.game.openings import random_openings
from boardenvs.search.gumbel import GumbelSettings, gumbel_search
from training.gumbel.network import NetworkEvaluator, new_network
from training.gumbel.self_play import SelfPlay
from training.gumbel.settings import GumbelConfig

th.set_num_threads(1)


def evaluator(game: Game) -> NetworkEvaluator:
    """An untrained network that is of an opinion."""
    th.manual_seed(1)
    network = new_network(game, (32,), "float32")
    with th.no_grad():
        for head in (network.policy_head, network.value_head):
            head.weight.mul_(30)
    return NetworkEvaluator(network)


@pytest.mark.parametrize(
    ("name", "plies", "simulations"),
    [
        ("othello", (30, 59), 12),  # passes, and games that end within the search
        ("wolf_and_sheep:max_plies=30", (8, 29), 20),  # by the cap too
        ("boardenvs_checkers:Checkers", (10, 60), 16),  # turns that go on
    ],
)
def test_it_finds_what_the_search_on_the_processor_finds(
    name: str, plies: tuple[int, int], simulations: int
) -> None:
    """With noise and without; also where a move wins at once."""
    game, rng = boardenvs.games.make(name), np.random.default_rng(0)
    state = random_openings(game, 200, plies, rng)
    noise = rng.gumbel(size=(200, game.num_actions))
    noise[::2] = 0
    settings, judge = GumbelSettings(simulations, 5, c_scale=0.2), evaluator(game)
    expected = gumbel_search(game, state, noise, settings, judge)
    found = JaxGumbel(game).search(state, noise, settings, network_of(judge.policy(game)))
    np.testing.assert_array_equal(found.actions, expected.actions)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-4)
    np.testing.assert_allclose(found.policy, expected.policy, atol=1e-3)
    assert 2 < (expected.values > 0.999).sum() < 150
    prior = judge.evaluate(game, state)[0].argmax(axis=1)
    assert (expected.actions != prior)[::2].sum() > 20


def test_self_play_is_the_same() -> None:
    plies: list[Any] = []
    for in_jax in (False, True):
        search = {"simulations": 6, "considered": 3, "full_share": 1, "in_jax": in_jax}
        settings = {**TINY, "name": "tiny", "game": "three_in_a_row:ThreeInARow", "search": search}
        settings |= {"self_play": {"boards": BOARDS}, "learning": {"replay": 1 << 11}}
        config = GumbelConfig.model_validate(settings)
        play, recorder = SelfPlay(config, config.make_game()), Recorder()
        play.play(evaluator(play.game), 12, recorder)
        plies.append(recorder.plies)
    for ours, others in zip(*plies, strict=True):
        for a, b in zip(ours[0].arrays, others[0].arrays, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(ours[1], others[1], atol=1e-3)
