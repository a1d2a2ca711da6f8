"""Show what some exercises ask about a claim: the missing line of a chain, or the assumption that is missing."""

from xml.etree.ElementTree import Element

from ..errors import quantity
from ..printing.mathml import mathml, render_author_text, render_text
from .claim_details import ElementWriter
from .claim_formats import to_latex
from .claim_html import add_steps
from .counterexample_text import set_values
from .formula_layout import add_line_breaks

GAP = r"\boxed{?}"


def check_question(claim: dict, part: str) -> None:
    """Raise ValueError if a claim has no such part, such as "step 3" or "assumption 2", or if nothing can be asked about it."""
    kind, _, number = part.partition(" ")
    if kind == "step" and not 1 <= int(number) < len(claim["steps"]):
        raise ValueError(f"{part} is no line between two others: the claim has {quantity(len(claim['steps']), 'step')}")
    if kind == "assumption":
        needs = [one["needed"] for one in claim["assumptions"]]
        if not 1 <= int(number) <= len(needs) or len(needs) < 2:
            raise ValueError(f"{part} cannot be asked for: the claim has {quantity(len(needs), 'assumption')}")
        asked = needs[int(number) - 1]
        if not asked.startswith("at ") or needs.count(asked) > 1:
            raise ValueError(f"{part} has no counterexample of its own: {asked}")


def add_question(writer: ElementWriter, box: Element, claim: dict, part: str) -> None:
    """Add what is asked: a chain with a gap, or a counterexample and the assumptions to choose from. For other parts add nothing."""
    kind, _, number = part.partition(" ")
    if kind in ("step", "assumption"):
        case = writer.add(box, "section", "answer__case", **{"data-search-exclude": ""})
    if kind == "step":
        gapped = make_gap(claim, int(number))

        def add_reason(steps: Element, k: int) -> None:
            writer.add(steps, "div", "claim__reason", render_author_text(gapped["steps"][k - 1]["reason"]))

        add_steps(writer, case, gapped, add_reason, layout="wide")
        fold = writer.add(case, "details", "solution")
        writer.add(fold, "summary", "", "The missing line")
        missing = claim["steps"][int(number) - 1]
        writer.add(fold, "div", "answer__line", add_line_breaks(mathml(f"{{}}{missing['relation']} {missing['latex']}", display=True)))
    if kind == "assumption":
        add_steps(writer, case, claim, lambda steps, k: None)
        writer.add(case, "p", "answer__fails", render_text(describe_failure(claim, int(number))))
        choices = writer.add(case, "ol", "answer__choices")
        for assumption in claim["assumptions"]:
            choice = writer.add(choices, "li", "", render_text(assumption["text"]))
            writer.name_summary(choice, assumption["text"])


def list_question(claim: dict, part: str) -> list[str]:
    """Return what is asked as lines of Markdown with LaTeX; none for parts that need nothing shown."""
    kind, _, number = part.partition(" ")
    if kind == "step":
        gapped = make_gap(claim, int(number))
        return ["", f"$$\n{to_latex(gapped)}\n$$", "", *(f"{k}. {step['reason']}" for k, step in enumerate(gapped["steps"], start=1)), ""]
    if kind == "assumption":
        choices = [f"{k}. {one['text']}" for k, one in enumerate(claim["assumptions"], start=1)]
        return ["", f"$$\n{to_latex(claim)}\n$$", "", describe_failure(claim, int(number)), "", *choices, ""]
    return []


def make_gap(claim: dict, step: int) -> dict:
    """Return a claim with a gap in place of the expression of a step, counted from 1."""
    steps = [one | {"latex": GAP} if k == step else one for k, one in enumerate(claim["steps"], start=1)]
    return claim | {"steps": steps}


def describe_failure(claim: dict, assumption: int) -> str:
    """Return where a claim fails without an assumption, counted from 1, as text with LaTeX."""
    return f"Without one of its assumptions, this fails {set_values(claim['assumptions'][assumption - 1]['needed'])}."
