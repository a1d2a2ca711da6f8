"""Tests of the block that documents the snippets: it reads them without running them, escapes them, and checks them like any page."""

import ast
import re
from html import unescape
from pathlib import Path

import pytest

from derivations.kernel.site.api_reference import ApiError, render_api

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
    return " ".join(unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:p|dt|pre|dd)>", " ", html))).split())


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
        return render_api(tmp_path / "docs", "a", "contributing/snippets", tmp_path)

    return make


def test_signatures_and_docstrings_are_shown_without_running_code(planted):
    html = planted()
    assert words(html) == (
        "snippets.a.b About sums. add(a: Tensor, b: Tensor = None, *, scale: int = 1) -> Tensor The sum of two, a + b: (..., n) & "
        "<b>no markup</b>. A second paragraph. >>> add(1, 2) 3 class Module A module & its parts. Module.forward(x) Forward. Made(size: int) One that is made."
    )
    assert "<b>" not in html and "&amp;" in html and "<code>a + b</code>" in html


def test_module_links_to_the_page_that_shows_it(planted):
    assert '<a href="../../a/b/">' in planted()
    assert "<a " not in planted(page=False)


@pytest.mark.parametrize("text", ["so a = b", "a < b", "a ≤ b", "`code` and then a = b"])
def test_relation_in_docstring_is_rejected(planted, text):
    with pytest.raises(ApiError, match=r"^the docstring of snippets\.a\.b\.add states a relation \(.\) outside of `backticks`"):
        planted(SNIPPET.replace("A second paragraph.", text))
    with pytest.raises(ApiError, match=r"^the docstring of snippets\.a\.b states a relation"):
        planted(SNIPPET.replace("About sums.", text))
    assert planted(SNIPPET.replace("A second paragraph.", f"`{text.replace('`', '')}`"))


@pytest.mark.parametrize("argument", ["", " | nothing", " | ../derivations/simplify"])
def test_unknown_chapter_is_rejected_with_a_list_of_chapters(refused, argument):
    assert re.fullmatch(
        r"docs/notes/page\.md:3: expected '/// api \| CHAPTER' with a chapter of around, associativity, .*, found '.*'",
        refused(f"# Title\n\n/// api{argument}\n///\n"),
    )


def test_block_is_rendered_on_a_page(page):
    html = page("# Title\n\n/// api | simplify\n///\n\nText.\n")
    assert 'id="snippets.simplify.bilinear.merge_projections"' in html and "\x02" not in html and html.endswith("<p>Text.</p>")


def test_page_lists_all_public_functions_of_every_chapter():
    text = (ROOT / "docs/contributing/snippets.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^/// api \| (\w+)$", text, flags=re.M)) == CHAPTERS
    for chapter in CHAPTERS:
        html = render_api(ROOT / "docs", chapter, "contributing/snippets")
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
    assert snippets.count('<section class="api"') == len([p for p in (ROOT / "snippets").glob("*/*.py") if p.name != "__init__.py"])
