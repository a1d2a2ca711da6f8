"""Files of claims as one file, of which Coq is asked once what all of its theorems assume together.

What each file imports takes longer to load than most proofs take to check, and asking what a theorem assumes goes through all that its
proof rests on. What is said of all theorems together bounds what any of them assumes.
"""

from __future__ import annotations

import re

from .file_audit import preludes_of, theorems

MOST = 16  # files in one
QUESTION = re.compile(r"^Print Assumptions [^\n]*\n", re.MULTILINE)


def shared_out(sources: dict, apart: frozenset, jobs: int) -> list:
    """The names in groups that import the same, each group for one run of Coq; those that are named `apart` are alone."""
    by_imports = {}
    for key, text in sources.items():
        if key not in apart:
            by_imports.setdefault(tuple(sorted(preludes_of(text))), []).append(key)
    groups = [[key] for key in sources if key in apart]
    for keys in by_imports.values():
        most = max(1, min(MOST, -(-len(keys) // jobs)))
        groups += [keys[k : k + most] for k in range(0, len(keys), most)]
    return groups


def joined(texts: list) -> str:
    """The texts, each in a module of its own, behind what they import; and what all their theorems assume. All of them import the same."""
    imported = [f"From Derivations Require Import {name}.\n" for name in sorted(preludes_of(texts[0]))]
    parts, names = list(imported), []
    for k, text in enumerate(texts, 1):
        body = QUESTION.sub("", text)
        for line in imported:
            body = body.replace(line, "", 1)
        parts.append(f"Module Claim_{k}.\n{body}\nEnd Claim_{k}.\n")
        names += [f"Claim_{k}.{name}" for name in theorems(text)]
    return "".join([*parts, f"Definition together := {conjoined(names)}.\nPrint Assumptions together.\n"])


def conjoined(names: list) -> str:
    return names[0] if len(names) == 1 else f"conj {names[0]} {'(' * (len(names) > 2)}{conjoined(names[1:])}{')' * (len(names) > 2)}"
