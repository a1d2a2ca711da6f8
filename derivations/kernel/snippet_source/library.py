"""All snippet modules below a folder: what a module imports of the others, and what a statement uses in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .scopes import Origin, Statement
from .snippet import Snippet, parse


def read_text(path: Path) -> str | None:
    """Return the text of a file; None where there is none. Raises OSError or UnicodeDecodeError."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


class Library:
    """The snippet modules of a project. Nothing is cached here: each call reads the files again, and `parse` caches by content."""

    def __init__(self, root: Path, read: Callable[[Path], str | None] = read_text) -> None:
        self.root, self.read = root, read

    def path(self, module: str) -> Path:
        """Return where a module lies, whether or not there is one."""
        path = self.root.joinpath(*module.split("."))
        package = path / "__init__.py"
        return package if package.is_file() else path.with_suffix(".py")

    def find(self, module: str) -> Snippet | None:
        """Return a module by its full name; None where there is no such file."""
        path = self.path(module)
        text = self.read(path)
        return None if text is None else parse(path.relative_to(self.root).as_posix(), text)

    def closure(self, modules: Iterable[str]) -> dict[str, Snippet]:
        """Return the modules, those that they import, and the packages around them, by their files. Raises SyntaxError."""
        found: dict[str, Snippet] = {}
        left = list(modules)
        while left:
            one = self.find(left.pop())
            if one and one.file not in found:
                found[one.file] = one
                left += [name for name in one.imported_modules if name.partition(".")[0] == "snippets"]
        return dict(sorted(found.items()))

    def definition(self, origin: Origin) -> Statement | None:
        """Return the statement that gives a module its name; None where there is none, or where the module is not Python."""
        try:
            module = self.find(origin.module)
            return module.statement_that_binds(origin.name) if module else None
        except SyntaxError:
            return None

    def reachable(self, start: Statement) -> Iterator[tuple[Statement, str, Origin, Statement | None]]:
        """Yield (statement, name that it uses, what the name is, the statement that defines it), from `start` on through all modules.

        Each definition comes once. The last is None where no module defines the name."""
        seen, left = {start}, [start]
        while left:
            one = left.pop()
            for name, origin in one.uses.items():
                other = self.definition(origin)
                if other is None or other not in seen:
                    yield one, name, origin, other
                if other and other not in seen:
                    seen.add(other)
                    left.append(other)
