"""Text for language models: prompts, what replies mean, and an environment and a player of both.

    env = TextEnv("lines_of_action", opponent="level:3")
    prompt = env.reset(seed=1)
    step = env.step("I move b1-b3")

`prompt` writes what is asked and `reader` reads what is answered: `slots` where answers stand,
`prose` what sentences say of moves, `moves` how moves are written. `disguise` renames a game, and
`faces` compares a model's answers under other names.
"""

from boardenvs.text.disguise import Disguise
from boardenvs.text.env import Result, Step, TextEnv
from boardenvs.text.exam import ExamEnv
from boardenvs.text.faces import Comparison, Face, compare
from boardenvs.text.player import TextPlayer
from boardenvs.text.prompt import Style
from boardenvs.text.question import Counts
from boardenvs.text.reader import Reading, read

__all__ = [
    "Comparison",
    "Counts",
    "Disguise",
    "ExamEnv",
    "Face",
    "Reading",
    "Result",
    "Step",
    "Style",
    "TextEnv",
    "TextPlayer",
    "compare",
    "read",
]
