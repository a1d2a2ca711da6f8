"""Check the HTML that an author types on a page. Only tags that Markdown could produce are allowed.

So typed HTML cannot draw, hide text, or imitate a box that the kernel makes.

The kernel's own HTML, including its classes, is still tokens when this check runs (page.py). So a class that is neither on this list nor
a token was typed.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

_TAGS = """a abbr b blockquote br code dd details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 header hr i li mark ol p pre
section small span strong sub summary sup table tbody td tfoot th thead tr ul"""
_INLINE = "a abbr b em i mark small span strong sub sup"
_NOTES = "note abstract info tip success question warning failure danger bug example quote"
_CLASSES = "admonition admonition-title first headerlink highlight start toc whole-file"  # `first` occurs in the reference
_ATTRIBUTES = "class colspan href id open rowspan scope start style title"

TAGS = frozenset(_TAGS.split())
INLINE = frozenset(_INLINE.split())  # these do not end a line of text
CLASSES = frozenset([*_CLASSES.split(), *_NOTES.split()])
FAMILIES = re.compile(r"language-\w+|doc(-[a-z-]+)?|autorefs(-[a-z]+)?")  # classes of fences, and of the reference made from docstrings
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
READ_ATTRIBUTES = ("title",)  # attributes whose text is shown or read aloud
ALIGNMENT = re.compile(r"text-align: ?(left|right|center);?")  # of a table's column

IGNORED = re.compile(r"[\x00-\x20]")  # characters that a browser ignores in an address
SCHEMES = ("", "http", "https", "mailto")

Attributes = list[tuple[str, str | None]]


def find_faults(tag: str, attributes: Attributes, token: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the faults of an element: the text to look for on the page, and the message."""
    if tag == "math":
        yield "<math", "<math> is typed by hand; write $...$, or show a claim"
    elif tag == "img":
        yield (
            "![",
            "<img> is typed by hand, and no check reads an image; draw a figure, and show it with '/// figure | chapter/topic:name'",
        )
    elif tag not in TAGS:
        yield f"<{tag}", f"<{tag}> is typed by hand; write Markdown: text, links, tables, `code` and blocks"
    for name, value in attributes:
        yield from _attribute_faults(tag, name, value or "", token)


def _attribute_faults(tag: str, name: str, value: str, token: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    if token.fullmatch(value) or (name, value) == ("data-search-exclude", ""):
        return
    if name == "style" and not ALIGNMENT.fullmatch(value):
        yield "style=", f'style="{value}" is typed by hand; leave it out, since the style sheets decide how a page looks'
    elif name not in ATTRIBUTES and tag in TAGS:
        yield name, f"the attribute {name} is typed by hand; the attributes allowed are {', '.join(sorted(ATTRIBUTES))}"
    if name == "href" and _scheme(value) not in SCHEMES:
        yield value, f"the link to {value!r} is not allowed; link a path, or an address with https, http or mailto"
    for css in value.split() if name == "class" else ():
        if css not in CLASSES and not FAMILIES.fullmatch(css):
            yield css, f"class={css!r} is typed by hand, but only the kernel's own boxes have this class; show a claim, or write text"


def _scheme(address: str) -> str:
    try:
        return urlsplit(IGNORED.sub("", address)).scheme
    except ValueError:
        return "none"
