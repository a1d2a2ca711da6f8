"""Test that Zensical, the theme's successor, renders the same pages from the same mkdocs.yml.

It ignores hooks and mkdocs-jupyter silently, even in a strict build, so these tests look for the important content in the pages.
"""

import json
import re

import pytest
from click.testing import CliRunner

from derivations.kernel.command.cli import main
from derivations.kernel.errors import KernelError
from derivations.kernel.site import finish_build


def claims(html):
    """Return every claim of a page: its id, its kind and its number of formulas."""
    sections = re.findall(r'<section class="claim claim--(\w+) claim--\w+" id="([\w-]+)">(.*?)</section>', html, flags=re.S)
    return [(name, kind, body.count("<math")) for kind, name, body in sections]


def test_both_sites_have_every_claim(built, zensical, asked):
    assert len(asked) >= 8
    for page, blocks in asked.items():
        ours, theirs = (claims((site / page).read_text(encoding="utf-8")) for site in (built, zensical))
        assert len(ours) >= blocks > 0
        assert theirs == ours, page


def test_both_sites_have_the_formulas_in_text(built, zensical, asked):
    for page in asked:
        ours, theirs = ((site / page).read_text(encoding="utf-8") for site in (built, zensical))
        assert ours.count("<math") == theirs.count("<math") > 0, page
        assert "\x02" not in theirs and "certified" not in theirs


def test_both_sites_have_the_same_words(built, zensical, crawler):
    def said(path):
        html = path.read_text(encoding="utf-8")
        article = html[html.index("<article") : html.index("</article>")]
        return re.sub(r"<[^>]+>", " ", article).split()

    pages = sorted(path.relative_to(built) for path in built.rglob("*.html") if not crawler.is_redirect(path))
    lacking = [str(page) for page in pages if not (zensical / page).exists()]
    assert lacking == ["labs/scores/index.html"] and len(pages) > 70
    assert [str(page) for page in pages if str(page) not in [*lacking, "404.html"] and said(zensical / page) != said(built / page)] == []


# Of the code of pages, chapters that begin with an l are left out: in labs/, MkDocs and Zensical differ.
@pytest.mark.parametrize("pattern", ["claims.json", "llms.txt", "robots.txt", "**/*.ipynb", "[!l]*/*/*.py"])
def test_exports_are_equal(built, zensical, pattern):
    ours, theirs = ({path.relative_to(site): path.read_bytes() for path in site.glob(pattern)} for site in (built, zensical))
    assert ours and theirs == ours


def test_both_sites_redirect_alike(built, zensical, crawler):
    ours, theirs = (
        {path.relative_to(site): path.read_text() for path in site.rglob("*.html") if crawler.is_redirect(path)}
        for site in (built, zensical)
    )
    assert ours and theirs == ours


def test_pages_have_descriptions_and_allow_only_their_own_scripts(built, zensical, crawler):
    for page in (path for path in zensical.rglob("index.html") if not crawler.is_redirect(path)):
        ours, theirs = (
            re.findall(r'<meta name="description" content="[^"]*"', (site / page.relative_to(zensical)).read_text())
            for site in (built, zensical)
        )
        assert theirs == ours and len(ours) == 1, page
        policy = re.search(r"script-src ([^;]*)", page.read_text())[1]
        assert "'unsafe-inline'" not in policy and "'sha256-" in policy, page


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["console", "foreign", "wide", "cut", "formulas", "ids", "broken"])
def test_pages_have_no_fault_of_a_kind(visited, crawler, kind):
    assert len(visited) > 70
    assert crawler.faults(visited, kind) == {}, crawler.KINDS[kind]


@pytest.fixture(scope="module")
def visited(crawler, chromium, zensical):
    """Return the faults of each page that Zensical built."""
    (found,) = crawler.visited(chromium, zensical, ["light, 1280"], audited=[]).values()
    return found


def test_finishing_names_missing_parts_and_rejects_other_folders(tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("index", "other"):
        (tmp_path / f"docs/{name}.md").write_text(f"# {name}\n\nA page.\n")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text("site_name: Small\nsite_description: Two pages.\n")
    site = tmp_path / "site"
    site.mkdir()
    with pytest.raises(KernelError, match="contains no page of mkdocs.yml"):
        finish_build.finish(site, settings)
    (site / "index.html").write_text('<meta name="description" content="Two pages."><article>A page.</article>')
    assert finish_build.finish(site, settings) == ["other/"]
    assert 'content="A page."' in (site / "index.html").read_text()


def test_command_rejects_a_folder_without_a_build(tmp_path):
    done = CliRunner().invoke(main, ["finish", str(tmp_path)])
    assert done.exit_code == 1 and done.output.startswith("Error: ") and "contains no page of mkdocs.yml" in done.output


def test_links_between_claims_have_targets(zensical, asked):
    for page in asked:
        html = (zensical / page).read_text(encoding="utf-8")
        for uses in re.findall(r'<div class="claim__rows claim__uses">.*?</ul>', html, flags=re.S):
            for href in re.findall(r'href="([^"]*)"', uses):
                path, _, name = href.partition("#")
                target = (zensical / page).parent / path / ("index.html" if path else (zensical / page).name)
                assert f'id="{name}"' in target.read_text(encoding="utf-8"), f"{page}: {href}"


def test_search_indexes_of_both_sites_have_the_same_claims(built, zensical, asked):
    def places(site):
        pages = json.loads((site / "search/index.json").read_text(encoding="utf-8"))["pages"]
        read = (json.loads((site / f"search/pages/{number}.json").read_text(encoding="utf-8")) for number in range(len(pages)))
        return {url: [(kind, anchor, title) for kind, anchor, title, *_ in found if kind != "section"] for url, found in zip(pages, read)}

    ours, theirs = places(built), places(zensical)
    for page in asked:
        url = page.removesuffix("index.html")
        assert theirs[url] == ours[url] and len(ours[url]) > 1, page
        assert 'src="' in (html := (zensical / page).read_text(encoding="utf-8")) and "assets/js/search.js" in html


@pytest.mark.parametrize("name", ["stix-two-math.woff2", "OFL.txt"])
def test_assets_exist(zensical, name):
    assert (zensical / "assets/fonts" / name).stat().st_size > 1000


def test_requested_style_sheets_exist(zensical):
    asked = {
        (page.parent / href.partition("?")[0]).resolve()
        for page in zensical.rglob("index.html")
        for href in re.findall(r'<link rel="stylesheet" href="([^"]*)"', page.read_text(encoding="utf-8"))
    }
    assert len(asked) > 5 and [str(path) for path in asked if not path.is_file()] == []
