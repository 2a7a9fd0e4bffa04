"""Environments that show themselves: as text, SVG and pixels, and in a window without a screen."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import render_test
from variants import make, public_module

import boardenvs
from boardenvs import games, render

pygame = pytest.importorskip("pygame", reason="the extra render is not installed")
pytestmark = pytest.mark.usefixtures("in_python")
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


# ---- a window ------------------------------------------------------------------------------------


def test_the_window_shows_what_rgb_array_draws():
    env, drawn = (boardenvs.env(OTHELLO, render_mode=mode) for mode in ("human", "rgb_array"))
    for each in (env, drawn):
        each.reset()
        each.step(20)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(shown, drawn.render())
    twin = pickle.loads(pickle.dumps(copy.deepcopy(env)))
    assert twin.position == env.position
    env.close()
    assert pygame.display.get_surface() is None
    env.close()


def test_play_goes_on_when_the_window_is_closed_by_hand():
    env = boardenvs.env(OTHELLO, render_mode="human")
    env.reset()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(20)
    assert pygame.display.get_surface() is None
    env.step(env.position.legal_actions()[0])
    assert env.position.ply == 2


# ---- Gymnasium -----------------------------------------------------------------------------------


def assert_drawn(envs, plies):
    """A picture for each of these last moves."""
    for frame, (before, action, position) in zip(envs.render(), plies, strict=True):
        drawn = render.to_rgb(OTHELLO, position, action, before=before, unit=32)
        np.testing.assert_array_equal(frame, drawn)


def test_vector_environments_draw_every_board():
    envs = boardenvs.vec_env(OTHELLO, 3, render_mode="rgb_array", opening_plies=(2, 6))
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.render()
    envs.reset(seed=1)
    positions = OTHELLO.positions(envs.batch.state)
    assert_drawn(envs, [(None, None, position) for position in positions])
    actions = [position.legal_actions()[-1] for position in positions]
    envs.step(np.array(actions))
    assert_drawn(envs, [(p, a, p.step(a)) for p, a in zip(positions, actions, strict=True)])
    assert envs.metadata["render_fps"]  # which Gymnasium's recorder asks for
    assert boardenvs.vec_env(OTHELLO, 3).render() is None
    with pytest.raises(ValueError, match="render_mode"):
        boardenvs.vec_env(OTHELLO, 3, render_mode="human")
