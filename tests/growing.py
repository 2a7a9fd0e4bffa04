"""A tree of Monte Carlo search for each row of a state."""

from boardenvs.game.game import Game
from boardenvs.game.state import State, WordArray
from boardenvs.search import Evaluator, TreeResults, Trees, TreeSettings


def search_trees(
    game: Game,
    state: State,
    seeds: WordArray,
    simulations: int,
    c: float = 1.0,
    evaluator: Evaluator | None = None,
) -> TreeResults:
    trees = Trees(game, state, seeds, TreeSettings(simulations, c, evaluator, halved=simulations))
    trees.search(simulations)
    return trees.read()
