"""Write a claim as a script that can be pasted into a file and run."""

from __future__ import annotations

from collections.abc import Callable

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import named_nodes
from ..printing.latex import Tree, is_root
from ..printing.script_text import Script

KINDS = {"identity": "identity", "law": "identity", "chain": "chain", "inequality": "inequality", "limit": "limit", "refutation": "refute"}
ASSUMPTIONS = {"product": "product_is", "in range": "in_range", "moment": "has_moment"}


class ExactScript(Script):
    """A printer of trees that keeps operations between two numbers, which Python would otherwise evaluate."""

    def keep_operation(self, e: Tree, rule: Callable[[Tree], str]) -> str:
        """Return the text of a binary operation; put the first of two numbers in `paren`."""
        if not all(map(is_number, e.args)):
            return rule(e)
        left, right = e.args
        first = f"paren({self.show(left)})"
        sign = {"add": " + ", "mul": "*", "div": "/", "pow": "**"}[e.op]
        return f"{first}{sign}{self.brackets(self.show(right))}"

    def add(self, e: Tree) -> str:
        return self.keep_operation(e, super().add)

    def mul(self, e: Tree) -> str:
        return self.keep_operation(e, super().mul)

    def div(self, e: Tree) -> str:
        return self.keep_operation(e, super().div)

    def pow(self, e: Tree) -> str:
        return super().pow(e) if is_root(e) else self.keep_operation(e, super().pow)

    def condition(self, e: Tree) -> str:
        _, left, right = e.args
        return f"paren({self.show(left)}) {e.data} {self.show(right)}" if is_number(left) and is_number(right) else super().condition(e)


def is_number(e: Tree) -> bool:
    """Return whether a tree is a number, possibly negated or in brackets."""
    return e.op == "const" or e.op in ("neg", "paren") and is_number(e.args[0])


def tree_to_script(e: Tree) -> str:
    """Return the tree as text of a script."""
    return ExactScript().show(e)


def claim_to_script(claim: Claim) -> str:
    """Return the text of a script that states the claim and checks it."""
    lines = ["from fractions import Fraction", "from derivations.kernel import *", *declarations(claim), 'D = Derivation("pasted")']
    return "\n".join([*lines, statement(claim), "D.main()"])


def declarations(claim: Claim) -> list[str]:
    """Return the lines that declare the claim's names: sizes first, because the others have them in their shapes."""
    declared = dict.fromkeys(named_nodes(*claim.trees, *(s for s in claim.towards[:1])))
    order = sorted(declared, key=lambda e: (e.op == "index", e.op == "symbol" and e.data[1] != "size"))
    undeclared = sorted({name for name, _ in claim.at} - {e.data[0] for e in declared})  # have a value, but do not occur in the claim
    return [f"{e.data[0]} = {constructor(e)}" for e in order] + [f'{name} = scalars("{name}")' for name in undeclared]


def constructor(e: Tree) -> str:
    """Return the call that makes a symbol or an index."""
    name, kind = e.data
    shape = "".join(f", {tree_to_script(s)}" for s in e.shape)
    if e.op == "index":
        return f'index("{name}", {tree_to_script(kind)})'
    maker = "sizes" if kind == "size" else "random" if kind == "random" else ("scalars", "vector", "matrix")[len(e.shape)]
    return f'{maker}("{name}"{shape})'


def statement(claim: Claim) -> str:
    """Return the call that states the claim."""
    sides = [tree_to_script(e) for e in (claim.start, *(s.expr for s in claim.steps))]
    if claim.towards:
        sides[1:1] = [tree_to_script(claim.towards[0]), repr(claim.towards[1])]
    if claim.kind == "chain":
        sides[1:] = [f'({e}, "step")' for e in sides[1:]]
    keywords = []
    if claim.because:
        text = ", ".join(map(tree_to_script, claim.because))
        keywords.append(f"because={text}" if len(claim.because) == 1 else f"because=({text})")
    if claim.at:
        keywords.append("at={" + ", ".join(f"{name}: {value_text(value)}" for name, value in claim.at) + "}")
    if claim.kind == "refutation" and claim.refuted != "=":
        keywords.append(f'relation="{claim.refuted}"')
    if claim.given:
        keywords.append("given=[" + ", ".join(map(assumption, claim.given)) + "]")
    return f'D.{KINDS[claim.kind]}("{claim.id}", {", ".join([*sides, *keywords])})'


def value_text(value: Tree | tuple) -> str:
    """Return the value of a counterexample as text of a script."""
    return "[" + ", ".join(map(value_text, value)) + "]" if isinstance(value, tuple) else tree_to_script(value)


def assumption(a: Assumption) -> str:
    """Return the call that makes an assumption."""
    return f"{ASSUMPTIONS.get(a.kind, a.kind)}({', '.join(map(tree_to_script, a.args))})"
