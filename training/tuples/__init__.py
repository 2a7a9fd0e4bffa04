"""How an evaluation by tables over tuples of squares is learnt: see `training.evaluation`."""
