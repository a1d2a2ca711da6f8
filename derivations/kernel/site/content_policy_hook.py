"""MkDocs hook for what lies around the pages: the content security policy names the theme's inline scripts by hash, so that no other
can run, what mkdocs.yml says to readers states no relation, and a sign in a title is set as a sign."""

import base64
import hashlib
import re
from pathlib import Path

from derivations.kernel.site import PageError, hardcoded_numbers, page_errors

# Scripts with a source are covered by 'self', and those with a type other than JavaScript's (JSON here) never run.
_INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content="[^"]*?script-src \'self\') \'unsafe-inline\'')

# Titles are plain text, in the navigation too. In what is shown of them (no attribute, not the name of a tab) an index stands low.
_INDEX = re.compile(r"√d_k(?=[^<>]*<(?!/(?:title|text)\b))")
_INDEX_OF_PICTURE = re.compile(r"√d_k(?=[^<>]*</text>)")
_INDEX_OF_HEADING = re.compile(r"(<h[123]\b[^>]*>[^<>]*\bd)_k")


def on_config(config):
    """PageError at a relation in the navigation, in the site's name or in its description."""
    path = Path(config.config_file_path)
    for line, said in hardcoded_numbers.in_settings(path.read_text(encoding="utf-8")):
        raise PageError(f"{path.name}:{line}: {said}")


def on_post_page(output, **_):
    """Replace 'unsafe-inline' in the page's policy by the hashes of the inline scripts that the page holds; and set an index in a title low."""
    output = _INDEX_OF_PICTURE.sub('√d<tspan baseline-shift="sub" font-size="70%">k</tspan>', output)
    output = _INDEX_OF_HEADING.sub(r"\1<sub>k</sub>", _INDEX.sub("√d<sub>k</sub>", output))
    if page_errors.are_shown():  # `mkdocs serve` adds a script of its own to each answer: the one that loads a rebuilt page
        return output
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(output))
    hashes = sorted({f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests})
    return _POLICY.sub(lambda policy: " ".join([policy[1], *hashes]), output, count=1)


def on_post_template(output_content, **_):
    """The same for the page that says a page was not found."""
    return on_post_page(output_content)
