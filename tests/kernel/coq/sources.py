"""Helpers that return the Coq sources of claims that a test states."""

from derivations.kernel import Derivation
from derivations.kernel.coq import witness as coq


def stated(state):
    """What there is to give of each claim that `state` makes on a new derivation, by id: a text, or why none."""
    derivation = Derivation("test")
    state(derivation)
    return {claim.id: coq.source(claim) for claim in derivation.claims}


def written(state):
    """The texts, where each claim has one."""
    sources = stated(state)
    assert all(s.text for s in sources.values()), {id: s.reason for id, s in sources.items()}
    return {id: s.text for id, s in sources.items()}
