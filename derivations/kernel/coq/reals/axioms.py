"""The axioms of Coq's own libraries that a theorem over the reals may rest on. Any other assumption that Coq prints is rejected."""

from __future__ import annotations

import re
from collections.abc import Set

REALS = frozenset(
    """
    ClassicalDedekindReals.sig_forall_dec ClassicalDedekindReals.sig_not_dec Classical_Prop.classic
    FunctionalExtensionality.functional_extensionality_dep
    """.split()  # noqa: SIM905
)
CHOICE = frozenset({"Epsilon.epsilon_statement"})  # MathComp's structures over the reals use the axiom of choice
CHOICE_WORDS = "of choice"
CLOSED = "Closed under the global context"
NAMED = re.compile(r"([A-Za-z_][\w.']*)(?: :.*)?")


def read_assumptions(output: str) -> list[set[str]]:
    """Return the names that each `Print Assumptions` printed, in order. Raise ValueError with the line if there is other output."""
    answers: list[set[str]] = []
    for line in output.splitlines():
        if line in (CLOSED, "Axioms:"):
            answers.append(set())
        elif line.startswith(" "):
            continue  # the rest of a type
        elif answers and (name := NAMED.fullmatch(line)):
            answers[-1].add(name[1])
        else:
            raise ValueError(line)
    return answers


def forbidden_axioms(names: Set[str]) -> list[str]:
    """Return the names that are no allowed axioms."""
    return sorted(names - REALS - CHOICE)


def describe_axioms(names: Set[str]) -> str:
    """Return what a theorem assumes, in words for the reader."""
    if not names:
        return "nothing assumed"
    return "assumed are the axioms of Coq's reals" + (f" and {CHOICE_WORDS}" if names & CHOICE else "")
