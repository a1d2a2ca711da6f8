"""The PyTorch witness: both sides of a claim computed on tensors, and the snippets that the claim names computed beside them.

Every value is a pair: what fp64 gives, and a bound on how far that is from the exact result. The bound is carried through
the tree by running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 3.3): each rule adds what it makes
of the errors of its arguments to its own roundings, at most u = 2^-53 each, n of them at most gamma_n = nu / (1 - nu). Two
sides agree if they are no further apart than their two bounds together; no tolerance is chosen. What is not derived:
  - exp, log and powers are taken to err by at most 4u, and complex arithmetic by 8u, as their libraries promise or better;
  - a derivative by autograd: every path from the result to the variable is a product of slopes, and the error rules, given an
    error at the variable alone, add up the absolute values of these products. That sum, times gamma for 64 roundings a node;
  - Gauss-Hermite quadrature is exact for polynomials. For other functions, twice what two nodes fewer change is allowed for;
  - a snippet's own roundings are not followed: it may err by 16 times the larger bound of the claim's first and last expression.
Points where the bound comes out too large to tell anything are left out, and not counted. precision.py runs the same snippets in
fp32, fp16 and bf16.

The draws come from a seeded generator, not from hypothesis, which would take constants from whatever modules are loaded and
write a folder: a check is to say the same each time. Every draw keeps to what the claim assumes and to nothing else: entries
that are not said to be independent are also drawn equal. tests/kernel/test_torch_witness.py lets hypothesis draw as well.
It shares no code with the other witnesses.
"""

from __future__ import annotations

import inspect
import re
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from ..core.claims import Claim, Refused
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..errors import KernelError

torch.set_num_threads(1)

U = 2.0**-53  # the largest relative error of one rounding in fp64
TINY = 2.0**-1000  # more than any loss by underflow
COVER = 1.125  # covers the roundings made in computing the bounds themselves
SNIPPET = 16  # a snippet's roundings, against those of the expression it is compared with
SHARP = 2.0**-20  # a bound above this, relative to the values and to 1, tells nothing
SHAPES, POINTS, CANDIDATES = 10, 8, 128
OUTCOMES = 50_000  # of all random entries together
POINT, OUTCOME = 0, 1  # the first two axes of every value; the axes of the indices follow, and the tensor's own come last


class Disagrees(KernelError):
    """The numbers contradict the claim."""


class NotForTorch(KernelError):
    """A claim that cannot be settled by computing it."""


class Value(NamedTuple):
    """A tensor, and a bound on the error of each of its entries."""

    v: Tensor
    e: Tensor


def witness(claim: Claim):
    """(verdict, scope, note); raises Refused where the numbers contradict the claim or a snippet that it names."""
    try:
        return CHECKS[claim.kind](claim)
    except NotForTorch as reason:
        return "not applicable", "", str(reason)
    except Disagrees as problem:
        raise Refused(claim.file, claim.line, claim.id, f"the PyTorch witness does not confirm it: {problem}") from None


# Rounding


def gamma(n: int) -> float:
    return n * U / (1 - n * U)


def rounding(v: Tensor) -> Tensor:
    return v.abs() * (8 * U if v.is_complex() else U)


def tiny(where: Tensor) -> Tensor:
    """TINY where it is true. In float64: a Python float times booleans would be float32, in which TINY is 0."""
    return where.double() * TINY


def number(x) -> Value:
    """An exact number."""
    x = Fraction(x)
    v = torch.tensor(float(x), dtype=torch.float64)
    return Value(v, torch.zeros_like(v) if Fraction(float(x)) == x else rounding(v))


def two_product_error(a: Tensor, b: Tensor, p: Tensor) -> Tensor:
    """ab - p for p = fl(ab), exactly unless something overflows or underflows (Dekker)."""

    def halves(x):
        high = 134217729.0 * x
        high = high - (high - x)
        return high, x - high

    (a1, a2), (b1, b2) = halves(a), halves(b)
    return a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)


def two_sum_error(a: Tensor, b: Tensor, s: Tensor) -> Tensor:
    """a + b - s for s = fl(a + b), exactly (Knuth)."""
    part = s - a
    return (a - (s - part)) + (b - part)


# What a tree is evaluated at


class Trial:
    """Sizes, and values for the symbols at several points at once. Claims about rounding need to know which results are exact."""

    def __init__(self, trees: list, sizes: dict):
        self.sizes, self.values, self.weights = sizes, {}, None
        self.exactly = any(n.op == "rounded" for t in trees for n in walk(t))
        free = {i: None for t in trees for i in sorted(free_indices(t), key=lambda i: i.data[0])}
        self.axes = {i.data: 2 + k for k, i in enumerate(free)}
        self.leading = 2 + len(free) + max(map(depth, trees))

    def size(self, s: Expr) -> int:
        if s.op == "symbol" and s.data[0] not in self.sizes:
            raise Disagrees(f"no value is given for {s.data[0]}")
        return int(s.data) if s.op == "const" else self.sizes[s.data[0]]

    def shape(self, e: Expr) -> tuple:
        return tuple(map(self.size, e.shape))

    def lead(self, x: Value, rank: int = 0) -> Value:
        """A value of the tensor's own axes, or with points before them, with all the leading axes."""

        def put(t):
            points = t.shape[: t.dim() - rank] or (1,)
            return t.reshape(*points, *(1,) * (self.leading - 1), *t.shape[t.dim() - rank :])

        return Value(put(x.v), put(x.e))

    def put(self, symbol_: Expr, v: Tensor, e: Tensor | None = None):
        self.values[symbol_.data[0]] = self.lead(Value(v, torch.zeros_like(v) if e is None else e), len(symbol_.shape))

    def points(self, keep: Tensor):
        self.values = {name: Value(x.v[keep], x.e[keep]) if len(x.v) > 1 else x for name, x in self.values.items()}


def expressions(data):
    if isinstance(data, Expr):
        yield data
    elif isinstance(data, (tuple, list, dict)):
        for item in data.values() if isinstance(data, dict) else data:
            yield from expressions(item)


def involved(claim: Claim) -> list:
    """The trees of a claim and those that its snippets are given."""
    return [*claim.trees, *expressions([(arguments, dict(keywords)) for _, arguments, keywords in claim.code])]


def depth(e: Expr) -> int:
    """How many sums are nested."""
    return (e.op == "sum") + max(map(depth, e.args), default=0)


def evaluate(e: Expr, t: Trial, axes: dict | None = None, deep: int | None = None) -> Value:
    """e at all points of the trial; axes says which leading axis an index runs along, deep is the first that is still unused."""
    axes = t.axes if axes is None else axes
    deep = 2 + len(t.axes) if deep is None else deep
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForTorch(f"PyTorch has no counterpart of '{e.op}'")
    return rule(e, t, axes, deep)


def along(values: Tensor, axis: int, t: Trial) -> Tensor:
    return values.reshape(*(-1 if k == axis else 1 for k in range(t.leading)))


def aligned(parts: list, e: Expr) -> list:
    """Scalars beside a tensor, with axes of size one for the tensor's."""
    return [
        x if argument.shape or not e.shape else Value(*(y[(...,) + (None,) * len(e.shape)] for y in x))
        for x, argument in zip(parts, e.args)
    ]


def entrywise(rule):
    def run(e, t, axes, deep):
        return rule(t, *aligned([evaluate(a, t, axes, deep) for a in e.args], e))

    return run


def add(t, a, b):
    v = a.v + b.v
    own = torch.where(two_sum_error(a.v, b.v, v) == 0, 0.0, rounding(v)) if t.exactly else rounding(v)
    return Value(v, a.e + b.e + own)


def multiply(t, a, b):
    v = a.v * b.v
    own = rounding(v)
    if t.exactly:
        own = torch.where((two_product_error(a.v, b.v, v) == 0) & (v.abs() > TINY) | (v == 0), 0.0, own)
    lost = (v.abs() < TINY) & ((a.v != 0) | (a.e > 0)) & ((b.v != 0) | (b.e > 0))  # where a factor underflowed, the bound may as well
    return Value(v, a.v.abs() * b.e + a.e * b.v.abs() + a.e * b.e + own + tiny(lost))


def divide(t, a, b):
    if ((b.v == 0) & (b.e == 0)).any():
        raise Disagrees("something is divided by zero")
    v = a.v / b.v
    own = rounding(v)
    if t.exactly:
        back = v * b.v
        own = torch.where((back == a.v) & (two_product_error(v, b.v, back) == 0), 0.0, own)
    room = b.v.abs() - b.e
    return Value(v, torch.where(room > 0, (a.e + v.abs() * b.e) / room + own + tiny((v.abs() < TINY) & (a.v != 0)), inf))


def power(t, a, b):
    exponent = b.v.flatten()[0]
    if (b.e == 0).all() and (b.v == exponent).all() and exponent == exponent.round():
        n = int(exponent)
        if n == 2 and t.exactly:
            return multiply(t, a, a)
        if n < 0:
            return divide(t, Value(*map(torch.ones_like, (a.v, a.e)))._replace(e=torch.zeros_like(a.e)), power(t, a, Value(-b.v, b.e)))
        v = a.v**n
        spread = (a.v.abs() + a.e) ** n - a.v.abs() ** n
        own = (a.e > 0) * 8 * n * U * v.abs() + (4 * n if n > 1 else 0) * rounding(v)
        return Value(v, spread * (1 + 8 * U) + own + tiny((v.abs() < TINY) & ((a.v != 0) | (a.e > 0)) & (n > 1)))
    if a.v.is_complex() or b.v.is_complex():
        raise NotForTorch("a complex number to a power that is not whole")
    if (a.v < -a.e).any():
        raise Disagrees("a root is taken of a negative number")
    if ((a.v == 0) & (a.e == 0) & (b.v < -b.e)).any():
        raise Disagrees("something is divided by zero")
    v = a.v**b.v
    off = -torch.log1p(-a.e / a.v)  # how far the logarithm of the base may be
    e = v * (torch.expm1(b.v.abs() * off + a.v.log().abs() * b.e + b.e * off) + 4 * U)
    nothing = (a.v == 0) & (a.e == 0) & (b.v > b.e)
    return Value(v, torch.where(nothing, 0.0, torch.where(a.v > a.e, e, inf)))


def function(e, t, axes, deep):
    x = evaluate(e.args[0], t, axes, deep)
    if e.data == "abs":
        return Value(x.v.abs(), x.e + (rounding(x.v) if x.v.is_complex() else 0))
    if e.data == "exp":
        v = x.v.exp()
        return Value(v, v.abs() * (torch.expm1(x.e) + (16 if v.is_complex() else 4) * U) + tiny(v.abs() < TINY))
    if x.v.is_complex():
        raise NotForTorch("the logarithm of a complex number")
    if (x.v < -x.e).any() or ((x.v == 0) & (x.e == 0)).any():
        raise Disagrees("a logarithm is taken of a number that is not positive")
    v = x.v.log()
    return Value(v, torch.where(x.v > x.e, -torch.log1p(-x.e / x.v) + 4 * U * v.abs(), inf))


def softmax(e, t, axes, deep):
    s = evaluate(e.args[0], t, axes, deep)
    v = torch.softmax(s.v, dim=-1)
    below = s.v.amax(-1, keepdim=True) - s.v
    # Errors of the scores count twice, in the exponential and in the sum; so do 4u of each exponential. Subtracting the largest
    # score errs by u times the difference; in the sum that is less than u a term, for x exp(-x) < 1.
    off = 2 * s.e.amax(-1, keepdim=True) + U * (below + 2 * s.v.shape[-1] + 12)
    return Value(v, v * torch.expm1(off) + tiny(v < TINY))


def matmul(e, t, axes, deep):
    a, b = (evaluate(x, t, axes, deep) for x in e.args)
    if a.v.dtype != b.v.dtype:
        a, b = (Value(x.v.to(torch.complex128), x.e) for x in (a, b))
    row, column = len(e.args[0].shape) == 1, len(e.args[1].shape) == 1
    if row:
        a = Value(*(x.unsqueeze(-2) for x in a))
    if column:
        b = Value(*(x.unsqueeze(-1) for x in b))
    size, a_, b_ = a.v.shape[-1], a.v.abs(), b.v.abs()
    magnitude = a_ @ b_
    n = 8 * size if a.v.is_complex() else size
    some = (a_ + a.e > 0).double() @ (b_ + b.e > 0).double() > 0  # that product itself may underflow
    bound = gamma(n) * magnitude + a_ @ b.e + a.e @ (b_ + b.e) + tiny(some)
    result = Value(a.v @ b.v, bound)
    if column:
        result = Value(*(x.squeeze(-1) for x in result))
    if row:
        result = Value(*(x.squeeze(-1 if column else -2) for x in result))
    return result


def inverse(e, t, axes, deep):
    a = evaluate(e.args[0], t, axes, deep)
    blank = (a.v == 0) & (a.e == 0)
    if (blank.all(-1).any(-1) | blank.all(-2).any(-1)).any():
        raise Disagrees(f"{show(e.args[0])} is singular, and its inverse is taken")
    x, info = torch.linalg.inv_ex(a.v)
    n, x_ = x.shape[-1], x.abs()
    eye = torch.eye(n, dtype=torch.float64)
    # With R = I - XA, the inverse is (I + R + R^2 + ...)X, so it differs from X by at most (|R| + |R|^2 + ...)|X|.
    r = (eye - x @ a.v).abs() + gamma(n + 1) * (x_ @ a.v.abs() + eye) + x_ @ a.e
    rows = r.sum(-1, keepdim=True)
    room = 1 - rows.amax(-2, keepdim=True)
    fine = (room > 0) & (info == 0)[..., None, None]
    return Value(x, torch.where(fine, rows / room * x_.amax(-2, keepdim=True), inf))


def add_up(x: Value, axis: int, size: int) -> Value:
    """The sum along a leading axis, which stays, with size one; what does not run along it is taken size times."""
    if x.v.shape[axis] == 1:
        v = x.v * size
        return Value(v, x.e * size + (rounding(v) if size & size - 1 else 0))
    return Value(
        x.v.sum(axis, keepdim=True),
        x.e.sum(axis, keepdim=True) + gamma((8 if x.v.is_complex() else 1) * (size - 1)) * x.v.abs().sum(axis, keepdim=True),
    )


def sum_(e, t, axes, deep):
    return add_up(evaluate(e.args[0], t, {**axes, e.data: deep}, deep + 1), deep, t.size(e.data[1]))


def pick(x: Value, indices: tuple, t: Trial, axes: dict) -> Value:
    """The entry at each value of the indices: one that runs along a leading axis takes its own place there."""
    at = [along(torch.arange(n), k, t) for k, n in enumerate(x.v.shape[: t.leading])]
    for i in indices:
        at.append(
            torch.tensor(int(i.data) - 1).reshape((1,) * t.leading)
            if i.op == "const"
            else along(torch.arange(t.size(i.data[1])), axes[i.data], t)
        )
    # A leading axis of size one is broadcast against the index that runs along it.
    return Value(x.v[tuple(at)], x.e[tuple(at)] if x.e.shape == x.v.shape else x.e.expand(x.v.shape)[tuple(at)])


def array(e, t, axes, deep):
    parts = [evaluate(x, t, axes, deep) for x in e.args]
    dtype = torch.complex128 if any(x.v.is_complex() for x in parts) else torch.float64
    v = torch.stack(torch.broadcast_tensors(*(x.v.to(dtype) for x in parts)), -1)
    bounds = torch.stack([x.e.expand(v.shape[:-1]) for x in parts], -1)
    return Value(*(y.reshape(*v.shape[:-1], *t.shape(e)) for y in (v, bounds)))


def entry(e, t, axes, deep):
    return pick(evaluate(e.args[0], t, axes, deep), e.args[1:], t, axes)


def derivative(e, t, axes, deep):
    body, by = e.args
    if any(n.op in ("derivative", "rounded", "rank") or n.op == "function" and n.data == "abs" for n in walk(body)):
        raise NotForTorch("a derivative of what autograd does not differentiate, or not everywhere")
    target = by.args[0] if by.op == "entry" else by
    name, known = target.data[0], t.values[target.data[0]]
    # One copy of the variable for each value of the indices, so that one sum differentiates them all.
    lead = [max([1, *(x.v.shape[k] for x in t.values.values())]) if k in (POINT, OUTCOME) else 1 for k in range(t.leading)]
    for i in free_indices(e):
        lead[axes[i.data]] = t.size(i.data[1])
    leaf = known.v.expand(*lead, *known.v.shape[t.leading :]).clone().requires_grad_()
    step = 2.0**-26
    mark = torch.zeros_like(leaf) + step
    try:
        t.values[name] = Value(leaf, mark)
        at = evaluate(body, t, axes, deep)
        if at.v.is_complex():
            raise NotForTorch("the derivative of a complex number")
        slope = torch.autograd.grad(at.v.sum(), leaf, allow_unused=True)[0] if at.v.requires_grad else None
    finally:
        t.values[name] = known
    slope = torch.zeros_like(leaf) if slope is None else slope
    paths = at.e.detach()[(...,) + (None,) * len(target.shape)] / step
    found = Value(slope, gamma(64 * sum(1 for _ in walk(body))) * (paths + slope.abs()).expand(slope.shape))
    return pick(found, by.args[1:], t, axes) if by.op == "entry" else found


def rank(e, t, axes, deep):
    """How many singular values are certainly not zero: they err by no more than the matrix does."""
    a = evaluate(e.args[0], t, axes, deep)
    size = torch.linalg.matrix_norm(a.v)
    atol = COVER * torch.linalg.matrix_norm(a.e.expand(a.v.shape)) + 16 * max(a.v.shape[-2:]) * U * size
    v = torch.linalg.matrix_rank(a.v, atol=atol, rtol=torch.zeros_like(atol)).to(torch.float64)
    return Value(v, torch.zeros_like(v))


def rounded(e, t, axes, deep):
    """Rounding is monotone: where both ends of the interval round to one number, that is exact."""
    x = evaluate(e.args[0], t, axes, deep)
    near, low, high = (y.to(torch.float32).to(torch.float64) for y in (x.v, x.v - x.e, x.v + x.e))
    low, high = (torch.where(x.e == 0, near, y) for y in (low, high))
    return Value(near, torch.where(near.isfinite(), torch.where(low == high, 0.0, high - low), inf))


def average(x: Value, t: Trial) -> Value:
    if t.weights is None:
        raise NotForTorch("an expectation of what is not random")
    if x.v.shape[OUTCOME] == 1:
        return x
    w = t.weights
    mean = add_up(Value(w.v * x.v, w.v * x.e + w.e * x.v.abs() + rounding(w.v * x.v)), OUTCOME, w.v.shape[OUTCOME])
    one = x.v.narrow(OUTCOME, 0, 1)
    same = ((x.v == one) & (x.e == 0)).all(OUTCOME, keepdim=True)  # one number in every outcome is its own mean
    return Value(torch.where(same, one, mean.v), torch.where(same, 0.0, mean.e))


def expectation(e, t, axes, deep):
    return average(evaluate(e.args[0], t, axes, deep), t)


def variance(e, t, axes, deep):
    x = evaluate(e.args[0], t, axes, deep)
    first, second = average(x, t), average(multiply(t, x, x), t)
    square = multiply(t, first, first)
    return add(t, second, Value(-square.v, square.e))


def from_symbol(e, t, axes, deep):
    name = e.data[0]
    if e.data[1] != "size" and name not in t.values:
        raise Disagrees(f"no value is given for {name}")
    return t.values[name] if name in t.values else t.lead(number(t.size(e)))


def filled(make):
    def run(e, t, axes, deep):
        v = make(e, t)
        return t.lead(Value(v, torch.zeros_like(v)), v.dim())

    return run


def through(change):
    def run(e, t, axes, deep):
        return Value(*map(change, evaluate(e.args[0], t, axes, deep)))

    return run


def negative(e, t, axes, deep):
    x = evaluate(e.args[0], t, axes, deep)
    return Value(-x.v, x.e)


RULES = {
    "const": lambda e, t, axes, deep: t.lead(number(e.data)),
    "imaginary": lambda e, t, axes, deep: t.lead(Value(torch.tensor(1j, dtype=torch.complex128), torch.tensor(0.0, dtype=torch.float64))),
    "symbol": from_symbol,
    "index": lambda e, t, axes, deep: Value(
        *(
            along(y, axes[e.data], t)
            for y in (torch.arange(1.0, t.size(e.data[1]) + 1, dtype=torch.float64), torch.zeros(t.size(e.data[1]), dtype=torch.float64))
        )
    ),
    "defined": through(lambda x: x),
    "paren": through(lambda x: x),
    "add": entrywise(add),
    "neg": negative,
    "mul": entrywise(multiply),
    "div": entrywise(divide),
    "pow": entrywise(power),
    "matmul": matmul,
    "transpose": through(lambda x: x.transpose(-2, -1)),
    "inverse": inverse,
    "eye": filled(lambda e, t: torch.eye(t.size(e.shape[0]), dtype=torch.float64)),
    "fill": filled(lambda e, t: torch.full(t.shape(e), float(e.data), dtype=torch.float64)),
    "array": array,
    "sum": sum_,
    "entry": entry,
    "function": function,
    "softmax": softmax,
    "derivative": derivative,
    "rank": rank,
    "rounded": rounded,
    "expectation": expectation,
    "variance": variance,
}


# Drawing values at which the assumptions hold


def shapes(claim: Claim, largest: int):
    """All sizes one, all two, others that differ from one another, and sizes at random; for a claim without sizes, nothing, a few times."""
    found = symbols(*claim.trees)
    names = sorted(n for n, s in found.items() if s.data[1] == "size")
    nodes_ = [n for tree in claim.trees for n in walk(tree)]
    sized = any(s.op == "symbol" for n in nodes_ for s in (*n.shape, *([n.data[1]] if n.op in ("index", "sum") else [])))
    random = torch.Generator().manual_seed(1)
    yield {n: 1 for n in names}
    yield {n: 2 for n in names}
    if not names:
        yield from ({}, {})
        return
    for k in range(largest):  # each size is the smallest once
        yield {n: largest - (i + k) % largest for i, n in enumerate(names)}
    for _ in range(SHAPES - 2 - largest):
        yield {n: int(torch.randint(1, (largest if sized else 16 * largest) + 1, (), generator=random)) for n in names}


def entries(shape: tuple, random: torch.Generator, points: int, small: bool, rough: bool, coarse: bool) -> Tensor:
    """(points, *shape): zeros, whole numbers, ordinary ones, ones of very different size, one number throughout, zeros among others."""

    def normal(*size):
        return torch.randn(points, *(size or shape), generator=random, dtype=torch.float64)

    def whole(low, high, *size):
        return torch.randint(low, high + 1, (points, *(size or shape)), generator=random).double()

    one = (1,) * len(shape)
    variants = [
        whole(-2, 2),
        normal(),
        normal() * 2.0 ** whole(-6, 6),
        normal(*one).expand(-1, *shape),
        normal() * whole(0, 1),
        normal() * 2.0 ** whole(-9, 9, *one),
        normal(),
        whole(-9, 9),
    ]
    if small:  # quadrature converges fast only for small numbers
        variants = [v.clamp(-1, 1) / 2 for v in variants]
    if rough:  # down to where fp32 underflows
        variants[1::2] = [whole(-5, 5) * 2.0 ** whole(-150, -74), whole(-9, 9), whole(-9, 9) * 2.0**-149, normal()]
    kinds = torch.randint(0, 8, (points,), generator=random)
    kinds[::2] = torch.arange(points)[::2] // 2 % 8  # at every other point one kind for all symbols
    drawn = torch.stack(variants)[kinds, torch.arange(points)]
    drawn[0] = 0
    if coarse:  # at most 26 bits, so that fp64 holds the product of any two
        m, exponent = torch.frexp(drawn)
        drawn = torch.ldexp((m * 2**26).round() / 2**26, exponent)
    return drawn


def draw(claim: Claim, sizes: dict, seed: int, fewer: int = 0):
    """A trial at these sizes with up to POINTS points, or None if none was found at which the assumptions hold."""
    trees = involved(claim)
    t = Trial(trees, sizes)
    random = torch.Generator().manual_seed(seed)
    named = symbols(*trees)
    by = {a.kind: [b for b in claim.given if b.kind == a.kind] for a in claim.given}
    with_random = any(s.data[1] == "random" for s in named.values())
    filtered = any(a.kind in ("positive", "nonnegative", "nonzero", "invertible", "variance") for a in claim.given)
    groups = tied(by.get("product", ()))
    count = (1 if sizes else 4) * (CANDIDATES if filtered or any(map(is_tied, groups)) else POINTS)
    smooth = with_random and any(n.op == "function" for tree in trees for n in walk(tree))
    signs = {name: a.kind for a in claim.given if a.kind in ("positive", "nonnegative", "nonzero") for name in all_of(a.args[0])}
    for name, s in sorted(named.items()):
        if s.data[1] == "real":
            v = entries(t.shape(s), random, count, smooth, t.exactly and "in range" not in by, t.exactly)
            if name in signs and signs[name] != "nonzero":
                v = v.abs()
            if signs.get(name) in ("positive", "nonzero"):
                v = torch.where(v == 0, 1.0, v)
            if any(name in all_of(x) for a in by.get("representable", ()) for x in a.args):
                v = v.to(torch.float32).double()
            t.put(s, v)
    for group in groups:
        if not (put_tied(t, group, random, count) if is_tied(group) else put_product(t, group[0], random)):
            return None
    keep = torch.ones(count, dtype=torch.bool)
    for a in claim.given:
        keep &= holds(a, t)
    keep = keep.nonzero().flatten()[: POINTS if sizes else 4 * POINTS]
    if not len(keep):
        return None
    t.points(keep)
    if with_random and not put_random(t, claim, named, random, len(keep), seed % 2 == 1, fewer):
        return None
    return t


def all_of(x: Expr) -> list:
    """The name of the symbol all of whose entries x is: itself if it is a scalar, or an entry at open indices, no two the same."""
    if x.op == "paren":
        return all_of(x.args[0])
    if x.op == "entry" and all(i.op == "index" for i in x.args[1:]) and len(set(x.args[1:])) == len(x.args[1:]):
        x = x.args[0]
    return [x.data[0]] if x.op == "symbol" else []


def holds(a, t: Trial) -> Tensor:
    """At which points an assumption about numbers certainly holds."""
    if a.kind == "representable":
        found = [evaluate(x, t) for x in a.args]
        return torch.stack([((x.v.to(torch.float32).double() == x.v) & (x.e == 0)).flatten(1).all(1) for x in found]).all(0)
    elif a.kind == "product":
        x = evaluate(Expr("matmul", a.args[:2], a.args[0].shape[:-1] + a.args[1].shape[1:]), t).v
        good = x == (float(a.args[2].data) * torch.eye(*x.shape[-2:], dtype=torch.float64) if a.args[2].data else 0)
    elif a.kind == "invertible":
        x = t.values[a.args[0].data[0]]
        found, info = torch.linalg.inv_ex(x.v)
        good = (info == 0) & (torch.linalg.matrix_norm(found) * torch.linalg.matrix_norm(x.v) < 1e6)
    elif a.kind in ("positive", "nonnegative", "nonzero", "variance"):
        exactly, t.exactly = t.exactly, True  # so that a boundary such as h - 2 = 0 is not lost to a rounding that did not happen
        x = evaluate(a.args[-1], t)
        t.exactly = exactly
        good = {"positive": x.v > x.e, "nonzero": x.v.abs() > x.e}.get(a.kind, x.v >= x.e)
    else:
        return torch.tensor(True)
    return good.flatten(1).all(1)


def factors(a) -> list:
    """(matrix, is it transposed) of a product that is assumed."""
    return [(x.args[0] if x.op == "transpose" else x, x.op == "transpose") for x in a.args[:2]]


def tied(products) -> list:
    """The assumptions about products in groups; no two groups have a matrix in common."""
    groups = []
    for a in products:
        near = [g for g in groups if {x for b in g for x, _ in factors(b)} & {x for x, _ in factors(a)}]
        groups = [g for g in groups if g not in near] + [sum(near, []) + [a]]
    return groups


def is_tied(group: list) -> bool:
    """Is there more to a group than two matrices and their one product?"""
    return len(group) > 1 or factors(group[0])[0][0] == factors(group[0])[1][0]


def put_tied(t: Trial, group: list, random, points: int) -> bool:
    """Matrices with several products among them: each takes rows or columns to other ones, with a sign, at some points to none.

    At most points these do not have the products assumed; the others are kept. An axis along which products sum is turned, for
    all matrices that share it, by one matrix of fours, of halves and signs: that changes no product, and every entry is exact.
    """
    matrices = {x: t.shape(x) for a in group for x, _ in factors(a)}
    made = {}
    for x, (rows, columns) in matrices.items():
        chosen = torch.rand(points, max(rows, columns), generator=random).argsort(-1)[:, : min(rows, columns)]
        v = torch.eye(max(rows, columns), dtype=torch.float64)[chosen]  # (points, smaller, larger)
        v = v * (1 - 2 * torch.randint(0, 2, (*v.shape[:2], 1), generator=random))
        some = torch.randint(0, 2, (*v.shape[:2], 1), generator=random)
        v = torch.where(torch.arange(points).reshape(-1, 1, 1) % 4 == 3, v * some, v)
        made[x] = v if rows <= columns else v.mT
    half = torch.tensor([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=torch.float64) / 2
    inner = []  # sets of (matrix, axis) that products sum along
    for a in group:
        (x, turned), (y, other) = factors(a)
        pair = {(x, 0 if turned else 1), (y, 1 if other else 0)}
        near = [c for c in inner if c & pair]
        inner = [c for c in inner if c not in near] + [pair.union(*near)]
    for shared in inner:
        size = next(matrices[x][axis] for x, axis in shared)
        turn = torch.eye(size, dtype=torch.float64)
        for k in range(0, size - 3, 4):
            turn[k : k + 4, k : k + 4] = half
        for x, axis in shared:
            v = made[x] @ turn if axis else turn.mT @ made[x]
            made[x] = torch.where(torch.arange(points).reshape(-1, 1, 1) % 2 == 0, v, made[x])
    for x, v in made.items():
        t.put(x, v)
    return True


def put_product(t: Trial, a, random) -> bool:
    """Two matrices whose product is exactly 0 or the identity: such a pair with a simple form, and a change of basis of whole numbers."""
    ends = factors(a)
    (n, m), (_, p) = (t.shape(x) for x in a.args[:2])
    change, back = torch.eye(m, dtype=torch.float64), torch.eye(m, dtype=torch.float64)
    for _ in range(2 * (m - 1)):
        i, j = torch.randperm(m, generator=random)[:2]
        shear = torch.zeros(m, m, dtype=torch.float64)
        shear[i, j] = 1 - 2 * torch.randint(0, 2, (), generator=random)
        change, back = change + shear @ change, back - back @ shear
    points = max(len(x.v) for x in t.values.values())
    left, right = (torch.randint(-3, 4, (points, *shape), generator=random).double() for shape in ((n, m), (m, p)))
    if a.args[2].data:
        if m < n:
            return False
        scales = 2.0 ** torch.randint(-3, 4, (points, n), generator=random).double()
        left[..., :n], left[..., n:] = torch.diag_embed(scales * float(a.args[2].data)), 0
        right[..., :n, :] = torch.diag_embed(1 / scales)
    else:
        part = int(torch.randint(0, m + 1, (), generator=random))
        left[..., part:], right[..., :part, :] = 0, 0
    for (x, turned), v in zip(ends, (left @ back, change @ right)):
        t.put(x, v.mT if turned else v)
    return True


def nodes(k: int):
    """Gauss-Hermite nodes and weights for the standard normal law: exact for polynomials of degree below 2k (Golub and Welsch)."""
    off = torch.arange(1, k, dtype=torch.float64).sqrt()
    z, vectors = torch.linalg.eigh(torch.diag(off, 1) + torch.diag(off, -1))
    return z, vectors[0] ** 2


def degree(e: Expr, name: str) -> float:
    """A bound on the degree of e in the entries of a random symbol; infinite for other functions that are smooth everywhere."""
    below = [degree(a, name) for a in e.args]
    if e.op == "symbol":
        return int(e.data[0] == name)
    if not any(below):
        return 0
    if e.op in ("add", "neg", "paren", "defined", "sum", "entry", "transpose", "expectation"):
        return max(below)
    if e.op in ("mul", "matmul") or e.op == "div" and averaged(e.args[1]):
        return sum(below)
    if e.op == "variance":
        return 2 * below[0]
    if e.op == "pow" and averaged(e):
        return below[0]
    if e.op == "pow" and not symbols(e.args[1]):
        exponent = float(evaluate(e.args[1], Trial([e], {})).v)
        if exponent >= 0 and exponent == int(exponent):
            return int(exponent) * below[0]
    if e.op == "softmax" or e.op == "function" and e.data == "exp":
        return inf
    raise NotForTorch(f"quadrature needs a function without poles and kinks, which {show(e)} need not be")


def averaged(e: Expr) -> bool:
    """Is every random symbol in e inside an expectation?"""
    if e.op in ("expectation", "variance"):
        return True
    return not (e.op == "symbol" and e.data[1] == "random") and all(map(averaged, e.args))


def put_random(t: Trial, claim: Claim, named: dict, random, points: int, apart: bool, fewer: int) -> bool:
    """All outcomes of the random entries. Entries not said to be independent are one variable, or (apart) independent ones."""
    names = sorted(n for n, s in named.items() if s.data[1] == "random")
    groups = [{x.data[0] for x in a.args} for a in claim.given if a.kind == "independent"]
    sources = {}  # entry -> number of the normal variable that it is made from
    for name in names:
        for place in product(*map(range, t.shape(named[name]))):
            barred = {sources[other] for other in sources if apart or any({name, other[0]} <= g for g in groups)}
            sources[name, place] = next(k for k in range(len(sources) + 1) if k not in barred)
    count = 1 + max(sources.values())
    gaussian = {x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args}
    trees = (claim.start, *(s.expr for s in claim.steps))
    degrees = [degree(tree, name) for tree in trees for name in names] if gaussian else [0]
    shared = len(sources) > count
    if max(degrees) == inf:
        k = {1: 48, 2: 40}.get(count, 12) - fewer
    else:
        k = max(3, (2 if gaussian < set(names) else 1) * (len(names) if shared else 1) * max(degrees) // 2 + 1)
    if k**count > OUTCOMES:
        return False
    z, w = nodes(k)
    at = torch.cartesian_prod(*[torch.arange(k)] * count).reshape(-1, count)
    slack = 16 * k * U
    weights = w[at].prod(-1)
    axis = (1, -1) + (1,) * (t.leading - 2)
    t.weights = Value(weights.reshape(axis), ((w[at] + slack).prod(-1) - weights).reshape(axis))
    stated = {(a.kind, a.args[0].data[0]): a.args[1] for a in claim.given if a.kind in ("mean", "variance")}
    for name in names:
        shape = t.shape(named[name])

        def scalar(kind, otherwise):
            x = evaluate(stated[kind, name], t) if (kind, name) in stated else t.lead(Value(otherwise, torch.zeros_like(otherwise)))
            return Value(*(y[(...,) + (None,) * len(shape)] for y in x))

        centre = scalar("mean", torch.randn(points, generator=random, dtype=torch.float64))
        unstated = torch.rand(points, generator=random, dtype=torch.float64) + 0.5
        unstated[-1] = 0  # what is not said to vary may be one number
        width = power(t, scalar("variance", unstated), number(Fraction(1, 2)))
        own = z[at[:, [sources[name, place] for place in product(*map(range, shape))]]].reshape(1, -1, *(1,) * (t.leading - 2), *shape)
        if name not in gaussian:  # a lopsided law with mean 0 and variance 1
            angle = torch.rand(points, generator=random, dtype=torch.float64).reshape(-1, *(1,) * (own.dim() - 1)) * 6.28
            own = angle.cos() * own + angle.sin() * (own * own - 1) / 2**0.5
        t.values[name] = add(t, centre, multiply(t, width, Value(own, slack * (1 + own * own))))
    return True


# Comparing


def settled(*parts: Value) -> Tensor:
    """Where all values exist and their bounds tell something."""
    size = torch.stack(torch.broadcast_tensors(*(x.v.abs() for x in parts))).amax(0).clamp(min=1)
    return torch.stack(torch.broadcast_tensors(*(x.v.isfinite() & (x.e <= SHARP * size) for x in parts))).all(0)


def counted(good: Tensor) -> int:
    """At how many points something is settled everywhere."""
    return int(good.flatten(1).all(1).sum())


def first(bad: Tensor, *parts: Value) -> list:
    at = tuple(bad.nonzero()[0])
    return [x.v.expand(bad.shape)[at].item() for x in parts]


def compare(left: Value, right: Value, what: str, sizes: dict, factor: float = 1.0) -> Tensor:
    good = settled(left, right)
    bad = good & ((left.v - right.v).abs() > COVER * factor * (left.e + right.e))
    if bad.any():
        a, b = first(bad, left, right)
        raise Disagrees(f"{what}{at_sizes(sizes)}: {a:.17g} and {b:.17g}")
    return good


def at_sizes(sizes: dict) -> str:
    return " at " + ", ".join(f"{n} = {k}" for n, k in sorted(sizes.items())) if sizes else ""


def is_smooth_law(claim: Claim) -> bool:
    """Is there something to average over a Gaussian that is no polynomial?"""
    names = [x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args]
    return any(degree(tree, n) == inf for tree in (claim.start, *(s.expr for s in claim.steps)) for n in names)


def values(claim: Claim, trees: list, sizes: dict, seed: int):
    """(trial, the value of each tree), or None where no values were found. Quadrature has its own error, which is estimated."""
    t = draw(claim, sizes, seed)
    if t is None:
        return None
    found = [evaluate(e, t) for e in trees]
    if is_smooth_law(claim):
        coarse = draw(claim, sizes, seed, fewer=2)
        found = [Value(x.v, x.e + 2 * (x.v - y.v).abs()) for x, y in zip(found, [evaluate(e, coarse) for e in trees])]
    return t, found


def identity(claim: Claim):
    trees = [claim.start, *(s.expr for s in claim.steps)]
    return over_shapes(
        claim,
        trees,
        lambda t, found, sizes: [
            compare(a, b, f"step {k}, " * (len(trees) > 2) + "the two sides differ", sizes)
            for k, (a, b) in enumerate(zip(found, found[1:]), 1)
        ],
        ends=(0, -1),
    )


def inequality(claim: Claim):
    left, right = claim.start, claim.steps[0].expr

    def check(t, found, sizes):
        a, b, first_, second = found
        good = settled(a, b)
        bad = good & (a.v - b.v > COVER * (a.e + b.e))
        if bad.any():
            raise Disagrees("the left side is larger{}: {:.17g} and {:.17g}".format(at_sizes(sizes), *first(bad, a, b)))
        if left.op != "rank" and (settled(second) & (second.v < -COVER * second.e)).any():
            raise Disagrees(f"the certificate is negative{at_sizes(sizes)}")
        if left.op == "rank" and (b.v != t.size(claim.because[0].shape[-1])).any():
            raise Disagrees(f"the factorisation goes through {show(claim.because[0].shape[-1])} columns")
        compare(first_, second, "it is not what the certificate says", sizes)
        return [good]

    return over_shapes(claim, [left, right, *certified(claim)], check)


def certified(claim: Claim) -> list:
    """The two things that are equal if the certificate is good."""
    left = claim.start
    if left.op != "rank":
        return [claim.steps[0].expr - left, claim.because[0]]
    if [len(factor.shape) for factor in claim.because] != [2, 2] or (claim.because[0] @ claim.because[1]).shape != left.args[0].shape:
        raise Disagrees("the certificate is not two matrices whose product has the shape of the matrix")
    return [left.args[0], claim.because[0] @ claim.because[1]]


def definition(claim: Claim):
    if not claim.code:
        raise NotForTorch("a definition has nothing to prove, and names no code")
    return over_shapes(claim, [claim.steps[0].expr], lambda t, found, sizes: [settled(*found)])


def over_shapes(claim: Claim, trees: list, check, ends: tuple = (0,)):
    """Check at every shape, and snippets against the trees at the ends; the verdict, with how many shapes and points it rests on."""
    from ..pytorch import precision  # it imports this module

    tried, points, drawn, ledger = set(), 0, 0, precision.Ledger(claim)
    laws = any(s.data[1] == "random" for s in symbols(*claim.trees).values())
    for seed, sizes in enumerate(shapes(claim, 3 if laws else 4)):
        found = values(claim, trees, sizes, seed)
        if found is None:
            continue
        t, found = found
        goods = check(t, found, sizes)
        compare_code(claim, claim.code, t, [found[k] for k in ends])
        ledger.compare(t, [trees[k] for k in ends])
        good = torch.stack(torch.broadcast_tensors(*(g.reshape(len(g), -1).all(1) for g in goods))).all(0)
        number_ = max(len(x.v) for x in (*t.values.values(), *found))
        drawn += number_
        points += int(good.expand(number_).sum())
        if good.any():
            tried.add(tuple(sizes.items()))
    if not drawn:
        raise NotForTorch("no values were found at which its assumptions hold")
    if 4 * points < drawn:
        raise NotForTorch("the rounding bounds are too large to tell anything at most points")
    return "proved", "numbers only", note(claim, len(tried), points) + ledger.note()


def note(claim: Claim, tried: int, points: int) -> str:
    shapes_ = f"{tried} {'shape' if tried == 1 else 'shapes'}, " if any(s.data[1] == "size" for s in symbols(*claim.trees).values()) else ""
    return f"{shapes_}{points} points in fp64, within the rounding bound carried along" + also(claim)


def also(claim: Claim) -> str:
    named = ", ".join(dict.fromkeys(names(claim.code)))
    return f"; also {named}" if named else ""


def names(code):
    """The snippets that are named, those among the arguments of others too."""
    for part in code:
        if isinstance(part, str) and part.startswith("snippets."):
            yield part
        elif isinstance(part, tuple):
            yield from names(part)


# Limits and refutations


def limit(claim: Claim):
    """As the variable goes on by factors of four, the distance shrinks by a quarter each time at least, or is within its bound."""
    variable, to = claim.towards
    if to not in ("oo", 0):
        raise NotForTorch(f"a limit towards {to}")
    names = sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")
    trials = [draw(claim, {n: size(k) for k, n in enumerate(names)}, 0) for size in ((lambda k: 1), (lambda k: k + 2))[: 2 if names else 1]]
    if not any(trials):
        raise NotForTorch("no values were found at which its assumptions hold")
    told = sum(approached(claim, variable, to, t) for t in trials if t)
    if not told:
        raise NotForTorch("near the limit nothing that fp64 holds could be compared")
    return "proved", "numbers only", f"{told} points in fp64, closer at each step by a factor of four" + also(claim)


def approached(claim: Claim, variable: Expr, to, t: Trial) -> int:
    """At how many points the two sides came closer, as they should; Disagrees where they did not."""
    before, told, name = None, 0, variable.data[0]
    for k in range(13):
        at = Fraction(4) ** (k if to == "oo" else -k)
        t.values[name] = t.lead(number(at))
        if variable.data[1] == "size":
            t.sizes[name] = int(at)
        a, b = (evaluate(e, t) for e in (claim.start, claim.steps[0].expr))
        good, far, bound = settled(a, b), (a.v - b.v).abs(), COVER * (a.e + b.e)
        if before is not None and k > 6:
            told += counted(good)
            bad = good & (far > bound) & (far > 0.75 * before)
            if bad.any():
                raise Disagrees(
                    "at {} = {:g} the two sides are {:.17g} and {:.17g}, and they do not come closer".format(
                        name, float(at), *first(bad, a, b)
                    )
                )
        before = far
        compare_code(claim, claim.code, t, [a])
    return told


def refutation(claim: Claim):
    left, right = claim.start, claim.steps[0].expr
    named = symbols(*claim.trees)
    t = Trial(involved(claim), {})
    leaves = []
    for name, value in claim.at:
        s = named[name]
        if s.data[1] == "size":
            t.sizes[name] = int(value.data)
            continue
        flat, lengths = flatten(value)
        t.sizes.update({n.data[0]: k for n, k in zip(s.shape, lengths) if n.op == "symbol"})
        leaves.append((s, flat, lengths))
    for s, flat, lengths in leaves:
        found = [evaluate(x, t) for x in flat]
        t.put(s, *(torch.stack([y.flatten()[0] for y in part]).reshape(1, *lengths) for part in zip(*found)))
    if any(n.op in ("expectation", "variance") for e in (left, right) for n in walk(e)):
        return refuted_law(claim, t)
    for a in claim.given:
        if not holds(a, t).all():
            raise Disagrees("the values given break an assumption of the claim")
    a, b = evaluate(left, t), evaluate(right, t)
    if a.v.shape[t.leading :] == b.v.shape[t.leading :]:
        if not (a.v.isfinite().all() and b.v.isfinite().all() and (breaks(claim.refuted, a, b) & settled(a, b)).any()):
            raise Disagrees(f"the two sides do not {FAR[claim.refuted]} at the values given")
    elif claim.refuted == "<=":
        raise Disagrees("the two sides have different shapes")
    from ..pytorch import precision

    ledger = precision.Ledger(claim)
    for k, (side, tree) in enumerate(zip((a, b), (left, right))):  # the first snippet computes the left side, the second the right
        compare_code(claim, claim.code[k : k + 1], t, [side])
        ledger.compare(t, [tree], [k])
    return "refuted", "numbers only", "both sides computed in fp64 at the counterexample" + also(claim) + ledger.note()


FAR = {"=": "differ", "<=": "stand the other way round"}


def breaks(relation: str, a: Value, b: Value) -> Tensor:
    """Where the two are further apart than their bounds; where left <= right is refuted, the left one larger."""
    if relation == "<=" and (a.v.is_complex() or b.v.is_complex()):
        raise Disagrees("complex numbers have no order")
    return ((a.v - b.v).abs() if relation == "=" else a.v - b.v) > COVER * (a.e + b.e)


def refuted_law(claim: Claim, at: Trial):
    """The sides differ, and have one value each for all distributions with the stated moments that are tried."""
    sides = []
    for seed in range(4):
        t = draw(claim, at.sizes, seed)
        if t is not None:
            t.values |= at.values
            sides.append([evaluate(e, t) for e in (claim.start, claim.steps[0].expr)])
    if not sides:
        raise NotForTorch("no values were found at which its assumptions hold")
    for of_one_side in zip(*sides):
        one = Value(*(y[:1] for y in of_one_side[0]))
        for x in of_one_side:
            apart = settled(x, one) & ((x.v - one.v).abs() > COVER * (x.e + one.e))
            if apart.any():
                raise Disagrees("a side has no one value under the stated assumptions: {:.6g} and {:.6g}".format(*first(apart, x, one)))
    if not any((settled(a, b) & breaks(claim.refuted, a, b)).any() for a, b in sides):
        raise Disagrees(f"the two sides do not {FAR[claim.refuted]} for distributions with the stated moments")
    return "refuted", "numbers only", "all outcomes of distributions with the stated moments, in fp64"


def flatten(value):
    """(leaves in order, lengths) of nested tuples."""
    if not isinstance(value, tuple):
        return [value], ()
    parts = [flatten(x) for x in value]
    return [leaf for part, _ in parts for leaf in part], (len(parts), *parts[0][1])


# Snippets


def compare_code(claim: Claim, code: tuple, t: Trial, sides: list):
    """Each snippet against the expressions that it computes, at every point where these are settled."""
    good, free = settled(*sides), free_order(claim)
    points = max(len(x.v) for x in (*sides, *t.values.values())) if code else 0
    for point in range(points):
        if not at_point(good, point).all():
            continue
        wanted = [shown(Value(at_point(x.v, point), at_point(x.e, point)), t, free) for x in sides]
        room = COVER * SNIPPET * torch.stack([x.e + U * x.v.abs() for x in wanted]).amax(0)
        for name, arguments, keywords in code:
            results = call(name, arguments, dict(keywords), t, point)
            for result, (want, _) in product(results if isinstance(results, tuple) else (results,), wanted):
                result = torch.as_tensor(result, dtype=want.dtype)
                if result.shape != want.shape:
                    raise Disagrees(f"{name} gives shape {tuple(result.shape)} where the claim has {tuple(want.shape)}{at_sizes(t.sizes)}")
                bad = ~((result - want).abs() <= room)
                if bad.any():
                    where = tuple(bad.nonzero()[0])
                    raise Disagrees(
                        f"{name} gives {result[where].item():.17g} where the claim has {want[where].item():.17g}{at_sizes(t.sizes)}"
                    )


def at_point(x: Tensor, point: int) -> Tensor:
    return x[point : point + 1] if len(x) > 1 else x


def free_order(claim: Claim) -> list:
    """The free indices in the order in which the claim first has them; a snippet's result has an axis for each."""
    found = []
    for tree in (claim.start, *(s.expr for s in claim.steps)):
        free = free_indices(tree)
        found += [n for n in walk(tree) if n.op == "index" and n in free and n not in found]
    return list(dict.fromkeys(found))


def shown(x: Value, t: Trial, free: list) -> Value:
    """At one point: an axis for each free index, then the tensor's own."""

    def view(y):
        y = y.expand(
            *(
                t.size(next(i.data[1] for i in free if t.axes[i.data] == k)) if k in {t.axes[i.data] for i in free} else n
                for k, n in enumerate(y.shape)
            )
        )
        rest = [k for k in range(t.leading) if k not in {t.axes[i.data] for i in free}]
        y = y.permute(*rest, *(t.axes[i.data] for i in free), *range(t.leading, y.dim()))
        return y.reshape(y.shape[len(rest) :])

    if x.v.shape[OUTCOME] > 1:
        raise NotForTorch("a snippet of a random number")
    return Value(view(x.v), view(x.e))


def call(name: str, arguments: tuple, keywords: dict, t: Trial, point: int, dtype: torch.dtype = torch.float64):
    """A snippet's result at one point. A name may end in [k], for one of several results; an argument may be a call itself."""
    matched = re.fullmatch(r"(snippets(?:\.\w+)+)\.(\w+)(?:\[(\d+)\])?", name)
    try:
        run = getattr(import_module(matched[1]), matched[2])
    except (TypeError, ImportError, AttributeError):
        raise Disagrees(f"there is no function {name}") from None
    try:
        bound = inspect.signature(run).bind(*arguments, **keywords)
    except TypeError as error:
        raise Disagrees(f"{name} cannot be called so: {error}") from None

    def argument(x, kind):
        if isinstance(x, tuple) and x and isinstance(x[0], str) and x[0].startswith("snippets."):
            given = x[-1] if isinstance(x[-1], dict) else {}
            return call(x[0], x[1 : len(x) - bool(given)], given, t, point, dtype)
        if not isinstance(x, Expr):
            return x
        if x.op == "symbol" and x.data[1] == "size":
            return t.sizes[x.data[0]]
        value = evaluate(x, t)
        one = shown(Value(*(at_point(y, point) for y in value)), t, sorted(free_indices(x), key=lambda i: t.axes[i.data])).v
        return one.item() if one.dim() == 0 and "float" in str(kind) else one if one.is_complex() else one.to(dtype)

    for parameter, x in bound.arguments.items():
        taken = bound.signature.parameters[parameter]
        if taken.kind is taken.VAR_POSITIONAL:
            bound.arguments[parameter] = tuple(argument(y, taken.annotation) for y in x)
        elif taken.kind is taken.VAR_KEYWORD:
            bound.arguments[parameter] = {k: argument(y, taken.annotation) for k, y in x.items()}
        else:
            bound.arguments[parameter] = argument(x, taken.annotation)
    try:
        result = run(*bound.args, **bound.kwargs)
    except KernelError:
        raise
    except Exception as error:
        raise Disagrees(f"{name} stopped with {type(error).__name__}: {error}") from None
    return result[int(matched[3])] if matched[3] else result


CHECKS = {
    "identity": identity,
    "chain": identity,
    "law": identity,
    "inequality": inequality,
    "limit": limit,
    "refutation": refutation,
    "definition": definition,
}
