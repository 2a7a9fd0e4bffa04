"""TorchRL: PPO over `vec_env`; one network plays both sides of 128 games of Othello.

`mask_in_observation` gives TorchRL the masks as an entry of its tensordicts, for MaskedCategorical.
The next state is the opponent's: gamma = -1 turns the sign of its value.
"""
# python3 -m venv .venv-examples/torchrl && . .venv-examples/torchrl/bin/activate \
#     && pip install torch==2.13.0 torchrl==0.14.1 --editable '.[fast]' \
#     && python training/examples/torchrl_ppo.py

import sys

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.gym import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import boardenvs

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
BOARDS, STEPS, ROUNDS = 128, 32, 60
torch.manual_seed(SEED)
torch.set_num_threads(1)

boards = boardenvs.vec_env(
    "othello", BOARDS, random_plies=(0, 40), mask_in_observation=True, autoreset_mode="Disabled"
)
env = GymWrapper(boards, categorical_action_encoding=True)
env.set_seed(SEED)


class Network(nn.Sequential):
    def __init__(self, outputs):
        super().__init__(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.append(nn.Linear(256, outputs))

    def forward(self, planes, mask=None):
        out = super().forward(planes.flatten(-3).float())
        return out if mask is None else (out, mask.bool())


logits = TensorDictModule(Network(65), ["observation", "action_mask"], ["logits", "mask"])
actor = ProbabilisticActor(
    logits, in_keys=["logits", "mask"], distribution_class=MaskedCategorical, return_log_prob=True
)
critic = ValueOperator(Network(1), in_keys=["observation"])
advantage = GAE(gamma=-1.0, lmbda=0.8, value_network=critic, vectorized=False)
loss = ClipPPOLoss(actor, critic, entropy_coeff=0.03, normalize_advantage=True)
optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
for data in Collector(env, actor, frames_per_batch=BOARDS * STEPS, total_frames=ROUNDS * BOARDS * STEPS):
    with torch.no_grad():
        advantage(data)
    for _ in range(3):
        for rows in torch.randperm(data.numel()).split(1024):
            losses = loss(data.reshape(-1)[rows])
            optimizer.zero_grad()
            sum(losses[f"loss_{name}"] for name in ("objective", "critic", "entropy")).backward()
            optimizer.step()


def trained(game, state, rng):
    mask = torch.from_numpy(game.legal(state))
    with torch.no_grad():
        found, _ = logits.module(torch.from_numpy(game.observe(state)), mask)
    return found.masked_fill(~mask, -torch.inf).argmax(1).numpy()


score = boardenvs.play_match(boards.game, trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
sys.exit(score < 0.8)
