r"""The block that draws a picture when the site is built.

    /// figure | scaling/variance:widths
    What the picture shows, in one sentence.
    ///

A second word, `play=temperature`, has a widget play it (widgets.py).

It calls the function `widths` of docs/figures/scaling/variance.py, which returns a Picture (see diagrams.py) and takes its numbers
from snippets. A picture is kept under `.certificates/figures/`, sealed, with the hash of every file of the project that it came
from: the function's own, those that it imports, however indirectly, what it draws with, what it says that it reads, by
`READS = ("pyproject.toml",)` at its top, and the files and environment variables that it was seen to read (run/input_tracking.py). While they hold, nothing is run.
"""

import ast
import hmac
import importlib
import json
import os
import re
import sys
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isfunction
from modulefinder import ModuleFinder
from pathlib import Path
from platform import python_version
from traceback import extract_tb
from types import ModuleType
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from ..run import certificates, input_tracking
from . import diagrams, head_view, page_dependencies, svg_picture
from .svg_picture import Picture
from .widgets import Played

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / ".certificates" / "figures"
PACKAGE = "snippets"
PHONE, LEGIBLE = 358.0, 11.0  # pixels: the breadth of a phone's column, and the smallest type that is read there

_NAME = re.compile(r"([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*):([a-z][a-z0-9_]*)")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


_DRAWS_WITH = re.compile(r"^from derivations\.kernel\.site\.(\w+) import", re.M)
# What this process draws with, whatever the files become while it runs.
_LOADED = {_name(Path(module.__file__)): certificates.file_hash(Path(module.__file__)) for module in (diagrams, head_view, svg_picture)}


class FigureError(ValueError):
    """A figure that cannot be drawn: what was found and what to do, without a place."""


def figure(name: str, docs: Path, number: int) -> tuple[str, str, dict]:
    """A figure's picture as HTML, the id of the figure, and the numbers for a widget that plays it. Raises FigureError."""
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
    content = _kept(KEPT / chapter / f"{topic}.{function}.json", path, function)
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
            "width": f"{content['width'] / 20:g}rem",  # the page's type is 20 pixels to the rem, and more on large screens
        },
    )
    for part, identifier in names.items():
        SubElement(svg, part, {"id": identifier}).text = content[part]
    svg.extend(fromstring(content["drawing"]))
    box = Element("div", {"class": "picture__box"})
    if content["smallest"] * min(1, PHONE / content["width"]) < LEGIBLE:  # keeps its size and is scrolled, also by keyboard
        svg.set("class", "picture__svg picture__svg--wide")
        box.set("tabindex", "0")
    box.append(svg)
    return tostring(box, encoding="unicode", short_empty_elements=False)


# Kept pictures ----------------------------------------------------------------------------------------------------------


def _kept(store: Path, path: Path, function: str) -> dict:
    """The picture as it was kept, if it may be trusted and nothing that it came from changed; else drawn again and kept."""
    try:
        content = json.loads(store.read_text(encoding="utf-8"))
        page_dependencies.note_files(ROOT / name for name in content["inputs"])
        unchanged = content["inputs"] == _hashes(content["inputs"]) and content["versions"] == _versions()
        unchanged = unchanged and not certificates.changes_of(content["read"])
        if unchanged and hmac.compare_digest(content["seal"], certificates.seal(content)):
            return content
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    page_dependencies.note_files(
        [path, *path.parent.glob("*.py"), *(ROOT / PACKAGE).rglob("*.py")]
    )  # of a picture that fails, all that may mend it
    inputs = _hashes(_dependencies(path)) | _LOADED  # before it is drawn: a change meanwhile is seen next time
    with input_tracking.recorded(all_threads=False) as recorder:  # a server has others, which read for themselves
        drawn = _draw(path, function)
    read = certificates.stored(recorder.reads)
    content = _content(drawn) | {"inputs": inputs, "read": read, "versions": _versions()}
    content["seal"] = certificates.seal(content)
    store.parent.mkdir(parents=True, exist_ok=True)
    half = store.with_suffix(f".{os.getpid()}.tmp")
    half.write_text(json.dumps(content, indent=1), encoding="utf-8")
    half.replace(store)
    return content


def _content(drawn: Picture) -> dict:
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


def _hashes(names) -> dict[str, str]:
    return {name: certificates.file_hash(ROOT / name) for name in names}


def _versions() -> dict[str, str]:
    return {"python": python_version(), "torch": certificates.installed("torch")}


def _dependencies(path: Path) -> list[str]:
    """The file, what it draws with, every snippet that it imports, and they import, and data that has a snippet's name."""
    finder = ModuleFinder(path=[str(ROOT)], excludes=["derivations"])
    try:
        finder.run_script(str(path))
    except SyntaxError as error:
        raise FigureError(f"{_name(path)}:{error.lineno} is not Python: {error.msg}") from None
    except ValueError as error:  # bytes that are no text
        raise FigureError(f"{_name(path)} is not Python: {error}") from None
    found = {Path(module.__file__) for module in finder.modules.values() if module.__file__}
    beside = (Path(__file__).with_name(f"{name}.py") for name in _DRAWS_WITH.findall(path.read_text(encoding="utf-8")))
    found.update(filter(Path.is_file, beside))
    found.update(ROOT / name for name in _declared(path))
    found.update(data for one in found.copy() for data in one.parent.glob(f"{one.stem}.*"))
    return sorted(_name(one) for one in found | {path})


def _declared(path: Path) -> tuple[str, ...]:
    """The files, from the root on, that a file of figures says it reads."""
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
    """Import a package anew inside, since a server that goes on running holds modules whose files were changed; then put back
    what was loaded."""

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
