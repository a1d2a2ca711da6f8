"""Tests of the search index: the text that is read from a page, formulas as lines of text, and words that count as equal."""

import json

import pytest

from derivations.kernel.printing.mathml import mathml
from derivations.kernel.site import formula_text, search_index, search_pages, search_weights, tokenizer
from derivations.kernel.store import project_files, store

PAGE = """<html><body><nav>Elsewhere</nav><article><h1 id="t">Why √d_k? Of <em>size</em><a class="headerlink" href="#t">¶</a></h1>
<p>A lead of {formula}. <svg><text>drawn</text></svg></p><ul><li>An item <pre>typed = 1</pre></li></ul>
<h2 id="one">One thing<a class="headerlink" href="#one">¶</a></h2><p>Said &lt;b&gt; here.</p><p data-search-exclude="">hidden</p>
<section class="claim claim--law claim--theorem" id="sum"><header><span class="claim__kind">Theorem</span><span class="claim__title">The sum is one</span>
</header><div class="claim__left">{left}</div><div class="claim__right">{right}</div><div class="claim__reason">because</div>
<details class="claim__witnesses"><summary>every shape</summary></details></section></article></body></html>"""


def page(**formulas):
    made = {"formula": r"\sqrt{d_k}", "left": "a", "right": "{} = b"} | formulas
    return PAGE.format(**{name: mathml(latex) for name, latex in made.items()})


@pytest.mark.parametrize(
    ("latex", "line"),
    [
        (r"\frac{Q K^{\top}}{\sqrt{d_k}} + M", "QKᵀ/√d_k + M"),
        (r"\operatorname{Var}(q \cdot k)", "Var(q·k)"),
        (r"\sum_{i = 1}^{d} q_{i} k_{i}", "∑(i=1…d) q_i k_i"),
        (r"x^{2} \le e^{-c}", "x² ≤ e^(−c)"),
        (r"\log n", "log n"),
        (r"\frac{Q K^{\top}}{\sqrt{h m d_k}}", "QKᵀ/√(hmd_k)"),
        (r"e^{t s} s + e^{2 t} t", "e^(ts)s + e^(2t)t"),
        (r"\frac{1}{4} (b - a)^{2} \le c \frac{1}{n d}", "(1/4)(b − a)² ≤ c(1/(nd))"),
    ],
)
def test_formula_as_a_line_of_text(latex, line):
    assert formula_text.to_line(mathml(latex)) == line


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["QK^T", r"Q K^\top", "Q @ K.T", "QKᵀ"], ["qkt"]),
        (["sqrt(d_k)", r"\sqrt{d_{k}}", "√d_k", "square root of d_k"], ["sqrt", "dk"]),
        (["Var(q·k)", r"\operatorname{Var}(q \cdot k)"], ["var", "qk"]),
        (["normalisation", "normalization", "normalised"], ["normalis"]),
        (["masks", "masked", "masking"], ["mask"]),
        (["a bias", "a biases"], ["a", "bias"]),
        (["softmax is class"], ["softmax", "is", "class"]),
    ],
)
def test_equivalent_spellings_give_the_same_words(texts, words):
    assert [tokenizer.split_words(tokenizer.fold_formula(text)) for text in texts] == [words] * len(texts)


def test_pages_for_contributors_rank_below_pages_for_readers():
    ours, theirs = (search_pages.read_page(page(), url).records for url in ("a/b/", "contributing/b/"))
    assert all(0 < there.prior < here.prior for here, there in zip(ours, theirs, strict=True))


def test_figures_code_and_hidden_parts_are_not_indexed():
    found = search_pages.read_page(page(), "a/b/")
    whole, section, claim = found.records
    assert (whole.kind, whole.title) == ("page", "Why √d_k? Of size") and "√d_k" in whole.text
    assert (section.anchor, section.title, section.text) == ("one", "One thing", "Said <b> here.")
    assert (claim.kind, claim.anchor, claim.title, claim.statement) == ("theorem", "sum", "The sum is one", "a = b")
    said = json.dumps([record.fields for record in found.records])
    assert not any(word in said for word in ("drawn", "typed", "hidden", "every shape", "Elsewhere", "headerlink"))
    assert search_pages.read_page("<p>no article</p>", "") is None


def test_factors_of_a_product_are_indexed():
    counts = search_weights.count_words(f"{search_pages.OPEN}XW_QW_KᵀXᵀ{search_pages.CLOSE}")
    assert any(word.startswith("wqwkt") for word in counts)


def test_index_parts_are_sorted_and_pages_with_theorems_come_first(tmp_path):
    for name, html in {"a": page(), "b": page().replace("theorem", "claim").replace("Theorem", "Law"), "glossary": GLOSSARY}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(html, encoding="utf-8")
    search_index.write(tmp_path)
    index = json.loads((tmp_path / "search/index.json").read_text(encoding="utf-8"))
    assert index["pages"] == ["a/", "b/", "glossary/"] and index["words"] == sorted(index["words"])
    words = {}
    for number in range(len(index["words"])):
        words |= json.loads((tmp_path / f"search/words{number}.json").read_text(encoding="utf-8"))
    assert list(words) == sorted(words)
    assert words["=ofsiz"][0] == 0  # of two pages with the same name, the one with a theorem comes first
    second = index["records"][0]
    assert words["=sorcery"] == [second, words["=sorcery"][1]]  # the page that the glossary links to


GLOSSARY = """<article><h1>Glossary</h1><dl><dt>magic (sorcery)</dt><dd>A word. <a href="../b/">The page</a></dd></dl></article>"""


def test_unchanged_page_is_read_only_once(tmp_path, monkeypatch):
    site, read = tmp_path / "site", []
    own = search_index.read_page
    monkeypatch.setattr(search_index, "read_page", lambda html, url: read.append(url) or own(html, url))
    monkeypatch.setattr(store, "FOLDER", tmp_path / "store")

    def build(**texts):
        """Build the index in a process of its own."""
        for known in (search_index._read, search_index._new, read):
            known.clear()
        for name, text in texts.items():
            (site / name).mkdir(parents=True, exist_ok=True)
            (site / name / "index.html").write_text(text)
        search_index.write(site)
        return sorted(read), len(search_index.STORE.keys())

    def index():
        return sorted((path.name, path.read_text()) for path in (site / "search").rglob("*.json"))

    assert build(a=page(), b=page(left="b")) == (["a/", "b/"], 2)
    before = index()
    assert build() == ([], 2) and index() == before
    assert build(b=page(left="c")) == (["b/"], 3)
    monkeypatch.setattr(project_files, "file_hash", lambda path: "another reader")
    assert build() == (["a/", "b/"], 5)
