"""The addresses of pages that have moved lead to the pages."""

import re
from pathlib import Path

import pytest
from mkdocs.config import load_config

ROOT = Path(__file__).parents[2]
REFRESH = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]*)">')


@pytest.fixture(scope="module")
def redirects(built, crawler):
    """Return the pages of the site that redirect, each with the page to which it leads, as paths in the site."""
    site = built.resolve()
    found = [path for path in site.rglob("*.html") if crawler.is_redirect(path)]
    targets = ((path.parent / REFRESH.search(path.read_text(encoding="utf-8"))[1] / "index.html").resolve() for path in found)
    return {path.relative_to(site).as_posix(): target.relative_to(site).as_posix() for path, target in zip(found, targets)}


def test_each_page_that_the_settings_name_redirects_and_no_other_does(redirects):
    moved = load_config(str(ROOT / "mkdocs.yml"), hooks=[]).plugins["redirects"].config["redirect_maps"]
    assert redirects == {f"{old.removesuffix('.md')}/index.html": f"{new.removesuffix('.md')}/index.html" for old, new in moved.items()}


def test_each_redirect_leads_to_a_page(built, redirects, crawler):
    assert redirects
    for target in redirects.values():
        assert (built / target).is_file() and not crawler.is_redirect(built / target), target


@pytest.mark.parametrize("name", ["linear", "lstm", "memory", "rnn"])
def test_each_page_of_the_renamed_chapter_is_found(redirects, name):
    assert redirects[f"kin/{name}/index.html"] == f"predecessors/{name}/index.html"


@pytest.mark.parametrize(("script", "new"), [(True, "predecessors/lstm/#can-grow"), (False, "predecessors/lstm/")])
def test_a_browser_follows_a_redirect_and_keeps_the_anchor_if_it_runs_scripts(browse, script, new):
    one = browse("kin/lstm/#can-grow", script=script)
    one.until_at("/predecessors/lstm/**")
    assert one.page.url.endswith(f"/{new}")


def test_search_does_not_list_redirects(built, redirects):
    index = (built / "search/index.json").read_text(encoding="utf-8")
    assert '"predecessors/lstm/"' in index
    assert not [old for old in redirects if f'"{old.removesuffix("index.html")}"' in index]
