"""Every block of code stands on its own: what a region needs and nothing before it on its page has brought is imported at its head.

A page is read as an interpreter would read it that is given its blocks one after the other. Of each name is known what it means in
the file of the block, and what it means to that interpreter by then. Where the two differ, a block of code begins with an import: of
what its file imports itself, or of what its file defines. An example imports in its docstring what it needs, and a page on which it
lacks something is refused. So each page can be pasted from top to bottom.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ..snippet_source import ExampleValue, Meaning, Origin, Statement
from .code_regions import RECIPES, Included, included, snippet_of
from .page_source import Source

WIDTH = 80  # of a line of a snippet, as its formatter has it


class Lacking(Exception):
    """A region that cannot stand where it is: the line in its file, what it lacks, what to do."""


@dataclass(frozen=True)
class Block:
    """A region on a page, and the lines at its head."""

    place: Included
    example: bool
    head: tuple[str, ...]
    body: str

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.head) + self.body


@dataclass
class Interpreter:
    """What the names mean to whoever has pasted the blocks so far."""

    names: dict[str, Meaning] = field(default_factory=dict)
    pasted: dict[str, dict[str, Meaning | None]] = field(default_factory=dict)  # functions and classes, and what they look up

    def has(self, name: str, meaning: Meaning, asked: frozenset[str] = frozenset()) -> bool:
        """Whether a name means this, and what was pasted under it finds all that it looks up."""
        if self.names.get(name, Origin("builtins", name)) != meaning:
            return False
        asked |= {name}
        return all(other in asked or (wanted and self.has(other, wanted, asked)) for other, wanted in self.pasted.get(name, {}).items())

    def take(self, given: dict[str, Meaning], pasted: dict[str, Meaning | None] | None = None) -> None:
        for name, meaning in given.items():
            self.names[name] = meaning
            self.pasted[name] = pasted or {}

    def run(self, one: Statement) -> None:
        self.take(one.binds, one.reads if one.is_definition else None)


def blocks(source: Source, root: Path) -> list[Block]:
    """The regions that a page includes, each with its head. Raises PageError where one cannot stand there."""
    found, session = [], Interpreter()
    for place in included(source.text):
        snippet = snippet_of(root, place.topic)
        for line, said in snippet.mark_faults:
            raise source.error(place.first, f"{snippet.file}:{line}: {said}", place.last)
        region = snippet.regions.get(place.section)
        if region is None:
            continue  # reported by snippet_includes.py
        try:
            statements = snippet.statements_in(region)
            needs = {} if region.is_example else needed(statements, session)
            session.take(needs)
            for one in statements:
                if region.is_example:
                    refuse_lacking(one, session)
                session.run(one)
        except SyntaxError as error:
            raise source.error(place.first, f"{snippet.file}:{error.lineno} is no Python: {error.msg}", place.last) from None
        except Lacking as error:
            raise source.error(place.first, f"{snippet.file}:{error}", place.last) from None
        found.append(Block(place, region.is_example, tuple(spaced(imports(needs), region.body)), region.body))
    return found


def needed(statements: list[Statement], session: Interpreter) -> dict[str, Origin]:
    """What has to be imported before a region of code. Raises Lacking."""
    own = {name for one in statements for name in one.binds}
    found = {}
    for one in statements:
        for name in one.reads:
            if name not in own and not session.has(name, bound(one, name)):
                found[name] = importable(one, name)
    return found


def importable(one: Statement, name: str) -> Origin:
    meaning = bound(one, name)
    if meaning == Origin(RECIPES.replace("/", "."), name):
        raise Lacking(f"{one.line} uses {name!r}, which another part of that file defines; show that part before")
    return meaning


def bound(one: Statement, name: str) -> Meaning:
    meaning = one.reads[name]
    if meaning is None:
        raise Lacking(f"{one.line} uses {name!r}, which nothing in that file binds; import it there, or define it")
    return meaning


def refuse_lacking(one: Statement, session: Interpreter) -> None:
    """Raise Lacking where a statement of an example reads what the page has not brought by then."""
    for name in one.reads:
        meaning = bound(one, name)
        if session.has(name, meaning):
            continue
        if isinstance(meaning, ExampleValue):
            raise Lacking(
                f"{one.line} uses the {name!r} that line {meaning.line} makes, and on this page nothing has made that before, or another "
                f"came since; make {name!r} anew in that example, or show the other before it"
            )
        line = imports({name: meaning})[0][0]
        raise Lacking(
            f"{one.line} uses {name!r}, which on this page means nothing by then, or something else; add '>>> {line}' to that example"
        )


# How imports are written ----------------------------------------------------------------------------------------------------------


def imports(needs: dict[str, Origin]) -> list[list[str]]:
    """The lines that import what is needed, in groups: Python's own modules, others', and the snippets. In each, `import` is first."""
    ranked = {rank: {name: one for name, one in needs.items() if group(one.module) == rank} for rank in range(3)}
    return [[*plain(ours), *chosen(ours)] for ours in ranked.values() if ours]


def group(module: str) -> int:
    top = module.partition(".")[0]
    return 0 if top in sys.stdlib_module_names else 2 if top == "snippets" else 1


def plain(needs: dict[str, Origin]) -> list[str]:
    """`import module`, or `import module as name`."""
    whole = sorted((one.module, name) for name, one in needs.items() if not one.name)
    return [f"import {module}" if name == module.partition(".")[0] else f"import {module} as {name}" for module, name in whole]


def chosen(needs: dict[str, Origin]) -> list[str]:
    """`from module import names`, a line for each module and for each name that becomes another; on several where one would be too long."""
    lines = []
    for module in sorted({one.module for one in needs.values() if one.name}):
        names = sorted(((one.name, name) for name, one in needs.items() if one.name and one.module == module), key=in_order)
        kept = [said for said, name in names if said == name]
        renamed = [([said], f"from {module} import {said} as {name}") for said, name in names if said != name]
        line = f"from {module} import {', '.join(kept)}"
        several = [f"from {module} import (", *(f"    {name}," for name in kept), ")"]
        together = [(kept, line if len(line) <= WIDTH else "\n".join(several))] if kept else []
        for _, said in sorted(renamed + together, key=lambda one: in_order((one[0][0], ""))):
            lines += said.split("\n")
    return lines


def in_order(pair: tuple[str, str]) -> tuple[int, tuple[str, str]]:
    """CONSTANTS, then Classes, then the rest."""
    name = pair[0]
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), pair


def spaced(groups: list[list[str]], body: str) -> list[str]:
    """The groups with an empty line between them, and before the code as many as its formatter wants."""
    lines = [line for group in groups for line in [*group, ""]]
    return [*lines, ""] if lines and re.match(r"@|(async )?def |class ", body) else lines
