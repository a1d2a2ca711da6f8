"""Tests of the Markdown extension: what it shows, and what it rejects with file and line."""

import re
import sys
from html.parser import HTMLParser

import markdown
import pytest
from bs4 import BeautifulSoup
from markdown.extensions.toc import TocExtension

from derivations.kernel import site
from derivations.kernel.printing.handwritten_relations import find_text_fault, is_relation
from derivations.kernel.printing.mathml import MathsError, estimate_width, mathml, render_notation, render_text
from derivations.kernel.site.claim_details import describe_reach
from derivations.kernel.site.claim_html import KINDS

samples = sys.modules["site_sample_certificates"]  # by conftest.py
EXACT, TORCH, COQ = samples.EXACT, samples.TORCH, samples.COQ
DERIVATION = "/// derivation | scaling/variance\n///\n"
CLAIM = "/// claim | scaling/variance#{}\n///\n"


def soup(html):
    return BeautifulSoup(html.replace("\n</", "</"), "html.parser")


# What is shown ----------------------------------------------------------------------------------------------------------


def test_derivation_shows_every_claim_in_order(page):
    sections = soup(page(DERIVATION)).select("section.claim")
    assert [section["id"] for section in sections] == ["score", "mean", "variance", "bound", "limit", "same"]
    assert [section.select_one(".claim__number").text for section in sections] == [f"({n})" for n in range(1, 7)]
    assert [section.select_one(".claim__number")["href"] for section in sections][1] == "#mean"


def test_one_claim(page):
    (section,) = soup(page(CLAIM.format("mean"))).select("section.claim")
    assert section.select_one(".claim__title").text == "The mean is zero"
    assert len(section.select(".claim__left math")) == 1
    assert [math.mo.text for math in section.select(".claim__right math")] == ["=", "="]
    reasons = section.select(".claim__reason")
    assert reasons[0].text == "the mean of a sum is the sum of the means"
    assert reasons[1].find("math")
    assert section.select_one(".claim__witness").text.strip() == "exact: every shape"
    assert section.select_one(".claim__script").text == "derivations/scaling/variance.py:31"


def test_theorems_and_refutations_are_labelled(page):
    def kind(name):
        (section,) = soup(page(f"/// theorem | scaling/variance#{name}\n///\n")).select("section.claim--theorem")
        return section["id"], section.select_one("header .claim__kind").text

    assert kind("mean") == ("mean", "Theorem")
    assert kind("same") == ("same", "Refuted")


def test_routine_claim_is_folded_and_labelled(page):
    (section,) = soup(page("/// routine | scaling/variance#mean\n///\n")).select("section.claim--routine")
    folded = section.select_one("details.claim__folded")
    assert section["id"] == "mean" and not folded.has_attr("open")
    assert [part.text for part in folded.summary.select("span, a")] == ["Derivation", "The mean is zero"]
    assert section.select_one(":scope > .claim__number").text == "(1)"  # the summary of a folded claim contains no link
    shown = soup(page(CLAIM.format("mean"))).select_one("section.claim")
    for part in (".claim__steps", ".claim__assumptions", ".claim__base"):
        assert str(folded.select_one(part)) == str(shown.select_one(part))


def test_folded_definition_shows_its_letter(page):
    (section,) = soup(page("/// routine | scaling/variance#score\n///\n")).select("section.claim--routine")
    assert section.summary.select_one(".claim__steps .claim__left math") and len(section.select(".claim__steps")) == 1
    (other,) = soup(page("/// routine | scaling/variance#mean\n///\n")).select("section.claim--routine")
    assert not other.summary.select(".claim__steps")


def test_lines_that_fold_have_a_name_that_includes_their_formulas(page, certificates):
    """Browsers leave MathML out of the name of an element."""
    certificates["scaling/variance"]["claims"][0]["title"] = "A score, $q_i$ & more"
    shown = soup(page("/// routine | scaling/variance#score\n///\n" + CLAIM.format("mean")))
    named = [summary["aria-label"] for summary in shown.select("summary") if summary.find("math")]
    assert len(named) == 3 and not any(summary.has_attr("aria-label") for summary in shown.select("summary") if not summary.find("math"))
    assert named[0].startswith("Definition: A score, q_i & more: q⋅k")
    assert named[1:] == ["every factor of q_i k_i has mean zero", "the entries of q and k are independent of one another"]


def test_letters_that_are_no_matrices_are_explained(page, certificates):
    """For matrices, A B = B A would be false."""
    one = certificates["scaling/variance"]["claims"][1]
    matrix = {"latex": "C", "is": "a matrix", "axes": ["n", "d_{k}"]}
    one["letters"] = [matrix, {"latex": "A", "is": "a number", "axes": []}, {"latex": "B", "is": "a vector", "axes": ["n"]}]
    (section,) = soup(page(CLAIM.format("mean"))).select("section.claim")
    (row,) = (row for row in section.select(".claim__rows") if row.select_one(".claim__label").text == "where")
    assert row.select_one(".claim__value").text == "A is a number; B is a vector of n"
    assert "C, a matrix n by dk; A, a number; B, a vector of n" in section.select_one(".claim__witnesses dl").text
    one["letters"] = [matrix]
    assert ">where<" not in page(CLAIM.format("mean"))


@pytest.mark.parametrize("rank", ["theorem", "routine"])
def test_ranked_claim_needs_a_title(refused, certificates, rank):
    certificates["scaling/variance"]["claims"][1]["title"] = ""
    assert f"a {rank} needs a title, and this claim has none" in refused(f"/// {rank} | scaling/variance#mean\n///\n")


@pytest.mark.parametrize("rank", ["theorem", "routine"])
def test_rank_block_takes_one_claim(refused, rank):
    assert f"expected '/// {rank} | chapter/topic#id'" in refused(f"/// {rank} | scaling/variance\n///\n")
    assert f"a '{rank}' block contains no text" in refused(f"/// {rank} | scaling/variance#mean\nText.\n///\n")
    assert "would have the id" in refused(CLAIM.format("mean") + f"/// {rank} | scaling/variance#mean\n///\n")


EXERCISE = """/// exercise | What $d$ does
How large is it?

//// solution
As large as this.

///// claim | scaling/variance#mean
/////
////
///

/// exercise | Again
By hand.
///
"""


def test_exercises_are_numbered_and_solutions_folded(page):
    shown = soup(page(EXERCISE))
    assert [one.select_one(".exercise__head").text for one in shown.select("section.exercise")] == [
        "Exercise 1What d does",
        "Exercise 2Again",
    ]
    assert [one["href"] for one in shown.select(".exercise__number")] == [f"#{one['id']}" for one in shown.select("section.exercise")]
    (folded,) = shown.select("section.exercise details.solution")
    assert folded.summary.text == "Solution" and not folded.has_attr("open")
    assert folded.select_one("section.claim")["id"] == "mean" and "As large as this." in folded.text


def test_exercise_without_title_or_with_relation_is_rejected(refused):
    assert ":5: the exercise has no title" in refused("/// exercise | One\nHow large?\n///\n\n/// exercise\nHow large?\n///\n")
    assert "states a relation" in refused("/// exercise | One\nShow that 1 = 2.\n///\n")
    assert "states a relation" in refused("/// exercise | 1 = 2\nShow it.\n///\n")


def test_practice_block_is_a_box(page):
    (box,) = soup(page("/// practice\nScale it by $d$.\n///\n")).select("section.practice")
    assert box.select_one(".practice__head").text == "In practice" and "Scale it by d." in box.text


def test_witnesses_show_scope_verdict_and_note_without_javascript(page):
    html = page(CLAIM.format("mean"))
    details = soup(html).select_one("details.claim__witnesses")
    assert [name.text.strip() for name in details.select("summary .claim__witness")] == ["exact: every shape", "SymPy: sizes up to n"]
    assert [term.text for term in details.select("dt")] == ["✓ exact", "✓ SymPy", "– Coq"]
    assert [[part.text for part in row.find_all("span")] for row in details.select("dd")] == [
        ["proved · every shape", "one normal form"],
        ["proved · sizes up to n", "entries, d up to 3"],
        ["not applicable", "no matrix identity"],
    ]
    assert "proved · every shape one normal form" in " ".join(BeautifulSoup(html, "html.parser").text.split())
    assert "<script" not in html


def test_pytorch_is_shown_to_agree_and_not_to_prove(page, certificates):
    for claim in certificates["scaling/variance"]["claims"][1:]:
        verdict = "refuted" if claim["kind"] == "refutation" else "proved"
        claim["witnesses"] = [EXACT | {"verdict": verdict}, TORCH]
    for name, proof in ("mean", "proved"), ("same", "refuted"):
        details = soup(page(CLAIM.format(name))).select_one("details.claim__witnesses")
        assert [row.text for row in details.select(".claim__verdict")] == [f"{proof} · every shape", "agrees · numbers only"]
        assert [row.text.strip() for row in details.select("summary .claim__witness--agrees")] == ["PyTorch: numbers only"]


@pytest.mark.parametrize(
    ("verdict", "scope", "note", "reach"),
    [
        ("proved", "every shape", "", "every shape"),
        ("proved", "some sizes up to 5", "", "sizes ≤ 5"),
        ("proved", "induction", "", "every size, by induction"),
        ("refuted", "exact counterexample", "", "counterexample"),
        ("agrees", "numbers only", "11 shapes with sizes up to 11, 82 points in fp64, within the rounding bound", "82 points"),
        ("agrees", "numbers only", "1 point in fp64", "1 point"),
        ("agrees", "numbers only", "both sides computed in fp64 at the counterexample", "counterexample"),
        ("agrees", "numbers only", "near the limit nothing could be compared", "numbers only"),
    ],
)
def test_badge_shows_the_reach_of_each_witness(verdict, scope, note, reach):
    assert describe_reach({"verdict": verdict, "scope": scope, "note": note}) == reach


def test_claim_with_one_proof_is_marked(page, certificates):
    assert not soup(page(CLAIM.format("mean"))).select(".claim__alone")
    certificates["scaling/variance"]["claims"][1]["witnesses"] = [EXACT, TORCH, COQ]
    assert [word.text.strip() for word in soup(page(CLAIM.format("mean"))).select("summary .claim__alone")] == ["one proof"]


def test_assumptions_show_what_fails_without_them(page):
    (item,) = soup(page(CLAIM.format("variance"))).select(".claim__assumptions li")
    assert item.summary.find("math").text == "q" and item.details.has_attr("open")
    assert item.select_one(".claim__needed").text == "without it: at d = 1, q = k Gaussian, left = 2, right = 1"


def test_counterexample_without_an_assumption_is_set_as_formulas(page, certificates):
    needed = "at V = [[0, 1/2]], beta = 2^-80, q Gaussian, Var[q] = sigma^2: left = 0.54…, right ≈ -1"
    certificates["scaling/variance"]["claims"][2]["assumptions"][0]["needed"] = needed
    (note,) = soup(page(CLAIM.format("variance"))).select(".claim__needed")
    formulas = [formula.text for formula in note.select("math")]
    assert formulas == ["V=(012)", "β=2−80", "q", "Var\u2061[q]=σ2", "=0.54...", "≈−1"]
    assert [len(note.select(one)) for one in ("mtable", "mfrac", "msup")] == [1, 1, 2]
    for formula in note.select("math"):
        formula.replace_with("·")
    assert note.text == "without it: at ·, ·, · Gaussian, ·: left ·, right ·"


@pytest.mark.parametrize("needed", ["", "the sides have no definite value", "at $x = 0$: left = undefined (a division by zero), right = 0"])
def test_assumption_that_only_prevents_undefined_values_has_no_note(page, certificates, needed):
    certificates["scaling/variance"]["claims"][2]["assumptions"][0]["needed"] = needed
    (item,) = soup(page(CLAIM.format("variance"))).select(".claim__assumptions li")
    assert item.text.strip() and not item.select("details, .claim__needed")


def test_notes_of_many_assumptions_are_folded(page, certificates):
    one = certificates["scaling/variance"]["claims"][1]
    one["assumptions"] = one["assumptions"] * 2 + [{"latex": "d", "text": "$d$ is positive", "needed": ""}]
    items = soup(page(CLAIM.format("mean"))).select(".claim__assumptions li")
    assert [bool(item.details) for item in items] == [True, True, False]
    assert not any(item.details.has_attr("open") for item in items[:2])


def test_every_kind_of_claim_has_its_own_style(page):
    sections = soup(page(DERIVATION)).select("section.claim")
    kinds = [next(css for css in section["class"] if css.startswith("claim--")) for section in sections]
    assert kinds == [f"claim--{kind}" for kind in ("definition", "chain", "law", "inequality", "limit", "refutation")]
    assert sections[0].find("details") is None


def test_refutation_without_variables_shows_no_values(page, certificates):
    (one,) = (claim for claim in certificates["scaling/variance"]["claims"] if claim["kind"] == "refutation")
    one["counterexample"] = []
    (section,) = soup(page(CLAIM.format(one["id"]))).select("section.claim")
    assert "at" not in [label.text for label in section.select(".claim__label")]


def test_refutation_shows_the_counterexample(page):
    section = soup(page(CLAIM.format("same"))).section
    assert section.select_one(".claim__kind").text == "Refuted"
    assert section.select_one(".claim__right mo").text == "≠"
    assert [value.text for value in section.select(".claim__value")] == ["d=1", "q=k", "2≠1"]


def test_ids_contain_the_topic_on_pages_with_several_topics(page):
    html = page(CLAIM.format("mean") + "\n/// claim | simplify/bilinear#merged\n///\n")
    assert [section["id"] for section in soup(html).select("section")] == ["variance-mean", "bilinear-merged"]


def test_ids_on_the_page_of_a_topic_are_stable(page):
    html = page(DERIVATION + "\n/// claim | simplify/bilinear#merged\n///\n", name="scaling/variance.md")
    ids = [section["id"] for section in soup(html).select("section")]
    assert ids[1] == "mean" and ids[-1] == "bilinear-merged"


def test_heading_does_not_take_the_id_of_a_claim(page):
    html = soup(page("# Mean\n\n" + CLAIM.format("mean")))
    assert html.section["id"] == "mean" and html.h1["id"] != "mean"


@pytest.mark.parametrize(
    ("text", "name", "links"),
    [
        (CLAIM.format("variance"), "index.md", ["scaling/variance.md#mean", "simplify/bilinear.md#merged"]),
        (CLAIM.format("variance"), "notes/a.md", ["../scaling/variance.md#mean", "../simplify/bilinear.md#merged"]),
        (DERIVATION, "scaling/variance.md", ["#mean", "../simplify/bilinear.md#merged"]),
        (DERIVATION + "\n/// claim | simplify/bilinear#merged\n///\n", "scaling/variance.md", ["#mean", "#bilinear-merged"]),
    ],
)
def test_claim_links_to_used_claims(page, text, name, links):
    section = next(s for s in soup(page(text, name=name)).select("section") if s["id"] in ("variance", "variance-variance"))
    assert [link["href"] for link in section.select(".claim__uses a")] == links


def test_script_is_linked_if_the_repository_is_known(page):
    html = page(CLAIM.format("mean"), repository="https://example.org/a/b/")
    assert soup(html).select_one("a.claim__script")["href"] == ("https://example.org/a/b/blob/main/derivations/scaling/variance.py#L31")


def test_long_chain_gets_the_wide_layout(page, certificates):
    certificates["simplify/bilinear"]["claims"][0]["steps"][0]["latex"] = "+".join("abcdefghijklmnopqrstuvwxyz")
    html = page("/// derivation | simplify/bilinear\n///\n")
    layouts = [steps["class"][1] for steps in soup(html).select(".claim__steps")]
    assert layouts == ["claim__steps--wide", "claim__steps--one", "claim__steps--one"]


def test_notation_in_text(page):
    html = page(r"Here $d_k$ costs \$5, or $5 and $6; `$x$` is code.")
    assert html == ("<p>Here <math><msub><mi>d</mi><mi>k</mi></msub></math> costs $5, or $5 and $6; <code>$x$</code> is code.</p>")


def test_sign_of_a_link_is_not_read_out_with_its_heading():
    html = markdown.markdown("# A heading\n", extensions=[TocExtension(permalink=True), site.makeExtension()])
    (sign,) = soup(html).select("h1 > a.headerlink")
    assert (sign["href"], sign["aria-hidden"], sign["tabindex"]) == ("#a-heading", "true", "-1")


def test_notation_in_headings_and_tables(page):
    html = soup(page("# The root $\\sqrt{d_k}$\n\n| a | $Q$ |\n|---|---|\n| *b* | $K^\\top$ |\n"))
    assert html.h1.find("msqrt") and html.th.find_next("th").find("math") and html.td.find_next("td").find("math")


def test_other_blocks_may_contain_claims(page):
    html = page(f"//// details | More\n{DERIVATION}////\n")
    assert len(soup(html).select("details > .claims > section")) == 6


def test_blocks_and_formulas_in_fences_are_shown_verbatim(page):
    html = page("```text\n/// claim | a/b#c\n///\nthe name $d_k$\n```\n\nand `a, b`\n")
    assert "math" not in html and soup(html).pre.text.startswith("/// claim | a/b#c")


def test_indented_text_is_not_code(page):
    assert "<pre" not in page("Text\n\n    torch.ones(3)\n")


# What is hostile ----------------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "</section><b>x</b>",
    '" onmouseover="alert(1)',
    "{: onclick=alert(1) .x #mean }",
    "*a* [b](javascript:alert(1)) `c` ![d](https://example.org/x.png)",
    "\x02certified0\x03 &lt;b&gt; &amp;",
    "/// claim | scaling/variance#mean",
]


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, sorted(name for name, _ in attrs)))


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_certificates_is_escaped(page, certificates, text):
    def elements():
        reader = Elements()
        html = page(DERIVATION)
        reader.feed(html)
        return reader.found, html

    harmless, _ = fill(certificates, "x") or elements()
    found, html = fill(certificates, text) or elements()
    assert found == harmless
    assert soup(html).select_one("#mean .claim__title").text == authored_text(text)
    assert soup(html).select_one("#mean .claim__needed").text == f"without it: {text}"


def authored_text(text):
    """Return the text, or "x" if it states a relation, which an author may not write. Markup is allowed."""
    return "x" if find_text_fault(text) else text


def fill(certificates, text):
    for one in certificates["scaling/variance"]["claims"]:
        one |= {"title": authored_text(text), "scope": text}
        one["assumptions"] = [{"latex": "q", "text": text, "needed": text}]
        one["witnesses"] = [{"name": text, "verdict": "proved", "scope": text, "note": text, "seconds": 0.0}]
        for part in one["steps"]:
            part["reason"] = authored_text(text)


@pytest.mark.parametrize("field", ["start", "left", "right"])
@pytest.mark.parametrize("latex", ["<script>alert(1)</script>", r"\text{</math><script>}", "a & b </section>"])
def test_latex_from_certificates_is_escaped(page, certificates, refused, field, latex):
    certificates["scaling/variance"]["claims"][-1][field] = latex
    try:
        html = page(CLAIM.format("same"))
    except Exception:
        assert "docs/notes/page.md:1: scaling/variance#same cannot be shown" in refused(CLAIM.format("same"))
    else:
        assert "<script" not in html and html.count("</section>") == 1


# What is refused, with file and line ------------------------------------------------------------------------------------

BLOCKS = {
    "/// derivation | scaling/nothing\n///\n": "scaling/nothing cannot be shown: 'scaling/nothing' has no certificate; run: python -m derivations check scaling/nothing",
    "/// claim | scaling/variance#nothing\n///\n": "scaling/variance has no claim 'nothing'; it has score, mean, variance, bound, limit, same",
    "/// claim | scaling/variance\n///\n": "expected '/// claim | chapter/topic#id', found 'scaling/variance'",
    "/// claim\n///\n": "expected '/// claim | chapter/topic#id', found nothing",
    "/// derivation | scaling/variance#mean\n///\n": "expected '/// derivation | chapter/topic', found 'scaling/variance#mean'",
    "/// derivation | ../../etc/passwd\n///\n": "expected '/// derivation | chapter/topic', found '../../etc/passwd'",
    "/// derivation | scaling/variance\n\nText\n": "the 'derivation' block is not closed; close it with '///'",
    "//// details | More\n///\n": "'///' closes no block; delete it, or open a block above it",
    "///\n": "'///' closes no block; delete it, or open a block above it",
    "/// claimm | scaling/variance#mean\n///\n": "'/// claimm | scaling/variance#mean' is not a block that this page's extensions know",
}


@pytest.mark.parametrize("text", BLOCKS)
@pytest.mark.parametrize("front", ["", "---\ntitle: x\n---\n\n"])
def test_invalid_block_is_rejected(refused, text, front):
    line = 3 + front.count("\n") + (text.startswith("////"))
    assert refused(f"# Title\n\n{text}", front=front) == f"docs/notes/page.md:{line}: {BLOCKS[text]}"


def test_block_with_text_is_rejected(refused):
    text = "/// claim | scaling/variance#mean\nby hand\n///\n"
    assert refused(text) == "docs/notes/page.md:2: a 'claim' block contains no text; close it with '///' on the next line"


def test_duplicate_claim_is_rejected(refused):
    message = refused(DERIVATION + "\n" + CLAIM.format("mean"))
    assert message == "docs/notes/page.md:4: scaling/variance#mean would have the id of the claim shown at line 1"


def change(**fields):
    return lambda one: one.update(fields)


BROKEN = {
    "no witness": (change(witnesses=[]), "its witnesses say nothing"),
    "refuted": (lambda one: one["witnesses"][0].update(verdict="refuted"), "its witnesses say refuted, proved"),
    "none applies": (lambda one: [w.update(verdict="not applicable") for w in one["witnesses"]], "its witnesses say not app"),
    "only PyTorch": (change(witnesses=[TORCH]), "its witnesses say agrees; a claim is shown only"),
    "PyTorch, and one that cannot judge": (
        change(witnesses=[TORCH, COQ]),
        "its witnesses say agrees, not applicable; a claim is shown only",
    ),
    "only PyTorch refutes": (
        change(kind="refutation", witnesses=[TORCH]),
        "its witnesses say agrees; a claim is shown only",
    ),
    "unknown verdict": (lambda one: one["witnesses"][0].update(verdict="probably"), "verdict 'probably' is none of"),
    "unknown kind": (change(kind="theorem"), "kind 'theorem' is none of"),
    "no start": (lambda one: one.pop("start"), "the certificate lacks something"),
    "bad LaTeX": (change(start=r"\nonsense{x}"), 'Unknown command "\\nonsense"'),
    "bad LaTeX in text": (change(title=r"the $\nonsense$"), 'Unknown command "\\nonsense"'),
    "a relation in its title": (change(title=r"softmax is linear: $\operatorname{softmax}(z) = z$"), "states a relation (=) by hand"),
    "a relation among the words of its title": (
        change(title="so p = z"),
        "'so p = z' states a relation (=), and only a claim's formula",
    ),
    "a relation in a reason": (
        lambda one: one["steps"][0].update(reason=r"for $x \leq y$ at once"),
        r"$x \leq y$ states a relation (≤) by hand",
    ),
    "bad use": (change(uses=["no such claim"]), "it uses 'no such claim', which names no claim"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_claim_with_invalid_certificate_is_rejected(refused, certificates, case):
    breaking, message = BROKEN[case]
    breaking(certificates["scaling/variance"]["claims"][1])
    found = refused("Text\n\n" + DERIVATION)
    assert found.startswith("docs/notes/page.md:3: scaling/variance#mean cannot be shown: ") and message in found


RELATIONS = (
    r"""
a = b|a \neq b|a \ne b|a \not= b|a < b|a > b|a \lt b|a \gt b|a \le b|a \leq b|a \geqslant b|a \ll b|a \approx b|a \sim b
a \simeq b|a \cong b|a \equiv b|a \propto b|a \to b|a \rightarrow b|a \mapsto b|a \implies b|a \iff b|a \Leftarrow b
a \longrightarrow b|a \hookrightarrow b|a \in A|A \ni a|A \subset B|A \subseteq B|a \notin A|a \prec b|a \parallel b|a \perp b
a \vdash b|a \models b|a \coloneqq b|a := b|a {:}{=} b|a \doteq b|a \stackrel{?}{=} b|a \overset{!}{=} b|a \xrightarrow{f} b
a \mathrel{=} b|a \mathbin{=} b|a \mathrm{=} b|a \mathop{=} b|a \operatorname{=} b|\text{a = b}|a \text{ equals } b
a \text{ is at most } b|a \mathrm{equals} b|equals|a \text{ tends to } b|\newcommand{\is}{=} a \is b|\sum_{i=1}^n x_i
a ≠ b|a ≤ b|a ≈ b|a → b|a ∝ b|a ∈ b|a ≡ b|a ≔ b|a ⇔ b|a ＝ b|\text{a ≤ b}
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("latex", RELATIONS)
def test_handwritten_relation_is_rejected_in_any_spelling(refused, latex):
    message = refused(f"# Title\n\nText and\nthen ${latex}$ here.\n")
    assert message.startswith(f"docs/notes/page.md:4: ${latex}$ states a relation (")


NAMES = (
    r"""
d_k|QK^\top|\sqrt{d_k}|W_Q W_K^\top|n\times d|\frac{1}{\sqrt{d_k}}|\operatorname{softmax}(z)|\operatorname{E}[q\cdot k]|\bar x
\hat{x}|\vec{v}|\lVert x\rVert|x'|\mathbb{R}^{n\times d}|\begin{pmatrix}0&1\\0&0\end{pmatrix}|-\infty|\pm 1|\{1,\dots,n\}
W_{\text{in}}|d_{\mathrm{in}}|\overline{x}|\tilde{x}_{-1}|A^{-\top}|\binom{n}{k}|\max_i x_i|\mathcal{N}|\underbrace{x+y}_{n}|x^{+}|x_{-}|W^{\dagger}
\begin{pmatrix}a&\cdots\\\vdots&-b\end{pmatrix}|\frac{-1}{n}|\langle x, y\rangle|\nabla f|\frac{\partial}{\partial x}|f\,g
\sum_i q_i k_i|\mathbf{1}|\operatorname{diag}(p) - pp^\top|2\gamma_n|\operatorname{diff}|d+1|a\circ b|\operatorname{E}[x\mid y]
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("latex", NAMES)
def test_formulas_that_are_names_pass(page, latex):
    assert page(f"Let ${latex}$ be.").count("<math>") == 1


@pytest.mark.parametrize(
    "text",
    [
        "so a = b",
        "a ≠ b",
        "it is ≤ 3",
        "about ≈ 3",
        "d → ∞",
        "q ∝ k",
        "a ≡ b",
        "a &lt; b",
        "a &#61; b",
        "a &ne; b",
        "**a = b**",
        "# a = b",
        "- x\n- a = b",
        "[a = b](x.md)",
        "[x](x.md 'a = b')",
        "<p>a = b</p>",
        "<span title='a = b'>x</span>",
        "a -> b",
        "$a$ = $b$",
        "| a | b |\n|---|---|\n| 1 | a = b |",
    ],
)
def test_relation_in_prose_is_rejected(refused, text):
    message = refused(f"Title\n\n{text}\n")
    if "&" in text:
        # The sign is not in the source in this form, so the message names only the page.
        assert re.match(r"docs/notes/page.md: '.' states a relation in prose", message)
    else:
        line = 3 + text.count("\n") if "|" not in text else 5
        assert re.match(rf"docs/notes/page.md:{line}: '.' states a relation in prose", message)


BY_HAND = {
    "keys": "<kbd>softmax(z) = z</kbd>",
    "a sample": "<samp>0 = 1</samp>",
    "a picture": "<svg><text>softmax(z) = z</text></svg>",
    "a style": '<style>.md-typeset p::after { content: " 0 = 1" }</style>',
    "a script": "<script>document.write('0 = 1')</script>",
    "another page": "<iframe src='x.html'></iframe>",
    "an object": "<object data='x.svg'></object>",
    "something embedded": "<embed src='x.svg'>",
    "a template": "<template>0 = 1</template>",
    "a canvas": "<canvas></canvas>",
    "a button": "<button>x</button>",
    "a text area": "<textarea>0 = 1</textarea>",
    "one that nobody knows": "<relation>x</relation>",
    "one in capitals": "<KBD>x</KBD>",
    "a picture in a line": "It is <svg><path d='M0 0h9M0 3h9'/></svg> so.",
    "a style of its own": "<p style='position: absolute'>x</p>",
    "a style by a list of attributes": "Text.\n{ style='direction: rtl' }",
}


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND)
def test_raw_html_is_rejected(refused, text):
    message = refused(f"Title\n\n{text}\n")
    assert re.match(r"docs/notes/page\.md(:3|:4)?: (<[a-z]+>|style=\".*\") is typed by hand; ", message), message


def test_html_from_markdown_passes(page):
    assert "<b>" in page("Text <b>x</b>, <sup>2</sup>.\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n- x\n\n> y\n\n---\n")


STATING = """softmax(z) = z|0 = 1|0 == 1|x == y|mean(x) == median(x)|z=softmax(z)|z=0|sum=mean|sum=[mean]|f(softmax(z)=z)|f(x == y)|x < y|x <= y|=|==|:=
    |x := y|x -> y|softmax(z) -> z|x ≤ y|x ═ y|x ~ y|x −− y|0 -- 1|0 - - 1|f(x, y=softmax(z))|(lambda x=0: x)()|a = b|p = softmax(z)
    |def softmax(z): return z|lambda z: z|{softmax(z): z}|assert finite(z)|z: softmax(z)|class Mean(Median): pass"""
NAMING = r"""given=[...]|because=(A, B)|at={...}|dim=-1|softmax(z, dim=-1)|Symbol("x", real=True)|positive=True|mode="max"|bias=None|~mask
|IndexedBase(Normal("q", 0, 1), shape=(d,))|--fresh|python -m derivations check --page|a, b|z[i + 1]|A @ B|x - y|1e-5|{'z': 1}|import torch|{nonzero(x): {x: 0, y: 1}}"""


@pytest.mark.parametrize("span", STATING.split("|"))
def test_relation_in_code_span_is_rejected(refused, span):
    message = refused(f"Title\n\nSay that `{span.strip()}` here.\n")
    assert re.match(rf"docs/notes/page\.md:3: `{re.escape(span.strip())}` (states a relation|says of one thing|holds) ", message), message


@pytest.mark.parametrize("span", NAMING.split("|"))
def test_code_span_that_is_a_name_passes(page, span):
    assert "<code>" in page(f"Say `{span.strip()}` here.")


@pytest.mark.parametrize(
    "text", ["0 −− 1", "0 -- 1", "x – – y", "0 −<b>−</b> 1", "x −\n− y", "x ~ y", "x ~y", "0 | 1", "0|1", "n∣m", "so **−**− it"]
)
def test_relation_signs_made_of_punctuation_are_rejected(refused, text):
    message = refused(f"Title\n\nSay that {text}.\n")
    assert re.match(r"docs/notes/page\.md(:\d)?: .*(states a relation|may be read as a relation)", message), message


@pytest.mark.parametrize(
    "latex", [r"0 \mid 1", "0 | 1", r"x -- y", r"x - - y", r"x {-}{-} y", r"0 \mid 1, 2 \mid 3", r"(0 \mid 1)", r"x \sim y", r"x -\,- y"]
)
def test_relations_made_of_bars_and_dashes_are_rejected(refused, latex):
    assert refused(f"Title\n\nThen ${latex}$ here.\n").startswith(f"docs/notes/page.md:3: ${latex}$ states a relation (")


@pytest.mark.parametrize(
    "latex", [r"\operatorname{E}[x\mid y]", r"P(x \mid y)", r"p(x|y)", "|x|", r"|x| + |y|", r"\{x \mid y\}", "x - y", "-x", r"x \cdot (-y)"]
)
def test_bars_and_dashes_in_names_pass(page, latex):
    assert "<math>" in page(f"Let ${latex}$ be.")


ALIKE = {
    "a double line": ("softmax(z) ═ z", "U+2550, box drawings double horizontal"),
    "a double hyphen": ("x ⹀ y", "U+2E40, double hyphen"),
    "another": ("x ゠ y", "U+30A0, katakana-hiragana double hyphen"),
    "a hyphen of syllables": ("x ᐀ y", "U+1400, canadian syllabics hyphen"),
    "a stop": ("x ꓿ y", "U+A4FF, lisu punctuation full stop"),
    "a double low line": ("x ‗ y", "U+2017, double low line"),
    "a line below a minus": ("x −\u0332 y", "U+0332, combining low line"),
    "a letter of another script": ("x ꘌ y", "U+A60C, vai syllable lengthener"),
    "a numeral": ("x 二 y", "U+4E8C, cjk unified ideograph-4e8c"),
    "a click": ("x ǂ y", "U+01C2, latin letter alveolar click"),
    "a drawn sign": ("x 🟰 y", "U+1F7F0, heavy equals sign"),
    "an override": ("x \u202e y", "'\\\\u202e' (U+202E, right-to-left override)"),
    "an isolate": ("x \u2066 y", "U+2066, left-to-right isolate"),
    "a space of no width": ("x\u200by", "U+200B, zero width space"),
    "a hyphen that is not seen": ("x\u00ady", "U+00AD, soft hyphen"),
    "a private one": ("x \uf8ff y", "U+F8FF, without a name"),
}


@pytest.mark.parametrize("text, named", ALIKE.values(), ids=ALIKE)
def test_character_similar_to_a_relation_is_rejected_by_name(refused, certificates, text, named):
    named = named.replace("\\\\", "\\")
    message = refused(f"Title\n\nSay that {text}.\n")
    assert message.startswith("docs/notes/page.md:3: ")
    assert named in message or "heavy equals sign" in named and "states a relation in prose" in message
    certificates["scaling/variance"]["claims"][1]["title"] = f"So {text}"
    shown = refused("Text\n\n" + DERIVATION)
    assert shown.startswith("docs/notes/page.md:3: scaling/variance#mean cannot be shown: ")
    assert named in shown or "heavy equals sign" in named and "states a relation" in shown


def test_personal_names_and_punctuation_pass(page):
    text = "Łukasz, Čadež, Nguyễn, René – “so” it’s … 2 × 3 · √d, β and §1, 50 % (or ½): [x](y.md), a/b; a_b*c^2 + 1!"
    assert "½" in page(text)


STACKED = (
    r"""
x \overset{-}{-} y|x \underset{-}{-} y|x \stackrel{-}{-} y|x \underline{-} y|x \overline{-} y|x \overline{\,-\,} y|x \bar{-} y|x {-}_{-} y
x {-}^{-} y|x {}^{-}_{-} y|x^{-}_{-} y|x \binom{-}{-} y|x \frac{-}{-} y|x \begin{matrix}-\\-\end{matrix} y|x -\!\!\!- y
x \text{ is } y|x \mathrm{is} y|x\ is\ y|x\ \operatorname{is}\ y|\text{so } x|x \raisebox{1pt}{-} y|x \cancel{-} y|x \not- y
x ═ y|x ⹀ y|x ꓿ y|x 二 y|x \_ y|x ¯ y|a:b|\mathrm{x ⹀ y}|\text{⹀}
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("latex", STACKED)
def test_stacked_drawn_or_spelt_out_signs_are_rejected_in_formulas(refused, latex):
    message = refused(f"# Title\n\nText and\nthen ${latex}$ here.\n")
    assert message.startswith(f"docs/notes/page.md:4: ${latex}$ ")
    assert any(says in message for says in ("states a relation (", "one over another", "holds", "moves or hides"))


@pytest.mark.parametrize("text", ["$$a$$", "$$\na\n$$", r"\(a\)", r"\[a\]"])
def test_handwritten_display_formula_is_rejected(refused, text):
    assert refused(f"Title\n\n{text}\n").startswith("docs/notes/page.md:3: ")


def test_unknown_commands_and_math_elements_are_rejected(refused):
    assert refused("One\n\n$\\nonsense$") == (
        "docs/notes/page.md:3: '\\\\nonsense' is not LaTeX that can be shown: Unknown command \"\\nonsense\"."
    )
    assert "docs/notes/page.md:2: <math> is typed by hand" in refused("One\n<math><mo>=</mo></math>")
    assert "makes a <a>" in refused(r"$\eqref{x}$")


def test_reported_line_is_that_of_the_formula_outside_code(refused):
    assert refused("```text\n$a$\n```\n\nText $a = b$\n").startswith("docs/notes/page.md:5:")


def test_unknown_file_is_reported(certificates, tmp_path):
    with pytest.raises(site.PageError, match=r"^a page:1: \$a = b\$ states"):
        markdown.markdown("$a = b$", extensions=[site.makeExtension(docs=str(tmp_path))])


# The parts --------------------------------------------------------------------------------------------------------------


def test_relations_are_recognised_by_name():
    assert all(map(is_relation, "=<>≠≤≥≈≡∼≃≅∝→←↔⇒⇔↦∈∉∋⊂⊆≪≺≔⊢⊨∥⟂⇌⟹⊲"))
    assert not any(map(is_relation, "+-−±×·∘∑∏∫√∞∂∇⊤⊥′‖|∣…()[]{},.:;!?~^_&%#*/aα1 \n⃗¯ˆ˜"))


def test_prose_escapes_everything_except_formulas():
    assert render_text("a < $d_k$ & b") == "a &lt; <math><msub><mi>d</mi><mi>k</mi></msub></math> &amp; b"
    assert render_text(r"costs \$5") == "costs $5"


def test_invalid_latex_gives_no_mathml():
    with pytest.raises(MathsError, match="Unknown command"):
        mathml(r"\nonsense")
    with pytest.raises(MathsError, match="states a relation"):
        render_notation("a=b")


def test_width_grows_with_parts_side_by_side():
    assert estimate_width(mathml("a+b")) == 3
    assert estimate_width(mathml(r"\frac{a}{b+c}")) == 3
    assert estimate_width(mathml(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}")) == 4


def test_samples_cover_every_kind(certificates):
    kinds = {one["kind"] for certificate in certificates.values() for one in certificate["claims"]}
    assert kinds == set(KINDS)


def test_number_and_percent_sign_stay_on_one_line(page):
    html = page("A share of 99.97 % of the weight, and `7 % 3`.\n")
    assert "99.97\u00a0% of the weight" in html and "7 % 3" in html
