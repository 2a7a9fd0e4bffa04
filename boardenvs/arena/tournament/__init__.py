"""Every agent against every other.

`settings` is what a tournament is and the plan that follows from it, `job` one pairing of the plan.
`pool` plays the jobs in processes, in the order of `schedule`; `journal` keeps what was played, so
that `run` can go on with it. `ratings` rates, and `results` sums up.
"""
