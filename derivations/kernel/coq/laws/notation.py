"""Laws in the notation of the other files: random variables are of a ring of their own, and an expectation is any linear function on it.

What is assumed of what is random are hypotheses of the theorem. Independence is one of products of powers, up to powers of which the claim
says that they have an expectation; that something is Gaussian, one of its moments. Where a claim has exponentials of what is random, they are
a function from random variables to random variables that makes products of sums; that something is Gaussian is one of the expectations of
its exponentials, too, and independence of what is Gaussian one of products of exponentials.
"""

from __future__ import annotations

from math import inf

from ...core.assumptions import Assumption
from ...core.claims import Claim
from ...core.expr import Expr, walk
from ..algebraic_structures import REAL, NotForCoq
from ..notation import APPLIED, ATOM, MORE_AXES, POWER, PRODUCT, Notation
from ..reals.definedness import surely_positive
from ..theorems import Source, chain
from .prelude import LAWS_NAME

AVERAGES = {"expectation": "expectation", "variance": "variance constant expectation"}
ORDERS = {"mean": 1, "variance": 2, "gaussian": inf}  # up to which power there are moments, where it is assumed
LINEAR = "have known_mean : is_linear constant expectation := And3 expectation_add expectation_scale expectation_one."


class Laws(Notation):
    """The notation of MathComp with random variables, which stand in expectations and variances alone."""

    prelude = LAWS_NAME
    opening = (LINEAR,)
    general_tactic = "laws R."
    sizes_positive = True
    all_powers = False  # is what is independent so of all powers, or of those alone that are known to have an expectation?

    def __init__(self):
        super().__init__()
        self.need(REAL)
        self.in_expectation = False  # of what an expectation is taken
        self.random_exponentials = False  # are there exponentials of what is random?

    def declare_structure(self) -> list:
        return [
            *super().declare_structure(),
            "Variable Random : comRingType.",
            "Variable constant : {rmorphism R -> Random}.",
            "Variable expectation : Random -> R.",
            "Hypothesis expectation_add : forall x y, expectation (x + y) = expectation x + expectation y.",
            "Hypothesis expectation_scale : forall c x, expectation (constant c * x) = c * expectation x.",
            "Hypothesis expectation_one : expectation 1 = 1.",
        ]

    def declare_exponential(self, increasing: bool) -> list:
        more = [
            "Variable exponential : Random -> Random.",
            "Hypothesis exponential_add : forall x y, exponential (x + y) = exponential x * exponential y.",
            "Hypothesis exponential_constant : forall c, exponential (constant c) = constant (exp c).",
        ]
        return super().declare_exponential(increasing) + more * self.random_exponentials

    def type(self, shape: tuple) -> str:
        return of_random(super().type(shape)) if self.in_expectation else super().type(shape)

    def symbol_type(self, e: Expr) -> str:
        return of_random(super().type(e.shape)) if e.data[1] == "random" else super().type(e.shape)

    def translate(self, e: Expr) -> tuple:
        if e.op in AVERAGES:
            return self.average(e)
        if self.in_expectation and not is_random(e):
            return self.fixed(e)
        if e.op == "symbol" and e.data[1] == "random":
            return self.random(e)
        if self.in_expectation and e.op not in ("paren", "defined"):
            return self.of_what_is_random(e)
        return super().translate(e)

    def average(self, e: Expr) -> tuple:
        if self.in_expectation:
            return self.fixed(e)
        self.in_expectation = True
        text = self.show(e.args[0], ATOM)
        self.in_expectation = False
        if has_exponential(e) and any(map(is_random, beside_exponentials(e))):
            raise NotForCoq("what is random beside an exponential of what is")
        return f"{AVERAGES[e.op]} {text}", APPLIED

    def fixed(self, e: Expr) -> tuple:
        """What is not random, among what is."""
        return f"{'map_mx ' if e.shape else ''}constant {self.outside(e)}", APPLIED

    def outside(self, e: Expr) -> str:
        self.in_expectation = False
        text = self.show(e, ATOM)
        self.in_expectation = True
        return text

    def random(self, e: Expr) -> tuple:
        if not self.in_expectation:
            raise NotForCoq("what is random, outside of an expectation")
        if len(e.shape) > 2:
            raise NotForCoq(MORE_AXES)
        self.names[e.data[0]] = e
        return self.name(e.data[0]), ATOM

    def of_what_is_random(self, e: Expr) -> tuple:
        if e.op == "div":
            return self.quotient(*e.args)
        if e.op == "pow" and not is_whole_power(e):
            raise NotForCoq("a power of what is random that is not a whole number of times itself")
        if e.op == "function" and e.data == "exp" and not e.shape:
            return self.random_exponential(*e.args)
        if e.op in ("function", "softmax"):
            raise NotForCoq("the expectation of a function of what is random that is no polynomial and no exponential")
        return super().translate(e)

    def random_exponential(self, x: Expr) -> tuple:
        if degree(x) > 1:
            raise NotForCoq("an exponential of products of what is random")
        self.need_exp()
        self.random_exponentials = True
        return f"exponential {self.show(x, ATOM)}", APPLIED

    def quotient(self, above: Expr, below: Expr) -> tuple:
        if is_random(below):
            raise NotForCoq("a quotient by what is random")
        self.need_division(below)
        part = f"constant ({self.outside(below)}^-1)"
        if above.shape:
            return f"({part}) *: {self.show(above, POWER)}", PRODUCT
        return f"{self.show(above, PRODUCT)} * {part}", PRODUCT

    def distribution(self, a: Assumption, claim: Claim) -> list:
        """What it says of what is random."""
        self.in_expectation = True
        try:
            return STATED[a.kind](self, a, claim)
        finally:
            self.in_expectation = False

    def family(self, x: Expr) -> str:
        return f"({'entries' if x.shape else 'single'} {self.show(x, ATOM)})"

    def each(self, x: Expr, text: str) -> str:
        """The text, with {} for an entry, of each entry of x."""
        bound = ["row", "column"][: len(x.shape)]
        every = "".join(f"forall {name} : 'I_{self.size(s)}, " for name, s in zip(bound, x.shape))
        entry = f"({self.show(x, ATOM)} {' '.join([*bound, 'ord0'][:2])})" if x.shape else self.show(x, ATOM)
        return every + text.format(entry)


def of_random(type_: str) -> str:
    return type_.replace("M[R]", "M[Random]") if type_ != "R" else "Random"


def is_random(e: Expr) -> bool:
    """Whether its value is: an average is none."""
    if e.op == "symbol":
        return e.data[1] == "random"
    return e.op not in AVERAGES and any(map(is_random, e.args))


def beside_exponentials(e: Expr) -> list:
    """The symbols that stand in no exponential."""
    if e.op == "function" and e.data == "exp":
        return []
    return [e] if e.op == "symbol" else [s for x in e.args for s in beside_exponentials(x)]


def has_exponential(e: Expr) -> bool:
    """Whether there is one of what is random."""
    return any(n.op == "function" and n.data == "exp" and is_random(n) for n in walk(e))


def degree(e: Expr) -> float:
    """In how many factors at most what is random stands: beyond all bounds where it stands elsewhere than in sums and products."""
    if not is_random(e):
        return 0
    if e.op in ("mul", "matmul"):
        return sum(map(degree, e.args))
    if e.op == "div":
        return inf if is_random(e.args[1]) else degree(e.args[0])
    known = e.op in ("symbol", "paren", "defined", "add", "neg", "sum", "each", "entry", "transpose")
    return max([1, *map(degree, e.args)]) if known else inf


def is_whole_power(e: Expr) -> bool:
    exponent = e.args[1]
    return exponent.op == "const" and exponent.data.denominator == 1 and exponent.data >= 0


def of_mean(to: Laws, a: Assumption, claim: Claim) -> list:
    x, value = a.args
    return [to.each(x, f"{AVERAGES[{'mean': 'expectation'}.get(a.kind, a.kind)]} {{}} = {to.outside(value)}")]


def of_gaussian(to: Laws, a: Assumption, claim: Claim) -> list:
    said = [to.each(x, "normal_moments constant expectation {}") for x in a.args]
    if to.random_exponentials:
        said += [to.each(x, "normal_exponentials constant expectation exp exponential {}") for x in a.args]
    return said


def of_independent(to: Laws, a: Assumption, claim: Claim) -> list:
    """Of powers that are known to have an expectation."""
    family = to.family(a.args[0])
    for x in a.args[1:]:
        family = f"(along {family} {to.family(x)})"
    order = inf if to.all_powers else min(order_of(claim, x) for x in a.args)
    if order < inf:
        return [f"independent_to expectation {order} {family}"]
    said = [f"independent expectation {family}"]
    return said + [f"independent_exponentials constant expectation exponential {family}"] * to.random_exponentials


def order_of(claim: Claim, x: Expr) -> int | float:
    """Up to which power the claim says that each entry of x has a moment."""
    said = [ORDERS.get(a.kind) or int(a.args[1].data) for a in claim.given if a.kind in (*ORDERS, "moment") and x in a.args]
    return max(said, default=0)


STATED = {
    "mean": of_mean,
    "variance": of_mean,
    "gaussian": of_gaussian,
    "independent": of_independent,
    "moment": lambda to, a, claim: [],  # what has an expectation is what independence is stated of
}


def require_consistent(claim: Claim) -> None:
    """NotForCoq where no random variables are seen to be as the claim assumes: a theorem about them may be empty."""
    said = [(a.kind, a.args[0]) for a in claim.given if a.kind in ("mean", "variance")]
    if len(said) > len(set(said)):
        raise NotForCoq("a law that states a mean or a variance twice")
    if any(a.args[1].op in ("const", "neg") and not surely_not_negative(a.args[1]) for a in claim.given if a.kind == "variance"):
        raise NotForCoq("a law that states a negative variance")


def surely_not_negative(e: Expr) -> bool:
    return e.op == "const" and e.data >= 0 or surely_positive(e)


def stated(claim: Claim, topic: str) -> Source:
    require_consistent(claim)
    return chain(claim, topic, Laws)
