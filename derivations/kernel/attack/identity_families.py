"""Families of random identities: algebra, tensors, softmax, derivatives, roots and logarithms, roundings, inverses.

Each family is a function of a seeded generator that returns a draft. The draft may be false: a rewrite may need an assumption that is
not stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from ..core.assumptions import (
    Assumption,
    in_range,
    invertible,
    nonnegative,
    nonzero,
    positive,
    product_is,
    representable,
)
from ..core.constructors import (
    I,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    function,
    index,
    inverse,
    log,
    matrix,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from ..core.expr import Expr, lift, symbols, walk
from .claim_drafts import Draft
from .random_trees import TENSORS, A, Grower, S, c, i, j, l, m, n, u, v, x, y
from .rewrite_rules import rewrite_randomly


def grow_identity(
    generator: Random,
    features: tuple,
    optional: tuple = (),
    depths: tuple = (1, 2, 2, 3),
    rewrites: int = 4,
    free_indices: tuple = ((),),
) -> Draft:
    """Return an identity between a random scalar tree and a rewritten copy of it, under the assumptions that it may need.

    The tree uses all `features` and each `optional` one with probability 1/2. `depths` and `free_indices` are the choices for its
    depth and for the tuple of indices that it may leave free.
    """
    chosen = frozenset((*features, *(f for f in optional if generator.random() < 0.5)))
    tree = Grower(generator, chosen, generator.choice(free_indices)).scalar(generator.choice(depths))
    return rewrite_to_identity(tree, generator, rewrites)


def rewrite_to_identity(tree: Expr, generator: Random, rewrites: int = 4, given: tuple | None = None) -> Draft:
    """Return the identity between a tree and the tree after 1 to `rewrites` rewrites; without `given`, choose likely assumptions."""
    right = rewrite_randomly(tree, generator, generator.randint(1, rewrites))
    if generator.random() < 0.3:
        tree = rewrite_randomly(tree, generator, 1)
    return Draft("identity", (tree, right), choose_assumptions((tree, right), generator) if given is None else given)


def choose_assumptions(trees: tuple, generator: Random) -> tuple[Assumption, ...]:
    """Return assumptions about the signs of c, x and y that the trees may need; often enough, sometimes too few or too many."""
    nodes = [node for tree in trees for node in walk(tree)]
    named = symbols(*trees)
    is_partial = any(
        node.op in ("div", "function") and node.data != "exp" or node.op == "pow" and node.args[1] != lift(2) for node in nodes
    )
    given: tuple[Assumption, ...] = ()
    if "c" in named and any(node.op in ("div", "pow") and c in set(walk(node)) for node in nodes):
        given += (generator.choice((nonzero, nonzero, nonzero, positive))(c),)
    for s in (x, y):
        if s.data[0] in named and is_partial and generator.random() < (0.85 if s == x else 0.3):
            given += (generator.choice((positive, positive, positive, nonnegative, nonzero))(s),)
    return given


FREE_INDICES: tuple = ((), (i,), (i, j), (l,))


def polynomials(generator: Random) -> Draft:
    """Draft an identity between polynomials in scalars."""
    return grow_identity(generator, ("scalars",), ("sizes", "fractions"), depths=(2, 2, 3))


def quotients(generator: Random) -> Draft:
    """Draft an identity with divisions."""
    return grow_identity(generator, ("scalars", "div"), ("sizes", "fractions", "positive"), depths=(2, 2, 3))


def sums(generator: Random) -> Draft:
    """Draft an identity with index sums over entries of tensors."""
    return grow_identity(generator, ("tensors", "sum"), ("scalars", "sizes", "delta", "dot"), free_indices=FREE_INDICES)


def entry_by_entry(generator: Random) -> Draft:
    """Draft an identity with tensors that are defined entry by entry."""
    return grow_identity(
        generator, ("tensors", "each"), ("scalars", "sizes", "delta", "dot", "sum"), depths=(2, 2, 3), free_indices=FREE_INDICES
    )


def orders(generator: Random) -> Draft:
    """Draft an identity in which positions are compared."""
    optional = ("scalars", "sizes", "delta", "sum", "exp")
    tree = grow_identity(generator, ("tensors", "where"), optional, depths=(2, 2, 3), rewrites=3, free_indices=FREE_INDICES)
    if generator.random() < 0.7:
        return tree
    by = generator.choice((u[1], v[1], S[1, 1], A[1, 1]))
    return replace(tree, sides=tuple(diff(side, by) for side in tree.sides))


def products(generator: Random) -> Draft:
    """Draft an identity between vectors or matrices built from matrix products."""
    shape = generator.choice([shape for shape in TENSORS if TENSORS[shape]])
    return rewrite_to_identity(Grower(generator).tensor(shape, generator.choice((1, 2, 2))), generator)


def exponentials(generator: Random) -> Draft:
    """Draft an identity with exponentials and, often, logarithms."""
    return grow_identity(generator, ("exp",), ("log", "div", "scalars", "positive"))


def roots(generator: Random) -> Draft:
    """Draft an identity with square roots and absolute values."""
    return grow_identity(generator, ("sqrt", "abs"), ("div", "scalars", "sizes"), depths=(1, 2, 2))


def softmaxes(generator: Random) -> Draft:
    """Draft an identity with entries of a softmax."""
    return grow_identity(generator, ("tensors", "softmax"), ("sum", "exp", "delta"), depths=(1, 2), free_indices=FREE_INDICES[:3])


def derivatives(generator: Random) -> Draft:
    """Draft an identity with derivatives."""
    optional = ("tensors", "sum", "scalars", "exp", "log", "div", "positive", "each")
    return grow_identity(generator, ("diff",), optional, depths=(2, 2, 3), free_indices=FREE_INDICES[:2])


def near_a_kink(generator: Random) -> Draft:
    """Draft an identity about the derivative of a function with a kink, under an assumption whose boundary is the kink."""
    s, a = scalars("s"), generator.choice((x, y, x - y))
    kink = generator.choice((absolute(a), sqrt(a**2), rounded(a), absolute(a) ** 2, absolute(a) * a, sqrt(a), sqrt(a**4), absolute(2 * a)))
    smooth = generator.choice((a, a, 2 * a, a**2, lift(0), sqrt(a)))
    outer: Callable = generator.choice(
        (lambda e: e, lambda e: e + x, lambda e: e / 2, lambda e: x * e, lambda e: e**2, lambda e: (e + x) / 2)
    )
    tree = outer(kink)
    wrong = generator.choice((outer(smooth), rewrite_randomly(tree, generator, 2)))
    scale = generator.choice((lift(1), a, x, s))
    sides = (scale * diff(tree, x), scale * diff(wrong, x))
    if generator.random() < 0.3:
        sides = (rewrite_randomly(sides[0], generator, 1), rewrite_randomly(sides[1], generator, 2))
    facts: tuple = (generator.choice((nonnegative, nonnegative, positive, nonzero, representable))(a),)
    if generator.random() < 0.15:
        facts = (nonnegative(x - y), nonnegative(y - x))
    return Draft("identity", sides, facts)


def moduli(generator: Random) -> Draft:
    """Draft an identity about the derivative of an absolute value times a factor.

    The derivative exists at 0 if the factor vanishes there, and otherwise it does not.
    """
    a, power = generator.choice((x, x, x - y, 2 * x, x * y, x + 1)), generator.choice((1, 2, 2, 3, 3, 4))
    rest = generator.choice((lift(1), lift(1), x, y, y**2, absolute(y)))
    tree = generator.choice((absolute(a) ** power, absolute(a) * a ** (power - 1), (a + absolute(a)) ** power, sqrt(a**2) ** power)) * rest
    formula = generator.choice((power * a * absolute(a) ** max(power - 2, 0), power * absolute(a) * a ** max(power - 2, 0)))
    other = generator.choice((diff(rewrite_randomly(tree, generator, 2), x), diff(a, x) * formula * rest))
    given = (generator.choice((nonzero, positive, nonnegative))(a),) if generator.random() < 0.5 else ()
    return Draft("identity", (diff(tree, x), other), given)


def real_logarithms(generator: Random) -> Draft:
    """Draft an identity with logarithms and roots of even powers; the bases may be real, imaginary or neither."""
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
    right = generator.choice((*values, rewrite_randomly(tree, generator, 2), rewrite_randomly(tree, generator, 1)))
    facts = [generator.choice((positive, nonzero))(e) for e in generator.sample((x - y, x, y, c), generator.choice((1, 1, 2)))]
    return Draft("identity", (tree, right), tuple(facts))


def complex_lengths(generator: Random) -> Draft:
    """Draft an identity about absolute values of complex numbers and lengths of complex vectors, true or nearly true."""
    a, b = (generator.choice((x + I * y, x - I * y, I * x, 2 + I, x * exp(I * y), exp(x + I * y), y)) for _ in range(2))
    both = function("norm", absolute(array([a, b])))
    left, right = generator.choice(
        (
            (absolute(a) * absolute(b), absolute(a * b)),
            (absolute(x + I * y) ** 2, x**2 + y**2),
            (absolute(a) ** 2, a**2),
            (absolute(a / (1 + x**2)), absolute(a) / (1 + x**2)),
            (absolute(exp(a)), generator.choice((exp(x), exp(a), exp(-y), lift(1)))),
            (absolute(a * exp(I * y)), absolute(a)),
            (absolute(a + b), absolute(a) + absolute(b)),
            (both**2, absolute(a) ** 2 + absolute(b) ** 2),
            (function("norm", absolute(c * array([a, b]))), absolute(c) * both),
            (function("norm", absolute(I * u)), function("norm", u)),
            (absolute(total(u[i] * exp(I * x), i)), absolute(total(u[i], i))),
        )
    )
    return Draft("identity", (left, rewrite_randomly(right, generator, generator.randint(0, 2))))


def whole_powers(generator: Random) -> Draft:
    """Draft an identity between powers whose exponents are sizes and whose bases may be negative."""
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
    return Draft("identity", (left, rewrite_randomly(right, generator, generator.randint(0, 1))), tuple(facts))


def roundings(generator: Random) -> Draft:
    """Draft an identity with roundings to a floating-point format."""
    draft = grow_identity(generator, ("rounded",), ("fractions",), depths=(1, 2))
    shares = ((in_range(), 0.8), (representable(x), 0.4), (representable(y), 0.4))
    given = tuple(a for a, share in shares if generator.random() < share)
    return replace(draft, given=given)


def masks(generator: Random) -> Draft:
    """Draft an identity about three scores with an additive mask of zeros and negative numbers, or a mask of zeros and ones."""
    z = vector("z", 3)
    mask = array([generator.choice((0, 0, -1, -10)) for _ in range(3)])
    indicator = array([generator.choice((0, 1, 1)) for _ in range(3)])
    at = generator.randint(1, 3)
    tree = generator.choice(
        (
            softmax(z + mask)[at],
            (indicator * z)[at] * exp(z[1]),
            (indicator * softmax(z))[at],
            exp((z + mask)[at]),
            indicator @ z,
            (indicator * z) @ z,
        )
    )
    return rewrite_to_identity(tree, generator)


def largests(generator: Random) -> Draft:
    """Draft an identity with the largest entry of a vector."""
    return grow_identity(
        generator, ("largest",), ("tensors", "scalars", "exp", "div", "sum", "positive"), depths=(1, 2, 2), free_indices=FREE_INDICES[:2]
    )


def rows_and_diagonals(generator: Random) -> Draft:
    """Draft an identity that needs an assumption for each entry of a row; the one stated may cover the diagonal or one entry only."""
    tensor, along = generator.choice(((S, j), (S, j), (A, l)))
    shape_of = generator.choice((lambda e: e, lambda e: e**2, lambda e: e + x, lambda e: absolute(e) + e))
    here = shape_of(tensor[i, along])
    needing, fact = generator.choice(((here / here, nonzero), (x / here, nonzero), (log(here), positive), (sqrt(here), nonnegative)))
    row = generator.choice((total(needing, along), function("largest", each(needing, along)), each(needing, along)[1]))
    if along == j and generator.random() < 0.4:
        row = each(needing, along)[i]
    outer = generator.choice((row, total(row, i), each(row, i)[1], each(row, i)[j], x * total(row, i) / total(row, i)))
    columns: list[Expr | int] = [along, along, 1, *[i] * 2 * (along == j)]
    column = generator.choice(columns)
    given = (fact(shape_of(tensor[generator.choice((i, i, 1)), column])),)
    return rewrite_to_identity(outer * generator.choice((lift(1), y)), generator, 2, given)


def zeros_and_ones(generator: Random) -> Draft:
    """Draft an identity or an inequality about a vector whose entries are 0 or 1, its powers and exponentials of its entries."""
    at = generator.choice((i, 1))
    tree = generator.choice((u[at] ** 2, u[at] ** 3 * y, exp(x * u[at]), exp(y - x * (1 - u[at])), total(u[i] * u[i] * v[i], i)))
    same = generator.choice(
        (u[at], u[at] * y, 1 + u[at] * (exp(x) - 1), exp(y - x) + u[at] * (exp(y) - exp(y - x)), u @ v, (1 - u[at]) ** 2)
    )
    sides = generator.choice(
        ((tree, same), (tree, rewrite_randomly(tree, generator, 2)), (tree + same**2, same**2 + rewrite_randomly(tree, generator, 1)))
    )
    if generator.random() < 0.3:
        part = generator.choice((1 - u[at], 1 - u[at], u[at] * exp(y), 1 - u[1] * u[at], u[at] - 1, total(u[i], i) - 1))
        return Draft("inequality", (y, y + part), (zero_or_one(u),), because=(part,))
    return Draft("identity", sides, (zero_or_one(u),) * (generator.random() < 0.8))


def zero_or_one(x: Expr) -> Assumption:
    """Return the assumption that each entry is 0 or 1."""
    return Assumption("zero_or_one", (x,))


def inverses(generator: Random) -> Draft:
    """Draft an identity with the inverse of a matrix or of an expression, or with a matrix that is assumed to be a left or right inverse."""
    T = inverse(S)
    W = matrix("W", n, n)
    if generator.random() < 0.5:
        return inverses_of_expressions(generator, W)
    trees = (S @ T, T @ S, (S @ W) @ T, T @ (S @ u), S.T @ T.T, (T + W) @ S, (S @ T) @ A, S @ W, W @ S)
    results = (eye(n), eye(n), S @ W @ T, u, eye(n), eye(n) + W @ S, A, eye(n), eye(n))
    at = generator.randrange(len(trees))
    given = (product_is(S, W, 1) if at == 7 else product_is(W, S, 1),) if at > 6 else (invertible(S),)
    return Draft("identity", (rewrite_randomly(trees[at], generator, generator.randint(0, 2)), results[at]), given)


def inverses_of_expressions(generator: Random, W: Expr) -> Draft:
    """Draft an identity with the inverse of a sum, which may also be an identity for other matrices or signs only."""
    F, G = generator.choices((S, S.T, W, 2 * S, -W, S @ W, eye(n), c * S, A @ A.T), k=2)
    M = eye(n) + F
    R, Q = inverse(M), inverse(F + G)
    sides, inverted = generator.choice(
        (
            ((R @ F, F @ R), (M,)),
            ((R, eye(n) - R @ F), (M,)),
            ((R @ G, G @ R), (M,)),
            ((R.T, inverse(eye(n) + F.T)), (M,)),
            ((F @ inverse(eye(n) + G @ F), inverse(eye(n) + F @ G) @ F), (eye(n) + G @ F, eye(n) + F @ G)),
            ((Q @ F, eye(n) - Q @ G), (F + G,)),
            ((Q - R, Q @ (M - F - G) @ R), (F + G, M)),
            ((Q - R, R @ (F + G - M) @ Q), (F + G, M)),
            ((diff(R[i, j], c), -(R @ each(diff(F[i, j], c), i, j) @ R)[i, j]), (M,)),
            ((diff(R[i, i], S[j, j]), -(R[i, j] * R[j, i])), (M,)),
        )
    )
    return Draft("identity", (rewrite_randomly(sides[0], generator, generator.randint(0, 2)), sides[1]), tuple(map(invertible, inverted)))


def names(generator: Random) -> Draft:
    """Draft an identity between two different names that might be printed alike."""
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
