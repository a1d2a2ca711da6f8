"""Random claims, family by family: a tree and what laws make of it, often with a slip. Whether a claim is true is not decided here.

A family is a function of a seeded generator that drafts a claim; `claim_of` drafts one, lets something slip in every other, and states it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

from ..core.assumptions import (
    Assumption,
    gaussian,
    has_moment,
    in_range,
    independent,
    invertible,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    representable,
    variance,
)
from ..core.claims import LOADED, Claim, Derivation
from ..core.expr import (
    E,
    Expr,
    I,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    function,
    index,
    inverse,
    lift,
    log,
    matrix,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    strip,
    symbols,
    total,
    vector,
    walk,
)
from ..core.operators import AVERAGES
from ..errors import KernelError
from .claim_drafts import Draft, slip, slipped, values_at
from .random_trees import TENSORS, A, B, C, Grower, S, c, g, i, j, k, l, m, n, q, t, u, v, x, y
from .rewrite_rules import rewritten

FALSE = 0.5  # the share of drafts in which something slips


class NoClaim(Exception):
    """Nothing that can be stated came of it."""


TRIES = 30


def claim_of(seed: int, number: int, family: str = "") -> tuple[str, Claim]:
    """(family, claim): the same for the same seed and number. What cannot be stated is drafted again."""
    generator = Random(f"{seed}/{number}/{family}")
    refused = ""
    for _ in range(TRIES):
        name = family or generator.choices(list(FAMILIES), [share for _, share in FAMILIES.values()])[0]
        try:
            draft = FAMILIES[name][0](generator)
            if generator.random() < FALSE:
                draft = slipped(draft, generator)
            return name, stated(draft, f"{name.replace(' ', '-')}-{number}")
        except (KernelError, IndexError) as error:
            refused = str(error)
    raise NoClaim(f"{TRIES} drafts of '{name}' could not be stated, the last because: {refused}")


def stated(draft: Draft, id: str) -> Claim:
    """The claim, by the one door by which claims are made."""
    if draft.kind == "identity" and strip(draft.sides[0]) == strip(draft.sides[1]):
        raise KernelError("vacuous")
    derivation = Derivation("Random claims")
    LOADED.remove(derivation)
    relation = {"identity": "=", "inequality": "<=", "limit": "->", "refutation": "!" + draft.relation}[draft.kind]
    left, *others = draft.sides
    steps = [(relation, e, "") for e in others]
    more = {"given": draft.given, "because": draft.because, "at": draft.at, "towards": draft.towards}
    derivation._state(draft.kind, id, left, steps, **more)
    return derivation.claims[0]


# Families ----------------------------------------------------------------------------------------------------------------------


def identity(generator: Random, features: tuple, maybe: tuple = (), depth: tuple = (1, 2, 2, 3), times: int = 4, open_: tuple = ((),)):
    """A grown tree, and what some laws make of it, under the assumptions that it may need."""
    chosen = frozenset((*features, *(f for f in maybe if generator.random() < 0.5)))
    tree = Grower(generator, chosen, generator.choice(open_)).scalar(generator.choice(depth))
    return identity_of(tree, generator, times)


def identity_of(tree: Expr, generator: Random, times: int = 4, given: tuple | None = None) -> Draft:
    right = rewritten(tree, generator, generator.randint(1, times))
    if generator.random() < 0.3:
        tree = rewritten(tree, generator, 1)
    return Draft("identity", (tree, right), assumed((tree, right), generator) if given is None else given)


def assumed(trees: tuple, generator: Random) -> tuple:
    """What may be needed: that something is not zero, or positive, as it often has to be; sometimes too little, sometimes too much."""
    nodes = [node for tree in trees for node in walk(tree)]
    named = symbols(*trees)
    touchy = any(node.op in ("div", "function") and node.data != "exp" or node.op == "pow" and node.args[1] != lift(2) for node in nodes)
    given = ()
    if "c" in named and any(node.op in ("div", "pow") and c in set(walk(node)) for node in nodes):
        given += (generator.choice((nonzero, nonzero, nonzero, positive))(c),)
    for s in (x, y):
        if s.data[0] in named and touchy and generator.random() < (0.85 if s == x else 0.3):
            given += (generator.choice((positive, positive, positive, nonnegative, nonzero))(s),)
    return given


ROWS: tuple = ((), (i,), (i, j), (l,))


def polynomials(generator):
    return identity(generator, ("scalars",), ("sizes", "fractions"), depth=(2, 2, 3))


def quotients(generator):
    return identity(generator, ("scalars", "div"), ("sizes", "fractions", "positive"), depth=(2, 2, 3))


def sums(generator):
    return identity(generator, ("tensors", "sum"), ("scalars", "sizes", "delta", "dot"), open_=ROWS)


def entry_by_entry(generator):
    return identity(generator, ("tensors", "each"), ("scalars", "sizes", "delta", "dot", "sum"), depth=(2, 2, 3), open_=ROWS)


def products(generator):
    shape = generator.choice([shape for shape in TENSORS if TENSORS[shape]])
    return identity_of(Grower(generator).tensor(shape, generator.choice((1, 2, 2))), generator)


def exponentials(generator):
    return identity(generator, ("exp",), ("log", "div", "scalars", "positive"))


def roots(generator):
    return identity(generator, ("sqrt", "abs"), ("div", "scalars", "sizes"), depth=(1, 2, 2))


def softmaxes(generator):
    return identity(generator, ("tensors", "softmax"), ("sum", "exp", "delta"), depth=(1, 2), open_=ROWS[:3])


def derivatives(generator):
    return identity(
        generator, ("diff",), ("tensors", "sum", "scalars", "exp", "log", "div", "positive", "each"), depth=(2, 2, 3), open_=ROWS[:2]
    )


def near_a_kink(generator):
    """Derivatives of what has a corner, under assumptions that end there."""
    s, a = scalars("s"), generator.choice((x, y, x - y))
    kink = generator.choice((absolute(a), sqrt(a**2), rounded(a), absolute(a) ** 2, absolute(a) * a, sqrt(a), sqrt(a**4), absolute(2 * a)))
    smooth = generator.choice((a, a, 2 * a, a**2, lift(0), sqrt(a)))
    outer: Callable = generator.choice(
        (lambda e: e, lambda e: e + x, lambda e: e / 2, lambda e: x * e, lambda e: e**2, lambda e: (e + x) / 2)
    )
    tree = outer(kink)
    wrong = generator.choice((outer(smooth), rewritten(tree, generator, 2)))
    scale = generator.choice((lift(1), a, x, s))
    sides = (scale * diff(tree, x), scale * diff(wrong, x))
    if generator.random() < 0.3:
        sides = (rewritten(sides[0], generator, 1), rewritten(sides[1], generator, 2))
    facts: tuple = (generator.choice((nonnegative, nonnegative, positive, nonzero, representable))(a),)
    if generator.random() < 0.15:
        facts = (nonnegative(x - y), nonnegative(y - x))
    return Draft("identity", sides, facts)


def moduli(generator):
    """A modulus beside what vanishes with it has a slope where it is 0, and another has none."""
    a, power = generator.choice((x, x, x - y, 2 * x, x * y, x + 1)), generator.choice((1, 2, 2, 3, 3, 4))
    rest = generator.choice((lift(1), lift(1), x, y, y**2, absolute(y)))
    tree = generator.choice((absolute(a) ** power, absolute(a) * a ** (power - 1), (a + absolute(a)) ** power, sqrt(a**2) ** power)) * rest
    formula = generator.choice((power * a * absolute(a) ** max(power - 2, 0), power * absolute(a) * a ** max(power - 2, 0)))
    other = generator.choice((diff(rewritten(tree, generator, 2), x), diff(a, x) * formula * rest))
    given = (generator.choice((nonzero, positive, nonnegative))(a),) if generator.random() < 0.5 else ()
    return Draft("identity", (diff(tree, x), other), given)


def real_logarithms(generator):
    """Logarithms and roots of even powers of what may be real, imaginary, or neither."""
    a = generator.choice((x - y, x, x * y, function("cos", x), I * x, I * (x - y), I * sqrt(x - y), x + I * y, -x, x / c))
    b = generator.choice((x, y, a, 4 * a, I * a))
    tree = generator.choice((log(a**2), log(a**2) + log(b**2), log(a**2) - log(b**2), sqrt(a**2), sqrt(a**2 * b**2), log(a), sqrt(a)))
    values = (
        2 * log(absolute(x - y)),
        2 * log(x - y),
        log(a**2 * b**2),
        log(a**2 / b**2),
        absolute(a),
        log(absolute(a) ** 2),
        a,
        2 * log(a),
    )
    right = generator.choice((*values, rewritten(tree, generator, 2), rewritten(tree, generator, 1)))
    facts = [generator.choice((positive, nonzero))(e) for e in generator.sample((x - y, x, y, c), generator.choice((1, 1, 2)))]
    return Draft("identity", (tree, right), tuple(facts))


def slopes_of_averages(generator):
    """The slope of an average, and the average of a slope."""
    body = generator.choice(((g - x) ** 2, x * g, x**2 * g + y * x, (x + g) * (y + g), x * g**2, (x * g - y) ** 2))
    outer = generator.choice((E, E, Var))
    left = diff(outer(body), x)
    right = generator.choice((E(diff(body, x)), rewritten(left, generator, 2), rewritten(left, generator, 1), diff(E(body), x)))
    return Draft("identity", (y * left, y * right), (has_moment(g, generator.choice((1, 2, 2, 4))),))


def joint_moments(generator):
    """Laws of two random numbers of which it is not said that they are independent."""
    a, b = generator.sample((g, q[1], k[1], g + x, x * g), 2)
    covariance = E(a * b) - E(a) * E(b)
    left, right = generator.choice(
        (
            (E((a - E(a)) * (b - E(b))), covariance),
            (Var(a + b), Var(a) + Var(b) + 2 * covariance),
            (Var(a + b) + Var(a - b), 2 * Var(a) + 2 * Var(b)),
            (Var(a + b), Var(a) + Var(b)),
            (E(a * b), E(a) * E(b)),
            (E((a + b) ** 2), E(a**2) + 2 * E(a * b) + E(b**2)),
        )
    )
    named = sorted((s for s in symbols(left, right).values() if s.data[1] == "random"), key=lambda s: s.data[0])
    facts = [has_moment(s, generator.choice((1, 2, 2, 2))) for s in named]
    facts += [independent(*named)] if generator.random() < 0.3 else []
    return Draft("identity", (left, rewritten(right, generator, generator.randint(0, 2))), tuple(facts))


def whole_powers(generator):
    """Powers to sizes, of what may be negative."""
    a, b = (generator.choice((x, x, -x, y, x * y, x + y, 2 * x, absolute(x), I * x, x / c, x**2)) for _ in range(2))
    d, e = (generator.choice((n, m, n + 1, 2 * n, 2 * n + 1, n + m, n * m, n - 1)) for _ in range(2))
    pairs = (
        (a**d * a**e, a ** (d + e)),
        (a**d * b**d, (a * b) ** d),
        ((a**2) ** d, a ** (2 * d)),
        ((-a) ** (2 * d), a ** (2 * d)),
        (absolute(a**d), a**d),
        (sqrt(a ** (2 * d)), a**d),
        (a**d / a**d, a ** (d - d)),
    )
    left, right = generator.choice(pairs)
    facts = [generator.choice((nonzero, positive))(s) for s in (x, y, c) if generator.random() < 0.3]
    return Draft("identity", (left, rewritten(right, generator, generator.randint(0, 1))), tuple(facts))


def roundings(generator):
    draft = identity(generator, ("rounded",), ("fractions",), depth=(1, 2))
    shares = ((in_range(), 0.8), (representable(x), 0.4), (representable(y), 0.4))
    given = tuple(a for a, share in shares if generator.random() < share)
    return replace(draft, given=given)


def masks(generator):
    """Scores with a mask of zeros and large negative numbers written out, or of deltas."""
    z = vector("z", 3)
    mask = array([generator.choice((0, 0, -1, -10)) for _ in range(3)])
    kept = array([generator.choice((0, 1, 1)) for _ in range(3)])
    at = generator.randint(1, 3)
    tree = generator.choice(
        (softmax(z + mask)[at], (kept * z)[at] * exp(z[1]), (kept * softmax(z))[at], exp((z + mask)[at]), kept @ z, (kept * z) @ z)
    )
    return identity_of(tree, generator)


def largests(generator):
    return identity(generator, ("largest",), ("tensors", "scalars", "exp", "div", "sum", "positive"), depth=(1, 2, 2), open_=ROWS[:2])


def bounds_by_the_largest(generator):
    """That no entry is larger, that one of them is as large, and what is near to these and false."""
    if generator.random() < 0.15:
        return bounds_with_an_open_index(generator)
    a = generator.choice((u, u, u + v, 2 * u, exp(u), array([x, y]), array([x, y, t]), softmax(u)))
    top, at = function("largest", a), generator.choice([1, *[i] * (a.shape == (n,))])
    near = generator.choice((top, top, top, function("largest", v), a[1], -function("largest", -a)))
    below = generator.choice((a[at], a[at], a[1], v[1], u[1], lift(0)))
    certificates = [near - below, 1 - exp(below - near), exp(near) - exp(below), (near - below) * exp(y), (near - below) ** 2]
    if a.shape == (n,):
        each = total(exp(a[j] - near), j)
        certificates += [each - generator.choice((1, 1, 2, n)), n - each, log(each), log(n) - log(each), total(near - a[j], j)]
    certificate = generator.choice(certificates)
    left = Grower(generator, frozenset(("scalars",))).scalar(1)
    given = (nonnegative(u[1] - u[i]),) * (generator.random() < 0.2)
    return Draft("inequality", (left, rewritten(left + certificate, generator, generator.randint(0, 2))), given, because=(certificate,))


def bounds_with_an_open_index(generator):
    """What an index that no sum binds stands in: at another value of it another entry may be the largest."""
    top, at, other = function("largest", v[i] * u), generator.choice((1, i, k)), generator.choice((1, i, j, k))
    certificate = generator.choice((top - u[at] * v[i], top * v[other] / v[i] - u[at] * v[other], top / v[i] - u[at]))
    divides = any(node.op == "div" for node in walk(certificate))
    return Draft("inequality", (y, y + certificate), (nonzero(v[i]),) * divides, because=(certificate,))


def rows_and_diagonals(generator):
    """What needs each place of a row, where a fact may be of the diagonal alone, or of one place."""
    tensor, along = generator.choice(((S, j), (S, j), (A, l)))
    shape_of = generator.choice((lambda e: e, lambda e: e**2, lambda e: e + x, lambda e: absolute(e) + e))
    here = shape_of(tensor[i, along])
    needing, fact = generator.choice(((here / here, nonzero), (x / here, nonzero), (log(here), positive), (sqrt(here), nonnegative)))
    row = generator.choice((total(needing, along), function("largest", each(needing, along)), each(needing, along)[1]))
    if along == j and generator.random() < 0.4:
        row = each(needing, along)[i]
    outer = generator.choice((row, total(row, i), each(row, i)[1], each(row, i)[j], x * total(row, i) / total(row, i)))
    place = generator.choice((along, along, 1, *[i] * 2 * (along == j)))
    given = (fact(shape_of(tensor[generator.choice((i, i, 1)), place])),)
    return identity_of(outer * generator.choice((lift(1), y)), generator, 2, given)


def zeros_and_ones(generator):
    """What is stated to be 0 or 1, its powers, and exponentials of it."""
    at = generator.choice((i, 1))
    tree = generator.choice((u[at] ** 2, u[at] ** 3 * y, exp(x * u[at]), exp(y - x * (1 - u[at])), total(u[i] * u[i] * v[i], i)))
    same = generator.choice(
        (u[at], u[at] * y, 1 + u[at] * (exp(x) - 1), exp(y - x) + u[at] * (exp(y) - exp(y - x)), u @ v, (1 - u[at]) ** 2)
    )
    sides = generator.choice(
        ((tree, same), (tree, rewritten(tree, generator, 2)), (tree + same**2, same**2 + rewritten(tree, generator, 1)))
    )
    if generator.random() < 0.3:
        part = generator.choice((1 - u[at], 1 - u[at], u[at] * exp(y), 1 - u[1] * u[at], u[at] - 1, total(u[i], i) - 1))
        return Draft("inequality", (y, y + part), (zero_or_one(u),), because=(part,))
    return Draft("identity", sides, (zero_or_one(u),) * (generator.random() < 0.8))


def zero_or_one(x: Expr) -> Assumption:
    return Assumption("zero_or_one", (x,))


def laws(generator):
    features = ("random", *(generator.choice((("sum",), ("each",))) + ("tensors",) if generator.random() < 0.4 else ()))
    grower = Grower(generator, frozenset(features), generator.choice(((), (), (i,))))
    body = grower.scalar(generator.choice((1, 1, 2)))
    if generator.random() < 0.3:
        body = generator.choice((q @ k, total(q[i] * k[i], i), q[1] * x + y, (x * g) ** 2))
    tree = generator.choice((E, Var))(body)
    right = rewritten(tree, generator, generator.randint(1, 4))
    named = symbols(tree, right)
    given = ()
    for s in (q, k, g):
        if s.data[0] in named:
            given += (mean(s, generator.choice((0, 0, 1, y))),) * (generator.random() < 0.8)
            given += (variance(s, generator.choice((1, 1, 2))),) * (generator.random() < 0.7)
            given += (gaussian(s),) * (generator.random() < 0.2)
            given += (has_moment(s, generator.choice((1, 2, 2, 4))),) * (generator.random() < 0.6)
    together = [s for s in (q, k, g) if s.data[0] in named]
    if together and generator.random() < 0.8:
        given += (independent(*together),)
    if generator.random() < 0.5:
        right = in_moments(right, given)
    return Draft("identity", (tree, right), given)


def in_moments(e: Expr, given: tuple) -> Expr:
    """What is stated of the moments, in their place."""
    told = {(a.kind, a.args[0].data[0]): a.args[1] for a in given if a.kind in ("mean", "variance")}
    if e.op in AVERAGES:
        (a,) = e.args
        name = (a.args[0] if a.op == "entry" else a).data
        key = ("mean" if e.op == "expectation" else "variance", name[0] if isinstance(name, tuple) else "")
        if key in told:
            return told[key]
        if e.op == "expectation" and a.op == "pow" and a.args[1] == lift(2):
            square = Var(a.args[0])
            return in_moments(square, given) + in_moments(E(a.args[0]), given) ** 2
    return Expr(e.op, tuple(in_moments(a, given) for a in e.args), e.shape, e.data)


def inequalities(generator):
    certificate = part_not_negative(generator)
    for _ in range(generator.choice((0, 0, 1, 2))):
        more = part_not_negative(generator)
        certificate = generator.choice((lambda a, b: a + b, lambda a, b: a + b, lambda a, b: a * b))(certificate, more)
    left = Grower(generator, frozenset(("scalars", "sizes"))).scalar(generator.choice((1, 2)))
    right = rewritten(left + certificate, generator, generator.randint(1, 4))
    named = symbols(left, right, certificate)
    given = tuple(f(s) for f, s in ((positive, x), (nonzero, c), (nonnegative, t)) if s.data[0] in named)
    return Draft("inequality", (left, right), given, because=(certificate,))


def part_not_negative(generator) -> Expr:
    tree = Grower(generator, frozenset(("scalars",))).scalar(1)
    return generator.choice(
        (
            tree**2,
            tree**2,
            absolute(tree),
            exp(tree),
            n - 1,
            x,
            t,
            u @ u,
            total(u[i] ** 2, i),
            lift(1),
            n * t,
            1 / x,
            softmax(u)[1],
            tree**4,
        )
    )


def refutations(generator):
    grower = Grower(generator, frozenset(("scalars", *generator.choice(((), ("div",), ("tensors", "sum"), ("abs",), ("exp",))))))
    tree = grower.scalar(2) if generator.random() < 0.7 else Grower(generator).tensor((n, m), 1)
    sides = (tree, slip(rewritten(tree, generator, generator.randint(0, 2)), generator))
    relation = "<=" if not tree.shape and generator.random() < 0.3 else "="
    return Draft("refutation", sides, at=values_at(sides, generator), relation=relation)


def limits(generator):
    moving, to = generator.choice(((x, "oo"), (x, "oo"), (n, "oo"), (x, 0)))
    scale = generator.choice((1, 1, 2, 10, 1000, 10**9, Fraction(1, 10**9)))
    big = scale * moving if to == "oo" else scale / moving
    one, other = (generator.choice(LIMITS) for _ in range(2))
    (a, to_a), (b, to_b) = one(big, generator), other(big, generator)
    tree, value = generator.choice(((a + b, to_a + to_b), (a * b, to_a * to_b), (a, to_a), (a, to_a)))
    if generator.random() < 0.3:
        extra = generator.choice((rounded(y), absolute(y), exp(y), y**2, softmax(u)[1]))
        tree, value = extra + tree, extra + value if value != lift(0) else extra
    tree = rewritten(tree, generator, generator.randint(0, 2))
    value = generator.choice((value, value, value, value + 1, lift(0)))
    return Draft("limit", (tree, value), towards=(moving, to))


def ratio(big, generator):
    a, b, d = (generator.choice((1, 2, 3)) for _ in range(3))
    p = generator.choice((1, 1, 2))
    return (a * big**p + d) / (b * big**p + big + 1 if p == 2 else b * big + d), lift(Fraction(a, b))


LIMITS = (
    ratio,
    ratio,
    lambda big, generator: (1 / big, lift(0)),
    lambda big, generator: (exp(-big), lift(0)),
    lambda big, generator: (big * exp(-big), lift(0)),
    lambda big, generator: (log(1 + 1 / big), lift(0)),
    lambda big, generator: (big * log(1 + 1 / big), lift(1)),
    lambda big, generator: (log(1 + exp(-big)) / exp(-big), lift(1)),
    lambda big, generator: (big * (exp(1 / big) - 1), lift(1)),
    lambda big, generator: (exp(big) / (exp(big) + 1), lift(1)),
    lambda big, generator: (lift(generator.choice((0, 1, 2))), lift(0)),
)


def ranks(generator):
    first, second = generator.choice(((A, B), (A, C.T), (A @ B, A), (A, A.T), (B.T, B)))
    tree = first @ second
    return Draft("inequality", (rank(rewritten(tree, generator, generator.randint(0, 2))), first.shape[1]), because=(first, second))


def inverses(generator):
    T = inverse(S)
    W = matrix("W", n, n)
    trees = (S @ T, T @ S, (S @ W) @ T, T @ (S @ u), S.T @ T.T, (T + W) @ S, (S @ T) @ A, S @ W, W @ S)
    results = (eye(n), eye(n), S @ W @ T, u, eye(n), eye(n) + W @ S, A, eye(n), eye(n))
    at = generator.randrange(len(trees))
    given = (product_is(S, W, 1) if at == 7 else product_is(W, S, 1),) if at > 6 else (invertible(S),)
    return Draft("identity", (rewritten(trees[at], generator, generator.randint(0, 2)), results[at]), given)


def names(generator):
    """Two things that might be printed alike, said to be equal."""
    at_k = index("k", sizes("d_1"))
    alike = (
        (*scalars("z1 z_1"), vector("z", n)[1], sizes("z1")),
        (*scalars("z11 z_11"), matrix("z", n, m)[1, 1], vector("z_1", n)[1]),
        (scalars("d_k"), sizes("d_k"), vector("d", sizes("d_1"))[at_k], scalars("dk")),
        (scalars("x_1"), vector("x", n)[1], scalars("x1")),
        (scalars("rho"), scalars("qnorm"), scalars("e_1"), vector("a", n)[1], scalars("a_1")),
    )
    a, b = generator.sample(generator.choice(alike), 2)
    outer: Callable = generator.choice((lambda e: 2 * e, lambda e: e + y, lambda e: e**2, lambda e: y * e, exp))
    return Draft("identity", (outer(a), outer(b)))


FAMILIES: dict = {
    "polynomials": (polynomials, 10),
    "quotients": (quotients, 10),
    "sums": (sums, 12),
    "entry by entry": (entry_by_entry, 8),
    "products": (products, 10),
    "exponentials": (exponentials, 8),
    "roots": (roots, 8),
    "softmax": (softmaxes, 5),
    "derivatives": (derivatives, 10),
    "near a kink": (near_a_kink, 8),
    "moduli": (moduli, 4),
    "real logarithms": (real_logarithms, 4),
    "slopes of averages": (slopes_of_averages, 3),
    "joint moments": (joint_moments, 3),
    "whole powers": (whole_powers, 3),
    "rounding": (roundings, 6),
    "masks": (masks, 4),
    "zeros and ones": (zeros_and_ones, 4),
    "rows and diagonals": (rows_and_diagonals, 5),
    "largest": (largests, 6),
    "bounds by the largest": (bounds_by_the_largest, 6),
    "laws": (laws, 5),
    "inequalities": (inequalities, 10),
    "refutations": (refutations, 10),
    "limits": (limits, 6),
    "ranks": (ranks, 2),
    "inverses": (inverses, 2),
    "names": (names, 2),
}
