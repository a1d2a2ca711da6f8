"""What the tests of pages of false statements share: the statements of a page, and the kinds of the claims below them."""

import re
from functools import cache

from derivations.kernel.store.certificates import load

CLAIM = re.compile(r"^/// claim \| ([\w/-]+)#([\w-]+)\n///$", re.M)


@cache
def kinds(topic):
    """Return the kinds of a topic's claims, by their names."""
    return {claim["id"]: claim["kind"] for claim in load(topic)["claims"]}


def statements(page):
    """Return the page's statements, each with the text below it."""
    parts = re.split(r"^### (.+)\n", re.sub(r"^## .*\n", "", page, flags=re.M), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def claim_kinds(under):
    """Return the kinds of the claims in the text below a statement."""
    return {kinds(topic)[name] for topic, name in CLAIM.findall(under)}
