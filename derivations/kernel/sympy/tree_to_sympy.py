"""Expression trees as SymPy's source text, at explicit sizes.

The text is Python for the tree as it is; nothing is simplified here. A vector is a column, a matrix a Matrix, and a tensor with three or more
axes an Array. Indices count from 0, as in Python. `symbol_text.py` writes symbols and their signs, `derivative_text.py` derivatives.
"""

from __future__ import annotations

from ..core.expr import Expr, free_indices, show, strip_brackets, walk
from .derivative_text import write_derivative
from .errors import Disagrees, NotForSymPy
from .symbol_text import ATOM, POWER, PRODUCT, SIGN, SUM, SymbolWriter, Text, call, mentions, number


class Translation(SymbolWriter):
    """A writer of the trees of one claim."""

    def write(self, e: Expr) -> Text:
        """Return the text of a tree. Raise NotForSymPy if an operator has no counterpart in SymPy."""
        rule = RULES.get(e.op)
        if e.op in UNSUPPORTED:
            raise NotForSymPy(UNSUPPORTED[e.op])
        if rule is None:
            raise NotForSymPy(f"SymPy has no counterpart of '{e.op}'")
        return rule(self, e)


# A rule for each operator


def write_const(t: Translation, e: Expr) -> Text:
    return number(e.data)


def write_imaginary(t: Translation, e: Expr) -> Text:
    return Text("I")


def write_symbol(t: Translation, e: Expr) -> Text:
    return Text(t.symbol(e))


def write_index(t: Translation, e: Expr) -> Text:
    return Text(f"{t.index(e.data[0])} + 1", SUM, True)


def write_defined(t: Translation, e: Expr) -> Text:
    """Return the name of a definition without open indices, and the text of any other definition's body."""
    if free_indices(e.args[0]):
        return t.write(e.args[0])
    body, near = t.write(e.args[0]).as_sympy(), t.replaced_names(e)
    return Text(t.add_line(("defined", e, near), t.names.of(f"defined{' near' * bool(near)} {' '.join(near)}", e.data[0]), body.text))


def write_paren(t: Translation, e: Expr) -> Text:
    return t.write(e.args[0])


def write_neg(t: Translation, e: Expr) -> Text:
    inner = t.write(e.args[0])
    return Text("-" + inner.within(PRODUCT), SIGN, inner.plain)


def write_add(t: Translation, e: Expr) -> Text:
    left, right = t.write(e.args[0]).as_sympy(), e.args[1]
    if right.op == "neg":
        return Text(f"{left.within(SUM)} - {t.write(right.args[0]).within(PRODUCT)}", SUM)
    return Text(f"{left.within(SUM)} + {t.write(right).within(PRODUCT)}", SUM)


def write_mul(t: Translation, e: Expr) -> Text:
    left, right = (t.write(x) for x in e.args)
    if all(x.shape for x in e.args) and not t.symbolic:  # in a law, one coordinate represents all
        return call("times", left.text, right.text)
    return Text(f"{left.as_sympy().within(PRODUCT)} * {right.within(POWER)}", PRODUCT)


def write_div(t: Translation, e: Expr) -> Text:
    left, right = (t.write(x) for x in e.args)
    if t.evaluated and e.args[1].op != "const":  # a number may be 0
        return call("divided", left.as_sympy().text, right.text)
    return Text(f"{left.as_sympy().within(PRODUCT)} / {right.within(POWER)}", PRODUCT)


def write_pow(t: Translation, e: Expr) -> Text:
    base, exponent = t.write(e.args[0]).as_sympy(), e.args[1]
    if exponent.op == "const" and exponent.data.denominator == 1:
        return Text(f"{base.within(ATOM)}**{t.write(exponent).within(POWER)}", POWER)
    found = call("power", base.text, t.write(exponent).text, *filter(None, [t.known_signs(), t.limit_argument(e.args[0])]))
    near = t.known_signs(near=True)
    return call("unfolded", found.text, near) if near else found


def write_matmul(t: Translation, e: Expr) -> Text:
    axes = [len(x.shape) for x in e.args]
    left, right = (t.write(x) for x in e.args)
    if max(*axes, len(e.shape)) > 2:
        return call("contract", left.text, right.text, *map(str, axes))
    if axes == [1, 1]:
        return Text(f"{left.within(ATOM)}.dot({right.text})")
    if axes == [1, 2]:
        return Text(f"{right.within(ATOM)}.T * {left.within(POWER)}", PRODUCT)
    return Text(f"{left.within(PRODUCT)} * {right.within(POWER)}", PRODUCT)


def write_transpose(t: Translation, e: Expr) -> Text:
    return Text(t.write(e.args[0]).within(ATOM) + ".T")


def write_inverse(t: Translation, e: Expr) -> Text:
    return call("inverse", t.write(e.args[0]).text)


def write_eye(t: Translation, e: Expr) -> Text:
    return call("eye", t.size(e.shape[0]))


def write_fill(t: Translation, e: Expr) -> Text:
    sizes, one = list(map(t.size, e.shape)), e.data == 1
    if not one and e.data != 0:
        raise NotForSymPy(f"a tensor of entries {e.data}")
    if len(sizes) > 2:
        return Text(f"Array([{int(e.data)}] * ({' * '.join(sizes)}), ({', '.join(sizes)}))")
    return call("ones" if one else "zeros", *sizes, *["1"] * (len(sizes) == 1))


def write_array(t: Translation, e: Expr) -> Text:
    name = "Array" if len(e.shape) > 2 else "Matrix"
    return call(name, rows([t.write(x).text for x in e.args], [int(s.data) for s in e.shape]))


def rows(texts: list[str], shape: list[int]) -> str:
    """Return nested lists of this shape, in source."""
    if not shape:
        return texts[0]
    each = len(texts) // shape[0]
    return "[" + ", ".join(rows(texts[k * each : (k + 1) * each], shape[1:]) for k in range(shape[0])) + "]"


def write_sum(t: Translation, e: Expr) -> Text:
    name, size = e.data
    return call("Add", f"*({t.write(e.args[0]).text} for {t.index(name)} in range({t.size(size)}))")


def write_each(t: Translation, e: Expr) -> Text:
    name, size = e.data
    each = f"({t.write(e.args[0]).text} for {t.index(name)} in range({t.size(size)}))"
    return call("stacked", each, str(len(e.args[0].shape)))


def write_where(t: Translation, e: Expr) -> Text:
    """Return the text of a scalar under a condition, which Python decides, because indices and sizes are numbers in the program."""
    if t.symbolic or t.moving or t.limit_variable:
        raise NotForSymPy("a comparison of positions in a law or a limit")
    body, left, right = map(t.write, e.args)
    return Text(f"({body.as_sympy().text} if {left.within(SUM)} {e.data} {right.within(SUM)} else Integer(0))")


def write_entry(t: Translation, e: Expr) -> Text:
    base, places = e.args[0], [str(int(i.data) - 1) if i.op == "const" else t.index(i.data[0]) for i in e.args[1:]]
    if base.op == "eye":
        return call("KroneckerDelta", *places)
    text = t.write(base)
    if base.op not in ("symbol", "defined", "paren") and not free_indices(base):  # evaluated once, not for every entry
        thing = ("part", strip_brackets(base), t.replaced_names(base))
        text = Text(t.line_names.get(thing) or t.add_line(thing, t.new_name("part"), text.text))
    return Text(f"{text.within(ATOM)}[{', '.join(places)}]")


ARITHMETIC = ("add", "mul", "div", "pow", "neg")
FUNCTIONS = {"exp": "exp", "log": "log", "abs": "Abs", "cos": "cos", "sin": "sin", "tanh": "tanh", "norm": "norm", "largest": "largest"}


def write_function(t: Translation, e: Expr) -> Text:
    if e.data not in FUNCTIONS:
        raise NotForSymPy(f"SymPy has no counterpart of '{e.data}'")
    name, inner = FUNCTIONS[e.data], t.write(e.args[0])
    signs = t.known_signs(near=name == "Abs") if name in ("log", "Abs") else ""
    if signs and name == "Abs":
        name = "modulus"
    more = [*filter(None, [signs, t.limit_argument(e.args[0]) if name == "log" else ""])]
    if e.shape:
        one = f"lambda v: {name}({', '.join(['v', *more])})" if more else name
        return Text(f"{inner.within(ATOM)}.applyfunc({one})")
    return call(name, inner.text, *more)


def write_softmax(t: Translation, e: Expr) -> Text:
    name = "softmax" if len(e.shape) == 1 else "softmax_rows"
    return call(name, t.write(e.args[0]).text)


def write_rounded(t: Translation, e: Expr) -> Text:
    """Return the text of a rounding. In a limit, a rounding that does not depend on the variable is an unknown constant."""
    if t.limit_variable and mentions(e, {t.limit_variable}):
        raise Disagrees(
            f"the rounding {show(e)} moves with {t.limit_variable}: it goes in steps, whatever holds at a point", code="rounding-in-limit"
        )
    if t.limit_variable:
        return call(f'Function("rounded_{e.data}", real=True)', t.write(e.args[0]).as_sympy().text)
    if not t.evaluated and any(n.op in ("symbol", "index") for n in walk(e)):
        raise NotForSymPy("the rounding of a number that is not known")
    return call("rounded", t.write(e.args[0]).text, f'"{e.data}"')


def write_rank(t: Translation, e: Expr) -> Text:
    if not t.evaluated:
        raise NotForSymPy("a rank at every entry")
    return call("rank", t.write(e.args[0]).text)


RULES = {
    "const": write_const,
    "imaginary": write_imaginary,
    "symbol": write_symbol,
    "index": write_index,
    "defined": write_defined,
    "paren": write_paren,
    "add": write_add,
    "neg": write_neg,
    "mul": write_mul,
    "div": write_div,
    "pow": write_pow,
    "matmul": write_matmul,
    "transpose": write_transpose,
    "inverse": write_inverse,
    "eye": write_eye,
    "fill": write_fill,
    "array": write_array,
    "sum": write_sum,
    "each": write_each,
    "where": write_where,
    "entry": write_entry,
    "function": write_function,
    "softmax": write_softmax,
    "derivative": write_derivative,
    "rounded": write_rounded,
    "rank": write_rank,
}
UNSUPPORTED = {"expectation": "an expectation outside of a law", "variance": "a variance outside of a law"}  # laws are written by `laws.py`
