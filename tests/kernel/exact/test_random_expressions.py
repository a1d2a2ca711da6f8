"""Random expressions: the exact witness agrees with numerical evaluation."""

from fractions import Fraction
from itertools import product
from random import Random

import mpmath
import pytest

from derivations.kernel import (
    E,
    Var,
    absolute,
    diff,
    exp,
    eye,
    independent,
    index,
    log,
    matrix,
    positive,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from derivations.kernel.core.expr import Expr, free_indices, lift, walk
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.assumption_facts import collect_facts
from derivations.kernel.exact.clear_denominators import clear_denominators
from derivations.kernel.exact.polynomials import add, scale
from derivations.kernel.exact.series_limits import take_limit
from derivations.kernel.exact.tree_to_normal_form import normalize

pytestmark = pytest.mark.slow

n, m = sizes("n m")
A, B, C = matrix("A", n, n), matrix("B", n, n), matrix("C", n, m)
x, y, c = scalars("x y c")
u, v = vector("u", n), vector("v", n)
i, j, k = index("i", n), index("j", n), index("k", m)
q, R, X = random("q", n), random("R", n, n), random("X")
g = scalars("g")
LEAVES = {(): [x, y, g], (n,): [u, v], (n, n): [A, B], (n, m): [C], (m, n): [matrix("F", m, n)]}
INDICES = [i, j, index("h", n)]


class Odd(Exception):
    """A place where the expression does not exist, or is too large to compare."""


def grown(r, shape=(), depth=3, scope=()):
    """A random expression of a shape; scope holds the indices that sums around it bind."""
    if depth <= 0 or r.random() < 0.1:
        leaf = lift(r.choice([1, 2, -1, 3, Fraction(1, 2)])) if not shape and r.random() < 0.3 else r.choice(LEAVES[shape])
        if not shape and r.random() < 0.5:
            at = [r.choice([*scope, lift(1)]) for _ in range(2)]
            leaf = r.choice([u[at[0]], v[at[0]], A[at[0], at[1]], B[at[0], at[1]]])
        return leaf
    sub = lambda s=shape, more=(): grown(r, s, depth - 1, (*scope, *more))
    if shape:
        kind = r.choice(["add", "scaled", "hadamard", "softmax", "matmul"] + ["transpose"] * (len(shape) == 2))
        if kind == "transpose":
            return sub(shape[::-1]).T
        if kind == "matmul":
            return sub((shape[0], n)) @ sub((n, *shape[1:]))
        return {
            "add": lambda: sub() + sub(),
            "scaled": lambda: sub(()) * sub(),
            "hadamard": lambda: sub() * sub(),
            "softmax": lambda: softmax(sub()),
        }[kind]()
    over = r.choice(INDICES)
    return {
        "add": lambda: sub() + sub(),
        "mul": lambda: sub() * sub(),
        "neg": lambda: -sub(),
        "abs": lambda: absolute(sub()),
        "exp": lambda: exp(sub() / 2),
        "log": lambda: log(r.choice([g, g * exp(sub()), 1 + sub() ** 2])),
        "div": lambda: sub() / r.choice([g, 1 + sub() ** 2, exp(sub())]),
        "pow": lambda: sub() ** r.choice([2, 3]),
        "root": lambda: r.choice([sub() ** 2, g * sub() ** 2, 1 + sub() ** 2, g]) ** Fraction(r.choice([1, -1, 3]), 2),
        "sum": lambda: total(sub((), (over,)), over),
        "dot": lambda: sub((n,)) @ sub((n,)),
        "entry": lambda: sub((n, n))[r.choice([*scope, lift(1)]), r.choice([*scope, lift(1)])],
        "size": lambda: r.choice([n, m]) * sub(),
    }[r.choice(["add", "mul", "neg", "abs", "exp", "log", "div", "pow", "root", "sum", "sum", "dot", "entry", "size"])]()


def corrupted(r, e):
    """The expression with one thing wrong, somewhere."""
    places = [k for k, a in enumerate(e.args) if a.op not in ("index", "const")]
    if places and r.random() < 0.8:
        k = r.choice(places)
        return Expr(e.op, e.args[:k] + (corrupted(r, e.args[k]),) + e.args[k + 1 :], e.shape, e.data)
    if e.op in ("add", "matmul") and e.args[0].shape == e.args[1].shape and r.random() < 0.5:
        return e.args[0] - e.args[1] if e.op == "add" else e.args[1] @ e.args[0]
    if e.op == "transpose" and e.shape == e.args[0].shape:
        return e.args[0]
    if e.op in ("paren", "neg") or e.op == "function" and e.data == "abs":
        return e.args[0]
    return r.choice([-e, 2 * e] + [leaf for leaf in LEAVES.get(e.shape, []) if leaf != e])


def value(e, env, at=()):
    """One entry of an expression at numbers, by plain recursion in mpmath."""
    a, size = e.args, lambda s: int(s.data) if s.op == "const" else env[s.data[0]]
    sub = lambda x, place=(): value(x, env, place)
    if e.op == "const":
        return mpmath.mpf(e.data.numerator) / e.data.denominator
    if e.op == "symbol":
        return mpmath.mpf(env[e.data[0]]) if e.data[1] == "size" else env[e.data[0]][at]
    if e.op == "index":
        return mpmath.mpf(env[e] + 1)
    if e.op in ("add", "mul", "neg", "div"):
        parts = [sub(part, at if part.shape else ()) for part in a]
        if e.op == "div" and abs(parts[1]) < 1e-6:
            raise Odd
        return {"add": lambda p, q: p + q, "mul": lambda p, q: p * q, "neg": lambda p: -p, "div": lambda p, q: p / q}[e.op](*parts)
    if e.op == "pow":
        base, power = sub(a[0]), sub(a[1])
        if power < 0 and abs(base) < 1e-6 or power != int(power) and base < 0:
            raise Odd
        return base ** int(power) if power == int(power) else base**power
    if e.op == "matmul":
        split = len(a[0].shape) - 1
        return sum(sub(a[0], at[:split] + (k,)) * sub(a[1], (k,) + at[split:]) for k in range(size(a[0].shape[-1])))
    if e.op == "transpose":
        return sub(a[0], at[::-1])
    if e.op == "entry":
        return sub(a[0], tuple(int(k.data) - 1 if k.op == "const" else env[k] for k in a[1:]))
    if e.op == "sum":
        return sum(value(a[0], {**env, Expr("index", (), (), e.data): k}) for k in range(size(e.data[1])))
    if e.op == "eye":
        return mpmath.mpf(at[0] == at[1])
    if e.op == "softmax":
        row = [mpmath.exp(sub(a[0], at[:-1] + (k,))) for k in range(size(e.shape[-1]))]
        return row[at[-1]] / sum(row)
    inside = sub(a[0], at)
    if e.data == "log" and inside <= 0 or e.data == "exp" and inside > 30:
        raise Odd
    return {"exp": mpmath.exp, "log": mpmath.log, "abs": abs}[e.data](inside)


def form(p, env, slots=()):
    """A normal form at numbers. It is read here afresh: an atom is a head with indices, a term a product of powers of atoms."""
    result = mpmath.mpf(0)
    for (bound, factors), coefficient in p:
        for chosen in product(*(range(1, (int(s.data) if s.op == "const" else env[s.data[0]]) + 1) for s in bound)):

            def place(k):
                return {"b": lambda: chosen[k[1]], "s": lambda: slots[k[1]], "c": lambda: k[1], "f": lambda: env["free", k[1]]}[k[0]]()

            term = mpmath.mpf(coefficient.numerator) / coefficient.denominator
            for (head, indices), power in factors:
                at = tuple(place(k) for k in indices)
                if head[0] in ("exp", "log", "abs", "sum"):
                    inside = form(head[1], env, at)
                    if head[0] == "log" and inside <= 0:
                        raise Odd
                    base = {"exp": mpmath.exp, "log": mpmath.log, "abs": abs, "sum": lambda z: z}[head[0]](inside)
                else:
                    base = {
                        "entry": lambda: env[head[1]][tuple(k - 1 for k in at)],
                        "size": lambda: env[head[1]],
                        "random": lambda: env[head[1]][tuple(k - 1 for k in at)],
                        "prime": lambda: head[1],
                        "delta": lambda: int(at[0] == at[1]),
                        "value": lambda: at[0],
                        "moment": lambda: env["moment", head[1]](head[2]),
                    }[head[0]]()
                base = mpmath.mpf(base)
                if power < 0 and abs(base) < 1e-9 or power.denominator != 1 and base < 0:
                    raise Odd
                term *= base ** int(power) if power.denominator == 1 else base ** (mpmath.mpf(power.numerator) / power.denominator)
            result += term
    return result


def numbers(r):
    """Sizes, and values of every symbol; g is positive."""
    env = {"n": r.randint(1, 3), "m": r.randint(1, 2)}
    for s in sorted({leaf for leaves in LEAVES.values() for leaf in leaves}, key=lambda s: s.data):
        env[s.data[0]] = {
            at: mpmath.mpf(r.choice([-2, -1, 1, 1, 2, 3])) / r.choice([1, 2, 3])
            for at in product(*(range(env[size.data[0]]) for size in s.shape))
        }
    env["g"] = {(): abs(env["g"][()]) + mpmath.mpf(1) / 3}
    return env


def close(a, b):
    return abs(a - b) <= 1e-8 * (1 + abs(a) + abs(b))


def small(e, most=60):
    return sum(1 for _ in walk(e)) <= most


def samples(seed, count, depths=(2, 3, 3, 4)):
    """Random expressions that are not too large, with the generator."""
    r, made = Random(seed), 0
    while made < count:
        try:
            e = grown(r, depth=r.choice(depths))
        except KernelError:
            continue
        if small(e):
            made += 1
            yield r, e


def understood(e, facts):
    """The normal form, or None where the witness does not know the expression or needs what is not stated."""
    try:
        p = normalize(e, facts)
    except KernelError:
        return None
    return None if facts.unstated else p


def test_the_normal_form_of_a_random_expression_has_its_value():
    compared = 0
    for r, e in samples(1, 1500):
        p = understood(e, collect_facts((positive(g),)))
        for env in [numbers(r) for _ in range(2)] if p is not None else ():
            try:
                expected = value(e, env)
                found = form(p.items(), env)
            except (Odd, OverflowError):
                continue
            assert close(found, expected), (e, env)
            compared += 1
    assert compared > 300


def test_a_corrupted_expression_is_never_called_equal():
    refused, called_equal = 0, 0
    for r, e in samples(2, 1500):
        wrong, facts = corrupted(r, e), collect_facts((positive(g),))
        try:
            same = not clear_denominators(add(normalize(e, facts), scale(normalize(wrong, facts), -1)), facts)
        except (KernelError, AttributeError):
            continue
        if facts.unstated or not same:
            refused += 1
            continue
        called_equal += 1
        for env in [numbers(r) for _ in range(3)]:
            try:
                assert close(value(e, env), value(wrong, env)), (e, wrong, env)
            except (Odd, OverflowError):
                continue
    assert refused > 200 and called_equal > 5


def test_the_derivative_of_a_random_expression_is_its_slope():
    compared = 0
    for r, e in samples(3, 1500, depths=(2, 3, 3)):
        by = r.choice([x, g, u[1], A[1, 1], u[index("f", n)], A[1, index("f", n)]])
        p = understood(diff(e, by), collect_facts((positive(g),)))
        if p is None:
            continue
        env = numbers(r)
        env["free", "f"] = r.randint(1, env["n"])
        target = by.args[0] if by.op == "entry" else by
        at = tuple((1 if k.op == "const" else env["free", "f"]) - 1 for k in by.args[1:]) if by.op == "entry" else ()
        moved = lambda h: env | {target.data[0]: env[target.data[0]] | {at: env[target.data[0]][at] + h}}
        try:
            with mpmath.workdps(40):
                h = mpmath.mpf(10) ** -15
                slope, wider = ((value(e, moved(s * h)) - value(e, moved(-s * h))) / (2 * s * h) for s in (1, 2))
                found = form(p.items(), env)
        except (Odd, OverflowError):
            continue
        if abs(slope - wider) < 1e-9 * (1 + abs(slope)):  # not at a kink
            assert close(found, slope), (e, by, env)
            compared += 1
    assert compared > 100


SUPPORTS = {"q": (0, 1), "k": (1, 3), "R": (-1, 2), "X": (1, 4)}


def moments_of(support):
    return lambda power: mpmath.mpf(int(sum(t**power for t in support))) / len(support)


def product_of_entries(r):
    """A product of a few random and fixed entries, summed over some of its indices."""
    over = [i, j, index("h", n), index("l", n)][: r.randint(1, 4)]
    where = lambda: r.choice([*over, lift(1)])
    factor = lambda: r.choice(
        [
            lambda: q[where()],
            lambda: random("k", n)[where()],
            lambda: R[where(), where()],
            lambda: X * 1,
            lambda: u[where()],
            lambda: eye(n)[where(), where()],
        ]
    )()
    body = factor()
    for _ in range(r.randint(1, 3)):
        body = body * factor() ** r.choice([1, 1, 2])
    summed = over[r.random() < 0.3 :]
    return total(body, *summed) if summed else body


def test_the_law_of_random_products_is_the_average_of_all_outcomes():
    r, compared = Random(4), 0
    joint = independent(q, random("k", n), R, X)
    while compared < 150:
        body, of = product_of_entries(r), r.choice([E, E, Var])
        try:
            p = understood(of(body), collect_facts((joint,)))
        except KernelError:
            continue
        size = r.choice([1, 2])
        names = sorted({s.data[0]: s for s in walk(body) if s.op == "symbol" and s.data[1] == "random"}.items())
        slots = [(name, at) for name, s in names for at in product(range(size), repeat=len(s.shape))]
        if p is None or len(slots) > 6:
            continue
        env = {"n": size, "u": dict(zip(product(range(size)), (mpmath.mpf(2), mpmath.mpf(-3))))}
        env |= {("moment", name): moments_of(support) for name, support in SUPPORTS.items()}
        for free in free_indices(body):
            env[free] = r.randrange(size)
            env["free", free.data[0]] = env[free] + 1
        outcomes = []
        for drawn in product((0, 1), repeat=len(slots)):
            here = dict(env)
            for (name, at), which in zip(slots, drawn):
                here.setdefault(name, {})
                here[name] = here[name] | {at: mpmath.mpf(SUPPORTS[name][which])}
            outcomes.append(value(body, here))
        average = sum(outcomes) / len(outcomes)
        expected = average if of is E else sum(o * o for o in outcomes) / len(outcomes) - average**2
        assert close(form(p.items(), env), expected), (of, body, size)
        compared += 1


def near_infinity(r, depth=3):
    """A random expression in n that has limits often: quotients of powers, roots, exponentials and logarithms close to one."""
    if depth <= 0:
        return r.choice([n, n, 1 / n, lift(r.choice([1, 2, -1, Fraction(1, 2)])), x**2])
    sub = lambda: near_infinity(r, depth - 1)
    return r.choice(
        [
            lambda: sub() + sub(),
            lambda: sub() * sub(),
            lambda: sub() / (1 + sub() ** 2),
            lambda: sub() / n,
            lambda: sub() - sub(),
            lambda: exp(sub() / n),
            lambda: log(1 + sub() ** 2 / n),
            lambda: sqrt(n**2 + sub() ** 2) - n,
            lambda: sqrt(1 + sub() ** 2 / n),
            lambda: (1 + x**2 / n) ** (r.choice([1, -1, 2]) * n / 2),
            lambda: n * (exp(sub() / n**2) - 1),
            lambda: n**3 * (exp(x / n) - 1 - x / n - x**2 / (2 * n**2)),
        ]
    )()


def test_the_limit_of_a_random_expression_is_its_value_far_out():
    r, compared = Random(5), 0
    for _ in range(800):
        e, facts = near_infinity(r, r.choice([2, 3])), collect_facts(())
        try:
            found = take_limit(normalize(e, facts), n, "oo", facts)
        except KernelError:
            continue
        if facts.unstated or not small(e, 50):
            continue
        at = mpmath.mpf(r.choice([1, 2, 3])) / 2
        with mpmath.workdps(120):
            far = [value(e, {"n": mpmath.mpf(10) ** power, "x": {(): at}}) for power in (24, 30)]
            expected = form(found.items(), {"x": {(): at}})
            assert abs(far[1] - expected) < 1e-4 * (1 + abs(expected)), (e, far, expected)
        compared += 1
    assert compared > 100
