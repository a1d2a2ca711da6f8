"""Tests of the package of the snippets: its content and its dependencies. `make wheel` tests the package in an empty environment."""

import ast
import shutil
import subprocess
import sys
import tomllib
import zipfile
from doctest import DocTestParser
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SNIPPETS = sorted((ROOT / "snippets").rglob("*.py"))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_package_is_typed_and_marked_as_typed(installed):
    place = subprocess.check_output([installed, "-I", "-c", "import snippets; print(snippets.__path__[0])"], text=True).strip()
    assert (Path(place) / "py.typed").is_file() and (Path(place) / "seeing" / "recall.json").is_file()
    assert "Typing :: Typed" in project()["classifiers"]


def test_installed_package_has_metadata(installed):
    code = "from importlib.metadata import metadata as m; d = m('attention-snippets'); print(d['Version'], d['Requires-Python'], d['License-Expression'])"
    assert subprocess.check_output([installed, "-I", "-c", code], text=True).split() == [
        project()["version"],
        project()["requires-python"],
        "MIT",
    ]


# Content of the wheel -------------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(packaging, tmp_path, monkeypatch):
    """Return a copy of the package's sources, which a test may change."""
    root = tmp_path / "root"
    shutil.copytree(ROOT / "snippets", root / "snippets", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    monkeypatch.setattr(packaging, "ROOT", root)
    return root


def test_earlier_build_leaves_nothing_in_a_later_one(packaging, copy, tmp_path):
    (copy / "build" / "lib" / "snippets").mkdir(parents=True)
    (copy / "build" / "lib" / "snippets" / "gone.py").write_text("")
    found = zipfile.ZipFile(packaging.build(tmp_path / "out")).namelist()
    assert "snippets/seeing/recall.json" in found and "snippets/gone.py" not in found and "snippets/ruff.toml" not in found
    assert {path.name for path in copy.iterdir()} == {"build", "snippets", "pyproject.toml", "README.md", "LICENSE"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"*" = ["*"]', '"*" = ["*.typed"]', "lacks ['snippets/seeing/recall.json'"),
        ('include = ["snippets", "snippets.*"]', 'include = ["snippets", "snippets.[!p]*"]', "'snippets/predecessors/rnn.py'"),
        ('"*" = ["ruff.toml"]', '"*" = ["other.toml"]', "should not contain ['snippets/ruff.toml']"),
    ],
)
def test_wheel_with_other_content_is_rejected(packaging, copy, tmp_path, old, new, said):
    path = copy / "pyproject.toml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(packaging.PackageError) as caught:
        packaging.build(tmp_path / "out")
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


# Dependencies ---------------------------------------------------------------------------------------------------------------


def imported(source):
    """Return the modules that code and its examples import."""
    tree = ast.parse(source)
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    examples = [ast.parse(one.source) for text in strings if ">>>" in text for one in DocTestParser().get_examples(text)]
    for node in (node for one in [tree, *examples] for node in ast.walk(one)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module if not node.level else "." * node.level


@cache
def brought_by():
    return packages_distributions()


def unmet(source, allowed):
    found = {name.partition(".")[0] for name in imported(source)} - sys.stdlib_module_names - {"snippets"}
    return {name for name in found if not set(brought_by().get(name, [name])) & set(allowed)}


def test_imports_of_the_snippets_equal_the_dependencies(packaging):
    found = {str(path.relative_to(ROOT)): unmet(path.read_text(), packaging.dependencies()) for path in SNIPPETS}
    assert {name: modules for name, modules in found.items() if modules} == {}
    assert unmet('"""\n>>> import numpy\n"""\nfrom derivations.kernel import core', packaging.dependencies()) == {"numpy", "derivations"}


def test_workflow_tests_the_oldest_and_newest_supported_python():
    promised = [line.rpartition(" ")[2] for line in project()["classifiers"] if "Python ::" in line]
    workflow = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text())
    tried = [workflow["jobs"][job]["strategy"]["matrix"]["python"] for job in ("claims", "rest", "site")]
    assert tried == [[promised[0], promised[-1]]] * 3
    assert project()["requires-python"] == f">={promised[0]}"
