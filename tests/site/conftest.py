"""Pages made from sample certificates, without a generator."""

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
from derivations.kernel.site.page_source import RANKS
from derivations.kernel.store.certificates import CertificateError


# Test modules are imported one by one, so that a helper beside them is loaded by hand.
def beside(name):
    spec = importlib.util.spec_from_file_location(f"site_{name}", Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[f"site_{name}"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytest_itemcollected(item):
    """What opens pages in a browser has a command of its own, and what builds the site once more takes minutes."""
    asked = {*getattr(item, "fixturenames", ())}
    if {"browse", "chromium"} & asked:
        item.add_marker(pytest.mark.browser)
    if "zensical" in asked:
        item.add_marker(pytest.mark.slow)


samples, browser, visiting = beside("samples"), beside("browser"), beside("visits")


@pytest.fixture
def certificates(monkeypatch):
    """The certificates that pages see, by topic; a test may change them."""
    store = samples.certificates()

    def load(topic):
        if topic not in store:
            raise CertificateError(f"'{topic}' has no certificate;\nrun: python -m derivations check {topic}")
        return store[topic]

    monkeypatch.setattr(site.page, "load", load)
    return store


@pytest.fixture
def page(certificates, tmp_path):
    """A function that turns the text of docs/<name> into HTML."""
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
    """A function that returns the one line with which a page is refused."""

    def make(text, **options):
        with pytest.raises(site.PageError) as caught:
            page(text, **options)
        assert "\n" not in caught.value.format_message()
        return caught.value.format_message()

    return make


# The site itself --------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]


def run(root, *command):
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
    """A function that has a folder made once for all of the processes that run tests together. One at a time is made, since what they
    build from, a folder of kept results, is one."""
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
    """A function that builds the site with MkDocs, under a name of its own, and returns where it is."""

    def into(folder):
        run(ROOT, "mkdocs", "build", "--strict", "--site-dir", str(folder / "site"))
        return folder / "site"

    return lambda name: once(name, into)


@pytest.fixture(scope="session")
def built(build):
    """The site as MkDocs builds it; or BUILT_SITE, a folder where it was built already, for whoever works on one of these tests."""
    there = os.environ.get("BUILT_SITE")
    return Path(there).resolve() if there else build("built-site")


@pytest.fixture(scope="module")  # Playwright's loop may not run while another file's tests run theirs
def browse(built, program):
    """A function that opens a page of the site, such as "softmax/temperature/", in a browser that a test drives as a reader does: see
    browser.py. Further arguments are those of `look`."""
    with visiting.served(built) as site, browser.started(program(*browser.BROWSERS)) as one:

        def browse(page, **look):
            one.look(**look)
            one.open(site + page)
            return one

        yield browse


@pytest.fixture(scope="session")
def chromium(program):
    """A function that starts a browser of its own, for a block."""
    path = program(*browser.BROWSERS)
    return lambda: browser.started(path)


@pytest.fixture(scope="session")
def visits():
    """The visits to every page of a site: see visits.py."""
    return visiting


@pytest.fixture(scope="session")
def zensical(once):
    """The site as Zensical builds it, from a copy: it has no option for where to build. It also keeps pages it rendered,
    whatever became of their certificates: hence --clean."""

    def into(root):
        for name in ("docs", "snippets", "derivations", ".certificates"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("mkdocs.yml", "pyproject.toml"):  # the rooms are drawn from the contracts
            shutil.copy(ROOT / name, root)
        (root / "tests/kernel").mkdir(parents=True)
        shutil.copy(ROOT / "tests/kernel/recipes.py", root / "tests/kernel")  # the claim language's page includes it
        run(root, "zensical", "build", "--clean")
        run(root, "derivations", "finish", "site")
        return root / "site"

    return once("zensical-site", into)


@pytest.fixture(scope="session")
def asked():
    """The pages that ask for claims, by their place in the site, and how many blocks each has."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        openings = site.Source(path.read_text(encoding="utf-8"), ROOT / "docs").openings()  # not what a fence shows
        blocks = sum(opening.name in (*RANKS, "derivation") for opening in openings)
        place = path.relative_to(ROOT / "docs").with_suffix("")
        if blocks:
            found[str(place.parent / "index.html" if place.name == "index" else place / "index.html")] = blocks
    return found


@pytest.fixture(scope="session")
def kept_labs():
    return lambda: sorted((ROOT / ".certificates" / "labs").glob("*"))


# The package of the snippets -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def packaging():
    """The script that builds the package and tries it."""
    spec = importlib.util.spec_from_file_location("ci_wheel", ROOT / ".ci" / "wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def installed(once, packaging):
    """A Python that has the built package of the snippets, and does not see this repository. The other packages are those of the
    Python that runs the tests; `make wheel` tries the package without them."""

    def into(folder):
        venv.create(folder / "environment", with_pip=False)
        python = folder / "environment" / "bin" / "python"
        place = subprocess.check_output([python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True).strip()
        with zipfile.ZipFile(packaging.build(folder)) as wheel:
            wheel.extractall(place)
        others = {str(Path(importlib.util.find_spec(name).origin).parents[1]) for name in packaging.dependencies()}
        Path(place, "others.pth").write_text("\n".join(sorted(others)))
        return folder

    return once("installed-snippets", into) / "environment" / "bin" / "python"
