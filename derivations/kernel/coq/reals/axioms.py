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
# `interval` computes with integers of the machine, whose operations Coq takes to be what they are said to be.
OPERATIONS = (
    "add addc addcarryc addmuldiv compare div diveucl diveucl_21 eqb head0 int land leb lor lsl lsr ltb lxor mod mul mulc sub subc "
    "subcarryc tail0"
)
SPECIFIED = (
    "add_spec addc_def_spec addcarryc_def_spec addmuldiv_def_spec compare_def_spec div_spec diveucl_21_spec diveucl_def_spec eqb_correct "
    "eqb_refl head0_spec land_spec leb_spec lor_spec lsl_spec lsr_spec ltb_spec lxor_spec mod_spec mul_spec mulc_spec of_to_Z sub_spec "
    "subc_def_spec subcarryc_def_spec tail0_spec"
)
MACHINE = frozenset([f"PrimInt63.{name}" for name in OPERATIONS.split()] + [f"Uint63.{name}" for name in SPECIFIED.split()])
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
    return sorted(names - REALS - CHOICE - MACHINE)


def in_words(names: set) -> str:
    """What is assumed, as a reader is told."""
    if not names:
        return "nothing assumed"
    further = [words for found, words in ((CHOICE, CHOICE_WORDS), (MACHINE, "of its machine integers")) if names & found]
    return " and ".join(["assumed are the axioms of Coq's reals", *further])
