"""# Wolf and Sheep

One wolf tries to get past four sheep, which try to leave it without a move (Fox and Hounds).

| Import             | `from boardenvs import wolf_and_sheep_v0` |
|--------------------|-------------------------------------------|
| Actions            | Discrete |
| Parallel API       | Yes |
| Manual Control     | No |
| Agents             | `agents= ['wolf', 'sheep']` |
| Number of Agents   | 2 |
| Action Shape       | () |
| Action Values      | Discrete(513) |
| Observation Shape  | (8, 8, 11) |
| Observation Values | [0, 1] |
| State Shape        | (8, 8, 12) |

The wolf starts on d8, the sheep on a1, c1, e1 and g1; the wolf moves first. A move takes a piece to
an empty neighbouring square. With `rules="classic"` (default) the wolf steps diagonally in all
four directions and the sheep diagonally forwards, to the north. With perfect play the sheep win.

## Observation space

A dict of `"observation"`, an int8 array (8, 8, 11) of 0 and 1, and `"action_mask"`, an int8 array
(513,). `observation[y-1, x-1, plane]` is cell (x, y): x is the file, 1 to 8 for a to h, and y the
rank, 1 to 8. Every agent sees its own pieces first:

| Plane | Ones |
|-------|------|
| 0 | the agent's pieces |
| 1 | the opponent's pieces |
| 2 | everywhere for the sheep, nowhere for the wolf |
| 3 to 10 | plies left before `max_plies`, in binary: plane 3 everywhere if the lowest digit is 1 |

The mask marks the legal actions of the agent to move; for the other agent it is all zeros. In
`parallel_env` both act, and the agent not in control has one legal action, noop (512).
`state()` is what the first agent sees and one more plane, ones where the second is to move.

## Action space

Action `64*d + s` moves the piece on square `s = 8*(y-1) + (x-1)` (0 is a1, 7 is h1, 63 is h8) in
direction d: 0 north, 1 north-east, 2 east, 3 south-east, 4 south, 5 south-west, 6 west,
7 north-west; north is the way to rank 8. Action 512 is noop, the pass. Nobody ever
passes in the turn-based form: a side without a move ends the game. Action
numbers will not change: saved policies depend on them.

## Rewards

0 before the end of the game. At the end, with `reward="goal"` (default) the goal values of the
rule sheet: 100 for the winner, 0 for the loser, 50 each for a draw; with `reward="zero_sum"`
+1, -1 and 0.

An illegal action ends the game in `env` and `parallel_env`: the offender gets -1, the other agent
the reward of a win, both are terminated. In `raw_env` it raises `IllegalActionError` and nothing
changes.

## End of the game

The game ends when no sheep stands on a lower rank than the wolf, or when either side has no move,
whoever is to move. The wolf wins if it can move in that position, else the sheep win. There is no
draw. A classic game ends by itself. After `max_plies` plies both agents are truncated, not
terminated, and get the goal values of the position as rewards.

## Options

- `render_mode`: `"human"` (a window), `"rgb_array"`, `"ansi"` or None.
- `reward`: `"goal"` or `"zero_sum"`.
- `rules`: `"classic"` or `"described"`.
- `max_plies`: plies before truncation, 200 by default; None for no cap (the observation then has
  no planes for it).
- `reset(options={"position": ...})` starts from a position, given as a
  `boardenvs.game.state.Position` or as text: `"3w4/8/8/8/8/8/8/s1s1s1s1 wolf 0"`
  (ranks 8 to 1, first letters of the roles, numbers of empty squares, role to move, plies played).

## Gymnasium

- `vec_env(num_envs, opponent=None)` plays a batch: one ply of whoever is to move a step, or a seat
  against an opponent; see `boardenvs.envs.vector.BoardVectorEnv`. `gymnasium.make_vec` makes it
  with the name `"boardenvs/WolfAndSheep-v0"` and `vectorization_mode="vector_entry_point"`.
- `gymnasium.make("boardenvs/WolfAndSheep-v0", opponent="random", seat="random")` is one board
  against an opponent; see `boardenvs.envs.single.BoardSingleEnv`.

## Source of the rules

The rule sheet `sheepAndWolf` of the General Game Playing repository. The description that this
project implements departs from it, and `rules="described"` plays the description's words: the wolf
steps in all eight directions and the sheep in all four diagonal ones. Then the sheep can never
win: they stay on squares of one colour, and every square has neighbours of both, so the wolf can
always move. (The description also ends the game when the wolf's y is "numerically greater" than a
sheep's, which would be at the start; the rule sheet settles that.)

## Version history

- v0: initial version.
"""

from boardenvs.envs.factory import make_module

env, raw_env, parallel_env, vec_env = make_module("wolf_and_sheep")

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
