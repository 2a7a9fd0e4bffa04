"""Environments that show themselves: as text, SVG and pixels, and in a window without a screen."""

import pickle
import sys

import numpy as np
import pytest
from pettingzoo.test import render_test
from variants import make, public_module

import boardenvs
from boardenvs import games, render

pygame = pytest.importorskip("pygame", reason="the extra render is not installed")
OTHELLO = make("othello")


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("boardenvs.envs.core.FRAMES_PER_SECOND", 1000)


@pytest.mark.parametrize("game_id", games.GAMES)
def test_pettingzoo_accepts_it(game_id):
    render_test(public_module(game_id).env)


@pytest.mark.parametrize("maker", ["env", "parallel_env"])
@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb"])
def test_the_position_and_the_last_move_are_shown(maker, mode):
    game, draw = make("lines_of_action"), getattr(render, f"to_{mode}")
    env = getattr(boardenvs, maker)(game, render_mode="rgb_array" if mode == "rgb" else mode)
    env.reset()
    start = env.position
    np.testing.assert_array_equal(env.render(), draw(game, start))
    action = start.legal_actions()[0]
    env.step(action if maker == "env" else {"black": action, "white": game.noop})
    shown = draw(game, start.step(action), action, before=start)
    np.testing.assert_array_equal(env.render(), shown)
    env.reset()
    np.testing.assert_array_equal(env.render(), draw(game, start))


@pytest.mark.parametrize(
    ("terminal", "no_colour", "coloured"),
    [
        (False, "", False),  # a pipe, a file, a notebook
        (True, "", True),
        (True, "1", False),
    ],
)
def test_terminals_alone_get_colours(monkeypatch, terminal, no_colour, coloured):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("NO_COLOR", no_colour)
    env, envs = (
        boardenvs.env(OTHELLO, render_mode="ansi"),
        boardenvs.vec_env(OTHELLO, 1, render_mode="ansi"),
    )
    for each in (env, envs):
        each.reset()
    for text in (env.render(), *envs.render()):
        assert ("\x1b[" in text) == coloured


# ---- a window ------------------------------------------------------------------------------------


def test_the_window_shows_what_rgb_array_draws():
    env, drawn = (boardenvs.env(OTHELLO, render_mode=mode) for mode in ("human", "rgb_array"))
    for each in (env, drawn):
        each.reset()
        each.step(20)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(shown, drawn.render())
    assert pickle.loads(pickle.dumps(env)).position == env.position
    pygame.event.post(pygame.event.Event(pygame.QUIT))  # somebody closes it: play goes on
    env.step(env.position.legal_actions()[0])
    assert pygame.display.get_surface() is None
    env.close()


# ---- Gymnasium -----------------------------------------------------------------------------------


def test_vector_environments_draw_every_board():
    envs = boardenvs.vec_env(OTHELLO, 3, render_mode="rgb_array", opening_plies=(2, 6))
    envs.reset(seed=1)
    befores = OTHELLO.positions(envs.batch.state)
    actions = [position.legal_actions()[-1] for position in befores]
    envs.step(np.array(actions))
    for frame, before, action in zip(envs.render(), befores, actions, strict=True):
        np.testing.assert_array_equal(frame, render.to_rgb(OTHELLO, before.step(action), unit=32))
    assert envs.metadata["render_fps"]  # which Gymnasium's recorder asks for
    with pytest.raises(ValueError, match="render_mode"):
        boardenvs.vec_env(OTHELLO, 3, render_mode="human")
