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

pytest.importorskip("pygame", reason="the extra render is not installed")

GAME_IDS = list(games.GAMES)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setitem(os.environ, "SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("boardenvs.envs.core.FRAMES_PER_SECOND", 1000)


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_pettingzoo_accepts_it(game_id):
    render_test(public_module(game_id).env)


@pytest.mark.parametrize("maker", ["env", "parallel_env"])
def test_a_move_changes_the_picture(maker):
    for mode in ("rgb_array", "ansi"):
        env = getattr(boardenvs, maker)("lines_of_action", render_mode=mode)
        env.reset()
        before = env.render()
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


def test_gymnasium_draws_it():
    env = gymnasium.make("boardenvs/Reversi-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().dtype == np.uint8
    assert env.metadata["render_fps"]
