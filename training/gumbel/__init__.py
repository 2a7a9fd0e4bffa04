"""Training by Gumbel AlphaZero search: `python -m training.gumbel CONFIG`."""
