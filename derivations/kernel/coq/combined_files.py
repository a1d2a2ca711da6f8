"""Join files of claims into one file, so that one run of `coqc` checks them together.

Loading the imports takes longer than checking most proofs, and `Print Assumptions` walks through everything that a proof rests on. A joined
file loads its imports once and asks once, for the conjunction of all its theorems. The answer covers what each theorem assumes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from .file_audit import imported_preludes, theorem_names

MAX_FILES = 16  # files joined into one
PRINT_ASSUMPTIONS = re.compile(r"^Print Assumptions [^\n]*\n", re.MULTILINE)


def group_by_imports(sources: Mapping[str, str], apart: Set[str], jobs: int) -> list[list[str]]:
    """Group the names of sources with the same imports, one group for each run of Coq. A name in `apart` is a group of its own."""
    by_imports: dict[tuple[str, ...], list[str]] = {}
    for key, text in sources.items():
        if key not in apart:
            by_imports.setdefault(tuple(sorted(imported_preludes(text))), []).append(key)
    groups = [[key] for key in sources if key in apart]
    for keys in by_imports.values():
        size = max(1, min(MAX_FILES, -(-len(keys) // jobs)))
        groups += [keys[k : k + size] for k in range(0, len(keys), size)]
    return groups


def join_files(texts: Sequence[str]) -> str:
    """Return one file with each text in its own module, which ends by asking what all the theorems assume.

    All texts must import the same preludes.
    """
    imports = [f"From Derivations Require Import {name}.\n" for name in sorted(imported_preludes(texts[0]))]
    parts, names = list(imports), []
    for k, text in enumerate(texts, 1):
        body = PRINT_ASSUMPTIONS.sub("", text)
        for line in imports:
            body = body.replace(line, "", 1)
        parts.append(f"Module Claim_{k}.\n{body}\nEnd Claim_{k}.\n")
        names += [f"Claim_{k}.{name}" for name in theorem_names(text)]
    return "".join([*parts, f"Definition together := {conjunction(names)}.\nPrint Assumptions together.\n"])


def conjunction(names: list[str]) -> str:
    """Return the Coq term that proves the conjunction of the named theorems."""
    if len(names) == 1:
        return names[0]
    rest = conjunction(names[1:])
    return f"conj {names[0]} {f'({rest})' if len(names) > 2 else rest}"
