"""Read a formula as a reader types it, and write it as Python that computes exactly.

It may be typed as a script writes it, or as one types mathematics: `d*sigma^2`, `2 d`, `p_i (delta_ij - p_j)`, `W_Q W_K^T`, `|v_k|`, `0.25`. It may
use the names of a script, and those that the script's symbols have on the page.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from fractions import Fraction

from . import answer_names

SIGNS = {
    "½": "(1/2)",
    "−": "-",
    "·": "⋅",  # a product of numbers, a dot product of vectors or a product of matrices, as on the pages
    "×": "*",
    "÷": "/",
    "²": "**2",
    "³": "**3",
    "⁴": "**4",
    "^": "**",
    "√": "sqrt",
    "∑": "sum",
    "Σ": "sum",
    "∞": "oo",
}
# The words that are not taken for a product of letters, and the functions whose argument needs no brackets.
GREEK = frozenset(unicodedata.name(chr(code)).rpartition(" ")[2].lower() for code in range(ord("α"), ord("ω") + 1))
WORDS = GREEK | {name for name in vars(answer_names) if not name.startswith("_")}
FUNCTIONS = "sqrt|log|ln|exp|sin|cos|tanh"
_FUNCTION = rf"\b({FUNCTIONS})\s+(\w+)\b(?!\s*[\[(])"
# The calls that give a symbol its name on the page, or several their names, in one string.
NAMERS = frozenset(
    {"vector", "matrix", "random", "scalars", "sizes", "index", "symbol", "symbols", "Symbol", "Idx", "IndexedBase", "define"}
)
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z]\w*)|(?P<sign>\*\*|[-+*/⋅@()\[\],.=<>]))")


# Functions that a reader may try, and that no answer needs.
UNKNOWN = re.compile(r"a(rc)?(sin|cos|tan)|tan|cosh|sinh|max|min|relu|sigmoid|erf|sign|floor|ceil|mean|det|tr|trace|einsum|matmul")
_SUM = re.compile(
    r"\bsum_(?:\((?P<inner>\w+)\s*=(?P<from>[^()]*)\)|(?P<index>[A-Za-z]\w*)(?:\s*=\s*(?P<start>\w+))?)(?:\s*\*\*\s*(?P<last>\w+|\([^()]*\)))?"
)


EULER = "exp(1)"
PRODUCTS: dict[type[ast.operator], str] = {ast.Mod: "implicit_product", ast.FloorDiv: "dot_product", ast.MatMult: "matrix_product"}
MOST = 200  # the largest power of a number that is worked out


class Unreadable(Exception):
    """An answer that cannot be read; the message says why."""


def read_typed(typed: str, names: dict[str, str]) -> str:
    """Return what was typed as Python, given the names that it may use. Raise Unreadable if a sign has no meaning in a formula.

    A product without a sign becomes `%`, and one with a dot `//`, which have the same precedence as `*`; `write_python` decides which product it is.
    """
    typed = spell_signs(typed, has_t="T" in names)
    parts: list[str] = []
    before, at = "", 0
    while at < len(typed.rstrip()):
        found = _TOKEN.match(typed, at)
        if not found:
            raise Unreadable(f"{typed[at:].strip()[0]!r} has no meaning in a formula here")
        at = found.end()
        kind = found.lastgroup or ""
        part = found[kind].replace("⋅", "//")
        if kind == "name" and not (parts and parts[-1] == "."):
            part = read_name(part, names, is_call=typed[at:].lstrip().startswith("("))
            part = f"({part})" if " % " in part and parts and parts[-1] == "/" else part  # 1/nd, but nd^2 is n times d^2
        elif "." in part and kind == "number":
            part = f"({part.replace('.', '').lstrip('0') or '0'}/{10 ** len(part.partition('.')[2])})"
        last = "]" if parts[-2:] == [".", "T"] else parts[-1] if parts else ""  # a transpose ends a factor, as a bracket does
        if is_product(before, last, kind, part, names):
            parts.append("%")
        parts.append(part)
        before = kind
    return " ".join(parts).replace(" . ", ".")


def spell_signs(typed: str, *, has_t: bool) -> str:
    """Return a formula in the signs of Python. `has_t` says that the script has the name `T`, so that `^T` is no transpose."""
    typed = read_latex(typed)
    typed = typed.replace("⁻¹", "^-1")
    typed = re.sub(r"\^\s*(?:⊤|\(\s*⊤\s*\))|ᵀ", ".T ", typed)
    if not has_t:
        typed = re.sub(r"\^\s*(?:T(?![a-z0-9_])|\(\s*T\s*\))", ".T ", typed)
    typed = re.sub(r"\|\|([^|]+)\|\||‖([^‖]+)‖", lambda found: f" norm({found[1] or found[2]})", typed)
    typed = re.sub(r"\|([^|]+)\|", r" absolute(\1)", typed)
    typed = "".join(SIGNS.get(sign) or spell_greek(sign) for sign in typed)
    typed = re.sub(r"\bsqrt\s*(\w+)", r"sqrt(\1)", typed)  # √d
    typed = re.sub(r"\)_(\w+)", lambda found: f")[{', '.join(found[1])}]", typed)  # softmax(z)_i
    typed = re.sub(r"\babs\s*\(", "absolute(", typed)
    typed = re.sub(r"\blambda\b", "lamda", typed)  # which is no keyword of Python
    if found := re.search(rf"\b({FUNCTIONS})\s*\*\*", typed):
        raise Unreadable(f"Write a power after the brackets, as in {found[1]}(x)^2.")
    typed = spell_sums(typed)
    return re.sub(_FUNCTION, r"\1(\2)", typed)


def spell_sums(typed: str) -> str:
    """Return a formula with `sum(x_k, k)` for `sum_k x_k`, and `sum(x_k, k, Last(n))` if the sum names its last term.

    The sum ends before the next plus or minus sign outside brackets.
    """
    while found := [*_SUM.finditer(typed)]:
        last = found[-1]
        depth, end = 0, last.end()
        while end < len(typed) and depth >= 0:
            depth += (typed[end] in "([") - (typed[end] in ")]")
            if depth < 0 or depth == 0 and typed[end] in "+-,=" and typed[last.end() : end].strip():
                break
            end += 1
        body = typed[last.end() : end]
        if (first := last["from"] or last["start"]) and first.strip() != "1":
            raise Unreadable("A sum runs from 1 to the size of its index here.")
        upper = f", Last({last['last']})" if last["last"] else ""
        typed = f"{typed[: last.start()]}sum({body.strip()}, {last['index'] or last['inner']}{upper}){typed[end:]}"
    return typed


def read_latex(typed: str) -> str:
    """Return a formula without the commands and braces of LaTeX, such as `\\frac{1}{d}` and `x_{ij}`."""
    typed = re.sub(r"^[\s$=]+|[\s$.,;]+$", "", typed)
    typed = re.sub(r"\\(?:mathsf|mathrm|text)\s*{\s*T\s*}", "T", typed)
    typed = (
        re.sub(r"\\(?:left|right|,|;|!)", "", typed)
        .replace("\\|", "‖")
        .replace("\\cdot", "·")
        .replace("\\times", "*")
        .replace("\\top", "⊤")
    )
    for _ in range(10):  # from the inside out
        typed, count = re.subn(r"\\[dt]?frac\s*{([^{}]*)}\s*{([^{}]*)}", r"((\1)/(\2))", typed)
        typed, more = re.subn(r"_{([^{}]*)}", lambda found: "_" + re.sub(r"[\s,]", "", found[1]) + " ", typed)
        typed, others = re.subn(r"(?<!})(\^|\\[a-z]+)\s*{([^{}]*)}(?!\s*{)", r"\1(\2)", typed)
        if not count + more + others:
            break
    return re.sub(r"\\([A-Za-z]+)", r" \1", typed)


def spell_greek(sign: str) -> str:
    """Return the English name of a Greek letter, and any other character as it is."""
    found = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(sign, ""))
    return sign if not found else found[2].lower() if found[1] == "SMALL" else found[2].capitalize()


def read_name(name: str, names: dict[str, str], *, is_call: bool = False) -> str:
    """Return a name as the script writes it: `p_i` is the entry `p[i]`, unless the script has the name `p_i`, and `nd` is `n % d`."""
    if names.get(name) or (name in names and is_call):
        return names[name] or name
    if name == "e" and not is_call:
        return EULER  # the script may have another `e`, which has another name on the page
    head, _, letters = name.partition("_")
    if letters and (names.get(head) or head == "delta"):
        indices = [letters] if letters in names else list(letters)
        if all(index in names or index.isdigit() for index in indices):
            places = ", ".join(names.get(index, index) for index in indices)
            return f"{names[head]}[{places}]" if names.get(head) else f"delta({places})"
    if is_call and UNKNOWN.fullmatch(name):
        raise Unreadable(f"The function {name} has no meaning in an answer here.")
    if name not in WORDS and (split := split_name(name, names)):
        return " % ".join(names[part] for part in split)
    return name


def split_name(name: str, names: dict[str, str]) -> list[str]:
    """Return the names that a word consists of, such as `n` and `d` for `nd`; no names if it consists of none."""
    if not name:
        return []
    for end in range(len(name), 0, -1):
        if names.get(name[:end]) and (end == len(name) or split_name(name[end:], names)):
            return [name[:end], *split_name(name[end:], names)]
    return []


def is_product(before: str, last: str, kind: str, part: str, names: dict[str, str]) -> bool:
    """Return whether a product is meant between two parts without a sign, as in `2 d`, `d (a + b)` and `(a + b) c`."""
    if before == kind == "number":
        raise Unreadable(f"Two numbers side by side have no meaning here: write a sign between {last} and {part}.")
    ends = before in ("number", "name") or last in (")", "]")
    is_call = part == "(" and last.isidentifier() and last not in names.values()  # not so of the last name in `n % d`
    return ends and (kind in ("number", "name") or part == "(") and not is_call


def list_names(text: str) -> dict[str, str]:
    """Return the names that an answer may use, each with the script's name for it: those that the script defines, and those of its symbols.

    A symbol may have another name on the page than in the script, as in `pair = vector("s", 2)`. The script's own names come first. A function
    has the name "", because it is no factor of a product.
    """
    found: dict[str, str] = {}
    functions: dict[str, str] = {}
    shown: dict[str, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = node.id
        elif isinstance(node, ast.Assign):
            shown.update(list_symbols(node))
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = ""
        elif isinstance(node, ast.ImportFrom):
            functions.update((one.asname or one.name, "") for one in node.names)
    if "e" in shown.values() and "e" not in shown:
        found.pop("e")  # it is Euler's number on the page
    return functions | shown | found


def list_symbols(node: ast.Assign) -> dict[str, str]:
    """Return the names on the page of the symbols that an assignment makes, each with the script's name."""
    target, value = node.targets[0], node.value
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    found: dict[str, str] = {}
    for variable, call in zip(targets, values if len(values) == len(targets) else values * len(targets), strict=False):
        if not (isinstance(variable, ast.Name) and isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)):
            continue
        maker = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        written = str(call.args[0].value).split()
        if maker in NAMERS and written:
            at = targets.index(variable) if len(values) < len(targets) else 0
            if at < len(written) and written[at].isidentifier():
                found[written[at]] = variable.id
    return found


class Numbers(ast.NodeTransformer):
    """Compute with numbers exactly, so that `1/4` is no float, make arrays of lists, and write the products that have no sign.

    A power may be meant as the inverse or, if the script has a `T` of its own, as the transpose of a matrix: `power` decides which it is.
    """

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Return a number for an operation on two numbers, and a call for a product without a sign and for what may be no power."""
        self.generic_visit(node)
        left, right = read_number(node.left), read_number(node.right)
        if left is not None and right is not None:
            value = compute(node.op, left, right)
            return node if value is None else write_number(value)
        if type(node.op) in PRODUCTS:
            return ast.Call(ast.Name(PRODUCTS[type(node.op)], ast.Load()), [node.left, node.right], [])
        if isinstance(node.op, ast.Pow) and ast.unparse(node.left) == EULER:
            return ast.Call(ast.Name("exp", ast.Load()), [node.right], [])
        if isinstance(node.op, ast.Pow) and (right == -1 or isinstance(node.right, ast.Name) and node.right.id == "T"):
            return ast.Call(ast.Name("power", ast.Load()), [node.left, node.right], [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return a call of `transpose` for `.T`."""
        self.generic_visit(node)
        return ast.Call(ast.Name("transpose", ast.Load()), [node.value], []) if node.attr == "T" else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Return a negative number as a number."""
        self.generic_visit(node)
        value = read_number(node.operand)
        return write_number(-value) if value is not None and isinstance(node.op, ast.USub) else node

    def visit_List(self, node: ast.List) -> ast.expr:
        """Return an array for a list of numbers or of rows."""
        rows = [[self.visit(one) for one in row.elts] if isinstance(row, ast.List) else self.visit(row) for row in node.elts]
        inner: list[ast.expr] = [ast.List(row, ast.Load()) if isinstance(row, list) else row for row in rows]
        return ast.Call(ast.Name("array", ast.Load()), [ast.List(inner, ast.Load())], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Leave the list in `array([...])` as it is."""
        is_array = (
            isinstance(node.func, ast.Name) and node.func.id == "array" and len(node.args) == 1 and isinstance(node.args[0], ast.List)
        )
        return self.visit(node.args[0]) if is_array else self.generic_visit(node)  # type: ignore[return-value]


def read_number(node: ast.expr) -> Fraction | None:
    """Return the number that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = read_number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exact_fraction":
        parts = [read_number(one) for one in node.args]
        return None if None in parts or len(parts) != 2 else parts[0] / parts[1]  # type: ignore[operator]
    return None


def write_number(value: Fraction) -> ast.expr:
    """Return a number as Python."""
    if value.denominator == 1:
        return ast.Constant(int(value))
    return ast.Call(ast.Name("exact_fraction", ast.Load()), [ast.Constant(value.numerator), ast.Constant(value.denominator)], [])


def compute(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction | None:
    """Return the result of an operation on two numbers, or None if it is no small fraction."""
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult() | ast.Mod() | ast.FloorDiv():
            return left * right
        case ast.Div() if right:
            return left / right
        case ast.Pow() if right.denominator == 1 and abs(right) <= MOST and (left or right > 0):
            return left ** int(right)
    return None


def write_python(typed: str, names: dict[str, str]) -> str:
    """Return what was typed as Python that computes exactly. Raise Unreadable if it is no formula."""
    try:
        tree = ast.parse(f"({read_typed(typed, names)})", mode="eval")
    except SyntaxError:
        raise Unreadable("The formula is not complete: look for a missing operand or bracket.") from None
    if isinstance(tree.body, ast.Tuple):
        raise Unreadable("Type one formula, without a comma outside brackets.")
    return ast.unparse(ast.fix_missing_locations(Numbers().visit(tree)))
