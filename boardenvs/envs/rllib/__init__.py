"""Ray's RLlib on any game: environments for its own parts, and a PPO on whole batches of boards.

`environments` has what RLlib's own env runners and modules take. `ppo` is RLlib's PPO with parts of
ours: an env runner that steps all its boards at once and computes returns by sides, a network with
masks and its loss (`runner`), and a league of earlier selves.

    from boardenvs.envs.rllib.ppo import BoardPPOConfig

    algorithm = BoardPPOConfig().boards("othello", 256).env_runners(num_env_runners=2).build_algo()

Only the modules of this folder need Ray (`pip install 'boardenvs[rllib]'`).
"""
