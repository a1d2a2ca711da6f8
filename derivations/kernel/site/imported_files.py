"""Find the project files that a script imports, for results that depend on them."""

from collections.abc import Collection
from modulefinder import ModuleFinder
from pathlib import Path


def find_imported_files(script: Path, root: Path, excludes: Collection[str] = ()) -> set[Path]:
    """Return the files below `root` that a script imports, directly or indirectly, without those of the packages in `excludes`.

    Raise SyntaxError or ValueError if the script is not Python.
    """
    finder = ModuleFinder(path=[str(root)], excludes=excludes)
    finder.run_script(str(script))
    files = (getattr(module, "__file__", None) for module in finder.modules.values())  # None for a namespace package
    return {Path(file) for file in files if file}


def find_data_files(modules: Collection[Path]) -> set[Path]:
    """Return the files that have the name of a module next to them, such as `weights.json` next to `weights.py`."""
    return {data for module in modules for data in module.parent.glob(f"{module.stem}.*") if data.is_file()}
