"""Tests of labs: a lab runs only when something that it depends on has changed, and its page keeps only what a reader needs."""

from base64 import b64encode
from types import SimpleNamespace

import pytest
from mkdocs.structure.toc import get_toc
from nbclient.exceptions import CellExecutionError

from derivations.kernel.site import PageError, lab_hook
from derivations.kernel.store import store

NOTEBOOK = "# %% [markdown]\n# # Title\n\n# %%\nimport math\nfrom snippets.a import b\n"
FILES = {
    "docs/labs/lab.py": NOTEBOOK,
    "snippets/__init__.py": "",
    "snippets/a/__init__.py": "",
    "snippets/a/b.py": "from .c import f\n",
    "snippets/a/c.py": "def f(): pass\n",
    "snippets/a/other.py": "",
    "requirements.txt": "torch==1\n",
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(lab_hook, "ROOT", tmp_path)
    monkeypatch.setattr(store, "FOLDER", tmp_path / ".certificates")
    return tmp_path


@pytest.fixture
def build(root):
    """Return a function that builds the lab's page as MkDocs would, and returns how often the lab has run so far."""
    runs = []

    def run(content='<div class="jp-RenderedMarkdown"><h1 id="title">Title</h1></div>', error=None):
        def execute(config, files):
            runs.append(1)
            if error:
                raise error
            page.content, page.title, page.toc = (
                content,
                "Title",
                get_toc(
                    [{"name": "Title", "id": "title", "level": 1, "children": [{"name": "Part", "id": "part", "level": 2, "children": []}]}]
                ),
            )

        file = SimpleNamespace(src_uri="labs/lab.py", abs_src_path=str(root / "docs/labs/lab.py"))
        page = SimpleNamespace(file=file, content="", title="", toc=None, render=execute)
        lab_hook.on_pre_page(page, config=None, files=None)
        page.render(None, None)
        return page, len(runs)

    return run


def test_second_build_executes_nothing_and_gives_the_same_page(build):
    first, runs = build()
    again, still = build()
    assert (runs, still) == (1, 1)
    assert (again.content, again.title) == (first.content, first.title)
    assert [(item.title, item.id, item.level) for item in again.toc] == [("Title", "title", 1)]
    assert [child.url for item in again.toc for child in item.children] == ["#part"]


@pytest.mark.parametrize("name", ["docs/labs/lab.py", "snippets/a/b.py", "snippets/a/c.py", "snippets/a/__init__.py", "requirements.txt"])
def test_changed_dependency_executes_the_lab_again(build, root, name):
    build()
    (root / name).write_text(FILES[name] + "\n# changed\n")
    assert build()[1] == 2
    assert build()[1] == 2


def test_change_of_unrelated_file_executes_nothing(build, root):
    build()
    (root / "snippets/a/other.py").write_text("# changed\n")
    assert build()[1] == 1


def test_unreadable_stored_output_is_made_again(build, root):
    build()
    (stored,) = lab_hook.STORE.files()
    stored.write_text("{")
    assert build()[1] == 2


def test_failing_cell_stops_the_build_and_is_not_stored(build):
    with pytest.raises(PageError, match=r"^docs/labs/lab.py: a cell fails with ValueError: no$"):
        build(error=CellExecutionError("long\ntraceback", "ValueError", "no"))
    assert build()[1] == 2


def test_syntax_error_is_reported_with_file_and_line(build, root):
    (root / "docs/labs/lab.py").write_text("x = 1\ny = = 2\n")
    with pytest.raises(PageError, match=r"^docs/labs/lab.py:2: not Python: invalid syntax$"):
        build()


def test_other_pages_are_unchanged():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"), render=len)
    assert lab_hook.on_pre_page(page).render is len


def light(root, content, notebook=NOTEBOOK):
    (root / "docs/labs/lab.py").write_text(notebook)
    return lab_hook.to_plain_html(content, root / "docs/labs/lab.py")


def test_page_keeps_only_what_a_reader_needs(root):
    content = """<style>p {}</style><script src="https://example.org/x.js"></script>
    <div class="jp-Cell"><div class="jp-InputPrompt">In [1]:</div>
    <div class="highlight-ipynb hl-python"><pre><span class="n">x</span> = 1
    </pre></div><div class="clipboard-copy-txt">x = 1</div></div>
    <div class="jp-RenderedText jp-OutputArea-output"><pre>a <b>1</b> &amp; 2</pre><script>alert(1)</script></div>
    <div class="jp-RenderedMarkdown"><h2 id="a">A<a class="anchor-link" href="#a">¶</a></h2><p>about $d_k$ and
    <code>$n$</code></p></div>"""
    html = light(root, content)
    assert html.startswith('<div class="lab__code highlight"><pre><code><span class="n">x</span> = 1')
    assert '<div class="lab__output"><pre>a 1 &amp; 2</pre></div>' in html
    assert 'class="headerlink"' in html and html.count('aria-hidden="true"') == 1 and "<msub>" in html and "<code>$n$</code>" in html
    assert not any(word in html for word in ("<style", "<script", "example.org", "In [1]", "clipboard", "$d_k$"))


def test_figures_use_the_text_colour_on_a_transparent_ground(root):
    figure = """<?xml version="1.0"?><!DOCTYPE svg><svg viewBox="0 0 1 1"><metadata>2026</metadata><style>*{}</style>
    <path style="fill: #ffffff"/><path style="stroke: #000000"/><path style="fill: #ff0000"/></svg>"""
    source = b64encode(figure.encode()).decode()
    html = light(root, f'<div class="jp-OutputArea-output"><img src="data:image/svg+xml;base64,{source}"/></div>')
    assert html.startswith('<figure class="lab__figure"><svg role="img" viewBox')
    assert "fill: none" in html and "stroke: currentColor" in html and "#ff0000" in html
    assert not any(word in html for word in ("<style", "metadata", "#ffffff", "<?xml"))


@pytest.mark.parametrize("text", ["so a = b", "so $a \\le b$", "so $\\nonsense$"])
def test_prose_of_a_lab_is_checked_like_a_page(root, text):
    with pytest.raises(PageError, match=r"^docs/labs/lab.py:3: "):
        light(root, f'<div class="jp-RenderedMarkdown"><p>{text}</p></div>', f"# %% [markdown]\n#\n# {text}\n")


FORGED = {
    "a box of a claim": '<section class="claim claim--identity"><span class="claim__witness">exact</span></section>',
    "a table": "<table><tr><td>softmax(z) = z</td></tr></table>",
    "text beside a box": '<pre>x</pre><section class="claim">x</section>',
    "code of its own": '<div class="highlight-ipynb"><pre>assert softmax(z) == z</pre></div>',
    "a picture that nobody reads": '<img src="data:image/png;base64,AAAA"/>',
    "a printed relation": "<pre>x\nsoftmax(z) = z</pre>",
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_forbidden_output_is_rejected(root, text):
    with pytest.raises(PageError, match=r"^docs/labs/lab.py: an output "):
        light(root, f'<div class="jp-RenderedHTML jp-OutputArea-output">{text}</div>')


DRAWN = {
    "a relation in its text": "<text>softmax(z) = z</text>",
    "a relation in its title": "<title>softmax(z) = z</title>",
    "markup of another kind": '<foreignObject><section class="claim">x</section></foreignObject>',
    "an event": '<path onload="alert(1)"/>',
    "an address": '<use xlink:href="https://example.org/x.svg#x"/>',
}


@pytest.mark.parametrize("text", DRAWN.values(), ids=DRAWN)
def test_figure_with_forbidden_content_is_rejected(root, text):
    source = b64encode(f'<svg viewBox="0 0 1 1">{text}</svg>'.encode()).decode()
    with pytest.raises(PageError, match=r"^docs/labs/lab.py: a figure "):
        light(root, f'<div class="jp-OutputArea-output"><img src="data:image/svg+xml;base64,{source}"/></div>')


@pytest.mark.parametrize("text", ["# softmax(z) = z", "x = 1  # softmax(z) = z", 'def f():\n    """softmax(z) = z"""'])
def test_relation_in_the_words_of_a_shown_cell_is_rejected(root, text):
    line = 3 + text.count("\n")
    with pytest.raises(PageError, match=rf"^docs/labs/lab.py:{line}: 'softmax\(z\) = z' states a relation"):
        light(root, "", f"# %% [markdown]\n# Words\n# %%\n{text}\n".replace("# Words\n# %%\n", "# %%\n"))


def test_hidden_cells_and_prose_are_not_checked_as_cells(root):
    assert light(root, "", '# %% [markdown]\n# so `x == y`\n# %% tags=["hide"]\nx = 1  # a = b\n# %%\nx = 2  # two\n') == ""


def test_forged_box_in_prose_of_a_lab_is_rejected(root):
    with pytest.raises(PageError, match="^docs/labs/lab.py.*class='claim'"):
        light(root, '<div class="jp-RenderedMarkdown"><section class="claim">x</section></div>')
