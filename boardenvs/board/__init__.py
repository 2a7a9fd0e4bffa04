"""The 8x8 board: sets of squares as words, numbers on squares, symmetries."""
