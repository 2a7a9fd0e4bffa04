"""Shimmy: OpenSpiel's games and ours under one interface, PettingZoo's, and one learner for both.

The learner plays both sides, and fits what its player got in the end to each action taken.
"""
# uv venv --allow-existing .venv-examples/shimmy && . .venv-examples/shimmy/bin/activate \
#     && uv pip install torch==2.13.0 'shimmy[openspiel]==2.0.1' open_spiel==2.0.2 \
#     --editable '.[fast]' && python training/examples/shimmy_openspiel.py

import numpy as np
import pyspiel
import torch
from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0
from torch import nn

import boardenvs

SEED = 0
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)


def play(env, *shares):
    """One game; each player takes a random action with its chance, else what `net` likes best."""
    plies, results = [], [0.0, 0.0]
    env.reset()
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        role, action = env.possible_agents.index(agent), None
        if terminated or truncated:
            results[role] = float(np.sign(reward))  # Shimmy pays the second player twice
        else:  # our mask is in the observation, Shimmy's in the info
            view = seen if isinstance(seen, dict) else {"observation": seen, **info}
            planes, legal = view["observation"].ravel(), np.flatnonzero(view["action_mask"])
            values = net(torch.as_tensor(planes, dtype=torch.float32))[legal]
            choose = rng.random() < shares[role]
            action = int(rng.choice(legal) if choose else legal[int(values.argmax())])
            plies.append((role, planes, action))
        env.step(action)
    return plies, results


theirs = OpenSpielCompatibilityV0(env=pyspiel.load_game("tic_tac_toe"))
ours = boardenvs.othello_v0.env(reward="zero_sum")
for name, env, inputs, actions in (("tic_tac_toe", theirs, 27, 9), ("othello", ours, 128, 65)):
    net = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, actions))
    optimizer, memory = torch.optim.Adam(net.parameters(), 2e-3), []
    for _ in range(1200):
        plies, results = play(env, 0.2, 0.2)
        memory = [*memory, *((x, action, results[role]) for role, x, action in plies)][-20_000:]
        rows = zip(*(memory[i] for i in rng.integers(len(memory), size=256)), strict=True)
        planes, taken, got = (torch.as_tensor(np.array(column)) for column in rows)
        value = net(planes.float()).gather(1, taken[:, None])[:, 0]
        optimizer.zero_grad()
        nn.functional.mse_loss(value, got.float()).backward()
        optimizer.step()
    games = [play(env, *((0, 1) if role == 0 else (1, 0)))[1][role] for role in [0, 1] * 100]
    score = (sum(games) / len(games) + 1) / 2
    print(f"{name}: score against random: {score:.3f}")
    assert score > 0.65
