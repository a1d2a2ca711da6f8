"""State laws: random variables are elements of a separate ring, and an expectation is any linear function on that ring.

Assumptions about random variables become hypotheses. Independence says that the expectation of a product of powers is the product of the
expectations, for powers that the claim says have an expectation. A Gaussian assumption gives the recursion of the moments. If a claim
contains exponentials of random variables, these are a function on the ring that turns sums into products; then a Gaussian assumption also
gives the expectations of exponentials, and independence also covers products of exponentials.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from ...core.assumptions import Assumption
from ...core.claims import Claim
from ...core.expr import Expr, walk
from ...core.operators import TRANSPARENT
from ..algebraic_structures import REAL, NotForCoq
from ..notation import APPLIED, ATOM, MORE_AXES, POWER, PRODUCT, Notation, Text
from ..reals.definedness import is_surely_positive
from ..theorems import Source, state_chain
from .prelude import LAWS_NAME

AVERAGES = {"expectation": "expectation", "variance": "variance constant expectation"}
ORDERS = {"mean": 1, "variance": 2, "gaussian": inf}  # the highest power that has an expectation under an assumption
LINEAR = "have known_mean : is_linear constant expectation := And3 expectation_add expectation_scale expectation_one."


class Laws(Notation):
    """The notation of MathComp with random variables, which may occur only in expectations and variances."""

    prelude = LAWS_NAME
    opening = (LINEAR,)
    general_tactic = "laws R."
    sizes_positive = True
    all_powers = False  # whether independence covers all powers, or only those that are assumed to have an expectation

    def __init__(self) -> None:
        super().__init__()
        self.need(REAL)
        self.in_expectation = False  # whether the current tree is inside an expectation or a variance
        self.random_exponentials = False  # whether there are exponentials of random variables

    def declare_structure(self) -> list[str]:
        return [
            *super().declare_structure(),
            "Variable Random : comRingType.",
            "Variable constant : {rmorphism R -> Random}.",
            "Variable expectation : Random -> R.",
            "Hypothesis expectation_add : forall x y, expectation (x + y) = expectation x + expectation y.",
            "Hypothesis expectation_scale : forall c x, expectation (constant c * x) = c * expectation x.",
            "Hypothesis expectation_one : expectation 1 = 1.",
        ]

    def declare_exponential(self, increasing: bool) -> list[str]:
        more = [
            "Variable exponential : Random -> Random.",
            "Hypothesis exponential_add : forall x y, exponential (x + y) = exponential x * exponential y.",
            "Hypothesis exponential_constant : forall c, exponential (constant c) = constant (exp c).",
        ]
        return super().declare_exponential(increasing) + more * self.random_exponentials

    def type(self, shape: tuple[Expr, ...]) -> str:
        return random_type(super().type(shape)) if self.in_expectation else super().type(shape)

    def symbol_type(self, e: Expr) -> str:
        return random_type(super().type(e.shape)) if e.data[1] == "random" else super().type(e.shape)

    def translate(self, e: Expr) -> Text:
        if e.op in AVERAGES:
            return self.translate_average(e)
        if self.in_expectation and not is_random(e):
            return self.translate_constant(e)
        if e.op == "symbol" and e.data[1] == "random":
            return self.translate_symbol(e)
        if self.in_expectation and e.op not in TRANSPARENT:
            return self.translate_random(e)
        return super().translate(e)

    def translate_average(self, e: Expr) -> Text:
        if self.in_expectation:
            return self.translate_constant(e)
        self.in_expectation = True
        text = self.show(e.args[0], ATOM)
        self.in_expectation = False
        if has_exponential(e) and any(map(is_random, symbols_outside_exponentials(e))):
            raise NotForCoq("what is random beside an exponential of what is")
        return f"{AVERAGES[e.op]} {text}", APPLIED

    def translate_constant(self, e: Expr) -> Text:
        """Translate a tree that is not random, inside an expectation."""
        return f"{'map_mx ' if e.shape else ''}constant {self.show_constant(e)}", APPLIED

    def show_constant(self, e: Expr) -> str:
        """Return a tree that is not random, in the notation outside expectations."""
        self.in_expectation = False
        text = self.show(e, ATOM)
        self.in_expectation = True
        return text

    def translate_symbol(self, e: Expr) -> Text:
        if not self.in_expectation:
            raise NotForCoq("what is random, outside of an expectation")
        if len(e.shape) > 2:
            raise NotForCoq(MORE_AXES)
        self.names[e.data[0]] = e
        return self.name(e.data[0]), ATOM

    def translate_random(self, e: Expr) -> Text:
        if e.op == "div":
            return self.translate_quotient(*e.args)
        if e.op == "pow" and not is_whole_power(e):
            raise NotForCoq("a power of what is random that is not a whole number of times itself")
        if e.op == "function" and e.data == "exp" and not e.shape:
            return self.translate_exponential(*e.args)
        if e.op in ("function", "softmax"):
            raise NotForCoq("the expectation of a function of what is random that is no polynomial and no exponential")
        return super().translate(e)

    def translate_exponential(self, x: Expr) -> Text:
        if degree(x) > 1:
            raise NotForCoq("an exponential of products of what is random")
        self.need_exp()
        self.random_exponentials = True
        return f"exponential {self.show(x, ATOM)}", APPLIED

    def translate_quotient(self, above: Expr, below: Expr) -> Text:
        if is_random(below):
            raise NotForCoq("a quotient by what is random")
        self.need_division(below)
        part = f"constant ({self.show_constant(below)}^-1)"
        if above.shape:
            return f"({part}) *: {self.show(above, POWER)}", PRODUCT
        return f"{self.show(above, PRODUCT)} * {part}", PRODUCT

    def distribution(self, a: Assumption, claim: Claim) -> list[str]:
        """Return the statements of an assumption about the distribution of random variables."""
        self.in_expectation = True
        try:
            return STATED[a.kind](self, a, claim)
        finally:
            self.in_expectation = False

    def family(self, x: Expr) -> str:
        """Return the family of a tensor's entries, or the family of one number."""
        return f"({'entries' if x.shape else 'single'} {self.show(x, ATOM)})"

    def for_each_entry(self, x: Expr, text: str) -> str:
        """Return a statement about every entry of x; `text` has {} in place of the entry."""
        bound = ["row", "column"][: len(x.shape)]
        every = "".join(f"forall {name} : 'I_{self.size(s)}, " for name, s in zip(bound, x.shape))
        entry = f"({self.show(x, ATOM)} {' '.join([*bound, 'ord0'][:2])})" if x.shape else self.show(x, ATOM)
        return every + text.format(entry)


def random_type(type_: str) -> str:
    """Return the type of a random tensor, given the type of a tensor of numbers."""
    return type_.replace("M[R]", "M[Random]") if type_ != "R" else "Random"


def is_random(e: Expr) -> bool:
    """Return whether a tree is random. An expectation or a variance is not."""
    if e.op == "symbol":
        return e.data[1] == "random"
    return e.op not in AVERAGES and any(map(is_random, e.args))


def symbols_outside_exponentials(e: Expr) -> list[Expr]:
    """Return the symbols that occur outside every exponential."""
    if e.op == "function" and e.data == "exp":
        return []
    return [e] if e.op == "symbol" else [s for x in e.args for s in symbols_outside_exponentials(x)]


def has_exponential(e: Expr) -> bool:
    """Return whether a tree contains an exponential of something random."""
    return any(n.op == "function" and n.data == "exp" and is_random(n) for n in walk(e))


def degree(e: Expr) -> float:
    """Return the degree of a tree as a polynomial in the random variables; infinity if it may not be a polynomial."""
    if not is_random(e):
        return 0
    if e.op in ("mul", "matmul"):
        return sum(map(degree, e.args))
    if e.op == "div":
        return inf if is_random(e.args[1]) else degree(e.args[0])
    known = e.op in ("symbol", "paren", "defined", "add", "neg", "sum", "each", "entry", "transpose")
    return max([1, *map(degree, e.args)]) if known else inf


def is_whole_power(e: Expr) -> bool:
    """Return whether the exponent of a power is a natural number."""
    exponent = e.args[1]
    return exponent.op == "const" and exponent.data.denominator == 1 and exponent.data >= 0


def state_mean(notation: Laws, a: Assumption, claim: Claim) -> list[str]:
    x, value = a.args
    return [notation.for_each_entry(x, f"{AVERAGES[{'mean': 'expectation'}.get(a.kind, a.kind)]} {{}} = {notation.show_constant(value)}")]


def state_gaussian(notation: Laws, a: Assumption, claim: Claim) -> list[str]:
    statements = [notation.for_each_entry(x, "normal_moments constant expectation {}") for x in a.args]
    if notation.random_exponentials:
        statements += [notation.for_each_entry(x, "normal_exponentials constant expectation exp exponential {}") for x in a.args]
    return statements


def state_independent(notation: Laws, a: Assumption, claim: Claim) -> list[str]:
    """State independence for the powers that are assumed to have an expectation."""
    family = notation.family(a.args[0])
    for x in a.args[1:]:
        family = f"(along {family} {notation.family(x)})"
    order = inf if notation.all_powers else min(highest_moment(claim, x) for x in a.args)
    if order < inf:
        return [f"independent_to expectation {order} {family}"]
    statements = [f"independent expectation {family}"]
    return statements + [f"independent_exponentials constant expectation exponential {family}"] * notation.random_exponentials


def highest_moment(claim: Claim, x: Expr) -> int | float:
    """Return the highest power of x that the claim assumes to have an expectation; 0 if there is none."""
    orders = [ORDERS.get(a.kind) or int(a.args[1].data) for a in claim.given if a.kind in (*ORDERS, "moment") and x in a.args]
    return max(orders, default=0)


STATED: dict[str, Callable[[Laws, Assumption, Claim], list[str]]] = {
    "mean": state_mean,
    "variance": state_mean,
    "gaussian": state_gaussian,
    "independent": state_independent,
    "moment": lambda notation, a, claim: [],  # only decides which powers independence covers
}


def require_consistent(claim: Claim) -> None:
    """Raise NotForCoq if the assumptions may contradict each other, because then a theorem says nothing."""
    moments = [(a.kind, a.args[0]) for a in claim.given if a.kind in ("mean", "variance")]
    if len(moments) > len(set(moments)):
        raise NotForCoq("a law that states a mean or a variance twice")
    if any(a.args[1].op in ("const", "neg") and not is_surely_nonnegative(a.args[1]) for a in claim.given if a.kind == "variance"):
        raise NotForCoq("a law that states a negative variance")


def is_surely_nonnegative(e: Expr) -> bool:
    """Return whether the form of a tree shows that it is not negative."""
    return e.op == "const" and e.data >= 0 or is_surely_positive(e)


def state_law(claim: Claim, topic: str) -> Source:
    """Return the Coq file of a law. Raise NotForCoq if it cannot be stated."""
    require_consistent(claim)
    return state_chain(claim, topic, Laws)
