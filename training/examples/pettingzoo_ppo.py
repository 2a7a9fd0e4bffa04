"""PettingZoo: SelfPlayPPO learns a turn-based game of two agents by self-play; here Connect Four.

One policy plays both sides. A step is one move, and the next state is usually the opponent's: its
value counts against the mover. `SelfPlayPPO` takes the factor of each step from `discounts`:
-1 if the other side moves next, 1 if the same side does. What one side wins, the other must lose.
"""
# uv venv --allow-existing .venv-examples/pettingzoo && . .venv-examples/pettingzoo/bin/activate \
#     && uv pip install 'pettingzoo[classic]==1.27.0' --editable '.[train]' \
#     && python training/examples/pettingzoo_ppo.py

import gymnasium
import numpy as np
import torch
from pettingzoo.classic import connect_four_v3
from stable_baselines3.common.vec_env import DummyVecEnv

from boardenvs.envs.sb3_ppo import SelfPlayPPO

SEED, BOARDS, STEPS = 0, 64, 120_000
make_game = connect_four_v3.env


class OneGame(gymnasium.Env):
    """A game that one policy plays for whoever is to move; it begins with random moves."""

    def __init__(self, game, seed, opening=0):
        self.game, self.opening, self.discount = game, opening, 1
        self.rng = np.random.default_rng(seed)
        first, _ = game.possible_agents
        self.observation_space = game.observation_space(first)["observation"]
        self.action_space = game.action_space(first)

    def look(self):
        observation = self.game.observe(self.game.agent_selection)
        self.mask = observation["action_mask"].astype(bool)
        return observation["observation"]

    def action_masks(self):
        return self.mask

    def random_move(self):
        return self.rng.choice(np.flatnonzero(self.mask))

    def reset(self, seed=None, options=None):
        self.game.reset(seed=int(self.rng.integers(1 << 31)))
        planes, over = self.look(), False
        for _ in range(self.rng.integers(self.opening + 1)):
            planes, _, over, _, _ = self.step(self.random_move())
            if over:
                return self.reset()
        return planes, {}

    def step(self, action):
        mover = self.game.agent_selection
        self.game.step(int(action))
        rewards = self.game.rewards
        assert sum(rewards.values()) == 0, f"rewards are {rewards}: they must add up to 0"
        self.discount = 1 if self.game.agent_selection == mover else -1
        over = any(self.game.terminations.values()) or any(self.game.truncations.values())
        return self.look(), rewards[mover], over, False, {}


class ManyGames(DummyVecEnv):
    @property
    def discounts(self):
        """The factor of the next state's value on each board."""
        return np.array([board.discount for board in self.envs])


def score(model, game, games):
    """Return the model's score against random moves, as each agent in turn; a draw counts ½."""
    board, total = OneGame(game, SEED), 0.0
    for number in range(games):
        mine, over = game.possible_agents[number % 2], False
        planes, _ = board.reset()
        while not over:
            if game.agent_selection == mine:
                action, _ = model.predict(planes, action_masks=board.mask, deterministic=True)
            else:
                action = board.random_move()
            planes, _, over, _, _ = board.step(action)
        total += (1 + np.sign(game.rewards[mine])) / 2
    return total / games


torch.set_num_threads(1)
env = ManyGames([lambda i=i: OneGame(make_game(), (SEED, i), opening=8) for i in range(BOARDS)])
model = SelfPlayPPO(
    "MlpPolicy", env, seed=SEED,
    gae_lambda=0.8, n_steps=64, batch_size=1024, n_epochs=3, ent_coef=0.03, learning_rate=1e-3,
    policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
)  # fmt: skip
model.learn(STEPS)
result = score(model, make_game(), 400)
print(f"score against random: {result:.3f}")
assert result > 0.8
