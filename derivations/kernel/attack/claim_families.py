"""Random claims, drafted family by family. Some of them are false; nothing here decides which.

A family is a function that drafts a claim from a seeded generator. `draw_claim` chooses a family, mutates every second draft and states
the result as a claim.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ..core.claims import LOADED, Claim, Derivation
from ..core.expr import strip_brackets
from ..errors import KernelError
from .claim_drafts import Draft, mutate_draft
from .expectation_families import coins, derivatives_of_expectations, expectations, joint_moments, products_of_means, shares
from .identity_families import (
    complex_lengths,
    derivatives,
    entry_by_entry,
    exponentials,
    inverses,
    largests,
    masks,
    moduli,
    names,
    near_a_kink,
    orders,
    polynomials,
    products,
    quotients,
    real_logarithms,
    roots,
    roundings,
    rows_and_diagonals,
    softmaxes,
    sums,
    whole_powers,
    zeros_and_ones,
)
from .relation_families import bounds_by_the_largest, inequalities, limits, ranks, rates, refutations, standard_inequalities

MUTATED_SHARE = 0.5  # of the drafts, which are mutated and so may be false
TRIES = 30


class NoClaim(Exception):
    """No draft of a family could be stated."""


def draw_claim(seed: int, number: int, family: str = "") -> tuple[str, Claim]:
    """Return (family, claim), which depend on the arguments alone. Raise NoClaim if none of TRIES drafts can be stated."""
    generator = Random(f"{seed}/{number}/{family}")
    rejected = ""
    for _ in range(TRIES):
        name = family or generator.choices(list(FAMILIES), [share for _, share in FAMILIES.values()])[0]
        try:
            draft = FAMILIES[name][0](generator)
            if generator.random() < MUTATED_SHARE:
                draft = mutate_draft(draft, generator)
            return name, state(draft, f"{name.replace(' ', '-')}-{number}")
        except KernelError as error:
            rejected = str(error)
    raise NoClaim(f"{TRIES} drafts of '{name}' could not be stated, the last because: {rejected}")


def state(draft: Draft, id: str) -> Claim:
    """Return the claim, stated as a script would state it. Raise KernelError if the language rejects it."""
    if draft.kind == "identity" and strip_brackets(draft.sides[0]) == strip_brackets(draft.sides[1]):
        raise KernelError("vacuous", code="vacuous")
    derivation = Derivation("Random claims")
    LOADED.remove(derivation)
    relation = {"identity": "=", "inequality": "<=", "limit": "->", "refutation": "!" + draft.relation}[draft.kind]
    left, *others = draft.sides
    steps = [(relation, e, "") for e in others]
    derivation._add_claim(draft.kind, id, left, steps, given=draft.given, because=draft.because, at=draft.at, towards=draft.towards)
    return derivation.claims[0]


# Each family with its share of the claims. The order and the names are part of the seed.
FAMILIES: dict[str, tuple[Callable[[Random], Draft], int]] = {
    "polynomials": (polynomials, 10),
    "quotients": (quotients, 10),
    "sums": (sums, 12),
    "entry by entry": (entry_by_entry, 8),
    "products": (products, 10),
    "exponentials": (exponentials, 8),
    "roots": (roots, 8),
    "softmax": (softmaxes, 5),
    "derivatives": (derivatives, 10),
    "near a kink": (near_a_kink, 8),
    "moduli": (moduli, 4),
    "real logarithms": (real_logarithms, 4),
    "slopes of averages": (derivatives_of_expectations, 3),
    "joint moments": (joint_moments, 3),
    "coins": (coins, 3),
    "shares": (shares, 2),
    "products of means": (products_of_means, 2),
    "whole powers": (whole_powers, 3),
    "rounding": (roundings, 6),
    "masks": (masks, 4),
    "zeros and ones": (zeros_and_ones, 4),
    "rows and diagonals": (rows_and_diagonals, 5),
    "largest": (largests, 6),
    "bounds by the largest": (bounds_by_the_largest, 6),
    "laws": (expectations, 5),
    "inequalities": (inequalities, 10),
    "refutations": (refutations, 10),
    "limits": (limits, 6),
    "ranks": (ranks, 2),
    "inverses": (inverses, 2),
    "names": (names, 2),
    "rates": (rates, 4),
    "orders of positions": (orders, 10),
    "standard inequalities": (standard_inequalities, 6),
    "complex lengths": (complex_lengths, 3),
}
