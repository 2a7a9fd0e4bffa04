"""A seat against an opponent, as Gymnasium's environment."""

import gymnasium
import numpy as np
import pytest


def play(game, seed, **options):
    """Six games by random legal actions: seat, observations and reward of each."""
    env = gymnasium.make(f"boardenvs/{game}-v0", **options)
    board, rng = env.unwrapped.board, np.random.default_rng(0)
    for episode in range(6):
        observation, info = env.reset(seed=seed if episode == 0 else None)
        seat, seen, over = info["seat"], [observation.tobytes()], False
        assert board.agent_selection == seat
        assert board.position.ply == board.possible_agents.index(seat)
        while not over:
            assert env.observation_space.contains(observation)
            np.testing.assert_array_equal(info["action_mask"], env.unwrapped.action_masks())
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            seen.append(observation.tobytes())
        assert reward == board.position.result()[board.possible_agents.index(seat)]
        assert not info["action_mask"].any()
        yield seat, seen, reward


@pytest.mark.parametrize(
    ("seat", "seats"),
    [
        ("random", None),
        ("alternating", ["wolf", "sheep"] * 3),
        ("wolf", ["wolf"] * 6),
        ("sheep", ["sheep"] * 6),
    ],
)
def test_whole_games(seat, seats):
    options = {"opponent": "random", "seat": seat, "reward": "goal"}
    played = list(play("WolfAndSheep", 7, **options))
    assert seats in (None, [seat for seat, *_ in played])
    assert played == list(play("WolfAndSheep", 7, **options))
    assert played != list(play("WolfAndSheep", 8, **options))


@pytest.mark.usefixtures("in_python")
def test_gymnasium_draws_from_the_masks_of_several():
    env = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("boardenvs/Reversi-v0")] * 2)
    _, infos = env.reset(seed=0)
    over, ended = np.zeros(2, np.bool_), 0
    for _ in range(80):
        mask = infos["action_mask"]
        np.testing.assert_array_equal(mask.any(axis=1), ~over)
        actions = env.action_space.sample(tuple(mask))  # ignored if the game is over
        assert mask[np.arange(2), actions][~over].all()
        _, rewards, terminated, truncated, infos = env.step(actions)
        assert not rewards[over].any()
        over = terminated | truncated
        ended += int(over.sum())
    assert ended >= 2
