"""TorchRL: PPO over `vec_env`; one network plays both sides of 128 games of Othello.

`mask_in_observation` makes the masks an entry of TorchRL's tensordicts, for MaskedCategorical.
The next state is the opponent's: gamma = -1 turns the sign of its value. In games where a side may
move again that is wrong: there the sign of each step is `infos["discount"]` of `vec_env`.
"""
# uv venv --allow-existing .venv-examples/torchrl && . .venv-examples/torchrl/bin/activate \
#     && uv pip install torch==2.13.0 torchrl==0.14.1 --editable '.[fast]' \
#     && python training/examples/torchrl_ppo.py

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.gym import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import boardenvs

SEED, BOARDS, ROUNDS, frames = 0, 128, 40, 4096
torch.manual_seed(SEED)
torch.set_num_threads(1)
boards = boardenvs.vec_env(
    "othello", BOARDS, opening_plies=(0, 40), mask_in_observation=True, autoreset_mode="Disabled"
)
assert boards.game.alternates, "gamma must be -1 after every step"
env = GymWrapper(boards, categorical_action_encoding=True)
env.set_seed(SEED)


class Network(nn.Sequential):
    def forward(self, planes, mask=None):
        out = super().forward(planes.flatten(-3).float())
        return out if mask is None else (out, mask.bool())


policy, value = (Network(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, n)) for n in (65, 1))
logits = TensorDictModule(policy, ["observation", "action_mask"], ["logits", "mask"])
chance = {"distribution_class": MaskedCategorical, "return_log_prob": True}
actor, critic = ProbabilisticActor(logits, ["logits", "mask"], **chance), ValueOperator(value)
advantage = GAE(gamma=-1.0, lmbda=0.8, value_network=critic, vectorized=False)
loss = ClipPPOLoss(actor, critic, entropy_coeff=0.03, normalize_advantage=True)
optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
for batch in Collector(env, actor, frames_per_batch=frames, total_frames=ROUNDS * frames):
    data = advantage(batch).detach().reshape(-1)
    for rows in [rows for _ in range(3) for rows in torch.randperm(frames).split(1024)]:
        losses = loss(data[rows])
        optimizer.zero_grad()
        sum(losses[f"loss_{part}"] for part in ("objective", "critic", "entropy")).backward()
        optimizer.step()


def trained(game, state, rng):
    mask = torch.from_numpy(game.legal(state))
    return policy(torch.from_numpy(game.observe(state))).masked_fill(~mask, -1e8).argmax(1).numpy()


score = boardenvs.play_match(boards.game, trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
assert score > 0.7
