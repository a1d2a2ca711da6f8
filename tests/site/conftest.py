"""Fixtures that render pages from sample certificates without a site generator, and fixtures that build the whole site."""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import markdown
import pytest
from filelock import FileLock

from derivations.kernel import site
from derivations.kernel.site import prover_files
from derivations.kernel.site.page_source import RANKS
from derivations.kernel.store.certificates import CertificateError


def beside(name):
    """Load a helper module of this folder. An import statement would not find it, since this folder is not on the path."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[f"site_{name}"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytest_itemcollected(item):
    """Mark the tests that need a browser, which `make` runs separately, and those that build the site again, which takes minutes."""
    asked = {*getattr(item, "fixturenames", ())}
    if {"browse", "chromium"} & asked:
        item.add_marker(pytest.mark.browser)
    if "zensical" in asked:
        item.add_marker(pytest.mark.slow)


samples, browser, crawler_module = beside("sample_certificates"), beside("browser"), beside("crawler")


@pytest.fixture
def certificates(monkeypatch):
    """Return the certificates that pages load, by topic. A test may change them."""
    store = samples.certificates()

    def load(topic):
        if topic not in store:
            raise CertificateError(f"'{topic}' has no certificate;\nrun: python -m derivations check {topic}")
        return store[topic]

    monkeypatch.setattr(site.page, "load", load)
    return store


@pytest.fixture
def page(certificates, tmp_path):
    """Return a function that renders a text as the page docs/<name> and returns its HTML."""
    docs = tmp_path / "docs"

    def make(text, name="notes/page.md", front="", **options):
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(front + text, encoding="utf-8")
        extension = site.makeExtension(docs=str(docs), **options)
        return markdown.markdown(
            text,
            extensions=["attr_list", "tables", "toc", "pymdownx.highlight", "pymdownx.superfences", "pymdownx.blocks.details", extension],
        )

    return make


@pytest.fixture
def refused(page):
    """Return a function that returns the message with which a page is rejected, and asserts that it is one line."""

    def make(text, **options):
        with pytest.raises(site.PageError) as caught:
            page(text, **options)
        assert "\n" not in caught.value.format_message()
        return caught.value.format_message()

    return make


# The site itself --------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]


def run(root, *command):
    """Run `python -m COMMAND` in a folder, and fail with its output if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


@pytest.fixture(scope="session")
def once(tmp_path_factory, worker_id):
    """Return a function that makes a folder once for all processes of a test run.

    A lock lets only one be made at a time, since all builds use the same folder of stored results.
    """
    root = tmp_path_factory.getbasetemp()
    shared = root if worker_id == "master" else root.parent

    def once(name, make):
        with FileLock(shared / "building.lock"):
            if not (shared / name).exists():
                make(tmp_path_factory.mktemp(name)).rename(shared / name)
        return shared / name

    return once


@pytest.fixture(scope="session")
def build(once):
    """Return a function that builds the site with MkDocs under a given name and returns its folder."""

    def into(folder):
        run(ROOT, "mkdocs", "build", "--strict", "--site-dir", str(folder / "site"))
        return folder / "site"

    return lambda name: once(name, into)


@pytest.fixture(scope="session")
def built(build):
    """Return the folder of the site, built with MkDocs. To skip the build while working on a test, set BUILT_SITE to a built site."""
    there = os.environ.get("BUILT_SITE")
    return Path(there).resolve() if there else build("built-site")


@pytest.fixture(scope="module")  # Playwright's event loop must not run while the tests of another file run theirs
def browse(built, program):
    """Yield a function that opens a page of the site, such as "softmax/temperature/", in a browser (see browser.py).

    Further arguments are passed to `look`.
    """
    with crawler_module.served(built) as site, browser.started(program(*browser.BROWSERS)) as one:

        def browse(page, **look):
            one.look(**look)
            one.open(site + page)
            return one

        yield browse


@pytest.fixture(scope="session")
def fetched():
    """Skip the test if what `make prover` fetches is not here; in CI, fail."""
    if missing := prover_files.describe_missing():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}, and CI requires it", pytrace=False)
        pytest.skip(f"NOT TESTED: {missing}")


@pytest.fixture(scope="session")
def chromium(program):
    """Return a function that returns a context manager which runs a new browser."""
    path = program(*browser.BROWSERS)
    return lambda: browser.started(path)


@pytest.fixture(scope="session")
def crawler():
    """Return the module crawler.py, which opens every page of a site in a browser."""
    return crawler_module


@pytest.fixture(scope="session")
def zensical(once):
    """Return the folder of the site, built with Zensical.

    Zensical builds a copy of the project, since it has no option for the output folder. It caches rendered pages even if their certificates
    changed, so the build needs --clean.
    """

    def into(root):
        for name in ("docs", "snippets", "derivations", ".certificates"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("mkdocs.yml", "pyproject.toml"):  # a figure of the rooms reads the contracts in it
            shutil.copy(ROOT / name, root)
        (root / "tests/kernel/language").mkdir(parents=True)
        shutil.copy(ROOT / "tests/kernel/language/recipes.py", root / "tests/kernel/language")  # the claim language's page includes it
        run(root, "zensical", "build", "--clean")
        run(root, "derivations", "finish", "site")
        return root / "site"

    return once("zensical-site", into)


@pytest.fixture(scope="session")
def asked():
    """Return the number of blocks with claims on each page that has some, by the path of the page in the site."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        openings = site.Source(path.read_text(encoding="utf-8"), ROOT / "docs").openings()  # without those in code fences
        blocks = sum(opening.name in (*RANKS, "derivation") for opening in openings)
        place = path.relative_to(ROOT / "docs").with_suffix("")
        if blocks:
            found[str(place.parent / "index.html" if place.name == "index" else place / "index.html")] = blocks
    return found


@pytest.fixture(scope="session")
def kept_labs():
    """Return a function that lists the files of the stored labs."""
    return lambda: sorted((ROOT / ".certificates" / "labs").glob("*"))


# The package of the snippets -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def packaging():
    """Return the module .ci/wheel.py, which builds the package and tests it."""
    spec = importlib.util.spec_from_file_location("ci_wheel", ROOT / ".ci" / "wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def installed(once, packaging):
    """Return the path of a Python that has the built package of the snippets installed and does not see this repository."""

    def into(folder):
        with zipfile.ZipFile(packaging.build(folder)) as wheel:
            wheel.extractall(make_environment(folder, packaging.dependencies()))
        return folder

    return python_of(once("installed-snippets", into))


@pytest.fixture(scope="session")
def with_snippets(once, packaging):
    """Return the path of a Python that can import a copy of the folder `snippets`, but nothing else from the repository."""

    def into(folder):
        place = make_environment(folder, packaging.dependencies())
        shutil.copytree(ROOT / "snippets", place / "snippets", ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    return python_of(once("with-snippets", into))


def make_environment(folder, packages):
    """Make an environment in a folder, and return where its packages are. It uses these packages of the Python that runs the tests.

    `make wheel` tests the package without them."""
    venv.create(folder / "environment", with_pip=False)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = Path(subprocess.check_output([python_of(folder), "-I", "-c", code], text=True).strip())
    others = {str(Path(importlib.util.find_spec(name).origin).parents[1]) for name in packages}
    (place / "others.pth").write_text("\n".join(sorted(others)))
    return place


def python_of(folder):
    return folder / "environment" / "bin" / "python"
