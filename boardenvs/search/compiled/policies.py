"""Selection of the edges that a simulation follows: parts of `simulations`.

- UCT, without priors: UCB1 (Kocsis and Szepesvari 2006).
- Gumbel, with priors (Danihelka, Guez, Schrittwieser, Silver, ICLR 2022): the root's actions are
  tried by sequential halving, in the order of a score that Gumbel noise makes a draw from the
  prior; below the root, or at all nodes if it is not known when a search ends, visits approach the
  improved policy. An action without visits counts as `mixed_value`. A position with a move that
  wins at once is won by it, whatever the evaluator says: networks overlook such moves, and few
  simulations would not find them.

Players do not select an edge that is proven to be no better than another.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from boardenvs.kernel.loops import (
    ALTERNATES,
    HISTORY,
    ONE,
    WORD_COUNT,
    ZERO,
    Array,
    Word,
    entry,
    inline,
    number,
    step_words_no_legal,
    word,
)
from boardenvs.search.compiled.position import (
    PackedPosition,
    final_margin,
    is_final,
    key_of_words,
    sign_of,
    with_repeats,
)
from boardenvs.search.compiled.tree import (
    NONE,
    Tree,
    bounds_of,
    edges_of,
    position_of,
    repeats_after,
)
from boardenvs.utils.splitmix import mix

# Smaller priors are raised to it, so that no action is lost if all others of a node are bad.
LEAST_PRIOR = 1e-9


class Exploration(NamedTuple):
    """Parameters of UCT."""

    c: float  # weight of exploration


class Gumbel(NamedTuple):
    """Parameters of Gumbel search, for T trees of games with A actions; values are -1 to 1."""

    c_visit: float  # values weigh (c_visit + most visits) * c_scale against logits
    c_scale: float
    scores: Array  # (T * A,) reals: Gumbel noise and the prior's logarithm, of the root's actions
    schedule: Array  # (M + 1, S) numbers, flat: see `boardenvs.search.gumbel.schedule`
    considered: int  # M: most root actions that are tried
    winning: Array  # (T,) numbers: the root's edge that wins at once, or NONE
    simulations: int  # S: those that the root's actions share by sequential halving
    num_actions: int  # A
    weights: Array  # (A,) reals, working memory: weights of a node's edges
    solves: int  # 1: no edge is selected that is proven to be no better than another


@inline
def select_by_bound(node: int, row: int, random: Word, policy: Exploration, tree: Tree) -> int:
    """Return a random edge without visits, or the edge with the highest UCB1."""
    visits, totals, edges = tree.edge_visits, tree.edge_total, edges_of(node, tree)
    untried = 0
    for edge in edges:
        if visits[edge] == 0:
            untried += 1
    if untried > 0:
        k = number(((mix(random) >> word(32)) * word(untried)) >> word(32))
        for edge in edges:
            if visits[edge] == 0:
                if k == 0:
                    return edge
                k -= 1
    width = policy.c * math.sqrt(math.log(tree.visits[node]))
    best, best_bound = number(tree.first_edge[node]), -1e9
    for edge in edges:
        bound = totals[edge] / visits[edge] + width / math.sqrt(visits[edge])
        if bound > best_bound and not is_settled(edge, node, tree):
            best, best_bound = edge, bound
    return best


@inline
def is_settled(edge: int, node: int, tree: Tree) -> bool:
    """Return whether an edge of the node is proven to be no better than another."""
    child = number(tree.edge_child[edge])
    settled: bool = child != NONE and bounds_of(child, node, tree)[1] <= tree.lower[node]
    return settled


def select_by_gumbel(node: int, row: int, random: Word, policy: Gumbel, tree: Tree) -> int:
    """Select at the root by sequential halving: the best edge with the scheduled number of visits.
    Below it, and after that, the edge whose share of visits is furthest below its probability in
    the improved policy.
    """
    tries = number(tree.visits[node])
    solves = policy.solves == 1 and tree.lower[node] < tree.upper[node]
    if node == row * tree.max_nodes and tries < policy.simulations:
        actions = min(number(tree.edges[node]), policy.considered)
        visits = number(policy.schedule[actions * policy.simulations + tries])
        edge = best_score(row, visits, policy, tree)
        if not solves or (tree.edge_visits[edge] == visits and not is_settled(edge, node, tree)):
            return edge
    total = improve(node, policy, tree)
    best, highest = number(tree.first_edge[node]), -1e30
    for k, edge in enumerate(edges_of(node, tree)):
        lack = policy.weights[k] / total - tree.edge_visits[edge] / (tries + 1)
        if lack > highest and not (solves and is_settled(edge, node, tree)):
            best, highest = edge, lack
    return best


def add_no_guesses(
    row: int, count: int, policy: Gumbel, limits: Any, tree: Tree, leaves: Any, steps: Any
) -> int:
    """Add none, in place of `simulations.add_guesses`."""
    return count


def look_for_win(node: int, row: int, position: PackedPosition, policy: Gumbel, tree: Tree) -> None:
    """Give a move that wins at once all of the prior, and its node the value of a win."""
    edges = edges_of(node, tree)
    for edge in edges:
        action = word(tree.edge_action[edge])
        after = step_words_no_legal(*position.words, position.to_move, position.ply, action)
        then = position.to_move ^ ONE if ALTERNATES else after[-2]
        if is_final(after[-1] != ZERO, position.ply + ONE):
            words = after[:WORD_COUNT]
            if HISTORY:
                words = with_repeats(words, repeats_after(node, key_of_words(words), row, tree))
            margin = final_margin(words, then)
            won = sign_of(position.to_move, then) * margin > 0
        else:
            won = False
        if won:
            tree.value[node] = 1.0
            for other in edges:
                tree.edge_prior[other] = 1.0 if other == edge else 0.0
            if policy.solves == 0:  # else the edge's visit proves it: a guess may prove nothing
                tree.lower[node], tree.upper[node] = 1, 1
            if node == row * tree.max_nodes:
                policy.winning[row] = edge
            return


def best_score(row: int, tries: int, policy: Gumbel, tree: Tree) -> int:
    """Return the root's edge with this number of visits and the highest score plus transformed
    value; an edge that wins at once comes first.
    """
    root = row * tree.max_nodes
    untried, scale = 0.0, 0.0
    if tries > 0:  # else all have the value of an action without visits
        untried, scale = mixed_value(root, tree), value_scale(root, policy, tree)
    best, highest = number(tree.first_edge[root]), -1e30
    for edge in edges_of(root, tree):
        if tree.edge_visits[edge] == tries:
            if edge == policy.winning[row]:
                return edge
            place = row * policy.num_actions + number(tree.edge_action[edge])
            score = policy.scores[place] + scale * mean_value(edge, untried, tree)
            if score > highest:
                best, highest = edge, score
    return best


def improve(node: int, policy: Gumbel, tree: Tree) -> float:
    """Write the weights of the improved policy, softmax(log prior + transformed value), for the
    node's edges; return their sum.
    """
    edges, untried = edges_of(node, tree), mixed_value(node, tree)
    scale = value_scale(node, policy, tree)
    highest = -1e30
    for edge in edges:
        highest = max(highest, mean_value(edge, untried, tree))
    growth_of_untried = math.exp(scale * min(0.0, untried - highest))
    total = 0.0
    for k, edge in enumerate(edges):
        growth = growth_of_untried
        if tree.edge_visits[edge] > 0:
            growth = math.exp(scale * (mean_value(edge, untried, tree) - highest))
        weight = max(LEAST_PRIOR, tree.edge_prior[edge]) * growth
        policy.weights[k] = weight
        total += weight
    return total


@inline
def mean_value(edge: int, untried: float, tree: Tree) -> float:
    """Return the mean value of the simulations through an edge, or `untried` if there are none."""
    visits = tree.edge_visits[edge]
    mean: float = tree.edge_total[edge] / visits if visits > 0 else untried
    return mean


def value_scale(node: int, policy: Gumbel, tree: Tree) -> float:
    """Return the factor of values that are added to logits; it grows with visits."""
    return (policy.c_visit + most_visits(node, tree)) * policy.c_scale


def most_visits(node: int, tree: Tree) -> int:
    """Return the most visits of an edge of the node."""
    most = 0
    for edge in edges_of(node, tree):
        most = max(most, number(tree.edge_visits[edge]))
    return most


def mixed_value(node: int, tree: Tree) -> float:
    """Return the value of a node: the evaluator's value, mixed with the values of visited edges,
    weighed by prior and by the number of visits.
    """
    tries, probability, total = 0, 0.0, 0.0
    for edge in edges_of(node, tree):
        visits = number(tree.edge_visits[edge])
        if visits > 0:
            prior = max(LEAST_PRIOR, tree.edge_prior[edge])
            tries += visits
            probability += prior
            total += prior * tree.edge_total[edge] / visits
    own = float(tree.value[node])
    if tries == 0:
        return own
    return (own + tries * total / probability) / (1 + tries)


@entry
def read_logits(policy: Gumbel, tree: Tree, logits: Array) -> None:
    """Write log prior + transformed value of each root's actions, (T * A,)."""
    for row in range(len(tree.nodes_used)):
        root = row * tree.max_nodes
        untried, scale = mixed_value(root, tree), value_scale(root, policy, tree)
        for edge in edges_of(root, tree):
            logit = math.log(max(LEAST_PRIOR, tree.edge_prior[edge]))
            place = row * policy.num_actions + number(tree.edge_action[edge])
            logits[place] = logit + scale * mean_value(edge, untried, tree)


@entry
def read_gumbel_roots(
    policy: Gumbel, tree: Tree, actions: Array, improved: Array, values: Array, after: Array
) -> None:
    """Write each root's action, (T,), improved policy, (T * A,) of zeros before, and value, (T,);
    and the priors and the value of the position after the action, (T * (A + 1),), if it has them
    and they are its evaluator's.

    The action is the most visited one; among equals the highest score plus value decides.
    """
    for row in range(len(tree.nodes_used)):
        root = row * tree.max_nodes
        chosen = best_score(row, most_visits(root, tree), policy, tree)
        total = improve(root, policy, tree)
        actions[row] = tree.edge_action[chosen]
        values[row] = mixed_value(root, tree)
        for k, edge in enumerate(edges_of(root, tree)):
            place = row * policy.num_actions + number(tree.edge_action[edge])
            improved[place] = policy.weights[k] / total
        child, start = number(tree.edge_child[chosen]), row * (policy.num_actions + 1)
        plies = position_of(child, tree).ply - position_of(root, tree).ply
        if plies == ONE and tree.edges[child] > 0 and tree.lower[child] != tree.upper[child]:
            after[start + policy.num_actions] = tree.value[child]
            for edge in edges_of(child, tree):
                after[start + tree.edge_action[edge]] = tree.edge_prior[edge]
