"""The exact witness: reads an expression tree into the normal form, averages it, differentiates it, takes its limits.

It shares no code with SymPy. Index sums are decided at every shape. Expectations are taken by counting which summation
indices coincide, which settles a law at every size at once. Limits are taken by series with exact coefficients.
"""

from __future__ import annotations

from itertools import combinations, count, product

from ..core.expr import Expr, free_indices, show, walk
from .fractions import Fraction
from .largest import FEW, largest_of, largest_over
from .normal import (
    FRESH,
    Facts,
    Unknown,
    add,
    allowed_power,
    atom,
    constant,
    exponential,
    function_atom,
    instantiate,
    is_real,
    logarithm,
    mentions,
    multiply,
    raise_to,
    real,
    reduce_term,
    rename,
    scale,
    size_polynomial,
)
from .whole_powers import base_and_count, is_whole, whole_power


def lower(e: Expr, at: tuple, names: dict, facts: Facts) -> dict:
    """The normal form of the entry of e at the indices `at`. names maps index variables to indices."""
    rule = RULES.get(e.op)
    if rule is None:
        raise Unknown(f"the exact witness does not know the node '{e.op}' in {show(e)}")
    return rule(e, at, names, facts)


def read(e: Expr, facts: Facts, places: dict | None = None) -> dict:
    """The normal form of a general entry of e: free indices stand for any row and column, but for those that places sets."""

    def free(name):
        return ("c", places[name]) if places and name in places else ("f", name)

    return lower(e, tuple(free(f"axis {k}") for k in range(len(e.shape))), {i: free(i.data[0]) for i in free_indices(e)}, facts)


def sum_over(size: Expr, term, facts: Facts, name: str = "") -> dict:
    """The sum of term(index). Over a known number of values it is written out, so that each term is read at a known index."""
    if size.op == "const":
        return add(*(term(("c", k)) for k in range(1, int(size.data) + 1)))
    index = fresh(name)
    return summed(term(index), index, size, facts)


def summed(polynomial: dict, free: tuple, size: Expr, facts: Facts) -> dict:
    """The sum of a polynomial over one of its free indices. A sum over a known number of values is written out."""
    if size.op == "const":
        return add(*(put(polynomial, free, ("c", k), facts) for k in range(1, int(size.data) + 1)))
    result = {}
    for (bound, factors), c in polynomial.items():
        new = ("b", len(bound))
        for term, c2 in reduce_term(dict(enumerate((*bound, size))), rename(factors, {free: new}), facts).items():
            result[term] = result.get(term, 0) + c * c2
    return {term: c for term, c in result.items() if c}


def put(polynomial: dict, free: tuple, value: tuple, facts: Facts) -> dict:
    """A polynomial with one of its free indices set to a value."""
    return add(
        *(
            scale(reduce_term(dict(enumerate(bound)), rename(factors, {free: value}), facts), c)
            for (bound, factors), c in polynomial.items()
        )
    )


def fresh(name: str = "") -> tuple:
    """An index that occurs nowhere else, with the name that a message may call it by."""
    return ("held", next(FRESH), name) if name else ("held", next(FRESH))


def lower_symbol(e, at, names, facts):
    name, kind = e.data
    return size_polynomial(e) if kind == "size" else atom((kind if kind == "random" else "entry", name), *at)


def lower_index(e, at, names, facts):
    if e not in names:
        raise Unknown(f"the index {show(e)} is bound outside the definition that uses it")
    return constant(names[e][1]) if names[e][0] == "c" else atom(("value",), names[e])


def lower_array(e, at, names, facts):
    """The entry at a known place; at one that is open, the sum of all entries, each times its deltas."""
    result = {}
    for entry, place in zip(e.args, product(*(range(1, int(n.data) + 1) for n in e.shape))):
        value = constant(1)
        for index, k in zip(at, place):
            value = multiply(value, delta(index, ("c", k)), facts) if index[0] != "c" else value if index[1] == k else {}
        result = add(result, multiply(value, lower(entry, (), names, facts), facts)) if value else result
    return result


def elementwise(e, at, names, facts):
    return [lower(argument, at if argument.shape else (), names, facts) for argument in e.args]


def lower_power(e, at, names, facts):
    base, exponent = elementwise(e, at, names, facts)
    if exponent.keys() <= constant(1).keys():
        power = next(iter(exponent.values()), Fraction(0))
        if power.denominator != 1 and not facts.is_nonnegative(base) and (inside := squared(e.args[0])):
            under, times = inside
            if real(root := lower(under, (), names, facts), facts):  # the root of x^2 is |x|, of whatever is real
                return raise_to(absolute_value(root, facts), times * power, facts)
        return raise_to(base, power, facts)
    if is_whole(exponent) and not facts.is_positive(base):
        return whole_power(base, exponent, facts)
    return exponential(multiply(exponent, logarithm(base, facts), facts), facts)


def squared(e: Expr) -> tuple[Expr, Fraction] | None:
    """(x, p) where e is x^p with an even p as it is written; None elsewhere."""
    while e.op == "paren":
        e = e.args[0]
    if e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator == 1 and e.args[1].data % 2 == 0:
        return e.args[0], Fraction(e.args[1].data)
    return None


def every_place(size: Expr, axis: int) -> list:
    """The places along an axis: each where their number is known, and else any."""
    return [("c", k) for k in range(1, int(size.data) + 1)] if size.op == "const" else [("f", f"axis {axis}")]


def lower_matmul(e, at, names, facts):
    left, right = e.args
    split = len(left.shape) - 1

    def term(inner):
        return multiply(lower(left, at[:split] + (inner,), names, facts), lower(right, (inner,) + at[split:], names, facts), facts)

    return sum_over(left.shape[-1], term, facts)


def lower_inverse(e, at, names, facts):
    """(AB)^-1 = B^-1 A^-1 and so on, down to matrices that are stated to be invertible."""
    (base,) = e.args
    inside = base.args[0] if base.args else None
    if base.op in ("paren", "defined"):
        return lower(Expr("inverse", (inside,), e.shape), at, names, facts)
    if base.op == "transpose":
        return lower(Expr("inverse", (inside,), e.shape), at[::-1], names, facts)
    if base.op == "eye":
        return lower(base, at, names, facts)
    if base.op == "inverse":
        lower(base, at, names, facts)  # requires that it exists
        return lower(inside, at, names, facts)
    if base.op == "neg":
        return scale(lower(Expr("inverse", (inside,), e.shape), at, names, facts), -1)
    if base.op == "div":
        matrix, factor = base.args
        raise_to(lower(factor, (), names, facts), Fraction(-1), facts)
        return multiply(lower(factor, (), names, facts), lower(Expr("inverse", (matrix,), e.shape), at, names, facts), facts)
    if base.op == "symbol" and base.data[1] == "random":
        raise Unknown(f"the inverse of the random matrix {show(base)}")
    if base.op == "symbol":
        name = base.data[0]
        facts.require(name in facts.invertible, f"{name} is invertible (its inverse is taken)", f"invertible({name})")
        return atom(("inverse", base.data[0]), *at)
    if base.op == "matmul" and len({*base.args[0].shape, *base.args[1].shape}) == 1:
        left, right = (Expr("inverse", (x,), x.shape) for x in base.args)
        return lower(Expr("matmul", (right, left), e.shape), at, names, facts)
    if base.op == "mul" and (not base.args[0].shape or not base.args[1].shape):
        factor, matrix = base.args if not base.args[0].shape else base.args[::-1]
        return multiply(
            raise_to(lower(factor, (), names, facts), Fraction(-1), facts),
            lower(Expr("inverse", (matrix,), e.shape), at, names, facts),
            facts,
        )
    raise Unknown(f"the exact witness cannot tell whether {show(base)} is invertible")


def lower_sum(e, at, names, facts):
    key = Expr("index", (), (), e.data)
    return sum_over(e.data[1], lambda index: lower(e.args[0], (), {**names, key: index}, facts), facts, e.data[0])


def lower_each(e, at, names, facts):
    """The body where its index is the place on the first axis: what the index is outside does not reach in."""
    key = Expr("index", (), (), e.data)
    return lower(e.args[0], at[1:], {**names, key: at[0]}, facts)


def lower_entry(e, at, names, facts):
    where = tuple(("c", int(i.data)) if i.op == "const" else names.get(i) for i in e.args[1:])
    if None in where:
        raise Unknown(f"an index of {show(e)} is bound outside the definition that uses it")
    if any(n.op == "array" or n.op == "function" and n.shape for n in walk(e.args[0])):
        for place in product(*map(every_place, e.args[0].shape, count())):  # a tensor has a value where each of its entries has one
            lower(e.args[0], place, names, facts)
    return lower(e.args[0], where, names, facts)


def lower_function(e, at, names, facts):
    if e.data == "norm":
        square = lower(e.args[0] @ e.args[0], (), names, facts)  # not negative: a sum of squares, if they are of real numbers
        if all(real(lower(e.args[0], (place,), names, facts), facts) for place in every_place(e.args[0].shape[0], 0)):
            return allowed_power(square, Fraction(1, 2), facts)
        return raise_to(square, Fraction(1, 2), facts)
    if e.data == "largest":
        return lower_largest(e.args[0], names, facts)
    inside = lower(e.args[0], at, names, facts)
    if e.data == "exp":
        return exponential(inside, facts)
    if e.data == "log":
        return logarithm(inside, facts, seen=positive_by_parts(e.args[0], at, names, facts))
    if e.data == "abs":
        return absolute_value(inside, facts)
    if e.data in ("cos", "sin"):
        return wave(e.data, inside, facts)
    if e.data == "tanh":  # 1 - 2/(1 + exp(2x))
        below = add(constant(1), exponential(scale(inside, 2), facts))
        return add(constant(1), scale(raise_to(below, Fraction(-1), facts), -2))
    raise Unknown(f"the exact witness does not know the function '{e.data}'")


def lower_largest(vector: Expr, names: dict, facts: Facts) -> dict:
    size = vector.shape[0]
    if size.op != "const" or size.data > FEW:
        runs = fresh()
        return largest_over(lower(vector, (runs,), names, facts), runs, size, facts)
    return largest_of([lower(vector, (("c", k),), names, facts) for k in range(1, int(size.data) + 1)], facts)


def wave(name: str, p: dict, facts: Facts) -> dict:
    """cos(p) = (exp(ip) + exp(-ip))/2, and sin(p) = (exp(ip) - exp(-ip))/2i."""
    turned = multiply(atom(("i",)), p, facts)
    there, back = exponential(turned, facts), exponential(scale(turned, -1), facts)
    if name == "cos":
        return scale(add(there, back), Fraction(1, 2))
    return scale(multiply(atom(("i",)), add(back, scale(there, -1)), facts), Fraction(1, 2))


def positive_by_parts(e: Expr, at: tuple, names: dict, facts: Facts) -> bool:
    """Is an entry of e a product, a quotient or a power whose parts are positive, which its normal form may hide by multiplying out?"""
    if e.op == "paren":
        return positive_by_parts(e.args[0], at, names, facts)
    if e.op in ("mul", "div"):
        return all(positive_by_parts(part, at if part.shape else (), names, facts) for part in e.args)
    if e.op == "pow" and e.args[1].op == "const":
        base, power = lower(e.args[0], (), names, facts), e.args[1].data
        even = power.denominator == 1 and power % 2 == 0
        return facts.is_nonzero(base) and real(base, facts) if even else positive_by_parts(e.args[0], (), names, facts)
    if e.op == "sum":
        return positive_by_parts(e.args[0], (), {**names, Expr("index", (), (), e.data): fresh()}, facts)
    if e.op == "function" and e.data == "exp":
        return real(lower(e.args[0], at, names, facts), facts)
    return facts.is_positive(lower(e, at, names, facts))


def absolute_value(p: dict, facts: Facts) -> dict:
    """|p| for a real p: p or -p where the sign is known, a product of absolute values for a product."""
    if not real(p, facts):
        raise Unknown("the absolute value of something that is not real")
    if facts.is_nonnegative(p):
        return p
    if facts.is_nonnegative(scale(p, -1)):
        return scale(p, -1)
    if len(p) == 1 and not next(iter(p))[0] and all(is_real(f[0]) for _, factors in p for f, _ in factors):
        (((_, factors), c),) = p.items()
        result = constant(abs(c))
        for f, power in factors:
            one = {((), ((f, Fraction(1)),)): Fraction(1)}
            sized = one if facts.is_nonnegative(one) else modulus_of(f, one, facts)
            result = multiply(result, allowed_power(sized, power, facts), facts)
        return result
    leading = min(p.items(), key=repr)[1]
    return scale(function_atom("abs", scale(p, 1 / leading)), abs(leading))


def modulus_of(f: tuple, one: dict, facts: Facts) -> dict:
    """|f| of an atom whose sign is not known; the modulus of a rounding is the rounding of the modulus."""
    if f[0][0] == "rounded":
        return function_atom(f[0][:-1], absolute_value(instantiate(f[0][-1], f[1]), facts))
    return function_atom("abs", one)


def lower_softmax(e, at, names, facts):
    def top(last):
        return exponential(lower(e.args[0], at[:-1] + (last,), names, facts), facts)

    below = sum_over(e.shape[-1], top, facts)  # positive: a sum of exponentials, if they are of real numbers
    if all(is_real(f[0]) for _, factors in below for f, _ in factors):
        return multiply(top(at[-1]), allowed_power(below, Fraction(-1), facts), facts)
    return multiply(top(at[-1]), raise_to(below, Fraction(-1), facts), facts)


def lower_expectation(e, at, names, facts):
    return expectation(lower(e.args[0], (), names, facts), facts)


def lower_variance(e, at, names, facts):
    p = lower(e.args[0], (), names, facts)
    if not real(p, facts):
        raise Unknown("the variance of something that is not real")
    mean = expectation(p, facts)
    return add(expectation(multiply(p, p, facts), facts), scale(multiply(mean, mean, facts), -1))


def lower_derivative(e, at, names, facts):
    body, by = e.args
    target = by.args[0] if by.op == "entry" else by
    if moved := [n for n in walk(body) if n.op == "function" and n.data == "largest" and target in set(walk(n))]:
        raise Unknown(f"{show(moved[0])} is differentiated by {show(by)}: it need not have a slope where two entries are the largest")
    if target.data[0] in facts.tied:
        raise Unknown(f"a derivative by {target.data[0]}, which an assumption ties to something else")
    where = tuple(names[i] if i.op == "index" else ("c", int(i.data)) for i in by.args[1:]) if by.op == "entry" else ()
    head = ("entry", target.data[0])
    with facts.nearby(target.data[0]):
        inside = lower(body, (), names, facts)
    return derivative(inside, head, where, facts)


def lower_rounded(e, at, names, facts):
    """Rounding has a value, and commutes with powers of two, as long as no exponent leaves the format's range: that is to be stated.

    What is a floating-point number already is its own rounding, and needs no such assumption.
    """
    if moved := [n.data[0] for n in walk(e) if n.op == "symbol" and n.data[0] in facts.moving]:
        raise Unknown(f"a rounding of what depends on {moved[0]}, which moves: it goes in steps, whatever holds at a point")
    inside, times = lower(e.args[0], (), names, facts), Fraction(1)
    if facts.in_range and len(inside) == 1:
        ((term, c),) = inside.items()
        while c.numerator % 2 == 0:
            c, times = c / 2, times * 2
        while c.denominator % 2 == 0:
            c, times = c * 2, times / 2
        inside = {term: c}
    if min(inside.items(), key=repr, default=((), 1))[1] < 0:  # rounding to the nearest, ties to even, is odd
        inside, times = scale(inside, -1), -times
    already = [([(f[0][:2], power) for f, power in factors], bound, c) for (bound, factors), c in inside.items()]
    representable = inside in facts.stated("representable", inside) or already == [([(("rounded", e.data), 1)], (), 1)]
    facts.rounds += [inside] * facts.assuming
    facts.require(
        facts.in_range or representable or inside in facts.rounds,
        "no exponent leaves the format's range (something is rounded)",
        "in_range()",
    )
    return scale(inside if representable else function_atom(("rounded", e.data), inside), times)


RULES = {
    "const": lambda e, at, names, facts: constant(e.data),
    "imaginary": lambda e, at, names, facts: atom(("i",)),
    "symbol": lower_symbol,
    "index": lower_index,
    "defined": lambda e, at, names, facts: lower(e.args[0], at, {}, facts),
    "paren": lambda e, at, names, facts: lower(e.args[0], at, names, facts),
    "add": lambda e, at, names, facts: add(*elementwise(e, at, names, facts)),
    "neg": lambda e, at, names, facts: scale(lower(e.args[0], at, names, facts), -1),
    "mul": lambda e, at, names, facts: multiply(*elementwise(e, at, names, facts), facts),
    "div": lambda e, at, names, facts: multiply(
        lower(e.args[0], at, names, facts), raise_to(lower(e.args[1], (), names, facts), Fraction(-1), facts), facts
    ),
    "pow": lower_power,
    "matmul": lower_matmul,
    "transpose": lambda e, at, names, facts: lower(e.args[0], at[::-1], names, facts),
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


# Expectations


def expectation(p: dict, facts: Facts) -> dict:
    """E[p] over every random entry in p."""
    return add(*(scale(term_expectation(bound, factors, facts), c) for (bound, factors), c in p.items()))


def term_expectation(bound: tuple, factors: tuple, facts: Facts) -> dict:
    """Split by which indices coincide. Entries at distinct indices are independent, so their moments multiply."""
    held = {("b", k): fresh() for k in range(len(bound))}
    factors = rename(factors, held)
    names = sorted({name for f, _ in factors for name in random_names(f[0])})
    if not names:
        return reduce_term(dict(enumerate(bound)), rename(factors, {new: old for old, new in held.items()}), facts)
    chance = [(f, power) for f, power in factors if f[0][0] == "random"]
    rest = [(f, power) for f, power in factors if f[0][0] != "random"]
    inside = any(f[1] for head in (f[0] for f, _ in rest) for f in random_entries(head))
    together = (len({f for f, _ in chance}) > 1 or len(names) > 1 or inside) and not any(set(names) <= g for g in facts.independent)
    said = f"the entries of {' and '.join(names)} are independent (an expectation is taken)", f"independent({', '.join(names)})"
    if together and may_be_joint(chance, rest):
        facts.joined.setdefault(*said)
        result = multiply(joint_moment(chance, facts), reduce_term({}, rest, facts), facts)
        for (_, k), token in held.items():
            result = summed(result, token, bound[k], facts)
        return result
    facts.require(not together, *said)
    if any(random_names(f[0]) for f, _ in rest):
        if chance:
            raise Unknown("the expectation of a function of random entries times other random entries")
        result = gaussian_expectation(rest, facts)
    else:
        result = polynomial_expectation(chance, rest, facts)
    for (_, k), token in held.items():
        result = summed(result, token, bound[k], facts)
    return result


def may_be_joint(chance: list, rest: list) -> bool:
    """Is this a product of powers of random entries of which no two can be the same entry at some index?"""
    heads = [f[0] for f, _ in chance]
    known = all(i[0] == "c" for f, _ in chance for i in f[1])
    whole = all(power.denominator == 1 and power > 0 for _, power in chance)
    return whole and not any(random_names(f[0]) for f, _ in rest) and (known or len(set(heads)) == len(heads))


def joint_moment(chance: list, facts: Facts) -> dict:
    """E[x^a y^b] of what need not be independent: one number, which exists where both have moments of the order a + b (Hoelder)."""
    for (_, name), _ in (f for f, _ in chance):
        facts.require_moment(name, int(sum(power for _, power in chance)))
    return function_atom("joint", reduce_term({}, chance, facts))


def polynomial_expectation(chance: list, rest: list, facts: Facts) -> dict:
    result = {}
    for ways in product(*(partitions(members) for members in axes(chance))):
        part = reduce_term({}, rest, facts)
        for blocks in ways:
            for block in blocks:
                for index in block[1:]:
                    part = multiply(part, delta(block[0], index), facts)
            for first, second in combinations(blocks, 2):
                part = multiply(part, add(constant(1), scale(delta(first[0], second[0]), -1)), facts)
        same = {index: block[0] for blocks in ways for block in blocks for index in block}
        entries = {}
        for f, power in rename(chance, same):
            entries[f] = entries.get(f, 0) + power
        for ((_, name), _at), power in entries.items() if part else ():
            facts.require_moment(name, int(power))  # of each, also where another's moment is 0
        for ((_, name), _at), power in entries.items():
            part = multiply(part, moment(name, power, facts), facts)
        result = add(result, part)
    return result


def delta(first: tuple, second: tuple) -> dict:
    return atom(("delta",), *sorted((first, second), key=repr))


def rivals(first: list, second: list, chance: list) -> bool:
    """Do indices of the two groups stand at the same place of the same tensor, so that it matters whether they coincide?"""

    def places(group):
        return {(f[0], k) for f, _ in chance for k, i in enumerate(f[1]) if i in group}

    return bool(places(first) & places(second))


def axes(chance: list) -> list:
    """The indices in classes: rivals are of one class, and so is whatever they are joined to by others."""
    classes = []
    for index in sorted({i for f, _ in chance for i in f[1]}, key=repr):
        near = [c for c in classes if rivals(c, [index], chance)]
        classes = [c for c in classes if c not in near] + [sum(near, []) + [index]]
    return classes


def partitions(members: list) -> list:
    """All ways to sort the members into blocks."""
    ways = [[]]
    for member in members:
        ways = [
            new for way in ways for new in [way + [[member]]] + [way[:k] + [block + [member]] + way[k + 1 :] for k, block in enumerate(way)]
        ]
    return ways


def moment(name: str, power, facts: Facts) -> dict:
    if power.denominator != 1 or power < 0:
        raise Unknown(f"the expectation of the power {power} of {name}")
    known = facts.moments.get(name)
    return known(int(power)) if known else atom(("moment", name, int(power)))


def random_entries(head: tuple) -> list:
    """The random entries in an atom's payload."""
    inside = [f for (_, factors), _ in (head[-1] if isinstance(head[-1], tuple) and head[0] != "joint" else ()) for f, _ in factors]
    return [f for f in inside if f[0][0] == "random"] + [g for f in inside for g in random_entries(f[0])]


def random_names(head: tuple) -> set:
    """The random symbols in an atom's head, those in its payload included."""
    if head[0] == "random":
        return {head[1]}
    inside = head[-1] if isinstance(head[-1], tuple) and head[0] != "joint" else ()  # a moment is not random itself
    return {name for (_, factors), _ in inside for f, _ in factors for name in random_names(f[0])}


def gaussian_expectation(factors: list, facts: Facts) -> dict:
    """E[exp(sum_j a_j x_j + b x_j^2)] = s^(-n/2) exp(sum_j (b m^2 + a_j m + a_j^2 v/2) / s), s = 1 - 2bv, for x ~ N(m, v)."""
    outside = [(f, power) for f, power in factors if not random_names(f[0])]
    exponent = {}
    for f, power in factors:
        if random_names(f[0]):
            if f[0][0] != "exp":
                raise Unknown(f"the expectation of {f[0][0]} of random entries")
            exponent = add(exponent, scale(instantiate(f[0][1], f[1]), power))
    name = next((x for x in sorted(facts.gaussian) if any(("random", x) == f[0] for _, fs in exponent for f, _ in fs)), None)
    if name is None:
        raise Unknown("the expectation of exp of random entries that are not stated to be Gaussian")
    mean, v = facts.gaussian[name]
    j, size, rest, linear, square = fresh(), None, {}, {}, {}
    for (bound, fs), c in exponent.items():
        own = [(f, power) for f, power in fs if f[0] == ("random", name)]
        if not own:
            rest = add(rest, {(bound, fs): c})
            continue
        ((entry, power),) = own if len(own) == 1 else [(own[0][0], None)]
        if power not in (1, 2) or len(entry[1]) > 1 or len(bound) != len(entry[1]) or any(i[0] != "b" for i in entry[1]):
            raise Unknown(f"an exponent that is not linear or quadratic in single entries of {name}")
        others = {((), tuple(rename([x for x in fs if x[0] != entry], {("b", 0): j}))): c}
        size = bound[0] if bound else size
        linear, square = (add(linear, others), square) if power == 1 else (linear, add(square, others))
    if any(i == j or random_names(f[0]) for _, fs in square for f, _ in fs for i in (*f[1], None)):
        raise Unknown(f"a square of {name} with a coefficient that varies")
    spread = add(constant(1), scale(multiply(square, v, facts), -2))
    facts.require_sign("positive", real_part(spread), "a Gaussian integral converges")
    top = add(
        multiply(square, multiply(mean, mean, facts), facts),
        multiply(linear, mean, facts),
        scale(multiply(multiply(linear, linear, facts), v, facts), Fraction(1, 2)),
    )
    new = multiply(top, allowed_power(spread, Fraction(-1), facts), facts)
    count = constant(1)
    if size is not None:
        new, count = summed(new, j, size, facts), size_polynomial(size)
    log_spread = function_atom("log", spread) if spread != constant(1) else {}
    spread = exponential(scale(multiply(count, log_spread, facts), Fraction(-1, 2)), facts)
    smaller = multiply(exponential(add(rest, new), facts), multiply(spread, reduce_term({}, outside, facts), facts), facts)
    return expectation(smaller, facts)


def real_part(p: dict) -> dict:
    return {term: c for term, c in p.items() if all(f[0][0] != "i" for f, _ in term[1])}


# Derivatives


def derivative(p: dict, head: tuple, where: tuple, facts: Facts) -> dict:
    """The derivative of p by the entry of the symbol `head` at the indices `where`."""
    result, p = beside_moduli(p, head, where, facts)
    for (bound, factors), c in p.items():
        held = {("b", k): fresh() for k in range(len(bound))}
        total, smooth = beside_moduli(reduce_term({}, rename(factors, held), facts), head, where, facts)
        for (_, free), c2 in smooth.items():
            for k, (f, power) in enumerate(free):
                others = scale(reduce_term({}, free[:k] + free[k + 1 :], facts), c2)
                total = add(total, multiply(others, factor_derivative(f, power, head, where, facts), facts))
        for (_, k), token in held.items():
            total = summed(total, token, bound[k], facts)
        result = add(result, scale(total, c))
    return result


def beside_moduli(p: dict, by: tuple, where: tuple, facts: Facts) -> tuple[dict, dict]:
    """(a derivative, the terms that it is not of): of what is |a| a r, which has a slope also where a is 0: 2|a| a' r + |a| a r'."""
    moduli = {f for (bound, factors) in p if not bound for f, power in factors if f[0][0] == "abs" and power == 1 and mentions(f[0], by)}
    found: dict = {}
    for f in sorted(moduli, key=repr):
        own = {term: c for term, c in p.items() if not term[0] and dict(term[1]).get(f) == 1}
        inside = instantiate(f[0][1], f[1])
        rest = quotient({((), tuple(x for x in factors if x[0] != f)): c for (_, factors), c in own.items()}, inside, facts)
        if rest is None:
            continue
        p = {term: c for term, c in p.items() if term not in own}
        slope = add(
            scale(multiply(derivative(inside, by, where, facts), rest, facts), 2),
            multiply(inside, derivative(rest, by, where, facts), facts),
        )
        found = add(found, multiply({((), ((f, Fraction(1)),)): Fraction(1)}, slope, facts))
    return found, p


MOST_STEPS = 50


def quotient(p: dict, a: dict, facts: Facts) -> dict | None:
    """r with p = a r, by long division; None where a does not go into p so, or where one of them holds a sum."""
    if any(bound for bound, _ in (*p, *a)):
        return None
    atoms = sorted({f for _, factors in (*p, *a) for f, _ in factors}, key=repr)

    def order(term):
        powers = dict(term[1])
        return [powers.get(f, Fraction(0)) for f in atoms]

    lead, result = max(a, key=order), {}
    inverse_ = {((), tuple((f, -power) for f, power in lead[1])): 1 / a[lead]}
    for _ in range(MOST_STEPS):
        if not p:
            return result
        top = max(p, key=order)
        if any(dict(top[1]).get(f, 0) < power for f, power in lead[1]):
            return None
        part = multiply({top: p[top]}, inverse_, facts)
        result, p = add(result, part), add(p, scale(multiply(part, a, facts), -1))
    return None


def mentions_in(polynomials: list, head: tuple) -> bool:
    return any(mentions(f[0], head) for p in polynomials for _, factors in p for f, _ in factors)


UNSEEN = "where it is 0, a slope is not shown to exist"


def factor_derivative(f: tuple, power: Fraction, by: tuple, where: tuple, facts: Facts) -> dict:
    head, indices = f
    if head[0] in ("inverse", "moment", "joint"):
        if head[0] == "inverse" and head[1] != by[1] or head[0] != "inverse" and not mentions_in(facts.parameters, by):
            return {}
        raise Unknown(
            "the derivative of " + ("an inverse" if head[0] == "inverse" else f"a moment by {by[1]}, which an assumption ties to it")
        )
    moves = head == by or isinstance(head[-1], tuple) and mentions(head, by)
    if moves and power.denominator != 1 and power < 1:
        base = {((), ((f, Fraction(1)),)): Fraction(1)}
        inner = instantiate(head[1], indices) if head[0] == "sum" else base
        facts.require_sign("nonzero", inner, f"a root of it is differentiated: {UNSEEN}")
    lower_power_ = reduce_term({}, [(f, power - 1)], facts)
    if head == by:
        same = reduce_term({}, [((("delta",), tuple(pair)), Fraction(1)) for pair in zip(indices, where)], facts)
        return scale(multiply(lower_power_, same, facts), power)
    if head[0] in ("exp", "log", "sum", "abs") and mentions(head, by):
        inner = instantiate(head[1], indices)
        chain = scale(derivative(inner, by, where, facts), power)
        if head[0] == "abs":
            facts.require_sign("nonzero", inner, f"its absolute value is differentiated: {UNSEEN}")
            slope = multiply(inner, reduce_term({}, [(f, Fraction(-1))], facts), facts)
            lower_power_ = multiply(lower_power_, slope, facts)
        if head[0] == "exp":
            return multiply(reduce_term({}, [(f, power)], facts), chain, facts)
        if head[0] == "log":
            lower_power_ = multiply(lower_power_, allowed_power(inner, Fraction(-1), facts), facts)
        return multiply(lower_power_, chain, facts)
    if head[0] == "whole" and mentions(head, by):
        base, times = base_and_count(instantiate(head[1], indices))
        facts.require_sign("nonzero", base, f"a power of it is differentiated: {UNSEEN}")
        slope = multiply(derivative(base, by, where, facts), allowed_power(base, Fraction(-1), facts), facts)
        return multiply(scale(multiply(times, slope, facts), power), reduce_term({}, [(f, power)], facts), facts)
    if mentions(head, by):
        raise Unknown(f"the derivative of {head[0]}")
    return {}
