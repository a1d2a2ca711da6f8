"""Includes of code that is not there: named with the page's line and what there is, before pymdownx.snippets meets them."""

import re
from pathlib import Path

from markdown import Markdown
from pymdownx.snippets import SnippetMissingError, SnippetPreprocessor

from ..errors import nearest
from . import page_dependencies
from .page_source import PageError, Source

SECTION = re.compile(r"--8<--[ \t]+\[start:[ \t]*([A-Za-z][\w-]*)[ \t]*\]")
UNREADABLE = "\ufffd"  # what bytes that are no UTF-8 are read as


def refuse_unreadable(source: Source) -> None:
    """Raise PageError at bytes that are no text."""
    for number, line in enumerate(source.lines, start=1):
        if UNREADABLE in line:
            raise source.error(
                number, f"bytes that are no UTF-8 text, after {line.partition(UNREADABLE)[0][-30:]!r}; save the page as UTF-8"
            )


def refuse_missing(source: Source, md: Markdown) -> None:
    """Raise PageError at an include that names what is not there. Each is tried by what will include it, line by line."""
    snippets = preprocessor(md)
    if snippets is None:
        return
    opened = 0  # the line on which a block of includes begins
    for number, line in enumerate(source.lines, start=1):
        match = snippets.RE_ALL_SNIPPETS.match(line)
        if match and match["escape"]:
            continue
        if match and match["block_marker"]:
            opened = 0 if opened else number
        elif opened and line.strip():
            refuse(source, number, (opened, closing(source, number)), line.strip(), snippets)
        elif match:
            refuse(source, number, (number, number), match["snippet"][1:-1].strip(), snippets)


def preprocessor(md: Markdown) -> SnippetPreprocessor | None:
    """What will include, if anything will."""
    return next((one for one in md.preprocessors if isinstance(one, SnippetPreprocessor)), None)


def closing(source: Source, number: int) -> int:
    """The line that closes the block of includes around a line."""
    later = range(number, len(source.lines))
    return next((at + 1 for at in later if source.lines[at].strip().strip("-") == "8<"), number)


def refuse(source: Source, number: int, span: tuple[int, int], target: str, snippets: SnippetPreprocessor) -> None:
    """Raise PageError if what an include names cannot be included; `span` is what of the page that spoils."""
    try:
        attempt(source, number, target, snippets)
    except PageError as error:
        raise error.over(*span) from None


def attempt(source: Source, number: int, target: str, snippets: SnippetPreprocessor) -> None:
    if target.startswith(";"):  # an include that its author put aside
        return
    try:
        snippets.seen = set()
        page_dependencies.note_files([named] if (named := whole(target, snippets)) else [])
        snippets.parse_snippets([f'--8<-- "{target}"'])
    except SnippetMissingError as error:
        raise missing(source, number, target, snippets, str(error)) from None
    except UnicodeDecodeError as error:
        raise source.error(number, f"{target.partition(':')[0]} is no UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise source.error(number, f"{target.partition(':')[0]} cannot be included: {error.strerror}") from None
    except Exception as error:  # whatever an include of anything may do; it is the page's line that has to be mended
        raise source.error(number, f"{target!r} cannot be included: {type(error).__name__}: {error}") from None


def whole(target: str, snippets: SnippetPreprocessor) -> str:
    """The path of the file that an include names, if there is one."""
    asked = snippets.parse_snippet_target(target)
    return (asked and snippets.get_snippet_path(asked["path"])) or ""


def missing(source: Source, number: int, target: str, snippets: SnippetPreprocessor, said: str) -> PageError:
    """The error for a file or a section that is not there, with the name that was probably meant."""
    asked = snippets.parse_snippet_target(target)
    name = asked["path"] if asked else target
    found = asked and snippets.get_snippet_path(name)
    if not found:
        base = Path(snippets.base_path[0])
        folder = next((one for one in (base / name).parents if one.is_dir()), base)
        there = [one.relative_to(base).as_posix() for one in sorted(folder.iterdir()) if one.suffix in ("", ".py") and folder != base]
        return source.error(number, f"there is no {name}{missed(name, there, 'there are')}")
    there = SECTION.findall(Path(found).read_text(encoding="utf-8", errors="replace"))
    section = asked["section"]
    if not section or section in there:
        return source.error(number, f"{target} cannot be included: {said}")
    return source.error(number, f"{name} has no section {section!r}{missed(section, there, 'it has') or '; it has none'}")


def missed(name: str, there: list[str], has: str) -> str:
    return f"; {nearest(name, there, has)}" if there else ""
