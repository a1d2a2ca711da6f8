"""Test that every mistake on a page gives one line with the page's file and line, and never a traceback.

While the page is served, a box with the same line replaces the faulty part, and the rest of the page is unchanged.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import markdown
import pytest
from bs4 import BeautifulSoup

from derivations.kernel import site
from derivations.kernel.site import figure_block, page_errors, rejected_claim_boxes
from derivations.kernel.store import store

ROOT = Path(__file__).parents[2]
SNIPPET = """# --8<-- [start:section]
def one():
    return 1
# --8<-- [end:section]


# --8<-- [start:other]
def two():
    return 2
# --8<-- [end:other]
"""
# Each mistake begins on line 3 of the text, which is line 6 of the page, after three lines of front matter.
MISTAKES = {
    "a file that is not there": ('--8<-- "snippets/nothing.py:section"', "there is no snippets/nothing.py"),
    "a file's typo": (
        '--8<-- "snippets/a/smaple.py:section"',
        "there is no snippets/a/smaple.py; did you mean snippets/a/sample.py? There are snippets/a/",
    ),
    "a section's typo": (
        '--8<-- "snippets/a/sample.py:sectoin"',
        "snippets/a/sample.py has no section 'sectoin'; did you mean section? It has section, other",
    ),
    "a typo in a fence": ('```python\n--8<-- "snippets/a/sample.py:sectoin"\n```', "did you mean section?"),
    "a section in a block of includes": ("--8<--\nsnippets/a/sample.py:othr\n--8<--", "has no section 'othr'; did you mean other?"),
    "a folder": ('--8<-- "snippets/a"', "snippets/a cannot be included: Is a directory"),
    "a snippet that is no text": ('--8<-- "snippets/a/bytes.py"', "snippets/a/bytes.py is not UTF-8 text"),
    "bytes that are no text": ("A caf\ufffd", "invalid UTF-8"),
    "a block left open": ("/// details | More\n\nText", "the 'details' block is not closed; close it with '///'"),
    "a block that nothing opened": ("///", "'///' closes no block"),
    "text in a claim": ("/// claim | scaling/variance#mean\nby hand\n///", "a 'claim' block contains no text"),
    "a claim that is not there": ("/// claim | scaling/variance#maen\n///", "scaling/variance has no claim 'maen'; it has score, mean,"),
    "a topic that is not there": ("/// derivation | scaling/none\n///", "scaling/none cannot be shown: 'scaling/none' has no certificate"),
    "no name": ("/// claim\n///", "expected '/// claim | chapter/topic#id', found nothing"),
    "a block's typo": ("/// claimm | scaling/variance#mean\n///", "'/// claimm | scaling/variance#mean' is not a block"),
    "a bad option": ("/// details | More\n    open: maybe\n\nText\n///", "'/// details | More' is not a block"),
    "an unknown table": ("/// trust | nothing\n///", "expected '/// trust | NAME' with a name of summary, kinds,"),
    "rows of nowhere": ("/// sources | U\n///", "there is no docs/sources.toml"),
    "an unknown figure": ("/// figure | notes/page:one\nA caption.\n///", "there is no docs/figures/notes/page.py"),
    "a figure of no name": ("/// figure | one\nA caption.\n///", "expected '/// figure | chapter/topic:function'"),
    "a figure that is no Python": ("/// figure | notes/broken:one\nA caption.\n///", "docs/figures/notes/broken.py:1 is not Python"),
    "a figure of no text": ("/// figure | notes/bytes:one\nA caption.\n///", "docs/figures/notes/bytes.py"),
    "a figure without a caption": ("/// figure | notes/good:one\n///", "the figure notes/good:one has no caption"),
    "a formula by hand": ("So $a = b$ here.", "$a = b$ states a relation (=) by hand"),
    "no formula": ("So $\\nonsense$ here.", "is not LaTeX that can be shown"),
    "display mathematics": ("$$a$$", "$$ opens mathematics that is typed by hand"),
    "a relation in prose": ("So a = b here.", "'=' states a relation in prose"),
    "a relation in a table": ("| a | b |\n|---|---|\n| 1 | x ≤ 2 |", "'≤' states a relation in prose"),
    "math by hand": ("Here <math><mi>x</mi></math>.", "<math> is typed by hand; write $...$, or show a claim"),
}
FIGURE = """from derivations.kernel.site.diagrams import Picture, bars


def one() -> Picture:
    return bars([("one", 1.0)], title="One", description="Its number is one.")
"""


@pytest.fixture
def written(certificates, tmp_path, monkeypatch):
    """Return a function that writes a page with a mistake, and another page beside it, and returns the text without front matter."""
    files = {
        "snippets/a/sample.py": SNIPPET.encode(),
        "snippets/a/bytes.py": b"\xff\xfe\xfd",
        "docs/figures/notes/broken.py": b"def one(:\n",
        "docs/figures/notes/bytes.py": b"\xff\xfe\xfd",
        "docs/figures/notes/good.py": FIGURE.encode(),
        "docs/notes/another.md": b"# Bytes \xff that are no text\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "docs/notes/folder.md").mkdir()
    monkeypatch.setattr(figure_block, "ROOT", tmp_path)
    monkeypatch.setattr(store, "FOLDER", tmp_path / ".certificates")

    def write(mistake):
        text = f"# Title\n\n{mistake}\n\nAll is well below.\n"
        front = "---\ntitle: x\n---\n"
        (tmp_path / "docs/notes/page.md").write_text(front + text, encoding="utf-8")
        return text

    return write


@pytest.fixture
def convert(tmp_path):
    extensions = [
        "attr_list",
        "tables",
        "toc",
        "pymdownx.highlight",
        "pymdownx.superfences",
        "pymdownx.blocks.details",
        "pymdownx.snippets",
    ]
    options = {"pymdownx.snippets": {"base_path": [str(tmp_path)], "check_paths": True}}

    def run(text):
        extension = site.makeExtension(docs=str(tmp_path / "docs"))
        return markdown.markdown(text, extensions=[*extensions, extension], extension_configs=options)

    return run


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_gives_one_line_with_file_and_line(mistake, written, convert):
    text, says = MISTAKES[mistake]
    with pytest.raises(site.PageError) as caught:
        convert(written(text))
    said = caught.value.format_message()
    assert "\n" not in said and "Traceback" not in said and says in said
    line = re.match(r"docs/notes/page\.md:(\d+): ", said)
    assert line and 6 <= int(line[1]) <= 6 + text.count("\n"), said


@pytest.mark.parametrize("mistake", MISTAKES)
def test_server_shows_a_box_in_place_of_the_mistake(mistake, written, convert):
    text, says = MISTAKES[mistake]
    with page_errors.collect_errors() as found:
        html = BeautifulSoup(convert(written(text)), "html.parser")
    assert says in found[0].format_message()
    box, *more = html.select(".mistake")
    assert len(more) == len(found) - 1 <= 2  # the opening, the closing and the indented text are three separate mistakes
    assert says in box.text and found[0].format_message() in box.text
    assert html.h1.text == "Title" and "All is well below." in html.text
    assert html.text.index("Title") < html.text.index(box.text) < html.text.index("All is well below.")


def test_two_mistakes_give_two_boxes_in_order(written, convert):
    with page_errors.collect_errors() as found:
        html = BeautifulSoup(convert(written("So a = b.\n\nAnd $c = d$.\n\n/// nothing\n///")), "html.parser")
    boxes = [box.text for box in html.select(".mistake")]
    assert len(found) == len(boxes) == 3
    assert [next(sign for sign in ("a = b", "states a relation in prose", "$c = d$", "/// nothing") if sign in box) for box in boxes] == [
        "states a relation in prose",
        "$c = d$",
        "/// nothing",
    ]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><b>x</b>'])
def test_text_in_a_box_is_escaped(text, written, convert):
    for mistake in (f"/// claim | {text}\n///", f'--8<-- "snippets/{text}.py"', f"/// figure | {text}\nx\n///"):
        with page_errors.collect_errors() as found:
            html = BeautifulSoup(convert(written(mistake)), "html.parser")
        assert found
        assert not any(box.find(["script", "img", "b"]) for box in html.select(".mistake")), html
        assert any("<" in box.text for box in html.select(".mistake"))


def kept(id_, message=""):
    return {"id": id_, "title": "", "line": 7, "stated": f"a_{id_} = b", "message": message}


def test_only_the_faulty_claim_of_a_script_shows_the_message(written, convert, monkeypatch):
    said = {
        "script": "derivations/chapter/gone.py",
        "problems": [],
        "inputs": {},
        "variables": {},
        "versions": {},
        "claims": [kept("one"), kept("two", "false: at <b>")],
    }
    monkeypatch.setattr(rejected_claim_boxes.rejections, "get", lambda topic: said)
    for text in ("/// derivation | chapter/gone\n///", "/// claim | chapter/gone#one\n///\n\n/// claim | chapter/gone#two\n///"):
        with page_errors.collect_errors():
            html = BeautifulSoup(convert(written(text)), "html.parser")
        assert html.text.count("false: at <b>") == 1 and not html.b
        one, two = html.select(".mistake__claim")
        line = "This claim held when it was checked, and is not shown because two of its script was refused."
        assert [part.text.strip() for part in one.select(".mistake__message")] == [line]
        assert one.a["href"] == f"#{two['id']}" and one.select_one(".mistake__stated").text.strip() == "a_one = b"
        assert two.select_one(".mistake__message").text.strip() == "derivations/chapter/gone.py:7: claim 'two': false: at <b>"
        assert [part.text.strip() for part in html.select(".mistake__stated--refused")] == ["a_two = b"]
    with page_errors.collect_errors():
        html = BeautifulSoup(convert(written("/// claim | chapter/gone#one\n///")), "html.parser")
    assert not html.a and "because two of its script" in html.text  # there is no box to link to


FRONT = {
    "no YAML": ("---\ntitle: [x\n---\n# Title\n", "docs/page.md:1: the front matter is not YAML ("),
    "no list": ("---\njust words\n---\n# Title\n", "docs/page.md:1: the front matter is not a list of 'name: value' lines"),
}


@pytest.mark.parametrize("case", FRONT)
def test_invalid_front_matter(case, tmp_path):
    text, says = FRONT[case]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text(text)
    with pytest.raises(site.PageError) as caught:
        markdown.markdown(text, extensions=[site.makeExtension(docs=str(tmp_path / "docs"))])
    assert caught.value.format_message().startswith(says)


# With the generator -------------------------------------------------------------------------------------------------------------

CONFIG = """site_name: Sample
theme: {{name: material, font: false}}
hooks: [{root}/derivations/kernel/site/serve_hook.py]
markdown_extensions:
  - pymdownx.superfences
  - pymdownx.snippets: {{base_path: ["."], check_paths: true}}
  - derivations.kernel.site: {{docs: "{docs}"}}
"""
WITH_MKDOCS = {
    "a section's typo": (
        b'# Title\n\n```python\n--8<-- "snippets/a/sample.py:sectoin"\n```\n',
        "docs/index.md:4: snippets/a/sample.py has no",
    ),
    "bytes that are no text": (b"# Title\n\nA caf\xe9\n", "docs/index.md:3: invalid UTF-8 after 'A caf'"),
    "front matter": (b"---\ntitle: [x\n---\n# Title\n", "docs/index.md:1: the front matter is not YAML"),
    "a relation": (b"# Title\n\nSo a = b.\n", "docs/index.md:3: '=' states a relation in prose"),
}


@pytest.mark.parametrize("mistake", WITH_MKDOCS)
def test_mkdocs_ends_with_the_line_and_no_traceback(mistake, tmp_path):
    text, says = WITH_MKDOCS[mistake]
    (tmp_path / "docs/folder.md").mkdir(parents=True)
    (tmp_path / "docs/index.md").write_bytes(text)
    (tmp_path / "snippets/a").mkdir(parents=True)
    (tmp_path / "snippets/a/sample.py").write_text(SNIPPET)
    (tmp_path / "mkdocs.yml").write_text(CONFIG.format(docs=tmp_path / "docs", root=ROOT))
    tempting = {name: "1" for name in ("SERVE", "SERVING", "MKDOCS_SERVE", "LENIENT", "DEBUG", "STRICT")}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | tempting | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1", "MKDOCS_COMMAND": "serve"},
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in said
    assert said.rstrip().splitlines()[-1].startswith(f"Error: {says}"), said
    assert not (tmp_path / "site/index.html").exists()
