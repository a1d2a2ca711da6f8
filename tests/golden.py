"""The golden file: what the checker said of every claim, so that a change of the kernel shows what else it changes.

    python -m tests.golden            # compare the certificates with the golden file
    python -m tests.golden --write    # after an intended change: write the file, and review its diff

Each line of `tests/golden.jsonl` is the record of one claim, without line numbers and times. A SymPy program is stored as a digest of its
syntax tree without docstrings, so that only a change of what it does shows up. What code computes is stored as text.
"""

import ast
import json
import sys
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

from derivations.kernel.core.expr import show
from derivations.kernel.errors import quantity
from derivations.kernel.script.tree_data import read_data
from derivations.kernel.store import certificates

FILE = Path(__file__).with_name("golden.jsonl")
SHOWN = 10  # differences that a message lists
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def records(topics: list[str] | None = None) -> dict[str, dict]:
    """Return the stable part of every claim's record by its name, `topic#id`. Raise CertificateError if a topic was not checked."""
    wanted = certificates.topics() if topics is None else topics
    found = {f"{topic}#{claim['id']}": claim for topic in wanted for claim in certificates.load(topic)["claims"]}
    return {name: stable(claim) for name, claim in found.items()}


def stable(claim: dict) -> dict:
    """Return a claim's record without its line number, with a digest in the place of its SymPy program and text for what code computes."""
    witnesses = [said | {"source": program_digest(said["source"])} if "source" in said else said for said in claim["witnesses"]]
    calls = [call | {"expression": show(read_data(call["expression"]))} for call in claim["computed"].get("formulas", [])]
    computed = claim["computed"] | ({"formulas": calls} if calls else {})
    return {part: value for part, value in claim.items() if part != "line"} | {"witnesses": witnesses, "computed": computed}


def program_digest(text: str) -> str:
    """Return a digest of what a program does: its syntax tree without docstrings and comments."""
    try:
        trees = [syntax(part) for part in text.split("\n\n\n")]  # the functions that programs share are parsed once
    except SyntaxError:
        trees = [syntax(text)]
    return sha256("\n".join(filter(None, trees)).encode()).hexdigest()[:16]


@lru_cache(maxsize=4096)
def syntax(text: str) -> str:
    """Return the syntax tree of Python source as text, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return "\n".join(ast.dump(node) for node in tree.body)


def lines(found: dict[str, dict]) -> str:
    """Return records as the text of the golden file."""
    return "".join(json.dumps([name, claim], ensure_ascii=False, sort_keys=True) + "\n" for name, claim in sorted(found.items()))


def golden() -> dict[str, dict]:
    """Return the records of the golden file by claim."""
    return dict(map(json.loads, FILE.read_text(encoding="utf-8").splitlines()))


def differences(expected: dict[str, dict], found: dict[str, dict]) -> Iterator[str]:
    """Yield a line for each part of a record that differs. A topic of which the golden file has no claim is new, and has nothing to differ from."""
    known = {topic_of(name) for name in expected}
    for name in sorted(name for name in expected.keys() | found.keys() if topic_of(name) in known):
        if name not in found:
            yield f"{name}: this claim is in the golden file, and no topic states it"
        elif name not in expected:
            yield f"{name}: this claim is not in the golden file"
        else:
            parts = sorted(expected[name].keys() | found[name].keys())
            for part in parts:
                was, now = expected[name].get(part), found[name].get(part)
                if was != now:
                    yield f"{name}: {part}: expected {json.dumps(was, ensure_ascii=False)}, found {json.dumps(now, ensure_ascii=False)}"


def topic_of(name: str) -> str:
    return name.partition("#")[0]


def report(expected: dict[str, dict], found: dict[str, dict]) -> str:
    """Return a message that lists the first differences and says what to do; "" if there are none."""
    differing = list(differences(expected, found))
    if not differing:
        return ""
    more = f"\n... and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
    advice = "\nIf you meant to change this, run: python -m tests.golden --write"
    return f"{quantity(len(differing), 'difference')} from {FILE.name}:\n" + "\n".join(islice(differing, SHOWN)) + more + advice


def main(arguments: list[str]) -> str | None:
    if arguments not in ([], ["--write"]):
        return __doc__
    found = records()
    if arguments:
        FILE.write_text(lines(found), encoding="utf-8")
        return None
    return report(golden(), found) or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
