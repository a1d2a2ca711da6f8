"""Names as LaTeX: Greek letters, and what follows a letter as its subscript."""

from __future__ import annotations

import re

LETTERS = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = frozenset(LETTERS.split())
PARTS = re.compile(r"([A-Za-z]+)([A-Za-z0-9]*?)(?:_([A-Za-z0-9]+))?")


def name_latex(name: str) -> str:
    r"""`W_Q` as `W_{Q}`, `x1` as `x_{1}`, `mu` as `\mu`; a longer word upright, so that it is not read as a product."""
    letters, rest, subscript = PARTS.fullmatch(name).groups()
    if rest and not rest.isdigit():
        return rf"\mathrm{{{letters}{rest}}}" + (f"_{{{subscript}}}" if subscript else "")
    base = f"\\{letters}" if letters in GREEK else letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    below = " ".join(filter(None, (rest, subscript)))
    return base + (f"_{{{below}}}" if below else "")
