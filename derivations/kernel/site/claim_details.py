"""What stands behind a claim, and behind each of its steps: what every witness did, what it was given, the code, and the lines of the script."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..check.proving_witnesses import provers
from ..printing.mathml import authored, prose
from . import code_verdicts, step_details

Stash = Callable[[str], str]

WITNESSES = {"exact": "exact", "sympy": "SymPy", "torch": "PyTorch", "coq": "Coq"}
SOURCES = {"sympy": "the program", "coq": "the theorem"}  # what a witness's file is called
VERDICTS = {"proved": "✓", "refuted": "✗", "agrees": "≈", "not applicable": "–"}  # who agrees, by numbers alone, has proved nothing

GIVEN: dict[str, tuple[Callable[[str], str], Callable[[str, int, int], str]]] = {  # what a witness's source says: the sizes, and the lines
    "sympy": (step_details.sizes, lambda source, k, of: step_details.checked(source, k)),
    "coq": (lambda source: "", lambda source, k, of: step_details.theorem(source, k, of == 1)),
}


@dataclass(frozen=True)
class Stated:
    """The script that states a claim: its name, what it says, and its address in the repository; "" where that is not known."""

    script: str
    text: str
    address: str


class Elements:
    """Elements of Markdown's tree, with every text in them stashed."""

    def __init__(self, stash: Stash):
        self.stash = stash

    def add(self, parent: Element, tag: str, css: str = "", html: str = "", **attributes: str) -> Element:
        if css:
            attributes["class"] = css
        child = SubElement(parent, tag, attributes)
        if html:
            # The line's end is invisible on the page; it keeps words apart where its text is read: by search, by a
            # screen reader, in a copy. (As a tail it would be searched for Markdown, which takes a third of the time.)
            child.text = self.stash(html if tag == "a" else f"{html}\n")
        return child


class Behind(Elements):
    """What a badge opens to, and what a step does."""

    def __init__(self, stash: Stash, file: Callable[..., str], code: Callable[[str], str], stated: Stated):
        super().__init__(stash)
        self.file = file
        self.code = code
        self.stated = stated

    def vouching(self, section, claim):
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
                self.add(summary, "span", f"claim__witness{agrees}", name(witness))
        if code_verdicts.is_proved(claim):
            self.add(summary, "span", "claim__witness", "code")
        if len(provers(claim)) == 1:
            self.add(summary, "span", "claim__alone", "one proof")
        rows = self.add(details, "dl")
        for witness in claim["witnesses"]:
            self._said(rows, witness, claim, 1 if len(claim["steps"]) == 1 else 0)
        self._computed(rows, claim)
        if claim["letters"]:
            self.add(rows, "dt", "", "letters")
            self.add(self.add(rows, "dd"), "span", "claim__note", "; ".join(map(letter, claim["letters"])))
        if len(claim["steps"]) == 1:
            self._lines(rows, claim, 1)

    def step(self, box, claim, k):
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
            self.snippets(self.add(rows, "dd"), claim["code"])
        self._lines(rows, claim, k)

    def _said(self, rows, witness, claim, k):
        """What a witness said, and where it can be read; of a step, counted from 1, also what the witness was given."""
        self.add(rows, "dt", "", f"{VERDICTS[witness['verdict']]} {name(witness)}")
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
            self.add(row, "a", "claim__source", "what it imports", href=self.file(f"coq/{step_details.imported(witness['source'])}.v"))

    def _computed(self, rows, claim):
        """What the code that the claim names was shown to compute."""
        if not (verdict := code_verdicts.verdict(claim)):
            return
        self.add(rows, "dt", "", f"{VERDICTS['proved' if code_verdicts.is_proved(claim) else 'agrees']} code")
        row = self.add(rows, "dd")
        self.add(row, "span", "claim__verdict", escape(verdict))
        if note := code_verdicts.note(claim):
            self.add(row, "span", "claim__note", escape(note))

    def _lines(self, rows, claim, k):
        """The lines of the script that state a step."""
        place = step_details.stated(self.stated.text, claim, k)
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

    def snippets(self, row, snippets):
        names = self.add(row, "ul")
        for snippet in snippets:
            called, address = f"<code>{escape(snippet.rpartition('.')[2])}</code>", self.code(snippet)
            item = self.add(names, "li")
            self.add(item, "a", "", called, href=address) if address else self.add(item, "span", "", called)


def letter(one: dict, joined: str = ", ") -> str:
    """A letter, what it is, and its size, as HTML."""
    lead = {"an index": "from 1 to", "a vector": "of", "a random vector": "of"}.get(one["is"], "")
    size = " by ".join(f"${axis}$" for axis in one["axes"])
    return prose(" ".join(filter(None, (f"${one['latex']}${joined}{one['is']}", lead if size else "", size))))


def name(witness: dict) -> str:
    return escape(WITNESSES.get(witness["name"], witness["name"]))
