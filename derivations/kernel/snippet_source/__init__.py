"""The source text of snippet modules, parsed once for every room that reads it. Nothing here imports or runs a snippet.

  snippet.py   `parse(file, text)` returns a `Snippet`: definitions, imports, named regions, docstring examples, compiled code
  regions.py   the named regions of a file, and the marks that delimit them
  scopes.py    the names that a statement reads and binds, and where each name comes from
  library.py   all snippet modules below a folder: what a module imports, and what a statement uses in other modules

May import: `errors` and the standard library. Begin with `snippet.py`.
"""

from .library import Library
from .regions import Region
from .scopes import ExampleValue, Import, Meaning, Origin, Statement
from .snippet import Example, Snippet, doctest_examples, parse

__all__ = [
    "Example",
    "ExampleValue",
    "Import",
    "Library",
    "Meaning",
    "Origin",
    "Region",
    "Snippet",
    "Statement",
    "doctest_examples",
    "parse",
]
