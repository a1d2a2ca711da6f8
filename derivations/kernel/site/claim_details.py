"""The details of a claim and of its steps: each witness's verdict and input, the code, and the lines of the script."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..check.proving_witnesses import provers
from ..printing.mathml import render_author_text, render_text
from . import code_verdict_text, step_details
from .claim_formats import to_plain_text

Stash = Callable[[str], str]

WITNESSES = {"exact": "exact", "sympy": "SymPy", "torch": "PyTorch", "coq": "Coq"}
SOURCES = {"sympy": "the program", "coq": "the theorem"}  # the link text for a witness's file
VERDICTS = {"proved": "✓", "refuted": "✗", "agrees": "≈", "not applicable": "–"}  # "agrees" means in numbers only, which is no proof

# For each witness with a source, two functions. The first maps the source to the sizes that it tries; the second maps the source, the
# number of a step and the number of steps to the lines about that step.
INPUTS: dict[str, tuple[Callable[[str], str], Callable[[str, int, int], str]]] = {
    "sympy": (step_details.describe_sizes, lambda source, k, of: step_details.find_program_lines(source, k)),
    "coq": (lambda source: "", lambda source, k, of: step_details.find_theorem(source, k, of == 1)),
}


@dataclass(frozen=True)
class ScriptSource:
    """The script that states a claim: its name, its text, and its address in the repository; the last two are "" if unknown."""

    script: str
    text: str
    address: str


class ElementWriter:
    """Adds elements to Markdown's tree, with every text in them stashed."""

    def __init__(self, stash: Stash):
        self.stash = stash

    def add(self, parent: Element, tag: str, css: str = "", html: str = "", **attributes: str) -> Element:
        if css:
            attributes["class"] = css
        child = SubElement(parent, tag, attributes)
        if html:
            # The newline is invisible on the page; it separates words for search, for screen readers and in copied text.
            # (As a tail it would be searched for Markdown, which takes a third of the time.)
            child.text = self.stash(html if tag == "a" else f"{html}\n")
        return child

    def name_summary(self, summary: Element, text: str) -> None:
        """Name a summary in words if its text has a formula, since browsers leave formulas out of the name."""
        if "$" in text:
            summary.set("aria-label", self.stash(escape(to_plain_text(text))))


class DetailsWriter(ElementWriter):
    """Adds the details that open below a claim's badge and below a step. Steps are counted from 1."""

    def __init__(self, stash: Stash, link_file: Callable[..., str], link_code: Callable[[str], str], source: ScriptSource):
        super().__init__(stash)
        self.link_file = link_file
        self.link_code = link_code
        self.source = source

    def add_badge(self, section: Element, claim: dict) -> None:
        """Add the badge, with each witness and how far it reached; it opens to the details of the whole claim."""
        if not claim["witnesses"]:
            summary = self.add(section, "div", "claim__summary")
            self.add(summary, "span", "claim__scope", escape(claim["scope"]))
            return
        details = self.add(section, "details", "claim__witnesses")
        summary = self.add(details, "summary", "claim__summary")
        if claim["kind"] == "definition":
            self.add(summary, "span", "claim__scope", escape(claim["scope"]))
        for witness in claim["witnesses"]:
            if witness["verdict"] != "not applicable":
                agrees = " claim__witness--agrees" * (witness["verdict"] == "agrees")
                self.add(summary, "span", f"claim__witness{agrees}", f"{witness_name(witness)}: {escape(describe_reach(witness))}")
        if code_verdict_text.is_proved(claim):
            self.add(summary, "span", "claim__witness", f"code: {code_verdict_text.describe_reach(claim)}")
        if len(provers(claim)) == 1:
            self.add(summary, "span", "claim__alone", "one proof")
        rows = self.add(details, "dl")
        for witness in claim["witnesses"]:
            self._add_witness(rows, witness, claim, 1 if len(claim["steps"]) == 1 else 0)
        self._add_code_verdict(rows, claim)
        if claim["letters"]:
            self.add(rows, "dt", "", "letters")
            self.add(self.add(rows, "dd"), "span", "claim__note", "; ".join(map(describe_symbol, claim["letters"])))
        if len(claim["steps"]) == 1:
            self._add_script_lines(rows, claim, 1)

    def add_step(self, box: Element, claim: dict, k: int) -> None:
        """Add the reason of one of several steps, which opens to the step's details."""
        fold = self.add(box, "details", "claim__step")
        reason = claim["steps"][k - 1]["reason"]
        self.name_summary(self.add(fold, "summary", "claim__reason", render_author_text(reason)), reason)
        rows = self.add(fold, "dl")
        if claim["assumptions"]:
            self.add(rows, "dt", "", "may use")
            self.add(self.add(rows, "dd"), "span", "claim__note", render_text("; ".join(one["text"] for one in claim["assumptions"])))
        for witness in claim["witnesses"]:
            if witness["name"] in claim["steps"][k - 1]["witnesses"]:
                # Coq's verdict on the claim may differ, since it may prove only some of the steps.
                of_step = witness | {"verdict": "proved"} if witness["name"] == "coq" else witness
                self._add_witness(rows, of_step, claim, k)
        if claim.get("code"):
            self.add(rows, "dt", "", "code")
            self.add_snippets(self.add(rows, "dd"), claim["code"])
        self._add_script_lines(rows, claim, k)

    def _add_witness(self, rows: Element, witness: dict, claim: dict, k: int) -> None:
        """Add a witness's verdict and a link to its file; for step k also its input. k is 0 for a claim of several steps."""
        self.add(rows, "dt", "", f"{VERDICTS[witness['verdict']]} {witness_name(witness)}")
        row = self.add(rows, "dd")
        source = witness.get("source", "")
        inputs = INPUTS.get(witness["name"]) if k else None
        verdict = " · ".join(filter(None, (witness["verdict"], witness["scope"], inputs and inputs[0](source))))
        self.add(row, "span", "claim__verdict", escape(verdict))
        if witness["note"]:
            self.add(row, "span", "claim__note", render_text(witness["note"]))
        if inputs and (lines := inputs[1](source, k, len(claim["steps"]))):
            self.add(row, "pre", "claim__lines", escape(lines))
        if witness.get("file"):
            address = self.link_file(witness["file"], witness["source"])
            self.add(row, "a", "claim__source", SOURCES.get(witness["name"], "its source"), href=address)
        if witness.get("file") and witness["name"] == "coq":
            self.add(
                row, "a", "claim__source", "what it imports", href=self.link_file(f"coq/{step_details.find_prelude(witness['source'])}.v")
            )

    def _add_code_verdict(self, rows: Element, claim: dict) -> None:
        """Add the verdict on the code that the claim names: whether it is proved to compute the claim."""
        if not (verdict := code_verdict_text.describe_verdict(claim)):
            return
        self.add(rows, "dt", "", f"{VERDICTS['proved' if code_verdict_text.is_proved(claim) else 'agrees']} code")
        row = self.add(rows, "dd")
        self.add(row, "span", "claim__verdict", escape(verdict))
        if note := code_verdict_text.describe_note(claim):
            self.add(row, "span", "claim__note", escape(note))

    def _add_script_lines(self, rows: Element, claim: dict, k: int) -> None:
        """Add the lines of the script that state a step, if they are found."""
        excerpt = step_details.find_script_lines(self.source.text, claim, k)
        if excerpt is None:
            return
        self.add(rows, "dt", "", "script")
        row = self.add(rows, "dd")
        if self.source.address:
            self.add(row, "a", "claim__place", excerpt.describe_lines(), href=self.source.address + excerpt.fragment())
        else:
            self.add(row, "span", "claim__place", excerpt.describe_lines())
        if excerpt.text:
            self.add(row, "pre", "claim__lines", escape(excerpt.text))

    def add_snippets(self, row: Element, snippets: list[str]) -> None:
        """Add a list of snippets, each with a link to its file if a page shows the file."""
        names = self.add(row, "ul")
        for snippet in snippets:
            html, address = f"<code>{escape(snippet.rpartition('.')[2])}</code>", self.link_code(snippet)
            item = self.add(names, "li")
            if address:
                self.add(item, "a", "", html, href=address)
            else:
                self.add(item, "span", "", html)


def describe_symbol(symbol: dict, separator: str = ", ") -> str:
    """Return a symbol with its kind and its size, as HTML."""
    lead = {"an index": "from 1 to", "a vector": "of", "a random vector": "of"}.get(symbol["is"], "")
    size = " by ".join(f"${axis}$" for axis in symbol["axes"])
    return render_text(" ".join(filter(None, (f"${symbol['latex']}${separator}{symbol['is']}", lead if size else "", size))))


def describe_reach(witness: dict) -> str:
    """Return how far a witness's own check reached, in few words: its scope, the largest size that it tried, or its number of points."""
    scope = witness["scope"]
    if witness["verdict"] == "agrees":
        points = re.search(r"(\d[\d,]*) points? in fp64", witness["note"])
        if not points:
            return "counterexample" if "at the counterexample" in witness["note"] else scope
        return f"{points[1]} {'point' if points[1] == '1' else 'points'}"
    if sizes := re.fullmatch(r"some sizes up to (\d+)", scope):
        return f"sizes ≤ {sizes[1]}"
    return {"induction": "every size, by induction", "exact counterexample": "counterexample"}.get(scope, scope)


def witness_name(witness: dict) -> str:
    """Return the name of a witness as pages show it."""
    return escape(WITNESSES.get(witness["name"], witness["name"]))
