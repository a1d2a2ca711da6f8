"""The text of snippet modules: regions, names, examples, code, and what a statement uses in other modules."""

import ast

import pytest

from derivations.kernel.snippet_source import ExampleValue, Library, Origin, parse
from derivations.kernel.snippet_source.scopes import bound_names, read_names
from derivations.kernel.store.project_files import ROOT

TEXT = '''"""Sums.

--8<-- [start:example]
>>> from snippets.a.b import add
>>> total = add(1, 2)
>>> total
3

--8<-- [end:example]
"""

import math
from snippets.a import c
from torch.nn import functional as F

ONE = 1


# --8<-- [start:add]
def add(x, y):
    """Add."""
    from snippets.a.d import zero

    return x + y + zero() + c.two(math.pi)
# --8<-- [end:add]


class Sum:
    @property
    def of(self):
        """Return one.

        >>> Sum().of()
        1
        """
        return lambda: ONE
'''


@pytest.fixture
def snippet():
    return parse("snippets/a/b.py", TEXT)


def test_a_text_is_parsed_once(snippet):
    assert parse("snippets/a/b.py", TEXT) is snippet
    assert snippet.tree is snippet.tree and snippet.statements is snippet.statements
    assert parse("snippets/a/c.py", TEXT) is not snippet and parse("snippets/a/b.py", TEXT + "\n") is not snippet


def test_a_module_is_named_by_its_file():
    assert parse("snippets/a/b.py", "").module == "snippets.a.b"
    package = parse("snippets/a/__init__.py", "from .b import add\n")
    assert package.module == "snippets.a" and package.is_package
    assert parse("tests/kernel/language/recipes.py", "").module == "tests.kernel.language.recipes"


def test_definitions_and_imports(snippet):
    assert list(snippet.definitions) == ["add", "Sum"]
    found = {one.bound: (one.origin, one.is_renamed) for one in snippet.imports}
    assert found == {
        "math": (Origin("math"), False),
        "c": (Origin("snippets.a", "c"), False),
        "F": (Origin("torch.nn", "functional"), True),
        "zero": (Origin("snippets.a.d", "zero"), False),
    }
    assert {"snippets", "snippets.a", "snippets.a.c", "snippets.a.d", "torch.nn.functional"} <= set(snippet.imported_modules)


@pytest.mark.parametrize(
    "file, statement, module",
    [
        ("snippets/a/b.py", "from .c import add", "snippets.a.c"),
        ("snippets/a/b.py", "from . import c", "snippets.a"),
        ("snippets/a/b.py", "from ..e.f import g", "snippets.e.f"),
        ("snippets/a/__init__.py", "from .c import add", "snippets.a.c"),
        ("snippets/a/__init__.py", "from ..e import g", "snippets.e"),
    ],
)
def test_a_relative_import_is_resolved(file, statement, module):
    (found,) = parse(file, statement).imports
    assert found.origin.module == module


def test_what_statements_read_and_bind(snippet):
    add = next(one for one in snippet.statements if "add" in one.binds)
    assert add.binds == {"add": Origin("snippets.a.b", "add")} and add.is_definition
    assert add.reads["c"] == Origin("snippets.a", "c") and "x" not in add.reads
    assert add.uses == {"c": Origin("snippets.a", "c"), "zero": Origin("snippets.a.d", "zero")}
    assert snippet.statement_that_binds("ONE").line == snippet.text.split("\n").index("ONE = 1") + 1
    assert snippet.statement_that_binds("math") is None  # bound here, and defined elsewhere
    assert parse("", "nothing()").statements[0].reads == {"nothing": None}


COMPREHENSIONS = {
    "a = [f(x) for x in y]": ["f", "y"],
    "a = {f(x) for x in y if x}": ["f", "y"],
    "a = {k: x for k, x in y}": ["y"],
    "a = [x for b in y for x in b]": ["y"],
    "a = f(x for x in y)": ["f", "y"],
    "g = lambda y: [x + z for x in y]": ["z"],
}


@pytest.mark.parametrize("text, reads", COMPREHENSIONS.items())
def test_what_a_comprehension_binds_is_not_read_from_outside(text, reads):
    """Python 3.12 and later give these names to what is around some comprehensions."""
    (node,) = ast.parse(text).body
    assert read_names(node) == reads
    assert bound_names(node) == {text[0]}


@pytest.mark.parametrize(
    "text, found",
    [
        ("def f(): pass\ndef f(): pass\n", [("f", 2, 1)]),
        ("def f(): pass\nfrom torch import f\n", [("f", 2, 1)]),
        ("def f(): pass\nif True:\n    def f(): pass\n", [("f", 2, 1)]),
        ("def f(): pass\nfor f in []: pass\n", [("f", 2, 1)]),
        ("def f(): pass\nprint(f := 1)\n", [("f", 2, 1)]),
        ("def f(): pass\nmatch 1:\n    case f: pass\n", [("f", 2, 1)]),
        ("F = 1\nF += 1\n", [("F", 2, 1)]),
        ("def f():\n    g = 1\ndef g(): return [f for f in ()]\n", []),
        ("try:\n    import f\nexcept ImportError:\n    f = None\n", []),
    ],
)
def test_names_that_two_statements_bind_are_found(text, found):
    assert list(parse("", text).names_bound_twice()) == found


def test_examples_of_all_docstrings(snippet):
    found = [(one.line, one.source, one.want, one.in_docstring) for one in snippet.examples]
    assert found[1:3] == [(5, "total = add(1, 2)\n", "", True), (6, "total\n", "3\n", True)]
    line = snippet.text.split("\n").index("        >>> Sum().of()") + 1
    assert found[3] == (line, "Sum().of()\n", "1\n", False)
    with pytest.raises(ValueError):
        _ = parse("", '"""\n>>>1\n"""').examples


def test_regions_and_their_statements(snippet):
    assert list(snippet.regions) == ["example", "add"]
    example, add = snippet.regions.values()
    assert example.is_example and not add.is_example and add.body.startswith("def add") and add.body.endswith("math.pi)\n")
    assert [one.line for one in snippet.statements_in(add)] == [add.first]
    first, second, third = snippet.statements_in(example)
    assert first.binds == {"add": Origin("snippets.a.b", "add")}
    assert second.binds == {"total": ExampleValue("snippets/a/b.py", 5)} and third.reads == second.binds
    assert snippet.mark_faults == () and "8<" not in snippet.without_marks


@pytest.mark.parametrize(
    "old, new", [("[end:add]", "[end:ad]"), ("# --8<-- [start:add]", "x = 1  # --8<-- [start:add]"), ("3\n\n", "3\n\nwords\n")]
)
def test_faulty_marks_are_found(snippet, old, new):
    assert parse(snippet.file, snippet.text.replace(old, new)).mark_faults


CODE = "def add(x, y):\n    z = x + y\n\n    return z\n\n\nclass Sum:\n    @property\n    def of(self):\n        return 1\n"


def test_code_is_found_by_name_and_line():
    found, text = {}, parse("snippets/a/b.py", CODE)
    exec(compile(CODE, "elsewhere", "exec"), found)
    add, of = found["add"].__code__, found["Sum"].of.fget.__code__
    assert text.code_of("add", 1) == add and text.code_of("Sum.of", 8) == of
    assert text.code_of("of", 8) is text.code_of("add", 2) is None
    assert text.function_at("of", 8).body[0].lineno == 10 and text.function_at("of", 9) is None
    assert parse("snippets/a/b.py", CODE.replace("x + y", "x - y")).code_of("add", 1) != add
    assert {1, 2, 4, 10} <= text.executable_lines and not {3, 5} & text.executable_lines


def test_a_text_that_is_not_python_has_regions_and_says_where_it_fails():
    broken = parse("snippets/a/b.py", "# --8<-- [start:one]\nx = = 1\n# --8<-- [end:one]\n")
    assert list(broken.regions) == ["one"] and broken.mark_faults == ()
    with pytest.raises(SyntaxError) as caught:
        _ = broken.tree
    assert caught.value.lineno == 2


@pytest.fixture
def library(tmp_path):
    texts = {
        "b.py": TEXT,
        "c.py": "from snippets.a.d import zero\n\n\ndef two(x):\n    return zero()\n",
        "d.py": "Z = 0\n\n\ndef zero():\n    return Z\n",
        "__init__.py": "",
    }
    (tmp_path / "snippets/a").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / "snippets/a" / name).write_text(text)
    return Library(tmp_path)


def test_the_modules_that_one_imports_are_found(library):
    assert list(library.closure(["snippets.a.b"])) == [f"snippets/a/{name}.py" for name in ("__init__", "b", "c", "d")]
    assert list(library.closure(["snippets.a.d"])) == ["snippets/a/__init__.py", "snippets/a/d.py"]
    assert library.find("snippets.a.e") is None and library.find("snippets.a").is_package


def test_what_a_statement_reaches_in_other_modules(library):
    start = library.definition(Origin("snippets.a.c", "two"))
    found = [(one.file, name, other and other.file, other and other.line) for one, name, _, other in library.reachable(start)]
    assert found == [("snippets/a/c.py", "zero", "snippets/a/d.py", 4), ("snippets/a/d.py", "Z", "snippets/a/d.py", 1)]


def test_a_name_that_no_module_defines_is_said(library):
    (library.root / "snippets/a/d.py").write_text("")
    start = library.definition(Origin("snippets.a.c", "two"))
    assert [(name, other) for _, name, _, other in library.reachable(start)] == [("zero", None)]
    (library.root / "snippets/a/c.py").write_text("def two(:\n")
    assert library.definition(Origin("snippets.a.c", "two")) is None


def test_every_module_of_the_site_is_read():
    paths = sorted((ROOT / "snippets").rglob("*.py"))
    assert len(paths) > 50
    for path in paths:
        one = parse(path.relative_to(ROOT).as_posix(), path.read_text())
        assert one.statements or one.is_package
        assert one.mark_faults == () and list(one.names_bound_twice()) == []
        assert len(one.definitions) == len([node for node in one.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))])
