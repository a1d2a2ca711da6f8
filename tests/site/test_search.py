"""Tests of the site's search in a browser: common queries find the right page, and pages load the search only when a reader uses it."""

import json
import posixpath
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from derivations.kernel.site import search_index, tokenizer
from derivations.kernel.site.sources_table import read_heading
from derivations.kernel.store import certificates

ROOT = Path(__file__).parents[2]
FIRST, WORDS = 3, 60  # the best hits that count; the least number of words
MOST = 1700  # the most bytes of the script that opens the search
HITS = "[...document.querySelectorAll('.find__hit')]"
READY = "document.querySelector('.find__hits')?.getAttribute('aria-busy') === null"

QUERIES = {
    "variance": "scaling/variance",
    "why sqrt d_k": "scaling/variance",
    "causal mask": "order/causal",
    "d_k": "scaling/variance",
    "softmax jacobian": "softmax/jacobian",
    "RoPE": "order/rotary",
    "layer norm": "around/layernorm",
    "multi-head parameters": "heads/parameters",
    "shift invariance": "softmax/distribution",
    "flash attention": "io/flash",
    "softmax gradient": "softmax/jacobian",
    "softmax derivative": "softmax/jacobian",
    "backpropagation": "blocks/backward",
    "scaled_dot_product_attention": "attention/formula",
    "snippets": "contributing/snippets",
    "why do we need the causal mask?": "order/causal",
    "What is a KV cache": "inference/cache",
}
ALIKE = [
    ["QK^T", r"Q K^\top", r"QK^{\top}", "QKᵀ", "Q @ K.T"],
    ["sqrt(d_k)", "√d_k", r"\sqrt{d_k}", r"\sqrt{d_{k}}"],
    ["Var(q·k)", r"\operatorname{Var}(q \cdot k)", r"\mathrm{Var}\left(q \cdot k\right)"],
]


def glossary():
    """Return each term of the glossary with the page to which its entry links."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    found = {}
    for word, entry in re.findall(r"^(\S.*)\n:   (.*)$", text, flags=re.M):
        page = re.search(r"\]\(([\w/-]+)\.md\)", entry)[1]
        name, _, others = word.partition(" (")
        found |= {one: page for one in (name, *filter(None, others.rstrip(")").split(", ")))}
    return found


@pytest.fixture
def page(browse):
    """Return a page of the site on which nobody has searched yet."""
    return browse("scaling/variance/")


@pytest.fixture
def opened(page):
    page.press("/")
    page.until("document.querySelector('dialog[open]')")
    return page


def typed(tab, text):
    tab.run("document.querySelector('.find input').select()")
    tab.type(text)
    tab.until(READY)


def searched(tab, queries):
    """Return the addresses of each query's hits within the site, best first, as the module of the dialog finds them."""
    script = """(async () => {
        const { find } = await import(new URL("../../assets/js/search/index.js", location));
        const answers = {};
        for (const query of %s) answers[query] = (await find(query)).hits.map((hit) => new URL(hit.href).pathname + new URL(hit.href).hash);
        return answers;
    })()"""
    return tab.run(script % json.dumps(list(queries)))


# Results ---------------------------------------------------------------------------------------------------------------------


def test_glossary_term_finds_its_page(page):
    words = glossary()
    assert len(words) >= WORDS
    hits = searched(page, [*words, "qqqqqq"])
    assert hits.pop("qqqqqq") == []  # a word that no page contains
    missed = {word: (where, hits[word][:5]) for word, where in words.items() if not any(f"/{where}/" in hit for hit in hits[word][:FIRST])}
    assert missed == {}


def test_glossary_entry_is_found(page):
    hits = searched(page, ["class token", "modern Hopfield network"])
    assert "/glossary/#class-token" in hits["class token"]
    assert (
        hits["modern Hopfield network"][0].startswith("/predecessors/memory/")
        and "/glossary/#modern-hopfield-network" in hits["modern Hopfield network"]
    )


def test_common_questions_find_the_right_page(page):
    hits = searched(page, QUERIES)
    missed = {query: (where, hits[query][:3]) for query, where in QUERIES.items() if hits[query][:1] != [f"/{where}/"]}
    assert len(missed) <= 1, missed


def test_words_of_a_question_do_not_count_unless_there_are_no_others(page):
    hits = searched(page, ["What is a head", "head", "how does", "a b", "b"])
    assert hits["What is a head"] == hits["head"] and hits["head"][0] == "/heads/split/"
    assert hits["how does"] and hits["a b"] != hits["b"]


@pytest.mark.parametrize("name", ["merge_projections", "running_state"])
def test_function_is_found_in_the_reference_of_the_snippets(page, name):
    (module,) = {path for path in (ROOT / "snippets").glob("*/*.py") if f"\ndef {name}(" in path.read_text(encoding="utf-8")}
    chapter = module.parent.name
    assert f"/contributing/snippets/{chapter}/#snippets.{chapter}.{module.stem}" in searched(page, [name])[name]


def test_formula_is_found_in_any_notation(page):
    hits = searched(page, [query for group in ALIKE for query in group])
    for first, *others in ALIKE:
        assert hits[first] and all(hits[other] == hits[first] for other in others), first
    assert hits["QK^T"][0] == "/attention/formula/"
    assert any(hit == "/scaling/variance/#scaled" for hit in hits["Var(q·k)"][:FIRST])


def claimed(topic, name):
    """Return the record of a claim."""
    kept = certificates.STORE.require(topic)["claims"]
    return next(claim for claim in kept if claim["id"] == name)


def test_claim_on_several_pages_is_found_once(page):
    """The claims on the page of common mistakes also appear on the pages of their topics."""
    twice = re.findall(r"^/// \w+ \| ([\w/-]+)#([\w-]+)$", (ROOT / "docs/wrong.md").read_text(encoding="utf-8"), flags=re.M)
    titles = [claimed(*one)["title"].replace("$", "") for one in twice]
    script = """(async () => {
        const { find } = await import(new URL("../../assets/js/search/index.js", location));
        const answers = [];
        for (const query of %s) answers.push((await find(query)).hits.filter((hit) => hit.statement).map((hit) => hit.title + hit.statement));
        return answers;
    })()"""
    answers = page.run(script % json.dumps([*filter(None, titles)]))
    assert len(answers) >= 20 and all(answers)
    assert [found for found in answers if len(set(found)) < len(found)] == []


def theorems():
    """Return the theorems that pages show: the address and the record of each."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        topic = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for name in re.findall(rf"^/// theorem \| {topic}#([\w-]+)$", path.read_text(encoding="utf-8"), flags=re.M):
            yield f"/{topic}/#{name}", claimed(topic, name)


def test_theorem_is_found_by_title_and_by_latex(page):
    found = dict(theorems())
    by_name = searched(page, {claim["title"].replace("$", "") for claim in found.values()})
    by_latex = searched(page, {claim["latex"] for claim in found.values()})
    assert len(found) >= 50
    assert [place for place, claim in found.items() if place not in by_name[claim["title"].replace("$", "")][:FIRST]] == []
    unfound = [place for place, claim in found.items() if place not in by_latex[claim["latex"]][:FIRST]]
    assert len(unfound) <= len(found) // 10, unfound


def test_python_and_javascript_tokenize_alike(page, built):
    """Both languages apply the same list of rules."""
    pages = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((built / "search/pages").iterdir())]
    texts = sorted(
        {text for found in pages for record in found for text in record[2:]} | set(QUERIES) | {query for group in ALIKE for query in group}
    )
    script = """(async () => {
        const { find, folded, words } = await import(new URL("../../assets/js/search/index.js", location));
        await find("the rules are fetched with the index");
        return %s.map((text) => [words(text), words(folded(text))]);
    })()"""
    answers = page.run(script % json.dumps(texts))
    other = [
        text
        for text, answer in zip(texts, answers)
        if answer != [tokenizer.split_words(text), tokenizer.split_words(tokenizer.fold_formula(text))]
    ]
    assert other == []


def test_misspelt_and_partial_words_find_pages(page):
    hits = searched(page, ["jacobain", "sofmax", "masking", "scali"])
    assert hits["jacobain"][0] == "/softmax/jacobian/" and hits["masking"][0] == "/attention/masks/" and hits["sofmax"] and hits["scali"]


# Cost ------------------------------------------------------------------------------------------------------------------------


def test_page_loads_only_the_script_that_opens_the_search(page, built):
    asked = [urlsplit(address).path for address in page.requested]
    assert "/assets/js/search.js" in asked  # so that a request would be noticed
    assert [path for path in asked if "search" in path and path != "/assets/js/search.js"] == []
    assert (built / "assets/js/search.js").stat().st_size < MOST
    page.press("/")
    page.until("document.querySelector('dialog[open]')")
    typed(page, "variance")
    assert any(path.startswith("/search/words") for path in map(lambda address: urlsplit(address).path, page.requested))


def test_query_loads_only_small_parts_of_the_index(built):
    folder = built / search_index.FOLDER
    parts = [*folder.glob("words*.json"), *(folder / "pages").iterdir()]
    assert len(parts) > 50 and max(path.stat().st_size for path in parts) < 150_000
    assert (folder / "index.json").stat().st_size < 15_000
    assert not (folder / "search_index.json").exists()


# Interaction -------------------------------------------------------------------------------------------------------------------


def test_text_typed_during_loading_is_searched(page):
    held = []
    page.page.route("**/dialog.js", lambda route: held.append(route))
    with page.page.expect_request("**/dialog.js"):
        for key in "/ope":  # a "p" alone goes to the previous page
            page.press(key)
    held[0].continue_()
    page.until("document.querySelector('.find input')?.value === 'ope' && document.querySelector('.find__hit')")


def test_formulas_in_hits_are_typeset(opened):
    """Subscripts are low, exponents are high and complete, and the sign of a transpose is a letter that each font has."""
    typed(opened, "causal mask")
    made = opened.run("""(async () => {
        const { marked } = await import(new URL("../../assets/js/search/dialog.js", location));
        const html = (text) => { const p = document.createElement("p"); p.append(...marked(text, new Set(["qkt"]), true)); return p.innerHTML; };
        return ["q_i² + q_ij", "e^(ts)s + e^z_i", "(QKᵀ)_ij", "x_(i+1)"].map(html);
    })()""")
    assert made == [
        "q<sub>i</sub>² + q<sub>ij</sub>",
        "e<sup>ts</sup>s + e<sup>z<sub>i</sub></sup>",
        "(<mark>QK<sup>T</sup></mark>)<sub>ij</sub>",
        "x<sub>i+1</sub>",
    ]


def test_search_works_by_keyboard(opened):
    assert opened.run("document.activeElement.getAttribute('role')") == "combobox"
    typed(opened, "softmax jacobian")
    status = opened.run("document.querySelector('.find [role=status]').textContent")
    of, here = re.fullmatch(r"(\d+) hits? on \d+ pages?(?:, of which the first (\d+) are here)?", status).groups()
    assert opened.run(f"{HITS}.length") == int(here or of)
    chosen = f"{HITS}.findIndex((hit) => hit.getAttribute('aria-selected') === 'true')"
    active = f"{HITS}.findIndex((hit) => hit.id === document.activeElement.getAttribute('aria-activedescendant'))"
    assert opened.run(chosen) == opened.run(active) == 0
    opened.press("ArrowDown")
    assert opened.run(chosen) == opened.run(active) == 1
    opened.press("ArrowUp")
    opened.press("ArrowUp")
    assert opened.run(chosen) == opened.run(active) == opened.run(f"{HITS}.length - 1")
    opened.press("ArrowDown")
    opened.press("Escape")
    opened.until("!document.querySelector('dialog[open]')")
    opened.press("s")
    opened.until("document.querySelector('dialog[open]')")
    assert opened.run("document.activeElement.value") == "softmax jacobian"
    opened.press("Enter")
    opened.until_at("/softmax/jacobian/")


def test_shortcut_key_in_a_text_field_opens_nothing(page):
    page.run(
        "document.querySelector('article').append(Object.assign(document.createElement('textarea'), {id: 'notes'})); document.querySelector('#notes').focus()"
    )
    page.press("s")
    page.press("/")
    assert page.run("document.querySelector('#notes').value") == "s/"
    assert not page.run("document.querySelector('dialog')")


def test_hits_are_highlighted_and_escaped(opened):
    typed(opened, "causal mask")
    assert {"causal", "mask"} <= {
        word.lower() for word in opened.run("[...document.querySelectorAll('.find mark')].map((mark) => mark.textContent)")
    }
    typed(opened, "<img src=x onerror=alert(1)> softmax")
    assert not opened.run("document.querySelector('.find img')")
    for path in (ROOT / "docs/assets/js").rglob("*.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\b|new Function", path.read_text(encoding="utf-8")), path


def test_offline_search_shows_an_error_and_retries(opened):
    opened.offline(True)
    typed(opened, "variance")
    assert "offline" in opened.run("document.querySelector('.find [role=status]').textContent")
    opened.offline(False)
    opened.press("Enter")
    opened.until(f"{HITS}.length")


def test_search_button_shows_an_error_offline(page):
    page.offline(True)
    page.press("/")
    page.until("document.querySelector('.find-said')?.textContent.includes('offline')")
    page.offline(False)
    page.press("/")
    page.until("document.querySelector('dialog[open]')")


def test_search_fits_a_phone(browse):
    phone = browse("scaling/variance/", width=390, height=800, phone=True)
    phone.run("document.querySelector('.find-button').click()")
    phone.until("document.querySelector('dialog[open]')")
    typed(phone, "variance of a dot product")
    widest = "Math.max(...[...document.querySelectorAll('dialog, dialog *')].map((one) => one.getBoundingClientRect().right))"
    assert phone.run(f"{HITS}.length") and phone.run(widest) <= 390


def test_glossary_is_sorted_and_uses_the_titles_of_pages():
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    names = re.findall(r"^(\S.*)\n:   ", text, flags=re.M)
    assert names == sorted(names, key=str.lower)
    for called, page in re.findall(r"\[([^\]]+)\]\(([\w/-]+\.md)\)", text):
        assert read_heading(ROOT / "docs", posixpath.normpath(page).removesuffix(".md")) == called
