"""Learning an evaluation of n-tuples for alpha-beta search: `python -m training.ntuple CONFIG`."""
