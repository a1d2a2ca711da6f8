"""Reject a claim whose `code=` passes the answer to a function, because a function that returns its argument would agree with such a claim.

This module compares expressions. `pytorch/snippet_agreement.py` compares numbers, which also finds an answer that is written differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.claims import Claim, Rejected
from ..core.expr import Expr, show, strip_brackets, walk

ATOMS = ("symbol", "index", "const", "imaginary")  # a side that is a single atom may be an argument


def reject_leaked_answers(claim: Claim) -> None:
    """Raise Rejected if an argument of a call is, or contains, a side of the claim that the call is compared with."""
    sides = {strip_brackets(side) for side in (claim.start, *(step.expr for step in claim.steps)) if strip_brackets(side).op not in ATOMS}
    for k, (name, arguments, keywords) in enumerate(claim.code):
        for argument in find_expressions([arguments, [value for _, value in keywords]]):
            for part in walk(strip_brackets(argument)):
                if part in sides:
                    raise Rejected(
                        claim.file,
                        claim.line,
                        claim.id,
                        f"code[{k}] gives {show(part)} to {name}, which has to compute it; "
                        "give it what the claim's sides are made of, or leave the call out",
                        code="leaked-answer",
                    )


def find_expressions(x: Any) -> Iterator[Expr]:
    """Yield the expressions in arguments, except those of a nested call: the nested call may be the inverse of the outer one."""
    if isinstance(x, Expr):
        yield x
    elif isinstance(x, dict):
        yield from find_expressions(list(x.values()))
    elif isinstance(x, (tuple, list)) and not (x and isinstance(x[0], str)):
        for part in x:
            yield from find_expressions(part)
