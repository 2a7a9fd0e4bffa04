"""Text for language models: prompts, how replies are read, and an environment and a player of both.

    env = TextEnv("lines_of_action", opponent="level:3")
    prompt = env.reset(seed=1)
    step = env.step('{"move": "b1-b3"}')

`prompt` writes what models read, `reader` reads what they write, and `turn` asks again.
"""

from boardenvs.game.fen import parse_position
from boardenvs.text.env import Step, TextEnv
from boardenvs.text.exam import ExamEnv
from boardenvs.text.player import TextPlayer
from boardenvs.text.prompt import write_prompt
from boardenvs.text.reader import Reading, read
from boardenvs.text.rewards import format_reward, reward
from boardenvs.text.turn import ModelReply

__all__ = [
    "ExamEnv",
    "ModelReply",
    "Reading",
    "Step",
    "TextEnv",
    "TextPlayer",
    "format_reward",
    "parse_position",
    "read",
    "reward",
    "write_prompt",
]
