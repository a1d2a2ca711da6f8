"""A claim as a script that can be pasted and run: in the language's own words, with all that it names."""

from __future__ import annotations

from ..core.claims import Claim
from ..core.expr import Expr, named
from ..printing.latex import is_root
from ..printing.script_text import Script

KINDS = {"identity": "identity", "law": "identity", "chain": "chain", "inequality": "inequality", "limit": "limit", "refutation": "refute"}
ASSUMPTIONS = {"product": "product_is", "in range": "in_range", "moment": "has_moment"}


class Pasted(Script):
    """Two numbers are not left to Python, which would compute with them."""

    def kept(self, e: Expr, rule) -> str:
        if not all(map(is_number, e.args)):
            return rule(e)
        left, right = e.args
        first = f"paren({self.show(left)})"
        sign = {"add": " + ", "mul": "*", "div": "/", "pow": "**"}[e.op]
        return f"{first}{sign}{self.brackets(self.show(right))}"

    def add(self, e):
        return self.kept(e, super().add)

    def mul(self, e):
        return self.kept(e, super().mul)

    def div(self, e):
        return self.kept(e, super().div)

    def pow(self, e):
        return super().pow(e) if is_root(e) else self.kept(e, super().pow)


def is_number(e: Expr) -> bool:
    return e.op == "const" or e.op in ("neg", "paren") and is_number(e.args[0])


def script(e: Expr) -> str:
    return Pasted().show(e)


def pasted(claim: Claim) -> str:
    lines = ["from fractions import Fraction", "from derivations.kernel import *", *declared(claim), 'D = Derivation("pasted")']
    return "\n".join([*lines, stated(claim), "D.main()"])


def declared(claim: Claim) -> list:
    """Every name as it is made: sizes first, for the others speak of them."""
    found = dict.fromkeys(named(*claim.trees, *(s for s in claim.towards[:1])))
    order = sorted(found, key=lambda e: (e.op == "index", e.op == "symbol" and e.data[1] != "size"))
    strange = sorted({name for name, _ in claim.at} - {e.data[0] for e in found})  # a value for what does not stand in the claim
    return [f"{e.data[0]} = {made(e)}" for e in order] + [f'{name} = scalars("{name}")' for name in strange]


def made(e: Expr) -> str:
    name, kind = e.data
    shape = "".join(f", {script(s)}" for s in e.shape)
    if e.op == "index":
        return f'index("{name}", {script(kind)})'
    maker = "sizes" if kind == "size" else "random" if kind == "random" else ("scalars", "vector", "matrix")[len(e.shape)]
    return f'{maker}("{name}"{shape})'


def stated(claim: Claim) -> str:
    sides = [script(e) for e in (claim.start, *(s.expr for s in claim.steps))]
    if claim.towards:
        sides[1:1] = [script(claim.towards[0]), repr(claim.towards[1])]
    if claim.kind == "chain":
        sides[1:] = [f'({e}, "step")' for e in sides[1:]]
    more = []
    if claim.because:
        text = ", ".join(map(script, claim.because))
        more.append(f"because={text}" if len(claim.because) == 1 else f"because=({text})")
    if claim.at:
        more.append("at={" + ", ".join(f"{name}: {value_text(value)}" for name, value in claim.at) + "}")
    if claim.kind == "refutation" and claim.refuted != "=":
        more.append(f'relation="{claim.refuted}"')
    if claim.given:
        more.append("given=[" + ", ".join(map(assumption, claim.given)) + "]")
    return f'D.{KINDS[claim.kind]}("{claim.id}", {", ".join([*sides, *more])})'


def value_text(value) -> str:
    return "[" + ", ".join(map(value_text, value)) + "]" if isinstance(value, tuple) else script(value)


def assumption(a) -> str:
    return f"{ASSUMPTIONS.get(a.kind, a.kind)}({', '.join(map(script, a.args))})"
