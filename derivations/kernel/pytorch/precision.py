"""Snippets in fp32, fp16 and bf16: each result must lie within a rounding bound of the claim's expression on the same inputs.

The inputs are rounded to the format first, so that they are exact in it. The expression is then evaluated in fp64 with a bound
beside every value: how far a computation in the format may be from it if each operation does what the standard model says,
fl(a op b) = (a op b)(1 + delta) with |delta| at most u, or is off by the smallest positive number where it underflows. The rules
are those of the page associativity/tolerance and name its claims. They hold for any order of summation, and for sums in a
wider format. Nothing is chosen. What is assumed: exp, log and roots err by at most one unit in the last place, which is 2u;
tests/associativity/test_tolerance.py measures exp at every number of fp16 and bf16. fp64's own errors are 2^-29 of these bounds.

  - A point where a result of zero would pass tells nothing, and is not counted. That happens where a step may overflow, where
    a sum is so long that no digit is certain, and where everything cancels.
  - A snippet may compute the first expression of the claim or the last one, but one of the two at all points.
  - It may add in any order, and subtract the largest score before a softmax. One that takes other steps than its expression is
    held to the bound all the same, and refused if it needs more: its claim should state what it computes.
  - A snippet that cannot run in a format is not passed but reported, with the reason; so is one outside the bound of one side
    where no bound is derived for the other, such as a derivative. Limits are taken in fp64 alone.
"""

from __future__ import annotations

from copy import copy
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from ..core.claims import Claim
from ..core.expr import Expr
from ..pytorch import witness as tw
from .witness import Disagrees, NotForTorch, Trial, Value

SLACK = 1 + 2.0**-20  # covers fp64's errors, in the value and in the bound


class Format(NamedTuple):
    name: str
    dtype: torch.dtype

    @property
    def u(self) -> float:
        return torch.finfo(self.dtype).eps / 2

    @property
    def tiny(self) -> float:
        """The smallest positive number: no less than any loss by underflow."""
        return torch.finfo(self.dtype).smallest_normal * torch.finfo(self.dtype).eps

    @property
    def largest(self) -> float:
        return torch.finfo(self.dtype).max

    def gamma(self, n: int) -> float:
        return n * self.u / (1 - n * self.u) if n * self.u < 1 else inf


FORMATS = (Format("fp32", torch.float32), Format("fp16", torch.float16), Format("bf16", torch.bfloat16))


# The bound


def bounded(e: Expr, t: Trial, f: Format, axes: dict | None = None, deep: int | None = None) -> Value:
    """e in fp64 at all points, and how far a computation in the format may be from it; infinite where it may overflow."""
    axes = t.axes if axes is None else axes
    deep = 2 + len(t.axes) if deep is None else deep
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForTorch(f"no rounding bound is derived for '{e.op}'")
    x = rule(e, t, f, axes, deep)
    if x.v.is_complex():
        raise NotForTorch("no rounding bound is derived for complex numbers")
    return Value(x.v, torch.where(x.v.abs() + x.e <= f.largest, x.e, inf))  # also where either is NaN


def parts(e: Expr, t: Trial, f: Format, axes: dict, deep: int) -> list:
    return tw.aligned([bounded(a, t, f, axes, deep) for a in e.args], e)


def operation(v: Tensor, e: Tensor, f: Format, roundings: int = 1, underflows: bool = True) -> Value:
    """One operation on inexact arguments: e is what their errors make of it, and its own roundings come on top.

    Their number and gamma: associativity/rounding#error-grows and associativity/tolerance#error-below.
    """
    return Value(v, e + f.gamma(roundings) * (v.abs() + e) + underflows * f.tiny * ((v != 0) | (e > 0)).double())


def exact(rule):
    """No rounding: both value and bound are those that fp64 has for the parts, rearranged."""

    def run(e, t, f, axes, deep):
        x = bounded(e.args[0], t, f, axes, deep)
        return Value(rule(x.v), x.e) if rule in (torch.neg, torch.abs) else Value(rule(x.v), rule(x.e))

    return run


def fixed(e, t, f, axes, deep):
    """A number, rounded to the format if it is not one of its numbers."""
    x = tw.RULES[e.op](e, t, axes, deep)
    same = x.v.to(f.dtype).to(x.v.dtype) == x.v
    return Value(x.v, torch.where(same & (x.e == 0), 0.0, f.u * x.v.abs() + f.tiny * (x.v != 0).double()))


def symbol(e, t, f, axes, deep):
    if e.data[1] == "random":
        raise NotForTorch("no rounding bound is derived for a random number")
    return tw.RULES["symbol"](e, t, axes, deep) if e.data[1] == "real" else fixed(e, t, f, axes, deep)


def add(e, t, f, axes, deep):
    a, b = parts(e, t, f, axes, deep)
    nothing = ((a.v == 0) & (a.e == 0)) | ((b.v == 0) & (b.e == 0))
    result = operation(a.v + b.v, a.e + b.e, f, underflows=False)
    return Value(result.v, torch.where(nothing, a.e + b.e, result.e))


def multiply(e, t, f, axes, deep):
    a, b = parts(e, t, f, axes, deep)
    return operation(a.v * b.v, a.v.abs() * b.e + a.e * b.v.abs() + a.e * b.e, f)


def divide(e, t, f, axes, deep):
    a, b = parts(e, t, f, axes, deep)
    v, room = a.v / b.v, b.v.abs() - b.e
    return operation(v, torch.where(room > 0, (a.e + v.abs() * b.e) / room, inf), f)


def power(e, t, f, axes, deep):
    a, b = parts(e, t, f, axes, deep)
    exponent = b.v.flatten()[0]
    n = abs(int(exponent)) if (b.v == exponent).all() and (b.e == 0).all() and exponent == exponent.round() else None
    if n == 1 and exponent > 0:
        return a
    v = a.v**b.v
    if n is not None and exponent >= 0:
        return operation(v, (a.v.abs() + a.e) ** n - a.v.abs() ** n, f, n)
    off = -torch.log1p(-a.e / a.v.abs())
    e_ = v.abs() * torch.expm1(b.v.abs() * off + a.v.abs().log().abs() * b.e + b.e * off)
    sure = (a.v.abs() > a.e) & ((a.v > 0) if n is None else torch.tensor(True))
    nothing = (a.v == 0) & (a.e == 0) & (b.v > b.e)
    return operation(v, torch.where(nothing, 0.0, torch.where(sure, e_, inf)), f, 2 if n is None else n + 1)


def function(e, t, f, axes, deep):
    if e.data == "abs":
        return exact(torch.abs)(e, t, f, axes, deep)
    x = bounded(e.args[0], t, f, axes, deep)
    if e.data == "exp":
        v = x.v.exp()
        return operation(v, v * torch.expm1(x.e), f, 2)
    return operation(x.v.log(), torch.where(x.v > x.e, -torch.log1p(-x.e / x.v), inf), f, 2)


def softmax(e, t, f, axes, deep):
    s = bounded(e.args[0], t, f, axes, deep)
    m = s.v.shape[-1]
    v = torch.softmax(s.v, dim=-1)
    off = s.e.amax(-1, keepdim=True)
    spread = s.v.amax(-1, keepdim=True) - s.v.amin(-1, keepdim=True) + 2 * off  # of the scores computed, at most
    # associativity/tolerance#perturbed, #above and #below: each exponential is off by a factor of at most exp(off + u spread) and two
    # roundings, above and below the line; then m - 1 additions, a division, and one for what underflows in the sum.
    factor = torch.exp(2 * (off + f.u * spread)) * (1 + f.gamma(m + 5)) - 1
    return Value(v, v * factor + 3 * f.tiny)


def matmul(e, t, f, axes, deep):
    """Products and sums: associativity/rounding#error-of-a-sum, associativity/tolerance#scores, #output-above and #output-below."""
    a, b = (bounded(x, t, f, axes, deep) for x in e.args)
    row, column = len(e.args[0].shape) == 1, len(e.args[1].shape) == 1
    a = Value(*(x.unsqueeze(-2) for x in a)) if row else a
    b = Value(*(x.unsqueeze(-1) for x in b)) if column else b
    n = a.v.shape[-1]
    magnitude = (a.v.abs() + a.e) @ (b.v.abs() + b.e)
    e_ = a.v.abs() @ b.e + a.e @ (b.v.abs() + b.e) + f.gamma(n) * magnitude + n * f.tiny * (magnitude > 0).double()
    result = Value(a.v @ b.v, torch.where(magnitude * (1 + f.gamma(n)) <= f.largest, e_, inf))
    result = Value(*(x.squeeze(-1) for x in result)) if column else result
    return Value(*(x.squeeze(-1 if column else -2) for x in result)) if row else result


def sum_(e, t, f, axes, deep):
    """associativity/rounding#error-of-a-sum."""
    x = bounded(e.args[0], t, f, {**axes, e.data: deep}, deep + 1)
    n = t.size(e.data[1])
    if x.v.shape[deep] == 1:
        x = Value(*(y.expand(*(n if k == deep else size for k, size in enumerate(y.shape))) for y in x))
    magnitude, e_ = ((x.v.abs() + x.e).sum(deep, keepdim=True), x.e.sum(deep, keepdim=True))
    fits = magnitude * (1 + f.gamma(n - 1)) <= f.largest
    return Value(x.v.sum(deep, keepdim=True), torch.where(fits, e_ + f.gamma(n - 1) * magnitude, inf))


def entry(e, t, f, axes, deep):
    return tw.pick(bounded(e.args[0], t, f, axes, deep), e.args[1:], t, axes)


def array(e, t, f, axes, deep):
    found = [bounded(x, t, f, axes, deep) for x in e.args]
    return Value(
        *(
            torch.stack(torch.broadcast_tensors(*ys), -1).reshape(*torch.broadcast_shapes(*(y.shape for y in ys)), *t.shape(e))
            for ys in zip(*found)
        )
    )


RULES = {
    **dict.fromkeys(("const", "eye", "fill", "index"), fixed),
    "symbol": symbol,
    **dict.fromkeys(("paren", "defined"), exact(lambda x: x)),
    "transpose": exact(lambda x: x.transpose(-2, -1)),
    "neg": exact(torch.neg),
    "add": add,
    "mul": multiply,
    "div": divide,
    "pow": power,
    "function": function,
    "softmax": softmax,
    "matmul": matmul,
    "sum": sum_,
    "entry": entry,
    "array": array,
}


# Running the snippets


class Ledger:
    """What the snippets that one claim names did in each format."""

    def __init__(self, claim: Claim):
        self.claim = claim
        self.ran = {f: [0, 0] for f in FORMATS}  # at how many points something was told, and of how many
        self.computes = {}  # (number of a snippet, format) -> the ends within whose bounds it has always been
        self.left_out = {}  # (number of a snippet, format) -> why

    def compare(self, t: Trial, ends: list, which=None):
        """Run the claim's snippets, or those with the numbers given, at points of this trial; each computes one of the ends."""
        for f in FORMATS:
            waiting = [
                k
                for k in (range(len(self.claim.code)) if which is None else which)
                if k < len(self.claim.code) and (k, f) not in self.left_out
            ]
            low = rounded(self.claim, t, f) if waiting else None
            if low is None:
                continue
            sides, reasons = {}, []
            for end, e in enumerate(ends):
                try:
                    sides[end] = bounded(e, low, f)
                except NotForTorch as reason:
                    reasons.append(str(reason))
            if not sides:
                self.left_out.update({(k, f): reasons[0] for k in waiting})
                continue
            for point in range(max(len(x.v) for x in (*sides.values(), *low.values.values()))):
                self.at(point, waiting, low, f, sides, reasons)

    def at(self, point: int, waiting: list, low: Trial, f: Format, sides: dict, reasons: list):
        free = tw.free_order(self.claim)
        wanted = {end: tw.shown(Value(*(tw.at_point(y, point) for y in x)), low, free) for end, x in sides.items()}
        ran = [self.run(k, point, low, f, wanted, reasons) for k in waiting]
        if any(ran):
            self.ran[f][0] += any((x.v.abs() > SLACK * x.e).any() for x in wanted.values())
            self.ran[f][1] += 1

    def run(self, k: int, point: int, low: Trial, f: Format, wanted: dict, reasons: list) -> bool:
        """Does the snippet run? Refused if it is within the bound of no end."""
        name, arguments, keywords = self.claim.code[k]
        if (k, f) in self.left_out:
            return False
        try:
            results = tw.call(name, arguments, dict(keywords), low, point, f.dtype)
            results = results if isinstance(results, tuple) else (results,)
            other = [
                r.dtype if isinstance(r, Tensor) else type(r).__name__ for r in results if not isinstance(r, Tensor) or r.dtype != f.dtype
            ]
            reason = f"{name} gives {str(other[0]).removeprefix('torch.')}, whatever it is given" if other else ""
        except Disagrees as error:
            reason = str(error).partition("\n")[0]
        if reason:
            self.left_out[k, f] = reason
            return False
        left = self.computes.setdefault((k, f), set(wanted))
        last = next(iter(left))
        left -= {end for end in left if any(outside(r, wanted[end]).any() for r in results)}
        if not left and reasons:
            self.left_out[k, f] = f"{name} is outside the bound of one side, and for the other {reasons[0]}"
            return False
        if not left:
            want = wanted[last]
            result, bad = next((r, outside(r, want)) for r in results if outside(r, want).any())
            x, v, e = (y.expand(bad.shape)[tuple(bad.nonzero()[0])].item() for y in (result.double(), *want))
            raise Disagrees(
                f"{name} gives {x:.9g} in {f.name} where the claim has {v:.9g}, and the rounding bound of {f.name} "
                f"is {e:.3g}{tw.at_sizes(low.sizes)}"
            )
        return True

    def note(self) -> str:
        """In which formats snippets ran, and at how many points that told something; and where nothing is said, with the reason."""
        silent = {f: [k for k in range(len(self.claim.code)) if (k, f) in self.left_out] for f in FORMATS}
        ran = [f"{f.name} at {told} of {of} points" for f, (told, of) in self.ran.items() if of and len(silent[f]) < len(self.claim.code)]
        why = {}
        for (_, f), reason in self.left_out.items():
            why.setdefault(reason, []).append(f.name)
        return ("; run in " + ", ".join(ran) + ", within the rounding bound of each" if ran else "") + "".join(
            f"; nothing said in {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in why.items()
        )


def outside(result: Tensor, want: Value) -> Tensor:
    """Where a result is further off than the bound; where that is infinite there is nothing to say."""
    if result.shape != want.v.shape:
        raise Disagrees(f"a snippet gives shape {tuple(result.shape)} where the claim has {tuple(want.v.shape)}")
    return ~((result.double() - want.v).abs() <= SLACK * want.e) & (want.e < inf)


def rounded(claim: Claim, t: Trial, f: Format) -> Trial | None:
    """The trial with its numbers rounded to the format, at two of the points where its assumptions still hold."""
    low = copy(t)
    low.values = {name: Value(x.v.to(f.dtype).double(), torch.zeros_like(x.e)) for name, x in t.values.items()}
    keep = torch.ones(max((len(x.v) for x in low.values.values()), default=1), dtype=torch.bool)
    for x in low.values.values():
        keep &= x.v.isfinite().flatten(1).all(1)
    for a in claim.given:
        keep &= tw.holds(a, low)
    if not keep.any():
        return None
    found = keep.nonzero().flatten()
    low.points(found[[len(found) // 2, -1]] if len(found) > 1 else found)  # all entries of the first one are zero
    return low
