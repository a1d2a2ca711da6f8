"""The PyTorch witness: computes both sides of a claim on tensors, and the snippets that the claim names.

Every value is a pair: the result in fp64, and a bound on its distance from the exact result. The bound is propagated through the tree by running
error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 3.3): each rule adds its own rounding to the propagated errors of its
arguments. Two sides agree if they differ by no more than their two bounds together; no tolerance is chosen. Bounds that are assumed rather than
derived are stated where they are used: for library functions in `error_bounds.py`, for derivatives in `evaluation.py`, for averages in
`expectations.py`, for snippets in `snippet_agreement.py`. Points where the bound is too large to decide anything are left out and not counted.

Next: `identities.py`, `limits.py` and `refutations.py` compare the sides, `sampling.py` chooses the values, and `evaluation.py` evaluates trees.
`float_formats.py` and `low_precision.py` run the same snippets in fp32, fp16 and bf16. tests/kernel/pytorch/test_witness.py draws further cases
with hypothesis.
"""

from __future__ import annotations

import torch

from ..core.claims import Claim, Rejected
from .errors import CannotDecide, Disagreement
from .identities import Verdict, definition, identity, inequality
from .limits import limit
from .refutations import refutation


def witness(claim: Claim) -> tuple[str, str, str]:
    """Return (verdict, scope, note). Raise Rejected if the numbers contradict the claim or a snippet that it names."""
    return check_with_snippets(claim)[:3]


def check_with_snippets(claim: Claim) -> Verdict:
    """Return (verdict, scope, note, snippets); for each snippet, (the call, the number of shapes, the number of points)."""
    try:
        with torch.inference_mode():
            return CHECKS[claim.kind](claim)
    except CannotDecide as reason:
        return "not applicable", "", str(reason), ()
    except Disagreement as problem:
        raise Rejected(claim.file, claim.line, claim.id, f"the PyTorch witness does not confirm it: {problem}", code=problem.code) from None


CHECKS = {
    "identity": identity,
    "chain": identity,
    "law": identity,
    "inequality": inequality,
    "limit": limit,
    "refutation": refutation,
    "definition": definition,
}
