"""Tests of `mkdocs serve`: pages show the results of a check without being edited, boxes show mistakes, and nothing stops the server.

Published builds stay strict.
"""

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from types import SimpleNamespace

import pytest
from jinja2 import Environment, FileSystemLoader
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.livereload import LiveReloadServer

from derivations.kernel.check import coq_run
from derivations.kernel.command import mutants_report
from derivations.kernel.site import PageError, content_policy_hook, incremental_build, page_errors, serve_hook
from derivations.kernel.store import certificates, rejections, store

ROOT = Path(__file__).parents[2]
GENEROUS = 400  # the seconds that a test waits for something that takes one second, in case the machine is busy
SCRIPT = """from derivations.kernel import Derivation, matrix, sizes

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A sum transposed")
derivation.identity("sum", (A + B).T, A.T + B.T, title="The transpose of a sum")
"""
MORE = SCRIPT + 'derivation.identity("twice", A.T.T, A)\n'
PAGE = '# Sums\n\n/// derivation | chapter/tiny\n///\n\n```python\n--8<-- "snippets/tiny.py:one"\n```\n'
SNIPPET = "# --8<-- [start:one]\ndef one():\n    return 1\n# --8<-- [end:one]\n"
CONFIG = """site_name: Sample
theme: {name: material, font: false}
nav: [Home: index.md, Other: other.md]
hooks: [derivations/kernel/site/content_policy_hook.py, derivations/kernel/site/serve_hook.py]
markdown_extensions:
  - attr_list
  - pymdownx.blocks.details
  - pymdownx.highlight
  - pymdownx.superfences
  - pymdownx.snippets: {base_path: ["."], check_paths: true}
  - derivations.kernel.site
watch: [derivations, snippets]
"""


@pytest.fixture
def checkout(tmp_path):
    """Return a small checkout with the kernel, one topic and two pages."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "derivations/kernel", root / "derivations/kernel", ignore=shutil.ignore_patterns("__pycache__"))
    files = {
        "derivations/__init__.py": "",
        "derivations/__main__.py": (ROOT / "derivations/__main__.py").read_text(),
        "derivations/chapter/tiny.py": SCRIPT,
        "snippets/tiny.py": SNIPPET,
        "docs/index.md": PAGE,
        "docs/other.md": "# Another\n\nNothing of note.\n",
        "mkdocs.yml": CONFIG,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    def run(*command):
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, env=environment(), timeout=GENEROUS
        )

    return SimpleNamespace(root=root, run=run, script=root / "derivations/chapter/tiny.py", page=root / "docs/index.md")


def environment():
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CI")}
    return kept | {"NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def served(checkout, tmp_path):
    """Return a function that waits until a served page contains a text, and returns the page. The server ends with the test."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(tmp_path / "said", "w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"],
            cwd=checkout.root,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=environment(),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def ask(address=""):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{address}", timeout=GENEROUS) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError:
            return ""

    def until(text, address="", without="\0"):
        """Return the page as soon as it contains one text and not the other."""
        end = time.monotonic() + GENEROUS
        while time.monotonic() < end:
            assert process.poll() is None, (tmp_path / "said").read_text()
            page = ask(address)
            if text in page and without not in page:
                return page
            time.sleep(0.05)
        raise AssertionError(f"no {text!r} on the page:\n{page[-4000:]}\n{(tmp_path / 'said').read_text()[-3000:]}")

    until.said = lambda: (tmp_path / "said").read_text()
    yield until
    process.send_signal(signal.SIGINT)
    assert process.wait(GENEROUS) == 0


def shown(page):
    return page.partition("<article")[2].partition("</article>")[0]


@pytest.mark.slow
def test_typical_editing_session(checkout, served):
    """Each step waits for the effect of the previous one. No page is edited because a script changed."""
    until, script = served, checkout.script
    page = until("has no certificate")
    assert 'class="mistake"' in page and 'class="claim ' not in page

    assert checkout.run("derivations", "check").returncode == 0
    page = until('class="claim claim--identity claim--claim"', without='class="mistake"')
    assert "<style>.mistake" not in page and "The transpose of a sum" in page

    program = checkout.root / "docs/sympy/chapter/tiny/sum.py"
    assert 'href="sympy/chapter/tiny/sum.py"' in page and program.read_text() == until("sympy", "sympy/chapter/tiny/sum.py")
    program.unlink()
    until("is not the file that was checked")
    assert checkout.run("derivations", "check").returncode == 0  # from the certificate: nothing but the program is new
    until('href="sympy/chapter/tiny/sum.py"', without='class="mistake"')

    script.write_text(MORE.replace("A.T + B.T", "A.T - B.T"))
    page = until("is stale, since derivations/chapter/tiny.py changed")
    assert 'id="sum"' in page and "<math" not in shown(page) and 'class="claim ' not in page
    assert checkout.run("derivations", "check").returncode == 1
    page = until("claim &#x27;sum&#x27;: false: at ")
    assert "derivations/chapter/tiny.py:6: " in page and "(A + B)ᵀ = Aᵀ - Bᵀ" in page and "<math" not in shown(page)
    assert "is not shown because" in page and "(Aᵀ)ᵀ = A" in page and page.count("false: at ") == 1 and program.exists()
    assert "Nothing of note." in until("Nothing of note.", "other/")
    built = checkout.run("mkdocs", "build", "--strict")
    assert built.returncode != 0 and "Traceback" not in built.stderr and not (checkout.root / "site/index.html").exists()
    assert built.stderr.rstrip().splitlines()[-1].startswith("Error: docs/index.md:3: chapter/tiny cannot be shown: ")

    script.write_text(MORE)
    assert checkout.run("derivations", "check").returncode == 0
    until('href="sympy/chapter/tiny/twice.py"', without='class="mistake"')
    until("sympy", "sympy/chapter/tiny/twice.py", without="404")
    assert "Nothing of note." in until("Nothing of note.", "other/")

    (checkout.root / "snippets/tiny.py").write_text(SNIPPET.replace("return", "return 41 +"))
    until("41", without='class="mistake"')
    checkout.page.write_text(PAGE.replace(":one", ":noe") + "\nSo a = b.\n\nBelow.\n")
    page = until("did you mean one?")
    assert shown(page).count('class="mistake"') == 2 and "docs/index.md:10: " in page and "Below." in page
    checkout.page.write_text(PAGE)
    until('class="claim claim--identity claim--claim"', without='class="mistake"')

    config = checkout.root / "mkdocs.yml"
    config.write_text(CONFIG + "plugins: [nothing_of_this_name]\n")
    assert "configuration error" in until("The site is not built", "other/")  # the terminal says which error it is
    assert "nothing_of_this_name" in until.said()
    config.write_text(CONFIG)
    until('class="claim claim--identity claim--claim"', without='class="mistake"')
    assert "Nothing of note." in until("Nothing of note.", "other/")
    assert "Traceback" not in until.said()


# Programs come and go while pages are built ---------------------------------------------------------------------------------------

RACING = """from pathlib import Path

def on_nav(nav, *, config, files):  # runs after the files were listed
    home = Path(config.docs_dir) / "sympy/chapter"
    (home / "{gone}.py").unlink(missing_ok=True)
    (home / "{new}.py").write_text("new")
"""


@pytest.fixture
def built(checkout, tmp_path, monkeypatch):
    """Return a function that builds as the server does while a hook removes one program and adds another, and returns the folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(checkout.root)
    for name in ("stays", "gone"):
        (checkout.root / "docs/sympy/chapter").mkdir(parents=True, exist_ok=True)
        (checkout.root / f"docs/sympy/chapter/{name}.py").write_text(name)
    checkout.page.write_text("# Page\n\n[the program](sympy/chapter/new.py)\n")
    (checkout.root / "docs/other.md").write_text("# Other\n\n[the program](sympy/chapter/new.py)\n")

    def build(gone, new):
        (checkout.root / "racing.py").write_text(RACING.format(gone=gone, new=new))
        hooks = CONFIG.replace("hooks: [derivations", f"hooks: [racing.py, {ROOT}/derivations").replace(
            ", derivations", f", {ROOT}/derivations"
        )
        (checkout.root / "mkdocs.yml").write_text(hooks)
        site = tmp_path / "mkdocs_site"
        serve_hook.on_startup(command="serve", dirty=False)
        mkdocs_build(load_config(str(checkout.root / "mkdocs.yml"), site_dir=str(site)), serve_url="http://127.0.0.1/")
        return site

    return build


def test_program_removed_during_the_build_stops_nothing(built, strict_afterwards):
    site = built(gone="gone", new="stays")
    assert [path.stem for path in (site / "sympy/chapter").iterdir()] == ["stays"]


def test_pages_link_to_a_program_added_during_the_build(built, strict_afterwards):
    site = built(gone="nothing", new="new")
    assert 'href="../sympy/chapter/new.py"' in (site / "other/index.html").read_text()
    assert (site / "sympy/chapter/new.py").read_text() == "new"


def test_added_or_removed_program_does_not_rebuild_all_pages(checkout):
    config = load_config(str(checkout.root / "mkdocs.yml"), hooks=[], markdown_extensions=[])
    rebuild = incremental_build.Rebuild(config, lambda: None)
    for name, same in (("sympy/chapter/a.py", True), ("coq/A.v", True), ("figures/chapter/a.py", False), ("a.md", False)):
        before = rebuild.read_shared_state()
        (checkout.root / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout.root / "docs" / name).write_text("")
        assert (rebuild.read_shared_state() == before) is same, name


@pytest.fixture
def clocks(monkeypatch):
    made = []

    class Clock:
        def __init__(self, seconds, then):
            made.append(self)
            self.then, self.runs = then, False

        def start(self):
            self.runs = True

        def cancel(self):
            self.runs = False

    monkeypatch.setattr(incremental_build, "Timer", Clock)
    monkeypatch.setattr(rejections, "end_round", lambda: None)
    return made


def test_deferred_pages_are_built_after_a_pause(checkout, clocks, monkeypatch):
    rebuild = incremental_build.Rebuild(load_config(str(checkout.root / "mkdocs.yml"), hooks=[], markdown_extensions=[]), lambda: None)
    changed = {"index.md": {"file:/a/docs/index.md"}, "labs/lab.py": {"file:/a/snippets/tiny.py"}, "trust.md": {"all"}}
    monkeypatch.setattr(incremental_build, "_rebuilding", {"index.md"})
    assert rebuild.choose_pages(changed) == ["index.md"] and [clock.runs for clock in clocks] == [True]
    assert rebuild.choose_pages(changed) == ["index.md"] and [clock.runs for clock in clocks] == [False, True]
    assert incremental_build.is_search_delayed()
    clocks[-1].then()
    assert rebuild.choose_pages(changed) == list(changed) and not clocks[-1].runs and not incremental_build.is_search_delayed()
    assert (
        rebuild.choose_pages({"labs/lab.py": {"file:/a/docs/labs/lab.py"}}) == ["labs/lab.py"] and len(clocks) == 3
    )  # then the search is written
    assert incremental_build.is_search_delayed()
    assert rebuild.choose_pages({}) == [] and not clocks[-1].runs and not incremental_build.is_search_delayed()
    assert rebuild.choose_pages(changed) == ["index.md"] and incremental_build.is_search_delayed()
    incremental_build._rebuilding.clear()  # all is built
    assert not incremental_build.is_search_delayed()


def test_page_waits_for_the_check_of_its_topics(monkeypatch, tmp_path):
    files = {"a": "old"}

    def standing(topic):
        raise certificates.CertificateError("stale")

    monkeypatch.setattr(certificates, "certificate_digest", standing)
    monkeypatch.setattr(rejections, "get", lambda topic: {"inputs": files} if files else None)
    monkeypatch.setattr(rejections, "find_changes", lambda content: [name for name, was in content["inputs"].items() if was == "old"])
    shows = ("index.md", {"topic:chapter/tiny"})
    assert not incremental_build.is_urgent(*shows)
    files["a"] = "new"  # it was rejected in its current state
    assert incremental_build.is_urgent(*shows)
    files.clear()
    assert not incremental_build.is_urgent(*shows)
    monkeypatch.setattr(certificates, "certificate_digest", lambda topic: "hash")
    assert incremental_build.is_urgent(*shows)
    assert not incremental_build.is_urgent("trust.md", {"all", "topic:chapter/tiny"})
    both = {"file:/project/snippets/chapter/tiny.py", "topic:chapter/tiny"}
    assert incremental_build.is_urgent("index.md", both)
    monkeypatch.setattr(certificates, "certificate_digest", standing)
    assert not incremental_build.is_urgent("index.md", both) and incremental_build.is_urgent("index.md", both, has_waited=True)
    monkeypatch.setitem(
        incremental_build._pages, "trust.md", incremental_build.BuiltPage(tmp_path, "trust/", {"all:": "", "file:/a.py": ""})
    )
    assert not incremental_build.is_urgent("trust.md", both, has_waited=True)
    many = dict.fromkeys((f"topic:chapter/t{k}" for k in range(11)), "")
    monkeypatch.setitem(incremental_build._pages, "wrong.md", incremental_build.BuiltPage(tmp_path, "wrong/", many))
    assert not incremental_build.is_urgent("wrong.md", both, has_waited=True)


def test_page_with_edited_file_waits_briefly_for_the_check(checkout, clocks, monkeypatch):
    rebuild = incremental_build.Rebuild(load_config(str(checkout.root / "mkdocs.yml"), hooks=[], markdown_extensions=[]), lambda: None)
    monkeypatch.setattr(incremental_build, "is_checked", lambda topic: False)
    changed = {"tiny.md": {"file:/a/snippets/tiny.py", "topic:chapter/tiny"}, "map.md": {"file:/a/docs/tiny.md"}}
    assert rebuild.choose_pages(changed) == [] and clocks[-1].then == rebuild.build_urgent
    clocks[-1].then()
    assert rebuild.choose_pages(changed) == ["tiny.md"] and clocks[-1].then == rebuild.build_all
    assert rebuild.choose_pages(changed) == [] and clocks[-1].then == rebuild.build_urgent
    monkeypatch.setattr(incremental_build, "is_checked", lambda topic: True)
    assert rebuild.choose_pages(changed) == [] and clocks[-1].then == rebuild.build_urgent


def test_nothing_is_built_while_all_pages_wait_for_a_check(checkout, clocks, monkeypatch):
    rebuild = incremental_build.Rebuild(load_config(str(checkout.root / "mkdocs.yml"), hooks=[], markdown_extensions=[]), lambda: None)
    built, changed = [], {"tiny.md": {"file:/a/snippets/tiny.py", "topic:chapter/tiny"}}
    monkeypatch.setattr(incremental_build, "_pages", {"tiny.md": None})
    monkeypatch.setattr(incremental_build, "is_checked", lambda topic: False)
    monkeypatch.setattr(incremental_build, "find_outdated_pages", lambda: changed)
    monkeypatch.setattr(incremental_build, "has_many_topics", lambda *page: False)
    monkeypatch.setattr(rebuild, "build_pages", built.append)
    rebuild()
    assert built == []
    clocks[-1].then()
    rebuild()
    assert built == [["tiny.md"]]
    changed.clear()  # for example a style sheet, which is no page
    rebuild()
    assert built == [["tiny.md"], []]


def test_template_is_compiled_again_only_after_a_change(tmp_path):
    def rendered():
        return Environment(loader=FileSystemLoader(tmp_path), bytecode_cache=compiled).get_template("page.html").render()

    compiled = serve_hook.TemplateCache()
    (tmp_path / "page.html").write_text("one")
    assert rendered() == "one" and len(compiled.codes) == 1
    (kept,) = compiled.codes.values()
    assert rendered() == "one" and [*compiled.codes.values()] == [kept]
    (tmp_path / "page.html").write_text("two")
    assert rendered() == "two" and [*compiled.codes.values()] != [kept]


def test_page_of_edited_topic_is_built_before_pages_that_show_it(checkout, clocks, monkeypatch):
    rebuild = incremental_build.Rebuild(load_config(str(checkout.root / "mkdocs.yml"), hooks=[], markdown_extensions=[]), lambda: None)
    monkeypatch.setattr(incremental_build, "is_checked", lambda topic: True)
    changed = {"chapter/other.md": {"topic:chapter/tiny"}, "chapter/tiny.md": {"topic:chapter/tiny", "file:/a/snippets/chapter/tiny.py"}}
    assert rebuild.choose_pages(changed) == ["chapter/tiny.md"] and clocks[-1].then == rebuild.build_urgent
    clocks[-1].then()
    assert (
        rebuild.choose_pages({"chapter/other.md": {"topic:chapter/tiny"}}) == ["chapter/other.md"] and clocks[-1].then == rebuild.build_all
    )
    assert rebuild.choose_pages({"index.md": {"file:/a/snippets/chapter/tiny.py"}}) == ["index.md"]


def test_nothing_else_is_built_while_page_of_edited_topic_is_pending(checkout, clocks, monkeypatch):
    rebuild = incremental_build.Rebuild(load_config(str(checkout.root / "mkdocs.yml"), hooks=[], markdown_extensions=[]), lambda: None)
    settled = set()
    monkeypatch.setattr(incremental_build, "is_checked", lambda topic: topic in settled)
    snippet = "file:/a/snippets/chapter/tiny.py"
    changed = {
        "reference.md": {snippet},  # shows no topic and takes long
        "chapter/tiny.md": {"topic:chapter/tiny", snippet},
        "chapter/other.md": {"topic:chapter/tiny", "topic:chapter/other", snippet},  # is being checked itself
    }
    assert rebuild.choose_pages(changed) == []
    settled.add("chapter/tiny")
    assert rebuild.choose_pages(changed) == ["chapter/tiny.md"]
    del changed["chapter/tiny.md"]
    settled.add("chapter/other")
    assert rebuild.choose_pages(changed) == ["chapter/other.md"]


def test_edited_page_is_built_before_pages_that_link_to_it():
    edited = {"file:/project/docs/chapter/tiny.md"}
    assert incremental_build.is_urgent("chapter/tiny.md", edited)
    assert not incremental_build.is_urgent("map.md", edited) and not incremental_build.is_urgent("chapter/other.md", edited)
    assert incremental_build.is_urgent("chapter/other.md", {"file:/project/snippets/chapter/tiny.py"})
    assert incremental_build.is_urgent("labs/one.py", {"file:/project/docs/labs/one.py"})
    assert not incremental_build.is_urgent("labs/one.py", {"file:/project/snippets/chapter/tiny.py"})


def test_end_of_coq_or_mutant_run_is_announced(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(mutants_report.mutation_run, "run", lambda *_: {})
    monkeypatch.setattr(coq_run, "publish_sources", lambda *_, **__: None)
    for ends in (lambda: mutants_report.main((), True, False, 1), lambda: coq_run.run([], False, lambda some, decided: {})):
        before = rejections.round_file().read_text()
        ends()
        assert rejections.round_file().read_text() != before


def test_end_of_a_check_is_noticed_before_other_files_are_scanned(tmp_path):
    bell, built, before = tmp_path / "checked", Event(), {*enumerate_threads()}
    bell.write_text("")

    def started():
        return {*enumerate_threads()} - before

    server = LiveReloadServer(built.set, "127.0.0.1", 0, str(tmp_path), polling_interval=3600)
    serve_hook.watch_closely(server, bell)
    Thread(target=server.serve, daemon=True).start()
    try:
        assert any(bell.write_text(f"{turn}") and built.wait(0.1) for turn in range(600))
    finally:
        server.shutdown(wait=True)
    for thread in started():
        thread.join(60)
    assert not started()


# Strict mode by default ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def strict_afterwards():
    yield
    page_errors.show_errors(None)


def test_only_the_server_shows_mistakes(strict_afterwards, monkeypatch):
    for name in ("SERVE", "MKDOCS_COMMAND", "LENIENT", "MKDOCS_SERVE"):
        monkeypatch.setenv(name, "serve")
    for command in ("build", "gh-deploy", "get-deps", ""):
        serve_hook.on_startup(command=command, dirty=False)
        assert not page_errors.are_shown()
    serve_hook.on_startup(command="serve", dirty=False)
    assert page_errors.are_shown()
    serve_hook.on_startup(command="build", dirty=False)
    assert not page_errors.are_shown()


def test_build_into_a_publishable_folder_is_strict(strict_afterwards, tmp_path):
    serve_hook.on_startup(command="serve", dirty=False)
    config = SimpleNamespace(site_dir=str(tmp_path / "site"), plugins={})
    serve_hook.on_config(config)
    assert not page_errors.are_shown()
    with pytest.raises(PageError):
        page_errors.raise_or_report(PageError("a mistake"))


def test_folder_of_the_server_is_recognised(strict_afterwards, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert serve_hook.is_server_folder(tmp_path / "mkdocs_abc")
    assert not serve_hook.is_server_folder(tmp_path / "site") and not serve_hook.is_server_folder(tmp_path / "a" / "mkdocs_abc")


def test_shown_mistake_is_also_logged_in_the_terminal(strict_afterwards, caplog):
    serve_hook.on_startup(command="serve", dirty=False)
    with caplog.at_level(logging.WARNING):
        page_errors.raise_or_report(PageError("docs/a.md:3: a mistake"))
    assert "docs/a.md:3: a mistake" in caplog.text


def test_policy_allows_the_reload_script_only_while_serving(strict_afterwards):
    html = "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'self' 'unsafe-inline'\"><script>1</script>"
    assert "sha256-" in content_policy_hook.on_post_page(html) and "unsafe-inline" not in content_policy_hook.on_post_page(html)
    serve_hook.on_startup(command="serve", dirty=False)
    assert content_policy_hook.on_post_page(html) == html


def test_style_of_boxes_is_added_only_to_pages_with_boxes(strict_afterwards):
    serve_hook.on_startup(command="serve", dirty=False)
    assert serve_hook.on_post_page("<head></head><p>x</p>") == "<head></head><p>x</p>"
    assert "<style>" in serve_hook.on_post_page(f"<head></head>{page_errors.render_box('x')}")


def test_site_uses_the_serving_hook():
    assert re.search(r"^  - derivations/kernel/site/serve_hook\.py$", (ROOT / "mkdocs.yml").read_text(), flags=re.M)
