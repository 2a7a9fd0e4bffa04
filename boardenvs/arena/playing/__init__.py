"""Two agents against each other.

`openings` says which openings tell who is better, `player` asks an agent for actions and judges
forfeits, `match` plays all games side by side, `intervals` says how sure a score is.
"""
