"""What every room uses and no game is in: checks of values, texts with parameters, files."""
