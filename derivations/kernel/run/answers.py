"""What `code=` hands to a function may not be the answer: a function that gives back what it is given would agree with every claim.

Here as an expression; as a number, however it is written, or if another call gives it, in `pytorch/snippet_agreement.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.claims import Claim, Refused
from ..core.expr import Expr, show, strip, walk

NAMES = ("symbol", "index", "const", "imaginary")  # of which a side may consist alone, and an argument has to


def refuse_answers(claim: Claim) -> None:
    """Refused where an argument of a call is a side that the call is compared with, or has it in itself."""
    answers = {strip(one) for one in (claim.start, *(step.expr for step in claim.steps)) if strip(one).op not in NAMES}
    for k, (name, arguments, keywords) in enumerate(claim.code):
        for given in expressions([arguments, [value for _, value in keywords]]):
            for part in walk(strip(given)):
                if part in answers:
                    raise Refused(
                        claim.file,
                        claim.line,
                        claim.id,
                        f"code[{k}] hands {show(part)} to {name}, and that is what the call has to compute; "
                        "hand it what the claim's sides are made of, or leave the call out",
                    )


def expressions(given: Any) -> Iterator[Expr]:
    """The expressions among arguments. What another call is handed is that one's: it may go there and back."""
    if isinstance(given, Expr):
        yield given
    elif isinstance(given, dict):
        yield from expressions(list(given.values()))
    elif isinstance(given, (tuple, list)) and not (given and isinstance(given[0], str)):
        for one in given:
            yield from expressions(one)
