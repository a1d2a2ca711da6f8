"""Code on pages: each fence is an include, each section is shown, each section is run by a test."""

import random
from pathlib import Path

import pytest
from markdown import Markdown

from derivations.kernel.pages import lint
from derivations.kernel.pages.regions import RECIPES, mismarked, sections, text_of
from derivations.kernel.pages.source import PageError, Source
from derivations.kernel.pages.standing import blocks

ROOT = Path(__file__).parents[2]


def typed_by_hand(root):
    return [str(one) for path in lint.pages(root) for one in lint.typed_by_hand(root, path)]


def unshown(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.unshown(root, topic)]


def unrun(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.unrun(root, topic)]


def misplaced(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.misplaced(root, topic)]


def wrongly_marked(root):
    return [str(one) for topic in [*lint.topics_with_snippets(root), RECIPES] for one in lint.wrongly_marked(root, topic)]


@pytest.mark.parametrize("check", [typed_by_hand, unshown, unrun, misplaced, wrongly_marked])
def test_the_site(check):
    assert len(lint.topics_with_snippets(ROOT)) > 40 and len(lint.pages(ROOT)) > 40
    assert check(ROOT) == []


# Each check on a small site that is in order, and on one with a fault in it ---------------------------------------------

SNIPPET = '''"""About sums.

--8<-- [start:example]
>>> from snippets.a.b import add
>>> add(1, 2)
3

--8<-- [end:example]
"""


# --8<-- [start:add]
def add(a, b):
    return a + b
# --8<-- [end:add]


# --8<-- [start:double]
def double(a):
    return 2 * a
# --8<-- [end:double]
'''
PAGE = """# Sums

```python
--8<-- "snippets/a/b.py:add"
```

```python
--8<-- "snippets/a/b.py:double"
```

```pycon
--8<-- "snippets/a/b.py:example"
```

```console
make test
```
"""
TEST = "from snippets.a import b\n\ndef test_double():\n    assert b.double(2) == 4\n"


@pytest.fixture
def site(tmp_path):
    for name, text in {"snippets/a/b.py": SNIPPET, "docs/a/b.md": PAGE, "tests/a/test_b.py": TEST}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_site_in_order(site):
    assert typed_by_hand(site) == unshown(site) == unrun(site) == misplaced(site) == wrongly_marked(site) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('--8<-- "snippets/a/b.py:add"', "x + y"),
        ('--8<-- "snippets/a/b.py:add"', '--8<-- "snippets/a/b.py:add"\nx + y'),
        ('--8<-- "snippets/a/b.py:add"', '--8<-- "snippets/a/b.py:nothing"'),
        ('--8<-- "snippets/a/b.py:add"', '--8<-- "snippets/a/b.py"'),
        ('```python\n--8<-- "snippets/a/b.py:add"\n```', "~~~~py\nx\n~~~~"),
        ('```python\n--8<-- "snippets/a/b.py:add"\n```', "```\nx\n```"),
        ('```python\n--8<-- "snippets/a/b.py:add"\n```', "- x\n\n    ```python\n    x\n    ```"),
        ("```pycon", "```python"),
        ("# Sums", "<pre>x + y</pre>"),
        ("# Sums", "```python\nx + y"),
    ],
)
def test_code_typed_by_hand_is_found(site, old, new):
    replace(site / "docs/a/b.md", old, new)
    assert typed_by_hand(site)


def test_a_section_that_no_page_shows_is_found(site):
    replace(site / "docs/a/b.md", "b.py:double", "b.py:add")
    assert unshown(site) == ["snippets/a/b.py:18: no page shows the section 'double'; show it in a fence, or take its marks away"]


def test_code_that_no_test_runs_is_found(site):
    replace(site / "tests/a/test_b.py", "assert b.double(2) == 4", "pass")
    assert unrun(site) == ["snippets/a/b.py:18: double: double is in no test and no example; test it"]


def test_an_import_runs_nothing(site):
    (site / "tests/a/test_b.py").write_text("from snippets.a.b import double\n")
    assert unrun(site) == ["snippets/a/b.py:18: double: double is in no test and no example; test it"]


def test_output_that_doctest_does_not_run_is_found(site):
    snippet = site / "snippets/a/b.py"
    snippet.write_text("import math\n" + snippet.read_text())
    assert any("example is not in the docstring of its module, where doctest would run it" in one for one in unrun(site))


def test_a_fence_typed_by_hand_is_named_with_its_line_and_what_to_do(site):
    replace(site / "docs/a/b.md", '--8<-- "snippets/a/b.py:add"', "x + y")
    replace(site / "docs/a/b.md", "```pycon", "```python")
    first, second = typed_by_hand(site)
    assert first.startswith("docs/a/b.md:3: expected an include of a section of snippets/") and "'x + y'" in first
    assert second == "docs/a/b.md:11: a section of output in a 'python' fence; open it with ```pycon"


def test_a_section_s_typo_is_named_with_the_one_that_was_meant(site):
    replace(site / "docs/a/b.md", "b.py:add", "b.py:ad")
    (found,) = typed_by_hand(site)
    assert found.startswith("docs/a/b.md:3: snippets/a/b.py has no section 'ad'; did you mean add? It has ")


def test_an_example_of_the_language_is_an_include_of_its_recipes(site):
    recipes, page = site / "tests/kernel/recipes.py", site / "docs/a/b.md"
    recipes.parent.mkdir()
    recipes.write_text("# --8<-- [start:one]\nx = 1\n# --8<-- [end:one]\n")
    page.write_text(page.read_text() + '\n```python\n--8<-- "tests/kernel/recipes.py:one"\n```\n')
    assert typed_by_hand(site) == []
    for wrong in ("recipes.py:two", "other.py:one"):
        text = page.read_text()
        replace(page, "recipes.py:one", wrong)
        assert len(typed_by_hand(site)) == 1
        page.write_text(text)


@pytest.mark.parametrize("opening", ['TEXT = """', "def outer():\n    return 1\n\n\n'''", "x = 1\n\n'''"])
def test_lines_that_define_nothing_for_the_module_are_found(site, opening):
    snippet = site / "snippets/a/b.py"
    replace(snippet, "# --8<-- [start:double]", f"{opening}\n# --8<-- [start:double]")
    replace(snippet, "# --8<-- [end:double]", f"# --8<-- [end:double]\n{opening[-3:]}\n\ndef double(a): return a + a")
    line = snippet.read_text().split("\n").index("def double(a):") + 1
    said = "double shows double, and these lines do not define it for its module; show the lines that do, all of them"
    assert misplaced(site) == [f"snippets/a/b.py:{line}: {said}"] and unrun(site) == unshown(site) == []


def test_code_that_a_claim_names_and_no_page_shows_is_found(site, monkeypatch):
    def claims(*names):
        content = {"claims": [{"id": "sum", "line": 7, "code": list(names)}]}
        monkeypatch.setattr(lint, "load", lambda topic: content)
        return [str(one) for one in lint.claimed_unshown(site, "a/b")]

    assert claims("snippets.a.b.add", "snippets.a.b.double") == claims() == []
    said = "derivations/a/b.py:7: the claim 'sum' names {}, and no page shows its lines; show them in a fence, or name what is shown"
    assert claims("snippets.a.b.example", "snippets.a.c.add") == [said.format("snippets.a.b.example"), said.format("snippets.a.c.add")]
    replace(site / "docs/a/b.md", "b.py:double", "b.py:add")
    assert claims("snippets.a.b.double") == [said.format("snippets.a.b.double")]


# Marks of sections: what a page shows is what stands between them ---------------------------------------------------------------

MARKS = {
    "behind a line that runs": ("    return a + b\n", "    a = 2 * a  # --8<-- [start:scaled]\n    return a + b\n", 14,
                                "'a = 2 * a  # --8<-- [start:scaled]' holds a mark, so a page leaves the line out"),
    "behind an example": (">>> add(1, 2)\n", ">>> a = 5  # --8<-- [start:five]\n>>> add(1, 2)\n", 5, "holds a mark"),
    "another form of marks": ("--8<-- [start:example]", "-8<- [ start : add ]\nadd = max\n-8<- [ end : add ]\n\n--8<-- [start:example]", 3,
                              "'-8<- [ start : add ]' holds a mark"),
    "capital letters": ("# --8<-- [end:double]", "# --8<-- [END:double]", 21, "holds a mark"),
    "put aside": ("    return a + b\n", "    # ;--8<-- [start:scaled]\n    return a + b\n", 14, "holds a mark"),
    "an include": (">>> add(1, 2)\n", '--8<-- "docs/a/b.md"\n>>> add(1, 2)\n', 5, "holds a mark"),
    "set in": ("    return a + b\n", "    # --8<-- [start:scaled]\n    return a + b\n    # --8<-- [end:scaled]\n", 14, "holds a mark"),
    "a name twice": ("[start:double]", "[start:add]", 18, "'add' begins on line 12 already"),
    "left open": ("# --8<-- [end:double]\n", "", 18, "'double' is left open"),
    "closed twice": ("# --8<-- [end:double]\n", "# --8<-- [end:double]\n# --8<-- [end:double]\n", 22, "'double' is not open"),
    "one in another": ("    return a + b\n", "# --8<-- [start:inner]\n    return a + b\n# --8<-- [end:inner]\n", 14, "'inner' begins within 'add'"),
    "in a text": ("# --8<-- [start:double]", 'TEXT = """\n# --8<-- [start:double]\n"""', 19, "is no comment"),
    "no comment": ("# --8<-- [start:double]", "'''\n--8<-- [start:double]\n'''", 19, "stands in code"),
    "a comment in the docstring": ("--8<-- [start:example]", "# --8<-- [start:example]", 3, "is no comment"),
    "an example that is not run": (">>> add(1, 2)\n3", ">>> add(1, 2)  # doctest: +SKIP\n4", 5, "a directive of doctest"),
    "an example of which little is compared": (">>> add(1, 2)\n3", ">>> add(1, 2)  #doctest:+ELLIPSIS\n...", 5, "a directive of doctest"),
    "words in an example": ("3\n\n--8<-- [end", "3\n\nsoftmax(z) = z\n\n--8<-- [end", 3, "'softmax(z) = z' is neither typed nor what is given"),
    "words alone": (">>> from snippets.a.b import add\n>>> add(1, 2)\n3", "softmax(z) = z", 3, "'softmax(z) = z' is neither typed"),
    "another text than the docstring": (">>> add(1, 2)\n", ">>> add(1,\\x20 2)\n", 3, "reads otherwise where it is run"),
    "an example in code": ("def double(a):\n", "def double(a):\n    # >>> double(2)\n    # 5\n", 18, "'>>>' in code"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "said"), MARKS.values(), ids=MARKS)
def test_marks_that_are_not_alone_are_found(site, old, new, line, said):
    snippet = site / "snippets/a/b.py"
    replace(snippet, old, new)
    found = wrongly_marked(site)
    assert any(one.startswith(f"snippets/a/b.py:{line}: ") and said in one for one in found), found
    with pytest.raises(PageError, match=r"docs/a/b\.md:3: snippets/a/b\.py:\d+: "):
        blocks(Source(PAGE, site / "docs", site / "docs/a/b.md"), site)


def extracted(text, name):
    """What pymdownx.snippets includes."""
    md = Markdown(extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": {"check_paths": True}})
    (reader,) = [one for one in md.preprocessors if hasattr(one, "extract_section")]
    return "".join(f"{line}\n" for line in reader.extract_section(name, text.split("\n")))


def test_sections_are_what_a_page_includes():
    for topic in lint.topics_with_snippets(ROOT):
        text = text_of(ROOT / "snippets" / f"{topic}.py")
        for name, section in sections(text).items():
            assert section.body == extracted(text, name)
            assert text.split("\n")[section.first - 1] == section.body.split("\n")[0]


def test_sections_of_any_marks_are_what_a_page_includes():
    """Where the marks are in order; where they are not, that is said."""
    draw, good = random.Random(0), 0
    lines = [
        "x = 1",
        "",
        *(f"{before}--8<-- [{kind}:{name}]" for before in ("# ", "x = 1  # ") for kind in ("start", "end") for name in "ab"),
    ]
    whole = [lines[2], "x = 1", lines[4], "", lines[3], "x = 2", "", lines[5]]
    for _ in range(1000):
        kept = [line for line in whole for line in draw.choice([[line]] * 9 + [[], [line, draw.choice(lines)], [draw.choice(lines)]])]
        text = "".join(f"{line}\n" for line in kept)
        if not mismarked(text):
            good += bool(sections(text))
            assert all(section.body == extracted(text, name) for name, section in sections(text).items())
            assert sorted(sections(text)) == sorted(name for name in "ab" if f"[start:{name}]" in text)
    assert good > 20
