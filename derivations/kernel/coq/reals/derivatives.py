"""Claims in the notation of the other files, over Coq's real numbers: those that speak of derivatives, logarithms, sines, any powers.

In a derivative, what a symbol stands for is replaced, at the place by which is derived, with a number that moves. That the derivative
exists is a theorem of its own beside those of the steps.
"""

from __future__ import annotations

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, walk
from ..algebraic_structures import ROOTS, NotForCoq
from ..notation import APPLIED, ATOM, Notation, place
from ..theorems import Source, chain, inequality
from .definedness import surely_positive
from .prelude import SCOPE, SLOPES_NAME

MOVING = "moving"
FUNCTIONS = {"log": "ln", "cos": "cos", "sin": "sin"}
SQUARE_ROOTS = (1, 2, 4)  # denominators of powers that are taken by square roots


class Slopes(Notation):
    """The notation of MathComp over Coq's reals, with derivatives."""

    prelude = SLOPES_NAME
    scope = SCOPE
    opening = ("exponential_known.",)
    simplification = "take_slopes. take_functions."
    general_tactic = "settled R."

    def __init__(self):
        super().__init__()
        self.need(ROOTS)
        self.derived = {}  # each derivative as (a function, where): its tree

    def translate(self, e: Expr) -> tuple:
        if e.op == "derivative":
            return of_derivative(self, e)
        if e.op == "function" and e.data in FUNCTIONS:
            return self.function(FUNCTIONS[e.data], e.args[0])
        if e.op == "function" and e.data == "norm" and len(e.args[0].shape) == 1:
            x = self.show(e.args[0], ATOM)
            return f"Num.sqrt (({x}^T *m {x}) ord0 ord0)", APPLIED
        if e.op == "pow" and is_any_power(e):
            if not surely_positive(e.args[0]) and is_whole(e.args[1]):
                raise NotForCoq("a power with a size in its exponent, of what may be negative")
            return f"power_of {self.show(e.args[0], ATOM)} {self.show(e.args[1], ATOM)}", APPLIED
        return super().translate(e)

    def function(self, name: str, x: Expr) -> tuple:
        return f"{'map_mx ' if x.shape else ''}{name} {self.show(x, ATOM)}", APPLIED

    def declare_structure(self) -> list:
        """The reals are declared in the prelude, and their exponential is no variable."""
        return ["Add Field R_field : (field_of R)."]

    def declare_exponential(self, increasing: bool) -> list:
        return []

    def preliminary_theorems(self, free: set) -> list:
        """That each derivative exists."""
        found = []
        for k, ((function, at), e) in enumerate(self.derived.items(), 1):
            bound = sorted(free_indices(e) - free, key=lambda i: i.data[0])
            every = "".join(f"forall {self.name(i.data[0])} : 'I_{self.size(i.data[1])}, " for i in bound)
            name = "derivative" if len(self.derived) == 1 else f"derivative_{k}"
            proof = ["exponential_known. a_slope_exists."]
            found.append((name, "The derivative exists", f"{every}has_slope ({function}) {at}", proof))
        return found


def of_derivative(to: Slopes, e: Expr) -> tuple:
    body, by = e.args
    if any(n.op == "derivative" for n in walk(body)):
        raise NotForCoq("a derivative of a derivative, which is not stated over the reals yet")
    exponents = list(to.exponents)
    target = by.args[0] if by.op == "entry" else by
    name, at, function = to.show(target), to.show(by, ATOM), to.show(body)
    to.exponents = exponents  # those of the body are moving
    if by.op == "entry":
        places = [place(to, i, s) for i, s in zip(by.args[1:], target.shape)]
        marked = " ".join(places if len(places) == 2 else [places[0], "ord0"])
        function = f"let {name} := marked {name} {marked} {MOVING} in {function}"
    text = f"fun {MOVING if by.op == 'entry' else name} => {function}"
    to.derived[text, at] = e
    return f"slope ({text}) {at}", APPLIED


def is_whole(e: Expr) -> bool:
    """A number made of sizes and whole numbers, without division."""
    if e.op == "const":
        return e.data.denominator == 1
    return e.op in ("add", "mul", "neg", "paren") and all(map(is_whole, e.args)) or e.op == "symbol" and e.data[1] == "size"


def is_any_power(e: Expr) -> bool:
    exponent = e.args[1]
    return exponent.op != "const" or exponent.data.denominator not in SQUARE_ROOTS


def is_over_the_reals(claim: Claim) -> bool:
    """Whether the claim speaks of what other structures have not."""
    trees = [claim.start, *(s.expr for s in claim.steps), *claim.because]
    return any(
        n.op == "derivative" or n.op == "function" and n.data in (*FUNCTIONS, "norm") or n.op == "pow" and is_any_power(n)
        for t in trees
        for n in walk(t)
    )


def stated(claim: Claim, topic: str) -> Source:
    return (inequality if claim.kind == "inequality" else chain)(claim, topic, Slopes)
