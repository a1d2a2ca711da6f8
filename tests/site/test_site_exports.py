"""Tests of the exports for programs and readers (claims.json, llms.txt, robots.txt) and of the metadata of each page."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

from derivations.kernel.site import claim_formats, page_errors, page_summary, site_exports_hook

ROOT = Path(__file__).parents[2]
PAGES = {
    "index.md": "# Home\n\nOf *sums* and [a page](scaling/variance.md). More.\n",
    "scaling/variance.md": "# Why?\n\nDivide by $\\sqrt{d_k}$, e.g. here. Then\nstop.\n\n/// theorem | scaling/variance#variance\n///\n\n"
    "/// claim | scaling/variance#same\n///\n\n/// claim | simplify/bilinear#merged\n///\n",
    "alone.md": "# Alone\n\n/// derivation | simplify/bilinear\n///\n",
}
CONFIG = f"""site_name: Sums
site_description: Of sums.
site_url: https://example.org/sums/
repo_url: https://example.org/a/b
docs_dir: docs
theme: {{name: material, custom_dir: {ROOT}/derivations/kernel/site/theme}}
nav: [{{Home: index.md}}, {{Why: [{{Variance: scaling/variance.md}}]}}, {{Alone: alone.md}}]
hooks: [{ROOT}/derivations/kernel/site/site_exports_hook.py]
plugins: []
markdown_extensions: [toc, {{derivations.kernel.site: {{docs: DOCS, repository: "https://example.org/a/b"}}}}]
"""


@pytest.fixture
def site(certificates, tmp_path):
    """Return the folder of a small site, built with the hook."""
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(CONFIG.replace("DOCS", str(tmp_path / "docs")))
    mkdocs_build(load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / "site")))
    return tmp_path / "site"


def shown(site):
    """Return every claim on every page of a built site: the page, the anchor, the number and the LaTeX."""
    found = set()
    for path in site.rglob("index.html"):
        page = path.parent.relative_to(site).as_posix()
        for one in BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select("section.claim"):
            number = int(one.select_one(".claim__number").text.strip("()"))
            found.add(("./" if page == "." else f"{page}/", one["id"], number, one.select_one(".claim__base")["data-latex"]))
    return found


def told(site):
    claims = json.loads((site / "claims.json").read_text(encoding="utf-8"))["claims"]
    return [(one["page"] or "./", one["anchor"], one["number"], one["latex"]) for one in claims]


def test_claims_json_equals_the_claims_on_the_pages(site):
    assert len(told(site)) == 6 and set(told(site)) == shown(site)
    same = json.loads((site / "claims.json").read_text(encoding="utf-8"))["claims"][1]
    assert same["id"] == "scaling/variance#same" and same["kind"] == "refutation" and same["rank"] == "claim"
    assert same["text"] == "Var(q⋅k) ≠ d" and same["counterexample"] == ["d = 1", "q = k"]
    assert same["source"] == "https://example.org/a/b/blob/main/derivations/scaling/variance.py#L31"
    assert same["url"] == "https://example.org/sums/scaling/variance/#same"
    assert [one["name"] for one in same["witnesses"]] == ["exact", "sympy", "coq"] and same["proved_by"] == ["exact", "sympy"]
    first, *others = json.loads((site / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert {one["rank"] for one in others} == {"claim"}
    assert first["rank"] == "theorem" and first["uses"] == ["scaling/variance#mean", "simplify/bilinear#merged"]
    assert first["assumptions"] == ["the entries of q and k are independent of one another"]


@pytest.mark.slow
def test_claims_json_lists_exactly_the_claims_of_the_site(built):
    claims = told(built)
    assert len(claims) > 900 and len(claims) == len(set(claims))
    assert set(claims) == shown(built)


def test_chapters_inside_a_part_are_listed():
    pages = {name: SimpleNamespace(title=name, is_section=False, children=None) for name in ("home", "preface", "one", "loose")}

    def section(title, *children):
        return SimpleNamespace(is_section=True, title=title, children=[*children])

    nav = SimpleNamespace(items=[pages["home"], section("Part", pages["preface"], section("First", pages["one"]))])
    assert site_exports_hook.group_by_chapter(nav, [*pages.values()]) == [
        ("Part", [pages["preface"]]),
        ("First", [pages["one"]]),
        ("More", [pages["home"], pages["loose"]]),
    ]


def test_llms_txt_lists_pages_by_chapter_with_a_sentence(site):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# Sums\n\n> Of sums.\n") and "(https://example.org/sums/claims.json)" in text
    assert "\n## Why\n\n- [Variance](https://example.org/sums/scaling/variance/): Divide by √(d_k), e.g. here.\n" in text
    assert re.findall(r"^## (.*)|^- \[(.*?)\]", text, flags=re.M) == [
        ("Why", ""),
        ("", "Variance"),
        ("More", ""),
        ("", "Home"),
        ("", "Alone"),
    ]


def test_robots_txt_and_sitemap_list_the_pages(site):
    assert (site / "robots.txt").read_text().endswith("Sitemap: https://example.org/sums/sitemap.xml\n")
    assert "<loc>https://example.org/sums/scaling/variance/</loc>" in (site / "sitemap.xml").read_text()


def test_page_has_description_canonical_url_and_edit_link(site):
    page = BeautifulSoup((site / "scaling/variance/index.html").read_text(encoding="utf-8"), "html.parser")
    said = {one.get("name") or one.get("property"): one.get("content") for one in page.select("meta")}
    assert said["description"] == said["og:description"] == "Divide by √(d_k), e.g. here."
    assert (said["og:title"], said["og:url"]) == ("Variance", "https://example.org/sums/scaling/variance/")
    assert page.select_one("link[rel=canonical]")["href"] == "https://example.org/sums/scaling/variance/"
    alone = (site / "alone/index.html").read_text(encoding="utf-8")
    assert '<meta name="description" content="Of sums.">' in alone and 'og:description" content="Of sums."' in alone
    source = page.select_one("a.md-source")
    assert source["href"] == "https://example.org/a/b" and not source.has_attr("data-md-component")  # it would cause requests to GitHub


def test_server_writes_no_exports(site, tmp_path):
    page_errors.show_errors(print)
    try:
        mkdocs_build(load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / "served")))
    finally:
        page_errors.show_errors(None)
    assert (tmp_path / "served/index.html").exists() and not (tmp_path / "served/claims.json").exists()


def test_settings_take_their_urls_from_the_environment(monkeypatch):
    for name in ("SITE_URL", "REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    config = load_config(str(ROOT / "mkdocs.yml"), plugins=[], hooks=[])
    assert (config.site_url, config.repo_url, config.mdx_configs["derivations.kernel.site"]) == (
        "http://127.0.0.1:8000/",
        "",
        {"repository": ""},
    )
    monkeypatch.setenv("SITE_URL", "https://example.org/x/")
    monkeypatch.setenv("REPOSITORY", "https://example.org/a/b")
    config = load_config(str(ROOT / "mkdocs.yml"), plugins=[], hooks=[])
    assert config.site_url == "https://example.org/x/"
    assert config.repo_url == config.mdx_configs["derivations.kernel.site"]["repository"] == "https://example.org/a/b"


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("# A\n\n/// claim | a/b#c\n///\n\nOne [link](x.md){ .start } and `code`.\nTwo.\n", "One link and code."),
        ("# A\n\nWhy so? Because.\n", "Why so?"),
        ('# A\n\nHe said "so." Then left.\n', 'He said "so."'),
        ("# A\n\nBy A. Vaswani et al. and others. Then.\n", "By A. Vaswani et al. and others."),
        ("# A\n\n- a list\n", ""),
        ("# A\n\nNo end\n", "No end"),
    ],
)
def test_first_sentence_of_a_page(markdown, said):
    assert page_summary.find_first_sentence(markdown) == said


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_{k}}} + M\right) V", "softmax((Q K^⊤)/√(d_k) + M) V"),
        (r"\sum_{i=1}^{d} q_{i} k_{i}", "∑_(i=1)^d q_i k_i"),
        (r"e^{z_{i}}", "e^(z_i)"),
        (r"\left(a + b\right)^{2}", "(a + b)^2"),
        (r"\frac{1}{4}", "1/4"),
        (r"\begin{pmatrix} 1 & 0 \\ 2 & 3 \end{pmatrix}", "([1, 0; 2, 3])"),
    ],
)
def test_formula_as_plain_text(latex, text):
    assert claim_formats.formula_to_text(latex) == text


def test_limit_as_plain_text():
    claim = {"start": r"\frac{6}{d}", "steps": [{"relation": r"\xrightarrow{d \to \infty}", "latex": "0"}]}
    assert claim_formats.to_text(claim) == "6/d → 0 as d → ∞"
    assert claim_formats.to_latex({"start": "p", "steps": [{"relation": r"\coloneqq", "latex": "q"}]}) == "p := q"


def test_quotes_in_descriptions_are_escaped():
    page = SimpleNamespace(meta={}, file=SimpleNamespace(src_uri="a.md"))
    site_exports_hook.on_page_markdown('# A\n\nA "word" & another.\n', page=page, config=SimpleNamespace(site_url=""))
    assert page.meta == {"description": "A &quot;word&quot; &amp; another."}
