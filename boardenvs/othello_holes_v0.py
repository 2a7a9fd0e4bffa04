"""# Othello with holes

Othello on a board with four squares cut out.

| Import             | `from boardenvs import othello_holes_v0` |
|--------------------|------------------------------------------|
| Actions            | Discrete |
| Parallel API       | Yes |
| Manual Control     | No |
| Agents             | `agents= ['black', 'red']` |
| Number of Agents   | 2 |
| Action Shape       | () |
| Action Values      | Discrete(65) |
| Observation Shape  | (8, 8, 3) |
| Observation Values | [0, 1] |
| State Shape        | (8, 8, 4) |

Black and red place discs in turn, black first. A disc must bracket one or more opposing discs in a
straight line between itself and another disc of its side, in any of the eight directions; all
discs so bracketed flip.

The squares c3, c6, f3 and f6 are holes: they are never occupied, and no line of discs runs
through one. Start: black on d4 and e5, red on d5 and e4.

## Observation space

A dict of `"observation"`, an int8 array (8, 8, 3) of 0 and 1, and `"action_mask"`, an int8 array
(65,). `observation[y-1, x-1, plane]` is cell (x, y): x is the file, 1 to 8 for a to h, and y the
rank, 1 to 8. Every agent sees its own pieces first:

| Plane | Ones |
|-------|------|
| 0 | the agent's discs |
| 1 | the opponent's discs |
| 2 | the holes |

The mask marks the legal actions of the agent to move; for the other agent it is all zeros. In
`parallel_env` both act, and the agent not in control has one legal action, noop (64).
`state()` is what the first agent sees and one more plane, ones where the second is to move.

## Action space

Action s, 0 to 63, places a disc on square `s = 8*(y-1) + (x-1)`: 0 is a1, 7 is h1, 63 is h8.
Action 64 is noop, the pass; it is legal only for a side without another move. Action numbers will
not change: saved policies depend on them.

## Rewards

0 before the end of the game. At the end, with `reward="goal"` (default) the goal values of the
rule sheet: 100 for the winner, 0 for the loser, 50 each for a draw; with `reward="zero_sum"`
+1, -1 and 0.

An illegal action ends the game in `env` and `parallel_env`: the offender gets -1, the other agent
the reward of a win, both are terminated. In `raw_env` it raises `IllegalActionError` and nothing
changes.

## End of the game

The game ends as soon as neither side has a move, also with empty squares left; no trailing double
pass is played. The side with more discs wins; the same number is a draw. Nothing is truncated.

## Options

- `render_mode`: `"human"` (a window), `"rgb_array"`, `"ansi"` or None.
- `reward`: `"goal"` or `"zero_sum"`.
- `holes`: other holes, as a bitboard (bit s is square s); not one of the four centre squares.
- `reset(options={"position": ...})` starts from a position, given as a
  `boardenvs.game.state.Position` or as text: `"8/8/8/3rb3/3br3/8/8/8 black 0"`
  (ranks 8 to 1, first letters of the roles, numbers of empty squares, role to move, plies played).

## Gymnasium

- `vec_env(num_envs, opponent=None)` plays a batch: one ply of whoever is to move a step, or a seat
  against an opponent; see `boardenvs.envs.vector.BoardVectorEnv`. `gymnasium.make_vec` makes it
  with the name `"boardenvs/OthelloHoles-v0"` and `vectorization_mode="vector_entry_point"`.
- `gymnasium.make("boardenvs/OthelloHoles-v0", opponent="random", seat="random")` is one board
  against an opponent; see `boardenvs.envs.single.BoardSingleEnv`.

## Source of the rules

The rule sheet `othelloHoles` of the General Game Playing repository; the description that this
project implements retells it exactly.

## Version history

- v0: initial version.
"""

from boardenvs.envs.factory import make_module

env, raw_env, parallel_env, vec_env = make_module("othello_holes")

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
