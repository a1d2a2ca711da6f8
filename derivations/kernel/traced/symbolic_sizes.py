"""Sizes and numbers outside tensors, as PyTorch's symbols; whatever the code inspects becomes a guard.

PyTorch represents them as SymPy expressions. They are read here by the names of their classes: a sum, a product, a power, a root.
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

from ..core.constructors import exp, log
from ..core.constructors import function as applied
from ..core.expr import Expr, lift, show, walk
from .axes import UNIT_AXIS, Axis, AxisGroup, FixedAxis, JoinedAxis, Length, SymbolicAxis, divide_lengths
from .errors import NeedsNumericSize, NotRead
from .float_constants import FloatConstants
from .size_conditions import SIGNS, Guard, polynomial
from .size_eval import COMPARISONS, evaluate_tree

PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Sizes:
    """The sizes of one trace: a PyTorch symbol for each size of the claim, and the guards on them. Their hints are at least `least`."""

    def __init__(self, least: int = 1) -> None:
        self.hints = [p for p in PRIMES if p >= least] or [least]
        self.shapes = ShapeEnv(duck_shape=False, specialize_zero_one=False)
        self.fake = FakeTensorMode(shape_env=self.shapes, allow_non_fake_inputs=True)
        self.fake.cache_enabled = False  # a result cached by another trace would add no guard to this one
        self.constants = FloatConstants()
        self.trees: dict[str, Expr] = {}  # the tree of each PyTorch symbol, by its name
        self.made: dict[Expr, Any] = {}  # the PyTorch number of each tree
        self.within = 0  # the depth of nested PyTorch operations: at 0, the code itself inspects a size
        self.asked: set[str] = set()  # the names of the sizes that the code itself inspected
        self.all_asked = False  # may the code have inspected any of them?

    def size(self, tree: Expr) -> Any:
        """Return a size of the claim as a SymInt."""
        return self.made.get(tree) or self.new(tree, self.hints[len(self.made) % len(self.hints)])

    def real(self, tree: Expr) -> Any:
        """Return a number of the claim as a float or SymFloat. Its hint is its value at the hints of its parts, if that is known."""
        if tree.op == "const":
            return float(tree.data)
        if tree in self.made:
            return self.made[tree]
        known = evaluate_tree(tree, {key: hint(x) for key, x in self.made.items()})
        return self.new(tree, 0.625 + len(self.made) / 8 if known is None else known)

    def new(self, tree: Expr, hint: float) -> Any:
        """Return a new SymInt or SymFloat for a tree, by the type of its hint, the value that it has while tracing."""
        source = ConstantSource(f"x{len(self.trees)}")
        symbol = self.shapes.create_symbol(
            hint, source=source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None, positive=None, do_not_specialize_zero_one=True
        )
        node = self.shapes.create_symintnode if isinstance(hint, int) else self.shapes.create_symfloatnode
        if isinstance(hint, int):
            self.shapes.var_to_range[symbol] = ValueRanges(1, int_oo)  # a size is at least 1
        self.made[tree] = node(symbol, hint=hint, source=source)
        self.trees[str(symbol)] = tree
        return self.made[tree]

    def tree(self, x: Any) -> Expr:
        """Return a number of Python or PyTorch as a tree."""
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
        """Return an expression of PyTorch's symbols as a tree."""
        kind = type(e).__name__
        if kind in ("Symbol", "Dummy"):
            if str(e) not in self.trees:
                raise NotRead("a number that depends on the values of a tensor")
            return self.trees[str(e)]
        if getattr(e, "is_Rational", False):
            return lift(Fraction(int(e.p), int(e.q)))
        if getattr(e, "is_Float", False):
            return self.constants.tree(float(e))
        if kind not in READERS:
            raise NotRead(f"the operation {kind} of sizes")
        return READERS[kind](*map(self.read, e.args))

    def length(self, x: Any) -> Length:
        """Return the size of an axis as a polynomial."""
        return polynomial(self.tree(x))

    def axis(self, x: Any) -> Axis:
        """Return a new axis of this size."""
        tree = self.tree(x)
        if tree.op == "const":
            return FixedAxis(int(tree.data))
        return new_axis(polynomial(tree), {s.data[0]: s for s in walk(tree) if s.op == "symbol"})

    def guards(self) -> list[Guard]:
        """Return the relations between sizes and numbers that the trace relied on, without repetition."""
        guards = []
        for e in (guard.expr for guard in self.shapes.guards):
            kind = type(e).__name__
            if kind not in SIGNS:
                raise NotRead(f"a question about sizes or numbers, {kind}")
            left, right = map(self.read, e.args)
            if SIGNS[kind] in ("<", "<="):
                left, right, kind = right, left, kind.replace("Less", "Greater")
            guards.append(Guard(left, SIGNS[kind], right))
        return list(dict.fromkeys(guards))

    def reject_fixed(self) -> None:
        """Raise `NeedsNumericSize` if the code took a size for a number, as `len` does."""
        if fixed := sorted({name for guard in self.guards() for name in guard.fixes}):
            raise NeedsNumericSize(f"it needs {' and '.join(fixed)} as a number", tuple(fixed))

    def note(self, *numbers: Any) -> None:
        """Record that the code inspects these numbers or truth values."""
        nodes = [x.node if isinstance(x, SYMBOLS) else x for x in numbers]
        symbols = [symbol for x in nodes for symbol in getattr(getattr(x, "expr", None), "free_symbols", ())]
        self.asked |= {
            n.data[0] for symbol in symbols if str(symbol) in self.trees for n in walk(self.trees[str(symbol)]) if n.op == "symbol"
        }

    def contradicted(self) -> list[Guard]:
        """Return the guards that are false at the hints of the trace, which shows that a symbol was read as the wrong tree."""
        values = {tree: hint(x) for tree, x in self.made.items() if tree.op == "symbol"}
        numbers = [(guard, evaluate_tree(guard.left, values), evaluate_tree(guard.right, values)) for guard in self.guards()]
        return [
            guard for guard, left, right in numbers if left is not None and right is not None and not COMPARISONS[guard.sign](left, right)
        ]


def new_axis(length: Length, sizes: dict[str, Expr]) -> Axis:
    """Return an axis of this length: merged axes for a product, joined ones for a sum, with a constant term last."""
    parts = []
    for names, k in sorted(length.items(), key=lambda item: item[0] == ()):
        if k < 0:
            raise NeedsNumericSize("an axis whose length is a difference")
        parts.append(AxisGroup((*(SymbolicAxis(sizes[name]) for name in names), *([FixedAxis(k)] if k != 1 or not names else []))).axis)
    return UNIT_AXIS if not parts else parts[0] if len(parts) == 1 else JoinedAxis(tuple(parts))


def quotient_tree(a: Expr, b: Expr) -> Expr:
    return Expr("div", (a, b))


def divide_exactly(a: Expr, b: Expr) -> Expr:
    """Return a // b if b divides a at all values of the sizes; else raise `NeedsNumericSize`."""
    if b.op == "const" and b.data > 0 and b.data.denominator == 1:
        dividend = polynomial(a)
        names = sorted({name for term in dividend for name in term})
        if int(b.data) ** len(names) <= 10**4 and all(value % int(b.data) == 0 for value in residues(dividend, names, int(b.data))):
            return quotient_tree(a, b)
    if exact := divide_terms(a, b):
        return exact
    raise NeedsNumericSize(
        f"{show(a)} // {show(b)} is rounded down", tuple(sorted({n.data[0] for x in (a, b) for n in walk(x) if n.op == "symbol"}))
    )


def divide_terms(a: Expr, b: Expr) -> Expr | None:
    """Return a / b if b is a product of sizes that divides each term of a; else None."""
    divisor, dividend, sizes = polynomial(b), polynomial(a), {n.data[0]: n for n in walk(a) if n.op == "symbol"}
    if len(divisor) != 1:
        return None
    terms = []
    for names, k in dividend.items():
        if (part := divide_lengths({names: k}, divisor)) is None:
            return None
        terms += [left_fold("mul")(lift(j), *(sizes[name] for name in left)) for left, j in part.items()]
    return left_fold("add")(*terms) if terms else lift(0)


def remainder(a: Expr, b: Expr) -> Expr:
    """Return a % b if it is 0 at all values of the sizes; else raise `NeedsNumericSize`."""
    divide_exactly(a, b)
    return lift(0)


def residues(terms: Length, names: list[str], modulus: int) -> Iterator[int]:
    """Yield the values of a polynomial at all choices of residues of its sizes."""
    for code in range(modulus ** len(names)):
        values = {}
        for name in names:
            code, values[name] = divmod(code, modulus)
        yield sum(k * math.prod(values[name] for name in term) for term, k in terms.items())


def power(a: Expr, b: Expr) -> Expr:
    if b.op != "const":
        return exp(Expr("mul", (b, log(a))))
    return Expr("pow", (a, b))


def left_fold(op: str) -> Callable:
    """Return a function that joins its arguments by a binary operation, from the left."""

    def fold(first: Expr, *others: Expr) -> Expr:
        for other in others:
            first = Expr(op, (first, other))
        return first

    return fold


def larger(a: Expr, b: Expr) -> Expr:
    """Return the larger of two numbers; a size is at least 1."""
    for constant, size in ((a, b), (b, a)):
        if constant.op == "const" and constant.data <= 1 and is_size(size):
            return size
    return quotient_tree(Expr("add", (Expr("add", (a, b)), applied("abs", a - b))), lift(2))


def is_size(e: Expr) -> bool:
    """Return whether an expression is a sum of products of sizes, and so at least 1."""
    try:
        return all(k > 0 for k in polynomial(e).values()) and bool(polynomial(e))
    except NotRead:
        return False


def smaller(a: Expr, b: Expr) -> Expr:
    return quotient_tree(Expr("add", (a, b)) - applied("abs", a - b), lift(2))


READERS: dict[str, Callable] = {
    "Add": left_fold("add"),
    "Mul": left_fold("mul"),
    "Pow": power,
    "PowByNatural": power,
    "FloatPow": power,
    "ToFloat": lambda a: a,
    "FloatTrueDiv": quotient_tree,
    "IntTrueDiv": quotient_tree,
    "FloorDiv": divide_exactly,
    "CleanDiv": divide_exactly,
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
def symbolic_math_functions(sizes: Sizes) -> Iterator[None]:
    """Replace `math.sqrt` and similar functions: they map a symbol to a symbol, where Python would convert it to a float."""
    originals = {name: getattr(math, name) for name in FUNCTIONS}

    def replacement(name: str) -> Callable:
        def called(x: Any, *more: Any) -> Any:
            if not isinstance(x, SYMBOLS) or more:
                return originals[name](x, *more)
            tree = FUNCTIONS[name](sizes.tree(x))
            return sizes.made.get(tree) if tree in sizes.made else sizes.new(tree, originals[name](hint(x)))

        return called

    try:
        for name in FUNCTIONS:
            setattr(math, name, replacement(name))
        yield
    finally:
        for name, original in originals.items():
            setattr(math, name, original)


def hint(x: Any) -> float:
    """Return the value of a symbol in the trace."""
    return float(x.node.hint)


def find_current_line(folder: str) -> str:
    """Return the file and line of the innermost running code in a folder, or ""."""
    frame = sys._getframe()
    while frame.f_back:
        if f"/{folder}/" in frame.f_code.co_filename:
            return f"{frame.f_code.co_filename.rpartition(f'/{folder}/')[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
