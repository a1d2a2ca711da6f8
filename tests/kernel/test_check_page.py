"""`check --page TOPIC`: every fault of a topic is found at once, each with its file and line, and a topic in order has none."""

import pytest

from derivations.kernel.command import page, scaffold

ROOT = scaffold.ROOT

CONFIG = """site_name: x
nav:
  - Home: index.md
markdown_extensions:
  - attr_list
  - pymdownx.blocks.details
  - pymdownx.highlight
  - pymdownx.superfences
  - pymdownx.snippets: {check_paths: true}
  - derivations.kernel.pages
"""


@pytest.fixture
def made(tree, monkeypatch):
    """A topic as `new` makes it, and what is found on its page; its claims are taken as shown by their block."""
    (tree.root / "mkdocs.yml").write_text(CONFIG)
    scaffold.create("fresh/topic")
    return tree.root


def looked_at():
    return [str(one) for one in page.look("fresh/topic") if "cannot be shown" not in str(one)]  # nothing was checked here


def test_a_topic_as_made_has_nothing_to_refuse(made):
    assert looked_at() == []


def test_all_faults_are_found_at_once(made):
    path = made / "docs/fresh/topic.md"
    path.write_text(
        path.read_text().replace(":sum_transposed", ":sum_transpsed").replace("Nothing is", "So a = b; nothing is") + "\n[x](no.md)\n"
    )
    said = "\n".join(looked_at())
    for part in ("topic.md:", "did you mean sum_transposed?", "states a relation in prose", "'no.md' leads to no page", "no page shows"):
        assert part in said, said


def test_what_pytest_says_has_its_file_and_line():
    output = "/r/tests/a/test_b.py:3: assert 1 == 2\nFAILED tests/a/test_b.py::test_c - x\nFAILED snippets/a/b.py::snippets.a.b\n"
    assert page.failures(output, "/r") == [
        "tests/a/test_b.py:3: the test fails: assert 1 == 2",
        "snippets/a/b.py::snippets.a.b: the test fails",
    ]


def test_there_is_one_topic_and_it_exists(made, command):
    assert command("check", "--page", "nothing/here").exit_code == 2
    assert command("check", "--page", "fresh/topic", "chapter/tiny").exit_code == 2


def test_what_lint_would_refuse_of_the_form_is_said_with_its_mend(made):
    for name in ("pyproject.toml", "snippets/ruff.toml"):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text((ROOT / name).read_text())
    assert page.formed("fresh/topic") == []
    path = made / "derivations/fresh/topic.py"
    path.write_text(path.read_text().replace("derivation = ", "import os\nderivation  =  "))
    said = page.formed("fresh/topic")
    assert any("F401" in line and "check --fix" in line for line in said), said
    assert any("ruff format derivations/fresh/topic.py" in line for line in said), said


def test_an_output_that_is_another_says_where_it_is_shown():
    (said,) = page.failures("/r/snippets/a/b.py:3: DocTestFailure", "/r")
    assert said.startswith("snippets/a/b.py:3: the test fails: the output is another")
