"""MkDocs hook for the files that accompany the pages: claims.json, llms.txt, robots.txt, a feed of changes, cards, and for each page
a notebook and its code as one file.

It also gives each page a description, and the date of its last change in sitemap.xml. All of this comes from the sources of the pages,
the certificates, and git. `mkdocs serve` makes only the descriptions; the rest is for a published site.
"""

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page as SitePage

from derivations.kernel.site import (
    Source,
    change_feed,
    claim_formats,
    figure_block,
    figure_widgets,
    page_cache,
    page_errors,
    page_notebooks,
    page_summary,
    social_cards,
    standalone_code,
)
from derivations.kernel.site.page import Page
from derivations.kernel.site.page_source import RANKS

EDIT = "edit/main/docs/"  # below the repository's address
DOWNLOADS = '<p class="downloads">'
LINKS = {".ipynb": "This page as a notebook", ".py": "The code as one file"}
WHOLE_FILE = re.compile(r'<a class="whole-file".*?</a>')  # below a block whose imports a reader may lack, see full_source.py
# The navigation, pages and files of this build, since MkDocs passes only its settings to `on_post_build`.
BUILD: dict[str, Any] = {"files": {}}
DATE = re.compile(r"\s*<lastmod>[^<]*</lastmod>")
NOTICE = "The formulas on these pages are claims in scripts; each was checked by witnesses that do not import one another."


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the address of edit links if that of the repository is known."""
    BUILD["files"] = {}
    if config.repo_url and not config.edit_uri:
        config.edit_uri = EDIT
    return config


def on_page_markdown(markdown: str, *, page: SitePage, config: MkDocsConfig, **_: Any) -> str:
    """Set the description of the page to its first sentence, escaped since the theme does not escape it, and the address of its card."""
    if page.file.src_uri.endswith(".md"):
        if sentence := page_summary.find_first_sentence(markdown):
            page.meta.setdefault("description", escape(sentence))
        if _has_cards(config):
            page.meta["card"] = _absolute_address(social_cards.card_path(page.file.src_uri), config)
    return markdown


def on_page_content(html: str, *, page: SitePage, config: MkDocsConfig, **_: Any) -> str:
    """Append links to the files that accompany the page, and link its code as one file below its blocks too."""
    source = None if page_errors.are_shown() else _read_source(page.file, config)
    names = list(_make_files(page, source, config)) if source else []
    for name in (name for name in names if name.endswith(".py")):
        html = WHOLE_FILE.sub(rf'\g<0> · <a href="{name}" download data-search-exclude="">as one file</a>', html)
    links = " · ".join(f'<a href="{name}" download>{LINKS[Path(name).suffix]}</a>' for name in names)
    return f"{html}\n{DOWNLOADS}{links}</p>\n" if links else html


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the files, unless the site is served to its author."""
    if page_errors.are_shown():
        return
    site, pages = Path(config.site_dir), BUILD["pages"]
    claims = [record for page in pages for record in _claim_records(page, config)]
    _write(
        site / "claims.json", json.dumps({"about": NOTICE, "site": config.site_url or "", "claims": claims}, ensure_ascii=False, indent=1)
    )
    _write(site / "llms.txt", _write_overview(pages, config))
    _write(site / "robots.txt", _write_robots_txt(config))
    if config.extra.get("feed"):
        _write(site / change_feed.FILE, _render_feed(pages, config))
    for page in pages if _has_cards(config) else ():
        social_cards.draw_card(
            site / social_cards.card_path(page.file.src_uri),
            title=_title_of(page, config),
            chapter=_chapter_of(page),
            description=_description_of(page, config),
            site=config.site_name,
            picture=_find_picture(page, config),
        )
    for page in pages:
        source = _read_source(page.file, config)
        for name, text in _make_files(page, source, config).items() if source else ():
            _write(site / Path(page.file.dest_uri).parent / name, text)


def _make_files(page: SitePage, source: Source, config: MkDocsConfig) -> dict[str, str]:
    """Return the page's notebook and its code as one file, by file name, from the cache if nothing changed. A page may lack either."""

    def make() -> dict[str, str]:
        address, found = page.canonical_url or "", {}
        if page_notebooks.has_notebook(source):
            found[page_notebooks.notebook_name(source)] = page_notebooks.make_notebook(
                source, address=address, repository=_repository(config)
            )
        if code := standalone_code.make_code(source, title=_title_of(page, config), address=address):
            found[standalone_code.code_name(source)] = code
        return found

    name, files = page.file.src_uri, BUILD["files"]
    if name not in files:
        files[name] = page_cache.reuse(f"{name}.files", page.file.abs_src_path or "", make)
    return files[name]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text.rstrip()}\n", encoding="utf-8")


def on_nav(nav: Navigation, *, files: Files, config: MkDocsConfig, **_: Any) -> Navigation:
    """Record the pages and the dates of their last changes, for sitemap.xml and the feed."""
    unlisted = [file.page for file in files.documentation_pages() if file.page and file.page not in nav.pages]
    BUILD.update(nav=nav, pages=[page for page in [*nav.pages, *unlisted] if page.file.src_uri.endswith(".md")])
    BUILD["dates"] = {} if page_errors.are_shown() else change_feed.read_dates(Path(config.docs_dir))
    for page in [*nav.pages, *unlisted] if BUILD["dates"] else ():  # by default MkDocs writes today's date for every page
        when = BUILD["dates"].get(page.file.src_uri)
        page.update_date = f"{when:%Y-%m-%d}" if when else ""
    has_dates = config.site_url and any(page.file.src_uri in BUILD["dates"] for page in BUILD["pages"])
    config.extra["feed"] = change_feed.FILE if has_dates else ""
    return nav


def on_post_template(output_content: str, *, template_name: str, **_: Any) -> str:
    """Remove the dates from sitemap.xml if none is known."""
    return output_content if template_name != "sitemap.xml" or BUILD["dates"] else DATE.sub("", output_content)


def _read_source(file: File, config: MkDocsConfig) -> Source | None:
    """Return the source of a page; None for a notebook or a generated page."""
    if not file.src_uri.endswith(".md") or not file.abs_src_path:
        return None
    path = Path(file.abs_src_path)
    return Source(path.read_text(encoding="utf-8-sig"), Path(config.docs_dir), path)


def _repository(config: MkDocsConfig) -> str:
    return config.repo_url or ""


# The feed, and cards ----------------------------------------------------------------------------------------------------------------


def _render_feed(pages: list[SitePage], config: MkDocsConfig) -> str:
    """Return the feed of the pages whose dates are known."""
    changed = [
        change_feed.ChangedPage(
            _title_of(page, config), _absolute_address(page.url, config), when, _description_of(page, config), _chapter_of(page)
        )
        for page in pages
        if (when := BUILD["dates"].get(page.file.src_uri))
    ]
    return change_feed.render_feed(
        changed,
        name=config.site_name,
        description=config.site_description or "",
        home=_absolute_address("", config),
        address=_absolute_address(change_feed.FILE, config),
    )


def _has_cards(config: MkDocsConfig) -> bool:
    return social_cards.is_public(config.site_url) and not page_errors.are_shown()


def _title_of(page: SitePage, config: MkDocsConfig) -> str:
    return config.site_name if page.is_homepage else page.title or ""


def _chapter_of(page: SitePage) -> str:
    """Return the title of the section of the navigation that contains the page; "" if none does."""
    return page.parent.title if page.parent else ""


def _description_of(page: SitePage, config: MkDocsConfig) -> str:
    return unescape(page.meta.get("description", "")) or config.site_description or ""


def _find_picture(page: SitePage, config: MkDocsConfig) -> dict | None:
    """Return the first picture of a page for which its card has room; None if there is none."""
    source = _read_source(page.file, config)
    names = [figure_widgets.parse_argument(one.argument)[0] for one in source.openings() if one.name == "figure"] if source else []
    pictures = (figure_block.load_picture(name, Path(config.docs_dir)) for name in names)
    return next(filter(social_cards.has_room, pictures), None)


# claims.json ------------------------------------------------------------------------------------------------------------------------


def _claim_records(page: SitePage, config: MkDocsConfig) -> list[dict]:
    """Return the records of all claims that a page shows, in its order."""
    source = _read_source(page.file, config)
    if source is None:
        return []
    shown = Page(source)
    return [
        claim_formats.export_record(
            claim,
            topic=topic,
            rank=opening.name if opening.name in RANKS else "claim",
            number=shown.number_claims()[topic, claim["id"]],
            page=page.url,
            anchor=shown.anchor(topic, claim["id"]),
            url=f"{_absolute_address(page.url, config)}#{shown.anchor(topic, claim['id'])}",
            script=shown.certificates[topic]["script"],
            repository=_repository(config),
        )
        for opening, topic, claims in shown.blocks
        for claim in claims
    ]


# llms.txt ---------------------------------------------------------------------------------------------------------------------------


def _write_overview(pages: list[SitePage], config: MkDocsConfig) -> str:
    """Return an overview of the site in the format of llmstxt.org: its pages by chapter, each with a sentence."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    lines += [
        f"{NOTICE} All of them, with LaTeX, assumptions, witnesses and places: [claims.json]({_absolute_address('claims.json', config)})",
        "",
    ]
    for title, chapter in group_by_chapter(BUILD["nav"], pages):
        lines += [f"## {title}", "", *(_write_overview_line(page, config) for page in chapter), ""]
    return "\n".join(lines)


def group_by_chapter(nav: Navigation, pages: list[SitePage]) -> list[tuple[str, list[SitePage]]]:
    """Return the sections of the navigation, each with its pages; pages in no section come last."""
    known = {id(page): page for page in pages}
    sections = [(section.title, [known[id(item)] for item in section.children if id(item) in known]) for section in _sections(nav.items)]
    others = [page for page in pages if not any(page in chapter for _, chapter in sections)]
    return [(title, chapter) for title, chapter in [*sections, ("More", others)] if chapter]


def _sections(items: list) -> Iterator[Section]:
    """Yield all sections among the items, nested ones included."""
    for item in items:
        if item.is_section:
            yield item
            yield from _sections(item.children)


def _write_overview_line(page: SitePage, config: MkDocsConfig) -> str:
    description = unescape(page.meta.get("description", ""))
    return f"- [{page.title}]({_absolute_address(page.url, config)})" + (f": {description}" if description else "")


def _absolute_address(address: str, config: MkDocsConfig) -> str:
    """Return the full address of a file of the site."""
    return urljoin(config.site_url or "", address)


def _write_robots_txt(config: MkDocsConfig) -> str:
    lines = ["User-agent: *", "Allow: /"]
    return "\n".join([*lines, f"Sitemap: {_absolute_address('sitemap.xml', config)}"] if config.site_url else lines)
