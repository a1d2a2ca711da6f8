"""Report includes that cannot work, with the page's line and the names that exist, before pymdownx.snippets processes them."""

import re
from pathlib import Path

from markdown import Markdown
from pymdownx.snippets import SnippetMissingError, SnippetPreprocessor

from ..errors import suggest_names
from . import page_dependencies
from .page_source import PageError, Source

SECTION = re.compile(r"--8<--[ \t]+\[start:[ \t]*([A-Za-z][\w-]*)[ \t]*\]")
UNREADABLE = "\ufffd"  # the character that replaces invalid UTF-8 when a page is read


def reject_invalid_utf8(source: Source) -> None:
    """Raise PageError if the page contains invalid UTF-8."""
    for number, line in enumerate(source.lines, start=1):
        if UNREADABLE in line:
            raise source.error(number, f"invalid UTF-8 after {line.partition(UNREADABLE)[0][-30:]!r}; save the page as UTF-8")


def reject_missing_includes(source: Source, md: Markdown) -> None:
    """Raise PageError if an include cannot work. Each is tried with the preprocessor that will process it."""
    snippets = find_preprocessor(md)
    if snippets is None:
        return
    opened = 0  # the line on which the current block of includes begins; 0 outside such blocks
    for number, line in enumerate(source.lines, start=1):
        match = snippets.RE_ALL_SNIPPETS.match(line)
        if match and match["escape"]:
            continue
        if match and match["block_marker"]:
            opened = 0 if opened else number
        elif opened and line.strip():
            check_include(source, number, (opened, find_closing_line(source, number)), line.strip(), snippets)
        elif match:
            check_include(source, number, (number, number), match["snippet"][1:-1].strip(), snippets)


def find_preprocessor(md: Markdown) -> SnippetPreprocessor | None:
    """Return the preprocessor of pymdownx.snippets, or None if that extension is not in use."""
    return next((one for one in md.preprocessors if isinstance(one, SnippetPreprocessor)), None)


def find_closing_line(source: Source, number: int) -> int:
    """Return the line that closes the block of includes around a line; the line itself if nothing closes the block."""
    later = enumerate(source.lines[number:], start=number + 1)
    return next((closing for closing, line in later if line.strip().strip("-") == "8<"), number)


def check_include(source: Source, number: int, span: tuple[int, int], target: str, snippets: SnippetPreprocessor) -> None:
    """Raise PageError if an include cannot work.

    `target` is what it names, `FILE` or `FILE:SECTION`; `span` are the first and last lines of the page that the error makes unusable."""
    try:
        try_include(source, number, target, snippets)
    except PageError as error:
        raise error.over(*span) from None


def try_include(source: Source, number: int, target: str, snippets: SnippetPreprocessor) -> None:
    """Let pymdownx.snippets include a target, and raise PageError with the page's line if that fails."""
    if target.startswith(";"):  # an include that is commented out
        return
    try:
        snippets.seen = set()
        page_dependencies.note_files([path] if (path := find_included_file(target, snippets)) else [])
        snippets.parse_snippets([f'--8<-- "{target}"'])
    except SnippetMissingError as error:
        raise make_missing_error(source, number, target, snippets, str(error)) from None
    except UnicodeDecodeError as error:
        raise source.error(number, f"{target.partition(':')[0]} is not UTF-8 text ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise source.error(number, f"{target.partition(':')[0]} cannot be included: {error.strerror}") from None
    except Exception as error:  # any other failure: the author needs the page's line, not a traceback
        raise source.error(number, f"{target!r} cannot be included: {type(error).__name__}: {error}") from None


def find_included_file(target: str, snippets: SnippetPreprocessor) -> str:
    """Return the path of the file that an include names, or "" if there is none."""
    parts = snippets.parse_snippet_target(target)
    return (parts and snippets.get_snippet_path(parts["path"])) or ""


def make_missing_error(source: Source, number: int, target: str, snippets: SnippetPreprocessor, reason: str) -> PageError:
    """Return the error for a file or a section that does not exist, with the most similar name that does."""
    parts = snippets.parse_snippet_target(target)
    name = parts["path"] if parts else target
    path = parts and snippets.get_snippet_path(name)
    if not path:
        base = Path(snippets.base_path[0])
        folder = next((one for one in (base / name).parents if one.is_dir()), base)
        files = [one.relative_to(base).as_posix() for one in sorted(folder.iterdir()) if one.suffix in ("", ".py") and folder != base]
        return source.error(number, f"there is no {name}{suggest_existing(name, files, 'there are')}")
    sections = SECTION.findall(Path(path).read_text(encoding="utf-8", errors="replace"))
    section = parts["section"]
    if not section or section in sections:
        return source.error(number, f"{target} cannot be included: {reason}")
    return source.error(number, f"{name} has no section {section!r}{suggest_existing(section, sections, 'it has') or '; it has none'}")


def suggest_existing(name: str, existing: list[str], verb: str) -> str:
    """Return the end of a message, with the existing names most similar to `name`; "" if there are none."""
    return f"; {suggest_names(name, existing, verb)}" if existing else ""
