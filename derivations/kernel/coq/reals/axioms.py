"""What a theorem over the reals may rest on: axioms of Coq's own libraries, by name. Anything else that Coq prints is refused."""

from __future__ import annotations

import re

REALS = frozenset(
    """
    ClassicalDedekindReals.sig_forall_dec ClassicalDedekindReals.sig_not_dec Classical_Prop.classic
    FunctionalExtensionality.functional_extensionality_dep
    """.split()  # noqa: SIM905
)
# MathComp has its real numbers by choosing: of what some thing satisfies, one thing.
CHOICE = frozenset({"Epsilon.epsilon_statement"})
CHOICE_WORDS = "of choice"
CLOSED = "Closed under the global context"
NAMED = re.compile(r"([A-Za-z_][\w.']*)(?: :.*)?")


def assumed(said: str) -> list:
    """What each `Print Assumptions` printed, in order: the names of what a theorem assumes. Raises ValueError for anything else."""
    found = []
    for line in said.splitlines():
        if line in (CLOSED, "Axioms:"):
            found.append(set())
        elif line.startswith(" "):
            continue  # the rest of a type
        elif found and (name := NAMED.fullmatch(line)):
            found[-1].add(name[1])
        else:
            raise ValueError(line)
    return found


def unexpected(names: set) -> list:
    return sorted(names - REALS - CHOICE)


def in_words(names: set) -> str:
    """What is assumed, as a reader is told."""
    if not names:
        return "nothing assumed"
    return "assumed are the axioms of Coq's reals" + (f" and {CHOICE_WORDS}" if names & CHOICE else "")
