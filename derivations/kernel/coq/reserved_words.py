"""Words that mean something in Coq or in the files written here, and names for symbols that avoid them."""

from __future__ import annotations

import re

from ..core.expr import NAME
from .algebraic_structures import NotForCoq

KEYWORDS = frozenset(
    """
    as at by cofix do done else end exists exists2 first fix for forall fun have if IF in is last let match mod of on over return Set
    SProp Prop Type suff then under using where with Theorem Proof Qed Section End Variable Variables Hypothesis Hypotheses Print
    Assumptions From Require Import Local Open Scope R nat exp Num sqrt isT ord0 Ordinal row column place const_mx map_mx invmx unitmx
    etrans softmax_column softmax_rows divided ring_of field_of R_ring R_field
    O R0 R1 PI
    moving marked slope has_slope is_slope ln reals cos sin power_of
    all drawn ind means variances normals Random constant expectation variance independent independent_to entries single along normal_moments is_linear
    exponential normal_exponentials independent_exponentials
    """.split()  # noqa: SIM905
)
GENERATED = re.compile(
    r"(step|claim|certificate|assumed|size|first|known|exp|exponent|part|whole|written|places|derivative)(_[A-Za-z0-9]*)?"
)
# Commands that would let a file pass without a proof.
FORBIDDEN = re.compile(
    r"\b(Axioms?|Admitted|admit|give_up|Parameters?|Conjectures?|Abort|bypass_check|Unset|Declare|Load|Drop|"
    r"Redirect|Extraction|Cd|Add\s+(?:LoadPath|ML|Rec)|native_compute|vm_cast_no_check|Primitive|Register|"
    r"type_in_type)\b"
)


def name_in_coq(name: str) -> str:
    """Return the name of a symbol in Coq: an underscore is added to a reserved word. Raise NotForCoq if the name cannot be written."""
    if not NAME.fullmatch(name):
        raise NotForCoq(f"the name {name!r} cannot be written in Coq")
    return name + "_" if name in KEYWORDS or GENERATED.fullmatch(name) or FORBIDDEN.fullmatch(name) else name
