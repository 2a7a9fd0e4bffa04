"""Long runs: kills, full disks, little memory, and many plies. `python -m soak` in tests."""
