"""Code on pages: each fence is an include, each section is shown, each section is run by a test."""

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^[ \t]*(?P=fence)[ \t]*$", re.M | re.S)
INCLUDE = re.compile(r'\s*--8<-- "(?:snippets/)?(?P<topic>(?<=snippets/)[\w/]+|tests/kernel/recipes)\.py:(?P<section>[\w-]+)"\s*')
SECTION = re.compile(r"^[# ]*--8<-- \[start:(?P<name>[\w-]+)\][^\n]*\n(?P<body>.*?)^[# ]*--8<-- \[end:(?P=name)\]", re.M | re.S)

# The claim language's examples are a script; each of its claims is checked by test_recipes.py beside it.
RECIPES = "tests/kernel/recipes"

# What a reader types in a terminal is no code of ours.
BY_HAND = {"console", "text"}


def sections(root):
    """Every named section of every snippet: (topic, name) to its text."""
    found = {}
    for path in sorted((root / "snippets").rglob("*.py")):
        topic = path.relative_to(root / "snippets").with_suffix("").as_posix()
        found |= {(topic, match["name"]): match["body"] for match in SECTION.finditer(path.read_text(encoding="utf-8"))}
    recipes = root / f"{RECIPES}.py"
    if recipes.exists():
        found |= {(RECIPES, match["name"]): match["body"] for match in SECTION.finditer(recipes.read_text(encoding="utf-8"))}
    return found


def pages(root):
    return {path: path.read_text(encoding="utf-8") for path in sorted((root / "docs").rglob("*.md"))}


def typed_by_hand(root):
    """Fences that are no include, includes of nothing, and markup that would be a way around a fence."""
    known, wrong = sections(root), []
    for path, text in pages(root).items():
        for fence in FENCE.finditer(text):
            place = f"{path.relative_to(root)}:{text.count(chr(10), 0, fence.start()) + 1}"
            include = INCLUDE.fullmatch(fence["body"])
            section = include and known.get((include["topic"], include["section"]))
            language = re.split(r"[\s{]", fence["info"].strip())[0]
            if language in BY_HAND:
                continue
            if section is None:
                wrong.append(f"{place}: expected an include of a section of snippets/, found {fence['body'].strip()[:40]!r}")
            elif language != ("pycon" if ">>>" in section else "python"):
                wrong.append(f"{place}: a section of {'output' if '>>>' in section else 'code'} in a {language!r} fence")
        rest = FENCE.sub("", text)
        wrong += [f"{path.relative_to(root)}: {tag} by hand" for tag in re.findall(r"<pre|<code|--8<--|~~~|```", rest)]
    return wrong


def unshown(root):
    """Sections that no page shows."""
    shown = {(include["topic"], include["section"]) for text in pages(root).values() for include in INCLUDE.finditer(text)}
    return sorted(f"{topic}:{name}" for topic, name in sections(root).keys() - shown)


def unrun(root):
    """Sections that no test runs: output outside a docstring, or code of which some function is never used by the
    topic's tests or examples. To be imported is not enough."""
    wrong = []
    for (topic, name), text in sections(root).items():
        if topic == RECIPES:
            tests = root / "tests/kernel/test_recipes.py"
            if not tests.exists() or 'load_script(HERE / "recipes.py")' not in tests.read_text(encoding="utf-8"):
                wrong.append(f"{topic}:{name} is in no script that a test loads")
            continue
        snippet = (root / "snippets" / f"{topic}.py").read_text(encoding="utf-8")
        examples = "".join(f"{example.source}" for example in doctest.DocTestParser().get_examples(docstring(snippet)))
        if ">>>" in text:
            if not all(example.source in examples for example in doctest.DocTestParser().get_examples(text)):
                wrong.append(f"{topic}:{name} is not in the docstring of its module, where doctest would run it")
            continue
        chapter, _, last = topic.rpartition("/")
        tests = root / "tests" / chapter / f"test_{last}.py"
        used = names(examples) | (names(tests.read_text(encoding="utf-8")) if tests.exists() else set())
        defined = {node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        wrong += [f"{topic}:{name}: {one} is in no test and no example" for one in sorted(defined - used)]
        if not defined:
            wrong.append(f"{topic}:{name} defines nothing that a test could run")
    return wrong


def docstring(source):
    return ast.get_docstring(ast.parse(source), clean=False) or ""


def names(source):
    """What the code uses, by name or as an attribute; an import alone uses nothing."""
    nodes = list(ast.walk(ast.parse(source)))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("check", [typed_by_hand, unshown, unrun])
def test_the_site(check):
    assert sections(ROOT) and pages(ROOT)
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
    assert typed_by_hand(site) == unshown(site) == unrun(site) == []


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
    assert unshown(site) == ["a/b:double"]


def test_code_that_no_test_runs_is_found(site):
    replace(site / "tests/a/test_b.py", "assert b.double(2) == 4", "pass")
    assert unrun(site) == ["a/b:double: double is in no test and no example"]


def test_an_import_runs_nothing(site):
    (site / "tests/a/test_b.py").write_text("from snippets.a.b import double\n")
    assert unrun(site) == ["a/b:double: double is in no test and no example"]


def test_output_that_doctest_does_not_run_is_found(site):
    snippet = site / "snippets/a/b.py"
    snippet.write_text("import math\n" + snippet.read_text())
    assert "a/b:example is not in the docstring of its module, where doctest would run it" in unrun(site)


def test_an_example_of_the_language_is_a_part_of_the_recipes_that_are_loaded(site):
    recipes = site / "tests/kernel/recipes.py"
    recipes.parent.mkdir()
    recipes.write_text("# --8<-- [start:one]\nx = 1\n# --8<-- [end:one]\n")
    assert unshown(site) == ["tests/kernel/recipes:one"]
    page = site / "docs/a/b.md"
    page.write_text(page.read_text() + '\n```python\n--8<-- "tests/kernel/recipes.py:one"\n```\n')
    assert typed_by_hand(site) == unshown(site) == []
    assert unrun(site) == ["tests/kernel/recipes:one is in no script that a test loads"]
    (site / "tests/kernel/test_recipes.py").write_text('load_script(HERE / "recipes.py")\n')
    assert unrun(site) == []
    replace(page, "recipes.py:one", "other.py:one")
    assert typed_by_hand(site)
