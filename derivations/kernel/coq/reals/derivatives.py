"""State claims with derivatives, logarithms, sines or general powers, in the notation of MathComp over Coq's real numbers.

A derivative with respect to an entry is the derivative of a function of one number, which replaces that entry in its tensor. A separate
theorem, before those of the steps, states that the derivative exists.
"""

from __future__ import annotations

from ...core.claims import Claim
from ...core.expr import Expr, walk
from ...core.operators import differentiation_symbol
from ..algebraic_structures import ROOTS, NotForCoq
from ..notation import APPLIED, ATOM, Notation, Text, translate_place
from ..theorems import Source, state_chain, state_inequality
from .definedness import is_surely_positive
from .prelude import SCOPE, SLOPES_NAME

MOVING = "moving"  # the argument of the function that is differentiated with respect to an entry
FUNCTIONS = {"log": "ln", "cos": "cos", "sin": "sin"}
SQUARE_ROOTS = (1, 2, 4)  # denominators of exponents that square roots express


class Slopes(Notation):
    """The notation of MathComp over Coq's reals, with derivatives."""

    prelude = SLOPES_NAME
    scope = SCOPE
    opening = ("exponential_known.",)
    simplification = "take_slopes. take_functions."
    general_tactic = "settled R."

    def __init__(self) -> None:
        super().__init__()
        self.need(ROOTS)
        self.derivatives: dict[tuple[str, str], Expr] = {}  # (function, point) of each derivative: its tree

    def translate(self, e: Expr) -> Text:
        if e.op == "derivative":
            return translate_derivative(self, e)
        if e.op == "function" and e.data in FUNCTIONS:
            return self.function(FUNCTIONS[e.data], e.args[0])
        if e.op == "function" and e.data == "norm" and len(e.args[0].shape) == 1:
            x = self.show(e.args[0], ATOM)
            return f"Num.sqrt (({x}^T *m {x}) ord0 ord0)", APPLIED
        if e.op == "pow" and is_any_power(e):
            if not is_surely_positive(e.args[0]) and is_whole(e.args[1]):
                raise NotForCoq("a power with a size in its exponent, of what may be negative")
            return f"power_of {self.show(e.args[0], ATOM)} {self.show(e.args[1], ATOM)}", APPLIED
        return super().translate(e)

    def function(self, name: str, x: Expr) -> Text:
        """Translate a function of a number, or of each entry of a tensor."""
        return f"{'map_mx ' if x.shape else ''}{name} {self.show(x, ATOM)}", APPLIED

    def declare_structure(self) -> list[str]:
        """Return the one line that is needed: the prelude declares the reals."""
        return ["Add Field R_field : (field_of R)."]

    def declare_exponential(self, increasing: bool) -> list[str]:
        """Return []: the exponential is a function of Coq's library."""
        return []

    def preliminary_theorems(self, free: set[Expr]) -> list[tuple[str, str, str, list[str]]]:
        """Return for each derivative the theorem that it exists."""
        theorems = []
        for k, ((function, point), e) in enumerate(self.derivatives.items(), 1):
            name = "derivative" if len(self.derivatives) == 1 else f"derivative_{k}"
            statement = f"{self.quantify_indices(e, free)}has_slope ({function}) {point}"
            theorems.append((name, "The derivative exists", statement, ["exponential_known. a_slope_exists."]))
        return theorems


def translate_derivative(notation: Slopes, e: Expr) -> Text:
    body, by = e.args
    if any(n.op == "derivative" for n in walk(body)):
        raise NotForCoq("a derivative of a derivative, which is not stated over the reals yet")
    exponents = list(notation.exponents)
    target = differentiation_symbol(by)
    name, point, function = notation.show(target), notation.show(by, ATOM), notation.show(body)
    notation.exponents = exponents  # without those of the body, which depend on the bound variable
    if by.op == "entry":
        places = [translate_place(notation, i, s) for i, s in zip(by.args[1:], target.shape)]
        marked = " ".join(places if len(places) == 2 else [places[0], "ord0"])
        function = f"let {name} := marked {name} {marked} {MOVING} in {function}"
    text = f"fun {MOVING if by.op == 'entry' else name} => {function}"
    notation.derivatives[text, point] = e
    return f"slope ({text}) {point}", APPLIED


def is_whole(e: Expr) -> bool:
    """Return whether the tree is a sum or product of sizes and integers."""
    if e.op == "const":
        return e.data.denominator == 1
    return e.op in ("add", "mul", "neg", "paren") and all(map(is_whole, e.args)) or e.op == "symbol" and e.data[1] == "size"


def is_any_power(e: Expr) -> bool:
    """Return whether a power cannot be expressed by square roots and products."""
    exponent = e.args[1]
    return exponent.op != "const" or exponent.data.denominator not in SQUARE_ROOTS


def is_over_the_reals(claim: Claim) -> bool:
    """Return whether the claim contains a derivative, function or power that only the real numbers have."""
    trees = [claim.start, *(s.expr for s in claim.steps), *claim.because]
    return any(
        n.op == "derivative" or n.op == "function" and n.data in (*FUNCTIONS, "norm") or n.op == "pow" and is_any_power(n)
        for t in trees
        for n in walk(t)
    )


def state_claim(claim: Claim, topic: str) -> Source:
    """Return the Coq file of an identity, a chain or an inequality over the reals."""
    return (state_inequality if claim.kind == "inequality" else state_chain)(claim, topic, Slopes)
