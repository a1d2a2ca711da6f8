"""Bounds on ranks: all minors that are one larger than the bound vanish."""

from __future__ import annotations

from itertools import combinations

from sympy.polys.matrices import DomainMatrix

from .outcome import Fails, quiet
from .steps import at_sizes


def rank_bound(claim, bounds, tell=quiet):
    """Check that the larger minors vanish, for each bound and the sizes that belong to it."""
    for bound, sizes in bounds:
        matrix = at_sizes(claim, sizes)
        m = DomainMatrix.from_Matrix(matrix)  # keeps polynomials expanded
        for rows in combinations(range(matrix.rows), bound + 1):
            for columns in combinations(range(matrix.cols), bound + 1):
                if m.extract(list(rows), list(columns)).det() != m.domain.zero:
                    raise Fails(f"step 1: a minor of size {bound + 1} does not vanish where the bound is {bound}")
        tell(f"step 1: the rank is at most {bound}: every minor of size {bound + 1} vanishes ... holds")
    return "proved", f"some sizes up to {bounds[-1][0] + 1}", "every larger minor vanishes"
