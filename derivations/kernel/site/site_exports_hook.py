"""MkDocs hook for what readers and programs take along: claims.json, llms.txt, robots.txt, a feed of changes, a notebook for each page
with code, and for each page a description of its own, the date of its last change in sitemap.xml and, where the site is published, a card.
All of it is read from the pages' sources, the certificates, and what git keeps.

While `mkdocs serve` runs only the descriptions are made: the rest is for what is published.
"""

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from derivations.kernel.site import (
    Source,
    change_feed,
    claim_export,
    page_cache,
    page_errors,
    page_notebooks,
    page_summary,
    social_cards,
)
from derivations.kernel.site.page import Page
from derivations.kernel.site.page_source import RANKS

EDIT = "edit/main/docs/"  # below the repository's address
LINK = '<p class="notebook">'
# The navigation, the pages and their notebooks, of this build: at its end MkDocs hands over its settings alone.
KEPT: dict[str, Any] = {"notebooks": {}}
DATE = re.compile(r"\s*<lastmod>[^<]*</lastmod>")
ABOUT = "The formulas on these pages are claims in scripts; each was checked by witnesses that do not import one another."


def on_config(config):
    """An edit link needs to know where the repository is."""
    KEPT["notebooks"] = {}
    if config.repo_url and not config.edit_uri:
        config.edit_uri = EDIT
    return config


def on_page_markdown(markdown, *, page, config, **_):
    """The page's first sentence, for search engines and for who links to it; escaped, since the theme writes it as it is. And the address
    of its card."""
    if page.file.src_uri.endswith(".md"):
        if said := page_summary.first_sentence(markdown):
            page.meta.setdefault("description", escape(said))
        if has_cards(config):
            page.meta["card"] = at(social_cards.name_of(page.file.src_uri), config)
    return markdown


def on_page_content(html, *, page, config, **_):
    """A link to the page's notebook, at its end."""
    source = None if page_errors.are_shown() else source_of(page.file, config)
    if not source or not notebook(page, source, config):
        return html
    name = page_notebooks.name_of(source)
    return f'{html}\n{LINK}<a href="{name}" download>This page as a notebook</a></p>\n'


def on_post_build(*, config):
    if page_errors.are_shown():
        return
    site, pages = Path(config.site_dir), KEPT["pages"]
    claims = [one for page in pages for one in claims_of(page, config)]
    write(site / "claims.json", json.dumps({"about": ABOUT, "site": config.site_url or "", "claims": claims}, ensure_ascii=False, indent=1))
    write(site / "llms.txt", for_machines(pages, config))
    write(site / "robots.txt", for_robots(config))
    if config.extra.get("feed"):
        write(site / change_feed.NAME, feed(pages, config))
    for page in pages if has_cards(config) else ():
        of = {"title": title_of(page, config), "chapter": chapter_of(page), "about": about(page, config), "site": config.site_name}
        social_cards.draw(site / social_cards.name_of(page.file.src_uri), **of)
    for page in pages:
        source = source_of(page.file, config)
        if text := notebook(page, source, config):
            write(site / Path(page.file.dest_uri).parent / page_notebooks.name_of(source), text)


def notebook(page, source: Source, config) -> str:
    """The page's notebook; "" if it has none."""

    def made() -> str:
        given = {"address": page.canonical_url or "", "repository": repository(config)}
        return page_notebooks.made(source, **given) if page_notebooks.has_one(source) else ""

    name, found = page.file.src_uri, KEPT["notebooks"]
    if name not in found:
        found[name] = page_cache.reuse(f"{name}.notebook", page.file.abs_src_path, made)
    return found[name]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text.rstrip()}\n", encoding="utf-8")


def on_nav(nav, *, files, config, **_):
    others = [one.page for one in files.documentation_pages() if one.page and one.page not in nav.pages]
    KEPT.update(nav=nav, pages=[one for one in [*nav.pages, *others] if one.file.src_uri.endswith(".md")])
    KEPT["dates"] = {} if page_errors.are_shown() else change_feed.dates(Path(config.docs_dir))
    for page in [*nav.pages, *others] if KEPT["dates"] else ():  # what sitemap.xml says; MkDocs would say that all was changed today
        when = KEPT["dates"].get(page.file.src_uri)
        page.update_date = f"{when:%Y-%m-%d}" if when else ""
    known = config.site_url and any(page.file.src_uri in KEPT["dates"] for page in KEPT["pages"])
    config.extra["feed"] = change_feed.NAME if known else ""
    return nav


def on_post_template(output_content, *, template_name, **_):
    """Where no date is known, the site's map says none."""
    return output_content if template_name != "sitemap.xml" or KEPT["dates"] else DATE.sub("", output_content)


def source_of(file, config) -> Source | None:
    if not file.src_uri.endswith(".md") or not file.abs_src_path:
        return None
    path = Path(file.abs_src_path)
    return Source(path.read_text(encoding="utf-8-sig"), Path(config.docs_dir), path)


def repository(config) -> str:
    return config.repo_url or ""


# The feed, and cards ----------------------------------------------------------------------------------------------------------------


def feed(pages: list, config) -> str:
    """The pages that were changed last."""
    known = [
        change_feed.Changed(title_of(page, config), at(page.url, config), when, about(page, config), chapter_of(page))
        for page in pages
        if (when := KEPT["dates"].get(page.file.src_uri))
    ]
    return change_feed.feed(
        known, name=config.site_name, about=config.site_description, home=at("", config), address=at(change_feed.NAME, config)
    )


def has_cards(config) -> bool:
    return social_cards.wanted(config.site_url) and not page_errors.are_shown()


def title_of(page, config) -> str:
    return config.site_name if page.is_homepage else page.title


def chapter_of(page) -> str:
    """The title of the section of the navigation in which a page stands."""
    return page.parent.title if page.parent else ""


def about(page, config) -> str:
    return unescape(page.meta.get("description", "")) or config.site_description or ""


# claims.json ------------------------------------------------------------------------------------------------------------------------


def claims_of(page, config) -> list[dict]:
    """The records of all claims that a page shows, in its order."""
    shown = Page(source_of(page.file, config))
    return [
        claim_export.record(
            claim,
            topic=topic,
            rank=opening.name if opening.name in RANKS else "claim",
            number=shown.numbers()[topic, claim["id"]],
            page=page.url,
            anchor=shown.anchor(topic, claim["id"]),
            url=f"{at(page.url, config)}#{shown.anchor(topic, claim['id'])}",
            script=shown.certificates[topic]["script"],
            repository=repository(config),
        )
        for opening, topic, claims in shown.blocks
        for claim in claims
    ]


# llms.txt ---------------------------------------------------------------------------------------------------------------------------


def for_machines(pages: list, config) -> str:
    """The site in Markdown, as llmstxt.org has it: what it is, and its pages by chapter, each with a sentence."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    lines += [f"{ABOUT} All of them, with LaTeX, assumptions, witnesses and places: [claims.json]({at('claims.json', config)})", ""]
    for title, chapter in chapters(KEPT["nav"], pages):
        lines += [f"## {title}", "", *(entry(page, config) for page in chapter), ""]
    return "\n".join(lines)


def chapters(nav, pages: list) -> list[tuple[str, list]]:
    """The sections of the navigation, each with its pages; pages that stand alone there come last."""
    known = {id(page) for page in pages}
    sections = [(one.title, [page for page in one.children if id(page) in known]) for one in within(nav.items)]
    alone = [page for page in pages if not any(page in chapter for _, chapter in sections)]
    return [(title, chapter) for title, chapter in [*sections, ("More", alone)] if chapter]


def within(items: list) -> Iterator:
    """The sections among the items, and all within them."""
    for one in items:
        if one.is_section:
            yield one
            yield from within(one.children)


def entry(page, config) -> str:
    said = unescape(page.meta.get("description", ""))
    return f"- [{page.title}]({at(page.url, config)})" + (f": {said}" if said else "")


def at(address: str, config) -> str:
    return urljoin(config.site_url or "", address)


def for_robots(config) -> str:
    lines = ["User-agent: *", "Allow: /"]
    return "\n".join([*lines, f"Sitemap: {at('sitemap.xml', config)}"] if config.site_url else lines)
