"""Training by self-play: `python -m training.ppo CONFIG`; see README.md in this folder."""
