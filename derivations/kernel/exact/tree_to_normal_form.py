"""Converts an expression tree into its normal form, one rule for each operator.

Nothing here uses SymPy. Index sums are decided at every shape. An expectation is taken by counting which summation indices coincide
(`expectations.py`), which settles a law at every size at once.
"""

from __future__ import annotations

from itertools import product

from ..core.expr import Expr, free_indices, show, walk
from ..core.operators import TRANSPARENT, differentiation_symbol
from ..printing.script_text import script
from .absolute_values import absolute_value
from .atom_payloads import Unsupported, function_atom, is_real
from .conjugates import is_real_polynomial
from .derivatives import differentiate
from .expectations import delta, take_expectation
from .exponentials_and_logs import exponential, logarithm, raise_to
from .index_sums import fresh_index, sum_over
from .integer_powers import is_whole, raise_to_whole_power
from .matrix_inverses import heads_of, inverse_atom, is_invertible
from .max_normal_form import MAX_WRITTEN_OUT, maximum_of, maximum_over
from .normal_form import Facts, multiply, multiply_out, raise_to_allowed_power, reduce_term
from .polynomials import Polynomial, add, atom, constant, scale, size_polynomial
from .rational_numbers import Fraction
from .roundings import round_exactly, take_out_power_of_two, take_out_sign


def normalize_entry(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    """Return the normal form of the entry of e at the indices `at`. `names` maps index variables of the tree to indices.

    Raise Unsupported if e contains a node that the exact witness does not support.
    """
    rule = RULES.get(e.op)
    if e.op in UNSUPPORTED:
        raise Unsupported(f"{show(e)}: {UNSUPPORTED[e.op]}")
    if rule is None:
        raise Unsupported(f"the exact witness does not know the node '{e.op}' in {show(e)}", code="unknown-operator")
    return rule(e, at, names, facts)


def normalize(e: Expr, facts: Facts, places: dict | None = None) -> Polynomial:
    """Return the normal form of an arbitrary entry of e. Rows, columns and free indices stay variables unless `places` fixes them."""

    def free(name: str) -> tuple:
        return ("c", places[name]) if places and name in places else ("f", name)

    outer_entries, facts.checked_entries = facts.checked_entries, {}  # other facts may hold in another reading
    try:
        return normalize_entry(
            e, tuple(free(f"axis {k}") for k in range(len(e.shape))), {i: free(i.data[0]) for i in free_indices(e)}, facts
        )
    finally:
        facts.checked_entries = outer_entries


def lower_symbol(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    name, kind = e.data
    return size_polynomial(e) if kind == "size" else atom((kind if kind == "random" else "entry", name), *at)


def lower_index(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    if e not in names:
        raise Unsupported(f"the index {show(e)} is bound outside the definition that uses it", code="not-supported")
    return constant(names[e][1]) if names[e][0] == "c" else atom(("value",), names[e])


def lower_array(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    """Return the entry at known indices; at an open index, the sum of all entries times their deltas."""
    if all(index[0] == "c" and index[1] in range(1, int(n.data) + 1) for index, n in zip(at, e.shape)):
        return multiply(constant(1), normalize_entry(e.args[flat_position(at, e.shape)], (), names, facts), facts)
    result: Polynomial = {}
    for entry, place in zip(e.args, product(*(range(1, int(n.data) + 1) for n in e.shape))):
        value = constant(1)
        for index, k in zip(at, place):
            value = multiply(value, delta(index, ("c", k)), facts) if index[0] != "c" else value if index[1] == k else {}
        result = add(result, multiply(value, normalize_entry(entry, (), names, facts), facts)) if value else result
    return result


def flat_position(at: tuple, shape: tuple) -> int:
    """Return the position of an entry at known indices among the entries of an array."""
    number = 0
    for (_, k), size in zip(at, shape):
        number = number * int(size.data) + k - 1
    return number


def lower_arguments(e: Expr, at: tuple, names: dict, facts: Facts) -> list[Polynomial]:
    """Return the normal forms of the arguments of an entrywise operator; scalars have no indices."""
    return [normalize_entry(argument, at if argument.shape else (), names, facts) for argument in e.args]


def lower_product(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    left, right = lower_arguments(e, at, names, facts)
    return multiply(left, right, facts)


def lower_power(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    base, exponent = lower_arguments(e, at, names, facts)
    if exponent.keys() <= constant(1).keys():
        power = next(iter(exponent.values()), Fraction(0))
        if power.denominator != 1 and not facts.is_nonnegative(base) and (inside := split_even_power(e.args[0])):
            inside_power, times = inside
            if is_real_polynomial(x := normalize_entry(inside_power, (), names, facts), facts):  # the x of x^2 is |x| for real x
                return raise_to(absolute_value(x, facts), times * power, facts)
        return raise_to(base, power, facts)
    if is_whole(exponent) and not facts.is_positive(base) and not facts.is_eventually_positive(base):
        return raise_to_whole_power(base, exponent, facts)
    return exponential(multiply(exponent, logarithm(base, facts), facts), facts)


def split_even_power(e: Expr) -> tuple[Expr, Fraction] | None:
    """Return (x, p) if e is written as x^p with an even number p, otherwise None."""
    while e.op == "paren":
        e = e.args[0]
    if e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator == 1 and e.args[1].data % 2 == 0:
        return e.args[0], Fraction(e.args[1].data)
    return None


def list_places(size: Expr) -> list:
    """Return the indices along an axis: each number if the length is known, otherwise one index that occurs nowhere else."""
    return [("c", k) for k in range(1, int(size.data) + 1)] if size.op == "const" else [fresh_index()]


def lower_matmul(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    left, right = e.args
    split = len(left.shape) - 1

    def term(inner: tuple) -> Polynomial:
        return multiply(
            normalize_entry(left, at[:split] + (inner,), names, facts), normalize_entry(right, (inner,) + at[split:], names, facts), facts
        )

    return sum_over(left.shape[-1], term, facts)


def lower_inverse(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    """Return an entry of an inverse. (AB)^-1 = B^-1 A^-1 and similar rules lead down to matrices that are stated to be invertible."""
    (base,) = e.args

    def inverse_entry(matrix: Expr, indices: tuple) -> Polynomial:
        return normalize_entry(Expr("inverse", (matrix,), e.shape), indices, names, facts)

    if base.op in TRANSPARENT:
        return inverse_entry(base.args[0], at)
    if base.op == "transpose":
        return inverse_entry(base.args[0], at[::-1])
    if base.op == "eye":
        return normalize_entry(base, at, names, facts)
    if base.op == "inverse":
        normalize_entry(base, at, names, facts)  # requires that the inner inverse exists
        return normalize_entry(base.args[0], at, names, facts)
    if base.op == "neg":
        return scale(inverse_entry(base.args[0], at), -1)
    if base.op == "div":
        matrix, factor = base.args
        raise_to(normalize_entry(factor, (), names, facts), Fraction(-1), facts)
        return multiply(normalize_entry(factor, (), names, facts), inverse_entry(matrix, at), facts)
    if base.op == "symbol" and base.data[1] == "random":
        raise Unsupported(f"the inverse of the random matrix {show(base)}", code="random-not-allowed")
    if base.op == "symbol":
        name = base.data[0]
        facts.require(name in facts.invertible, f"{name} is invertible (its inverse is taken)", f"invertible({name})")
        return atom(("inverse", base.data[0]), *at)
    if is_square_product(base):
        left, right = (Expr("inverse", (x,), x.shape) for x in base.args)
        return normalize_entry(Expr("matmul", (right, left), e.shape), at, names, facts)
    if base.op == "mul" and (not base.args[0].shape or not base.args[1].shape):
        factor, matrix = base.args if not base.args[0].shape else base.args[::-1]
        return multiply(
            raise_to(normalize_entry(factor, (), names, facts), Fraction(-1), facts),
            inverse_entry(matrix, at),
            facts,
        )
    if e.shape[0].op == "const":
        raise Unsupported(f"the exact witness cannot tell whether {show(base)} is invertible", code="not-supported")
    row, column = fresh_index(), fresh_index()
    entry = normalize_entry(base, (row, column), names, facts)
    inverted = inverse_atom(entry, (row, column), at, e.shape[0], facts)
    exists = all(is_invertible(head, facts) for head in heads_of(inverted))
    facts.require(exists, f"{show(base)} is invertible (its inverse is taken)", f"invertible({script(base)})")
    return inverted


def is_square_product(e: Expr) -> bool:
    """Return whether e is a product of two square matrices. It is invertible exactly if both are."""
    return e.op == "matmul" and len({*e.args[0].shape, *e.args[1].shape}) == 1


def lower_sum(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    key = e.bound_index
    return sum_over(e.data[1], lambda index: normalize_entry(e.args[0], (), {**names, key: index}, facts), facts, e.data[0])


def lower_each(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    """Return the body with its index set to the position on the first axis. It hides an outer index of the same name."""
    key = e.bound_index
    return normalize_entry(e.args[0], at[1:], {**names, key: at[0]}, facts)


def lower_entry(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    where = tuple(("c", int(i.data)) if i.op == "const" else names.get(i) for i in e.args[1:])
    if None in where:
        raise Unsupported(f"an index of {show(e)} is bound outside the definition that uses it", code="not-supported")
    if e.args[0].op not in ("symbol", "eye", "fill"):
        check_entries(e.args[0], names, facts)
    return normalize_entry(e.args[0], where, names, facts)


def check_entries(tensor: Expr, names: dict, facts: Facts) -> None:
    """Read every entry of a tensor, because one entry has a value only if all have.

    Each tensor is read once for the same indices and variables.
    """
    _, free, read_at = facts.checked_entries.setdefault(id(tensor), (tensor, free_indices(tensor), set()))
    at = (facts.varying, facts.at_point is None, *((i, names.get(i)) for i in free))
    if at not in read_at:
        for place in product(*map(list_places, tensor.shape)):
            normalize_entry(tensor, place, names, facts)
        read_at.add(at)


def lower_function(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    if e.data not in FUNCTIONS:
        raise Unsupported(f"the exact witness does not know the function '{e.data}'", code="unknown-function")
    return FUNCTIONS[e.data](e.args[0], at, names, facts)


def lower_exp(x: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    return exponential(normalize_entry(x, at, names, facts), facts)


def lower_log(x: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    return logarithm(normalize_entry(x, at, names, facts), facts, known_positive=is_positive_by_parts(x, at, names, facts))


def lower_abs(x: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    return absolute_value(normalize_entry(x, at, names, facts), facts)


def lower_tanh(x: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    """Return tanh(x) = 1 - 2/(1 + exp(2x))."""
    below = add(constant(1), exponential(scale(normalize_entry(x, at, names, facts), 2), facts))
    return add(constant(1), scale(raise_to(below, Fraction(-1), facts), -2))


def lower_norm(vector: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    square = normalize_entry(vector @ vector, (), names, facts)  # not negative, since `norm` builds this node for real entries only
    return raise_to_allowed_power(square, Fraction(1, 2), facts)


def lower_largest(vector: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    size = vector.shape[0]
    if size.op != "const" or size.data > MAX_WRITTEN_OUT:
        runs = fresh_index()
        return maximum_over(normalize_entry(vector, (runs,), names, facts), runs, size, facts)
    return maximum_of([normalize_entry(vector, (("c", k),), names, facts) for k in range(1, int(size.data) + 1)], facts)


def cosine_or_sine(name: str, p: Polynomial, facts: Facts) -> Polynomial:
    """Return cos(p) = (exp(ip) + exp(-ip))/2 or sin(p) = (exp(ip) - exp(-ip))/2i."""
    ip = multiply(atom(("i",)), p, facts)
    forward, backward = exponential(ip, facts), exponential(scale(ip, -1), facts)
    if name == "cos":
        return scale(add(forward, backward), Fraction(1, 2))
    return scale(multiply(atom(("i",)), add(backward, scale(forward, -1)), facts), Fraction(1, 2))


FUNCTIONS = {
    "exp": lower_exp,
    "log": lower_log,
    "abs": lower_abs,
    "cos": lambda x, at, names, facts: cosine_or_sine("cos", normalize_entry(x, at, names, facts), facts),
    "sin": lambda x, at, names, facts: cosine_or_sine("sin", normalize_entry(x, at, names, facts), facts),
    "tanh": lower_tanh,
    "norm": lower_norm,
    "largest": lower_largest,
}


def is_positive_by_parts(e: Expr, at: tuple, names: dict, facts: Facts) -> bool:
    """Return whether an entry of e is a product, quotient or power of positive parts, which its expanded normal form may hide."""
    if e.op == "paren":
        return is_positive_by_parts(e.args[0], at, names, facts)
    if e.op in ("mul", "div"):
        return all(is_positive_by_parts(part, at if part.shape else (), names, facts) for part in e.args)
    if e.op == "pow" and e.args[1].op == "const":
        base, power = normalize_entry(e.args[0], (), names, facts), e.args[1].data
        even = power.denominator == 1 and power % 2 == 0
        return facts.is_nonzero(base) and is_real_polynomial(base, facts) if even else is_positive_by_parts(e.args[0], (), names, facts)
    if e.op == "sum":
        return is_positive_by_parts(e.args[0], (), {**names, e.bound_index: fresh_index()}, facts)
    if e.op == "function" and e.data == "exp":
        return is_real_polynomial(normalize_entry(e.args[0], at, names, facts), facts)
    return facts.is_positive(normalize_entry(e, at, names, facts))


def lower_softmax(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    def top(last: tuple) -> Polynomial:
        return exponential(normalize_entry(e.args[0], at[:-1] + (last,), names, facts), facts)

    below = sum_over(e.shape[-1], top, facts)  # positive if the scores are real
    if all(is_real(f[0]) for _, factors in below for f, _ in factors):
        return multiply(top(at[-1]), raise_to_allowed_power(below, Fraction(-1), facts), facts)
    return multiply(top(at[-1]), raise_to(below, Fraction(-1), facts), facts)


def lower_expectation(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    return take_expectation(normalize_entry(e.args[0], (), names, facts), facts)


def lower_variance(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    p = normalize_entry(e.args[0], (), names, facts)
    if not is_real_polynomial(p, facts):
        raise Unsupported("the variance of something that is not real", code="not-real")
    mean = take_expectation(p, facts)
    return add(take_expectation(multiply(p, p, facts), facts), scale(multiply(mean, mean, facts), -1))


def lower_derivative(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    body, by = e.args
    target = differentiation_symbol(by)
    if maxima := [n for n in walk(body) if n.op == "function" and n.data == "largest" and target in set(walk(n))]:
        raise Unsupported(
            f"{show(maxima[0])} is differentiated by {show(by)}: it need not have a slope where two entries are the largest",
            code="no-derivative",
        )
    if target.data[0] in facts.constrained:
        raise Unsupported(f"a derivative by {target.data[0]}, which an assumption ties to something else", code="unknown-derivative")
    where = tuple(names[i] if i.op == "index" else ("c", int(i.data)) for i in by.args[1:]) if by.op == "entry" else ()
    head = ("entry", target.data[0])
    with facts.near_point(target.data[0]):  # the body is read here too: its products are differentiated
        result = differentiate(normalize_entry(body, (), names, facts), head, where, facts)
    return multiply_out(result, facts)


def lower_rounded(e: Expr, at: tuple, names: dict, facts: Facts) -> Polynomial:
    """Return a rounded value. Powers of two are taken out, since rounding commutes with them while no exponent leaves the format's range.

    That no exponent leaves the range must be stated, unless the value is a floating-point number already, which is its own rounding.
    """
    if varying := [n.data[0] for n in walk(e) if n.op == "symbol" and n.data[0] in facts.varying]:
        raise Unsupported(
            f"a rounding of what depends on {varying[0]}, which moves: it goes in steps, whatever holds at a point",
            code="rounding-in-limit",
        )
    inside, power = normalize_entry(e.args[0], (), names, facts), Fraction(1)
    if facts.in_range:
        inside, power = take_out_power_of_two(inside)
    inside, sign = take_out_sign(inside)  # rounding to nearest, ties to even, is an odd function
    key = (e.data, inside)
    facts.rounded_inputs += [key] * facts.reading_assumption
    exact = round_exactly(e.data, inside, facts)
    if exact is None:
        facts.require(
            facts.in_range or key in facts.rounded_inputs,
            "no exponent leaves the format's range (something is rounded)",
            "in_range()",
        )
        exact = function_atom(("rounded", e.data), inside)
    return scale(exact, sign * power)


RULES = {
    "const": lambda e, at, names, facts: constant(e.data),
    "imaginary": lambda e, at, names, facts: atom(("i",)),
    "symbol": lower_symbol,
    "index": lower_index,
    "defined": lambda e, at, names, facts: normalize_entry(e.args[0], at, {}, facts),
    "paren": lambda e, at, names, facts: normalize_entry(e.args[0], at, names, facts),
    "add": lambda e, at, names, facts: add(*lower_arguments(e, at, names, facts)),
    "neg": lambda e, at, names, facts: scale(normalize_entry(e.args[0], at, names, facts), -1),
    "mul": lower_product,
    "div": lambda e, at, names, facts: multiply(
        normalize_entry(e.args[0], at, names, facts), raise_to(normalize_entry(e.args[1], (), names, facts), Fraction(-1), facts), facts
    ),
    "pow": lower_power,
    "matmul": lower_matmul,
    "transpose": lambda e, at, names, facts: normalize_entry(e.args[0], at[::-1], names, facts),
    "inverse": lower_inverse,
    "eye": lambda e, at, names, facts: reduce_term({}, [((("delta",), at), Fraction(1))], facts),
    "fill": lambda e, at, names, facts: constant(e.data),
    "array": lower_array,
    "sum": lower_sum,
    "each": lower_each,
    "entry": lower_entry,
    "function": lower_function,
    "softmax": lower_softmax,
    "expectation": lower_expectation,
    "variance": lower_variance,
    "derivative": lower_derivative,
    "rounded": lower_rounded,
}
UNSUPPORTED = {
    "rank": "a rank has no normal form; the exact witness knows bounds on one alone",
    "where": "a comparison of positions has no normal form; only an identity and what an inequality leaves to compare may hold one",
}


# Derivatives
