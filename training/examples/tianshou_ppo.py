"""Tianshou: PPO with masks, as black or red of Othello against a random opponent.

Tianshou hands observations on as they are: the network takes planes and mask from what
`mask_in_observation` gives, and puts the mask on its logits.
"""
# python3 -m venv .venv-examples/tianshou && . .venv-examples/tianshou/bin/activate \
#     && pip install torch==2.13.0 tianshou==2.0.1 --editable '.[fast]' \
#     && python training/examples/tianshou_ppo.py

import sys

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

import boardenvs

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(SEED)
np.random.seed(SEED)
torch.set_num_threads(1)


class Network(nn.Sequential):
    def __init__(self, outputs):
        super().__init__(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.append(nn.Linear(256, outputs))

    def forward(self, seen, state=None, info=None):
        out = super().forward(torch.as_tensor(seen["observation"]).flatten(1).float())
        if out.shape[1] == 1:
            return out
        return out.masked_fill(torch.as_tensor(seen["action_mask"]) == 0, -1e8), state


envs = DummyVectorEnv(
    [lambda: gymnasium.make("boardenvs/Othello-v0", mask_in_observation=True)] * 32
)
envs.seed(SEED)
actor = Network(65)
policy = ProbabilisticActorPolicy(
    actor=actor, dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
    action_space=envs.action_space[0], action_scaling=False, action_bound_method=None,
)  # fmt: skip
ppo = PPO(policy=policy, critic=Network(1), optim=AdamOptimizerFactory(lr=1e-3), ent_coef=0.02)
collector = Collector(ppo, envs, VectorReplayBuffer(8192, 32))
collector.reset()
ppo.run_training(
    OnPolicyTrainerParams(
        training_collector=collector, max_epochs=1, epoch_num_steps=100_000, batch_size=512,
        collection_step_num_env_steps=4096, update_step_num_repetitions=4,
        show_progress=False, verbose=False,
    )
)  # fmt: skip


def trained(game, state, rng):
    with torch.no_grad():
        seen = {"observation": game.observe(state), "action_mask": game.legal(state)}
        return actor(seen)[0].argmax(1).numpy()


score = boardenvs.play_match(boardenvs.games.make("othello"), trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
sys.exit(score < 0.8)
