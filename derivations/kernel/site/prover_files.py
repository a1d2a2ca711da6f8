"""Write the files of the buttons "Prove it again here": Python for browsers, FLINT and SymPy for it, and the kernel itself.

The files are in assets/prover of the built site, and docs/assets/js/prover reads them once a reader presses such a button. Names of files that
rarely change contain a digest, so that a browser keeps them. Large files are compressed with gzip and named `.bin`, as those of the model are
(model_files.py), so that the download is as small on a server that compresses nothing.

| file | content |
|---|---|
| index.json | for each part the names and sizes of its files, and the name of the editor |
| verdicts.json | for each topic and claim what the exact witness said in the build: verdict, scope and note |
| exercises.json | for each page the names of its exercises that take an answer: the claim, and perhaps the part that is asked for |
| examples.json | the examples of the page on which readers state claims: titles and scripts |
| scripts/ | the scripts of the topics |
| code/ | for each topic and claim what the code that it names computes, as the code witness read it |
| python-DIGEST/ | Pyodide and the wheels |
| kernel-DIGEST.zip, sympy-DIGEST.zip | the rooms of the kernel that run in a browser |
| editor-DIGEST.js | CodeMirror, which edits claims, and Temml, which sets LaTeX as a formula |

`make prover` fetches Pyodide and the wheels. Without them there are no files, and pages have no such buttons.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..snippet_source.snippet import parse
from ..store import certificates
from ..store.project_files import ROOT
from .page_source import Source

FOLDER = "assets/prover"
SOURCE = ROOT / ".cache" / "prover"
KERNEL = ROOT / "derivations" / "kernel"
ROOMS = {"kernel": ("browser", "core", "exact", "language", "printing", "script"), "sympy": ("sympy",)}
PYODIDE = ("pyodide.asm.wasm", "python_stdlib.zip")  # what Pyodide fetches; the page's worker imports the modules
MODULES = ("pyodide", "pyodide.asm")  # named .js in the site, since some servers have no type for .mjs
SYMPY_WHEELS = ("mpmath", "sympy")
_TIME = (1980, 1, 1, 0, 0, 0)  # of each file in a zip, so that equal contents give equal zips

NOTICE = """What a browser fetches from here after a press on "Prove it again here", and under which licences:

Pyodide, https://pyodide.org: Mozilla Public License 2.0, see ../mpl-2.0.txt. It contains CPython, https://python.org: see
../python-licence.txt.
python-flint, https://github.com/flintlib/python-flint: MIT. It contains FLINT, https://flintlib.org, GMP, https://gmplib.org, and MPFR,
https://www.mpfr.org: GNU Lesser General Public License 3 or later. SymPy, https://www.sympy.org, and mpmath, https://mpmath.org: BSD.
The editor is CodeMirror, https://codemirror.net, and formulas are set by Temml, https://temml.org: MIT.
The folder licences has the texts. The addresses have the sources.
"""


def describe_missing() -> str:
    """Return what is missing, as a sentence, or "" if everything is there."""
    return "" if (SOURCE / "made-from").is_file() else "Python for browsers is not here; `make prover` fetches it"


def write(site: Path) -> None:
    """Write the files into a built site. Files whose names contain a digest are written only once."""
    folder = site / FOLDER
    for name, content in _list_files().items():
        path = folder / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for topic in certificates.topics():
        path = folder / "scripts" / f"{topic}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / "derivations" / f"{topic}.py").read_bytes())
        path = folder / "code" / f"{topic}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(list_code(topic), separators=(",", ":")), encoding="utf-8")
    (folder / "README.txt").write_text(NOTICE, encoding="utf-8")
    (folder / "verdicts.json").write_text(json.dumps(list_verdicts(), ensure_ascii=False), encoding="utf-8")
    (folder / "examples.json").write_text(json.dumps(read_examples(), ensure_ascii=False), encoding="utf-8")
    (folder / "exercises.json").write_text(json.dumps(list_answers()), encoding="utf-8")
    (folder / "index.json").write_text(json.dumps(make_index(), indent=1), encoding="utf-8")


def list_verdicts() -> dict[str, dict[str, list]]:
    """Return what the exact witness said of each claim in the build: verdict, scope and note, by topic and id."""
    found = {}
    for topic in certificates.topics():
        exact = {claim["id"]: next(w for w in claim["witnesses"] if w["name"] == "exact") for claim in certificates.load(topic)["claims"]}
        found[topic] = {id: [w["verdict"], w["scope"], w["note"]] for id, w in exact.items()}
    return found


def list_code(topic: str) -> dict[str, list[dict]]:
    """Return the calls of each claim of a topic that were read as an expression, by the claim's id, with the lines of their functions."""
    computed = {claim["id"]: claim.get("computed", {}).get("formulas", []) for claim in certificates.load(topic)["claims"]}
    return {id: [call | {"line": find_line(call["name"])} for call in calls] for id, calls in computed.items() if calls}


def find_line(name: str) -> str:
    """Return the file and line of a snippet's function, such as "attention/formula.py:181"."""
    module, function = re.sub(r"\[\d+\]$", "", name).rsplit(".", 1)
    file = module.replace(".", "/") + ".py"
    definition = parse(file, (ROOT / file).read_text(encoding="utf-8")).definitions[function]
    return f"{file.removeprefix('snippets/')}:{definition.lineno}"


def list_answers() -> dict[str, list[str]]:
    """Return the names of the exercises that take an answer, by the page's path: the claim, and the part that is asked for."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        openings = Source(path.read_text(encoding="utf-8"), ROOT / "docs", path).openings()
        if answers := [one.argument for one in openings if one.name == "answer"]:
            found[path.relative_to(ROOT / "docs").with_suffix("").as_posix()] = answers
    return found


def read_examples() -> list[dict[str, str]]:
    """Return the title and the text of each example (docs/examples), in the order of their names. The title is in the first line."""
    found = []
    for path in sorted((ROOT / "docs" / "examples").glob("*.py")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n\n")
        found.append({"title": title.removeprefix("# "), "text": text})
    return found


def make_index() -> dict[str, list | str]:
    """Return what the worker reads first: the folder of Python, and for each part the names and sizes of its files."""
    sizes = {name: len(content) for name, content in _list_files().items()}
    wheels = [name for name in sizes if name.endswith(".whl")]
    sympy = [name for name in wheels if Path(name).name.startswith(SYMPY_WHEELS)]
    first = [name for name in sizes if name not in sympy and not name.startswith(("sympy", "licences", "editor"))]
    more = [*sympy, *(name for name in sizes if name.startswith("sympy-"))]
    return {
        "editor": next(name for name in sizes if name.startswith("editor-")),
        "python": f"python-{_python_digest()}/",
        "exact": [[name, sizes[name]] for name in first],
        "sympy": [[name, sizes[name]] for name in more],
    }


# The files ---------------------------------------------------------------------------------------------------------------------


@cache  # `mkdocs serve` builds often; the kernel's own files are those of this process
def _list_files() -> dict[str, bytes]:
    """Return the contents of the files whose names contain a digest, and of the licences, by name."""
    files = {f"python-{_python_digest()}/{name}": content for name, content in _read_python().items()}
    for part, rooms in ROOMS.items():
        content = pack_rooms(rooms, part == "kernel")
        files[f"{part}-{_digest(content)}.zip"] = content
    editor = (SOURCE / "editor.min.js").read_bytes()
    files[f"editor-{_digest(editor)}.js"] = editor
    return files | {f"licences/{name}": text for name, text in _read_licences().items()}


@cache
def _read_python() -> dict[str, bytes]:
    """Return the files of Pyodide and the wheels, by name."""
    pyodide = SOURCE / "node_modules" / "pyodide"
    files = {f"{name}.bin": gzip.compress((pyodide / name).read_bytes(), 9, mtime=0) for name in PYODIDE}
    files |= {f"{name}.js": (pyodide / f"{name}.mjs").read_bytes() for name in MODULES}
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8")) | {"packages": {}}  # none of its packages is fetched
    files["pyodide-lock.json"] = json.dumps(lock).encode()
    return files | {path.name: _strip_tests(path) for path in sorted((SOURCE / "wheels").glob("*.whl"))}


def _strip_tests(wheel: Path) -> bytes:
    """Return a wheel without its packages' own tests, which are half of SymPy's."""
    with zipfile.ZipFile(wheel) as source:
        return _pack({name: source.read(name) for name in source.namelist() if "/tests/" not in name and "/test/" not in name})


@cache
def _python_digest() -> str:
    return _digest(*(part for name, content in sorted(_read_python().items()) for part in (name.encode(), content)))


def _digest(*parts: bytes) -> str:
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def pack_rooms(rooms: tuple[str, ...], with_top: bool) -> bytes:
    """Return a zip of rooms of the kernel, with the files above them if `with_top`. The same sources give the same bytes."""
    top = [KERNEL.parent / "__init__.py", KERNEL / "__init__.py", KERNEL / "errors.py"] if with_top else []
    paths = [*top, *(path for room in rooms for path in sorted((KERNEL / room).rglob("*.py")))]
    return _pack({path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths})


def _pack(files: dict[str, bytes]) -> bytes:
    """Return a zip of files, given their contents by name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    return packed.getvalue()


def _read_licences() -> dict[str, bytes]:
    """Return the texts of the licences of the wheels and of what the editor contains, by package and path."""
    packages = ("@codemirror", "@lezer", "@marijn", "crelt", "style-mod", "temml", "w3c-keyname")
    modules = SOURCE / "node_modules"
    texts = [
        path
        for name in packages
        for path in sorted((modules / name).glob("**/LICENSE"))
        if "node_modules" not in path.relative_to(modules).parts
    ]
    found = {f"{path.parent.relative_to(modules).as_posix()}/LICENSE.txt": path.read_bytes() for path in texts}
    for path in sorted((SOURCE / "wheels").glob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                head, licence, rest = name.partition(".dist-info/licenses/")
                if licence or name.endswith((".dist-info/LICENSE", ".dist-info/LICENSE.txt")):
                    text = f"{path.name.partition('-')[0]}/{rest or 'LICENSE'}"
                    found[text if text.endswith(".txt") else f"{text}.txt"] = wheel.read(name)
    return found
