"""One claim as HTML.

What comes from a certificate is text to be escaped or LaTeX for math-core, never markup. It reaches the page through
`stash`, which trades finished HTML for a token, so that nothing in it can be read as Markdown; only ids and links are
elements of Markdown's own tree, where the generators look for them.
"""

from collections.abc import Callable
from html import escape
from xml.etree.ElementTree import Element

from ..printing.mathml import MathsError, authored, breadth, mathml, prose
from .claim_details import VERDICTS, Behind, Elements, Stash, Stated, letter
from .claim_export import latex_of
from .formula_layout import in_pieces

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
        return _Writer(stash, named, Behind(stash, file, code, stated)).claim(claim, parent, number, rank, anchor, link)
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


class _Writer(Elements):
    """A claim, part by part."""

    def __init__(self, stash: Stash, named: Callable[[str], str], behind: Behind):
        super().__init__(stash)
        self.named = named
        self.behind = behind

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
        topic = self.behind.stated.script.removeprefix("derivations/").removesuffix(".py")
        id_ = self.stash(escape(f"{topic}#{claim['id']}"))
        base = self.add(section, "div", "claim__base", **{"data-latex": latex, "data-claim": id_})
        self.behind.vouching(base, claim)
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
                self.behind.step(box, claim, k)

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
        self.add(self.add(rows, "div", "claim__values"), "span", "claim__value", "; ".join(letter(one, " is ") for one in letters))

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
        self.behind.snippets(row, snippets)

    def _script(self, base, line):
        html = f"<code>{escape(self.behind.stated.script)}:{line}</code>"
        if self.behind.stated.address:
            self.add(base, "a", "claim__script", html, href=f"{self.behind.stated.address}#L{line}")
        else:
            self.add(base, "span", "claim__script", html)


def _tells(needed: str) -> bool:
    """Does what happens without an assumption tell a reader more than that something has no value there?"""
    return bool(needed) and not any(sign in needed for sign in ("= undefined", "have no definite value"))


def _looks_like_a_matrix(letter: dict) -> bool:
    """A capital that has not two axes."""
    return letter["latex"][:1].isupper() and len(letter["axes"]) < 2
