"""The data of one claim at each stage between its script and its page, for the page that follows a claim through the project.

It is read from the script and the certificate when the page is built, so it cannot go stale.
"""

import ast
import json
import re
from collections.abc import Callable
from html import escape
from textwrap import dedent

from ..store.project_files import ROOT
from .claim_details import VERDICTS, WITNESSES
from .step_details import find_statement
from .trust_counts import count_code_lines, render_rows

# The files that a claim passes through, in order; {script} is the script that states it.
FILES = (
    "{script}",
    "derivations/kernel/__init__.py",
    "derivations/kernel/language/derivation.py",
    "derivations/kernel/core/expr.py",
    "derivations/kernel/core/operators.py",
    "derivations/kernel/core/assumptions.py",
    "derivations/kernel/core/claims.py",
    "derivations/kernel/command/cli.py",
    "derivations/kernel/check/runner.py",
    "derivations/kernel/check/worker.py",
    "derivations/kernel/check/input_tracking.py",
    "derivations/kernel/core/acceptance.py",
    "derivations/kernel/exact/witness.py",
    "derivations/kernel/sympy/witness.py",
    "derivations/kernel/sympy/program.py",
    "derivations/kernel/pytorch/witness.py",
    "derivations/kernel/check/claim_records.py",
    "derivations/kernel/printing/latex.py",
    "derivations/kernel/attack/parse_plain.py",
    "derivations/kernel/store/certificates.py",
    "derivations/kernel/store/durations.py",
    "derivations/kernel/store/claim_cache.py",
    "derivations/kernel/coq/witness.py",
    "derivations/kernel/store/coq_results.py",
    "derivations/kernel/site/extension.py",
    "derivations/kernel/site/claim_html.py",
    "derivations/kernel/site/claim_details.py",
    "derivations/kernel/site/step_details.py",
)


Link = Callable[[str], str]  # from the path of a file of the project to HTML that shows it

_ARGUMENT = re.compile(r"([a-z0-9_-]+/[a-z0-9_-]+)#([\w-]+) (\w+)")


class JourneyError(ValueError):
    """A stage of a claim cannot be shown; the message does not name the page or the line."""


def render_stage(argument: str, load: Callable[[str], dict], repository: str) -> str:
    """Return the stage that a block names, `chapter/topic#id PART`, as HTML. `load` returns a topic's certificate.

    Raise JourneyError if there is no such part or claim.
    """
    match = _ARGUMENT.fullmatch(argument)
    if not match or match[3] not in PARTS:
        raise JourneyError(f"expected '/// journey | chapter/topic#id PART' with a part of {', '.join(PARTS)}, found {argument!r}")
    topic, name, part = match.groups()
    certificate = load(topic)
    claims = [claim for claim in certificate["claims"] if claim["id"] == name]
    if not claims:
        raise JourneyError(f"{topic} has no claim {name!r}")
    return PARTS[part](certificate, claims[0], lambda file: link_file(file, repository))


def link_file(name: str, repository: str) -> str:
    """Return the path of a file as HTML; a link if the address of the repository is known."""
    shown = f"<code>{escape(name).replace('/', '/<wbr>')}</code>"  # a long path breaks between its folders
    return f"<a href='{escape(repository.rstrip('/'))}/blob/main/{escape(name)}'>{shown}</a>" if repository else shown


def render_statement(certificate: dict, claim: dict, link: Link) -> str:
    """Return the lines of the script that state the claim. Raise JourneyError if there is no statement at its line."""
    path = ROOT / certificate["script"]
    text = path.read_text(encoding="utf-8")
    statement = find_statement(text, claim["line"])
    if statement is None:
        raise JourneyError(f"{certificate['script']} has no statement at line {claim['line']}")
    lines = text.splitlines()[statement.lineno - 1 : statement.end_lineno]
    return f"<p>{link(certificate['script'])}, from line {statement.lineno} on:</p>{_render_code(dedent(chr(10).join(lines)))}"


def render_witnesses(certificate: dict, claim: dict, link: Link) -> str:
    """Return a table with the verdict, scope and note of each witness."""
    rows = [
        [WITNESSES.get(witness["name"], witness["name"]), _format_verdict(witness), witness["scope"], witness["note"]]
        for witness in claim["witnesses"]
    ]
    return render_rows(["witness", "says", "how far", "how"], [list(map(escape, row)) for row in rows])


def _format_verdict(witness: dict) -> str:
    """Return the verdict of a witness after its sign."""
    return f"{VERDICTS.get(witness['verdict'], '')} {witness['verdict']}".strip()


def render_record(certificate: dict, claim: dict, link: Link) -> str:
    """Return the stored record of the claim, without most of its letters and without the times, notes and sources of its witnesses."""
    short = claim | {
        "letters": claim["letters"][:2],
        "witnesses": [{key: witness[key] for key in ("name", "verdict", "scope")} for witness in claim["witnesses"]],
    }
    return _render_code(json.dumps(short, indent=1, ensure_ascii=False))


def render_certificate(certificate: dict, claim: dict, link: Link) -> str:
    """Return a table of the certificate's other contents: its path, inputs, versions and seal."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(certificate["versions"].items()))
    return render_rows(
        ["the certificate has", "which is"],
        [
            ["its place", f"<code>.certificates/certificates/{escape(certificate['topic'])}</code>"],
            ["claims", str(len(certificate["claims"]))],
            ["files that it depends on, each with its hash", str(len(certificate["inputs"]))],
            ["versions", escape(versions)],
        ],
    )


def render_files(certificate: dict, claim: dict, link: Link) -> str:
    """Return a table of the files that the claim passes through, with the first paragraph of their docstrings and their lengths.

    Raise JourneyError if one does not exist.
    """
    rows = []
    for name in FILES:
        name = name.format(script=certificate["script"])
        path = ROOT / name
        if not path.is_file():
            raise JourneyError(f"the journey names {name}, which does not exist; correct FILES in derivations/kernel/site/claim_journey.py")
        docstring = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].split())
        rows.append([link(name), escape(docstring), str(count_code_lines(path))])
    return render_rows(["file", "what it says of itself", "lines of code"], rows)


# By name: the function that renders a stage, from the certificate, the claim, and a function that links a file.
PARTS = {
    "statement": render_statement,
    "witnesses": render_witnesses,
    "record": render_record,
    "certificate": render_certificate,
    "files": render_files,
}


def _render_code(code: str) -> str:
    return f"<div class='highlight'><pre><code>{escape(code)}\n</code></pre></div>"
