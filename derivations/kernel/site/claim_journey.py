"""What each station made of one claim on its way to a page: read from its script and its certificate, so that a page which tells of it
cannot go stale."""

import ast
import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from textwrap import dedent

from .claim_details import VERDICTS, WITNESSES
from .trust_counts import code_lines, table

ROOT = Path(__file__).resolve().parents[3]

# The files that a claim passes, in order; {script} is the one that states it, {page} the one that shows it.
FILES = (
    "{script}",
    "derivations/kernel/__init__.py",
    "derivations/kernel/language/derivation.py",
    "derivations/kernel/core/expr.py",
    "derivations/kernel/core/assumptions.py",
    "derivations/kernel/core/claims.py",
    "derivations/kernel/command/cli.py",
    "derivations/kernel/run/runner.py",
    "derivations/kernel/run/worker.py",
    "derivations/kernel/run/input_tracking.py",
    "derivations/kernel/core/acceptance.py",
    "derivations/kernel/exact/witness.py",
    "derivations/kernel/sympy/witness.py",
    "derivations/kernel/sympy/program.py",
    "derivations/kernel/pytorch/witness.py",
    "derivations/kernel/run/records.py",
    "derivations/kernel/printing/latex.py",
    "derivations/kernel/attack/parse_plain.py",
    "derivations/kernel/run/certificates.py",
    "derivations/kernel/run/times.py",
    "derivations/kernel/run/again.py",
    "derivations/kernel/coq/witness.py",
    "derivations/kernel/run/coq_results.py",
    "derivations/kernel/site/__init__.py",
    "derivations/kernel/site/claim_html.py",
    "derivations/kernel/site/claim_details.py",
    "derivations/kernel/site/step_details.py",
)


_PLACE = re.compile(r"([a-z0-9_-]+/[a-z0-9_-]+)#([\w-]+) (\w+)")


class JourneyError(ValueError):
    """What cannot be told of a claim: why, without a place."""


def told(argument: str, load: Callable[[str], dict], repository: str) -> str:
    """What a block asks for, `chapter/topic#id PART`, as HTML. `load` gives a topic's certificate."""
    match = _PLACE.fullmatch(argument)
    if not match or match[3] not in PARTS:
        raise JourneyError(f"expected '/// journey | chapter/topic#id PART' with a part of {', '.join(PARTS)}, found {argument!r}")
    topic, name, part = match.groups()
    certificate = load(topic)
    claims = [claim for claim in certificate["claims"] if claim["id"] == name]
    if not claims:
        raise JourneyError(f"{topic} has no claim {name!r}")
    return PARTS[part](certificate, claims[0], lambda file: source(file, repository))


def source(name: str, repository: str) -> str:
    """A file of the project by its path; a link, where it is said where sources are."""
    shown = f"<code>{escape(name).replace('/', '/<wbr>')}</code>"  # a long path breaks between its folders
    return f"<a href='{escape(repository.rstrip('/'))}/blob/main/{escape(name)}'>{shown}</a>" if repository else shown


def statement(certificate: dict, claim: dict, link: Callable[[str], str]) -> str:
    """The lines of the script that state the claim."""
    path = ROOT / certificate["script"]
    text = path.read_text(encoding="utf-8")
    around = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt) and node.lineno <= claim["line"] <= node.end_lineno]
    if not around:
        raise JourneyError(f"{certificate['script']} has no statement at line {claim['line']}")
    innermost = max(around, key=lambda node: node.lineno)
    lines = dedent("\n".join(text.splitlines()[innermost.lineno - 1 : innermost.end_lineno])).splitlines()
    return f"<p>{link(certificate['script'])}, from line {innermost.lineno} on:</p>{code(lines)}"


def witnesses(certificate: dict, claim: dict, link: Callable[[str], str]) -> str:
    """What each witness said, and how far it reaches."""
    rows = [[WITNESSES.get(one["name"], one["name"]), marked(one), one["scope"], one["note"]] for one in claim["witnesses"]]
    return table(["witness", "says", "how far", "how"], [list(map(escape, row)) for row in rows])


def marked(witness: dict) -> str:
    """What a witness said, behind the sign for it."""
    return f"{VERDICTS.get(witness['verdict'], '')} {witness['verdict']}".strip()


def record(certificate: dict, claim: dict, link: Callable[[str], str]) -> str:
    """The record that is stored of the claim, less the seconds, the words of the witnesses, which the table has, SymPy's program, and most
    letters."""
    short = claim | {
        "letters": claim["letters"][:2],
        "witnesses": [{"name": one["name"], "verdict": one["verdict"], "scope": one["scope"]} for one in claim["witnesses"]],
    }
    return code(json.dumps(short, indent=1, ensure_ascii=False).splitlines())


def certificate(certificate: dict, claim: dict, link: Callable[[str], str]) -> str:
    """What the certificate holds beside the claims."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(certificate["versions"].items()))
    return table(
        ["the certificate has", "which is"],
        [
            ["its place", f"<code>.certificates/{escape(certificate['topic'])}.json</code>"],
            ["claims", str(len(certificate["claims"]))],
            ["files that it depends on, each with its hash", str(len(certificate["inputs"]))],
            ["versions", escape(versions)],
            ["a seal over all of it, which begins with", f"<code>{escape(certificate['seal'][:12])}</code>"],
        ],
    )


def files(certificate: dict, claim: dict, link: Callable[[str], str]) -> str:
    """The files that the claim passes, what each says of itself, and how long it is."""
    rows = []
    for name in FILES:
        name = name.format(script=certificate["script"])
        path = ROOT / name
        if not path.is_file():
            raise JourneyError(
                f"the journey names {name}, and there is no such file; mend FILES in derivations/kernel/site/claim_journey.py"
            )
        docstring = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].split())
        rows.append([link(name), escape(docstring), str(code_lines(path))])
    return table(["file", "what it says of itself", "lines of code"], rows)


PARTS = {"statement": statement, "witnesses": witnesses, "record": record, "certificate": certificate, "files": files}


def code(lines: list[str]) -> str:
    return f"<div class='highlight'><pre><code>{escape(chr(10).join(lines))}\n</code></pre></div>"
