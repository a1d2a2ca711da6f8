"""The table of claim titles: a reader who did not write a claim compared its title with its formula, assumptions and reasons.

    python -m tests.claim_titles                      # list the claims whose titles nobody has read since they changed
    python -m tests.claim_titles --agree NAME ...     # the titles of these claims or topics say what their formulas say: write their lines

Each line of `tests/claim_titles.jsonl` has the name of a claim, its title and formula as they were read, a digest of everything that the
title must agree with, and the verdict: "agreed", or "corrected" if the reader found the title wrong and it was changed.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

from tests.golden import golden

FILE = Path(__file__).with_name("claim_titles.jsonl")
VERDICTS = ("agreed", "corrected")


def describe(claim: dict) -> dict:
    """Return what a reader compares: the title, and the formula, assumptions and reasons that it must agree with."""
    return {
        "title": claim["title"],
        "kind": claim["kind"],
        "formula": claim["latex"],
        "assumptions": [one["text"] for one in claim["assumptions"]],
        "steps": [[step["relation"], step["latex"], step["reason"]] for step in claim["steps"]],
        "counterexample": [one["latex"] for one in claim.get("counterexample", [])],
    }


def digest(claim: dict) -> str:
    """Return a digest of what a reader compares."""
    return sha256(json.dumps(describe(claim), ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def read_table() -> dict[str, dict]:
    """Return the lines of the table by claim."""
    return {entry["claim"]: entry for entry in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())} if FILE.exists() else {}


def find_unread(claims: dict[str, dict], table: dict[str, dict]) -> list[str]:
    """Return the claims that are not in the table, or whose title, formula, assumptions or reasons have changed since they were read."""
    return [name for name, claim in sorted(claims.items()) if table.get(name, {}).get("digest") != digest(claim)]


def find_superfluous(claims: dict[str, dict], table: dict[str, dict]) -> list[str]:
    """Return the entries of the table that are no claims."""
    return sorted(table.keys() - claims.keys())


def agree(names: list[str], verdict: str = "agreed") -> None:
    """Write the lines of claims or of all claims of topics, and delete those of claims that no longer exist. Raise KeyError for an unknown name."""
    claims, table = golden(), read_table()
    for name in names:
        chosen = [one for one in claims if name in (one, one.partition("#")[0])]
        if not chosen:
            raise KeyError(f"{name!r} is neither a claim of tests/golden.jsonl nor a topic")
        for one in chosen:
            parts = {"title": claims[one]["title"], "formula": claims[one]["latex"]}
            table[one] = {"claim": one, **parts, "digest": digest(claims[one]), "verdict": verdict}
    lines = [json.dumps(table[name], ensure_ascii=False) + "\n" for name in sorted(table) if name in claims]
    FILE.write_text("".join(lines), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the command line."""
    if arguments[:1] in (["--agree"], ["--corrected"]):
        try:
            agree(arguments[1:], {"--agree": "agreed", "--corrected": "corrected"}[arguments[0]])
        except KeyError as error:
            print(error.args[0], file=sys.stderr)
            return 2
        return 0
    claims = golden()
    unread = [name for name in find_unread(claims, read_table()) if not arguments or name.startswith(tuple(arguments))]
    for name in unread:
        parts = describe(claims[name])
        print(f"\n{name}\n  title: {parts['title']}")
        for part in ("kind", "formula", "assumptions", "steps", "counterexample"):
            if parts[part]:
                print(f"  {part}: {parts[part]}")
    print(f"{len(unread)} of {len(claims)} titles to read")
    return bool(unread)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
