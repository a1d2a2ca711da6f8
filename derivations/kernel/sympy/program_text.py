"""The text of a program: its head, what it carries, and the parts that every kind of claim is written in."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from pathlib import PurePath

from ..core.assumptions import assumption_text
from ..core.claims import Claim
from ..printing.plain_text import plain
from . import prelude_selection
from .python_names import SYMPY
from .tree_to_sympy import Translation, indices_of
from .tried_sizes import size_names, sizes_tried

TELLS = frozenset(["Fails", "NotSettled", "run"])  # what every program carries
MIDDLE = "# How it is checked."
TAIL = 'if __name__ == "__main__":\n    run(verdict)\n'
# A program is ASCII, as a server may name no encoding.
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
    """Its text: what it says of itself, the claim, and what it carries to check it."""

    prelude_selection: prelude_selection.Carried
    stated: str
    head: str

    @property
    def text(self) -> str:
        return f"{self.head}\n{self.carried.imports}\n\n\n{self.stated}\n\n\n{MIDDLE}\n\n\n{self.carried.definitions}\n\n{TAIL}"


def assembled(claim: Claim, *blocks: str) -> Program:
    """The blocks of the claim's part, lists first, two empty lines between functions."""
    stated = "\n\n\n".join(filter(None, blocks))
    used = {n.id for n in ast.walk(ast.parse(stated)) if isinstance(n, ast.Name)}
    return Program(prelude_selection.carried(frozenset(used) & (SYMPY | prelude_selection.names()) | TELLS), stated, head(claim))


def head(claim: Claim) -> str:
    """What a reader should know first."""
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
    lines += [f"    assuming that {assumption_text(a)}" for a in claim.given]
    lines += ["", "This program checks it as it stands. It prints its steps, and fails if one is false."]
    lines += ["It needs SymPy, with the mpmath that SymPy brings, and nothing else. To run it: python -I FILE.py"]
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in in_ascii("\n".join(line.rstrip() for line in lines)))
    return '"""' + text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '\n"""\n'


def in_ascii(text: str) -> str:
    """Words and formulas for a reader, in ASCII: signs as they are written in code, letters without their accents, and the rest as numbers."""
    for sign, written in ASCII.items():
        text = text.replace(sign, written)
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in apart if not unicodedata.combining(c)).encode("ascii", "backslashreplace").decode()


def function(name: str, parameters: list, says: str, t: Translation, body: list, first: tuple = ()) -> str:
    """A function's text: what stands before the body are the symbols and parts that the translation met."""
    lines = [f"def {name}({', '.join(parameters)}):", f'    """{says}"""', *(f"    {line}" for line in first)]
    lines += [f"    {identifier} = {text}" for identifier, text in t.lines.items()]
    return "\n".join([*lines, *(f"    {line}" for line in body)])


def looped(t: Translation, indices: list, body: Callable) -> list:
    """The body's lines within a loop for each open index; body is told how a step's place is named."""
    lines, depth = [], 0
    for i in indices:
        lines.append("    " * depth + f"for {t.index(i.data[0])} in range({t.size(i.data[1])}):")
        depth += 1
    place = "".join(f'"{i.data[0]}": {t.index(i.data[0])} + 1, ' for i in indices).removesuffix(", ")
    return lines + ["    " * depth + line for line in body(f", {{{place}}}" if place else "")]


def tried(claim: Claim, t: Translation, moving: frozenset = frozenset()) -> tuple:
    """(the parameters that are sizes, the line that lists the sizes tried)."""
    names = [n for n in size_names(claim) if n not in moving]
    parameters = [t.names.of("size", n) for n in names]
    if t.bits and not t.values:
        return tried_bits(claim, t, names, parameters)
    if not names:
        return [], "SIZES = [{}]  # there are none"
    tuples = sizes_tried(claim, names)
    every = list(product(*([*dict.fromkeys(column)] for column in zip(*tuples))))
    if len(tuples) > 9 and sorted(every) == sorted(tuples):  # a list of them is shorter
        values = [str(tuple(dict.fromkeys(column))) for column in zip(*tuples)]
        run = f"product({', '.join(values)})" if len(names) > 1 else values[0]
        return parameters, f"SIZES = [dict({', '.join(f'{p}={p}' for p in parameters)}) for {', '.join(parameters)} in {run}]"
    lists = "".join(f"    dict({', '.join(f'{p}={k}' for p, k in zip(parameters, sizes))}),\n" for sizes in tuples)
    return parameters, f"SIZES = [\n{lists}]"


def tried_bits(claim: Claim, t: Translation, names: list, parameters: list) -> tuple:
    """The same, where the entries of what is 0 or 1 are parameters as well."""
    own = [t.names.of("entries", n) for n in t.bits]
    lines = []
    for sizes in sizes_tried(claim, names) if names else [()]:
        lengths = [[int(n.data) if n.op == "const" else dict(zip(names, sizes))[n.data[0]] for n in s.shape] for s in t.bits.values()]
        for chosen in product(*(filled(shape) for shape in lengths)):
            lines.append(f"    dict({', '.join(f'{p}={value}' for p, value in zip([*parameters, *own], [*sizes, *chosen]))}),\n")
    return [*parameters, *own], f"SIZES = [\n{''.join(dict.fromkeys(lines))}]"


def filled(shape: list) -> list:
    """Zeros and ones in nested tuples, as texts: all that there are of few, and of many some."""
    count = prod(shape)
    patterns = (
        list(product((0, 1), repeat=count))
        if count < 4
        else [tuple((k * step // 2 + k // step) % 2 for k in range(count)) for step in (1, 2, 3)]
    )
    patterns += [(1,) * count, tuple(int(k > 0) for k in range(count))]
    return [nested(list(map(str, pattern)), shape) for pattern in dict.fromkeys(patterns)]


def nested(entries: list, shape: list) -> str:
    if not shape:
        return entries[0]
    each = len(entries) // shape[0]
    parts = [nested(entries[k * each : (k + 1) * each], shape[1:]) for k in range(shape[0])]
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def steps_text(t: Translation, claim: Claim, known: str = "") -> list:
    """The lines that state each step as two sides."""
    trees = [claim.start, *(s.expr for s in claim.steps)]
    names = [t.names.of("part", "start"), *(t.names.of("part", f"step_{k}") for k in range(1, len(trees)))]
    texts = [t.write(e).text for e in trees]

    def body(place):
        lines = [f"{names[0]} = {texts[0]}"]
        for k, ((left, right), text) in enumerate(zip(pairwise(names), texts[1:]), 1):
            lines += [f"{right} = {text}", f"yield {k}, {left}, {right}{known}{place}"]
        return lines

    return looped(t, indices_of(*trees), body)


def reasons(claim: Claim) -> str:
    return "REASONS = [\n" + "".join(f"    {s.reason!a},\n" for s in claim.steps) + "]"


def verdict(call: str) -> str:
    return f'def verdict(tell):\n    """What is found, how far it reaches, and how."""\n    return {call}'
