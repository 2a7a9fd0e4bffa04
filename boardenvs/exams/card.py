"""The card of a policy: what it plays, how it was made, and how well it moves."""

from __future__ import annotations

import json

from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.envs.page import title_of
from boardenvs.exams.accuracy import take_exam
from boardenvs.exams.positions import has_exam
from boardenvs.games import spec_of

_CARD = """\
---
library_name: boardenvs
pipeline_tag: reinforcement-learning
tags: [reinforcement-learning, board-games, {game_id}]
---

# A policy for {title}

It plays `{spec}`, and no other rules. It is a network of {numbers:,} numbers,
with {layers}: it takes observations {shape},
and gives logits of {actions} actions and a value. It runs with NumPy alone.

```python
import boardenvs

game = boardenvs.games.make("{spec}")
print(boardenvs.play_match(game, "{player}", "level:3", pairs=20))
```

## How it was made

```json
{notes}
```

## How well it moves

{marks}

`boardenvs rate {player} --game {spec}` rates it on the published anchors.
"""


def model_card(policy: Policy, player: str = "policy:policy.npz") -> str:
    """A page in Markdown to stand beside a policy's file, with its marks in the game's exam.

    player: the text of a player that has the policy. What the policy's notes say is shown as it is.

    ```python
    import boardenvs
    from boardenvs.agents.trained import trained_policy
    from boardenvs.exams import model_card

    print(model_card(trained_policy(boardenvs.games.make("wolf_and_sheep"))))
    ```
    """
    game = policy.game
    widths = [str(len(biases)) for _, biases in policy.hidden]
    return _CARD.format(
        game_id=game.id,
        title=title_of(game),
        spec=spec_of(game),
        numbers=sum(values.size for values in policy.arrays.values()),
        layers=f"hidden layers of {' and '.join(widths) or 0} units ({policy.activation})",
        shape="x".join(map(str, game.observation_shape)),
        actions=game.num_actions,
        notes=json.dumps(dict(policy.notes), indent=2),
        marks=_marks(policy),
        player=player,
    )


def _marks(policy: Policy) -> str:
    if not has_exam(policy.game):
        return "There is no exam of this game."
    result = take_exam(policy.game, PolicyAgent(policy))
    rows = [
        f"| {mark.kind} | {mark.positions} | {mark.kept:.3f} [{mark.low:.3f}, {mark.high:.3f}] |"
        for mark in result.marks
    ]
    return "\n".join(
        [
            f"Its moves in the exam of the game, {result.made}; intervals are of 95 %.",
            "",
            "| positions | number | moves that keep the value |",
            "|---|---|---|",
            *rows,
        ]
    )
