"""Tests of the feed and the sitemap, which list when pages changed, and of the social cards of a published site."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from PIL import Image, ImageColor

from derivations.kernel.site import Source, change_feed, page_errors, site_exports_hook, social_cards
from derivations.kernel.site.figure_block import load_picture
from derivations.kernel.site.picture_image import COLOURS

ROOT = Path(__file__).parents[2]
PAGES = {"index.md": "# Home\n\nWhat it is.\n", "one/first.md": "# First\n\nIt says `a`. More.\n", "one/second.md": "# Second\n"}
CONFIG = f"""site_name: Sums & more
site_description: Of sums.
site_url: ADDRESS
docs_dir: docs
theme: {{name: material, custom_dir: {ROOT}/derivations/kernel/site/theme}}
nav: [{{Home: index.md}}, {{"One & only": [{{First: one/first.md}}, {{Second: one/second.md}}]}}]
hooks: [{ROOT}/derivations/kernel/site/site_exports_hook.py]
plugins: []
markdown_extensions: [toc, {{derivations.kernel.site: {{docs: DOCS}}}}]
"""
ATOM = {"a": change_feed.ATOM}
MAP = {"m": "http://www.sitemaps.org/schemas/sitemap/0.9"}


@pytest.fixture
def commit(tmp_path):
    """Return a function that writes files to a repository and commits them with a given date."""

    def git(*words, **more):
        who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        env = os.environ | who | more | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, env=env)

    def commit(when, **files):
        if not (tmp_path / ".git").exists():
            git("init")
        for name, text in files.items():
            path = tmp_path / "docs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        git("add", "docs")
        git("commit", "-m", "x", GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)

    return commit


@pytest.fixture
def site(tmp_path):
    """Return a function that builds a small site for an address and returns its folder."""
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")

    def build(address="https://example.org/sums/", into="site"):
        (tmp_path / "mkdocs.yml").write_text(CONFIG.replace("DOCS", str(tmp_path / "docs")).replace("ADDRESS", address))
        mkdocs_build(load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / into)))
        return tmp_path / into

    return build


@pytest.fixture
def dated(site, commit):
    commit("2026-01-01T10:00:00+02:00", **PAGES)
    commit("2026-02-01T23:30:00-05:00", **{"one/first.md": PAGES["one/first.md"] + "\nAgain.\n"})
    return site


def head(site, page=""):
    return BeautifulSoup((site / page / "index.html").read_text(encoding="utf-8"), "html.parser").head


def said(site, page=""):
    return {one.get("property") or one.get("name"): one.get("content") for one in head(site, page).select("meta")}


# The feed -------------------------------------------------------------------------------------------------------------------------


def test_feed_lists_pages_by_last_commit_newest_first(dated):
    feed = ElementTree.parse(dated() / "feed.xml").getroot()
    assert [feed.findtext(f"a:{tag}", "", ATOM) for tag in ("title", "subtitle", "id", "updated")] == [
        "Sums & more", "Of sums.", "https://example.org/sums/", "2026-02-02T04:30:00Z",
    ]  # fmt: skip
    assert feed.find("a:link[@rel='self']", ATOM).get("href") == "https://example.org/sums/feed.xml"
    entries = [
        tuple(entry.findtext(f"a:{tag}", "", ATOM) for tag in ("title", "id", "updated", "summary"))
        for entry in feed.findall("a:entry", ATOM)
    ]
    assert entries == [
        ("First", "https://example.org/sums/one/first/", "2026-02-02T04:30:00Z", "It says a."),
        ("Sums & more", "https://example.org/sums/", "2026-01-01T08:00:00Z", "What it is."),
        ("Second", "https://example.org/sums/one/second/", "2026-01-01T08:00:00Z", "Of sums."),
    ]
    assert feed.find("a:entry/a:category", ATOM).get("term") == "One & only"


def test_pages_link_to_the_feed(dated):
    site = dated()
    links = [head(site, page).select_one("link[type='application/atom+xml']")["href"] for page in ("", "one/first")]
    assert links == ["feed.xml", "../../feed.xml"]


def test_uncommitted_page_is_not_in_the_feed(dated, tmp_path):
    (tmp_path / "docs/one/second.md").rename(tmp_path / "docs/one/new é.md")
    (tmp_path / "docs/one/second.md").write_text("# Second\n")
    assert set(change_feed.read_dates(tmp_path / "docs")) == set(PAGES)
    assert "new" not in (dated() / "feed.xml").read_text(encoding="utf-8")


def test_same_commits_give_the_same_feed(dated):
    assert (dated() / "feed.xml").read_bytes() == (dated(into="again") / "feed.xml").read_bytes()


def test_file_name_with_non_ascii_letters_has_a_date(commit, tmp_path):
    commit("2026-01-01T10:00:00+00:00", **{"é ü.md": "# A\n"})
    assert change_feed.read_dates(tmp_path / "docs") == {"é ü.md": datetime(2026, 1, 1, 10, tzinfo=UTC)}


def test_without_git_there_is_no_feed_and_no_date_in_the_sitemap(site, monkeypatch):
    monkeypatch.setenv("PATH", "")
    made = site()
    assert not (made / "feed.xml").exists() and not head(made).select("link[type='application/atom+xml']")
    assert "<loc>https://example.org/sums/one/first/</loc>" in (made / "sitemap.xml").read_text()
    assert "lastmod" not in (made / "sitemap.xml").read_text()


def test_shallow_clone_has_no_dates(dated, tmp_path):
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{tmp_path}", str(tmp_path / "shallow")], check=True)
    assert change_feed.read_dates(tmp_path / "shallow/docs") == {} and change_feed.read_dates(tmp_path / "docs")


def test_site_without_url_has_no_feed(dated):
    assert not (dated(address='""') / "feed.xml").exists()


# The sitemap ------------------------------------------------------------------------------------------------------------------------


def test_sitemap_lists_pages_with_their_dates(dated):
    root = ElementTree.parse(dated() / "sitemap.xml").getroot()
    assert {one.findtext("m:loc", "", MAP): one.findtext("m:lastmod", "", MAP) for one in root} == {
        "https://example.org/sums/": "2026-01-01",
        "https://example.org/sums/one/first/": "2026-02-02",
        "https://example.org/sums/one/second/": "2026-01-01",
    }


@pytest.mark.slow
def test_sitemap_lists_exactly_the_pages_of_the_site(built, crawler):
    root = ElementTree.parse(built / "sitemap.xml").getroot()
    listed = [one.findtext("m:loc", "", MAP).removeprefix("http://127.0.0.1:8000/") for one in root]
    pages = [path.parent.relative_to(built).as_posix() for path in built.rglob("index.html") if not crawler.is_redirect(path)]
    assert sorted(listed) == sorted("" if page == "." else f"{page}/" for page in pages)


# Cards ----------------------------------------------------------------------------------------------------------------------------


def test_published_page_has_a_card(site):
    made = site()
    meta = said(made, "one/first")
    assert meta["og:image"] == "https://example.org/sums/cards/one/first.png" and meta["twitter:card"] == "summary_large_image"
    assert said(made)["og:image"] == "https://example.org/sums/cards/index.png"
    for name in ("index", "one/first", "one/second"):
        with Image.open(made / f"cards/{name}.png") as card:
            assert card.size == social_cards.SIZE == (int(meta["og:image:width"]), int(meta["og:image:height"]))
            assert len(card.convert("RGB").getcolors(256)) > 8  # the card is not blank


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/", "http://localhost/", '""'])
def test_site_with_local_url_has_no_cards(site, address):
    made = site(address=address)
    assert not (made / "cards").exists()
    assert "og:image" not in said(made) and said(made)["twitter:card"] == "summary"


def test_server_builds_no_cards_and_no_feed(dated):
    page_errors.show_errors(print)
    try:
        made = dated()
    finally:
        page_errors.show_errors(None)
    assert (made / "index.html").exists() and not (made / "cards").exists() and not (made / "feed.xml").exists()


def test_long_title_fits_on_the_card(tmp_path):
    social_cards.draw_card(
        tmp_path / "a.png", title="Antidisestablishmentarian " * 12, chapter="A chapter", description="Words. " * 90, site="A site"
    )
    with Image.open(tmp_path / "a.png") as card:
        ink = card.convert("L").point(lambda value: 255 * (value < 160))
        assert ink.crop((social_cards.RIGHT + 4, 0, *social_cards.SIZE)).getbbox() is None
        assert ink.crop((social_cards.LEFT, 500, social_cards.RIGHT, 527)).getbbox() is None


def test_same_page_gives_the_same_card(tmp_path):
    for name in "ab":
        social_cards.draw_card(tmp_path / f"{name}.png", title="A title", chapter="", description="", site="A site")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_picture_takes_the_place_of_the_description(tmp_path):
    picture = load_picture("bounds/qknorm:most", ROOT / "docs")
    cards = []
    for name, of in (("words", None), ("picture", picture)):
        social_cards.draw_card(tmp_path / f"{name}.png", title="A title", chapter="", description="Words. " * 90, site="A site", picture=of)
        cards.append(Image.open(tmp_path / f"{name}.png").convert("RGB"))
    words, drawn = (card.crop(social_cards.PICTURE) for card in cards)
    colour = ImageColor.getrgb(COLOURS["data"])
    assert [colour in {of for _, of in one.getcolors(2**20)} for one in (words, drawn)] == [False, True]
    beside = cards[1].crop((social_cards.LEFT, 230, social_cards.PICTURE[0], 500))
    assert len(beside.getcolors()) == 1


def test_picture_of_a_card_is_the_first_that_has_room(monkeypatch):
    """A figure of HTML is no picture, and a tall one would be too small to read."""
    sizes = {"a/b:form": (200, 100, "<p>"), "a/b:tall": (200, 700, ""), "a/b:fits": (200, 100, ""), "a/b:later": (300, 100, "")}
    stored = {name: {"width": width, "height": height, "html": html} for name, (width, height, html) in sizes.items()}
    monkeypatch.setattr(site_exports_hook.figure_block, "load_picture", lambda name, _: stored[name])
    monkeypatch.setattr(
        site_exports_hook, "_read_source", lambda *_: Source("".join(f"/// figure | {name}\n///\n\n" for name in sizes), ROOT)
    )
    config, page = load_config(str(ROOT / "mkdocs.yml"), hooks=[]), SimpleNamespace(file=None)
    assert site_exports_hook._find_picture(page, config) is stored["a/b:fits"]
    del sizes["a/b:fits"], sizes["a/b:later"]
    assert site_exports_hook._find_picture(page, config) is None


@pytest.mark.parametrize(("most", "shown"), [(1, ["one two …"]), (2, ["one two three", "four"]), (0, [])])
def test_text_that_does_not_fit_is_cut_at_a_word(most, shown):
    class Font:
        getlength = staticmethod(len)

    assert social_cards.shorten("one two three four", Font, most, social_cards.LEFT + 13) == shown
