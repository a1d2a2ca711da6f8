"""Code on pages: each fence is an include, each section is shown, each section is run by a test."""

from pathlib import Path

import pytest

from derivations.kernel.pages import lint

ROOT = Path(__file__).parents[2]


def typed_by_hand(root):
    return [str(one) for path in lint.pages(root) for one in lint.typed_by_hand(root, path)]


def unshown(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.unshown(root, topic)]


def unrun(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.unrun(root, topic)]


def misplaced(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.misplaced(root, topic)]


def stated_in_words(root):
    return [str(one) for topic in lint.topics_with_snippets(root) for one in lint.stated_in_words(root, topic)]


@pytest.mark.parametrize("check", [typed_by_hand, unshown, unrun, misplaced, stated_in_words])
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
    assert typed_by_hand(site) == unshown(site) == unrun(site) == misplaced(site) == []


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
def test_a_relation_in_a_docstring_or_a_comment_is_found_with_its_line(site, words):
    replace(site / "snippets/a/b.py", "    return 2 * a", f"    {words}\n    return 2 * a")
    line = next(
        k
        for k, text in enumerate((site / "snippets/a/b.py").read_text().split("\n"), 1)
        if any(s in text for s in ("= 1", "= z", "1 =", "0 ", "-> b"))
    )
    (found,) = stated_in_words(site)
    assert found.startswith(f"snippets/a/b.py:{line}: ") and ("states a relation" in found or "may be read as" in found)
    (site / "mkdocs.yml").write_text("markdown_extensions: []\n")
    assert found in [str(one) for one in lint.of_topic(site, "a/b", 1)]


@pytest.mark.parametrize(
    "words",
    [
        "# (n, d_k) (d_k, m) -> (n, m)",
        "# Sums ----------------",
        "x = 1  # noqa: F841",
        '"""Twice; see `f(x, dim=-1)`.\n\n    >>> double(1) == 2\n    True\n    """',
    ],
)
def test_words_and_shapes_state_nothing(site, words):
    replace(site / "snippets/a/b.py", "    return 2 * a", f"    {words}\n    return 2 * a")
    assert stated_in_words(site) == []


@pytest.mark.parametrize("opening", ['TEXT = """', "def outer():\n    return 1\n\n\n'''", "x = 1\n\n'''"])
def test_lines_that_define_nothing_for_the_module_are_found(site, opening):
    snippet = site / "snippets/a/b.py"
    replace(snippet, "# --8<-- [start:double]", f"{opening}\n# --8<-- [start:double]")
    replace(snippet, "# --8<-- [end:double]", f"# --8<-- [end:double]\n{opening[-3:]}\n\ndef double(a): return a + a")
    line = snippet.read_text().split("\n").index("def double(a):") + 1
    said = "double shows double, and these lines do not define it for its module; show the lines that do"
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
