"""Test that a rejected page stops both site generators, and that MkDocs then prints one line without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = """site_name: Sample
theme: {{name: material, font: false}}
markdown_extensions:
  - derivations.kernel.site: {{docs: "{docs}"}}
"""
GOOD, BAD = "# Title\n\nAbout $d_k$.\n", "# Title\n\nSo $d_k = 64$.\n"


@pytest.fixture
def generate(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "mkdocs.yml").write_text(CONFIG.format(docs=docs))

    def run(text, *command):
        (docs / "index.md").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize("command", [["mkdocs", "build"], ["mkdocs", "build", "--strict"], ["zensical", "build", "--clean"]])
def test_rejected_page_stops_the_build(generate, tmp_path, command):
    code, said = generate(GOOD, *command)
    assert code == 0, said
    assert "<msub><mi>d</mi><mi>k</mi></msub>" in (tmp_path / "site/index.html").read_text()
    code, said = generate(BAD, *command)
    assert code != 0
    assert "docs/index.md:3: $d_k = 64$ states a relation (=) by hand" in said
    if command[0] == "mkdocs":
        assert "Traceback" not in said
        assert said.rstrip().splitlines()[-1].startswith("Error: docs/index.md:3: ")


@pytest.mark.parametrize("command", [["mkdocs", "build"], ["zensical", "build", "--clean"]])
def test_claim_without_certificate_stops_the_build(generate, command):
    code, said = generate("# Title\n\n/// derivation | nothing/nowhere\n///\n", *command)
    assert code != 0
    assert "docs/index.md:3: nothing/nowhere cannot be shown" in said
