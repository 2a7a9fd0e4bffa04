"""Adapters from a `Game` to the interfaces that learners use; none of them knows a rule.

What an action that is not legal does, here and in all environments of a game:

    environment                          action not legal            number out of range
    -----------------------------------  --------------------------  -----------------------
    env, single_env (Gymnasium),         the game is lost: -1        IllegalActionError
    parallel_env
    vec_env                              the game is lost: -1        the game is lost: -1
    raw_env, sb3.BoardVecEnv             IllegalActionError          IllegalActionError

Learners that explore lose; raw_env is for programs, and SB3's algorithms here mask their actions,
so there it is a mistake. Where a game is lost, `illegal_action` in the infos says so; where an
error is raised, nothing was played. What is no integer is a TypeError everywhere.
"""
