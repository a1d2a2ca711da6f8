"""Render a page as the site does, and find the mistakes that would stop a build, and dead links."""

import re
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from markdown import Markdown

from . import page_errors
from .findings import Finding, parse_finding
from .included_regions import line_number, read_text


class _SettingsLoader(yaml.SafeLoader):
    """A loader for mkdocs.yml that replaces tags which only MkDocs knows, such as !ENV, by None."""


_SettingsLoader.add_multi_constructor("", lambda loader, suffix, node: None)


def make_converter(root: Path) -> Markdown:
    """Return a Markdown converter with the extensions and options of mkdocs.yml."""
    entries = yaml.load(read_text(root / "mkdocs.yml"), _SettingsLoader).get("markdown_extensions", [])
    options: dict[str, dict[str, Any]] = {}
    for entry in entries:
        options |= {name: given or {} for name, given in entry.items()} if isinstance(entry, dict) else {entry: {}}
    if "pymdownx.snippets" in options:
        bases = options["pymdownx.snippets"].get("base_path", ["."])
        options["pymdownx.snippets"] = options["pymdownx.snippets"] | {"base_path": [str(root / base) for base in bases]}
    own = "derivations.kernel.site"
    options[own] = options.get(own, {}) | {"docs": str(root / "docs")}
    return Markdown(extensions=list(options), extension_configs=options)


@lru_cache(maxsize=256)
def _render(root: Path, path: Path, text: str, version: int) -> tuple[str, tuple[str, ...]]:
    """Return the HTML of a page, and the messages of the mistakes in it. `path` and `version` are keys of the cache."""
    body = re.sub(r"\A---[ \t]*\n.*?\n---[ \t]*\n", lambda match: match[0] if _is_not_yaml(match[0]) else "", text, count=1, flags=re.S)
    with page_errors.collect_errors() as errors:
        html = make_converter(root).convert(body.lstrip("\n"))
    return html, tuple(error.format_message() for error in errors)


def _is_not_yaml(front: str) -> bool:
    """Return whether the text between the first two `---` is something other than a mapping in YAML, so that it belongs to the page."""
    try:
        return not isinstance(yaml.safe_load(front.strip().strip("-")), dict)
    except yaml.YAMLError:
        return True


def check_rendering(root: Path, path: Path, version: int) -> list[Finding]:
    """Return findings for the mistakes that would stop a build when the page is rendered. `version` is that of `page_lint.check_topic`."""
    return [parse_finding(message) for message in dict.fromkeys(_render(root, path, read_text(path), version)[1])]


class _AddressReader(HTMLParser):
    """The ids in a page's HTML and the addresses of its links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given["href"]] if tag == "a" and "href" in given else []


def check_links(root: Path, path: Path, version: int) -> list[Finding]:
    """Return findings for links to pages, and to places on pages, that do not exist. Links to other sites are not checked."""
    html, _ = _render(root, path, read_text(path), version)
    found = []
    for link in dict.fromkeys(_AddressReader(html).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if parts.path and not target.is_file():
            if target.suffix == ".md":
                found.append(Finding(_place_of_link(root, path, link), f"the link {link!r} leads to no page; correct its path"))
        elif parts.fragment and target.suffix == ".md":
            ids = _AddressReader(_render(root, target, read_text(target), version)[0]).ids
            if unquote(parts.fragment) not in ids:
                message = f"the link {link!r} leads to no place on that page; correct the part after '#'"
                found.append(Finding(_place_of_link(root, path, link), message))
    return found


def _place_of_link(root: Path, path: Path, link: str) -> str:
    """Return the file and line of a link on a page; only the file if the Markdown does not contain the link as it is."""
    text, name = read_text(path), path.relative_to(root).as_posix()
    return f"{name}:{line_number(text, text.index(link))}" if link in text else name
