"""Selection and backup of Gumbel AlphaZero search (Danihelka et al. 2022).

The root's actions are tried by sequential halving, in the order of a score that Gumbel noise makes
a draw from the prior; below the root an edge is selected so that visits become the improved policy.
An action that has not been tried counts as good as `mixed_value`. A position with a move that wins
at once is won by that move, whatever the evaluator says: networks that play well otherwise miss it,
and few simulations would not get to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from boardenvs.kernel.loops import ONE, ZERO, Array, arrive, entry, number, points, word
from boardenvs.search.compiled.playout import outcome
from boardenvs.search.compiled.position import Position, is_final
from boardenvs.search.compiled.simulations import add_roots  # noqa: F401 - Python calls it
from boardenvs.search.compiled.tree import NONE, Tree, expand, follow, position_of, set_priors

# Priors below are raised to it, so that none is lost where all others of a node are bad.
LEAST_PRIOR = 1e-9
# The score of an action that wins at once, above all others.
SURE = 1e9


class GumbelSearch(NamedTuple):
    """What T searches have beside their trees of N nodes: how they select, and their leaves."""

    c_visit: float
    c_scale: float
    scores: Array  # (T * A,) reals: Gumbel noise and the prior's logarithm, of the root's actions
    schedule: Array  # (M + 1, S) numbers, flat: see `boardenvs.search.gumbel.schedule`
    considered: Array  # (T,) numbers, at most M: root actions that are tried
    simulations: int  # S
    num_actions: int  # A
    weights: Array  # (E,) reals, to work with: of a node's edges
    values: Array  # (T * N,) reals: the evaluator's, to the side to move
    leaf: Array  # (T,) numbers: the node that selection reached
    final: Array  # (T,) numbers: 1 where the game ends there
    path: Array  # (T * N,) numbers: the edges from the root
    length: Array  # (T,) numbers: of the path


@entry
def select_gumbel_leaves(simulation: int, search: GumbelSearch, tree: Tree) -> None:
    """Walk from each root to a node without edges, made new where an edge leads nowhere."""
    for row in range(len(tree.nodes_used)):
        node, length = row * tree.max_nodes, 0
        while tree.first_edge[node] != NONE:
            if length == 0:
                edge = select_at_root(row, simulation, search, tree)
            else:
                edge = select_below(node, search, tree)
            search.path[row * tree.max_nodes + length] = edge
            length += 1
            node = follow(edge, node, row, tree)
        position = position_of(node, tree)
        final = is_final(position.terminated, position.ply)
        search.leaf[row], search.length[row] = node, length
        search.final[row] = 1 if final else 0
        if final:
            search.values[node] = float(outcome(position))


@entry
def expand_and_backup_gumbel(
    probabilities: Array, values: Array, search: GumbelSearch, tree: Tree
) -> None:
    """Take in what the evaluator says of the leaves at which no game ends, one after the other."""
    judged = 0
    for row in range(len(tree.nodes_used)):
        node = number(search.leaf[row])
        if search.final[row] == 0:
            if tree.edges[node] == 0:
                search.values[node] = float(values[judged])
                position = position_of(node, tree)
                if expand(node, position, row, tree):
                    set_priors(node, probabilities, judged * search.num_actions, tree)
                    winning = find_win(node, position, tree)
                    if winning != NONE:
                        search.values[node] = 1.0
                        prefer(node, winning, tree)
                        if search.length[row] == 0:
                            action = number(tree.edge_action[winning])
                            search.scores[row * search.num_actions + action] = SURE
            judged += 1
        value = search.values[node]
        for k in range(number(search.length[row]) - 1, -1, -1):
            value = -value
            edge = number(search.path[row * tree.max_nodes + k])
            tree.edge_visits[edge] += 1
            tree.edge_total[edge] += value


@entry
def read_gumbel_roots(
    search: GumbelSearch, tree: Tree, actions: Array, policy: Array, values: Array
) -> None:
    """Write each root's action, (T,), improved policy, (T * A,) of zeros before, and value, (T,).

    The action is, of those tried most often, the one of the highest score and value.
    """
    for row in range(len(tree.nodes_used)):
        root = row * tree.max_nodes
        first = number(tree.first_edge[root])
        end = first + number(tree.edges[root])
        most = 0
        for edge in range(first, end):
            most = max(most, number(tree.edge_visits[edge]))
        chosen = best_score(row, most, search, tree)
        total = improve(root, search, tree)
        actions[row] = tree.edge_action[chosen]
        values[row] = mixed_value(root, search, tree)
        for edge in range(first, end):
            index = row * search.num_actions + number(tree.edge_action[edge])
            policy[index] = search.weights[edge - first] / total


def find_win(node: int, position: Position, tree: Tree) -> int:
    """The node's first edge that ends the game with a win, or NONE."""
    first = number(tree.first_edge[node])
    for edge in range(first, first + number(tree.edges[node])):
        after = arrive(
            position.own, position.opp, position.to_move, position.ply, word(tree.edge_action[edge])
        )
        if is_final(after[2] != ZERO, position.ply + ONE):
            theirs, mine = points(after[0], after[1], position.to_move ^ ONE)
            if mine > theirs:
                return edge
    return NONE


def prefer(node: int, chosen: int, tree: Tree) -> None:
    """Give all of the prior to one of the node's edges."""
    first = number(tree.first_edge[node])
    for edge in range(first, first + number(tree.edges[node])):
        tree.edge_prior[edge] = 1.0 if edge == chosen else 0.0


def select_at_root(row: int, simulation: int, search: GumbelSearch, tree: Tree) -> int:
    """By sequential halving: the best of the edges that have been tried so often."""
    place = number(search.considered[row]) * search.simulations + simulation
    return best_score(row, number(search.schedule[place]), search, tree)


def best_score(row: int, tries: int, search: GumbelSearch, tree: Tree) -> int:
    """The root's edge, of those tried so often, of the highest score and transformed value."""
    root = row * tree.max_nodes
    first = number(tree.first_edge[root])
    untried = mixed_value(root, search, tree)
    scale = value_scale(root, search, tree)
    best, highest = first, -1e30
    for edge in range(first, first + number(tree.edges[root])):
        if tree.edge_visits[edge] == tries:
            value = tree.edge_total[edge] / tries if tries > 0 else untried
            action = number(tree.edge_action[edge])
            score = search.scores[row * search.num_actions + action] + scale * value
            if score > highest:
                best, highest = edge, score
    return best


def select_below(node: int, search: GumbelSearch, tree: Tree) -> int:
    """The edge whose share of the visits lies furthest below its share of the improved policy."""
    first = number(tree.first_edge[node])
    end = first + number(tree.edges[node])
    total = improve(node, search, tree)
    tries = 1
    for edge in range(first, end):
        tries += number(tree.edge_visits[edge])
    best, highest = first, -1e30
    for edge in range(first, end):
        lack = search.weights[edge - first] / total - tree.edge_visits[edge] / tries
        if lack > highest:
            best, highest = edge, lack
    return best


def improve(node: int, search: GumbelSearch, tree: Tree) -> float:
    """The improved policy, softmax(log prior + transformed value): writes the weights of the node's
    edges and returns their sum.
    """
    first = number(tree.first_edge[node])
    end = first + number(tree.edges[node])
    untried = mixed_value(node, search, tree)
    scale = value_scale(node, search, tree)
    highest, any_untried = -1e30, False
    for edge in range(first, end):
        if tree.edge_visits[edge] > 0:
            highest = max(highest, tree.edge_total[edge] / tree.edge_visits[edge])
        else:
            any_untried = True
    if any_untried:
        highest = max(highest, untried)
    chance_of_untried = math.exp(scale * (untried - highest))
    total = 0.0
    for edge in range(first, end):
        weight = max(LEAST_PRIOR, tree.edge_prior[edge])
        if tree.edge_visits[edge] > 0:
            value = tree.edge_total[edge] / tree.edge_visits[edge]
            weight = weight * math.exp(scale * (value - highest))
        else:
            weight = weight * chance_of_untried
        search.weights[edge - first] = weight
        total += weight
    return total


def value_scale(node: int, search: GumbelSearch, tree: Tree) -> float:
    """What values are multiplied by to be added to logits: more, the more often one was tried."""
    first = number(tree.first_edge[node])
    most = 0
    for edge in range(first, first + number(tree.edges[node])):
        most = max(most, number(tree.edge_visits[edge]))
    return (search.c_visit + most) * search.c_scale


def mixed_value(node: int, search: GumbelSearch, tree: Tree) -> float:
    """The node's value: the evaluator's, and by the prior the values of the edges tried, which
    weigh as much as they were tried.
    """
    first = number(tree.first_edge[node])
    tries, chance, total = 0, 0.0, 0.0
    for edge in range(first, first + number(tree.edges[node])):
        visits = number(tree.edge_visits[edge])
        if visits > 0:
            prior = max(LEAST_PRIOR, tree.edge_prior[edge])
            tries += visits
            chance += prior
            total += prior * tree.edge_total[edge] / visits
    own = float(search.values[node])
    if tries == 0:
        return own
    return (own + tries * total / chance) / (1 + tries)
