"""Environments that show themselves: PettingZoo's render test, a window without a screen."""

import copy
import os
import pickle

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import render_test
from variants import public_module

import boardenvs
from boardenvs import games
from boardenvs.envs.factory import gymnasium_id

pytest.importorskip("pygame", reason="the extra render is not installed")

GAME_IDS = list(games.GAMES)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setitem(os.environ, "SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("boardenvs.envs.core.FRAMES_PER_SECOND", 1000)


@pytest.mark.parametrize("game_id", GAME_IDS)
@pytest.mark.parametrize("maker", ["env", "raw_env"])
def test_pettingzoo_accepts_it(game_id, maker):
    render_test(getattr(public_module(game_id), maker))


@pytest.mark.parametrize("game_id", GAME_IDS)
@pytest.mark.parametrize("maker", ["env", "parallel_env"])
def test_a_move_changes_the_picture(game_id, maker):
    for mode in ("rgb_array", "ansi"):
        env = getattr(public_module(game_id), maker)(render_mode=mode)
        env.reset()
        before = env.render()
        np.testing.assert_array_equal(before, env.render())
        action, noop = env.position.legal_actions()[0], env.game.noop
        start = env.position
        env.step(action if maker == "env" else dict(zip(env.agents, (action, noop), strict=True)))
        assert (env.last_position, env.last_action) == (start, action)
        assert not np.array_equal(before, env.render())


def test_the_window_shows_what_rgb_array_draws():
    import pygame

    env = boardenvs.othello_v0.env(render_mode="human")
    drawn = boardenvs.othello_v0.env(render_mode="rgb_array")
    for e in (env, drawn):
        e.reset()
        e.step(20)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(shown, drawn.render())
    twin = pickle.loads(pickle.dumps(copy.deepcopy(env)))
    assert twin.position == env.position
    env.close()
    assert pygame.display.get_surface() is None
    env.close()


def test_play_goes_on_when_the_window_is_closed_by_hand():
    import pygame

    env = boardenvs.othello_v0.env(render_mode="human")
    env.reset()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(20)
    assert pygame.display.get_surface() is None
    env.step(env.position.legal_actions()[0])
    assert env.position.ply == 2


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_gymnasium_records_it(game_id):
    env = gymnasium.make(gymnasium_id(game_id), render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert gymnasium.make(gymnasium_id(game_id), render_mode="ansi").metadata["render_fps"]
