"""Ray's RLlib on any game: environments, and the parts with which it learns from whole batches.

`vector` and `multi_agent` are environments for RLlib's own parts, `ppo` is its PPO with ours: a
network with masks (`module`), an env runner that steps all its boards at once (`runner`), the sign
of credit in games of turns (`advantages`), a pool of earlier selves (`league`).

    from boardenvs.envs.rllib.ppo import BoardPPOConfig

    algorithm = BoardPPOConfig().boards("othello", 256).env_runners(num_env_runners=2).build_algo()

Only the modules of this folder need Ray (`pip install 'boardenvs[rllib]'`).
"""
