"""Expression trees as LaTeX, as they are: operands in order, brackets where they matter."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

from ..errors import KernelError
from .name_latex import name_latex, names_matrix, names_operator, names_word

ATOM = 6
LEVEL = {  # how tightly what is printed of an operator holds together: inside of something tighter, it needs brackets
    "add": 1,
    **dict.fromkeys(("neg", "sum", "derivative"), 2),
    **dict.fromkeys(("mul", "matmul"), 3),
    "div": 4,
    **dict.fromkeys(("pow", "transpose", "inverse", "each"), 5),
    **dict.fromkeys(("const", "imaginary", "symbol", "index", "defined", "paren", "eye", "fill", "array", "entry"), ATOM),
    **dict.fromkeys(("function", "softmax", "expectation", "variance", "rounded", "rank"), ATOM),
}
WORDS = {"softmax": "softmax", "variance": "Var", "rounded": "fl", "rank": "rank"}  # operators printed as a word before brackets
FUNCTION_NAMES = {
    **{name: rf"\{name}" for name in ("exp", "log", "cos", "sin", "tanh")},
    "largest": r"\max",
    **{name: rf"\operatorname{{{name}}}" for name in ("abs", "norm")},  # where bars cannot be told apart
}
NAMED = ("symbol", "defined", "index")  # operators printed as a name, which is the first part of their data
TALL = (r"\frac", r"\sum", r"\left", r"\sqrt", r"\begin")  # what brackets must grow for


class Tree(Protocol):
    """What is printed: core's expressions, of which this room knows no more."""

    @property
    def op(self) -> str: ...

    @property
    def args(self) -> tuple: ...

    @property
    def shape(self) -> tuple: ...

    @property
    def data(self) -> Any: ...

    @property
    def bound_index(self) -> Any: ...


def fraction_latex(q: Fraction) -> str:
    return ("-" if q < 0 else "") + (str(abs(q.numerator)) if q.denominator == 1 else rf"\frac{{{abs(q.numerator)}}}{{{q.denominator}}}")


def short_latex(q: Fraction) -> str:
    """The same, with a large power of two as such. For values: in a tree, 2 to the power 24 is another tree than its digits."""
    sign, q = ("-" if q < 0 else ""), abs(q)
    exponent = q.numerator.bit_length() - q.denominator.bit_length()
    if abs(exponent) > 10 and q == Fraction(2) ** exponent:
        return f"{sign}2^{{{exponent}}}"
    return sign + fraction_latex(q)


def level(e: Tree) -> int:
    if e.op == "const" and (e.data < 0 or e.data.denominator != 1):
        return 2 if e.data < 0 else 4
    if e.op == "pow" and is_root(e):
        return ATOM
    if e.op not in LEVEL:
        raise KernelError(f"nothing says how tightly '{e.op}' binds when it is printed")
    return LEVEL[e.op]


def is_root(e: Tree) -> bool:
    return e.args[1].op == "const" and e.args[1].data == Fraction(1, 2)


def latex(e: Tree) -> str:
    return Printer().show(e)


class Printer:
    """LaTeX. Subclassed for plain text and for scripts: one method an operator, but for those that are printed as a word."""

    def show(self, e: Tree, least: int = 0) -> str:
        text = self.rule(e.op)(e)
        return self.brackets(text) if level(e) < least else text

    def rule(self, op: str) -> Callable[[Tree], str]:
        rule = self.word if op in WORDS else getattr(self, op, None)
        if rule is None:
            raise KernelError(f"there is no way to print the node '{op}'")
        return rule

    def word(self, e):
        return rf"\operatorname{{{WORDS[e.op]}}}{self.brackets(self.show(e.args[0]))}"

    def brackets(self, text, pair="()"):
        left, right = pair
        return rf"\left{left}{text}\right{right}" if any(tall in text for tall in TALL) else f"{left}{text}{right}"

    def const(self, e):
        return fraction_latex(e.data)

    def imaginary(self, e):
        return r"\mathrm{i}"

    def symbol(self, e):
        return name_latex(e.data[0])

    def defined(self, e):
        return name_latex(e.data[0])

    def index(self, e):
        return name_latex(e.data[0])

    def paren(self, e):
        return self.brackets(self.show(e.args[0]))

    def add(self, e):
        left, right = e.args
        if right.op == "neg":
            inside = right.args[0]
            return f"{self.show(left, 1)} - {self.show(inside, 3 if inside.op == 'neg' or negative(inside) else 2)}"
        return f"{self.show(left, 1)} + {self.show(right, 3 if right.op == 'neg' or negative(right) else 2)}"

    def neg(self, e):
        return f"-{self.show(e.args[0], 3)}"

    def mul(self, e):
        left, right = e.args
        if is_entrywise(e):
            return rf"{self.show(left, 4)} \odot {self.show(right, 4)}"
        after = self.show(right, 4)
        signed = starts_with_digit(right) or right.op == "fill" or applies(left, after) or operates(left)
        dot = r" \cdot " if signed else r" \, " if left.op == "sum" else " "
        return f"{self.show(left, 3)}{dot}{after}"

    def matmul(self, e):
        left, right = e.args
        after = self.show(right, 4)
        signed = len(left.shape) == 1 == len(right.shape) or not is_entrywise(left) and applies(left, after)
        dot = r" \cdot " if signed else " "
        return f"{self.show(left, 4 if is_entrywise(left) else 3)}{dot}{after}"

    def div(self, e):
        above, below = map(self.show, e.args)
        return rf"\frac{{{above}}}{{{below}}}"

    def pow(self, e):
        base, exponent = e.args
        if is_root(e):
            return rf"\sqrt{{{self.show(base)}}}"
        if base.op == "function" and base.data not in ("abs", "norm"):
            return f"{self.brackets(self.show(base))}^{{{small(exponent, self)}}}"
        return f"{self.show(base, ATOM)}^{{{small(exponent, self)}}}"

    def transpose(self, e):
        base = e.args[0]
        shown = self.brackets(self.show(base)) if base.op == "function" and base.data != "abs" else self.show(base, ATOM)
        return rf"{shown}^{{\top}}"

    def inverse(self, e):
        if e.args[0].op == "transpose":
            return rf"{self.show(e.args[0].args[0], ATOM)}^{{-\top}}"
        return rf"{self.show(e.args[0], ATOM)}^{{-1}}"

    def eye(self, e):
        return "I"

    def fill(self, e):
        """Of a matrix with its shape, or it would look like the vector beside it."""
        below = r" \times ".join(map(self.show, e.shape))
        return rf"\mathbf{{{e.data}}}" + (f"_{{{below}}}" if len(e.shape) > 1 else "")

    def array(self, e):
        if len(e.shape) > 2:
            raise KernelError("a tensor with more than two axes is not printed; name its parts")
        columns = int(e.shape[1].data) if len(e.shape) == 2 else 1
        shown = [self.show(x) for x in e.args]
        return self.rows([shown[k : k + columns] for k in range(0, len(shown), columns)], len(e.shape) == 2)

    def rows(self, rows, is_matrix):
        if not is_matrix:
            return self.brackets(", ".join(row[0] for row in rows) + "," * (len(rows) == 1))
        return r"\begin{pmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{pmatrix}"

    def sum(self, e):
        name, size = e.data
        return rf"\sum_{{{name_latex(name)} = 1}}^{{{self.show(size)}}} {self.show(e.args[0], 2 if e.args[0].op == 'sum' else 3)}"

    def each(self, e):
        body, indices = listed(e)
        below = ", ".join(f"{name_latex(name)} = 1" for name, _ in indices)
        return f"{self.brackets(self.show(body))}_{{{below}}}^{{{', '.join(self.show(size) for _, size in indices)}}}"

    def entry(self, e):
        base = e.args[0]
        shown = [self.show(i) for i in e.args[1:]]
        at = ("" if all(len(i) == 1 for i in shown) else ",").join(f"{i} " for i in shown).strip()
        text = self.show(base, ATOM)
        if base.op in ("symbol", "defined") and "_" not in text:
            return rf"{text}_{{{at}}}"
        return rf"{self.brackets(text) if '_' in text and base.op in ('symbol', 'defined', 'fill') else text}_{{{at}}}"

    def function_name(self, e):
        if e.data not in FUNCTION_NAMES:
            raise KernelError(f"there is no way to print the function '{e.data}'")
        return FUNCTION_NAMES[e.data]

    def function(self, e):
        """Entry by entry, of a matrix: so it is marked, or it would be read as the matrix's own exponential, or as its determinant."""
        inside = self.show(e.args[0])
        if e.data == "norm":
            return rf"\left\lVert {inside} \right\rVert" if r"\lVert" not in inside else self.function_name(e) + self.brackets(inside)
        if e.args[0].shape and (len(e.shape) > 1 or e.data == "abs"):
            return rf"{self.function_name(e)}_{{\odot}}{self.brackets(inside)}"
        if e.data == "abs":
            return rf"\left|{inside}\right|" if "|" not in inside else self.function_name(e) + self.brackets(inside)
        if e.data == "exp" and r"\frac" not in inside and r"\sum" not in inside:
            return rf"e^{{{inside}}}"
        return self.function_name(e) + self.brackets(inside)

    def expectation(self, e):
        return rf"\operatorname{{E}}{self.brackets(self.show(e.args[0]), '[]')}"

    def derivative(self, e):
        body, by = e.args
        top = self.show(body, ATOM)
        if body.op in ("symbol", "defined", "entry"):
            return rf"\frac{{\partial {top}}}{{\partial {self.show(by)}}}"
        return rf"\frac{{\partial}}{{\partial {self.show(by)}}} {self.show(body, 4)}"


def listed(e: Tree) -> tuple[Tree, list]:
    """The body of a tensor that is given entry by entry, and its indices. One whose name was bound already begins another tensor."""
    body, indices = e.args[0], [e.data]
    while body.op == "each" and body.data[0] not in (name for name, _ in indices):
        indices.append(body.data)
        body = body.args[0]
    return body, indices


def negative(e: Tree) -> bool:
    return e.op == "const" and e.data < 0


def is_entrywise(e: Tree) -> bool:
    return e.op == "mul" and all(x.shape for x in e.args)


def starts_with_digit(e: Tree) -> bool:
    if e.op in ("const", "fill"):
        return True
    return e.op in ("mul", "pow", "div") and not is_fraction(e) and starts_with_digit(e.args[0])


def applies(left: Tree, after: str) -> bool:
    """Would what stands on the left be read as a function, of what stands after it?

    So is a word, whatever follows; and before brackets each letter, but for a matrix: applied, it is the product.
    """
    left = last_letter(left)
    named = left.args[0] if left.op == "entry" else left
    if left.op in ("transpose", "inverse"):
        named = left.args[0]
    if named.op not in NAMED:
        return False
    name = named.data[0]
    return names_word(name) or after.startswith(("(", r"\left(", r"\begin")) and not (left.shape and names_matrix(name))


def last_letter(e: Tree) -> Tree:
    """What stands last in a product, without its exponent."""
    while e.op in ("mul", "matmul"):
        e = e.args[1]
    return e.args[0] if e.op == "pow" and not is_root(e) else e


def operates(left: Tree) -> bool:
    """Would a number on the left be read as an operator, whatever follows: d x as a differential, E x as a mean?"""
    last = last_letter(left)
    return last.op in NAMED and not last.shape and names_operator(last.data[0])


def is_fraction(e: Tree) -> bool:
    return e.op == "div"


def small(exponent: Tree, printer) -> str:
    """An exponent, with fractions written flat."""
    if exponent.op == "const" and exponent.data.denominator != 1:
        return f"{exponent.data.numerator}/{exponent.data.denominator}"
    if exponent.op == "neg":
        inside = exponent.args[0]
        return "-" + (printer.show(inside, 3) if level(inside) < 3 else small(inside, printer))
    if exponent.op == "div":
        return f"{printer.show(exponent.args[0], 4)}/{printer.show(exponent.args[1], 5)}"
    return printer.show(exponent)


def value_latex(value, show=None) -> str:
    """A number, or one in each place of nested tuples: a vector, a matrix, or a row of them."""
    show = show or Value().show
    if not isinstance(value, tuple):
        return show(value)
    if isinstance(value[0], tuple) and not isinstance(value[0][0], tuple):
        return Printer().rows([[show(x) for x in row] for row in value], True)
    return Printer().brackets(", ".join(value_latex(x, show) for x in value))


class Value(Printer):
    """A value that stands for itself, in a counterexample."""

    def const(self, e):
        return short_latex(e.data)

    def function(self, e):
        if e.data != "exp":
            return super().function(e)
        return "e" if e.args[0].op == "const" and e.args[0].data == 1 else f"e^{{{small(e.args[0], self)}}}"
