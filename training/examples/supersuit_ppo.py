"""SuperSuit: `parallel_env` as a vector environment, for PPO of Stable-Baselines3.

SuperSuit stacks PettingZoo's parallel environments: each row is one agent's game, with its own
rewards, and the agent that waits says noop. What does not work on it is sb3-contrib's MaskablePPO,
which asks for `has_attr`: so here the policy takes the masks out of the observations. For
MaskablePPO, and many times the speed, there is `boardenvs.envs.sb3.BoardVecEnv`.
"""
# uv venv --allow-existing .venv-examples/supersuit && . .venv-examples/supersuit/bin/activate \
#     && uv pip install torch==2.13.0 stable-baselines3==2.9.2 supersuit==3.11.0 \
#     --editable '.[fast]' && python training/examples/supersuit_ppo.py

import numpy as np
import supersuit
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.policies import MultiInputActorCriticPolicy

import boardenvs

SEED = 0
torch.manual_seed(SEED)  # PPO's own seed asks for `seed`, which SuperSuit's environment lacks
torch.set_num_threads(1)


class MaskingPolicy(MultiInputActorCriticPolicy):
    def extract_features(self, obs, *rest):  # in training
        self.mask = obs["action_mask"] > 0
        return super().extract_features(obs, *rest)

    def get_distribution(self, obs):  # in play
        self.mask = obs["action_mask"] > 0
        return super().get_distribution(obs)

    def _get_action_dist_from_latent(self, latent):
        logits = self.action_net(latent).masked_fill(~self.mask, -1e8)
        return self.action_dist.proba_distribution(logits)


env = supersuit.pettingzoo_env_to_vec_env_v1(boardenvs.parallel_env("othello", reward="zero_sum"))
env = supersuit.concat_vec_envs_v1(env, 32, num_cpus=1, base_class="stable_baselines3")
learning = {"batch_size": 1024, "n_epochs": 4, "ent_coef": 0.02, "learning_rate": 1e-3}
model = PPO(MaskingPolicy, env, n_steps=128, gae_lambda=0.9, **learning, device="cpu")
model.learn(120_000)


def trained(game, state, rng):
    seen = {"observation": game.observe(state), "action_mask": game.legal(state).view(np.int8)}
    return model.predict(seen, deterministic=True)[0]


score = boardenvs.play_match(boardenvs.games.make("othello"), trained, "random", pairs=200).score
print(f"score against random: {score:.3f}")
assert score > 0.7
