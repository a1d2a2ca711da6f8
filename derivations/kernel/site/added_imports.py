"""Add to each code block of a page the imports that it needs, so that readers can paste the page from top to bottom.

The blocks of a page are read in order, as if they were pasted into one interpreter. If a name means something else to that interpreter
than in the file of the block, the block gets an import at its beginning: either the import that the file contains, or an import of what
the file defines. An example gets no imports, since its output is compared as written: it must contain the imports that it needs, and a
page with an example that lacks one is rejected.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..snippet_source import ExampleValue, Meaning, Origin, Statement
from .included_regions import RECIPES, RegionInclude, find_includes, read_snippet
from .page_source import Source

MAX_LINE_LENGTH = 80  # the length to which the snippets are formatted


class MissingName(Exception):
    """A region reads a name that is not available there. The message has the line in the file, the name, and what to do."""


@dataclass(frozen=True)
class CodeBlock:
    """A region on a page, and the import lines that come before it."""

    place: RegionInclude
    example: bool
    head: tuple[str, ...]
    body: str

    def text(self) -> str:
        """Return the import lines and the region."""
        return "".join(f"{line}\n" for line in self.head) + self.body


@dataclass
class Interpreter:
    """The names of an interpreter into which the blocks so far were pasted."""

    names: dict[str, Meaning] = field(default_factory=dict)
    lookups: dict[str, dict[str, Meaning | None]] = field(default_factory=dict)  # what each definition looks up when called

    def has(self, name: str, meaning: Meaning, visited: frozenset[str] = frozenset()) -> bool:
        """Return whether a name has a meaning here, and so does each name that its definition looks up."""
        if self.names.get(name, Origin("builtins", name)) != meaning:
            return False
        visited |= {name}
        lookups = self.lookups.get(name, {})
        return all(other in visited or (wanted and self.has(other, wanted, visited)) for other, wanted in lookups.items())

    def bind(self, names: Mapping[str, Meaning], lookups: dict[str, Meaning | None] | None = None) -> None:
        """Bind names to their meanings; `lookups` are the names that the code they are bound to looks up when it is called."""
        for name, meaning in names.items():
            self.names[name] = meaning
            self.lookups[name] = lookups or {}

    def run(self, statement: Statement) -> None:
        """Bind what a statement binds."""
        self.bind(statement.binds, statement.reads if statement.is_definition else None)


def read_blocks(source: Source, root: Path) -> list[CodeBlock]:
    """Return the regions that a page includes, each with its imports. Raise PageError if one cannot be pasted after those before it."""
    found: list[CodeBlock] = []
    session = Interpreter()
    for place in find_includes(source.text):
        snippet = read_snippet(root, place.topic)
        for line, message in snippet.mark_faults:
            raise source.error(place.first, f"{snippet.file}:{line}: {message}", place.last)
        region = snippet.regions.get(place.section)
        if region is None:
            continue  # reported by include_errors.py
        try:
            statements = snippet.statements_in(region)
            needs = {} if region.is_example else find_needed_imports(statements, session)
            session.bind(needs)
            for statement in statements:
                if region.is_example:
                    check_example(statement, session)
                session.run(statement)
        except SyntaxError as error:
            raise source.error(place.first, f"{snippet.file}:{error.lineno} is not Python: {error.msg}", place.last) from None
        except MissingName as error:
            raise source.error(place.first, f"{snippet.file}:{error}", place.last) from None
        found.append(CodeBlock(place, region.is_example, tuple(join_groups(group_imports(needs), region.body)), region.body))
    return found


def find_needed_imports(statements: list[Statement], session: Interpreter) -> dict[str, Origin]:
    """Return what must be imported before the statements of a region of code, by name. Raise MissingName if something cannot be imported."""
    own = {name for statement in statements for name in statement.binds}
    found: dict[str, Origin] = {}
    for statement in statements:
        for name in statement.reads:
            if name not in own and not session.has(name, find_meaning(statement, name)):
                found[name] = find_origin(statement, name)
    return found


def find_origin(statement: Statement, name: str) -> Origin:
    """Return what a name of a region of code is imported from. Raise MissingName if it cannot be imported."""
    meaning = find_meaning(statement, name)
    if meaning == Origin(RECIPES.replace("/", "."), name):
        raise MissingName(f"{statement.line} uses {name!r}, which another part of that file defines; show that part before it")
    assert isinstance(meaning, Origin)  # only examples read the values of examples
    return meaning


def find_meaning(statement: Statement, name: str) -> Meaning:
    """Return the meaning of a name that a statement reads. Raise MissingName if nothing in its file binds the name."""
    meaning = statement.reads[name]
    if meaning is None:
        raise MissingName(f"{statement.line} uses {name!r}, which that file does not define; import it there, or define it")
    return meaning


def check_example(statement: Statement, session: Interpreter) -> None:
    """Raise MissingName if a statement of an example reads a name that the blocks before it do not provide."""
    for name in statement.reads:
        meaning = find_meaning(statement, name)
        if session.has(name, meaning):
            continue
        if isinstance(meaning, ExampleValue):
            raise MissingName(
                f"{statement.line} uses the {name!r} of line {meaning.line}, which this page does not show before it, or redefines in "
                f"between; define {name!r} in that example, or show line {meaning.line} before it"
            )
        line = group_imports({name: meaning})[0][0]
        raise MissingName(
            f"{statement.line} uses {name!r}, which the code before it on this page does not define, or defines otherwise; add '>>> {line}' "
            "to that example"
        )


# How imports are written ----------------------------------------------------------------------------------------------------------


def group_imports(needs: dict[str, Origin]) -> list[list[str]]:
    """Return the lines of the imports in three groups: the standard library, other packages, snippets. Plain `import` lines come first."""
    groups = ({name: origin for name, origin in needs.items() if import_group(origin.module) == number} for number in range(3))
    return [[*write_imports(group), *write_from_imports(group)] for group in groups if group]


def import_group(module: str) -> int:
    """Return 0 for a module of the standard library, 2 for a snippet, and 1 for any other module."""
    top = module.partition(".")[0]
    return 0 if top in sys.stdlib_module_names else 2 if top == "snippets" else 1


def write_imports(needs: dict[str, Origin]) -> list[str]:
    """Return the lines `import module` and `import module as name`."""
    whole = sorted((origin.module, name) for name, origin in needs.items() if not origin.name)
    return [f"import {module}" if name == module.partition(".")[0] else f"import {module} as {name}" for module, name in whole]


def write_from_imports(needs: dict[str, Origin]) -> list[str]:
    """Return the lines `from module import names`.

    Each module has one import, split over several lines if it is too long, and one more for each name that is renamed by `as`."""
    lines: list[str] = []
    for module in sorted({origin.module for origin in needs.values() if origin.name}):
        pairs = ((origin.name, name) for name, origin in needs.items() if origin.name and origin.module == module)
        names = sorted(pairs, key=sort_key)
        unchanged = [imported for imported, name in names if imported == name]
        statements = [(imported, f"from {module} import {imported} as {name}") for imported, name in names if imported != name]
        if unchanged:
            line = f"from {module} import {', '.join(unchanged)}"
            split = [f"from {module} import (", *(f"    {name}," for name in unchanged), ")"]
            statements.append((unchanged[0], line if len(line) <= MAX_LINE_LENGTH else "\n".join(split)))
        for _, statement in sorted(statements, key=lambda one: sort_key((one[0], ""))):
            lines += statement.split("\n")
    return lines


def sort_key(pair: tuple[str, str]) -> tuple[int, tuple[str, str]]:
    """Return the key that sorts CONSTANTS before Classes, and these before all other names."""
    name = pair[0]
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), pair


def join_groups(groups: list[list[str]], body: str) -> list[str]:
    """Return the lines of the groups, with one empty line after each, and a second one before a definition, as the formatter has it."""
    lines = [line for group in groups for line in [*group, ""]]
    return [*lines, ""] if lines and re.match(r"@|(async )?def |class ", body) else lines
