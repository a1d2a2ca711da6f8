"""The Coq witness: state claims as theorems of MathComp, for every shape, over any commutative ring, field or real closed field.

`source` writes a file that a reader can follow and `coqc` can check. `prove` runs `coqc` on such files and makes sure that they assume
nothing. Each kind of claim has one general proof (see prelude.v), which Coq accepts or rejects. Only the translation of trees and
assumptions into Coq's notation has to be trusted (notation.py, assumptions.py).

Numbers are elements of the weakest structure that the claim can be written over: a commutative ring; a field if there is a division; an
ordered field if the claim divides by a number, a size or a function, contains an exponential or an absolute value, assumes a sign, or has
a sum that uses its index as a number; a real closed field if there is a root. The exponential is any positive function that turns sums into products; in an inequality it is also increasing. MathComp gives every
operation a value everywhere (x / 0 is 0), so the other witnesses have to notice a missing assumption that Coq's proof does not need.

`laws/` states laws of expectation: random variables are elements of a separate commutative ring, and an expectation is any linear
function on it.

`reals/` states what needs the real numbers, over those of Coq's standard library and Coquelicot: refutations, limits, and claims with
derivatives. A theorem there may rest on the axioms that `reals/axioms.py` names, and the message of `prove` says so. What must not be
zero is a premise there.
"""

from __future__ import annotations

from ..core.claims import Claim
from .algebraic_structures import NotForCoq
from .coq_process import available, prove, version
from .laws import notation as laws
from .laws.refutations import state_refutation as refuted_law
from .prelude_files import PRELUDES
from .reals import derivatives
from .reals.limits import state_limit
from .reals.refutations import state_refutation
from .theorems import Source, state_chain, state_inequality

__all__ = [
    "PRELUDES",
    "Source",
    "available",
    "prove",
    "source",
    "version",
]


KINDS_WITHOUT = {
    "definition": "a definition has nothing to prove; where its name is used, Coq works with what it stands for",
}


def source(claim: Claim, topic: str = "") -> Source:
    """Return the Coq file of a claim: a theorem for each step that Coq can state, and one for the whole claim if it can state all steps."""
    if claim.kind in KINDS_WITHOUT:
        return Source(None, KINDS_WITHOUT[claim.kind])
    try:
        if claim.kind in ("identity", "chain", "inequality") and derivatives.is_over_the_reals(claim):
            return derivatives.state_claim(claim, topic)
        return STATED[claim.kind](claim, topic)
    except NotForCoq as reason:
        return Source(None, str(reason))


STATED = {
    "inequality": state_inequality,
    "identity": state_chain,
    "chain": state_chain,
    "limit": state_limit,
    "law": laws.state_law,
    "refutation": lambda claim, topic: (refuted_law if claim.given else state_refutation)(claim, topic),
}
