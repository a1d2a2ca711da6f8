"""MkDocs hook for the parts of a page outside its text.

The content security policy lists the hashes of the theme's inline scripts, so that no other script can run. Pages that redirect to another
page get the same policy with the hash of their own script. The texts in mkdocs.yml that readers see may state no relation. An index in a
title is set as a subscript.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File

from derivations.kernel.site import PageError, hardcoded_numbers, page_errors

# Scripts with a source are covered by 'self', and those with a type other than JavaScript's (JSON here) never run.
_INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content="[^"]*?script-src \'self\') \'unsafe-inline\'')
_META = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_THEME = Path(__file__).with_name("theme") / "main.html"

# Titles are plain text, also in the navigation. Where they are shown as text (not in attributes or <title>) an index becomes a subscript.
_INDEX = re.compile(r"√d_k(?=[^<>]*<(?!/(?:title|text)\b))")
_INDEX_IN_PICTURE = re.compile(r"√d_k(?=[^<>]*</text>)")
_INDEX_IN_HEADING = re.compile(r"(<h[123]\b[^>]*>[^<>]*\bd)_k")


def on_config(config: MkDocsConfig) -> None:
    """Raise PageError if the navigation, the site's name or its description states a relation."""
    path = Path(config.config_file_path)
    for line, message in hardcoded_numbers.find_stated_relations(path.read_text(encoding="utf-8")):
        raise PageError(f"{path.name}:{line}: {message}")


def on_post_page(output: str, **_: Any) -> str:
    """Replace 'unsafe-inline' in the page's policy by the hashes of its inline scripts, and set indices in titles as subscripts."""
    output = _INDEX_IN_PICTURE.sub('√d<tspan baseline-shift="sub" font-size="70%">k</tspan>', output)
    output = _INDEX_IN_HEADING.sub(r"\1<sub>k</sub>", _INDEX.sub("√d<sub>k</sub>", output))
    if page_errors.are_shown():  # `mkdocs serve` adds an inline script to each response: the one that reloads a rebuilt page
        return output
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(output))
    hashes = sorted({f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests})
    return _POLICY.sub(lambda policy: " ".join([policy[1], *hashes]), output, count=1)


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same for 404.html."""
    return on_post_page(output_content)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Add the theme's policy to the pages that redirect to another page, since they do not use the theme."""
    policy = _META.findall(_THEME.read_text(encoding="utf-8"))[0]
    for path in _redirect_pages(config):
        html = path.read_text(encoding="utf-8")
        if not _META.search(html):
            path.write_text(on_post_page(html.replace("<head>", f"<head>\n    {policy}", 1)), encoding="utf-8")


def _redirect_pages(config: MkDocsConfig) -> list[Path]:
    """Return the files that the plugin `redirects` has written. It writes none for a page that has moved to a path without a page."""
    plugin = config.plugins.get("redirects")
    moved = plugin.config["redirect_maps"] if plugin else ()
    files = (File(name, config.docs_dir, config.site_dir, config.use_directory_urls) for name in moved)
    return [path for file in files if (path := Path(file.abs_dest_path)).is_file()]
