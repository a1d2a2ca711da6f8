"""Find relations that the comments, docstrings and strings of a snippet state in words.

Pages show these words with the code, but no witness checks them. So the rules for prose apply: relations must be shown as claims.
The functions yield (line, words, fault), where the fault is "" if the words are fine.
"""

import ast
import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError

from ..printing.handwritten_relations import find_code_fault, find_text_fault
from ..snippet_source import Snippet, doctest_parts
from .findings import Finding
from .included_regions import read_snippet

_SHAPE = r"\([\w*,. ]*\)"  # sizes, numbers, products of these, and `...`
_SHAPES = re.compile(rf"(?:{_SHAPE}[ ,]*)+->(?: *{_SHAPE})+")  # (n, d) (d, m) -> (n, m)
_PHRASE = re.compile(r"[^\W\d_][\w]* +[^\W\d_]")  # two words in a row, which sizes are not
_RULE = re.compile(r"-{3,}$")


def check_words(root: Path, topic: str) -> list[Finding]:
    """Return findings for the relations stated in the words of a topic's snippet. Invalid Python is reported by other checks."""
    snippet = read_snippet(root, topic)
    try:
        texts = [*check_comments(snippet), *check_docstrings(snippet), *check_strings(snippet)]
    except (SyntaxError, TokenError, ValueError):
        return []
    return [
        Finding(f"{snippet.file}:{line}", f"{words.strip()!r} {fault}; show it as a claim, or say it in words")
        for line, words, fault in texts
        if fault
    ]


def check_comments(snippet: Snippet) -> Iterator[tuple[int, str, str]]:
    """Yield (line, words, fault) for each comment, except the marks of regions."""
    for line, comment in snippet.comments:
        if "--8<--" not in comment:
            words = comment.lstrip("#! ")
            yield line, words, find_fault(words)


def check_docstrings(snippet: Snippet) -> Iterator[tuple[int, str, str]]:
    """Yield (line, words, fault) for each line of the strings that are statements, such as docstrings, and for strings in their examples.

    Doctest runs the examples, but the strings that they contain or print can say anything."""
    for node in snippet.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            line = node.lineno
            for part in doctest_parts(node.value.value):
                if isinstance(part, doctest.Example):
                    first = node.lineno + part.lineno
                    yield from ((first, words, fault) for words, fault in _example_strings(part))
                    line = first + part.source.count("\n") + part.want.count("\n")
                    continue
                for words in part.split("\n"):
                    if "--8<--" not in words:
                        yield line, words, find_fault(words)
                    line += 1
                line -= 1


def check_strings(snippet: Snippet) -> Iterator[tuple[int, str, str]]:
    """Yield (line, words, fault) for the strings in regions and in `raise` statements. Readers do not see the other strings."""
    lines = {line for region in snippet.regions.values() for line in region.lines}
    for node in snippet.nodes:
        if isinstance(node, ast.Raise):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    yield from ((line, words, find_fault(words)) for line, words in _strings_in(snippet.tree) if line in lines)


def _strings_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, string) for the strings in code, except those that are statements. An f-string has "a" for each of its fields."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "a" for part in node.values)
        fields = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        yield from (string for field in fields for string in _strings_in(field))
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) and not _is_einsum(node):
        yield from (string for part in ast.iter_child_nodes(node) for string in _strings_in(part))


def _is_einsum(node: ast.AST) -> bool:
    """Return whether a node is a call of einsum, whose string is code: PyTorch reads its arrow."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "einsum"


def _example_strings(example: doctest.Example) -> Iterator[tuple[str, str]]:
    """Yield (words, fault) for the strings in an example and for its output, which is either a value or words."""
    yield from ((text, find_text_fault(text)) for text in _string_constants(example.source))
    try:
        yield from ((text, find_text_fault(text)) for text in _string_constants(example.want.strip() or "None"))
        yield example.want, find_code_fault(example.want)
    except SyntaxError:
        yield from ((words, find_text_fault(words)) for words in example.want.split("\n"))


def _string_constants(code: str) -> list[str]:
    """Return the string constants in code, including parts of f-strings. Raise SyntaxError if it is not Python."""
    return [node.value for node in Snippet("", code).nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def find_fault(words: str) -> str:
    """Return what is wrong with a line of words, or "". An arrow between shapes is allowed, and so is a line of dashes at the end."""
    parts = _RULE.sub("", _SHAPES.sub(_remove_sizes, words)).split("`")
    return next(filter(None, [find_text_fault("".join(parts[::2])), *map(find_code_fault, parts[1::2])]), "")


def _remove_sizes(shapes: re.Match[str]) -> str:
    """Return "" for a match that holds only sizes, and all of it if it holds words."""
    return shapes[0] if _PHRASE.search(shapes[0]) else ""
