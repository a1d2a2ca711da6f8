r"""The `figure` block, which draws a picture when the site is built.

    /// figure | scaling/variance:widths
    What the picture shows, in one sentence.
    ///

With a second word such as `play=temperature`, a widget replaces the picture (figure_widgets.py).

The block calls the function `widths` of docs/figures/scaling/variance.py, which takes its numbers from snippets and returns a Picture
(see diagrams.py). The picture is stored with the hashes of all project files that it depends on: the file of the function, its direct
and indirect imports, the drawing modules, the files that it declares by `READS = ("pyproject.toml",)` at its top, and the files and
environment variables that the function read (check/input_tracking.py). While all of them are unchanged, the function is not run again.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isfunction
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from ..check import input_tracking
from ..store.dependencies import Dependencies, installed_version
from ..store.project_files import ROOT, file_hash
from ..store.store import Store
from . import diagrams, head_view, page_dependencies, svg_picture, table_figure, weight_pictures
from .figure_widgets import Played
from .imported_files import find_data_files, find_imported_files
from .svg_picture import ID_PLACEHOLDER, MIN_FONT_SIZE, PHONE_WIDTH, Picture

STORE = Store("figures")
PACKAGE = "snippets"

_NAME = re.compile(r"([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*):([a-z][a-z0-9_]*)")


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


_DRAWING_MODULE = re.compile(r"^from derivations\.kernel\.site\.(\w+) import", re.M)
# Hashes of the drawing modules as this process loaded them; their files may change while it runs.
_LOADED = {
    _relative(path): file_hash(path)
    for path in (Path(module.__file__ or "") for module in (diagrams, head_view, svg_picture, table_figure, weight_pictures))
}


class FigureError(ValueError):
    """A figure cannot be drawn. The message says what is wrong and what to do, without the line of the page."""


def render_figure(name: str, docs: Path, identifier: str) -> tuple[str, dict]:
    """Return a figure as HTML, and the numbers for its widget. Raise FigureError if it cannot be drawn."""
    content = load_picture(name, docs)
    return _to_html(content, identifier), content.get("numbers", {})


def load_picture(name: str, docs: Path) -> dict:
    """Return a picture as it is stored (see `_to_json`). Raise FigureError if it cannot be drawn."""
    match = _NAME.fullmatch(name)
    if not match:
        found = repr(name) if name else "nothing"
        raise FigureError(f"expected '/// figure | chapter/topic:function', in lower-case letters, digits and _, found {found}")
    chapter, topic, function = match.groups()
    path = docs / "figures" / chapter / f"{topic}.py"
    if not path.is_file():
        file = f"docs/figures/{chapter}/{topic}.py"
        raise FigureError(f"there is no {file}; create it, with a function '{function}' that returns a Picture")
    return _draw_or_reuse(path, function)


def _to_html(content: dict, identifier: str) -> str:
    if content["html"]:
        return content["html"].replace(ID_PLACEHOLDER, identifier)
    names = {part: f"{identifier}-{part}" for part in ("title", "desc")}
    svg = Element(
        "svg",
        {
            "class": "picture__svg",
            "viewBox": f"0 0 {content['width']:g} {content['height']:g}",
            "role": "img",
            "aria-labelledby": names["title"],
            "aria-describedby": names["desc"],
            "data-search-exclude": "",
            "width": f"{content['width'] / 20:g}rem",  # 1rem = 20px, more on large screens
        },
    )
    for part, identifier in names.items():
        SubElement(svg, part, {"id": identifier}).text = content[part]
    svg.extend(fromstring(content["drawing"]))
    box = Element("div", {"class": "picture__box"})
    if content["smallest"] * min(1, PHONE_WIDTH / content["width"]) < MIN_FONT_SIZE:  # scroll it instead of shrinking it, also by keyboard
        svg.set("class", "picture__svg picture__svg--wide")
        box.set("tabindex", "0")
    box.append(svg)
    if content["tables"]:
        box.append(_to_tables(content["tables"]))
    return tostring(box, encoding="unicode", short_empty_elements=False)


def _to_tables(tables: list[dict]) -> Element:
    """Return the numbers of a picture as tables that are heard and not seen."""
    heard = Element("div", {"class": "heads__hidden", "data-search-exclude": ""})
    for one in tables:
        table = SubElement(heard, "table", {"class": "picture__table"})
        SubElement(table, "caption").text = _spoken(one["title"])
        if any(one["columns"]):
            _add_cells(SubElement(table, "tr"), [""] * bool(one["rows"]) + list(one["columns"]), "col")
        for order, entries in enumerate(one["entries"]):
            row = SubElement(table, "tr")
            _add_cells(row, one["rows"][order : order + 1], "row")
            _add_cells(row, entries)
    return heard


def _add_cells(row: Element, texts: Sequence[str], scope: str = "") -> None:
    """Append cells, or with a scope the names of columns or rows; an empty name is a cell."""
    for words in texts:
        cell = SubElement(row, "th", {"scope": scope}) if scope and words else SubElement(row, "td")
        cell.text = _spoken(words)


def _spoken(words: str) -> str:
    """Return words without the signs that set letters as mathematics."""
    return "".join(run for run, _, _ in svg_picture.split_runs(words))


# Stored pictures --------------------------------------------------------------------------------------------------------


def _draw_or_reuse(path: Path, function: str) -> dict:
    """Return the stored picture if its dependencies are unchanged; otherwise draw it and store it."""

    def holds(content: dict) -> bool:
        page_dependencies.note_files(ROOT / name for name in content["depends"]["inputs"])
        return not Dependencies.of(content["depends"]).changes()

    def draw() -> dict:
        # If drawing fails, a change to any of these may repair it.
        page_dependencies.note_files([path, *path.parent.glob("*.py"), *(ROOT / PACKAGE).rglob("*.py")])
        # Hashed before drawing, so that a change during drawing is noticed next time.
        depends = Dependencies.now([ROOT / name for name in _find_dependencies(path)], libraries=_find_versions())
        with input_tracking.record_reads(all_threads=False) as recorder:  # a server's other threads read files for other purposes
            drawn = _run_function(path, function)
        depends.inputs |= _LOADED
        return _to_json(drawn) | {"depends": Dependencies.now([], recorder.reads).merged(depends).stored()}

    return STORE.reuse(f"{path.parent.name}/{path.stem}.{function}", draw, holds)


def _to_json(drawn: Picture) -> dict:
    """Return a picture as JSON values."""
    group = Element("g")
    group.extend(drawn.elements)
    return {
        "title": drawn.title,
        "desc": drawn.description,
        "width": round(drawn.width, 1),
        "height": round(drawn.height, 1),
        "smallest": drawn.smallest(),
        "drawing": tostring(group, encoding="unicode"),
        "html": getattr(drawn, "html", ""),
        "tables": [asdict(table) for table in drawn.tables],
    } | ({"numbers": drawn.numbers} if isinstance(drawn, Played) else {})


def _find_versions() -> dict[str, str]:
    return {name: installed_version(name) for name in ("python", "torch")}


def _find_dependencies(path: Path) -> list[str]:
    """Return the paths of the files that a file of figures depends on, relative to the root.

    These are the file itself, its drawing modules, the files that it declares, the snippets that it imports directly or indirectly, and
    data files with the name of one of these. Raise FigureError if the file is not Python.
    """
    try:
        found = find_imported_files(path, ROOT, excludes=["derivations"])
    except SyntaxError as error:
        raise FigureError(f"{_relative(path)}:{error.lineno} is not Python: {error.msg}") from None
    except ValueError as error:  # null bytes, or an invalid encoding
        raise FigureError(f"{_relative(path)} is not Python: {error}") from None
    modules = (Path(__file__).with_name(f"{name}.py") for name in _DRAWING_MODULE.findall(path.read_text(encoding="utf-8")))
    found.update(filter(Path.is_file, modules))
    found.update(ROOT / name for name in _read_declared_files(path))
    return sorted(_relative(file) for file in found | find_data_files(found) | {path})


def _read_declared_files(path: Path) -> tuple[str, ...]:
    """Return the paths, relative to the root, that a file of figures declares in READS. Raise FigureError if they are not file names."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["READS"]:
            try:
                names = ast.literal_eval(node.value)
            except ValueError:
                names = None
            if not isinstance(names, tuple) or not all(isinstance(name, str) and (ROOT / name).is_file() for name in names):
                raise FigureError(
                    f"{_relative(path)}:{node.lineno}: READS must be a tuple of paths of existing files, relative to the root"
                )
            return names
    return ()


# Drawing ----------------------------------------------------------------------------------------------------------------


def _run_function(path: Path, function: str) -> Picture:
    """Run a function of a file of figures and return its picture. Raise FigureError if that fails."""
    with _forget_loaded_modules(PACKAGE):
        try:
            module = _load_module(path)
            functions = {name: one for name, one in vars(module).items() if isfunction(one) and one.__module__ == module.__name__}
            public = [name for name in functions if not name.startswith("_")]
            if function not in public:
                raise FigureError(f"{_relative(path)} has no function '{function}'; it has {', '.join(public) or 'none'}")
            drawn = functions[function]()
        except FigureError:
            raise
        except (Exception, SystemExit) as error:
            lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
            place = f"{_relative(path)}:{lines[-1]}" if lines else _relative(path)
            raise FigureError(f"the function fails with {type(error).__name__}: {' '.join(str(error).split())} ({place})") from None
    if not isinstance(drawn, Picture):
        raise FigureError(
            f"{_relative(path)}: {function}() returns {type(drawn).__name__}; return a Picture, as the functions of diagrams.py do"
        )
    return drawn


def _load_module(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"figures_{path.parent.name}_{path.stem}", path)
    assert spec and spec.loader, "a path that ends in .py has a loader"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _forget_loaded_modules(package: str) -> Iterator[None]:
    """Forget the loaded modules of a package inside the context, and restore them afterwards.

    A running server has loaded modules whose files may have changed since.
    """

    def find_loaded() -> list[str]:
        return [name for name in sys.modules if name == package or name.startswith(f"{package}.")]

    before = {name: sys.modules.pop(name) for name in find_loaded()}
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for name in find_loaded():
            del sys.modules[name]
        sys.modules.update(before)
