"""What files of claims import: lemmas and tactics, each text with what it imports itself, and what is said where it cannot be had."""

from __future__ import annotations

from dataclasses import dataclass

from .laws.prelude import LAWS_NAME, LAWS_PRELUDE
from .prelude import PRELUDE, PRELUDE_NAME
from .reals.prelude import LIMITS_NAME, LIMITS_PRELUDE, REALS_NAME, REALS_PRELUDE, SLOPES_NAME, SLOPES_PRELUDE


@dataclass(frozen=True)
class Shared:
    text: str
    imports: tuple  # names of others
    missing: str  # what is said where Coq has not the libraries
    over_the_reals: bool = True


def without(what: str, packages: str) -> str:
    return f"not run: Coq is here but {what}; apt-get install {packages}"


NO_ALGEBRA = without("MathComp's algebra is not", "libcoq-mathcomp-algebra")
NO_REALS = without("its libraries for the reals are not", "libcoq-coquelicot libcoq-interval")
NO_SLOPES = without("its libraries for derivatives are not", "libcoq-coquelicot libcoq-mathcomp-analysis")
# Each behind what it imports
PRELUDES = {
    PRELUDE_NAME: Shared(PRELUDE, (), NO_ALGEBRA, over_the_reals=False),
    LAWS_NAME: Shared(LAWS_PRELUDE, (PRELUDE_NAME,), NO_ALGEBRA, over_the_reals=False),
    REALS_NAME: Shared(REALS_PRELUDE, (), NO_REALS),
    LIMITS_NAME: Shared(LIMITS_PRELUDE, (REALS_NAME,), NO_REALS),
    SLOPES_NAME: Shared(SLOPES_PRELUDE, (PRELUDE_NAME,), NO_SLOPES),
}


def with_imports(names: set) -> list:
    """These preludes and what they import, each behind what it imports."""
    needed = names | {other for name in names for other in PRELUDES[name].imports}
    return [name for name in PRELUDES if name in needed]
