"""What a game is: its rules and all that follows from them."""
