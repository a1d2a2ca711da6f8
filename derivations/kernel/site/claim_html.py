"""Render one claim as HTML.

The data of a certificate is text, which is escaped, or LaTeX, which math-core converts; it is never markup. It reaches the page through
`stash`, which replaces finished HTML by a token, so that nothing in it is read as Markdown. Only ids and links are elements of Markdown's
own tree, where the generators look for them.
"""

from collections.abc import Callable
from html import escape
from xml.etree.ElementTree import Element

from ..printing.mathml import MathsError, estimate_width, mathml, render_author_text, render_text
from .claim_details import VERDICTS, DetailsWriter, ElementWriter, ScriptSource, Stash, describe_symbol
from .claim_formats import to_latex
from .counterexample_text import set_values
from .formula_layout import add_line_breaks

KINDS = {
    "definition": "Definition",
    "identity": "Identity",
    "chain": "Derivation",
    "inequality": "Inequality",
    "limit": "Limit",
    "law": "Law",
    "refutation": "Refuted",
}
REFUTED = {"=": ("left ≠ right", r"\ne"), "<=": ("left > right", ">")}  # what the counterexample shows, in text and in LaTeX


class ClaimError(ValueError):
    """A claim cannot be shown; the message does not name the page or the line."""


def render_claim(
    claim: dict,
    parent: Element,
    *,
    stash: Stash,
    number: int,
    anchor: str,
    script: str,
    repository: str,
    link_use: Callable[[str], str],
    rank: str = "claim",
    link_file: Callable[..., str] = lambda name, text="": name,
    label_use: Callable[[str], str] = lambda use: escape(use.rpartition("#")[2]),
    link_code: Callable[[str], str] = lambda name: "",
    script_text: str = "",
) -> Element:
    """Append the claim to `parent` as a section whose id is `anchor`, and return the section.

    `rank` is one of `page_source.RANKS`. `link_use` returns the address of an entry of the claim's `uses`, and `label_use` its name as
    HTML. `link_file` returns the address of a file in the docs folder, and `link_code` the address of the file with a snippet, or "".
    Raise ClaimError if no witness vouches for the claim or the record is incomplete.
    """
    try:
        _check_verdicts(claim)
        source = ScriptSource(script, script_text, f"{repository.rstrip('/')}/blob/main/{script}" if repository else "")
        details = DetailsWriter(stash, link_file, link_code, source)
        return _ClaimWriter(stash, link_use, label_use, details).add_claim(claim, parent, number, rank, anchor)
    except MathsError as error:
        raise ClaimError(str(error)) from None
    except ClaimError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ClaimError(f"the certificate lacks something ({error!r}); run 'python -m derivations check --fresh'") from None


def _check_verdicts(claim: dict) -> None:
    """Raise ClaimError unless a witness proves the claim and none refutes it. Loading a certificate checks this, too."""
    if claim["kind"] not in KINDS:
        raise ClaimError(f"kind {claim['kind']!r} is none of {', '.join(KINDS)}")
    verdicts = [witness["verdict"] for witness in claim["witnesses"]]
    unknown = [verdict for verdict in verdicts if verdict not in VERDICTS]
    if unknown:
        raise ClaimError(f"verdict {unknown[0]!r} is none of {', '.join(VERDICTS)}")
    if claim["kind"] == "definition":
        return
    decisive = {"proved", "refuted"} if claim["kind"] == "refutation" else {"proved"}
    if not decisive.intersection(verdicts) or ("refuted" in verdicts and "refuted" not in decisive):
        raise ClaimError(f"its witnesses say {', '.join(verdicts) or 'nothing'}; a claim is shown only if they vouch for it")


class _ClaimWriter(ElementWriter):
    """Writes the elements of a claim."""

    def __init__(self, stash: Stash, link_use: Callable[[str], str], label_use: Callable[[str], str], details: DetailsWriter):
        super().__init__(stash)
        self.link_use = link_use
        self.label_use = label_use
        self.details = details

    def add_claim(self, claim: dict, parent: Element, number: int, rank: str, anchor: str) -> Element:
        """Append the section of a claim."""
        kind = claim["kind"]
        outer = section = self.add(parent, "section", f"claim claim--{kind} claim--{rank}", id=anchor)
        if rank == "routine":
            self._add_number(outer, number, anchor)  # a summary, which opens on a click, may contain no link
            section = self.add(outer, "details", "claim__folded")
        head = self._add_head(section, claim, rank)
        if rank != "routine":
            self._add_number(head, number, anchor)
        # Readers need to know what a symbol means, so a definition shows its formula even when folded.
        self._add_steps(head if rank == "routine" and kind == "definition" else section, claim)
        if kind == "refutation":
            self._add_counterexample(section, claim)
        if claim.get("because"):
            self._add_because(section, claim["because"])
        if misleading := [letter for letter in claim["letters"] if _looks_like_a_matrix(letter)]:
            self._add_letters(section, misleading)
        if claim["assumptions"]:
            self._add_assumptions(section, claim["assumptions"])
        if claim["uses"]:
            self._add_uses(section, claim["uses"])
        if claim.get("code"):
            self._add_code(section, claim["code"])
        latex = self.stash(escape(to_latex(claim)).replace("\n", "&#10;"))  # a button copies it
        topic = self.details.source.script.removeprefix("derivations/").removesuffix(".py")
        id_ = self.stash(escape(f"{topic}#{claim['id']}"))
        base = self.add(section, "div", "claim__base", **{"data-latex": latex, "data-claim": id_})
        self.details.add_badge(base, claim)
        self._add_script(base, int(claim["line"]))
        return outer

    def _add_head(self, section: Element, claim: dict, rank: str) -> Element:
        if rank != "claim" and not claim["title"]:
            raise ClaimError(f"a {rank} needs a title, and this claim has none; give it a title in its script")
        head = self.add(section, "summary" if rank == "routine" else "header", "claim__head")
        self.add(head, "span", "claim__kind", label_kind(claim, rank))
        if claim["title"]:
            self.add(head, "span", "claim__title", render_author_text(claim["title"]))
        if rank == "routine":
            defined = f": ${claim['latex']}$" if claim["kind"] == "definition" else ""  # see add_claim
            self.name_summary(head, f"{label_kind(claim, rank)}: {claim['title']}{defined}")
        return head

    def _add_number(self, parent: Element, number: int, anchor: str) -> None:
        self.add(parent, "a", "claim__number", f"({number})", href=f"#{anchor}", title="Link to this claim")

    def _add_steps(self, section: Element, claim: dict) -> None:
        """Add the sides. The reason of a claim with one step is text, since the badge shows its details; other reasons open."""

        def add_reason(box: Element, k: int) -> None:
            if len(claim["steps"]) == 1:
                self.add(box, "div", "claim__reason", render_author_text(claim["steps"][0]["reason"]))
            else:
                self.details.add_step(box, claim, k)

        add_steps(self, section, claim, add_reason)

    def _add_counterexample(self, section: Element, claim: dict) -> None:
        rows = self.add(section, "div", "claim__rows")
        if claim["counterexample"]:  # empty if the claim has no variables
            self.add(rows, "span", "claim__label", "at")
            values = self.add(rows, "div", "claim__values")
            for binding in claim["counterexample"]:
                self.add(values, "span", "claim__value", add_line_breaks(mathml(binding["latex"])))
        self.add(rows, "span", "claim__label", REFUTED[claim["refuted"]][0])
        values = self.add(rows, "div", "claim__values")
        self.add(
            values, "span", "claim__value", add_line_breaks(mathml(f"{claim['left']} {REFUTED[claim['refuted']][1]} {claim['right']}"))
        )

    def _add_because(self, section: Element, because: list[str]) -> None:
        """Add the reason of an inequality: the difference of its sides, or the factors that bound a rank."""
        rows = self.add(section, "div", "claim__rows")
        self.add(rows, "span", "claim__label", "because")
        values = self.add(rows, "div", "claim__values")
        self.add(values, "span", "claim__value", "right − left is" if len(because) == 1 else "the matrix is the product of")
        for latex in because:
            self.add(values, "span", "claim__value", add_line_breaks(mathml(latex, display=len(because) == 1)))

    def _add_letters(self, section: Element, letters: list[dict]) -> None:
        """Add the symbols that look like matrices but are not."""
        rows = self.add(section, "div", "claim__rows")
        self.add(rows, "span", "claim__label", "where")
        self.add(self.add(rows, "div", "claim__values"), "span", "claim__value", "; ".join(describe_symbol(one, " is ") for one in letters))

    def _add_assumptions(self, section: Element, assumptions: list[dict]) -> None:
        """Add the assumptions, each with what fails without it; folded if there are more than two, so that the list stays short."""
        box = self.add(section, "div", "claim__rows claim__assumptions")
        self.add(box, "span", "claim__label", "assuming")
        items = self.add(box, "ul")
        state = {} if len(assumptions) > 2 else {"open": "open"}
        for assumption in assumptions:
            item = self.add(items, "li")
            if not _is_informative(assumption["needed"]):
                self.add(item, "span", "", render_text(assumption["text"]))
                continue
            details = self.add(item, "details", "claim__assumption", **state)
            self.name_summary(self.add(details, "summary", "", render_text(assumption["text"])), assumption["text"])
            lead = "" if assumption["needed"].startswith("without") else "without it: "
            self.add(details, "span", "claim__needed", render_text(lead + set_values(assumption["needed"])))

    def _add_uses(self, section: Element, uses: list[str]) -> None:
        row = self.add(section, "div", "claim__rows claim__uses")
        self.add(row, "span", "claim__label", "uses")
        names = self.add(row, "ul")
        for use in uses:
            self.add(self.add(names, "li"), "a", "", self.label_use(use), href=self.link_use(use))

    def _add_code(self, section: Element, snippets: list[str]) -> None:
        """Add the functions that compute the claim; the PyTorch witness ran them."""
        row = self.add(section, "div", "claim__rows claim__code")
        self.add(row, "span", "claim__label", "code")
        self.details.add_snippets(row, snippets)

    def _add_script(self, base: Element, line: int) -> None:
        html = f"<code>{escape(self.details.source.script)}:{line}</code>"
        if self.details.source.address:
            self.add(base, "a", "claim__script", html, href=f"{self.details.source.address}#L{line}")
        else:
            self.add(base, "span", "claim__script", html)


def add_steps(
    writer: ElementWriter, section: Element, claim: dict, add_reason: Callable[[Element, int], None], layout: str = "chain"
) -> None:
    """Add the left-hand side, then a row for each step; `add_reason(box, k)` adds the reason of step k beside or below it.

    With the layout "wide", the rows of several steps are below the left-hand side; with "chain", they are beside it if there is room.
    """
    left = mathml(claim["start"], display=True)
    # The empty group gives the relation the spacing of an operator between two operands.
    rows = [mathml(f"{{}}{step['relation']} {step['latex']}", display=True) for step in claim["steps"]]
    layout = "one" if len(rows) == 1 else layout
    # About 38 letters and a reason fit side by side.
    if layout == "chain" and estimate_width(left) + max(map(estimate_width, rows)) > 38:
        layout = "wide"
    box = writer.add(section, "div", f"claim__steps claim__steps--{layout}")
    writer.add(box, "div", "claim__left", add_line_breaks(left))
    for k, (step, row) in enumerate(zip(claim["steps"], rows), start=1):
        writer.add(box, "div", "claim__right", add_line_breaks(row))
        if step["reason"]:
            add_reason(box, k)


def label_kind(claim: dict, rank: str) -> str:
    """Return the kind of a claim as pages show it: a theorem is called that, unless it is a definition or a refutation."""
    return "Theorem" if rank == "theorem" and claim["kind"] not in ("definition", "refutation") else KINDS[claim["kind"]]


def _is_informative(needed: str) -> bool:
    """Return whether a consequence of dropping an assumption says more than that something is undefined without it."""
    return bool(needed) and not any(sign in needed for sign in ("= undefined", "have no definite value"))


def _looks_like_a_matrix(letter: dict) -> bool:
    """Return whether a symbol is a capital but has fewer than two axes."""
    return letter["latex"][:1].isupper() and len(letter["axes"]) < 2
