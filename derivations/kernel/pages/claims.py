"""One claim as HTML.

What comes from a certificate is text to be escaped or LaTeX for math-core, never markup. It reaches the page through
`stash`, which trades finished HTML for a token, so that nothing in it can be read as Markdown; only ids and links are
elements of Markdown's own tree, where the generators look for them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..printing.maths import MathsError, authored, breadth, mathml, prose
from ..run.proofs import provers
from . import steps
from .formulas import in_pieces
from .telling import latex_of

KINDS = {
    "definition": "Definition",
    "identity": "Identity",
    "chain": "Derivation",
    "inequality": "Inequality",
    "limit": "Limit",
    "law": "Law",
    "refutation": "Refuted",
}
WITNESSES = {"exact": "exact", "sympy": "SymPy", "torch": "PyTorch", "coq": "Coq"}
SOURCES = {"sympy": "the program", "coq": "the theorem"}  # what a witness's file is called
REFUTED = {"=": ("left ≠ right", r"\ne"), "<=": ("left > right", ">")}  # what the counterexample shows, in text and in LaTeX
VERDICTS = {"proved": "✓", "refuted": "✗", "agrees": "≈", "not applicable": "–"}  # who agrees, by numbers alone, has proved nothing

GIVEN: dict[str, tuple[Callable[[str], str], Callable[[str, int, int], str]]] = {  # what a witness's source says: the sizes, and the lines
    "sympy": (steps.sizes, lambda source, k, of: steps.checked(source, k)),
    "coq": (lambda source: "", lambda source, k, of: steps.theorem(source, k, of == 1)),
}

Stash = Callable[[str], str]


class ClaimError(ValueError):
    """A claim that cannot be shown: why, without a place."""


def render(
    claim: dict,
    parent: Element,
    *,
    stash: Stash,
    number: int,
    anchor: str,
    script: str,
    repository: str,
    link: Callable[[str], str],
    rank: str = "claim",
    file: Callable[..., str] = lambda name, text="": name,
    named: Callable[[str], str] = lambda use: escape(use.rpartition("#")[2]),
    code: Callable[[str], str] = lambda name: "",
    text: str = "",
) -> Element:
    """Append the claim to `parent` as a section whose id is `anchor`.

    `rank` is one of `source.RANKS`. `link` turns an entry of the claim's `uses` into an address, `named` into what it is called, as HTML,
    `file` the name of a file beside the pages into its address, and `code` the name of a snippet into that of the file that holds it, or
    "". `text` is what the script says, where that can be read. Raises ClaimError.
    """
    try:
        _refuse_unproved(claim)
        stated = Stated(script, text, f"{repository.rstrip('/')}/blob/main/{script}" if repository else "")
        return _Writer(stash, file, named, code, stated).claim(claim, parent, number, rank, anchor, link)
    except MathsError as error:
        raise ClaimError(str(error)) from None
    except ClaimError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ClaimError(f"the certificate lacks something ({error!r}); run 'python -m derivations check --fresh'") from None


def _refuse_unproved(claim: dict) -> None:
    """The loader refuses what failed; that is worth a second look where it becomes public."""
    if claim["kind"] not in KINDS:
        raise ClaimError(f"kind {claim['kind']!r} is none of {', '.join(KINDS)}")
    verdicts = [witness["verdict"] for witness in claim["witnesses"]]
    unknown = [verdict for verdict in verdicts if verdict not in VERDICTS]
    if unknown:
        raise ClaimError(f"verdict {unknown[0]!r} is none of {', '.join(VERDICTS)}")
    if claim["kind"] == "definition":
        return
    bearing = {"proved", "refuted"} if claim["kind"] == "refutation" else {"proved"}
    if not bearing.intersection(verdicts) or ("refuted" in verdicts and "refuted" not in bearing):
        raise ClaimError(f"its witnesses say {', '.join(verdicts) or 'nothing'}; only what they vouch for is shown")


@dataclass(frozen=True)
class Stated:
    """The script that states a claim: its name, what it says, and its address in the repository; "" where that is not known."""

    script: str
    text: str
    address: str


class _Writer:
    """Elements of Markdown's tree, with every text in them stashed."""

    def __init__(self, stash: Stash, file: Callable[..., str], named: Callable[[str], str], code: Callable[[str], str], stated: Stated):
        self.stash = stash
        self.file = file
        self.named = named
        self.code = code
        self.stated = stated

    def add(self, parent: Element, tag: str, css: str = "", html: str = "", **attributes: str) -> Element:
        if css:
            attributes["class"] = css
        child = SubElement(parent, tag, attributes)
        if html:
            # The line's end is invisible on the page; it keeps words apart where its text is read: by search, by a
            # screen reader, in a copy. (As a tail it would be searched for Markdown, which takes a third of the time.)
            child.text = self.stash(html if tag == "a" else f"{html}\n")
        return child

    def claim(self, claim, parent, number, rank, anchor, link):
        kind = claim["kind"]
        outer = section = self.add(parent, "section", f"claim claim--{kind} claim--{rank}", id=anchor)
        if rank == "routine":
            self._number(outer, number, anchor)  # what opens by a press may hold no link
            section = self.add(outer, "details", "claim__folded")
        head = self._head(section, claim, rank)
        if rank != "routine":
            self._number(head, number, anchor)
        # Nobody can go on without knowing what a letter stands for: a definition shows it folded as well.
        self._steps(head if rank == "routine" and kind == "definition" else section, claim)
        if kind == "refutation":
            self._counterexample(section, claim)
        if claim.get("because"):
            self._because(section, claim["because"])
        if odd := [letter for letter in claim["letters"] if _looks_like_a_matrix(letter)]:
            self._letters(section, odd)
        if claim["assumptions"]:
            self._assumptions(section, claim["assumptions"])
        if claim["uses"]:
            self._uses(section, claim["uses"], link)
        if claim.get("code"):
            self._code(section, claim["code"])
        latex = self.stash(escape(latex_of(claim)).replace("\n", "&#10;"))  # what a button copies
        base = self.add(section, "div", "claim__base", **{"data-latex": latex})
        self._vouching(base, claim)
        self._script(base, int(claim["line"]))
        return outer

    def _head(self, section, claim, rank):
        if rank != "claim" and not claim["title"]:
            raise ClaimError(f"a {rank} is known by its name, and it has none; give it a title in its script")
        head = self.add(section, "summary" if rank == "routine" else "header", "claim__head")
        known_by_kind = rank != "theorem" or claim["kind"] in ("definition", "refutation")
        self.add(head, "span", "claim__kind", KINDS[claim["kind"]] if known_by_kind else "Theorem")
        if claim["title"]:
            self.add(head, "span", "claim__title", authored(claim["title"]))
        return head

    def _number(self, parent, number, anchor):
        self.add(parent, "a", "claim__number", f"({number})", href=f"#{anchor}", title="Link to this claim")

    def _steps(self, section, claim):
        """The left-hand side once; then a row for each step, its reason beside it or below."""
        left = mathml(claim["start"], display=True)
        # The empty group gives the relation the room it has between two operands.
        rows = [mathml(f"{{}}{step['relation']} {step['latex']}", display=True) for step in claim["steps"]]
        layout = "one" if len(rows) == 1 else "chain"
        # About 38 letters and a reason fit side by side.
        if layout == "chain" and breadth(left) + max(map(breadth, rows)) > 38:
            layout = "wide"
        box = self.add(section, "div", f"claim__steps claim__steps--{layout}")
        self.add(box, "div", "claim__left", in_pieces(left))
        for k, (step, row) in enumerate(zip(claim["steps"], rows), start=1):
            self.add(box, "div", "claim__right", in_pieces(row))
            if step["reason"] and len(rows) == 1:  # what stands behind a claim of one step is folded into its badge
                self.add(box, "div", "claim__reason", authored(step["reason"]))
            elif step["reason"]:
                self._step(box, claim, k)

    def _step(self, box, claim, k):
        """One of several steps: its reason, which opens to what stands behind it."""
        fold = self.add(box, "details", "claim__step")
        self.add(fold, "summary", "claim__reason", authored(claim["steps"][k - 1]["reason"]))
        rows = self.add(fold, "dl")
        if claim["assumptions"]:
            self.add(rows, "dt", "", "may use")
            self.add(self.add(rows, "dd"), "span", "claim__note", prose("; ".join(one["text"] for one in claim["assumptions"])))
        for witness in claim["witnesses"]:
            if witness["name"] in claim["steps"][k - 1]["witnesses"]:
                proves = witness | {"verdict": "proved"} if witness["name"] == "coq" else witness  # maybe of some steps alone
                self._said(rows, proves, claim, k)
        if claim.get("code"):
            self.add(rows, "dt", "", "code")
            self._snippets(self.add(rows, "dd"), claim["code"])
        self._lines(rows, claim, k)

    def _counterexample(self, section, claim):
        rows = self.add(section, "div", "claim__rows")
        if claim["counterexample"]:  # where there is nothing to choose, there is none
            self.add(rows, "span", "claim__label", "at")
            values = self.add(rows, "div", "claim__values")
            for binding in claim["counterexample"]:
                self.add(values, "span", "claim__value", in_pieces(mathml(binding["latex"])))
        self.add(rows, "span", "claim__label", REFUTED[claim["refuted"]][0])
        values = self.add(rows, "div", "claim__values")
        self.add(values, "span", "claim__value", in_pieces(mathml(f"{claim['left']} {REFUTED[claim['refuted']][1]} {claim['right']}")))

    def _because(self, section, because):
        """What an inequality rests on: the difference of its sides, or the factors that bound a rank."""
        rows = self.add(section, "div", "claim__rows")
        self.add(rows, "span", "claim__label", "because")
        values = self.add(rows, "div", "claim__values")
        self.add(values, "span", "claim__value", "right − left is" if len(because) == 1 else "the matrix is the product of")
        for latex in because:
            self.add(values, "span", "claim__value", in_pieces(mathml(latex, display=len(because) == 1)))

    def _letters(self, section, letters):
        """What is a number though it looks like a matrix."""
        rows = self.add(section, "div", "claim__rows")
        self.add(rows, "span", "claim__label", "where")
        self.add(self.add(rows, "div", "claim__values"), "span", "claim__value", "; ".join(map(_letter, letters)))

    def _assumptions(self, section, assumptions):
        box = self.add(section, "div", "claim__rows claim__assumptions")
        self.add(box, "span", "claim__label", "assuming")
        items = self.add(box, "ul")
        # What fails without each is at hand; where there are many it is folded, so that the list stays a list.
        folded = {} if len(assumptions) > 2 else {"open": "open"}
        for assumption in assumptions:
            item = self.add(items, "li")
            if not _tells(assumption["needed"]):
                self.add(item, "span", "", prose(assumption["text"]))
                continue
            details = self.add(item, "details", "claim__assumption", **folded)
            self.add(details, "summary", "", prose(assumption["text"]))
            lead = "" if assumption["needed"].startswith("without") else "without it: "
            self.add(details, "span", "claim__needed", prose(lead + assumption["needed"]))

    def _uses(self, section, uses, link):
        row = self.add(section, "div", "claim__rows claim__uses")
        self.add(row, "span", "claim__label", "uses")
        names = self.add(row, "ul")
        for use in uses:
            self.add(self.add(names, "li"), "a", "", self.named(use), href=link(use))

    def _code(self, section, snippets):
        """The functions that compute what the claim says, which the PyTorch witness ran."""
        row = self.add(section, "div", "claim__rows claim__code")
        self.add(row, "span", "claim__label", "code")
        self._snippets(row, snippets)

    def _snippets(self, row, snippets):
        names = self.add(row, "ul")
        for snippet in snippets:
            name, address = f"<code>{escape(snippet.rpartition('.')[2])}</code>", self.code(snippet)
            item = self.add(names, "li")
            self.add(item, "a", "", name, href=address) if address else self.add(item, "span", "", name)

    def _script(self, base, line):
        html = f"<code>{escape(self.stated.script)}:{line}</code>"
        if self.stated.address:
            self.add(base, "a", "claim__script", html, href=f"{self.stated.address}#L{line}")
        else:
            self.add(base, "span", "claim__script", html)

    def _vouching(self, section, claim):
        if not claim["witnesses"]:
            summary = self.add(section, "div", "claim__summary")
            self.add(summary, "span", "claim__scope", escape(claim["scope"]))
            return
        details = self.add(section, "details", "claim__witnesses")
        summary = self.add(details, "summary", "claim__summary")
        self.add(summary, "span", "claim__scope", escape(claim["scope"]))
        for witness in claim["witnesses"]:
            if witness["verdict"] != "not applicable":
                agrees = " claim__witness--agrees" * (witness["verdict"] == "agrees")
                self.add(summary, "span", f"claim__witness{agrees}", _name(witness))
        if len(provers(claim)) == 1:
            self.add(summary, "span", "claim__alone", "one proof")
        rows = self.add(details, "dl")
        for witness in claim["witnesses"]:
            self._said(rows, witness, claim, 1 if len(claim["steps"]) == 1 else 0)
        if claim["letters"]:
            self.add(rows, "dt", "", "letters")
            self.add(self.add(rows, "dd"), "span", "claim__note", "; ".join(map(_letter, claim["letters"])))
        if len(claim["steps"]) == 1:
            self._lines(rows, claim, 1)

    def _said(self, rows, witness, claim, k):
        """What a witness said, and where it can be read; of a step, counted from 1, also what the witness was given."""
        self.add(rows, "dt", "", f"{VERDICTS[witness['verdict']]} {_name(witness)}")
        row = self.add(rows, "dd")
        given = k and GIVEN.get(witness["name"])
        reach = " · ".join(filter(None, (witness["verdict"], witness["scope"], given and given[0](witness.get("source", "")))))
        self.add(row, "span", "claim__verdict", escape(reach))
        if witness["note"]:
            self.add(row, "span", "claim__note", prose(witness["note"]))
        if given and (lines := given[1](witness.get("source", ""), k, len(claim["steps"]))):
            self.add(row, "pre", "claim__lines", escape(lines))
        if witness.get("file"):
            address = self.file(witness["file"], witness["source"])
            self.add(row, "a", "claim__source", SOURCES.get(witness["name"], "its source"), href=address)
        if witness.get("file") and witness["name"] == "coq":
            self.add(row, "a", "claim__source", "what it imports", href=self.file("coq/Prelude.v"))

    def _lines(self, rows, claim, k):
        """The lines of the script that state a step."""
        place = steps.stated(self.stated.text, claim, k)
        if place is None:
            return
        self.add(rows, "dt", "", "script")
        row = self.add(rows, "dd")
        if self.stated.address:
            self.add(row, "a", "claim__place", place.named(), href=self.stated.address + place.fragment())
        else:
            self.add(row, "span", "claim__place", place.named())
        if place.text:
            self.add(row, "pre", "claim__lines", escape(place.text))


def _tells(needed: str) -> bool:
    """Does what happens without an assumption tell a reader more than that something has no value there?"""
    return bool(needed) and not any(sign in needed for sign in ("= undefined", "have no definite value"))


def _looks_like_a_matrix(letter: dict) -> bool:
    """A capital that has not two axes."""
    return letter["latex"][:1].isupper() and len(letter["axes"]) < 2


def _letter(letter: dict) -> str:
    """A letter, what it is, and its size, as HTML."""
    lead = {"an index": "from 1 to", "a vector": "of", "a random vector": "of"}.get(letter["is"], "")
    size = " by ".join(f"${axis}$" for axis in letter["axes"])
    return prose(" ".join(filter(None, (f"${letter['latex']}$, {letter['is']}", lead if size else "", size))))


def _name(witness: dict) -> str:
    return escape(WITNESSES.get(witness["name"], witness["name"]))
