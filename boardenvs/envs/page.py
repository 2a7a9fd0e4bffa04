"""The page of a game: all that a user of its environments must know, as Markdown.

What can be computed comes from the game, what all games share is written here once, and the game's
own words are its `about` (`boardenvs.game.rules`). Any game has a page.
"""

from __future__ import annotations

import inspect
import json

from boardenvs import games
from boardenvs.board.bitboard import gap
from boardenvs.envs.core import env_name
from boardenvs.envs.factory import gymnasium_id
from boardenvs.game.game import Game
from boardenvs.game.notation import row_of_rank
from boardenvs.game.rules import DRAW, ILLEGAL_ACTION_REWARD, LOSS, WIN


def page_of(game: Game) -> str:
    """Return the page of a game as Markdown: planes, action numbers, rewards, end, options.

    ```python
    import boardenvs
    from boardenvs.envs.page import page_of

    print(page_of(boardenvs.games.make("wolf_and_sheep:rules=described")))
    ```
    """
    summary, _, rules = inspect.cleandoc(game.source.__doc__ or "").partition("\n\n")
    head = [f"# {game.title}", game.about.summary or summary, _table(game), _usage(game)]
    head += [game.about.rules or rules]
    sections = {
        "Observation space": _observations(game),
        "Action space": _actions(game),
        "Rewards": _REWARDS,
        "End of the game": game.about.end,
        "Options": _options(game),
        "Gymnasium and Stable-Baselines3": _other_interfaces(game),
        "Which to take": game.about.choice,
        "Source of the rules": game.about.source,
        "Version history": "- v0: initial version." if game.id in games.BUILT_IN else "",
    }
    parts = [part for part in head if part]
    parts += [f"## {title}\n\n{text}" for title, text in sections.items() if text]
    return "\n\n".join(parts) + "\n"


def _table(game: Game) -> str:
    height, width, planes = game.observation_shape
    return f"""\
| Import | `{_import(game)}` |
|---|---|
| Actions | Discrete |
| Parallel API | Yes |
| Manual Control | No |
| Agents | `agents= {list(game.roles)}` |
| Number of Agents | {len(game.roles)} |
| Action Shape | () |
| Action Values | Discrete({game.num_actions}) |
| Observation Shape | {game.observation_shape} |
| Observation Values | [0, 1] |
| State Shape | {(height, width, planes + 1)} |"""


def _import(game: Game) -> str:
    is_built_in = game.id in games.BUILT_IN
    return f"from boardenvs import {env_name(game)}" if is_built_in else "import boardenvs"


def _make(game: Game, maker: str, arguments: str) -> str:
    """Return the call that makes an environment of this game."""
    if game.id in games.BUILT_IN:
        return f"{env_name(game)}.{maker}({arguments})"
    return f'boardenvs.{maker}("{games.name_of(game)}", {arguments})'


def _usage(game: Game) -> str:
    return f"""\
```python
{_import(game)}

env = {_make(game, "env", 'render_mode="ansi"')}
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        action = None
    else:
        action = env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
print(env.render())
```"""


def _observations(game: Game) -> str:
    pieces, (rows, columns, count) = game.about.pieces, game.observation_shape
    planes = [f"| 0 | the agent's {pieces} |", f"| 1 | the opponent's {pieces} |"]
    planes += [f"| {numbers} | {text} |" for numbers, text in _further_planes(game, count)]
    files = f"a to {game.look.files[columns - 1]}{gap(game.board, game.look.files)}"
    table = "\n".join(["| Plane | Ones |", "|-------|------|", *planes])
    return f"""\
A dict of `"observation"`, an int8 array {game.observation_shape} of 0 and 1, and
`"action_mask"`, an int8 array ({game.num_actions},).
`observation[{row_of_rank(game)}, x-1, plane]` is the square on file x, 1 to {columns} for {files},
and rank y, 1 to {rows}: row 0 is the bottom one. Every agent sees its own {pieces} first:

{table}

The mask marks the legal actions of the agent to move; for the other agent it is all zeros.
In `parallel_env` both act, and the one not to move has one legal action, noop ({game.noop}).
`state()` is what the first agent sees and one more plane, ones where the second is to move."""


def _further_planes(game: Game, count: int) -> list[tuple[str, str]]:
    """Return the numbers of the planes from 2 on, and what they show; the last covers the rest."""
    texts = game.about.planes[: max(count - 2, 0)] or ("see the game's rules",) * (count > 2)
    rows = []
    for plane, text in enumerate(texts, 2):
        last = count - 1 if plane == len(texts) + 1 else plane
        rows.append((str(plane) if plane == last else f"{plane} to {last}", text))
    return rows


def _actions(game: Game) -> str:
    noop = f"Action {game.noop} is noop, the pass. {game.about.passing}"
    fixed = "Action numbers will not change: saved policies depend on them."
    return " ".join(
        [game.notation.explain(game), noop, *([fixed] if game.id in games.BUILT_IN else [])]
    )


_REWARDS = f"""\
0 before the end of the game. At its end, on one of two scales:

| `reward=` | winner | draw | loser | default of |
|---|---|---|---|---|
| `"goal"` | {WIN:g} | {DRAW:g} | {LOSS:g} | `env`, `raw_env`, `parallel_env` (PettingZoo) |
| `"zero_sum"` | +1 | 0 | -1 | `vec_env`, `gymnasium.make` |

Goal values are those of the rule sheets; Stable-Baselines3's `BoardVecEnv` has zero-sum rewards
alone.

An illegal action ends the game in `env` and `parallel_env`: the offender gets
{ILLEGAL_ACTION_REWARD:g} on either scale, the other agent the reward of a win, both are terminated.
In `raw_env` and `BoardVecEnv` it raises `IllegalActionError` and nothing changes; in `vec_env` and
`gymnasium.make` it loses the game, with reward {ILLEGAL_ACTION_REWARD:g}."""


def _options(game: Game) -> str:
    rules = [
        f"- `{name}`: {game.about.options.get(name, 'a parameter of the rules.')} Default: "
        f"`{json.dumps(value) if isinstance(value, str) else value}`."
        for name, value in games.defaults(games.name_of(game)).items()
        if name != "id"
    ]
    return "\n".join(
        [
            '- `render_mode`: `"human"` (a window), `"rgb_array"`, `"ansi"` (text), `"svg"` or '
            "None (default).",
            '- `reward`: `"goal"` or `"zero_sum"`, see above.',
            *rules,
            '- `reset(options={"position": ...})` starts from a position, given as a '
            f'`boardenvs.Position` or as text: `"{game.start().fen()}"`; see `boardenvs.game.fen`.',
        ]
    )


def _other_interfaces(game: Game) -> str:
    vec_env = _make(game, "vec_env", "num_envs, opponent=None")
    text = f"""\
- `{vec_env}` plays a batch of games: one ply of whoever is to move a step, or a seat against an
  opponent; see `boardenvs.envs.vector.BoardVectorEnv`.
- `boardenvs.envs.sb3.BoardVecEnv(game, num_envs)` is the same as a VecEnv of Stable-Baselines3."""
    if game.id in games.GAMES:
        text += f"""
- `gymnasium.make("{gymnasium_id(game.id)}", opponent="random", seat="random")` is one board against
  an opponent; see `boardenvs.envs.single.BoardSingleEnv`. `gymnasium.make_vec` makes `vec_env` with
  the same name and opponent and `vectorization_mode="vector_entry_point"`.
- `pettingzoo.make("aec", "boardenvs/{env_name(game).replace("_v0", "-v0")}")` makes `env`, and
  `"parallel"` in place of `"aec"` makes `parallel_env`."""
    return text
