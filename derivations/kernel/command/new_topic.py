"""`python -m derivations new CHAPTER/TOPIC`: create the files of a topic, which pass all checks as they are, and link its page."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import Path
from posixpath import dirname, relpath

from ..printing.topic_templates import FILES, fill
from ..store.certificates import is_topic
from ..store.project_files import ROOT

# The page with the signatures and docstrings of a chapter's snippets
REFERENCE = """---
kind: reference
---

# snippets.{chapter}

These are the functions and classes of `snippets.{chapter}`. [Another page](../snippets.md) says how to install and use them.

/// api | {chapter}
///
"""
ROWS = "tests/snippets/rows/{chapter}.py"  # inputs for each public function; a file for a chapter
NEW_ROWS = '''"""Inputs for snippets/{chapter}."""

from tests.snippets.input_rows import Row, T

ROWS = {
}
'''
ROW = """    "{name}": {
        "transposed_{name}": [Row(T(2, 3, 4), T(2, 3, 4))],
    },
"""


# What the author should do next
NEXT_STEPS = """
Next: state your claims in derivations/{topic}.py; docs/contributing/language.md says how, derivations/simplify/bilinear.py is an example.
While you write: python -m derivations check --watch, with mkdocs serve in another terminal.
{link}You may rename the page in mkdocs.yml, and move it to another place there.
Before you commit: python -m derivations check --page {topic}
"""
# Folders that are not chapters
RESERVED = ("assets", "contributing", "figures", "kernel", "labs")


class ScaffoldError(Exception):
    """The files of a topic were not created; the message says why."""


def create(topic: str) -> list[str]:
    """Create a topic's files, its navigation entry, the link to its page and its row of inputs, and return the paths that were written.

    Raise ScaffoldError, and create nothing, if the name is not allowed or one of the files exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", topic) or topic.startswith(tuple(f"{name}/" for name in RESERVED)):
        raise ScaffoldError(
            f"'{topic}' is not CHAPTER/TOPIC: two names of lower-case letters, digits and underscores (taken: {', '.join(RESERVED)})"
        )
    chapter, name = topic.split("/")
    if iskeyword(chapter) or iskeyword(name):
        raise ScaffoldError(f"'{topic}' contains a Python keyword, so it cannot be imported; choose another name")
    from ..site.course_boxes import find_neighbours  # loads PyTorch

    title = name.replace("_", " ").capitalize()
    navigation = add_page((ROOT / "mkdocs.yml").read_text(), chapter, topic, title)
    before, after = find_neighbours(navigation, f"{topic}.md")
    following = f"[The next page]({relative_link(topic, after)}) follows from this one.\n\n" if after else ""
    values = {"{topic}": topic, "{chapter}": chapter, "{name}": name, "{title}": title, "{next}": following}
    files = {ROOT / fill(path, values): fill(text, values) for path, text in FILES.items()}
    of_chapter = {
        ROOT / "snippets" / chapter / "__init__.py": "",
        ROOT / f"docs/contributing/snippets/{chapter}.md": fill(REFERENCE, values),
    }
    existing = [path.relative_to(ROOT).as_posix() for path in files if path.exists()]
    if existing:
        raise ScaffoldError(f"{', '.join(existing)} exists already; nothing was created")
    files |= {path: text for path, text in of_chapter.items() if not path.exists()}
    files |= {ROOT / "mkdocs.yml": navigation, **add_row(ROOT / fill(ROWS, values), values), **add_link(before, topic)}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [path.relative_to(ROOT).as_posix() for path in files]


def add_row(path: Path, values: dict[str, str]) -> dict[Path, str]:
    """Return {path: new text} for the chapter's table of test inputs (tests/snippets/rows), with an entry for the topic's function."""
    text = path.read_text() if path.exists() else fill(NEW_ROWS, values)
    beginning, mark, rest = text.partition("\nROWS = {\n")
    return {path: beginning + mark + fill(ROW, values) + rest}


def add_link(before: str, topic: str) -> dict[Path, str]:
    """Return {path: text} for the page before the topic's, with its link to the next page; {} if that page belongs to no topic."""
    from ..site.course_boxes import NEXT_PAGE_LINK

    path = ROOT / "docs" / before
    if not is_topic(before.removesuffix(".md")):
        return {}
    text, target = path.read_text(), relative_link(before, f"{topic}.md")
    if NEXT_PAGE_LINK.search(text):
        return {path: NEXT_PAGE_LINK.sub(lambda match: match[0].replace(match[1], target), text)}
    return {path: f"{text.rstrip()}\n\n[The next page]({target}) follows from this one.\n"}


def relative_link(page: str, target: str) -> str:
    """Return the relative link from one page to another."""
    return relpath(target, dirname(page))


def next_steps(topic: str) -> str:
    """Return the text that tells the author what to do next."""
    from ..site.course_boxes import NEXT_PAGE_LINK, find_neighbours  # loads PyTorch

    before, _ = find_neighbours((ROOT / "mkdocs.yml").read_text(), f"{topic}.md")
    path = ROOT / "docs" / before
    text = path.read_text() if path.is_file() else ""
    match = NEXT_PAGE_LINK.search(text)
    line = text.count("\n", 0, match.start()) + 1 if match else 0
    link = f"docs/{before}:{line} now links to your page: adapt the sentence around that link.\n" if match else ""
    return fill(NEXT_STEPS, {"{topic}": topic, "{link}": link}).strip()


def add_page(config: str, chapter: str, topic: str, title: str) -> str:
    """Return mkdocs.yml with the page added after its chapter's last page.

    A new chapter goes before the reference pages, or to the end if there are none. Raise ScaffoldError if there is no navigation.
    """
    lines = config.splitlines()
    if "nav:" not in lines:
        raise ScaffoldError("mkdocs.yml has no 'nav:' to add the page to")
    start = lines.index("nav:")
    end = next((k for k in range(start + 1, len(lines)) if lines[k].strip() and not lines[k].startswith((" ", "#", "-"))), len(lines))
    in_chapter = [k for k in range(start + 1, end) if re.search(rf"\b{chapter}/\w+\.md\s*$", lines[k])]
    if in_chapter:
        last = in_chapter[-1]
        indent = " " * (len(lines[last]) - len(lines[last].lstrip(" ")))
        return "\n".join(lines[: last + 1] + [f"{indent}- {title}: {topic}.md"] + lines[last + 1 :]) + "\n"
    while end > start and not lines[end - 1].strip():
        end -= 1
    reference = next((k for k in range(start + 1, end) if re.match(r" +- (Trust|Labs):| +- .*: wrong\.md$", lines[k])), end)
    groups = [k for k in range(start + 1, reference + 1) if k < end and lines[k].startswith("  - ")]
    place = groups[-1] if groups and reference < end else end
    chapter_title = chapter.replace("_", " ").capitalize()
    return "\n".join(lines[:place] + [f"  - {chapter_title}:", f"      - {title}: {topic}.md"] + lines[place:]) + "\n"
