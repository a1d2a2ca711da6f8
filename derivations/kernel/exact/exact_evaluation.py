"""Evaluates expression trees at concrete numbers exactly: rationals where the value is rational, rigorous balls otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import lcm, prod
from operator import le, lt
from typing import Any

from flint import acb, arb, fmpq, fmpq_mat

from ..core.constructors import sqrt
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..core.operators import NONSMOOTH, differentiation_symbol
from ..errors import KernelError
from .atom_payloads import Unsupported, instantiate
from .flint_numbers import (
    Undefined,
    apply_function,
    average,
    certainly_differ,
    determinant,
    divide,
    enclose,
    maximum,
    raise_to,
    round_to,
    to_fmpq,
    to_real,
)
from .integer_powers import split_base_and_exponent
from .polynomials import Polynomial, rename_indices
from .taylor_series import NUMBER_OF_COEFFICIENTS, NoDerivative, Taylor

SCALAR_PLACES = ((),)  # the only place of a scalar
MAX_SUMMANDS = 1000  # of a sum in a normal form that is evaluated


def evaluate(e: Expr, env: dict) -> dict:
    """Return the entries of e by place, a tuple of indices that count from 0. `env` maps sizes to integers and symbols to dicts of
    entries.

    Raise Undefined if a value does not exist, and KernelError if it cannot be settled or e contains a node that cannot be evaluated.
    """
    places = list(product(*[range(evaluate_size(s, env)) for s in e.shape])) if e.shape else SCALAR_PLACES
    rule = RULES.get(e.op)
    if rule is None:
        raise KernelError(f"the node '{e.op}' cannot be evaluated at numbers", code="not-settled")
    return rule(e, env, places)


def evaluate_everywhere(e: Expr, env: dict) -> Iterator:
    """Yield the entries of e at every value of its free indices, except those that `env` fixes."""
    free = sorted((i for i in free_indices(e) if ("index", i.data[0]) not in env), key=lambda i: i.data[0])
    for chosen in product(*(range(evaluate_size(i.data[1], env)) for i in free)):
        yield from evaluate(e, env | {("index", i.data[0]): k for i, k in zip(free, chosen)}).values()


def evaluate_size(size: Expr, env: dict) -> int:
    """Return the value of a size."""
    return int(size.data) if size.op == "const" else env[size.data[0]]


def evaluate_scalar(e: Expr, env: dict) -> Any:
    """Return the value of a scalar expression."""
    return evaluate(e, env)[()]


def evaluate_symbol(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    value = env[e.data[0]]
    return {(): to_fmpq(value)} if e.data[1] == "size" else value


def entrywise(operation: Callable) -> Callable[[Expr, dict, Sequence[tuple]], dict]:
    """Return the rule of an operator that applies an operation to corresponding entries; scalars are broadcast."""

    def rule(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
        if not e.shape:
            return {(): operation(*[evaluate(argument, env)[()] for argument in e.args])}
        parts = [evaluate(argument, env) for argument in e.args]
        return {p: operation(*(part[p if argument.shape else ()] for part, argument in zip(parts, e.args))) for p in places}

    return rule


def evaluate_power(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    return {(): raise_to(evaluate_scalar(e.args[0], env), evaluate_scalar(e.args[1], env))}


def evaluate_matmul(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    left, right = (evaluate(argument, env) for argument in e.args)
    split, inner = len(e.args[0].shape) - 1, evaluate_size(e.args[0].shape[-1], env)
    return {p: sum((left[p[:split] + (k,)] * right[(k,) + p[split:]] for k in range(inner)), to_fmpq(0)) for p in places}


def evaluate_inverse(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    n, entries = evaluate_size(e.shape[0], env), evaluate(e.args[0], env)
    rows = [[entries[i, j] for j in range(n)] for i in range(n)]
    try:
        if all(isinstance(v, fmpq) for v in entries.values()):
            result = fmpq_mat(rows).inv()
            return {p: result[p] for p in places}
        inverted = invert_by_elimination(rows)
    except ZeroDivisionError:
        raise Undefined(f"{show(e.args[0])} is singular") from None
    return {p: inverted[p[0]][p[1]] for p in places}


def invert_by_elimination(rows: list[list]) -> list[list]:
    """Return the inverse of a matrix of numbers, balls or series, by Gauss and Jordan.

    Raise ZeroDivisionError if the matrix is singular, and KernelError if it may be.
    """
    n = len(rows)
    rows = [[*row, *(to_fmpq(int(i == k)) for k in range(n))] for i, row in enumerate(rows)]
    for k in range(n):
        first = [row[k].c[0] if isinstance(row[k], Taylor) else row[k] for row in rows]
        pivot = next((i for i in range(k, n) if certainly_differ(first[i], to_fmpq(0))), None)
        if pivot is None:
            if all(x == 0 for x in first[k:]):
                raise ZeroDivisionError
            raise KernelError("whether a matrix is singular is not settled", code="not-settled")
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [divide(x, rows[k][k]) for x in rows[k]]
        rows = [row if i == k else [x - row[k] * y for x, y in zip(row, rows[k])] for i, row in enumerate(rows)]
    return [row[n:] for row in rows]


def evaluate_sum(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    name, size = e.data
    return {(): sum((evaluate_scalar(e.args[0], {**env, ("index", name): k}) for k in range(evaluate_size(size, env))), to_fmpq(0))}


def evaluate_each(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    name, size = e.data
    rows = [evaluate(e.args[0], {**env, ("index", name): k}) for k in range(evaluate_size(size, env))]
    return {p: rows[p[0]][p[1:]] for p in places}


def evaluate_where(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    """Return the body where the condition holds. Elsewhere return 0; the body may have no value there."""
    body, left, right = e.args
    return evaluate(body, env) if COMPARED[e.data](evaluate_scalar(left, env), evaluate_scalar(right, env)) else {(): to_fmpq(0)}


COMPARED = {"<=": le, "<": lt}


def evaluate_entry(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    at = tuple(int(i.data) - 1 if i.op == "const" else env["index", i.data[0]] for i in e.args[1:])
    return {(): evaluate(e.args[0], env)[at]}


def evaluate_function(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    if e.data in VECTOR_FUNCTIONS:
        return {(): VECTOR_FUNCTIONS[e.data](e.args[0], env)}
    return {p: apply_function(e.data, v) for p, v in evaluate(e.args[0], env).items()}


VECTOR_FUNCTIONS = {
    "norm": lambda x, env: evaluate_scalar(sqrt(x @ x), env),
    "largest": lambda x, env: maximum(list(evaluate(x, env).values())),
}


def evaluate_softmax(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    scores = evaluate(e.args[0], env)
    exponentials = {p: apply_function("exp", s) for p, s in scores.items()}
    rows: dict[tuple, Any] = {}
    for p, t in exponentials.items():
        rows[p[:-1]] = rows.get(p[:-1], to_fmpq(0)) + t
    return {p: divide(exponentials[p], rows[p[:-1]]) for p in places}


def evaluate_derivative(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    """Return the derivative from series of the body on both sides of the point.

    A second derivative must be with respect to the same symbol.
    """
    body, by = e.args
    target = differentiation_symbol(by)
    name, place = target.data[0], tuple(int(i.data) - 1 if i.op == "const" else env["index", i.data[0]] for i in by.args[1:])
    if "moving" in env:
        if env["moving"] != (name, place):
            evaluate_scalar(body, env)
            raise KernelError("a derivative by one symbol of a derivative by another is not evaluated at numbers", code="not-settled")
        return {(): derivative_along(body, env, env["step"])}
    if any(n.op == "derivative" for n in walk(body)):
        evaluate_scalar(body, env)  # raises Undefined if the inner derivative does not exist at the point
    power = root_denominator(body)
    sides = [one_sided_derivative(body, env, name, place, power, sign) for sign in ((1, -1) if has_corners(body, target) else (1,))]
    if any(certainly_differ(sides[0], x) for x in sides):
        raise Undefined("the slopes on the two sides of a corner differ, and one is taken there")
    return {(): sides[0] if all(isinstance(x, fmpq) for x in sides) else enclose(sides)}


def one_sided_derivative(body: Expr, env: dict, name: str, place: tuple, power: int, sign: int) -> Any:
    """Return the derivative of the body on one side of the point that `env` describes."""
    step = Taylor([to_fmpq(0)] * power + [to_fmpq(sign)] + [to_fmpq(0)] * (power * (NUMBER_OF_COEFFICIENTS - 1) - 1))
    near = env | {name: env[name] | {place: step + env[name][place]}, "moving": (name, place), "step": step}
    derivative = derivative_along(body, near, step)
    return derivative.c[0] if isinstance(derivative, Taylor) else derivative


def derivative_along(body: Expr, near: dict, step: Taylor) -> Any:
    """Return the derivative of the body in the environment `near`, where one entry is the point plus the series `step`."""
    try:
        value = evaluate_scalar(body, near)
        return value.derivative(step) if isinstance(value, Taylor) else to_fmpq(0)
    except NoDerivative as reason:
        raise Undefined(f"{reason}, and a slope is taken there") from None
    except (TypeError, AttributeError):
        raise KernelError("a derivative of this is not evaluated at numbers", code="not-settled") from None


def has_corners(body: Expr, target: Expr) -> bool:
    """Return whether the body contains a modulus, or a fractional power, of something that contains the target."""
    bent = (n for n in walk(body) if n.op == "function" and n.data in NONSMOOTH or n.op == "pow" and not is_integer_constant(n.args[1]))
    return any(target in set(walk(n)) for n in bent)


def is_integer_constant(e: Expr) -> bool:
    """Return whether e is a whole number."""
    return e.op == "const" and e.data.denominator == 1


def root_denominator(e: Expr) -> int:
    """Return a number q such that e at point + t^q is a series in whole powers of t, whatever its roots are taken of."""
    q = e.args[1].data.denominator if e.op == "pow" and e.args[1].op == "const" else 2 if e.op == "function" and e.data == "norm" else 1
    return q * lcm(*map(root_denominator, e.args))


def evaluate_rank(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    """Return the rank of a rational matrix. The rank of a matrix of balls is known only if it is square and certainly nonsingular."""
    inside = evaluate(e.args[0], env)
    rows, columns = (1 + max(p[k] for p in inside) for k in (0, 1))
    if all(isinstance(v, fmpq) for v in inside.values()):
        return {(): to_fmpq(fmpq_mat(rows, columns, [inside[i, j] for i in range(rows) for j in range(columns)]).rank())}
    if rows == columns and certainly_differ(determinant(inside, rows), to_fmpq(0)):
        return {(): to_fmpq(rows)}
    raise KernelError(f"{show(e)} cannot be settled with balls unless the matrix is square and of full rank", code="not-settled")


def list_outcomes(body: Expr, env: dict) -> list:
    """Return the values of the body over all combinations of values of its random entries, which are equally likely.

    A support lists the values of each entry, which are independent, or the values of all entries together.
    """
    choices = []
    for s in (s for s in symbols(body).values() if s.data[1] == "random"):
        support = env["supports"][s.data[0]]
        if not isinstance(support[0], dict):
            places = list(product(*(range(evaluate_size(n, env)) for n in s.shape)))
            support = [dict(zip(places, outcome)) for outcome in product(support, repeat=len(places))]
        choices.append([(s.data[0], entries) for entries in support])
    return [evaluate_scalar(body, env | dict(drawn)) for drawn in product(*choices)]


def evaluate_variance(e: Expr, env: dict, places: Sequence[tuple]) -> dict:
    values = list_outcomes(e.args[0], env)
    return {(): average([v * v for v in values]) - average(values) ** 2}


RULES = {
    "const": lambda e, env, places: {(): to_fmpq(e.data)},
    "symbol": evaluate_symbol,
    "index": lambda e, env, places: {(): to_fmpq(env["index", e.data[0]] + 1)},
    "defined": lambda e, env, places: evaluate(e.args[0], env),
    "paren": lambda e, env, places: evaluate(e.args[0], env),
    "add": entrywise(lambda a, b: a + b),
    "neg": entrywise(lambda a: -a),
    "mul": entrywise(lambda a, b: a * b),
    "div": entrywise(divide),
    "pow": evaluate_power,
    "matmul": evaluate_matmul,
    "transpose": lambda e, env, places: {p[::-1]: v for p, v in evaluate(e.args[0], env).items()},
    "inverse": evaluate_inverse,
    "eye": lambda e, env, places: {p: to_fmpq(p[0] == p[1]) for p in places},
    "fill": lambda e, env, places: {p: to_fmpq(e.data) for p in places},
    "array": lambda e, env, places: dict(zip(places, (evaluate_scalar(x, env) for x in e.args))),
    "sum": evaluate_sum,
    "each": evaluate_each,
    "where": evaluate_where,
    "entry": evaluate_entry,
    "function": evaluate_function,
    "softmax": evaluate_softmax,
    "derivative": evaluate_derivative,
    "rank": evaluate_rank,
    "rounded": lambda e, env, places: {(): round_to(evaluate_scalar(e.args[0], env), e.data, "unbounded" in env)},
    "expectation": lambda e, env, places: {(): average(list_outcomes(e.args[0], env))},
    "variance": evaluate_variance,
    "imaginary": lambda e, env, places: {(): acb(0, 1)},
}


def evaluate_polynomial(p: Polynomial, values: dict) -> Any:
    """Return a normal form at the given values of its atoms: sizes, scalars and moments by head, entries of tensors by head and indices."""
    result = to_fmpq(0)
    for (bound, factors), c in p.items():
        lengths = [int(n.data) if n.op == "const" else int(values["size", n.data[0]]) for n in bound]
        if prod(lengths) > MAX_SUMMANDS:
            raise KernelError("a sum over an index has too many terms to be evaluated here", code="not-settled")
        for chosen in product(*(range(1, n + 1) for n in lengths)):
            places = {("b", k): ("c", place) for k, place in enumerate(chosen)}
            result = result + to_fmpq(c) * evaluate_factors(rename_indices(factors, places), values)
    return result


def evaluate_factors(factors: list, values: dict) -> Any:
    """Return the product of powers of atoms at the given values. The atoms have no bound indices."""
    term = to_fmpq(1)
    for (head, indices), e in factors:
        if head[0] == "joint":
            raise Unsupported("the value depends on a moment of several random numbers, which is not stated", code="unknown-expectation")
        if head[0] == "exp":  # exp(x)^e is exp(ex), not a principal root
            term = term * apply_function("exp", to_fmpq(e) * evaluate_polynomial(dict(instantiate(head[-1], indices)), values))
            continue
        if head[0] in ("whole", "turn"):
            below, times = split_base_and_exponent(dict(instantiate(head[-1], indices)))
            base = to_fmpq(-1) if head[0] == "turn" else evaluate_polynomial(below, values)
            base = raise_to(base, evaluate_polynomial(times, values))
        elif head[0] == "i":
            base = acb(0, 1)
        elif head[0] == "prime":
            base = to_fmpq(head[1])
        elif head[0] == "delta" and all(i[0] == "c" for i in indices):
            base = to_fmpq(indices[0] == indices[1])
        elif head[0] == "value" and indices[0][0] == "c":
            base = to_fmpq(indices[0][1])
        elif head[0] == "largest":
            raise KernelError("the largest of some entries is not evaluated here", code="not-settled")
        elif head[0] in ("log", "sum", "abs"):
            inside = evaluate_polynomial(dict(instantiate(head[-1], indices)), values)
            base = inside if head[0] == "sum" else apply_function(head[0], inside)
        else:
            base = values[head, indices] if (head, indices) in values else values[head]
        if e.denominator != 1:
            base = to_real(base, "a root of a number")
        term = term * (
            base ** int(e)
            if e.denominator == 1 and e > 0
            else divide(to_fmpq(1), base ** int(-e))
            if e.denominator == 1
            else arb(base) ** arb(to_fmpq(e))
        )
    return term


def list_atom_values(env: dict) -> dict:
    """Return the values of the atoms of a normal form in an environment: sizes and scalars by head, entries by head and indices."""
    values: dict[tuple, Any] = {("size", n): to_fmpq(v) for n, v in env.items() if isinstance(n, str) and isinstance(v, int)}
    for name, entries in ((n, v) for n, v in env.items() if isinstance(v, dict)):
        head = ("entry", name)
        values |= {(head, tuple(("c", k + 1) for k in place)) if place else head: x for place, x in entries.items()}
    return values
