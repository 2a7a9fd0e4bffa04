"""OpenSpiel's bots as players here.

Only this package needs OpenSpiel, which is imported when it is used: `pip install open_spiel`, or
the extra `peers`.
"""
