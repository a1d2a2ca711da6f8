"""Sizes and numbers that are no tensors, as PyTorch's symbols: what the code asks of them is a guard, which is kept.

PyTorch holds them as SymPy's expressions, which are read here by the names of their classes: a sum, a product, a power, a root.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from ..core.expr import Expr, exp, lift, log, show, walk
from ..core.expr import function as applied
from .axes import ONE, Axis, Count, Group, Joined, Length, Run, quotient
from .errors import NotRead, Sized
from .float_constants import Constants
from .size_conditions import SIGNS, Guard, polynomial
from .size_eval import HOLDS, worth

PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Sizes:
    """The sizes of one trace: a symbol of PyTorch's for each of the claim's, and what was asked of them."""

    def __init__(self) -> None:
        self.shapes = ShapeEnv(duck_shape=False, specialize_zero_one=False)
        self.fake = FakeTensorMode(shape_env=self.shapes, allow_non_fake_inputs=True)
        self.fake.cache_enabled = False  # what is remembered from another trace takes no guard in this one
        self.constants = Constants()
        self.trees: dict[str, Expr] = {}  # what each of PyTorch's symbols stands for, by its name
        self.made: dict[Expr, Any] = {}  # the numbers that were made, by what they stand for
        self.within = 0  # operations of PyTorch's that run, one in another: what is asked then, they ask
        self.asked: set[str] = set()  # the names of sizes of which the code itself asked something
        self.all_asked = False  # may it have learned of any of them?

    def size(self, tree: Expr) -> Any:
        """A size of the claim as a whole number of PyTorch's."""
        return self.made.get(tree) or self.new(tree, PRIMES[len(self.made) % len(PRIMES)])

    def real(self, tree: Expr) -> Any:
        """A number of the claim, which is none of its sizes."""
        if tree.op == "const":
            return float(tree.data)
        if tree in self.made:
            return self.made[tree]
        known = worth(tree, {of: hint(x) for of, x in self.made.items()})
        return self.new(tree, 0.625 + len(self.made) / 8 if known is None else known)

    def new(self, tree: Expr, hint: float) -> Any:
        source = ConstantSource(f"x{len(self.trees)}")
        made = self.shapes.create_symbol(
            hint, source=source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None, positive=None, do_not_specialize_zero_one=True
        )
        node = self.shapes.create_symintnode if isinstance(hint, int) else self.shapes.create_symfloatnode
        if isinstance(hint, int):
            self.shapes.var_to_range[made] = ValueRanges(1, int_oo)  # a size is 1 at least
        self.made[tree] = node(made, hint=hint, source=source)
        self.trees[str(made)] = tree
        return self.made[tree]

    def tree(self, x: Any) -> Expr:
        """A number of Python's or PyTorch's as the kernel has it."""
        if isinstance(x, bool):
            return lift(int(x))
        if isinstance(x, (int, Fraction)):
            return lift(x)
        if isinstance(x, float):
            return self.constants.tree(x)
        if isinstance(x, SYMBOLS):
            return self.read(x.node.expr)
        raise NotRead(f"a number is needed, not {type(x).__name__}")

    def read(self, e: Any) -> Expr:
        """An expression of PyTorch's sizes."""
        kind = type(e).__name__
        if kind in ("Symbol", "Dummy"):
            if str(e) not in self.trees:
                raise NotRead("a number that depends on the values of a tensor")
            return self.trees[str(e)]
        if getattr(e, "is_Rational", False):
            return lift(Fraction(int(e.p), int(e.q)))
        if getattr(e, "is_Float", False):
            return self.constants.tree(float(e))
        if kind not in READS:
            raise NotRead(f"the operation {kind} of sizes")
        return READS[kind](*map(self.read, e.args))

    def length(self, x: Any) -> Length:
        """The size of an axis as a polynomial."""
        return polynomial(self.tree(x))

    def axis(self, x: Any) -> Axis:
        """The axis of a size, as one that nothing has cut."""
        tree = self.tree(x)
        if tree.op == "const":
            return Count(int(tree.data))
        return axis_of(polynomial(tree), {s.data[0]: s for s in walk(tree) if s.op == "symbol"})

    def guards(self) -> list[Guard]:
        """What was asked of sizes and numbers, and answered for those of the trace: each answer once."""
        found = []
        for e in (guard.expr for guard in self.shapes.guards):
            kind = type(e).__name__
            if kind not in SIGNS:
                raise NotRead(f"a question about sizes or numbers, {kind}")
            left, right = map(self.read, e.args)
            if SIGNS[kind] in ("<", "<="):
                left, right, kind = right, left, kind.replace("Less", "Greater")
            found.append(Guard(left, SIGNS[kind], right))
        return list(dict.fromkeys(found))

    def note(self, *numbers: Any) -> None:
        """The code asks something of these numbers, or of these answers."""
        nodes = [x.node if isinstance(x, SYMBOLS) else x for x in numbers]
        found = [one for x in nodes for one in getattr(getattr(x, "expr", None), "free_symbols", ())]
        self.asked |= {n.data[0] for one in found if str(one) in self.trees for n in walk(self.trees[str(one)]) if n.op == "symbol"}

    def contradicted(self) -> list[Guard]:
        """Guards that do not hold at the numbers of the trace: what they are about was taken for another number than it is."""
        at = {tree: hint(x) for tree, x in self.made.items() if tree.op == "symbol"}
        numbers = [(guard, worth(guard.left, at), worth(guard.right, at)) for guard in self.guards()]
        return [guard for guard, one, other in numbers if one is not None and other is not None and not HOLDS[guard.sign](one, other)]


def axis_of(length: Length, sizes: dict[str, Expr]) -> Axis:
    """An axis of this length: of a product, one after another; of a sum with one number, the number last."""
    parts = []
    for names, k in sorted(length.items(), key=lambda item: item[0] == ()):
        if k < 0:
            raise Sized("an axis whose length is a difference")
        parts.append(Group((*(Run(sizes[name]) for name in names), *([Count(k)] if k != 1 or not names else []))).axis)
    return ONE if not parts else parts[0] if len(parts) == 1 else Joined(tuple(parts))


def divided(a: Expr, b: Expr) -> Expr:
    return Expr("div", (a, b))


def evenly(a: Expr, b: Expr) -> Expr:
    """a // b where b goes into a at each value of the sizes; else NotRead."""
    if b.op == "const" and b.data > 0 and b.data.denominator == 1:
        of = polynomial(a)
        names = sorted({name for term in of for name in term})
        if int(b.data) ** len(names) <= 10**4 and all(value % int(b.data) == 0 for value in residues(of, names, int(b.data))):
            return divided(a, b)
    if exact := in_parts(a, b):
        return exact
    raise Sized(f"{show(a)} // {show(b)} is rounded down", tuple(sorted({n.data[0] for x in (a, b) for n in walk(x) if n.op == "symbol"})))


def in_parts(a: Expr, b: Expr) -> Expr | None:
    """a / b where b, one product of sizes, divides each term of a; None where it does not."""
    by, sizes = polynomial(b), {n.data[0]: n for n in walk(a) if n.op == "symbol"}
    parts = [quotient({names: k}, by) for names, k in polynomial(a).items()]
    if len(by) != 1 or None in parts:
        return None
    terms = [folded("mul")(lift(k), *(sizes[name] for name in names)) for part in parts for names, k in part.items()]
    return folded("add")(*terms) if terms else lift(0)


def remainder(a: Expr, b: Expr) -> Expr:
    """a % b where that is 0 at each value of the sizes."""
    evenly(a, b)
    return lift(0)


def residues(of: Length, names: list[str], by: int) -> Iterator[int]:
    """What a polynomial is, at each choice of residues of its sizes."""
    for code in range(by ** len(names)):
        at = {}
        for name in names:
            code, at[name] = divmod(code, by)
        yield sum(k * math.prod(at[name] for name in term) for term, k in of.items())


def power(a: Expr, b: Expr) -> Expr:
    if b.op != "const":
        return exp(Expr("mul", (b, log(a))))
    return Expr("pow", (a, b))


def folded(op: str) -> Callable:
    def made(first: Expr, *others: Expr) -> Expr:
        for other in others:
            first = Expr(op, (first, other))
        return first

    return made


def larger(a: Expr, b: Expr) -> Expr:
    for one, other in ((a, b), (b, a)):
        if one.op == "const" and one.data <= 1 and is_size(other):
            return other
    return divided(Expr("add", (Expr("add", (a, b)), applied("abs", a - b))), lift(2))


def is_size(e: Expr) -> bool:
    """Is it a sum of products of sizes, and so 1 at least?"""
    try:
        return all(k > 0 for k in polynomial(e).values()) and bool(polynomial(e))
    except NotRead:
        return False


def smaller(a: Expr, b: Expr) -> Expr:
    return divided(Expr("add", (a, b)) - applied("abs", a - b), lift(2))


READS: dict[str, Callable] = {
    "Add": folded("add"),
    "Mul": folded("mul"),
    "Pow": power,
    "PowByNatural": power,
    "FloatPow": power,
    "ToFloat": lambda a: a,
    "FloatTrueDiv": divided,
    "IntTrueDiv": divided,
    "FloorDiv": evenly,
    "CleanDiv": evenly,
    "Mod": remainder,
    "PythonMod": remainder,
    "Max": larger,
    "Min": smaller,
    "Abs": lambda a: applied("abs", a),
    "OpaqueUnaryFn_sqrt": lambda a: Expr("pow", (a, lift(Fraction(1, 2)))),
    "OpaqueUnaryFn_cos": lambda a: applied("cos", a),
    "OpaqueUnaryFn_sin": lambda a: applied("sin", a),
    "OpaqueUnaryFn_tanh": lambda a: applied("tanh", a),
}
FUNCTIONS: dict[str, Callable] = {
    "exp": exp,
    "log": log,
    "sqrt": lambda a: Expr("pow", (a, lift(Fraction(1, 2)))),
    "cos": lambda a: applied("cos", a),
    "sin": lambda a: applied("sin", a),
    "tanh": lambda a: applied("tanh", a),
}


@contextmanager
def functions_of_numbers(sizes: Sizes) -> Iterator[None]:
    """`math.sqrt` and its like give a number of PyTorch's for one, where Python would ask what it is."""
    before = {name: getattr(math, name) for name in FUNCTIONS}

    def made(name: str) -> Callable:
        def called(x: Any, *more: Any) -> Any:
            if not isinstance(x, SYMBOLS) or more:
                return before[name](x, *more)
            tree = FUNCTIONS[name](sizes.tree(x))
            return sizes.made.get(tree) if tree in sizes.made else sizes.new(tree, before[name](hint(x)))

        return called

    try:
        for name in FUNCTIONS:
            setattr(math, name, made(name))
        yield
    finally:
        for name, own in before.items():
            setattr(math, name, own)


def hint(x: Any) -> float:
    return float(x.node.hint)


def line_of(folder: str) -> str:
    """Where the code stands that is running: the innermost line in this folder."""
    frame = sys._getframe()
    while frame.f_back:
        if f"/{folder}/" in frame.f_code.co_filename:
            return f"{frame.f_code.co_filename.rpartition(f'/{folder}/')[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
