"""The versions of the packages that a script imports are part of its certificate."""

from importlib.metadata import version
from threading import Event

from derivations.kernel.check import installed_packages, runner


def test_a_module_has_the_version_of_its_package_and_python_s_own_have_none():
    assert installed_packages.versions(["flint", "json", "derivations", "none-such"]) == {"python-flint": version("python-flint")}


def test_what_a_script_imports_is_kept_with_its_version(tmp_path):
    script = tmp_path / "empty.py"
    script.write_text("import numpy\n")
    _, last = runner.run_worker("empty", script, lambda done, more: None, Event(), {})
    assert {name: version(name) for name in ("numpy", "torch")}.items() <= last["libraries"].items()
