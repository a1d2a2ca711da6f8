"""The preludes that files of claims import: the text of each, the preludes that it imports, and the message if Coq lacks its libraries."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from .laws.prelude import LAWS_NAME, LAWS_PRELUDE
from .prelude import PRELUDE, PRELUDE_NAME
from .reals.prelude import LIMITS_NAME, LIMITS_PRELUDE, REALS_NAME, REALS_PRELUDE, SLOPES_NAME, SLOPES_PRELUDE


@dataclass(frozen=True)
class PreludeFile:
    """A prelude."""

    text: str
    imports: tuple[str, ...]  # names of other preludes
    missing: str  # the message if its libraries are not installed
    over_the_reals: bool = True  # whether a theorem that imports it may rest on the axioms of the reals


def missing_message(libraries: str, packages: str) -> str:
    """Return the message for libraries that are not installed, with the packages that contain them."""
    return f"not run: Coq is here but {libraries}; apt-get install {packages}"


NO_ALGEBRA = missing_message("MathComp's algebra is not", "libcoq-mathcomp-algebra")
NO_REALS = missing_message("its libraries for the reals are not", "libcoq-coquelicot libcoq-interval")
NO_SLOPES = missing_message("its libraries for derivatives are not", "libcoq-coquelicot libcoq-mathcomp-analysis")
# Each prelude comes after those that it imports.
PRELUDES = {
    PRELUDE_NAME: PreludeFile(PRELUDE, (), NO_ALGEBRA, over_the_reals=False),
    LAWS_NAME: PreludeFile(LAWS_PRELUDE, (PRELUDE_NAME,), NO_ALGEBRA, over_the_reals=False),
    REALS_NAME: PreludeFile(REALS_PRELUDE, (), NO_REALS),
    LIMITS_NAME: PreludeFile(LIMITS_PRELUDE, (REALS_NAME,), NO_REALS),
    SLOPES_NAME: PreludeFile(SLOPES_PRELUDE, (PRELUDE_NAME,), NO_SLOPES),
}


def add_imports(names: Set[str]) -> list[str]:
    """Return the names of these preludes and of those that they import, each after its imports."""
    needed = {*names, *(other for name in names for other in PRELUDES[name].imports)}
    return [name for name in PRELUDES if name in needed]
