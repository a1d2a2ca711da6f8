"""Find snippet modules below a folder, the modules that they import, and the definitions that a statement uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .scopes import Origin, Statement
from .snippet import Snippet, parse


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None if there is no such file. Raise OSError or UnicodeDecodeError if it cannot be read."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


class Library:
    """The snippet modules of a project. Nothing is cached here: each call reads the files again, and `parse` caches by content."""

    def __init__(self, root: Path, read: Callable[[Path], str | None] = read_text) -> None:
        self.root, self.read = root, read

    def path(self, module: str) -> Path:
        """Return the path of a module's file, which need not exist."""
        path = self.root.joinpath(*module.split("."))
        package = path / "__init__.py"
        return package if package.is_file() else path.with_suffix(".py")

    def find(self, module: str) -> Snippet | None:
        """Return the module with a full name, or None if it has no file."""
        path = self.path(module)
        text = self.read(path)
        end = "/__init__.py" if path.name == "__init__.py" else ".py"
        return None if text is None else parse(module.replace(".", "/") + end, text)

    def closure(self, modules: Iterable[str]) -> dict[str, Snippet]:
        """Return modules, all snippets that they import, and the packages around these, by file. Raise SyntaxError if one is not Python."""
        found: dict[str, Snippet] = {}
        left = list(modules)
        while left:
            snippet = self.find(left.pop())
            if snippet and snippet.file not in found:
                found[snippet.file] = snippet
                left += [name for name in snippet.imported_modules if name.partition(".")[0] == "snippets"]
        return dict(sorted(found.items()))

    def definition(self, origin: Origin) -> Statement | None:
        """Return the statement that defines a name in a module, or None if there is none or the module is not Python."""
        try:
            module = self.find(origin.module)
            return module.statement_that_binds(origin.name) if module else None
        except SyntaxError:
            return None

    def reachable(self, start: Statement) -> Iterator[tuple[Statement, str, Origin, Statement | None]]:
        """Yield (statement, used name, its origin, the statement that defines it) for all uses of snippets that can be reached from `start`.

        Each definition is yielded once. It is None if no module defines the name."""
        seen, left = {start}, [start]
        while left:
            statement = left.pop()
            for name, origin in statement.uses.items():
                definition = self.definition(origin)
                if definition is None or definition not in seen:
                    yield statement, name, origin, definition
                if definition and definition not in seen:
                    seen.add(definition)
                    left.append(definition)
