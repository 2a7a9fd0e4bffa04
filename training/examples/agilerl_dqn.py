"""AgileRL: DQN over `vec_env`, as black or red of 64 games of Othello against a random opponent.

Its `get_action` takes the masks of a whole batch from the infos as they are.
"""
# python3 -m venv .venv-examples/agilerl && . .venv-examples/agilerl/bin/activate \
#     && pip install torch==2.13.0 agilerl==2.58.0 peft==0.21.2 --editable '.[fast]' \
#     && python training/examples/agilerl_dqn.py

import numpy as np
import torch
from agilerl.algorithms import DQN
from agilerl.components.data import Transition
from agilerl.components.replay_buffer import MultiStepReplayBuffer
from gymnasium.spaces import Box

import boardenvs

SEED, BOARDS, STEPS = 0, 64, 1500
np.random.seed(SEED)  # noqa: NPY002  # AgileRL draws from it
torch.manual_seed(SEED)
torch.set_num_threads(1)


def flat(planes):
    return planes.reshape(len(planes), -1).astype(np.float32)


envs = boardenvs.vec_env("othello", BOARDS, opponent="random")
layers = {"hidden_size": [256]}
net = {"latent_dim": 128, "encoder_config": layers, "head_config": layers}
space = Box(0, 1, (128,), np.float32)
agent = DQN(space, envs.single_action_space, lr=5e-4, tau=0.01, net_config=net)
memory = MultiStepReplayBuffer(max_size=50_000, n_step=5, gamma=0.99)
planes, infos = envs.reset(seed=SEED)
for step in range(STEPS):
    chance = max(0.05, 1 - 3 * step / STEPS)
    actions = agent.get_action(flat(planes), chance, infos["action_mask"])
    following, rewards, over, _, infos = envs.step(actions)
    seen = {"obs": flat(planes), "next_obs": flat(following)}
    made = Transition(**seen, action=actions, reward=rewards, done=over, batch_size=[BOARDS])
    memory.add(made.to_tensordict())
    planes = following
    for _ in range(4 * (step > 50)):
        agent.learn(memory.sample(256))


def trained(game, state, rng):
    return agent.get_action(flat(game.observe(state)), action_mask=game.legal(state).view(np.int8))


agent.set_training_mode(False)
score = boardenvs.play_match(envs.game, trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
assert score > 0.8
