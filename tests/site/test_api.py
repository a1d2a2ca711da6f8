"""Tests of the block that documents the snippets: it reads them without running them, escapes them, and checks them like any page."""

import ast
import re
from html import unescape
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import pytest

from derivations.kernel.command import new_topic
from derivations.kernel.site.api_reference import PAGES, ApiError, add_heading, find_modules, render_module

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted({path.parent.name for path in (ROOT / "snippets").glob("*/*.py")})
SNIPPET = '''"""About sums.

More, which the page of the topic says.
"""

import missing_from_every_machine

raise SystemExit("this file is read, and not run")


def add(a: "Tensor", b: "Tensor" = None, *, scale: int = 1) -> "Tensor":
    """The sum of two, `a + b`: (..., n) & `<b>no markup</b>`.

    A second paragraph.

    >>> add(1, 2)
    3
    """


class Module(Base):
    """A module & its parts."""

    def forward(self, x):
        """Forward."""

    def undocumented(self, x): ...


class Made:
    """One that is made."""

    def __init__(self, size: int) -> None:
        """Not shown."""


def _own():
    """Nobody's business."""
'''


def words(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:h2|p|dt|pre|dd)>", " ", html))).split())


@pytest.fixture
def planted(tmp_path):
    """Return a function that renders the block for one snippet with the given source."""

    def make(source=SNIPPET, page=True):
        for name, text in {"snippets/a/b.py": source, "docs/a/b.md": "# B\n"}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if not page:
            (tmp_path / "docs/a/b.md").unlink()
        heading = Element("div")
        add_heading(heading, tmp_path / "snippets/a/b.py", tmp_path / "docs", PAGES)
        return tostring(heading, encoding="unicode") + render_module(tmp_path / "snippets/a/b.py")

    return make


def test_signatures_and_docstrings_are_shown_without_running_code(planted):
    html = planted()
    assert words(html) == (
        "snippets.a.b About sums. add(a: Tensor, b: Tensor = None, *, scale: int = 1) -> Tensor The sum of two, a + b: (..., n) & "
        "<b>no markup</b>. A second paragraph. >>> add(1, 2) 3 class Module A module & its parts. Module.forward(x) Forward. Made(size: int) One that is made."
    )
    assert "<b>" not in html and "&amp;" in html and "<code>a + b</code>" in html


def test_module_links_to_the_page_that_shows_it(planted):
    assert '<a href="../../a/b.md">' in planted()
    assert "<a " not in planted(page=False)


@pytest.mark.parametrize("text", ["so a = b", "a < b", "a ≤ b", "`code` and then a = b"])
def test_relation_in_docstring_is_rejected(planted, text):
    with pytest.raises(ApiError, match=r"^the docstring of snippets\.a\.b\.add states a relation \(.\) outside of `backticks`"):
        planted(SNIPPET.replace("A second paragraph.", text))
    with pytest.raises(ApiError, match=r"^the docstring of snippets\.a\.b states a relation"):
        planted(SNIPPET.replace("About sums.", text))
    assert planted(SNIPPET.replace("A second paragraph.", f"`{text.replace('`', '')}`"))


@pytest.mark.parametrize("argument", [" | nothing", " | ../derivations/simplify"])
def test_unknown_chapter_is_rejected_with_a_list_of_chapters(refused, argument):
    assert re.fullmatch(
        r"docs/notes/page\.md:3: expected '/// api \| CHAPTER' with a chapter of around, associativity, .*, found '.*'",
        refused(f"# Title\n\n/// api{argument}\n///\n"),
    )


def test_block_is_rendered_on_a_page(page):
    html = page("# Title\n\n/// api | simplify\n///\n\nText.\n")
    assert re.search(r'<h2 id="snippets\.simplify\.bilinear">.*snippets\.simplify\.bilinear</code>', html)
    assert 'id="snippets.simplify.bilinear.merge_projections"' in html and "\x02" not in html and html.endswith("<p>Text.</p>")


def test_index_links_to_the_page_of_each_chapter_and_to_each_module(page):
    html = page("# Title\n\n/// api\n///\n", name=f"{PAGES}.md")
    links = re.findall(r'<a href="([^"#]*)#?([^"]*)"><code>([^<]*)</code>', html)
    assert [name for _, anchor, name in links if not anchor] == [f"snippets.{chapter}" for chapter in CHAPTERS]
    assert [one for one in links if one[1]] == [
        (f"snippets/{chapter}.md", f"snippets.{chapter}.{path.stem}", path.stem) for chapter in CHAPTERS for path in find_modules(chapter)
    ]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_page_of_a_chapter_lists_all_its_public_functions(page, chapter):
    text = (ROOT / f"docs/{PAGES}/{chapter}.md").read_text(encoding="utf-8")
    assert text == new_topic.fill(new_topic.REFERENCE, {"{chapter}": chapter})
    html = page(text, name=f"{PAGES}/{chapter}.md")
    for path in (ROOT / "snippets" / chapter).glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and ast.get_docstring(node):
                assert f'id="snippets.{chapter}.{path.stem}.{node.name}"' in html


def test_reference_lists_every_word_of_the_claim_language():
    import derivations.kernel as kernel

    text = (ROOT / "docs/contributing/language.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: derivations\.kernel\.(\w+)$", text, flags=re.M)) == sorted(kernel.__all__)


@pytest.mark.parametrize("generator", ["built", pytest.param("zensical", marks=pytest.mark.slow)])
def test_both_generators_render_the_reference_and_the_snippets(request, generator):
    import derivations.kernel as kernel

    site = request.getfixturevalue(generator)
    language = (site / "contributing/language/index.html").read_text(encoding="utf-8")
    for name in kernel.__all__:
        assert re.search(rf'id="derivations\.kernel\.{name}"', language), name
    for method in ("define", "identity", "chain", "inequality", "limit", "refute"):
        assert f'id="derivations.kernel.Derivation.{method}"' in language
    assert ":::" not in language and "\x02" not in language and "doctest:" not in language
    snippets = (site / "contributing/snippets/index.html").read_text(encoding="utf-8")
    assert "A section is the code between two comments" in snippets and "[end:name]" in snippets  # the line of a section mark is removed
    for chapter in CHAPTERS:
        html = (site / PAGES / chapter / "index.html").read_text(encoding="utf-8")
        assert html.count('<section class="api"') == len(find_modules(chapter)) == html.count('class="headerlink" href="#snippets.')
        assert re.search(rf'<a href="(\.\./snippets/)?{chapter}/">', snippets)
