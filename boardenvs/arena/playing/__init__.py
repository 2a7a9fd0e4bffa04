"""Two agents against each other.

`openings` leaves out openings that are already decided, `player` asks an agent for actions and
judges forfeits, `match` plays all games side by side, `intervals` says how sure a score is.
"""
