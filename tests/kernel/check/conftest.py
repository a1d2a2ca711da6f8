"""Fixtures and helpers for tests that check several scripts."""

import pytest


@pytest.fixture
def scripts(tree):
    """Return a function that replaces the scripts of the tree's chapter by others, given by name, and returns their topics."""

    def write(**texts):
        tree.script.unlink(missing_ok=True)
        for name, text in texts.items():
            tree.script.with_name(f"{name}.py").write_text(text)
        return [f"chapter/{name}" for name in texts]

    return write
