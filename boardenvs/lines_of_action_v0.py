"""# Lines of Action

Bring all your pieces together in one group.

| Import             | `from boardenvs import lines_of_action_v0` |
|--------------------|--------------------------------------------|
| Actions            | Discrete |
| Parallel API       | Yes |
| Manual Control     | No |
| Agents             | `agents= ['black', 'white']` |
| Number of Agents   | 2 |
| Action Shape       | () |
| Action Values      | Discrete(513) |
| Observation Shape  | (8, 8, 8) |
| Observation Values | [0, 1] |
| State Shape        | (8, 8, 9) |

Black starts on b1 to g1 and b8 to g8, white on a2 to a7 and h2 to h7; black moves first. With
`rules="classic"` (default) a piece moves in one of the eight directions exactly as many squares as
there are pieces of both sides on the whole line of movement, itself included. It may pass over own
pieces, not over opposing ones, and ends on an empty square or captures an opposing piece.

## Observation space

A dict of `"observation"`, an int8 array (8, 8, 8) of 0 and 1, and `"action_mask"`, an int8 array
(513,). `observation[y-1, x-1, plane]` is cell (x, y): x is the file, 1 to 8 for a to h, and y the
rank, 1 to 8. Every agent sees its own pieces first:

| Plane | Ones |
|-------|------|
| 0 | the agent's pieces |
| 1 | the opponent's pieces |
| 2 to 7 | steps left, in binary: plane 2 everywhere if the lowest digit is 1 |

The mask marks the legal actions of the agent to move; for the other agent it is all zeros. In
`parallel_env` both act, and the agent not in control has one legal action, noop (512).
`state()` is what the first agent sees and one more plane, ones where the second is to move.

## Action space

Action `64*d + s` moves the piece on square `s = 8*(y-1) + (x-1)` (0 is a1, 7 is h1, 63 is h8) in
direction d: 0 north, 1 north-east, 2 east, 3 south-east, 4 south, 5 south-west, 6 west,
7 north-west; north is the way to rank 8. Action 512 is noop, the pass. It is
legal only for a side without another move. The direction fixes the distance.
Action numbers will not change: saved policies depend on them.

## Rewards

0 before the end of the game. At the end, with `reward="goal"` (default) the goal values of the
rule sheet: 100 for the winner, 0 for the loser, 50 each for a draw; with `reward="zero_sum"`
+1, -1 and 0.

An illegal action ends the game in `env` and `parallel_env`: the offender gets -1, the other agent
the reward of a win, both are terminated. In `raw_env` it raises `IllegalActionError` and nothing
changes.

## End of the game

Every move and noop counts one step. The game ends when, after it, either side is one group
(connected in any of the eight directions; one piece, or none, is a group), or at step
`max_steps`. If one side is a group it wins; both, or neither, is a draw. Nothing is truncated.

## Options

- `render_mode`: `"human"` (a window), `"rgb_array"`, `"ansi"` or None.
- `reward`: `"goal"` or `"zero_sum"`.
- `rules`: `"classic"` or `"described"`.
- `max_steps`: steps before the game ends, 50 by default (it sets the number of planes).
- `reset(options={"position": ...})` starts from a position, given as a
  `boardenvs.game.state.Position` or as text: `"1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 black 0"`
  (ranks 8 to 1, first letters of the roles, numbers of empty squares, role to move, plies played).

## Gymnasium

- `vec_env(num_envs, opponent=None)` plays a batch: one ply of whoever is to move a step, or a seat
  against an opponent; see `boardenvs.envs.vector.BoardVectorEnv`. `gymnasium.make_vec` makes it
  with the name `"boardenvs/LinesOfAction-v0"` and `vectorization_mode="vector_entry_point"`.
- `gymnasium.make("boardenvs/LinesOfAction-v0", opponent="random", seat="random")` is one board
  against an opponent; see `boardenvs.envs.single.BoardSingleEnv`.

## Source of the rules

The rule sheet `linesOfAction` of the General Game Playing repository (the limit of 50 steps is its
own). The description that this project implements departs from it, and `rules="described"` plays
the description's words: black starts on ranks 2 and 7, and the distance is the length of the
contiguous line of own pieces in the direction of movement, the moving one included, so that a
piece lands on the first square beyond them. That is another game than Lines of Action.

## Version history

- v0: initial version.
"""

from boardenvs.envs.factory import make_module

env, raw_env, parallel_env, vec_env = make_module("lines_of_action")

__all__ = ["env", "parallel_env", "raw_env", "vec_env"]
