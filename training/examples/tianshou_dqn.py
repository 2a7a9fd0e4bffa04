"""Tianshou: DQN with masks, as black or red of Othello against a random opponent.

Tianshou's DQN looks for planes and mask under the names "obs" and "mask": a Gymnasium wrapper
renames what `mask_in_observation` gives.
"""
# uv venv --allow-existing .venv-examples/tianshou && . .venv-examples/tianshou/bin/activate \
#     && uv pip install torch==2.13.0 tianshou==2.0.1 --editable '.[fast]' \
#     && python training/examples/tianshou_dqn.py

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Dict
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import boardenvs

SEED, BOARDS = 0, 32
torch.manual_seed(SEED)
np.random.seed(SEED)  # noqa: NPY002  # Tianshou explores with it
torch.set_num_threads(1)
space = Dict(obs=Box(0, 1, (8, 8, 2), np.int8), mask=Box(0, 1, (65,), np.int8))


def make_env():
    env = gymnasium.make("boardenvs/Othello-v0", opponent="random", mask_in_observation=True)
    names = {"obs": "observation", "mask": "action_mask"}
    return TransformObservation(env, lambda seen: {n: seen[m] for n, m in names.items()}, space)


envs = DummyVectorEnv([make_env] * BOARDS)
envs.seed(SEED)
net = Net(state_shape=(8, 8, 2), action_shape=65, hidden_sizes=[256, 256])
policy = DiscreteQLearningPolicy(model=net, action_space=envs.action_space[0], eps_training=0.1)
how = {"n_step_return_horizon": 5, "target_update_freq": 500}
dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=5e-4), **how)
collector = Collector(dqn, envs, VectorReplayBuffer(100_000, BOARDS), exploration_noise=True)
collector.reset()
steps = {"epoch_num_steps": 24_000, "collection_step_num_env_steps": 2 * BOARDS}
learning = {"batch_size": 128, "update_step_num_gradient_steps_per_sample": 0.1}
quiet = {"max_epochs": 1, "show_progress": False, "verbose": False}
dqn.run_training(OffPolicyTrainerParams(training_collector=collector, **steps, **learning, **quiet))


def trained(game, state, rng):
    values = net(game.observe(state))[0].detach().numpy()
    return np.where(game.legal(state), values, -np.inf).argmax(axis=1)


score = boardenvs.play_match(boardenvs.games.make("othello"), trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
assert score > 0.65  # by chance it is .5 ± .05; DQN learns more slowly than PPO
