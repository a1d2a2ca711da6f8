"""Test that each code block on a page is included from a file, that a page shows each section, and that a test runs each section."""

import random
import re
from functools import cache
from pathlib import Path

import pytest
from markdown import Markdown

from derivations.kernel.site import page_lint, unshown_code_lint
from derivations.kernel.site.added_imports import read_blocks
from derivations.kernel.site.included_regions import RECIPES, read_snippet
from derivations.kernel.site.page_source import PageError, Source
from derivations.kernel.snippet_source import parse

ROOT = Path(__file__).parents[2]


def typed_by_hand(root):
    return [str(one) for path in page_lint.read_pages(root) for one in page_lint.check_fences(root, path)]


def unshown(root):
    return [str(one) for topic in page_lint.topics_with_snippets(root) for one in page_lint.check_regions_shown(root, topic)]


def unrun(root):
    return [str(one) for topic in page_lint.topics_with_snippets(root) for one in page_lint.check_regions_run(root, topic)]


def misplaced(root):
    return [str(one) for topic in page_lint.topics_with_snippets(root) for one in page_lint.check_whole_statements(root, topic)]


def stated_in_words(root):
    return [str(one) for topic in page_lint.topics_with_snippets(root) for one in page_lint.check_words(root, topic)]


def wrongly_marked(root):
    return [str(one) for topic in [*page_lint.topics_with_snippets(root), RECIPES] for one in page_lint.check_marks(root, topic)]


def uses(root):
    return [
        str(one)
        for topic in page_lint.topics_with_snippets(root)
        for one in [*page_lint.check_used_code_shown(root, topic), *page_lint.check_import_calls_shown(root, topic)]
    ]


def misleading(root):
    return [str(one) for topic in page_lint.topics_with_snippets(root) for one in page_lint.check_meanings(root, topic)]


def taken(root):
    return [str(one) for path in page_lint.read_pages(root) for one in page_lint.check_familiar_names(root, path)]


@pytest.fixture
def cached_usage(monkeypatch):
    """Find out once what the pages show, instead of again for each topic and each page."""
    shown = cache(lambda root, shown=unshown_code_lint.find_shown_statements: shown(root, page_lint.read_pages(root)))
    monkeypatch.setattr(unshown_code_lint, "find_shown_statements", lambda root, pages: shown(root))


@pytest.mark.parametrize("check", [typed_by_hand, unshown, unrun, misplaced, stated_in_words, wrongly_marked, uses, taken, misleading])
def test_site_has_no_fault(check, cached_usage):
    assert len(page_lint.topics_with_snippets(ROOT)) > 40 and len(page_lint.read_pages(ROOT)) > 40
    assert check(ROOT) == []


# Each check on a small correct site, and on one with a fault ----------------------------------------------------------

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
$ make test
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


def test_correct_site_passes(site):
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
def test_handwritten_code_is_found(site, old, new):
    replace(site / "docs/a/b.md", old, new)
    assert typed_by_hand(site)


def test_section_that_no_page_shows_is_found(site):
    replace(site / "docs/a/b.md", "b.py:double", "b.py:add")
    assert unshown(site) == ["snippets/a/b.py:18: no page shows the section 'double'; show it in a fence, or delete its marks"]


def test_code_that_no_test_runs_is_found(site):
    replace(site / "tests/a/test_b.py", "assert b.double(2) == 4", "pass")
    assert unrun(site) == ["snippets/a/b.py:18: double: no test and no example uses double; test it"]


def test_import_does_not_count_as_running(site):
    (site / "tests/a/test_b.py").write_text("from snippets.a.b import double\n")
    assert unrun(site) == ["snippets/a/b.py:18: double: no test and no example uses double; test it"]


def test_example_that_doctest_does_not_run_is_found(site):
    snippet = site / "snippets/a/b.py"
    snippet.write_text("import math\n" + snippet.read_text())
    assert any("example is not in the docstring of its module, where doctest would run it" in one for one in unrun(site))


def test_message_for_handwritten_code_has_line_and_advice(site):
    replace(site / "docs/a/b.md", '--8<-- "snippets/a/b.py:add"', "x + y")
    replace(site / "docs/a/b.md", "```pycon", "```python")
    first, second = typed_by_hand(site)
    assert first.startswith("docs/a/b.md:3: expected an include of a section of snippets/") and "'x + y'" in first
    assert second == "docs/a/b.md:11: a section of output in a 'python' fence; open it with ```pycon"


def test_misspelt_section_is_reported_with_a_suggestion(site):
    replace(site / "docs/a/b.md", "b.py:add", "b.py:ad")
    (found,) = typed_by_hand(site)
    assert found.startswith("docs/a/b.md:3: snippets/a/b.py has no section 'ad'; did you mean add? It has ")


def test_examples_of_the_claim_language_are_included_from_recipes(site):
    recipes, page = site / "tests/kernel/language/recipes.py", site / "docs/a/b.md"
    recipes.parent.mkdir(parents=True)
    recipes.write_text("# --8<-- [start:one]\nx = 1\n# --8<-- [end:one]\n")
    page.write_text(page.read_text() + '\n```python\n--8<-- "tests/kernel/language/recipes.py:one"\n```\n')
    assert typed_by_hand(site) == []
    for wrong in ("recipes.py:two", "other.py:one"):
        text = page.read_text()
        replace(page, "recipes.py:one", wrong)
        assert len(typed_by_hand(site)) == 1
        page.write_text(text)


STATED = [
    "# 1 = 2",
    "x = 1  # softmax(z) = z",
    '"""The mean, so that softmax(z) = z and 0 = 1."""',
    '"""Twice.\n\n    It is `softmax(z) = z`.\n    """',
    '"""Twice.\n\n    >>> double(1)\n    2\n\n    So 0 == 1.\n    """',
    '"""Twice, with 0 ═ 1."""',
    "# 0 -- 1",
    "# (n, m) -> 0 = 1",
    "# a -> b",
]


@pytest.mark.parametrize("words", STATED)
def test_relation_in_docstring_or_comment_is_found_with_its_line(site, words):
    replace(site / "snippets/a/b.py", "    return 2 * a", f"    {words}\n    return 2 * a")
    line = next(
        k
        for k, text in enumerate((site / "snippets/a/b.py").read_text().split("\n"), 1)
        if any(s in text for s in ("= 1", "= z", "1 =", "0 ", "-> b"))
    )
    (found,) = stated_in_words(site)
    assert found.startswith(f"snippets/a/b.py:{line}: ") and ("states a relation" in found or "may be read as" in found)
    (site / "mkdocs.yml").write_text("markdown_extensions: []\n")
    assert found in [str(one) for one in page_lint.check_topic(site, "a/b", 1)]


IN_CODE = [
    'raise ValueError("softmax(z) = z")',
    'said = "twice: " "0 = 1"',
    'said = f"softmax({a}) = {a}"',
    'said = f"{a}" + " = 0"',
    'said = {"why": ["0 ═ 1"]}',
    'said = """Twice,\n    and 0 = 1."""',
    'said = f"{a=}"',
    'said = f"{a:>3} > 0"',
]


@pytest.mark.parametrize("code", IN_CODE)
def test_relation_in_string_of_a_section_is_found_with_its_line(site, code):
    replace(site / "snippets/a/b.py", "    return 2 * a", f"    {code}\n    return 2 * a")
    line = (site / "snippets/a/b.py").read_text().split("\n").index(f"    {code}".split("\n")[0]) + 1
    (found,) = stated_in_words(site)
    assert found.startswith(f"snippets/a/b.py:{line}: ") and ("states a relation" in found or "may be read as" in found)


def test_outside_sections_only_error_messages_are_checked(site):
    snippet = site / "snippets/a/b.py"
    snippet.write_text(snippet.read_text() + "\n\ndef other(a):\n    if a == '--all':\n        raise ValueError(f'{a} = 0')\n")
    (found,) = stated_in_words(site)
    assert "'a = 0' states a relation" in found


@pytest.mark.parametrize(
    "code",
    [
        'raise ValueError(f"expected the shape (n, d), found {tuple(a.shape)}; the layer takes (n, batch, d)")',
        'said = "(n, d) (d, m) -> (n, m)"',
        'said = f"{a:=^30} {a:<8}"',
        'a: Float[Tensor, "*batch n d_k"] = torch.einsum("ij, jk -> ik", a, a)',
    ],
)
def test_strings_with_shapes_state_no_relation(site, code):
    replace(site / "snippets/a/b.py", "    return 2 * a", f"    {code}\n    return 2 * a")
    assert stated_in_words(site) == []


@pytest.mark.parametrize(
    "words",
    [
        "# (n, d_k) (d_k, m) -> (n, m)",
        "# Sums ----------------",
        "x = 1  # noqa: F841",
        '"""Twice; see `f(x, dim=-1)`.\n\n    >>> double(1) == 2\n    True\n    """',
    ],
)
def test_comments_with_words_and_shapes_state_no_relation(site, words):
    replace(site / "snippets/a/b.py", "    return 2 * a", f"    {words}\n    return 2 * a")
    assert stated_in_words(site) == []


@pytest.mark.parametrize("opening", ['TEXT = """', "def outer():\n    return 1\n\n\n'''", "x = 1\n\n'''"])
def test_sections_inside_other_statements_are_found(site, opening):
    snippet = site / "snippets/a/b.py"
    replace(snippet, "# --8<-- [start:double]", f"{opening}\n# --8<-- [start:double]")
    replace(snippet, "# --8<-- [end:double]", f"# --8<-- [end:double]\n{opening[-3:]}\n\ndef double(a): return a + a")
    (found,) = misplaced(site)
    assert re.search(r"snippets/a/b\.py:(\d+): double shows some of the lines \1 to \d+, which are one statement; show all of them", found)
    assert unshown(site) == []


def test_code_of_a_claim_that_no_page_shows_is_found(site, monkeypatch):
    def claims(*names):
        content = {"claims": [{"id": "sum", "line": 7, "code": list(names)}]}
        monkeypatch.setattr(page_lint, "load", lambda topic: content)
        return [str(one) for one in page_lint.check_claimed_code_shown(site, "a/b")]

    assert claims("snippets.a.b.add", "snippets.a.b.double") == claims() == []
    said = "derivations/a/b.py:7: the claim 'sum' names {}, which no page shows; show it in a fence, or name a function that is shown"
    assert claims("snippets.a.b.example", "snippets.a.c.add") == [said.format("snippets.a.b.example"), said.format("snippets.a.c.add")]
    replace(site / "docs/a/b.md", "b.py:double", "b.py:add")
    assert claims("snippets.a.b.double") == [said.format("snippets.a.b.double")]


# Section marks: a page shows the text between them -----------------------------------------------------------------------------

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
def test_misplaced_marks_are_found(site, old, new, line, said):
    snippet = site / "snippets/a/b.py"
    replace(snippet, old, new)
    found = wrongly_marked(site)
    assert any(one.startswith(f"snippets/a/b.py:{line}: ") and said in one for one in found), found
    with pytest.raises(PageError, match=r"docs/a/b\.md:3: snippets/a/b\.py:\d+: "):
        read_blocks(Source(PAGE, site / "docs", site / "docs/a/b.md"), site)


def extracted(text, name):
    """Return what pymdownx.snippets includes."""
    md = Markdown(extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": {"check_paths": True}})
    (reader,) = [one for one in md.preprocessors if hasattr(one, "extract_section")]
    return "".join(f"{line}\n" for line in reader.extract_section(name, text.split("\n")))


def test_sections_equal_what_a_page_includes():
    for topic in page_lint.topics_with_snippets(ROOT):
        snippet = read_snippet(ROOT, topic)
        for name, region in snippet.regions.items():
            assert region.body == extracted(snippet.text, name)
            assert snippet.text.split("\n")[region.first - 1] == region.body.split("\n")[0]


def test_sections_of_random_marks_equal_what_a_page_includes():
    """Compare the lines where the marks are correct; where they are not, an error is reported."""
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
        snippet = parse("", text)
        if not snippet.mark_faults:
            good += bool(snippet.regions)
            assert all(region.body == extracted(text, name) for name, region in snippet.regions.items())
            assert sorted(snippet.regions) == sorted(name for name in "ab" if f"[start:{name}]" in text)
    assert good > 20


# Code that code on pages uses ----------------------------------------------------------------------------------------------------

HIDDEN = {
    "a function": ("def double(a):\n    return twice(a)\n", "\n\ndef twice(a):\n    return a\n", "'twice'"),
    "a constant": ("def double(a):\n    return TWO * a\n", "\nTWO = 3\n", "'TWO'"),
    "an object": ("def double(a):\n    return TWO @ a\n", "\n\nclass Two:\n    pass\n\n\nTWO = Two()\n", "'TWO'"),
    "a class that another one is of": ("class double(Two):\n    pass\n", "\n\nclass Two:\n    pass\n", "'Two'"),
    "from elsewhere": ("def double(a):\n    return twice(a)\n", "\nfrom snippets.a.c import twice\n", "'twice'"),
    "from elsewhere, within": ("def double(a):\n    from snippets.a.c import twice\n\n    return twice(a)\n", "", "'twice'"),
    "a module": ("def double(a):\n    return c.twice(a)\n", "\nfrom snippets.a import c\n", "'c'"),
    "all modules": ("def double(a):\n    return snippets.a.c.twice(a)\n", "\nimport snippets.a.c\n", "'snippets'"),
    "a default": ("def double(a, by=TWO):\n    return by * a\n", "\nTWO = 3\n", "'TWO'"),
    "through what is shown": ("def double(a):\n    return add(a, a)\n", "", "'plus'"),
}


@pytest.fixture
def claimed(site, monkeypatch):
    """Return the small site with a claim that names `double`, and another module that no page shows."""
    monkeypatch.setattr(page_lint, "load", lambda topic: {"claims": [{"id": "sum", "line": 7, "code": ["snippets.a.b.double"]}]})
    (site / "snippets/a/c.py").write_text("def twice(a):\n    return a\n")
    return site


def used_unshown(root):
    return [str(one) for one in page_lint.check_used_code_shown(root, "a/b")]


@pytest.mark.parametrize(("shown", "hidden", "said"), HIDDEN.values(), ids=HIDDEN)
def test_hidden_code_used_by_a_claimed_function_is_found(claimed, shown, hidden, said):
    assert used_unshown(claimed) == []
    snippet = claimed / "snippets/a/b.py"
    replace(snippet, "def double(a):\n    return 2 * a\n", shown)
    replace(snippet, "    return a + b\n", "    return plus(a, b)\n" if said == "'plus'" else "    return a + b\n")
    snippet.write_text(snippet.read_text() + hidden + ("\n\ndef plus(a, b):\n    return a - b\n" if said == "'plus'" else ""))
    found = used_unshown(claimed)
    start = "derivations/a/b.py:7: the claim 'sum' names snippets.a.b.double: snippets/a/b.py:"
    assert any(one.startswith(start) and f"uses {said}" in one for one in found), found


def test_code_used_by_a_claimed_function_may_be_on_another_page(claimed):
    replace(claimed / "snippets/a/b.py", "    return 2 * a\n", "    return TWO * twice(a)\n")
    (claimed / "snippets/a/c.py").write_text("# --8<-- [start:twice]\nTWO = 2\n\n\ndef twice(a):\n    return a\n# --8<-- [end:twice]\n")
    replace(claimed / "snippets/a/b.py", "\n\n# --8<-- [start:add]", "\nfrom snippets.a.c import TWO, twice\n\n\n# --8<-- [start:add]")
    assert len(used_unshown(claimed)) == 3  # two of the claim, and the function of the page
    (claimed / "docs/a/c.md").write_text('```python\n--8<-- "snippets/a/c.py:twice"\n```\n')
    assert used_unshown(claimed) == []


def test_hidden_code_used_by_code_on_a_page_is_found_without_a_claim(site):
    snippet = site / "snippets/a/b.py"
    replace(snippet, "    return 2 * a\n", "    return TWO * twice(a)\n")
    snippet.write_text(snippet.read_text() + "\nTWO = 2\n\n\ndef twice(a):\n    return a\n")
    (found,) = used_unshown(site)
    line = snippet.read_text().split("\n").index("def double(a):") + 1
    assert (
        found.startswith(f"snippets/a/b.py:{line}: on a page: ")
        and "uses 'twice', and no page shows its definition at snippets/a/b.py:26" in found
    )


@pytest.mark.parametrize("name", ["softmax", "silu", "relu", "mean", "average", "norm", "sqrt", "Linear"])
def test_pytorch_function_must_be_shown_or_linked_where_used(claimed, name):
    replace(claimed / "snippets/a/b.py", "    return 2 * a\n", f"    return {name}(a)\n")
    replace(claimed / "snippets/a/b.py", "\n\n# --8<-- [start:add]", f"\nfrom snippets.a.c import {name}\n\n\n# --8<-- [start:add]")
    (claimed / "snippets/a/c.py").write_text(f"# --8<-- [start:one]\ndef {name}(a):\n    return 2 * a\n# --8<-- [end:one]\n")
    other, page = claimed / "docs/c/c.md", claimed / "docs/a/b.md"
    other.parent.mkdir()
    other.write_text('# Other\n\n```python\n--8<-- "snippets/a/c.py:one"\n```\n')
    assert used_unshown(claimed) == []
    (found,) = taken(claimed)
    assert found.startswith("docs/a/b.md:7: snippets/a/b.py:") and f"the snippets' own {name!r}" in found
    text = page.read_text()
    page.write_text(text + "\n[This](../c/c.md#one) says what it is.\n")
    assert taken(claimed) == []
    page.write_text(text + '\n```python\n--8<-- "snippets/a/c.py:one"\n```\n')
    assert taken(claimed) == []
    page.write_text(text + "\n[This](../c/d.md#one) says nothing.\n")
    assert len(taken(claimed)) == 1


def loaded_unshown(root):
    return [str(one) for topic in page_lint.topics_with_snippets(root) for one in page_lint.check_import_calls_shown(root, topic)]


@pytest.mark.parametrize(
    "line",
    ["DONE = add(1, 2)", "DONE = [add(1, 2)]", "def done(a=add(1, 2)):\n    pass", "class Done:\n    one = add(1, 2)", "DONE = TABLE.update(a=1)",
     "if True:\n    DONE = add(1, 2)", "@add(1, 2)\ndef done():\n    pass", "from pathlib import Path\n\nDONE = Path('a').unlink()"],
)  # fmt: skip
def test_hidden_code_called_at_import_is_found(site, line):
    snippet = site / "snippets/a/b.py"
    assert loaded_unshown(site) == []
    snippet.write_text(f"{snippet.read_text()}\n\n{line}\n")
    (found,) = loaded_unshown(site)
    assert "is called when the module is imported, and no page shows these lines" in found
    replace(snippet, line, f"# --8<-- [start:done]\n{line}\n# --8<-- [end:done]")
    replace(site / "docs/a/b.md", "b.py:double", "b.py:done")
    assert loaded_unshown(site) == []


def test_file_paths_need_not_be_shown(site):
    snippet = site / "snippets/a/b.py"
    snippet.write_text(
        snippet.read_text() + "\nfrom pathlib import Path\n\nHERE = Path(__file__).parent\n\nif __name__ == '__main__':\n    add(1, 2)\n"
    )
    assert loaded_unshown(site) == []
    replace(snippet, "from pathlib import", "from snippets.a.c import")
    assert len(loaded_unshown(site)) == 1


CUT = {
    "lines below": ("    return 2 * a\n# --8<-- [end:double]", "    a = 2 * a\n# --8<-- [end:double]\n    return a * a"),
    "a decorator above": ("# --8<-- [start:double]\n", "@staticmethod\n# --8<-- [start:double]\n"),
    "lines of a constant": ("# --8<-- [end:double]", "TWO = [\n    2,\n# --8<-- [end:double]\n    3,\n]"),
    "a method": (
        "    return 2 * a\n# --8<-- [end:double]",
        "    return 2 * a\n\n\nclass Two:\n    two = 2\n# --8<-- [end:double]\n    two = 3",
    ),
}


@pytest.mark.parametrize(("old", "new"), CUT.values(), ids=CUT)
def test_section_that_cuts_a_statement_is_found(site, old, new):
    replace(site / "snippets/a/b.py", old, new)
    found = misplaced(site)
    assert any("double shows some of the lines" in one for one in found), found


# Examples that change the meaning of the lines after them, or call another function by a name that every reader knows.
MISLEADING = {
    "torch.testing.assert_close = print": "an example assigns 'torch.testing.assert_close'",
    "torch.allclose = torch.is_same_size": "an example assigns 'torch.allclose'",
    "for torch.allclose in [print]: pass": "an example assigns 'torch.allclose'",
    "del torch.allclose": "an example assigns 'torch.allclose'",
    "held = torch.testing\n>>> held.assert_close = print": "an example assigns 'held.assert_close'",
    "held = type(torch.nn.Softmax(-1))\n>>> held.forward = print": "an example assigns 'held.forward'",
    "layer = torch.nn.Softmax(-1)\n>>> layer = torch.nn\n>>> layer.Softmax = print": "an example assigns 'layer.Softmax'",
    "torch.overrides.held['a'] = print": "an example assigns",
    "import sys\n>>> sys.modules['torch'].allclose = print": "an example assigns",
    "torch.set_default_dtype(torch.float64)": "'set_default_dtype'",
    "from torch import set_default_dtype": "'set_default_dtype'",
    "from torch.nn.modules.module import register_module_forward_hook": "'register_module_forward_hook'",
    "def softmax(z):\n...     return z": "readers know 'softmax' as another function",
    "class softmax:\n...     pass": "readers know 'softmax' as another function",
    "softmax = lambda z: z": "readers know 'softmax' as another function",
    "softmax = torch.relu": "readers know 'softmax' as another function",
    "held = torch.relu\n>>> softmax = held": "readers know 'softmax' as another function",
    "softmax, z = torch.relu, 1": "readers know 'softmax' as another function",
    "for softmax in (torch.relu, torch.tanh): pass": "readers know 'softmax' as another function",
    "[softmax for softmax in [torch.relu]]": "readers know 'softmax' as another function",
    "import functools\n>>> softmax = functools.partial(torch.relu)": "readers know 'softmax' as another function",
    "(lambda softmax: softmax(1))(torch.relu)": "readers know 'softmax' as a function, and these examples call it",
    "softmax = {}.get(0)\n>>> softmax and softmax(1)": "readers know 'softmax' as a function, and these examples call it",
    "print = str.upper": "readers know 'print' as a",
    "bool = str": "readers know 'bool' as another function",
    "abs = torch.relu": "readers know 'abs' as another function",
}


@pytest.mark.parametrize("example", MISLEADING)
@pytest.mark.parametrize("where", ["the module's docstring", "a function's"])
def test_misleading_example_is_found(site, example, where):
    snippet = site / "snippets/a/b.py"
    assert misleading(site) == []
    if where == "a function's":
        text = f'\n\ndef nothing():\n    """Nothing.\n\n    >>> {example.replace(chr(10), chr(10) + "    ")}\n    """\n'
        snippet.write_text(snippet.read_text() + text)
    else:
        replace(snippet, "3\n\n", f"3\n>>> {example}\n\n")
    first = 1 + snippet.read_text()[: snippet.read_text().index(example.partition("\n")[0])].count("\n")
    assert any(MISLEADING[example] in one for one in misleading(site)), misleading(site)
    lines = range(first, first + example.count("\n") + 1)
    assert {int(one.split(":")[1]) for one in misleading(site)} <= {*lines}


@pytest.mark.parametrize(
    "example",
    ["mean, rank = add(1, 2), 3", "eye = torch.eye(2)", "for dtype in (torch.float16, torch.float32): pass", "largest = torch.finfo().max",
     "layer = torch.nn.Linear(2, 2)\n>>> layer.bias = None", "z = torch.ones(2)\n>>> z.requires_grad = True\n>>> z.grad = None",
     "layer = torch.nn.Linear(2, 2)\n>>> layer.weight = torch.nn.Parameter(torch.eye(2))", "z = torch.ones(2)\n>>> z.data = z + 1", "mask = torch.ones(2).bool()\n>>> mask[0] = False", "t = {}.get(0)",
     "[gradient + 1 for gradient in torch.ones(2)]", "from torch.nn.functional import softmax\n>>> softmax(torch.ones(1), dim=0)"],
)  # fmt: skip
def test_harmless_names_in_examples_pass(site, example):
    replace(site / "snippets/a/b.py", "3\n\n", f"3\n>>> {example}\n\n")
    assert misleading(site) == []


def test_snippets_without_claims_are_checked_too(site):
    snippet = site / "snippets/a/b.py"
    snippet.write_text(snippet.read_text() + "\n\ndouble = add\n")
    assert misleading(site) == [
        "snippets/a/b.py:24: 'double' is bound here and on line 19, so a page would show one thing and another one be run; bind each name once"
    ]


def test_snippet_code_in_examples_must_be_shown(site):
    (site / "snippets/a/c.py").write_text("def softmax(z):\n    return z\n\n\ndef triple(z):\n    return 3 * z\n")
    for line in (
        "from snippets.a.c import triple",
        "from snippets.a import c\n>>> c.triple(1)\n3",
        "import snippets.a.c\n>>> snippets.a.c.triple(1)\n3",
    ):
        (site / "snippets/a/b.py").write_text(SNIPPET.replace("3\n\n", f"3\n>>> {line}\n\n"))
        (found,) = misleading(site)
        assert "an example uses 'triple', and no page shows its definition at snippets/a/c.py:5" in found
    assert taken(site) == []
    for line in ("from snippets.a.c import softmax", "from snippets.a import c\n>>> c.softmax(1)\n1"):
        (site / "snippets/a/b.py").write_text(SNIPPET.replace("3\n\n", f"3\n>>> {line}\n\n"))
        (found,) = taken(site)
        assert "uses the snippets' own 'softmax'" in found
