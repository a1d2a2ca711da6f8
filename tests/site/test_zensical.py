"""Zensical, the theme's successor, renders the same pages from the same mkdocs.yml. It drops hooks and mkdocs-jupyter without a
word and its strict build says nothing about what is lost, so what matters is looked for in the pages it made."""

import json
import re

import pytest


def claims(html):
    """Every claim of a page: its id, kind and number of formulas."""
    sections = re.findall(r'<section class="claim claim--(\w+) claim--\w+" id="([\w-]+)">(.*?)</section>', html, flags=re.S)
    return [(name, kind, body.count("<math")) for kind, name, body in sections]


def test_every_claim_is_on_both_sites(built, zensical, asked):
    assert len(asked) >= 8
    for page, blocks in asked.items():
        ours, theirs = (claims((site / page).read_text(encoding="utf-8")) for site in (built, zensical))
        assert len(ours) >= blocks > 0
        assert theirs == ours, page


def test_formulas_in_text_are_on_both_sites(built, zensical, asked):
    for page in asked:
        ours, theirs = ((site / page).read_text(encoding="utf-8") for site in (built, zensical))
        assert ours.count("<math") == theirs.count("<math") > 0, page
        assert "\x02" not in theirs and "certified" not in theirs


def test_links_between_claims_lead_to_claims(zensical, asked):
    for page in asked:
        html = (zensical / page).read_text(encoding="utf-8")
        for uses in re.findall(r'<div class="claim__rows claim__uses">.*?</ul>', html, flags=re.S):
            for href in re.findall(r'href="([^"]*)"', uses):
                path, _, name = href.partition("#")
                target = (zensical / page).parent / path / ("index.html" if path else (zensical / page).name)
                assert f'id="{name}"' in target.read_text(encoding="utf-8"), f"{page}: {href}"


def test_search_finds_the_claims_of_both_sites_in_the_same_places(built, zensical, asked):
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
def test_assets_are_there(zensical, name):
    assert (zensical / "assets/fonts" / name).stat().st_size > 1000
