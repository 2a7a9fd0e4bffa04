"""OpenSpiel, both ways: its bots as our players, our players as its bots.

This is the only room that needs OpenSpiel, and it is imported when it is asked for:
`pip install open_spiel`, which the extra `peers` has too.
"""
