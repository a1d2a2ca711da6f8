"""Tests of the package of the snippets: its content and its dependencies. `make wheel` tests the package in an empty environment."""

import ast
import importlib.util
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

from tests import code

ROOT = Path(__file__).parents[2]
SNIPPETS = sorted((ROOT / "snippets").rglob("*.py"))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_package_has_its_own_name_and_is_marked_as_typed(installed):
    place = subprocess.check_output(
        [installed, "-I", "-c", "import attention_snippets as package; print(package.__path__[0])"], text=True
    ).strip()
    assert (Path(place) / "py.typed").is_file() and (Path(place) / "seeing" / "recall.json").is_file()
    assert not Path(place).with_name("snippets").exists()
    assert "Typing :: Typed" in project()["classifiers"]


@pytest.mark.slow
def test_type_checker_sees_the_types(installed, tmp_path):
    (tmp_path / "user.py").write_text("from attention_snippets.softmax.distribution import softmax\nsoftmax('a text')\n")
    command = [sys.executable, "-m", "mypy", "--python-executable", installed, "--cache-dir", tmp_path / "cache", "user.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert 'user.py:2: error: Argument 1 to "softmax" has incompatible type "str"; expected "Tensor"' in said
    assert "Found 1 error" in said, said


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
    for name in ("snippets", ".ci/backend"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    monkeypatch.setattr(packaging, "ROOT", root)
    return root


@pytest.fixture(scope="module")
def backend():
    """Return the module that pip calls to build the package."""
    spec = importlib.util.spec_from_file_location("attention_backend", ROOT / ".ci/backend/attention_backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contents(wheel):
    """Return the files of a wheel without its list of files, each with its text."""
    archive = zipfile.ZipFile(wheel)
    return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def pip(*arguments):
    return subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True)


def test_deleted_module_is_gone_from_the_next_build(packaging, copy, tmp_path):
    before = {path for path in copy.rglob("*") if "__pycache__" not in path.parts}
    module = copy / "snippets" / "blocks" / "merge.py"
    first = contents(packaging.build(tmp_path / "out"))
    assert {path for path in copy.rglob("*") if "__pycache__" not in path.parts} == before
    module.unlink()
    second = contents(packaging.build(tmp_path / "out"))
    assert first.keys() - second.keys() == {"attention_snippets/blocks/merge.py"} and not second.keys() - first.keys()


def test_archive_of_the_sources_gives_the_same_wheel(packaging, backend, tmp_path):
    archive = tmp_path / backend.build_sdist(str(tmp_path))
    done = pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, archive)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert contents(wheel) == contents(packaging.build(tmp_path / "out"))


def test_editable_install_is_refused_with_advice(tmp_path):
    done = pip("install", "--no-deps", "--no-build-isolation", "--dry-run", "--editable", ROOT)
    assert done.returncode != 0 and "Run `pip install .` after each change, or import snippets from" in done.stderr


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("from snippets.io.split import merge\n", "from attention_snippets.io.split import merge\n"),
        (">>> from snippets.io.split import (\n...     merge)\n", ">>> from attention_snippets.io.split import (\n...     merge)\n"),
        ("import snippets.io.split as split\n", "import attention_snippets.io.split as split\n"),
        ("from snippets import io\nimport snippets\n", "from attention_snippets import io\nimport attention_snippets\n"),
        ('files("snippets.together") / "text.txt"', 'files("attention_snippets.together") / "text.txt"'),
        ("files('snippets') / 'together'", "files('attention_snippets') / 'together'"),
        ("python -m snippets.seeing.train --check", "python -m attention_snippets.seeing.train --check"),
        ("# snippets/seeing/train.py writes it", None),
        ("# These are snippets. They follow.", None),
        ("my_snippets.io, book.snippets.io, snippets.\n", None),
    ],
)
def test_name_of_the_package_in_a_module(backend, text, renamed):
    assert backend.rename(text) == (renamed or text)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("pyproject.toml", '"*" = ["*"]', '"*" = ["*.typed"]', "lacks ['attention_snippets/seeing/atlas.json'"),
        ("pyproject.toml", '"attention_snippets.*"]', '"attention_snippets.[!p]*"]', "'attention_snippets/predecessors/rnn.py'"),
        (".ci/backend/attention_backend.py", '"ruff.toml")', '"other.toml")', "should not contain ['attention_snippets/ruff.toml']"),
    ],
)
def test_wheel_with_other_content_is_rejected(packaging, copy, tmp_path, file, old, new, said):
    path = copy / file
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


def test_installed_modules_import_nothing_by_the_name_of_the_folder(installed):
    texts = {path: path.read_text(encoding="utf-8") for path in installed.parents[1].rglob("attention_snippets/**/*.py")}
    found = {module.partition(".")[0] for text in texts.values() for module in imported(text)}
    assert len(texts) > 100 and "attention_snippets" in found and "snippets" not in found


def unmet(source, allowed):
    found = {name.partition(".")[0] for name in imported(source)} - sys.stdlib_module_names - {"snippets"}
    return {name for name in found if not set(brought_by().get(name, [name])) & set(allowed)}


def test_imports_of_the_snippets_equal_the_dependencies(packaging):
    """A published model is read by packages that are optional: those of the group `models`."""
    models = [*map(packaging.name_of, packaging.project()["dependency-groups"]["models"])]
    found = {
        str(path.relative_to(ROOT)): unmet(path.read_text(), [*packaging.dependencies(), *models * (path.name == "encoder.py")])
        for path in SNIPPETS
    }
    assert {name: modules for name, modules in found.items() if modules} == {}
    assert unmet('"""\n>>> import numpy\n"""\nfrom derivations.kernel import core', packaging.dependencies()) == {"numpy", "derivations"}


def test_tests_of_the_code_import_nothing_of_the_site(packaging):
    """What `python -m tests.code` runs needs only the packages of its group, and what these bring. hypothesis.extra.numpy needs NumPy."""
    allowed = [
        *map(packaging.name_of, packaging.project()["dependency-groups"]["code"]),
        "mpmath",
    ]  # SymPy brings mpmath, PyTorch brings SymPy
    files = [ROOT / name for name in code.find_files() if name.startswith("tests/")]
    found = {
        str(path): {*unmet(path.read_text(), allowed)} - {"tests"}
        for path in [*files, ROOT / "tests/conftest.py", ROOT / "tests/shapes.py"]
    }
    assert {name: modules for name, modules in found.items() if modules} == {} and len(files) > 80
    assert [path.name for path in files if "hypothesis.extra.numpy" in path.read_text()] == []


def test_each_test_of_the_code_runs_once():
    first, second = code.share(code.find_files())
    assert sorted([*first, *second]) == code.find_files() and {"tests/together/test_train.py", "snippets/io/split.py"} <= {*first, *second}
    assert code.find_left_out() == ["tests/kernel", "tests/site", "tests/snippets", "tests/test_defined_counts.py"]


def test_workflow_tests_the_oldest_and_newest_supported_python():
    promised = [line.rpartition(" ")[2] for line in project()["classifiers"] if "Python ::" in line]
    workflow = yaml.safe_load((ROOT / ".github/workflows/site.yml").read_text())
    tried = [workflow["jobs"][job]["strategy"]["matrix"]["python"] for job in ("claims", "rest", "site")]
    assert tried == [[promised[0], promised[-1]]] * 3
    assert project()["requires-python"] == f">={promised[0]}"
