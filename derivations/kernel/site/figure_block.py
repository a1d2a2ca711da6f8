r"""The `figure` block, which draws a picture when the site is built.

    /// figure | scaling/variance:widths
    What the picture shows, in one sentence.
    ///

With a second word such as `play=temperature`, a widget animates the figure (widgets.py).

The block calls the function `widths` of docs/figures/scaling/variance.py, which takes its numbers from snippets and returns a Picture
(see diagrams.py). The picture is stored with the hashes of all project files that it depends on: the file of the function, its direct
and indirect imports, the drawing modules, the files that it declares by `READS = ("pyproject.toml",)` at its top, and the files and
environment variables that it read when it was run (check/input_tracking.py). While all of them are unchanged, nothing is run.
"""

import ast
import importlib
import re
import sys
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isfunction
from modulefinder import ModuleFinder
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from ..check import input_tracking
from ..store.dependencies import Dependencies, installed_version
from ..store.project_files import file_hash
from ..store.store import Store
from . import diagrams, head_view, page_dependencies, svg_picture
from .svg_picture import Picture
from .widgets import Played

ROOT = Path(__file__).resolve().parents[3]
STORE = Store("figures")
PACKAGE = "snippets"
PHONE, LEGIBLE = 358.0, 11.0  # in pixels: the width of a column on a phone, and the smallest legible type there

_NAME = re.compile(r"([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*):([a-z][a-z0-9_]*)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


_DRAWS_WITH = re.compile(r"^from derivations\.kernel\.site\.(\w+) import", re.M)
# Hashes of the drawing modules as this process loaded them; their files may change while it runs.
_LOADED = {_name(Path(module.__file__)): file_hash(Path(module.__file__)) for module in (diagrams, head_view, svg_picture)}


class FigureError(ValueError):
    """A figure cannot be drawn. The message says what is wrong and what to do; it does not name a line of the page."""


def figure(name: str, docs: Path, number: int) -> tuple[str, str, dict]:
    """Return a figure as HTML, its id, and the numbers for a widget that animates it. Raise FigureError if it cannot be drawn."""
    match = _NAME.fullmatch(name)
    if not match:
        found = repr(name) if name else "nothing"
        raise FigureError(f"expected '/// figure | chapter/topic:function', in lower-case letters, digits and _, found {found}")
    chapter, topic, function = match.groups()
    path = docs / "figures" / chapter / f"{topic}.py"
    if not path.is_file():
        there = f"docs/figures/{chapter}/{topic}.py"
        raise FigureError(f"there is no {there}; make it, with a function '{function}' that returns a picture")
    identifier = f"picture-{number}"
    content = _stored(path, function)
    return _markup(content, identifier), identifier, content.get("numbers", {})


def _markup(content: dict, identifier: str) -> str:
    if content["html"]:
        return content["html"].replace(head_view.HERE, identifier)
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
    if content["smallest"] * min(1, PHONE / content["width"]) < LEGIBLE:  # scroll it instead of shrinking it, also by keyboard
        svg.set("class", "picture__svg picture__svg--wide")
        box.set("tabindex", "0")
    box.append(svg)
    return tostring(box, encoding="unicode", short_empty_elements=False)


# Stored pictures --------------------------------------------------------------------------------------------------------


def _stored(path: Path, function: str) -> dict:
    """Return the stored picture if its dependencies are unchanged; otherwise draw it and store it."""

    def holds(content: dict) -> bool:
        page_dependencies.note_files(ROOT / name for name in content["depends"]["inputs"])
        return not Dependencies.of(content["depends"]).changes()

    def draw() -> dict:
        page_dependencies.note_files(
            [path, *path.parent.glob("*.py"), *(ROOT / PACKAGE).rglob("*.py")]
        )  # if drawing fails, a change of any of these may repair it
        depends = Dependencies.now(
            [ROOT / name for name in _dependencies(path)], libraries=_versions()
        )  # hashed before drawing, so that a change during drawing is noticed next time
        with input_tracking.record_reads(all_threads=False) as recorder:  # a server's other threads read files for other purposes
            drawn = _draw(path, function)
        depends.inputs |= _LOADED
        return _content(drawn) | {"depends": Dependencies.now([], recorder.reads).merged(depends).stored()}

    return STORE.reuse(f"{path.parent.name}/{path.stem}.{function}", draw, holds)


def _content(drawn: Picture) -> dict:
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
    } | ({"numbers": drawn.numbers} if isinstance(drawn, Played) else {})


def _versions() -> dict[str, str]:
    return {name: installed_version(name) for name in ("python", "torch")}


def _dependencies(path: Path) -> list[str]:
    """Return the names of the files that a figure file depends on.

    These are the file itself, its drawing modules, the files that it declares, the snippets that it imports directly or indirectly, and
    data files named like one of these. Raise FigureError if the file is not Python.
    """
    finder = ModuleFinder(path=[str(ROOT)], excludes=["derivations"])
    try:
        finder.run_script(str(path))
    except SyntaxError as error:
        raise FigureError(f"{_name(path)}:{error.lineno} is not Python: {error.msg}") from None
    except ValueError as error:  # null bytes, or an invalid encoding
        raise FigureError(f"{_name(path)} is not Python: {error}") from None
    found = {Path(module.__file__) for module in finder.modules.values() if module.__file__}
    beside = (Path(__file__).with_name(f"{name}.py") for name in _DRAWS_WITH.findall(path.read_text(encoding="utf-8")))
    found.update(filter(Path.is_file, beside))
    found.update(ROOT / name for name in _declared(path))
    found.update(data for one in found.copy() for data in one.parent.glob(f"{one.stem}.*"))
    return sorted(_name(one) for one in found | {path})


def _declared(path: Path) -> tuple[str, ...]:
    """Return the paths, relative to the root, that a figure file declares in READS. Raise FigureError if they are not file names."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["READS"]:
            try:
                names = ast.literal_eval(node.value)
            except ValueError:
                names = None
            if not isinstance(names, tuple) or not all(isinstance(name, str) and (ROOT / name).is_file() for name in names):
                raise FigureError(f"{_name(path)}:{node.lineno}: READS is a tuple of names of files, from the project's root on")
            return names
    return ()


# Drawing ----------------------------------------------------------------------------------------------------------------


def _draw(path: Path, function: str) -> Picture:
    """Run a function of a figure file and return its picture. Raise FigureError if that fails."""
    with _fresh(PACKAGE):
        try:
            module = _imported(path)
            made = {name: one for name, one in vars(module).items() if isfunction(one) and one.__module__ == module.__name__}
            own = [name for name in made if not name.startswith("_")]
            if function not in own:
                raise FigureError(f"{_name(path)} has no function '{function}'; it has {', '.join(own) or 'none'}")
            drawn = made[function]()
        except FigureError:
            raise
        except (Exception, SystemExit) as error:
            lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
            place = f"{_name(path)}:{lines[-1]}" if lines else _name(path)
            raise FigureError(f"it fails with {type(error).__name__}: {' '.join(str(error).split())} ({place})") from None
    if not isinstance(drawn, Picture):
        raise FigureError(f"{_name(path)}: {function}() returns {type(drawn).__name__}; return what diagrams.py makes, a Picture")
    return drawn


def _imported(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"figures_{path.parent.name}_{path.stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _fresh(package: str):
    """Import a package afresh inside the context, and restore the modules that were loaded before.

    A server that keeps running holds modules whose files may have changed since they were loaded.
    """

    def loaded():
        return {name for name in sys.modules if name == package or name.startswith(f"{package}.")}

    before = {name: sys.modules.pop(name) for name in loaded()}
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(before)
