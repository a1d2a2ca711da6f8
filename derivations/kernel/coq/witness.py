"""The Coq witness: claims as theorems of Coq's MathComp, at every shape, over any commutative ring, field or real closed field.

`source` writes a file that a reader can follow and coqc can check; `prove` has coqc check such files and asserts that nothing
was assumed. The proofs are one script a kind of claim (prelude.v); Coq accepts them or not, so nothing here has to be trusted
but the translation of trees and assumptions into Coq's notation (notation.py, assumptions.py).

Numbers are elements of the weakest structure in which the claim can be written: a commutative ring, a field where something is
divided by, a real field where a size or a number is or where a sum counts its places, a real closed field where a root is taken.
The exponential is any positive function that turns sums into products and, in an inequality, one that grows. MathComp gives
every operation a value everywhere (x / 0 is 0), so what must not be zero is for the other witnesses to notice wherever Coq's
proof does not need it.

Laws are in `laws/`: random variables are of a commutative ring of their own, and an expectation is any linear function on it.

What needs the real numbers themselves is stated over those of Coq's standard library and Coquelicot, in `reals/`: refutations, limits, and claims
with derivatives.
There a theorem may rest on the axioms that `reals/axioms.py` names, and `prove` says on which it does; and what must not be zero is a
premise.
"""

from __future__ import annotations

from ..core.claims import Claim
from .algebraic_structures import NotForCoq
from .coq_process import available, file_of, prove, version
from .laws import notation as laws
from .laws.refutations import refutation as refuted_law
from .prelude_files import PRELUDES
from .reals import derivatives
from .reals.limits import limit
from .reals.refutations import refutation
from .theorems import Source, chain, inequality

__all__ = [
    "PRELUDES",
    "Source",
    "available",
    "file_of",
    "prove",
    "source",
    "version",
]


KINDS_WITHOUT = {
    "definition": "a definition has nothing to prove; where its name is used, Coq works with what it stands for",
}


def source(claim: Claim, topic: str = "") -> Source:
    """The theorems for a claim: one for each step that Coq can state, and for the whole where it can state all of them."""
    if claim.kind in KINDS_WITHOUT:
        return Source(None, KINDS_WITHOUT[claim.kind])
    try:
        if claim.kind in ("identity", "chain", "inequality") and derivatives.is_over_the_reals(claim):
            return derivatives.stated(claim, topic)
        return STATED[claim.kind](claim, topic)
    except NotForCoq as reason:
        return Source(None, str(reason))


STATED = {
    "inequality": inequality,
    "identity": chain,
    "chain": chain,
    "limit": limit,
    "law": laws.stated,
    "refutation": lambda claim, topic: (refuted_law if claim.given else refutation)(claim, topic),
}
