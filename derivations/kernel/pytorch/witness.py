"""The PyTorch witness: both sides of a claim computed on tensors, and the snippets that the claim names computed beside them.

Every value is a pair: what fp64 gives, and a bound on how far that is from the exact result. The bound is carried through
the tree by running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 3.3): each rule adds what it makes
of the errors of its arguments to its own roundings. Two sides agree if they are no further apart than their two bounds together; no
tolerance is chosen. What is not derived is said where it is assumed: of the libraries' functions in `error_bounds.py`, of derivatives
in `evaluation.py`, of averages in `expectations.py`, of snippets in `snippet_agreement.py`. Points where the bound comes out too large to tell
anything are left out, and not counted.

Read on from here: `identities.py`, `limits.py` and `refutations.py` say what is compared, `sampling.py` at which values, `evaluation.py`
how a tree becomes numbers. `float_formats.py` and `low_precision.py` run the same snippets in fp32, fp16 and bf16.
tests/kernel/test_torch_witness.py lets hypothesis draw as well.
"""

from __future__ import annotations

import torch

from ..core.claims import Claim, Refused
from .errors import Disagrees, NotForTorch
from .identities import definition, identity, inequality
from .limits import limit
from .refutations import refutation


def witness(claim: Claim):
    """(verdict, scope, note); raises Refused where the numbers contradict the claim or a snippet that it names."""
    return vouched(claim)[:3]


def vouched(claim: Claim):
    """The same, and of each snippet that ran (the call, at how many shapes, at how many points)."""
    try:
        with torch.inference_mode():
            return CHECKS[claim.kind](claim)
    except NotForTorch as reason:
        return "not applicable", "", str(reason), ()
    except Disagrees as problem:
        raise Refused(claim.file, claim.line, claim.id, f"the PyTorch witness does not confirm it: {problem}") from None


CHECKS = {
    "identity": identity,
    "chain": identity,
    "law": identity,
    "inequality": inequality,
    "limit": limit,
    "refutation": refutation,
    "definition": definition,
}
