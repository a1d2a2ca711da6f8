"""In which order tests are run, and in how many processes."""

import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture
def conftest():
    spec = importlib.util.spec_from_file_location("conftest_of_tests", TESTS / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_that_take_long_are_there_and_begin_first(conftest):
    files = [TESTS / name for name in conftest.LONGEST]
    assert [path for path in files if not path.is_file()] == []
    others = [TESTS / "kernel/test_a.py", TESTS / "test_sympy_programs.py"]
    items = [SimpleNamespace(path=path, name=name) for path in [*others, *reversed(files)] for name in ("b", "a")]
    conftest.pytest_collection_modifyitems(items)
    assert [item.path for item in items[::2]] == [*files, *others]
    assert [item.name for item in items] == ["b", "a"] * (len(files) + 2)


def test_one_process_more_than_there_are_cores(conftest, request):
    assert request.config.hook.pytest_xdist_auto_num_workers(config=request.config) == os.cpu_count() + 1
