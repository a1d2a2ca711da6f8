"""Fixtures that state and check claims in this process, and a small checkout for tests that need files."""

import json
import os
import select
import sys
import time
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner


def of_the_kernel(code):
    """Return the code object with a file name in the kernel.

    The kernel reports the line that states a claim, and skips the frames of its own files to find it.
    """
    return code.replace(
        co_filename=str(Path(__file__).parents[2] / "derivations" / "kernel" / "mutmut.py"),
        co_consts=tuple(of_the_kernel(c) if isinstance(c, CodeType) else c for c in code.co_consts),
    )


if "mutmut" in sys.modules:  # under `make mutmut`, a trampoline wraps every kernel function; patch it before the kernel is loaded
    from mutmut.mutation import trampoline

    trampoline.wrap_in_trampoline.__code__ = of_the_kernel(trampoline.wrap_in_trampoline.__code__)

from derivations.kernel import Derivation
from derivations.kernel.check import runner
from derivations.kernel.command import cli, new_topic
from derivations.kernel.core.claims import Rejected
from derivations.kernel.exact.witness import exact
from derivations.kernel.store import certificates, project_files, store
from derivations.kernel.sympy.witness import witness

ROOT = project_files.ROOT
TINY = """from derivations.kernel import Derivation, matrix, sizes

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A sum transposed")
derivation.identity("sum", (A + B).T, A.T + B.T)
"""


@pytest.fixture
def computing(monkeypatch, tmp_path):
    """Return a function that makes a claim that a given function body computes `want`. The module of the body is snippets.planted."""

    def state(body: str, arguments: list, want, given=(), head: str = "import torch\n", names: str = "x, y, z, u"):
        path = tmp_path / "snippets" / "planted.py"
        path.parent.mkdir(exist_ok=True)
        lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
        path.write_text(f"{head}\ndef f({', '.join(names.split(', ')[: len(arguments)])}):\n{lines}")
        module = ModuleType("snippets.planted")
        module.__file__ = str(path)
        exec(compile(path.read_text(), str(path), "exec"), vars(module))
        monkeypatch.setitem(sys.modules, "snippets.planted", module)
        derivation = Derivation("planted")
        right = want if want.shape else want + 0 * want
        derivation.identity("planted", want, right, given=list(given), code=[("snippets.planted.f", *arguments)])
        return derivation.claims[0]

    return state


@pytest.fixture
def checked():
    """Return a function that lets `state` make claims on a new derivation, checks them, and returns both verdicts by id."""

    def check(state):
        derivation = Derivation("test")
        state(derivation)
        verdicts = {claim.id: (exact(claim), witness(claim)) for claim in derivation.claims}
        assert verdicts, "no claim was made"
        return verdicts

    return check


@pytest.fixture
def proved(checked):
    """Return a function like `checked` for a single claim, which returns the verdict of the exact witness.

    It asserts that the exact witness proves or refutes the claim, and that the SymPy witness decides it too or does not apply.
    """

    def check(state):
        ((verdict, by_sympy),) = checked(state).values()
        assert verdict.verdict in ("proved", "refuted")
        assert by_sympy[0] in ("proved", "refuted", "not applicable")
        return verdict

    return check


@pytest.fixture
def rejection():
    """Return a function that returns the error with which the statement itself or the exact witness rejects the claim of `state`.

    It asserts that the error names the file and line of the claim in the test, and the id of the claim.
    """

    def reject(state, id="claim"):
        with pytest.raises(Rejected) as caught:
            derivation = Derivation("test")
            state(derivation)
            for claim in derivation.claims:
                exact(claim)
        error, code = caught.value, state.__code__
        assert (error.file, error.claim) == (code.co_filename, id)
        assert error.line in {line for _, _, line in code.co_lines()}
        assert str(error) == f"{error.file}:{error.line}: claim '{id}': {error.message}"
        return error

    return reject


@pytest.fixture
def sympy_rejection():
    """Return a function that returns the error with which the SymPy witness alone rejects the claim of `state`."""

    def reject(state):
        derivation = Derivation("test")
        state(derivation)
        with pytest.raises(Rejected) as caught:
            witness(derivation.claims[-1])
        return caught.value

    return reject


@pytest.fixture(scope="session")
def kernel_read():
    """Return the contents of the kernel's files by path relative to the root. Each test with its own checkout writes them there."""
    files = [ROOT / "derivations" / "__init__.py", ROOT / "derivations" / "__main__.py", *project_files.kernel_files()]
    return {path.relative_to(ROOT): path.read_bytes() for path in files}


@pytest.fixture
def tree(tmp_path, monkeypatch, kernel_read):
    """Make a temporary checkout with the kernel and one topic, `chapter/tiny`, and make the kernel of this process work on it."""
    root = tmp_path / "checkout"
    kernel = root / "derivations" / "kernel"
    kernel.mkdir(parents=True)
    for folder in {path.parent for path in kernel_read}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for path, content in kernel_read.items():
        (root / path).write_bytes(content)
    script = root / "derivations" / "chapter" / "tiny.py"
    script.parent.mkdir()
    script.write_text(TINY)
    monkeypatch.setattr(project_files, "ROOT", root)
    monkeypatch.setattr(store, "FOLDER", root / ".certificates")
    monkeypatch.setattr(runner, "ROOT", root)
    monkeypatch.setattr(new_topic, "ROOT", root)
    certificate = certificates.STORE.path("chapter/tiny")
    return SimpleNamespace(root=root, script=script, kernel=kernel, store=store.FOLDER, certificate=certificate)


@pytest.fixture
def certify():
    """Return a function that stores a certificate as a check does, unless a dependency changed, and returns the changed dependencies."""

    def put(topic, script, title, claims, imported=(), **more):
        depends, changed = certificates.collect_dependencies(script, list(imported), **more)
        if not changed:
            certificates.put(topic, title, claims, depends)
        return changed

    return put


@pytest.fixture
def command():
    """Return a function that runs `python -m derivations ARGUMENTS` in this process. Scripts still run in separate processes."""

    def run(*arguments):
        result = CliRunner().invoke(cli.main, [str(a) for a in arguments], prog_name="python -m derivations")
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def records(command):
    """Return a function that runs `check --json ARGUMENTS` and returns the exit code and the records."""

    def run(*arguments):
        result = command("check", "--json", *arguments)
        return result.exit_code, json.loads(result.stdout)

    return run


@pytest.fixture
def hang(tmp_path, monkeypatch):
    """Yield code that makes a script hang, and control the runner's clock so that the time limit expires as soon as the script hangs.

    So the test waits only until the script reaches this code, however slow the machine is. Check only one script at a time.
    """
    begun = tmp_path / "hangs"
    os.mkfifo(begun)
    reader = os.open(begun, os.O_RDONLY | os.O_NONBLOCK)
    asked = []

    def monotonic():
        asked.append(None)
        if len(asked) == 2:  # the first call starts the limit; the second computes the remaining time
            select.select([reader], [], [], runner.TIME_LIMIT)
        return (len(asked) > 1) * (runner.TIME_LIMIT + 1.0)

    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=monotonic, time_ns=time.time_ns))
    yield f"open({str(begun)!r}, 'w').close()\nwhile True: pass\n"
    os.close(reader)


@pytest.fixture(scope="module")
def local():
    """Yield a local cluster of two worker processes, which may start other processes."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as found,
    ):
        yield found
