"""The text of a program: its docstring, the prelude, and the parts that all kinds of claims share."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from pathlib import PurePath

from ..core.assumptions import describe_assumption
from ..core.claims import Claim
from ..core.expr import Expr
from ..printing.plain_text import plain
from . import prelude_selection
from .python_names import SYMPY
from .symbol_text import indices_of
from .tree_to_sympy import Translation
from .tried_sizes import size_names, sizes_tried

TELLS = frozenset(["Fails", "NotSettled", "run"])  # the parts of the prelude that every program contains
MIDDLE = "# How it is checked."
TAIL = 'if __name__ == "__main__":\n    run(verdict)\n'
# A program is ASCII, because a server may send it without an encoding.
ASCII = {
    "ᵀ": ".T",
    "⁻¹": "^-1",
    "²": "^2",
    "³": "^3",
    "−": "-",
    "–": "-",
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "β": "beta",
}
SIGNS = {"=": "=", "<=": "<=", "!=": "!=", "!<=": "is not <=", "->": "->"}


@dataclass(frozen=True)
class Program:
    """A program: the part of the prelude, the source of the claim, and the docstring."""

    prelude: prelude_selection.PreludeSelection
    stated: str
    head: str

    @property
    def text(self) -> str:
        """The whole source."""
        return f"{self.head}\n{self.prelude.imports}\n\n\n{self.stated}\n\n\n{MIDDLE}\n\n\n{self.prelude.definitions}\n\n{TAIL}"


def assemble(claim: Claim, *blocks: str) -> Program:
    """Return the program with these blocks of source as the claim."""
    stated = "\n\n\n".join(filter(None, blocks))
    used = {n.id for n in ast.walk(ast.parse(stated)) if isinstance(n, ast.Name)}
    return Program(prelude_selection.select_prelude(frozenset(used) & (SYMPY | prelude_selection.names()) | TELLS), stated, head(claim))


def head(claim: Claim) -> str:
    """Return the docstring of a program: the claim in words, where it is stated, and how to run the program."""
    parts = PurePath(claim.file).parts
    known = parts[-3:-2] == ("derivations",)  # a topic of the site: derivations/CHAPTER/TOPIC.py
    home = "/".join(parts[-3:] if known else parts[-1:])
    page = f"; on the site it is {parts[-2]}/{PurePath(claim.file).stem}#{claim.id}" if known else ""
    lines = [
        f"{claim.id}{': ' * bool(claim.title)}{claim.title}",
        "",
        f"The claim stands in {home}{page}:",
        "",
        f"    {plain(claim.start)}",
    ]
    lines += [f"      {SIGNS.get(s.relation, s.relation)} {plain(s.expr)}" for s in claim.steps]
    lines += [f"    as {plain(claim.towards[0])} -> {claim.towards[1]}"] if claim.towards else []
    lines += [f"    assuming that {describe_assumption(a)}" for a in claim.given]
    lines += ["", "This program checks it as it stands. It prints its steps, and fails if one is false."]
    lines += ["It needs SymPy, with the mpmath that SymPy brings, and nothing else. To run it: python -I FILE.py"]
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in to_ascii("\n".join(line.rstrip() for line in lines)))
    return '"""' + text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '\n"""\n'


def to_ascii(text: str) -> str:
    """Return a text in ASCII: signs as in code, letters without accents, and other characters as escapes."""
    for sign, replacement in ASCII.items():
        text = text.replace(sign, replacement)
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).encode("ascii", "backslashreplace").decode()


def write_function(name: str, parameters: list[str], docstring: str, t: Translation, body: list[str], first: Sequence[str] = ()) -> str:
    """Return the source of a function. Before its body are the lines of the translation, which define symbols and parts."""
    lines = [f"def {name}({', '.join(parameters)}):", f'    """{docstring}"""', *(f"    {line}" for line in first)]
    lines += [f"    {identifier} = {text}" for identifier, text in t.lines.items()]
    return "\n".join([*lines, *(f"    {line}" for line in body)])


def write_loops(t: Translation, indices: list[Expr], body: Callable[[str], list[str]]) -> list[str]:
    """Return the lines of `body` within a loop for each index. `body` gets the text that names the values of the indices in messages."""
    lines: list[str] = []
    depth = 0
    for i in indices:
        lines.append("    " * depth + f"for {t.index(i.data[0])} in range({t.size(i.data[1])}):")
        depth += 1
    place = "".join(f'"{i.data[0]}": {t.index(i.data[0])} + 1, ' for i in indices).removesuffix(", ")
    return lines + ["    " * depth + line for line in body(f", {{{place}}}" if place else "")]


def write_sizes(claim: Claim, t: Translation, moving: frozenset[str] = frozenset()) -> tuple[list[str], str]:
    """Return the parameters of the claim's functions, which are sizes, and the source that lists their values.

    `moving` names the sizes that are symbols in the program, because a limit is taken.
    """
    names = [n for n in size_names(claim) if n not in moving]
    parameters = [t.names.of("size", n) for n in names]
    if t.bits and not t.values:
        return write_mask_sizes(claim, t, names, parameters)
    if not names:
        return [], "SIZES = [{}]  # there are none"
    tuples = sizes_tried(claim, names)
    every = list(product(*([*dict.fromkeys(column)] for column in zip(*tuples))))
    if len(tuples) > 9 and sorted(every) == sorted(tuples):  # a product is shorter than a list
        values = [str(tuple(dict.fromkeys(column))) for column in zip(*tuples)]
        run = f"product({', '.join(values)})" if len(names) > 1 else values[0]
        return parameters, f"SIZES = [dict({', '.join(f'{p}={p}' for p in parameters)}) for {', '.join(parameters)} in {run}]"
    lists = "".join(f"    dict({', '.join(f'{p}={k}' for p, k in zip(parameters, sizes))}),\n" for sizes in tuples)
    return parameters, f"SIZES = [\n{lists}]"


def write_mask_sizes(claim: Claim, t: Translation, names: list[str], parameters: list[str]) -> tuple[list[str], str]:
    """Return the same for a claim with zero_or_one symbols, whose entries are further parameters."""
    masks = [t.names.of("entries", n) for n in t.bits]
    lines = []
    for sizes in sizes_tried(claim, names) if names else [()]:
        lengths = [[int(n.data) if n.op == "const" else dict(zip(names, sizes))[n.data[0]] for n in s.shape] for s in t.bits.values()]
        for chosen in product(*(mask_patterns(shape) for shape in lengths)):
            lines.append(f"    dict({', '.join(f'{p}={value}' for p, value in zip([*parameters, *masks], [*sizes, *chosen]))}),\n")
    return [*parameters, *masks], f"SIZES = [\n{''.join(dict.fromkeys(lines))}]"


def mask_patterns(shape: list[int]) -> list[str]:
    """Return tensors of zeros and ones as nested tuples in source: all for fewer than four entries, else some."""
    count = prod(shape)
    patterns: list[tuple[int, ...]] = (
        list(product((0, 1), repeat=count))
        if count < 4
        else [tuple((k * step // 2 + k // step) % 2 for k in range(count)) for step in (1, 2, 3)]
    )
    patterns += [(1,) * count, tuple(int(k > 0) for k in range(count))]
    return [nest_tuples(list(map(str, pattern)), shape) for pattern in dict.fromkeys(patterns)]


def nest_tuples(entries: list[str], shape: list[int]) -> str:
    """Return the source text of nested tuples with this shape; `entries` are the texts of the innermost elements, row by row."""
    if not shape:
        return entries[0]
    each = len(entries) // shape[0]
    parts = [nest_tuples(entries[k * each : (k + 1) * each], shape[1:]) for k in range(shape[0])]
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def write_steps(t: Translation, claim: Claim, known: str = "") -> list[str]:
    """Return the lines that yield the number and both sides of each step, followed by `known`."""
    trees = [claim.start, *(s.expr for s in claim.steps)]
    names = [t.names.of("part", "start"), *(t.names.of("part", f"step_{k}") for k in range(1, len(trees)))]
    texts = [t.write(e).text for e in trees]

    def body(place: str) -> list[str]:
        lines = [f"{names[0]} = {texts[0]}"]
        for k, ((left, right), text) in enumerate(zip(pairwise(names), texts[1:]), 1):
            lines += [f"{right} = {text}", f"yield {k}, {left}, {right}{known}{place}"]
        return lines

    return write_loops(t, indices_of(*trees), body)


def write_reasons(claim: Claim) -> str:
    """Return the list of the reasons of the steps, in source."""
    return "REASONS = [\n" + "".join(f"    {s.reason!a},\n" for s in claim.steps) + "]"


def write_verdict(call: str) -> str:
    """Return the function of a program that returns its verdict, in source."""
    return f'def verdict(tell):\n    """What is found, how far it reaches, and how."""\n    return {call}'
