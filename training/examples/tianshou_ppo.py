"""Tianshou: PPO with masks, as black or red of Othello against a random opponent.

Tianshou hands observations on as they are: the network takes planes and mask from what
`mask_in_observation` gives, and puts the mask on its logits.
"""
# uv venv --allow-existing .venv-examples/tianshou && . .venv-examples/tianshou/bin/activate \
#     && uv pip install torch==2.13.0 tianshou==2.0.1 --editable '.[fast]' \
#     && python training/examples/tianshou_ppo.py

import gymnasium
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

import boardenvs

SEED, BOARDS = 0, 32
torch.manual_seed(SEED)
torch.set_num_threads(1)


class Network(nn.Sequential):
    def forward(self, seen, state=None, info=None):
        out = super().forward(torch.as_tensor(seen["observation"]).flatten(1).float())
        illegal = torch.as_tensor(seen["action_mask"]) == 0
        return out if out.shape[1] == 1 else (out.masked_fill(illegal, -1e8), state)


def make_env():
    return gymnasium.make("boardenvs/Othello-v0", opponent="random", mask_in_observation=True)


envs = DummyVectorEnv([make_env] * BOARDS)
envs.seed(SEED)
actor, critic = (Network(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, n)) for n in (65, 1))
how = {"action_scaling": False, "action_bound_method": None, "action_space": envs.action_space[0]}
chance = lambda logits: torch.distributions.Categorical(logits=logits)  # noqa: E731
policy = ProbabilisticActorPolicy(actor=actor, dist_fn=chance, **how)
ppo = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3), ent_coef=0.02)
collector = Collector(ppo, envs, VectorReplayBuffer(4096, BOARDS))
collector.reset()
steps = {"epoch_num_steps": 50_000, "collection_step_num_env_steps": 4096}
learning = {"batch_size": 512, "update_step_num_repetitions": 4}
quiet = {"max_epochs": 1, "show_progress": False, "verbose": False}
ppo.run_training(OnPolicyTrainerParams(training_collector=collector, **steps, **learning, **quiet))


def trained(game, state, rng):
    seen = {"observation": game.observe(state), "action_mask": game.legal(state)}
    return actor(seen)[0].argmax(1).numpy()


score = boardenvs.play_match(boardenvs.games.make("othello"), trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
assert score > 0.7
