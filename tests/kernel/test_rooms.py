"""The kernel's rooms: what may import what, that no imports form a cycle, and that each room says so.

Every check is a function of a house, the folder that `derivations/` lies in, and is seen to find a fault planted in a copy of it.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from itertools import permutations
from pathlib import Path

import grimp
import pytest
from importlinter import api
from importlinter.application import use_cases

from derivations.kernel.site.trust_counts import count_code_lines, find_docstrings
from derivations.kernel.store import project_files

ROOT = project_files.ROOT
WITNESSES = ("exact", "sympy", "pytorch", "coq")
# What a room imports from outside, beside the standard library. Who may reach it through other rooms, the contracts say. Rooms that
# decide nothing may import what else they like, but no algebra.
LIBRARIES = {
    "core": set(),
    "snippet_source": set(),
    "printing": {"math_core"},
    "exact": {"flint", "quicktions"},
    "sympy": {"sympy", "mpmath"},
    "pytorch": {"torch"},
    "coq": set(),
    "traced": {"torch"},
    "attack": {"mpmath"},
    "browser": {"sympy"},
    "script": set(),
    "store": {"fsspec"},
    "check": {"distributed"},
    "command": set(),
    "site": set(),
    "language": {"sympy"},
}
ALGEBRA = {"sympy", "mpmath", "flint", "quicktions", "torch", "numpy"}
FREE = ("command", "site")
CONTRACTS = ["layers", "sympy", "flint", "torch", "judge", "code", "store", "browser"]
MOST, MOST_OF_A_CLASS = 500, 150  # lines of code


def kernels(module: str) -> bool:
    return (module + ".").startswith("derivations.kernel.")


class House:
    """The folder that `derivations/` lies in."""

    def __init__(self, root: Path, cache: Path | None = None):
        self.root, self.kernel, self.cache = root, root / "derivations" / "kernel", cache and str(cache)

    def plant(self, file: str, text: str):
        path = self.kernel / file
        path.parent.mkdir(exist_ok=True)
        path.write_text((path.read_text() if path.exists() else "") + f"\n\n{text}\n")

    def files(self) -> list:
        return sorted(self.kernel.rglob("*.py"))

    def rooms(self) -> set:
        return {path.relative_to(self.kernel).parts[0] for path in self.files()} - {path.name for path in self.kernel.glob("*.py")}

    def imports(self) -> dict:
        """What each module of the kernel imports, from the kernel and from outside, in functions and for type checkers too."""
        graph = grimp.build_graph("derivations", include_external_packages=True, cache_dir=self.cache)
        modules = [module for module in graph.modules if kernels(module)]
        assert len(modules) == len([path for path in self.files() if (path.parent / "__init__.py").is_file()]) > 50
        return {module: graph.find_modules_directly_imported_by(module) for module in modules}


def looked_at(house: House, patch) -> House:
    """Whoever looks for the modules of `derivations` finds those of this house, whichever are loaded."""
    patch.delitem(sys.modules, "derivations")
    patch.syspath_prepend(house.root)
    return house


@pytest.fixture
def ours(monkeypatch):
    return looked_at(House(ROOT), monkeypatch)


@pytest.fixture(scope="module")
def graph_cache(tmp_path_factory):
    """Return a folder for grimp, which parses only files that changed since it last built a graph. Copies of a file have its time."""
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture
def copy(tmp_path, graph_cache, monkeypatch):
    """Return a copy of the kernel to plant a fault in."""
    house = House(tmp_path / "house", graph_cache)
    shutil.copytree(ROOT / "derivations" / "kernel", house.kernel, ignore=shutil.ignore_patterns("__pycache__", "*.v"))
    shutil.copy2(ROOT / "derivations" / "__init__.py", house.root / "derivations")
    shutil.copy2(ROOT / "pyproject.toml", house.root)
    return looked_at(house, monkeypatch)


# Contracts


def contracts(house: House) -> list:
    """The ids of the contracts in pyproject.toml."""
    return [contract["id"] for contract in api.read_configuration(str(house.root / "pyproject.toml"))["contracts_options"]]


def holds(house: House, contract: str) -> bool:
    assert contract in contracts(house)
    file = str(house.root / "pyproject.toml")
    return use_cases.lint_imports(file, limit_to_contracts=(contract,), cache_dir=house.cache, is_debug_mode=True, no_logo=True)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_contracts_hold(ours, contract):
    assert holds(ours, contract)


def test_every_contract_is_seen_to_hold_and_to_fail(ours):
    assert contracts(ours) == CONTRACTS


def test_the_command_that_the_trust_page_names_says_so():
    run = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"]
    said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0 and "no witness imports another KEPT" in said.stdout, said.stdout


@pytest.mark.parametrize("one, other", [*permutations(WITNESSES, 2)])
def test_no_witness_may_import_another(copy, one, other):
    copy.plant(f"{one}/witness.py", f"def planted():\n    from ..{other} import witness")
    assert not holds(copy, "layers")


@pytest.mark.parametrize(
    "file, statement, contract",
    [
        *(("core/expr.py", f"from ..{witness}.witness import witness", "layers") for witness in WITNESSES),
        *(("printing/name_latex.py", f"from ..{witness} import witness", "layers") for witness in WITNESSES),
        *(
            ("exact/assumption_facts.py", f"from ..{above} import planted", "layers")
            for above in ("attack", "store", "check", "site", "command", "language")
        ),
        ("printing/plain_text.py", "from ..core import expr", "layers"),
        ("snippet_source/snippet.py", "from ..printing import names", "layers"),
        ("errors.py", "from .printing import names", "layers"),
        ("attack/judge.py", "from ..check import claim_records", "layers"),
        ("check/claim_records.py", "from ..site import trust_counts", "layers"),
        *((f"{room}/planted.py", "import sympy", "sympy") for room in ("core", "printing", "exact", "pytorch", "coq")),
        *((f"{room}/planted.py", "import mpmath", "sympy") for room in ("core", "printing", "exact", "pytorch", "coq")),
        *((f"{room}/planted.py", "import flint", "flint") for room in ("core", "printing", "sympy", "pytorch", "coq")),
        *((f"{room}/planted.py", "import quicktions", "flint") for room in ("core", "printing", "sympy", "pytorch", "coq")),
        *((f"{room}/planted.py", "import torch", "torch") for room in ("core", "printing", "exact", "sympy", "coq")),
        *((f"{room}/planted.py", "import math_core", "browser") for room in ("browser", "script", "core", "exact", "language", "sympy")),
        ("browser/planted.py", "from ..check import worker", "browser"),
        *(
            (f"attack/{who}.py", f"from ..{of} import witness", "judge")
            for who in ("claim_mutants", "equivalent_rewrites", "claim_families", "print_round_trip", "judge")
            for of in WITNESSES
        ),
        *(("traced/planted.py", f"from ..{other} import witness", "code") for other in ("sympy", "pytorch", "coq")),
        *((f"{witness}/planted.py", "from ..traced import witness", "layers") for witness in WITNESSES),
        *(("store/planted.py", f"from ..{other} import witness", "store") for other in (*WITNESSES, "traced")),
        ("store/planted.py", "from ..check import runner", "layers"),
        ("cellar/__init__.py", "pass", "layers"),  # a room of which nothing says what it may import
        ("attack/judge.py", "from . import mutant_trials", "judge"),  # which asks them all
    ],
)
def test_a_planted_import_breaks_its_contract(copy, file, statement, contract):
    copy.plant(f"{statement.split()[1].strip('.')}/planted.py", "") if "import planted" in statement else None
    copy.plant(file, f"def planted():\n    {statement}")
    assert not holds(copy, contract)


def shared(house: House) -> set:
    """What witnesses import of the kernel beside their own rooms, as the trust page names it: a room, or a file beside the rooms."""
    rooms = house.rooms()
    names = {name for module, names in house.imports().items() if room_of(module) in WITNESSES for name in names if kernels(name)}
    return {f"{found}/" if found in rooms else f"{found}.py" for found in map(room_of, names)} - {f"{room}/" for room in WITNESSES}


def named_as_shared(page: str) -> set:
    """What the trust page names in the sentence that begins so."""
    sentence = re.search(r"Of the kernel the witnesses share (.*?)\. ", " ".join(page.split()))[1]
    return set(re.findall(r"`([^`]+)`", sentence))


def test_the_witnesses_share_what_the_trust_page_names(ours):
    assert shared(ours) == named_as_shared((ROOT / "docs" / "trust-details.md").read_text()) == {"core/", "printing/", "errors.py"}


@pytest.mark.parametrize("statement, what", [("from ..attack import points", "attack/"), ("from .. import language", "language/")])
def test_what_else_witnesses_share_is_found(copy, statement, what):
    copy.plant("coq/reserved_words.py", statement)
    assert what in shared(copy)


# Circles


def circle(house: House) -> list:
    """Modules of the kernel of which each imports the next, the last one being the first; none where there is no circle."""
    try:
        TopologicalSorter(house.imports()).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_nothing_is_imported_in_a_circle(ours):
    assert circle(ours) == []


@pytest.mark.parametrize(
    "file, text, found",
    [
        ("core/expr.py", "from . import claims", {"core.expr", "core.claims"}),
        ("pytorch/evaluation.py", "def planted():\n    from . import low_precision", {"pytorch.evaluation", "pytorch.low_precision"}),
        ("coq/reserved_words.py", "if TYPE_CHECKING:\n    from .file_audit import suspicious", {"coq.reserved_words", "coq.file_audit"}),
        ("core/expr.py", "import derivations.kernel", {"core.expr"}),
    ],
)
def test_a_planted_circle_is_found(copy, file, text, found):
    copy.plant(file, text)
    assert {f"derivations.kernel.{module}" for module in found} <= set(circle(copy))


def by_name(house: House) -> dict:
    """Where modules are imported by a name that is made up at run time, which no graph of imports shows."""
    found = {}
    for path in house.files():
        text = path.read_text()
        if "import_module" not in text and "__import__" not in text:
            continue
        names = {getattr(node, "attr", getattr(node, "id", getattr(node, "name", ""))) for node in ast.walk(ast.parse(text))}
        if names & {"import_module", "__import__"}:
            found[path.relative_to(house.kernel).as_posix()] = names & {"import_module", "__import__"}
    return found


def test_nothing_but_snippets_is_imported_by_name(ours):
    assert by_name(ours) == {
        "pytorch/snippet_arguments.py": {"import_module"},  # whose names begin with "snippets."
        "traced/call_arguments.py": {"import_module"},  # the same names
    }


@pytest.mark.parametrize(
    "text", ["from importlib import import_module", "import importlib\nimportlib.import_module('x')", "__import__('x')"]
)
def test_an_import_by_name_is_found(copy, text):
    copy.plant("exact/assumption_facts.py", text)
    assert set(by_name(copy)) == {"pytorch/snippet_arguments.py", "traced/call_arguments.py", "exact/assumption_facts.py"}


def kernel_in_snippets(root: Path) -> list:
    """Snippets that import the kernel, which would lead a witness that runs them to all of it."""
    paths = sorted((root / "snippets").rglob("*.py"))
    assert paths
    nodes = [(path, node) for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    names = [(path, node.module or "") for path, node in nodes if isinstance(node, ast.ImportFrom)]
    names += [(path, alias.name) for path, node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [path.name for path, name in names if name.split(".")[0] == "derivations"]


def test_no_snippet_imports_the_kernel():
    assert kernel_in_snippets(ROOT) == []


@pytest.mark.parametrize("text", ["import derivations.kernel", "def f():\n    from derivations.kernel import exp"])
def test_a_snippet_that_imports_the_kernel_is_found(tmp_path, text):
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets" / "planted.py").write_text(text)
    assert kernel_in_snippets(tmp_path) == ["planted.py"]


# What comes from outside


def room_of(module: str) -> str:
    """The room of a module; of one that lies beside the rooms, its own name."""
    return (module.split(".") + [""])[2]


def strangers(house: House) -> set:
    """(room, what it imports from outside) beyond the standard library and what it may."""
    pairs = {(room_of(module), name) for module, names in house.imports().items() for name in names}
    outside = {(room, name) for room, name in pairs if not name.startswith("derivations") and name not in sys.stdlib_module_names}
    return {(room, name) for room, name in outside if name not in LIBRARIES.get(room, set()) and (name in ALGEBRA or room not in FREE)}


def test_each_library_is_imported_where_it_may_be(ours):
    assert strangers(ours) == set() and set(LIBRARIES) == ours.rooms()
    used = {(room_of(module), name) for module, names in ours.imports().items() for name in names}
    assert {(room, name) for room, names in LIBRARIES.items() for name in names} <= used  # or it would not say what they need


@pytest.mark.parametrize(
    "file, library",
    [
        *((file, library) for file in ("core/expr.py", "printing/latex.py") for library in ("sympy", "flint", "torch", "numpy", "click")),
        ("errors.py", "click"),
        ("__init__.py", "sympy"),
        *((f"{room}/__init__.py", "sympy") for room in ("exact", "pytorch", "coq", "attack", "check", "command", "site")),
        *((f"{room}/__init__.py", "flint") for room in ("sympy", "pytorch", "coq", "attack", "check", "command", "site", "language")),
        *((f"{room}/__init__.py", "torch") for room in ("exact", "sympy", "coq", "attack", "check", "command", "site", "language")),
        *((f"{room}/__init__.py", "mpmath") for room in ("exact", "pytorch", "coq", "check", "command", "site", "language")),
    ],
)
def test_a_library_in_another_room_is_found(copy, file, library):
    copy.plant(file, f"def planted():\n    import {library}")
    assert strangers(copy) == {(file.partition("/")[0].removesuffix(".py").replace("__init__", ""), library)}


def topics_imported(house: House) -> set:
    """What the kernel imports of the project beside itself. It knows no topic."""
    names = {name for names in house.imports().values() for name in names}
    return {name for name in names if name.split(".")[0] in ("derivations", "snippets", "docs", "tests") and not kernels(name)}


def test_the_kernel_imports_no_topic(ours):
    assert topics_imported(ours) == set()


@pytest.mark.parametrize("statement", ["from derivations.chapter import tiny", "from ...chapter import tiny", "import snippets.tiny"])
def test_an_import_of_a_topic_is_found(copy, statement):
    (copy.root / "derivations" / "chapter").mkdir()
    for name in ("__init__", "tiny"):
        (copy.root / "derivations" / "chapter" / f"{name}.py").write_text("")
    copy.plant("check/worker.py", f"def planted():\n    {statement}")
    assert topics_imported(copy) in ({"derivations.chapter.tiny"}, {"snippets"})


# The tests of a room


def rooms_without_tests(house: House) -> set:
    """Return the rooms without a folder of tests, and the folders of tests without a room. The tests of `site` are in tests/site."""
    folders = {path.parent.name for path in (house.root / "tests/kernel").glob("*/test_*.py")}
    return folders ^ (house.rooms() - {"site"})


def test_each_room_has_a_folder_of_tests(ours):
    assert rooms_without_tests(ours) == set()


def test_a_room_without_tests_is_found(copy):
    copy.plant("cellar/__init__.py", "")
    for folder in ("attic", *(copy.rooms() - {"site", "cellar"})):
        (copy.root / "tests/kernel" / folder).mkdir(parents=True)
        (copy.root / "tests/kernel" / folder / "test_it.py").write_text("")
    assert rooms_without_tests(copy) == {"cellar", "attic"}


# What a room says of itself


def unsaid(house: House) -> list:
    """What is missing or wrong in the docstrings of rooms: what a room may import, and where to begin reading."""
    found, imports = [], house.imports()
    for room in sorted(house.rooms()):
        path = house.kernel / room / "__init__.py"
        said = ast.get_docstring(ast.parse(path.read_text())) or "" if path.is_file() else ""
        may, begin = re.search(r"^May import: (.*?\.)(\s|$)", said, re.MULTILINE | re.DOTALL), re.search(r"Begin\s+with\s+`([\w.]+)`", said)
        if not may or not begin:
            found.append(f"{room} does not say {'where to begin' if may else 'what it may import'}")
            continue
        if not (house.kernel / room / begin[1]).is_file():
            found.append(f"{room} begins with {begin[1]}, which is not there")
        found += [
            f"{room} does not say that it imports {other}"
            for other in sorted(imported(imports, room) & house.rooms() - {room} - allowed(may[1], house))
        ]
    return found


def imported(imports: dict, room: str) -> set:
    """Return the rooms, and the modules of the kernel outside all rooms, that a room's modules import. May include the room itself."""
    return {room_of(name) for module, names in imports.items() if room_of(module) == room for name in names if kernels(name)}


def allowed(sentence: str, house: House) -> set:
    """The rooms that a sentence such as "`core` and `printing`, never another witness" allows."""
    sentence = re.split(r", never|;|, nothing", sentence)[0]
    everything, _, but = sentence.partition("everything")
    if everything != sentence:
        return house.rooms() - set(re.findall(r"`(\w+)`", but))
    return set(re.findall(r"`(\w+)`", sentence)) | (set(WITNESSES) if "the witnesses" in sentence else set())


def test_each_room_says_what_it_may_import_and_where_to_begin(ours):
    assert unsaid(ours) == []


@pytest.mark.parametrize(
    "room, old, new, found",
    [
        ("exact", "May import", "It imports", "exact does not say what it may import"),
        ("pytorch", "Begin with", "See", "pytorch does not say where to begin"),
        ("core", "`expr.py`", "`trees.py`", "core begins with trees.py, which is not there"),
        ("coq", "May import: `core` and", "May import:", "coq does not say that it imports core"),
        ("check", "the witnesses, ", "", "check does not say that it imports exact"),
        ("command", "everything but `language`", "everything but `check`", "command does not say that it imports check"),
        ("attack", '"""', "#", "attack does not say what it may import"),
    ],
)
def test_what_a_room_does_not_say_is_found(copy, room, old, new, found):
    path = copy.kernel / room / "__init__.py"
    text = path.read_text()
    assert old in text
    path.write_text("# nothing" if old == '"""' else text.replace(old, new))
    assert found in unsaid(copy)


def test_a_folder_without_an_opening_is_found(copy):
    copy.plant("cellar/things.py", "x = 1")
    assert unsaid(copy) == ["cellar does not say what it may import"]


# What can be held in the head


def too_large(files: list) -> dict:
    """Modules and classes with more lines of code than one can hold in the head. Blank lines, comments and docstrings do not count."""
    found = {}
    for path in files:
        name, text = f"{path.parent.name}/{path.name}", path.read_text()
        if count_code_lines(path) > MOST:
            found[name] = count_code_lines(path)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and code_lines_of(node, text) > MOST_OF_A_CLASS:
                found[f"{name}: {node.name}"] = code_lines_of(node, text)
    return found


def code_lines_of(node: ast.ClassDef, text: str) -> int:
    said = {line for docstring in find_docstrings(node) for line in range(docstring.lineno, docstring.end_lineno + 1)}
    lines = enumerate(text.splitlines()[node.lineno - 1 : node.end_lineno], node.lineno)
    return sum(line.strip()[:1] not in ("", "#") for number, line in lines if number not in said)


def test_nothing_is_too_large_to_hold_in_the_head(ours):
    assert too_large(ours.files()) == {}


@pytest.mark.parametrize(
    "text, found",
    [
        ("x = 1\n" * 501, {"check/planted.py": 501}),
        ("class C:\n" + "    x = 1\n" * 150, {"check/planted.py: C": 151}),
        ("def f():\n    class C:\n" + "        x = 1\n" * 150, {"check/planted.py: C": 151}),
        ("class C:\n    '''Says\n    something.'''\n\n    # why\n" + "    x = 1\n" * 149, {}),
    ],
)
def test_what_is_too_large_is_found(tmp_path, text, found):
    path = tmp_path / "check" / "planted.py"
    path.parent.mkdir()
    path.write_text(text)
    assert too_large([path]) == found


# What is not needed

COMPILED = """
import json, sys
if {without}:
    sys.modules["quicktions"] = None
from derivations.kernel.core import claims
from derivations.kernel.exact.rational_numbers import Fraction
from derivations.kernel.exact.witness import exact
from derivations.kernel.script.loading import load_script
from derivations.kernel.store import project_files
said = []
for topic in ("softmax/jacobian", "scaling/variance"):
    assert load_script(project_files.ROOT / "derivations" / f"{{topic}}.py") is None
    verdicts = [(claim.id, exact(claim)) for claim in claims.LOADED[0].claims if claim.kind != "definition"]
    said += [[id, said.verdict, said.scope, said.note, repr(said.needed)] for id, said in verdicts]
print(json.dumps([Fraction.__module__, said]))
"""


@pytest.mark.nightly
def test_without_compiled_fractions_the_exact_witness_says_the_same():
    """quicktions is a speed-up and nothing else."""
    said = [
        subprocess.run(
            [sys.executable, "-c", COMPILED.format(without=without)], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for without in (False, True)
    ]
    (compiled, first), (plain, second) = map(json.loads, said)
    assert (compiled, plain) == ("quicktions", "fractions")
    assert first == second and len(first) > 20 and all(verdict != "not applicable" for _, verdict, *_ in first)
