"""Tests of the details of a step: each step of a claim unfolds to show how it was checked."""

import functools
import http.server
import sys
import threading
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site import search_pages, step_details

ROOT = Path(__file__).parents[2]
browser = sys.modules["site_browser"]  # by conftest.py
MEAN = "/// claim | scaling/variance#mean\n///\n"
PROGRAM = '''"""mean: what it says."""

SIZES = [
    dict(d=1),
    dict(d=2),
]


def claim(d):
    """Both sides of each step, at these sizes."""
    q = tensor("q", d)
    start = E(q)
    step_1 = halves(q, "<b>")
    yield 1, start, step_1
    step_2 = 0
    yield 2, step_1, step_2
'''
COQ = """Section Claim.
Variable R : fieldType.

(* write it out *)
Theorem step_1 :
  a = b.
Proof. entrywise R. Qed.

Theorem step_2 :
  b = 0.
Proof. entrywise R. Qed.

End Claim.

Print Assumptions step_1.
"""
SCRIPT = """with evaluate(False):
    derivation.chain(
        "mean",
        start,
        (first, "cancel"),
        (
            second,
            "cancel",
        ),
    )
"""


@pytest.fixture
def mean(certificates):
    """Return the claim with two steps, with a program, and with a Coq proof of its second step only."""
    one = certificates["scaling/variance"]["claims"][1]
    exact, sympy, coq = one["witnesses"]
    one["witnesses"] = [exact, sympy | {"source": PROGRAM}, coq | {"source": COQ}]
    for k, names in enumerate((["exact", "sympy"], ["exact", "sympy", "coq"])):
        one["steps"][k] = one["steps"][k] | {"witnesses": names}
    one["code"] = ["snippets.scaling.variance.predicted_moments"]
    return one


def opened(page, **options):
    """Return the rows that each step unfolds to, as pairs (term, text)."""
    html = BeautifulSoup(page(MEAN, **options), "html.parser")
    folds = html.select("#mean details.claim__step")
    assert not any(fold.has_attr("open") for fold in folds)
    return [
        [(label.text.strip(), " ".join(label.find_next_sibling("dd").text.split())) for label in fold.select("dt")] for fold in folds
    ], folds


def test_step_unfolds_to_its_details(mean, page):
    (first, second), folds = opened(page)
    assert [fold.summary.text.strip() for fold in folds] == [
        "the mean of a sum is the sum of the means",
        "every factor of qiki has mean zero",
    ]
    assert [name for name, _ in first] == ["may use", "✓ exact", "✓ SymPy", "code", "script"]
    assert [name for name, _ in second] == ["may use", "✓ exact", "✓ SymPy", "✓ Coq", "code", "script"]
    assert dict(first)["may use"] == "the entries of q and k are independent of one another"
    assert dict(first)["✓ exact"] == "proved · every shape one normal form"
    assert dict(first)["✓ SymPy"].startswith(
        'proved · sizes up to n · d = 1, 2 entries, d up to 3 q = tensor("q", d) start = E(q) step_1 = '
    )
    assert "step_2" not in dict(first)["✓ SymPy"] and "start" not in dict(second)["✓ SymPy"]
    assert "Theorem step_2 : b = 0." in dict(second)["✓ Coq"] and "step_1" not in dict(second)["✓ Coq"]
    assert dict(second)["code"] == "predicted_moments"


def test_details_of_a_step_are_escaped(mean, page):
    _, (first, _) = opened(page)
    assert not first.select("b") and 'halves(q, "<b>")' in first.select_one("pre").text


def test_step_shows_and_links_its_lines_of_the_script(mean, page):
    (first, _), folds = opened(page)
    said = (ROOT / "derivations/scaling/variance.py").read_text(encoding="utf-8").split("\n")
    line = next(at for at, text in enumerate(said, start=1) if '"the mean of a sum is the sum of the means"' in text)
    assert dict(first)["script"] == f"line {line} {said[line - 1].strip()}" and not folds[0].select("a[href*='#L']")
    _, folds = opened(page, repository="https://example.org/a/b/")
    assert folds[0].select_one("a.claim__place")["href"] == f"https://example.org/a/b/blob/main/derivations/scaling/variance.py#L{line}"


def test_claim_of_one_step_has_the_details_at_its_badge(page, certificates):
    one = certificates["scaling/variance"]["claims"][2]
    one["witnesses"] = [one["witnesses"][0], one["witnesses"][1] | {"source": PROGRAM}]
    html = BeautifulSoup(page("/// claim | scaling/variance#variance\n///\n"), "html.parser")
    assert not html.select(".claim__step")
    shown = [pre.text for pre in html.select(".claim__witnesses pre.claim__lines")]
    assert "yield 1, start, step_1" in shown[0] and shown[1].startswith("derivation.chain(")


def test_search_indexes_the_reason_of_a_step_but_not_its_details(mean, page):
    html = f"<article><h1>Page</h1>{page(MEAN)}</article>"
    (record,) = [one for one in search_pages.read_page(html, "page/").records if one.anchor == "mean"]
    assert "the mean of a sum is the sum of the means" in record.text and "tensor" not in record.text and "normal form" not in record.text


@pytest.mark.parametrize(("step", "lines"), [(1, (5, 5)), (2, (6, 9))])
def test_steps_with_the_same_reason_are_distinguished(step, lines):
    claim = {"line": 2, "steps": [{"reason": "cancel"}, {"reason": "cancel"}]}
    place = step_details.find_script_lines(SCRIPT, claim, step)
    assert (place.first, place.last) == lines and place.text.startswith("(")


def test_whole_statement_is_shown_if_the_reason_is_not_in_the_script():
    claim = {"line": 2, "steps": [{"reason": "expand"}, {"reason": "cancel"}]}
    assert (step_details.find_script_lines(SCRIPT, claim, 1).first, step_details.find_script_lines(SCRIPT, claim, 1).last) == (2, 10)
    assert step_details.find_script_lines("", claim, 1) is None and step_details.find_script_lines("x =", claim, 1) is None


def test_long_details_link_to_the_file():
    long = SCRIPT.replace("second", "second" * 200)
    place = step_details.find_script_lines(long, {"line": 2, "steps": [{"reason": ""}]}, 1)
    assert (place.text, place.describe_lines(), place.fragment()) == ("", "lines 2–10", "#L2-L10")
    assert step_details.find_program_lines(PROGRAM.replace("halves", "h" * 2000), 1) == ""


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ("SIZES = [dict(n=1), dict(n=3)]", "n = 1, 3"),
        ("SIZES = [dict(d=1, m=1, n=2), dict(d=2, m=1, n=1)]", "2 choices of d, m and n"),
        ("SIZES = [{}]", ""),
        ("SIZES = [dict(n=1)]\nfound = identity(claim, possible(SIZES, assumed))", ""),
        ("", ""),
    ],
)
def test_sizes_in_a_program(sizes, said):
    assert step_details.describe_sizes(sizes) == said


# In a browser ---------------------------------------------------------------------------------------------------------------------

LOOKS = "".join(f'<link rel="stylesheet" href="{name}.css">' for name in ("site", "following"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def seen(mean, page, tmp_path, chromium):
    """Return a browser on a page that shows the claim; `seen(**look)` opens it."""
    for name in ("site", "following"):
        (tmp_path / f"{name}.css").write_bytes((ROOT / f"docs/assets/css/{name}.css").read_bytes())
    html = (
        f'<!doctype html><html><head>{LOOKS}</head><body data-md-color-scheme="default"><article class="md-typeset">{page(MEAN)}</article>'
    )
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with chromium() as one:

        def seen(**look):
            one.look(**look)
            one.open(f"http://127.0.0.1:{server.server_address[1]}/page.html")
            return one

        yield seen
    server.shutdown()
    server.server_close()
    thread.join()


BOXES = """(() => { const step = document.querySelectorAll('.claim__step')[1], formula = step.previousElementSibling.getBoundingClientRect(),
  behind = step.querySelector('dl').getBoundingClientRect(), all = document.querySelector('.claim').getBoundingClientRect();
  return {below: behind.top >= formula.bottom, wide: behind.width / all.width > .85, within: behind.right <= all.right + 1 && behind.left >= all.left - 1,
          page: document.documentElement.scrollWidth <= innerWidth, high: behind.height}; })()"""


@pytest.mark.parametrize("look", [{}, {"width": 700}, {"width": 390, "phone": True}, {"dark": True}])
def test_step_unfolds_by_keyboard_below_its_formula_at_full_width(seen, look):
    one = seen(**look)
    assert one.run(BOXES)["high"] == 0
    one.run("document.querySelectorAll('.claim__step > summary')[1].focus()")
    one.press("Enter")
    boxes = one.run(BOXES)
    assert boxes.pop("high") > 40 and boxes == {"below": True, "wide": True, "within": True, "page": True}
    one.press("Enter")
    assert one.run(BOXES)["high"] == 0


@pytest.mark.parametrize(("width", "beside"), [(1300, True), (500, False)])
def test_reason_without_details_is_placed_as_usual(seen, width, beside):
    """The preview of a claim (preview.js) removes the folds."""
    one = seen(width=width)
    place = """[...document.querySelectorAll('.claim__reason')].map((one) => { const {left, top} = one.getBoundingClientRect(); return [left, top]; })"""
    before = one.run(place)
    one.run("""document.querySelectorAll('.claim__step').forEach((step) => {
      const span = document.createElement('span'); span.className = 'claim__reason'; span.append(...step.firstChild.childNodes); step.replaceWith(span); })""")
    after = one.run(place)
    assert [round(left) for left, _ in before] == [round(left) for left, _ in after]
    formula = one.run("document.querySelector('.claim__right').getBoundingClientRect().right")
    assert (round(after[0][0]) >= round(formula)) == beside


def test_printed_step_shows_only_its_reason(seen):
    one = seen()
    one.run("document.querySelectorAll('.claim__step').forEach((step) => { step.open = true })")
    one.page.emulate_media(media="print")
    assert one.run(BOXES)["high"] == 0
    assert one.run("document.querySelector('.claim__step > summary').getBoundingClientRect().height") > 5
