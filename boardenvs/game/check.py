"""A check of a game's rules: random games, and what must hold in every position of every game."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np

from boardenvs.board.bitboard import squares_of
from boardenvs.board.symmetry import Symmetry
from boardenvs.game import fen
from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.plain import PlainGame, is_plain
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import LIMITS, MAX_VALUE, Rules
from boardenvs.game.state import take
from boardenvs.kernel import ALL, Program, get_backend, set_backend
from boardenvs.kernel.layout import pack_bits
from boardenvs.kernel.wide import join

_CHANGES = 4  # of each word of a position, at least, if there are as many
_TRACES = 4  # of each rule, to see whether it is the same each time
_TRIED = 4  # actions of a position, where all would take long
_MANY_PLIES = 10_000  # within which a random game must end


class RulesError(ValueError):
    """Rules that contradict themselves, or what a game must satisfy."""


@contextmanager
def _by_python() -> Iterator[None]:
    """One board is played by Python, which does not read beyond the end of a Table."""
    used = get_backend()
    set_backend("numpy")
    try:
        yield
    finally:
        set_backend(used)


@_by_python()
def check_rules(
    game: Game | type[Any],
    seed: int = 0,
    num_games: int = 20,
    max_plies: int = 200,
    against: Game | type[Any] | None = None,
) -> None:
    """Play random games and check what every game must satisfy.

    `over` is a flag and ends some game; `play` returns the side that has moved first; pieces do not
    overlap; `check_squares` accepts every position that is reached; names and texts are read back;
    observations determine the rules; symmetries change neither rules nor heuristic nor features;
    `mover_symmetry` keeps the rules if the sides are swapped; the heuristic stays below `MAX_VALUE`
    and features below their sizes; `fills_up`, `fills_by_capture` and `stable` are true; Tables
    have what is looked up; one board, a batch and every backend agree. Games are played up to
    `max_plies`; the same seed plays the same games.

    against: the same game, written otherwise, such as in plain Python: both play the same moves,
    which must have the same names, and the first ply after which they differ is shown.

    RulesError, with the position and what is wrong, if a check fails. Only consistency is checked:
    use perft to see whether these are the rules of the game you mean.
    """
    game = _game_of(game)
    if game.in_words:
        with _at(game.id):
            _check_class(game)
            _check_sides(game, np.random.default_rng(seed), max_plies)
    if against is not None:
        rng, other = np.random.default_rng(seed), _game_of(against)
        for _ in range(num_games):
            _check_against(game, other, rng, max_plies)
    rng = np.random.default_rng(seed)
    ended = False
    for _ in range(num_games):
        positions, actions = list[Position](), list[int]()
        for position, action in _random_game(game, rng, max_plies):
            _check_position(game, position)
            positions.append(position)
            actions.append(action)
        ended |= positions[-1].is_over()
        with _at(_place(positions[0])):
            if game.in_words:
                _check_filling(game, positions, actions)
                _check_stable(game, positions)
            else:  # whose last text is all moves of the game
                last = positions[-1]
                _check_texts(game, last)
                sent = pickle.loads(pickle.dumps(last))
                _compare("the position, pickled,", _shown(sent), _shown(last))
        _check_batches(game, positions, actions)
    if not ended:
        _check_end(game, rng)


def is_symmetric(game: Game, symmetry: Symmetry, position: Position, swapped: bool = False) -> bool:
    """Return whether the position's image, `swapped` with the roles of the sides, is one of the
    game, and its legal actions, end, result and some successors are the images of the position's.
    """
    position = _without_history(position)
    try:
        other = position.image(symmetry, swapped)
    except PositionError:
        return False
    actions = game.action_images(symmetry)
    legal = position.legal_actions()
    return (
        other.legal_actions() == sorted(actions[legal].tolist())
        and other.terminated == position.terminated
        and other.result() == position.result()[:: -1 if swapped else 1]
        and all(
            _without_history(other.step(int(actions[a])))
            == position.step(a).image(symmetry, swapped)
            for a in _some(legal)
        )
    )


def _random_game(
    game: Game, rng: np.random.Generator, max_plies: int
) -> Iterator[tuple[Position, int]]:
    """Yield the positions of a random game, each with the action played there; noop in the last."""
    position = game.start()
    while not position.is_over() and position.ply < max_plies:
        action = int(rng.choice(position.legal_actions()))
        yield position, action
        with _in_tables(position):
            position = position.step(action)
    yield position, game.noop


def _some(actions: list[int]) -> list[int]:
    return actions[:: len(actions) // _TRIED + 1]


def _game_of(game: Any) -> Game:
    """Return the game, made of its class if that is in plain Python."""
    return PlainGame(game) if is_plain(game) else game


# ---- the class -----------------------------------------------------------------------------------


def _check_class(game: Game) -> None:
    fewest, most = game.opening_plies
    if not 0 <= fewest <= most:
        raise RulesError(f"opening_plies is {game.opening_plies}: fewest come first")
    turns = [*game.symmetries, game.mover_symmetry or game.symmetries[0]]
    if any(symmetry.board != game.board for symmetry in turns):
        raise RulesError(f"symmetries are of another board than {tuple(game.board)}")
    if Symmetry(board=game.board) not in game.symmetries:
        raise RulesError("symmetries lack the identity")
    _check_masks(game)
    asked = (game.over, game.points, game.planes, game.evaluate)
    if game.history and not any(map(_takes_repeats, asked)):
        raise RulesError(
            f"history is {game.history}, but no rule takes `repeats`: let `over` or "
            "`points` use it, or leave history out"
        )
    kernels = game.kernels
    for kernel in (kernels.step_words, kernels.points, kernels.planes, kernels.evaluate):
        if len({_listing(kernel.program()) for _ in range(_TRACES)}) > 1:
            raise RulesError(
                f"{kernel.name} is another function each time that its rules are run: {LIMITS}"
            )


def _check_masks(game: Game) -> None:
    """A heuristic does not look for pieces beyond the board, as with masks of a larger one."""
    beyond = ALL & ~game.board.all
    program = game.kernels.evaluate.program()
    for node in program.nodes:
        first, mask = (program.nodes[k] for k in (*node.args, 0, 0)[:2])
        looks = (node.op, first.op, mask.op) == ("and", "input", "const")
        if looks and first.extra < len(game.squares) and mask.extra & beyond not in (0, beyond):
            raise RulesError(
                f"evaluate looks at the squares {mask.extra:#x}, of a larger board than "
                f"{game.board.rows}x{game.board.columns}"
            )


def _takes_repeats(rule: Callable[..., Any]) -> bool:
    """Return whether a rule of the game itself takes `repeats`, by name or among all words."""
    parameters = signature(rule).parameters.values()
    inherited = getattr(rule, "__func__", rule) is getattr(Rules, rule.__name__)
    return not inherited and any(
        p.name == "repeats" or p.kind is p.VAR_POSITIONAL for p in parameters
    )


def _listing(program: Program) -> str:
    """Return all that a program computes: equal for equal functions traced alike."""
    nodes = [
        (node.op, node.args, _listing(x) if isinstance(x, Program) else getattr(x, "values", x))
        for node in program.nodes
        for x in [node.extra]
    ]
    return repr((nodes, program.outputs))


def _check_sides(game: Game, rng: np.random.Generator, max_plies: int) -> None:
    """Most squares stay with their side in a ply, where `play` does not swap the sides."""
    kept = 0
    for (before, _), (after, _) in pairwise(_random_game(game, rng, max_plies)):
        for role in (0, 1):
            pieces = before.pieces(role)
            kept += (pieces & after.pieces(role)).bit_count()
            kept -= (pieces & after.pieces(1 - role)).bit_count()
    if kept < 0:
        raise RulesError(
            "play swaps the sides: it returns the squares of the side that has moved "
            "first, and then those of the other"
        )


def _check_end(game: Game, rng: np.random.Generator) -> None:
    *_, (last, _) = _random_game(game, rng, _MANY_PLIES)
    if not last.is_over():
        raise RulesError(
            f"{game.id}: a random game does not end within {_MANY_PLIES} plies: let `over` end it, "
            "or give the class `max_plies`"
        )


# ---- one position --------------------------------------------------------------------------------


def _check_position(game: Game, position: Position) -> None:
    with _in_tables(position), _at(_place(position)):
        checks: tuple[Callable[[Game, Position], None], ...] = (_check_object,)
        if game.in_words:
            checks = (
                _check_moves,
                _check_bounds,
                _check_squares,
                _check_successors,
                _check_texts,
                _check_planes,
                _check_captures,
                _check_symmetries,
            )
        for check in checks:
            check(game, position)


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Errors name the place."""
    try:
        yield
    except RulesError as error:
        raise RulesError(f"{place}: {error}") from None


@contextmanager
def _in_tables(position: Position) -> Iterator[None]:
    """Errors of rules that ask a Table for what it does not have name the position."""
    try:
        yield
    except IndexError as error:
        if not position.game.in_words:
            raise
        wrong = _missing(position) or str(error)
        raise RulesError(f"{_place(position)}: {wrong}") from error


def _missing(position: Position) -> str:
    """Return which rule asks a Table for what it lacks, and in which line; "" if none does."""
    kernels, inputs = position.game.kernels, (*position.words, position.to_move, position.ply)
    asked = kernels.begin, kernels.planes, kernels.evaluate, kernels.features
    for kernel, words in (
        (kernels.points, inputs[:-1]),
        *((kernel, inputs) for kernel in asked),
        *((kernels.step_words, (*inputs, action)) for action in position.legal_actions()),
    ):
        try:
            kernel.as_written(*words)
        except ValueError as error:
            if isinstance(error.__cause__, IndexError):
                return str(error)
    return ""


def _place(position: Position) -> str:
    return f"{position.game.id}, {position.fen()!r}"


def _check_object(game: Game, position: Position) -> None:
    """A position in plain Python stays as it is when it is played on, each time in the same way."""
    before = _shown(position)
    for action in _some(position.legal_actions()):
        once, name = _shown(position.step(action)), game.action_name(action, position)
        if _shown(position) != before:  # between the two: a second turn may undo the first
            raise RulesError(f"step returns a position after {name}, and changes its own")
        if _shown(position.step(action)) != once:
            raise RulesError(f"{name}, played twice, leads to different positions: {LIMITS}")


def _shown(position: Position) -> tuple[Any, ...]:
    """Return everything that a position shows."""
    return position.planes(), *position[1:5], position.result()


def _check_moves(game: Game, position: Position) -> None:
    """No part has a bit beyond its actions, which would be left out."""
    parts = game.kernels.moves(*position.words, position.to_move)
    for part, (bits, size) in enumerate(zip(parts, game.action_sizes, strict=True)):
        if beyond := bits % (1 << -(-size // 64) * 64) >> size:
            raise RulesError(
                f"part {part} of moves has the bit {size + next(squares_of(beyond))}, outside of "
                f"its {size} actions: after a complement, & with the squares of the board"
            )


def _check_bounds(game: Game, position: Position) -> None:
    """What rules return is within its bounds; a negative number is a word beyond all of them."""
    for what, number, bound in _numbers(game, position):
        if not 0 <= number < bound:
            signed = number - (1 << 64) * (number >> 63 == 1)
            right = "a flag, 0 or 1, as of `nonzero`" if bound == 2 else f"0 to {bound - 1}"
            raise RulesError(f"{what} {signed}: it must be {right}")


def _numbers(game: Game, position: Position) -> Iterator[tuple[str, int, int]]:
    """Yield what rules return of a position, each number with what it must stay below."""
    words, _, to_move, ply, *_ = position
    moves = game.kernels.moves(*words, to_move)
    yield "over returns", game.kernels.over(*words, moves, to_move, ply), 2
    for number in position.points():
        yield "points returns", number, 1 << 63
    if position.terminated:
        return
    for number in _evaluated(position):
        yield "evaluate returns", number, MAX_VALUE
    for name, feature in game.kernels.named_features(*words, to_move, ply).items():
        yield f"the feature {name!r} is", feature.number, feature.size


def _check_squares(game: Game, position: Position) -> None:
    if both := game.square_names(position.own & position.opp):
        raise RulesError(f"both sides have a piece on {both}")
    try:
        again = game.position(position.by_role(), position.to_move, position.ply)
    except PositionError as error:
        raise RulesError(f"play reaches a position that is refused: {error}") from error
    if not game.history:
        _compare("the position, set up anew,", again, position)


def _check_successors(game: Game, position: Position) -> None:
    for action in position.legal_actions():
        with _at(f"after {game.action_name(action, position)}"):
            _check_squares(game, position.step(action))


def _check_texts(game: Game, position: Position) -> None:
    """Names of actions, and the position's text, are read back."""
    for action in position.legal_actions():
        name = game.action_name(action, position)
        _compare(f"action {action}, written {name!r},", game.parse_action(name), action)
    read = fen.parse_position(game, position.fen())
    _compare("the text", read, _without_history(position))


def _check_planes(game: Game, position: Position) -> None:
    """Positions that differ in side to move, in ply or in one word alone must differ in
    observation, or be played alike. Nobody acts where the game is over.
    """
    position = _without_history(position)
    if position.terminated:
        return
    planes, played = position.planes(), _played(position)
    for what, words, role, ply in _variants(game, position):
        try:
            other = game.position(words, role, ply)
        except PositionError:
            continue
        if not other.terminated and other.planes() == planes and _played(other) != played:
            raise RulesError(
                f"planes do not tell {what}, on which actions, the end or the result depend: "
                f"{other.fen()!r} looks the same, and is played otherwise"
            )


def _variants(game: Game, position: Position) -> Iterator[tuple[str, tuple[int, ...], int, int]]:
    """What is changed, and then the words by role, the side to move and the ply."""
    by_role, role, ply = position.by_role(), position.to_move, position.ply
    yield "whose turn it is", game.by_role(position.words, 1 - role), 1 - role, ply
    if not game.history:  # with one, no observation tells what has been before
        yield "how many plies are played", by_role, role, ply + 1
    for place, name in enumerate((*game.squares, *game.numbers)):
        word = by_role[place]
        if name in game.numbers:
            size = game.numbers[name]
            others = {n % size for n in (0, word + 1, -1, -2)}
        else:
            squares = word if place < 2 else word | by_role[0] | by_role[1]
            others = {word ^ 1 << square for square in squares_of(squares)}
        others = others - {word}
        for other in sorted(others)[:: max(1, len(others) // _CHANGES)]:
            yield name, (*by_role[:place], other, *by_role[place + 1 :]), role, ply


def _without_history(position: Position) -> Position:
    """Return a position without its history."""
    game = position.game
    return position.image(Symmetry(board=game.board)) if game.history else position


def _played(position: Position) -> tuple[Any, ...]:
    """Return the legal actions of the side to move, and what it gets where they end the game."""
    role, after = position.to_move, map(position.step, _some(position.legal_actions()))
    return position.legal_bits, [p.terminated and p.result()[role] for p in after]


def _check_symmetries(game: Game, position: Position) -> None:
    """The image is played alike, and has the same heuristic and features; that of the other side is
    played alike.
    """
    mover = game.mover_symmetry
    if mover is not None and not is_symmetric(game, mover, position, swapped=True):
        raise RulesError(
            f"mover_symmetry is {mover}: the image, with the sides swapped, is played otherwise"
        )
    for symmetry in game.symmetries:
        if not is_symmetric(game, symmetry, position):
            raise RulesError(f"{symmetry} is no symmetry: the image is played otherwise")
        if not position.terminated:
            image = position.image(symmetry)
            _compare(f"the value under {symmetry}", _value(image), _value(position))
            _compare(f"features under {symmetry}", _features(image), _features(position))


def _evaluated(position: Position) -> tuple[int, ...]:
    """Return the heuristic's values to the side to move and the other side, 0 without one."""
    return position.game.kernels.evaluate.one(*position.words, position.to_move, position.ply)


def _value(position: Position) -> int:
    mine, theirs = _evaluated(position)
    return mine - theirs


def _features(position: Position) -> list[int]:
    """Return the features' numbers; empty if the game has none."""
    game = position.game
    numbers = game.kernels.features.one(*position.words, position.to_move, position.ply)
    return [*numbers][: len(game.feature_sizes)]


# ---- whole games ---------------------------------------------------------------------------------


def _check_filling(game: Game, positions: list[Position], actions: list[int]) -> None:
    if not game.fills_up:
        return
    for before, action, after in zip(positions, actions, positions[1:], strict=False):
        old, new = before.own | before.opp, after.own | after.opp
        if old & ~new or (new ^ old).bit_count() != (action != game.noop):
            name = game.action_name(action, before)
            raise RulesError(f"fills_up is True, but at ply {before.ply} {name} fills no square")


def _check_captures(game: Game, position: Position) -> None:
    if not game.fills_by_capture or game.board.words > 1:  # which is searched otherwise
        return
    own, opp = position.own, position.opp
    empty = game.board.all ^ (own | opp | game.holes)
    mine, theirs = (
        sum(1 << s for s in squares_of(empty) if game.kernels.words_after.one(a, b, 0, s)[0] != b)
        for a, b in ((own, opp), (opp, own))
    )
    moves = 0 if position.terminated else position.legal_bits[0] & game.board.all
    if mine != moves or position.terminated != (not mine and not theirs):
        raise RulesError(
            f"fills_by_capture is True, but {game.square_names(mine) or 'no square'} would "
            "capture, and the game says otherwise"
        )


def _check_stable(game: Game, positions: list[Position]) -> None:
    """A square called stable must stay with its side to the end."""
    for role in (0, 1):
        kept, since = 0, ""
        for position in positions:
            lost = kept & ~position.pieces(role)
            if lost:
                names = game.square_names(lost)
                raise RulesError(f"{game.roles[role]} loses {names}, which were stable {since}")
            if position.to_move != role:
                stable = join(game.kernels.stable.one(*position.words))
                if stable & ~position.opp:
                    raise RulesError("stable returns squares that are not of `opp`")
                since = f"at ply {position.ply}" if stable & ~kept else since
                kept |= stable


# ---- two programs of one game --------------------------------------------------------------------


def _check_against(game: Game, other: Game, rng: np.random.Generator, max_plies: int) -> None:
    """Both play the same random moves: what can be seen must be the same after each."""
    here, there, line = game.start(), other.start(), list[str]()
    while True:
        expected = _facts(there, here)
        for what, value in _facts(here, there).items():
            if value != expected[what]:
                raise RulesError(
                    f"{game.id} differs at ply {len(line)}, after {' '.join(line) or 'no move'}: "
                    f"{what} {value}, in {other.source.__name__} {expected[what]}\n\n"
                    f"{_drawn(here)}\n\n{other.source.__name__}:\n{_drawn(there)}"
                )
        if here.is_over() or len(line) == max_plies:
            return
        action = int(rng.choice(here.legal_actions()))
        line.append(game.action_name(action, here))
        with _in_tables(here):
            here, there = here.step(action), there.step(other.parse_action(line[-1]))


def _facts(position: Position, other: Position) -> dict[str, Any]:
    """Return the facts on which two programs of a game must agree, by name."""
    game, over = position.game, position.is_over()
    legal = [] if over else position.legal_actions()
    facts: dict[str, Any] = {
        "it is over:": over,
        "the legal moves are": " ".join(sorted(game.action_name(a, position) for a in legal)),
        "the side to move is": None if over else position.to_move,
        "the result is": position.result() if over else None,
    }
    pieces = position.by_role()[:2], other.by_role()[:2]
    if game.board == other.game.board and all(any(sides) for sides in pieces):
        facts["the squares of the sides are"] = pieces[0]
    return facts


def _drawn(position: Position) -> str:
    """Return a position as text: by its own class, or a letter a square."""
    game = position.game
    ranks = "\n".join(map(" ".join, reversed(game.ranks_of(position))))
    return f"{game.text_of(position) or ranks}\n{position.fen()}"


def _check_batches(game: Game, positions: list[Position], actions: list[int]) -> None:
    """One board and a batch, and all backends, must agree on every position."""
    expected: dict[str, Any] = {}
    for backend in ("numpy", "numba") if find_spec("numba") and game.in_words else ("numpy",):
        set_backend(backend)
        for what, alone, together in _computed(game, positions, actions):
            its = list(alone)
            right = expected.setdefault(what, its)
            for how, values in (("one board", its), ("a batch", together)):
                for position, value, other in zip(positions, values, right, strict=False):
                    if value != other:
                        wrong = f"{what} of {how} by {backend} is {value}: it must be {other}"
                        raise RulesError(f"{_place(position)}: {wrong}")
    set_backend("numpy")


def _computed(
    game: Game, positions: list[Position], actions: list[int]
) -> Iterator[tuple[str, Iterable[Any], Iterable[Any]]]:
    """The values computed for each position, on one board and in a batch."""
    state, before = stack(positions), positions[:-1]  # the last position has no action
    after = game.step(take(state, slice(len(before))), np.array(actions[:-1], np.int64))
    yield "next", map(Position.step, before, actions), game.positions(after)
    yield "result", map(Position.result, positions), map(tuple, game.results(state).tolist())
    planes = pack_bits(game.observe_planes(state).reshape(len(positions), -1))
    yield "planes", map(Position.planes, positions), map(tuple, planes.tolist())
    yield "features", map(_features, positions), game.feature_numbers(state).tolist()
    if game.has_heuristic:
        yield "value", map(_value, positions), game.values(state).tolist()


def _compare(what: str, value: object, right: object) -> None:
    if value != right:
        raise RulesError(f"{what} is {value}: it must be {right}")
