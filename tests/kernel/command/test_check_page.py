"""Tests of `check --page TOPIC`: it lists every fault of a topic with its file and line, and accepts a correct topic."""

import pytest

from derivations.kernel.command import check_page, new_topic
from derivations.kernel.snippet_source import parse
from derivations.kernel.store import project_files

ROOT = new_topic.ROOT

CONFIG = """site_name: x
nav:
  - Home: index.md
markdown_extensions:
  - attr_list
  - pymdownx.blocks.details
  - pymdownx.highlight
  - pymdownx.superfences
  - pymdownx.snippets: {check_paths: true}
  - derivations.kernel.site
"""


@pytest.fixture
def made(tree, monkeypatch):
    """A topic as `new` makes it, and what is found on its page; its claims are taken as shown by their block."""
    (tree.root / "mkdocs.yml").write_text(CONFIG)
    new_topic.create("fresh/topic")
    (tree.root / "snippets/__init__.py").touch()
    monkeypatch.syspath_prepend(tree.root)  # pictures import snippets in this process
    return tree.root


def looked_at():
    return [str(one) for one in check_page.find_page_errors("fresh/topic") if "cannot be shown" not in str(one)]  # nothing was checked here


def test_a_topic_as_made_has_nothing_to_refuse(made):
    assert looked_at() == []


def test_all_faults_are_found_at_once(made):
    path = made / "docs/fresh/topic.md"
    path.write_text(
        path.read_text()
        .replace(":transposed_topic", ":transpsed_topic")
        .replace("An example with numbers", "So a = b; an example with numbers")
        + "\n[x](no.md)\n"
    )
    said = "\n".join(looked_at())
    for part in ("topic.md:", "did you mean transposed_topic?", "states a relation in prose", "'no.md' leads to no page", "no page shows"):
        assert part in said, said


LACKS = {
    "theorem": ("/// theorem", "/// claim", "docs/fresh/topic.md lacks, for a page of the course: a theorem"),
    "exercise": ("/// exercise | In code", "/// note | In code", "three to five exercises; an exercise in code"),
    "next": ("Sources.", "[The next page](topic.md)", "docs/fresh/topic.md: this is the last page; remove the link [The next page](...)"),
}


@pytest.mark.parametrize("old, new, says", LACKS.values(), ids=LACKS)
def test_what_a_page_of_the_course_lacks_is_refused(made, command, monkeypatch, old, new, says):
    for part in ("find_test_errors", "find_style_errors"):
        monkeypatch.setattr(check_page, part, lambda topic: [])
    assert check_page.find_course_errors("fresh/topic") == []
    path = made / "docs/fresh/topic.md"
    path.write_text(path.read_text().replace(old, new))
    said = command("check", "--page", "fresh/topic")
    assert said.exit_code == 1 and says in said.output


def test_the_page_before_has_to_link_to_this_one(made):
    (made / "mkdocs.yml").write_text(CONFIG.replace("Home: index.md", "Tiny: chapter/tiny.md\n  - Topic: fresh/topic.md"))
    (made / "docs/chapter").mkdir()
    (made / "docs/chapter/tiny.md").write_text("[The next page](../wrong.md)\n")
    assert check_page.find_course_errors("fresh/topic") == [
        "docs/chapter/tiny.md: the page needs one link [The next page](...), to fresh/topic.md"
    ]


def test_what_a_test_of_all_topics_refuses_is_said(made, monkeypatch):
    (made / "tests/sweep.py").write_text(SWEEP)
    monkeypatch.setattr(check_page, "ALL_TOPIC_TESTS", ("tests/sweep.py",))
    (said,) = check_page.find_all_topic_test_errors("fresh/topic")
    assert (
        said.startswith("tests/sweep.py:6: the test fails: AssertionError: fresh/topic has no row")
        and "run: python -m pytest tests/sweep.py -k fresh/topic" in said
    )
    assert check_page.find_all_topic_test_errors("chapter/tiny") == []


SWEEP = """import pytest


@pytest.mark.parametrize("topic", ["fresh/topic", "chapter/tiny"])
def test_it(topic):
    assert topic == "chapter/tiny", f"{topic} has no row"
"""


def test_what_pytest_says_has_its_file_and_line():
    output = "/r/tests/a/test_b.py:3: assert 1 == 2\nFAILED tests/a/test_b.py::test_c - x\nFAILED snippets/a/b.py::snippets.a.b\n"
    assert check_page.parse_failures(output, "/r") == [
        "tests/a/test_b.py:3: the test fails: assert 1 == 2",
        "snippets/a/b.py::snippets.a.b: the test fails",
    ]


def test_there_is_one_topic_and_it_exists(made, command):
    assert command("check", "--page", "nothing/here").exit_code == 2
    assert command("check", "--page", "fresh/topic", "chapter/tiny").exit_code == 2


@pytest.fixture
def formed(made):
    """What is found of the form of a topic that was made, under the project's own settings."""
    for name in ("pyproject.toml", "snippets/ruff.toml"):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text((ROOT / name).read_text())
    assert check_page.find_style_errors("fresh/topic") == []
    return lambda: check_page.find_style_errors("fresh/topic")


def test_what_lint_would_refuse_of_the_form_is_said_with_its_mend(made, formed):
    path = made / "derivations/fresh/topic.py"
    path.write_text(path.read_text().replace("derivation = ", "import os\nderivation  =  "))
    said = formed()
    assert any("F401" in line and "check --fix" in line for line in said), said
    assert any("ruff format derivations/fresh/topic.py" in line for line in said), said


def test_of_a_file_that_ruff_would_set_otherwise_there_is_one_finding(made, formed):
    """Its diff has many lines, and none of them is a fault of its own."""
    path = made / "snippets/fresh/topic.py"
    path.write_text(path.read_text() + "\n\nOTHER = [ 1,\n2,\n  3 ]\nMORE = {  'a' :1 }\n")
    (found,) = [one for one in formed() if "ruff format" in one]
    assert found == "snippets/fresh/topic.py: not formatted; run: python -m ruff format snippets/fresh/topic.py"


def test_a_file_that_is_no_python_is_told_of_by_its_place_alone(made, formed):
    (made / "snippets/fresh/topic.py").write_text("def one(:\n")
    said = formed()
    assert all(one.startswith("snippets/fresh/topic.py:") and "check --fix" in one for one in said) and said


def test_an_output_that_is_another_says_where_it_is_shown():
    (said,) = check_page.parse_failures("/r/snippets/a/b.py:3: DocTestFailure", "/r")
    assert said.startswith("snippets/a/b.py:3: the test fails: the output differs")


LINES = '''"""Sums.

--8<-- [start:example]
>>> from snippets.fresh.topic import summed
>>> summed(1, 2)
3

--8<-- [end:example]
"""


# --8<-- [start:sums]
def summed(a, b):
    """The sum."""
    if a > 10:
        assert a == b, "a dead line"
        a = b
    return a + b


def doubled(a):
    total = a  # a number
    return total + a


# --8<-- [end:sums]


def unshown(a):
    return a
'''


@pytest.fixture
def tested(tmp_path, monkeypatch):
    """What is said of a topic with this snippet and this test."""
    monkeypatch.setattr(project_files, "ROOT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def ask(snippet, test):
        for name, text in {"snippets/fresh/topic.py": snippet, "tests/fresh/test_topic.py": test, "pyproject.toml": PYTEST}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return check_page.find_test_errors("fresh/topic")

    return ask


PYTEST = "[tool.pytest.ini_options]\naddopts = ['--doctest-modules', '--import-mode=importlib']\npythonpath = ['.']\n"
TEST = "from snippets.fresh import topic\n\n\ndef test_it():\n    assert topic.doubled({}) == 4\n    topic.summed({}, 1)\n"


def test_lines_on_a_page_that_no_test_runs_are_found(tested):
    (said,) = tested(LINES, TEST.format(2, 3))
    assert said.startswith(
        "snippets/fresh/topic.py:16: a page shows 'assert a == b, \"a dead line\"' and what follows, to line 17, and no test"
    )
    assert tested(LINES.replace("a == b, ", ""), TEST.format(2, 11)) == []


def test_where_a_test_fails_that_is_said(tested):
    (said,) = tested(LINES, TEST.format(3, 3))
    assert "the test fails" in said


def test_what_is_run_is_what_python_compiles():
    assert parse("", LINES).executable_lines == {1, 13, 15, 16, 17, 18, 21, 22, 23, 29, 30}
