"""Expression trees as LaTeX, with operands in order and brackets where they matter."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

from ..errors import KernelError
from .name_latex import name_latex, names_matrix, names_operator, names_word

ATOM = 6
LEVEL = {  # how tightly the printed form binds: inside a form that binds tighter, it needs brackets
    "add": 1,
    **dict.fromkeys(("neg", "sum", "where", "derivative"), 2),
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
    **{name: rf"\operatorname{{{name}}}" for name in ("abs", "norm")},  # used where bars would be ambiguous
}
COMPARISON_SIGNS = {"<=": r"\le", "<": "<"}
NAMED = ("symbol", "defined", "index")  # operators printed as a name, the first item of their data
TALL = (r"\frac", r"\sum", r"\left", r"\sqrt", r"\begin")  # brackets around these must grow


class Tree(Protocol):
    """The interface of `core.expr.Expr` that printers use. This room does not import core."""

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
    """Return a rational number in LaTeX."""
    return ("-" if q < 0 else "") + (str(abs(q.numerator)) if q.denominator == 1 else rf"\frac{{{abs(q.numerator)}}}{{{q.denominator}}}")


def short_latex(q: Fraction) -> str:
    """Return a rational value in LaTeX, a large power of two as a power. Only for values: in a tree, a power and its digits are different."""
    sign, q = ("-" if q < 0 else ""), abs(q)
    exponent = q.numerator.bit_length() - q.denominator.bit_length()
    if abs(exponent) > 10 and q == Fraction(2) ** exponent:
        return f"{sign}2^{{{exponent}}}"
    return sign + fraction_latex(q)


def level(e: Tree) -> int:
    """Return how tightly the printed form of a node binds. Raise KernelError for an unknown operator."""
    if e.op == "const" and (e.data < 0 or e.data.denominator != 1):
        return 2 if e.data < 0 else 4
    if e.op == "pow" and is_root(e):
        return ATOM
    if is_indicator(e):
        return ATOM
    if e.op not in LEVEL:
        raise KernelError(f"nothing says how tightly '{e.op}' binds when it is printed", code="not-printable")
    return LEVEL[e.op]


def is_root(e: Tree) -> bool:
    """Return whether a power is a square root."""
    return e.args[1].op == "const" and e.args[1].data == Fraction(1, 2)


def latex(e: Tree) -> str:
    """Return an expression in LaTeX."""
    return Printer().show(e)


class Printer:
    """A printer for LaTeX, with one method for each operator that `WORDS` does not list. Plain text and scripts override the methods."""

    def show(self, e: Tree, least: int = 0) -> str:
        """Return the node as text, in brackets if it binds less tightly than `least`."""
        text = self.rule(e.op)(e)
        return self.brackets(text) if level(e) < least else text

    def rule(self, op: str) -> Callable[[Tree], str]:
        """Return the method that prints an operator. Raise KernelError if there is none."""
        rule = self.word if op in WORDS else getattr(self, op, None)
        if rule is None:
            raise KernelError(f"there is no way to print the node '{op}'", code="not-printable")
        return rule

    def word(self, e: Tree) -> str:
        below = rf"_{{\mathrm{{{format_}}}}}" if (format_ := format_to_show(e)) else ""
        return rf"\operatorname{{{WORDS[e.op]}}}{below}{self.brackets(self.show(e.args[0]))}"

    def brackets(self, text: str, pair: str = "()") -> str:
        left, right = pair[0], pair[1]
        return rf"\left{left}{text}\right{right}" if any(tall in text for tall in TALL) else f"{left}{text}{right}"

    def const(self, e: Tree) -> str:
        return fraction_latex(e.data)

    def imaginary(self, e: Tree) -> str:
        return r"\mathrm{i}"

    def symbol(self, e: Tree) -> str:
        return name_latex(e.data[0])

    def defined(self, e: Tree) -> str:
        return name_latex(e.data[0])

    def index(self, e: Tree) -> str:
        return name_latex(e.data[0])

    def paren(self, e: Tree) -> str:
        return self.brackets(self.show(e.args[0]))

    def add(self, e: Tree) -> str:
        left, right = e.args
        if right.op == "neg":
            inside = right.args[0]
            return f"{self.show(left, 1)} - {self.show(inside, 3 if inside.op == 'neg' or is_negative_number(inside) else 2)}"
        return f"{self.show(left, 1)} + {self.show(right, 3 if right.op == 'neg' or is_negative_number(right) else 2)}"

    def neg(self, e: Tree) -> str:
        return f"-{self.show(e.args[0], 3)}"

    def mul(self, e: Tree) -> str:
        left, right = e.args
        if is_entrywise(e):
            return rf"{self.show(left, 4)} \odot {self.show(right, 4)}"
        after = self.show(right, 4)
        needs_dot = starts_with_digit(right) or right.op == "fill" or looks_like_function(left, after) or looks_like_operator(left)
        dot = r" \cdot " if needs_dot else r" \, " if left.op == "sum" else " "
        return f"{self.show(left, 3)}{dot}{after}"

    def matmul(self, e: Tree) -> str:
        left, right = e.args
        after = self.show(right, 4)
        needs_dot = len(left.shape) == 1 == len(right.shape) or not is_entrywise(left) and looks_like_function(left, after)
        dot = r" \cdot " if needs_dot else " "
        return f"{self.show(left, 4 if is_entrywise(left) else 3)}{dot}{after}"

    def div(self, e: Tree) -> str:
        above, below = map(self.show, e.args)
        return rf"\frac{{{above}}}{{{below}}}"

    def pow(self, e: Tree) -> str:
        base, exponent = e.args
        if is_root(e):
            return rf"\sqrt{{{self.show(base)}}}"
        if base.op == "function" and base.data not in ("abs", "norm"):
            return f"{self.brackets(self.show(base))}^{{{exponent_text(exponent, self)}}}"
        return f"{self.show(base, ATOM)}^{{{exponent_text(exponent, self)}}}"

    def transpose(self, e: Tree) -> str:
        base = e.args[0]
        shown = self.brackets(self.show(base)) if base.op == "function" and base.data != "abs" else self.show(base, ATOM)
        return rf"{shown}^{{\top}}"

    def inverse(self, e: Tree) -> str:
        if e.args[0].op == "transpose":
            return rf"{self.show(e.args[0].args[0], ATOM)}^{{-\top}}"
        return rf"{self.show(e.args[0], ATOM)}^{{-1}}"

    def eye(self, e: Tree) -> str:
        return "I"

    def fill(self, e: Tree) -> str:
        """Return a constant tensor, for a matrix with its shape to distinguish it from a vector."""
        below = r" \times ".join(map(self.show, e.shape))
        return rf"\mathbf{{{e.data}}}" + (f"_{{{below}}}" if len(e.shape) > 1 else "")

    def array(self, e: Tree) -> str:
        if len(e.shape) > 2:
            raise KernelError("a tensor with more than two axes is not printed; name its parts", code="not-printable")
        columns = int(e.shape[1].data) if len(e.shape) == 2 else 1
        shown = [self.show(x) for x in e.args]
        return self.rows([shown[k : k + columns] for k in range(0, len(shown), columns)], len(e.shape) == 2)

    def rows(self, rows: list[list[str]], is_matrix: bool) -> str:
        if not is_matrix:
            return self.brackets(", ".join(row[0] for row in rows) + "," * (len(rows) == 1))
        return r"\begin{pmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{pmatrix}"

    def sum(self, e: Tree) -> str:
        name, size = e.data
        body, conditions = split_conditions(e.args[0])
        first, last, *more = [f"{name_latex(name)} = 1", self.show(size), *map(self.condition, conditions)]
        if conditions and is_up_to_index(conditions[0], e):
            last, more = self.show(conditions[0].args[2]), more[1:]
        below = r",\, ".join([first, *more])
        return rf"\sum_{{{below}}}^{{{last}}} {self.show(body, 2 if body.op == 'sum' else 3)}"

    def condition(self, e: Tree) -> str:
        """Return the condition of a `where` node."""
        return f"{self.show(e.args[1])} {COMPARISON_SIGNS[e.data]} {self.show(e.args[2])}"

    def where(self, e: Tree) -> str:
        """Return 1 under a condition as an Iverson bracket, and anything else as a case distinction."""
        if is_indicator(e):
            return self.brackets(self.condition(e), "[]")
        return rf"\begin{{cases}} {self.show(e.args[0])} & {self.condition(e)} \\ 0 & \text{{otherwise}} \end{{cases}}"

    def each(self, e: Tree) -> str:
        body, indices = split_each(e)
        below = ", ".join(f"{name_latex(name)} = 1" for name, _ in indices)
        return f"{self.brackets(self.show(body))}_{{{below}}}^{{{', '.join(self.show(size) for _, size in indices)}}}"

    def entry(self, e: Tree) -> str:
        base = e.args[0]
        shown = [self.show(i) for i in e.args[1:]]
        at = ("" if all(len(i) == 1 for i in shown) else ",").join(f"{i} " for i in shown).strip()
        text = self.show(base, ATOM)
        if base.op in ("symbol", "defined") and "_" not in text:
            return rf"{text}_{{{at}}}"
        return rf"{self.brackets(text) if '_' in text and base.op in ('symbol', 'defined', 'fill') else text}_{{{at}}}"

    def function_name(self, e: Tree) -> str:
        if e.data not in FUNCTION_NAMES:
            raise KernelError(f"there is no way to print the function '{e.data}'", code="not-printable")
        return FUNCTION_NAMES[e.data]

    def function(self, e: Tree) -> str:
        """Return a function application. Entrywise functions of a matrix are marked, else a reader sees a matrix exponential or a determinant."""
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

    def expectation(self, e: Tree) -> str:
        return rf"\operatorname{{E}}{self.brackets(self.show(e.args[0]), '[]')}"

    def derivative(self, e: Tree) -> str:
        body, by = e.args
        top = self.show(body, ATOM)
        if body.op in ("symbol", "defined", "entry"):
            return rf"\frac{{\partial {top}}}{{\partial {self.show(by)}}}"
        return rf"\frac{{\partial}}{{\partial {self.show(by)}}} {self.show(body, 4)}"


def split_conditions(body: Tree) -> tuple[Tree, list[Tree]]:
    """Return the body of nested `where` nodes, and these nodes, the outermost first."""
    conditions = []
    while body.op == "where":
        conditions.append(body)
        body = body.args[0]
    return body, conditions


def is_up_to_index(condition: Tree, e: Tree) -> bool:
    """Return whether the condition of a sum is that its index is at most another index of the same size: it is then printed as a limit."""
    _, left, right = condition.args
    return condition.data == "<=" and left == e.bound_index != right and right.op == "index" and right.data[1] == e.data[1]


def is_indicator(e: Tree) -> bool:
    """Return whether a node is 1 where a condition holds, and 0 elsewhere."""
    return e.op == "where" and e.args[0].op == "const" and e.args[0].data == 1


def split_each(e: Tree) -> tuple[Tree, list]:
    """Return the body and the indices of nested `each` nodes. An index whose name is bound already starts a new tensor."""
    body, indices = e.args[0], [e.data]
    while body.op == "each" and body.data[0] not in (name for name, _ in indices):
        indices.append(body.data)
        body = body.args[0]
    return body, indices


def is_negative_number(e: Tree) -> bool:
    return e.op == "const" and e.data < 0


def is_entrywise(e: Tree) -> bool:
    return e.op == "mul" and all(x.shape for x in e.args)


def starts_with_digit(e: Tree) -> bool:
    if e.op in ("const", "fill"):
        return True
    return e.op in ("mul", "pow", "div") and not is_fraction(e) and starts_with_digit(e.args[0])


def looks_like_function(left: Tree, after: str) -> bool:
    """Return whether a reader would take the left factor for a function that is applied to the text after it.

    A word always looks like a function. A letter does so before brackets, unless it is a matrix: there application and product agree.
    """
    left = last_factor(left)
    base = left.args[0] if left.op in ("entry", "transpose", "inverse") else left
    if base.op not in NAMED:
        return False
    name = base.data[0]
    return names_word(name) or after.startswith(("(", r"\left(", r"\begin")) and not (left.shape and names_matrix(name))


def format_to_show(e: Tree) -> str:
    """Return the format of a rounding. Return "" for fp32, which is not shown, and for other operators."""
    return e.data if e.op == "rounded" and e.data != "fp32" else ""


def last_factor(e: Tree) -> Tree:
    """Return the last factor of a product, without its exponent."""
    while e.op in ("mul", "matmul"):
        e = e.args[1]
    return e.args[0] if e.op == "pow" and not is_root(e) else e


def looks_like_operator(left: Tree) -> bool:
    """Return whether a reader would take the left factor for an operator, as d x for a differential and E x for a mean."""
    last = last_factor(left)
    return last.op in NAMED and not last.shape and names_operator(last.data[0])


def is_fraction(e: Tree) -> bool:
    return e.op == "div"


def exponent_text(exponent: Tree, printer: Printer) -> str:
    """Return an exponent, with fractions on one line."""
    if exponent.op == "const" and exponent.data.denominator != 1:
        return f"{exponent.data.numerator}/{exponent.data.denominator}"
    if exponent.op == "neg":
        inside = exponent.args[0]
        return "-" + (printer.show(inside, 3) if level(inside) < 3 else exponent_text(inside, printer))
    if exponent.op == "div":
        return f"{printer.show(exponent.args[0], 4)}/{printer.show(exponent.args[1], 5)}"
    return printer.show(exponent)


def value_latex(value: Any, show: Callable[[Any], str] | None = None) -> str:
    """Return the value of a symbol in LaTeX: a number, or nested tuples for a vector, a matrix, or a sequence of matrices."""
    show = show or Value().show
    if not isinstance(value, tuple):
        return show(value)
    if isinstance(value[0], tuple) and not isinstance(value[0][0], tuple):
        return Printer().rows([[show(x) for x in row] for row in value], True)
    return Printer().brackets(", ".join(value_latex(x, show) for x in value))


class Value(Printer):
    """A printer for the values of a counterexample, which are not part of a tree."""

    def const(self, e: Tree) -> str:
        return short_latex(e.data)

    def function(self, e: Tree) -> str:
        if e.data != "exp":
            return super().function(e)
        return "e" if e.args[0].op == "const" and e.args[0].data == 1 else f"e^{{{exponent_text(e.args[0], self)}}}"
