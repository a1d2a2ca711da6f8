"""Claims stated and checked in this process, and a small tree of scripts for what needs files."""

import json
import os
import re
import select
import sys
import time
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner


def of_the_kernel(code):
    """The code as if it stood in the kernel, which looks for the line that states a claim and passes over its own."""
    return code.replace(
        co_filename=str(Path(__file__).parents[2] / "derivations" / "kernel" / "mutmut.py"),
        co_consts=tuple(of_the_kernel(c) if isinstance(c, CodeType) else c for c in code.co_consts),
    )


if "mutmut" in sys.modules:  # `make mutmut`: calls of the kernel go through what picks the mutant; the kernel is loaded after this
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
    """A function that states of a body of code that it computes `want`, and gives the claim; its module is snippets.planted."""

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
    """A function that lets `state` make claims on a new derivation, checks them, and gives both verdicts by id."""

    def check(state):
        derivation = Derivation("test")
        state(derivation)
        verdicts = {claim.id: (exact(claim), witness(claim)) for claim in derivation.claims}
        assert verdicts, "no claim was made"
        return verdicts

    return check


@pytest.fixture
def proved(checked):
    """The same for a single claim that the exact witness proves or refutes, and that SymPy does not contradict."""

    def check(state):
        ((verdict, by_sympy),) = checked(state).values()
        assert verdict.verdict in ("proved", "refuted")
        assert by_sympy[0] in ("proved", "refuted", "not applicable")
        return verdict

    return check


@pytest.fixture
def refused():
    """A function that gives the message with which the exact witness, or the statement itself, refuses the claim of `state`.

    The message begins with the file and the line of the claim in the test, and with the claim's id.
    """

    def refusal(state, id="claim"):
        with pytest.raises(Rejected) as caught:
            derivation = Derivation("test")
            state(derivation)
            for claim in derivation.claims:
                exact(claim)
        code, message = state.__code__, str(caught.value)
        place = re.match(rf"{re.escape(code.co_filename)}:(\d+): claim '{re.escape(id)}': ", message)
        assert place, message
        assert int(place[1]) in {line for _, _, line in code.co_lines()}, message
        return message[place.end() :]

    return refusal


@pytest.fixture
def sympy_refuses():
    """A function that gives the message with which the SymPy witness, asked on its own, refuses the claim of `state`."""

    def refusal(state):
        derivation = Derivation("test")
        state(derivation)
        with pytest.raises(Rejected, match="SymPy witness") as caught:
            witness(derivation.claims[-1])
        return str(caught.value)

    return refusal


@pytest.fixture(scope="session")
def kernel_read():
    """The kernel's files as bytes, by their paths below the root: read once, and written by each test that has a checkout of its own."""
    files = [ROOT / "derivations" / "__init__.py", ROOT / "derivations" / "__main__.py", *project_files.kernel_files()]
    return {path.relative_to(ROOT): path.read_bytes() for path in files}


@pytest.fixture
def tree(tmp_path, monkeypatch, kernel_read):
    """A checkout of its own: the kernel, and one topic `chapter/tiny`. The kernel of this process works on it."""
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
    """A function that stores a certificate as a check does, or nothing, and returns what changed since the check began."""

    def put(topic, script, title, claims, imported=(), **more):
        depends, changed = certificates.depended_on(script, list(imported), **more)
        if not changed:
            certificates.put(topic, title, claims, depends)
        return changed

    return put


@pytest.fixture
def command():
    """A function that runs `python -m derivations ARGUMENTS` in this process; scripts still run in processes of their own."""

    def run(*arguments):
        result = CliRunner().invoke(cli.main, [str(a) for a in arguments], prog_name="python -m derivations")
        assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def records(command):
    """A function that runs `check --json ARGUMENTS` and gives the exit code and the records."""

    def run(*arguments):
        result = command("check", "--json", *arguments)
        return result.exit_code, json.loads(result.stdout)

    return run


@pytest.fixture
def hang(tmp_path, monkeypatch):
    """What a script does to hang, as text. The runner's clock stands still until the script has begun to, and is past the limit then:
    nothing is waited for but the script, however long a busy machine takes over it. One script at a time is to be checked."""
    begun = tmp_path / "hangs"
    os.mkfifo(begun)
    reader = os.open(begun, os.O_RDONLY | os.O_NONBLOCK)
    asked = []

    def monotonic():
        asked.append(None)
        if len(asked) == 2:  # the first is when the limit begins to run, the second is how much of it is left
            select.select([reader], [], [], runner.TIME_LIMIT)
        return (len(asked) > 1) * (runner.TIME_LIMIT + 1.0)

    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=monotonic, time_ns=time.time_ns))
    yield f"open({str(begun)!r}, 'w').close()\nwhile True: pass\n"
    os.close(reader)


@pytest.fixture(scope="module")
def local():
    """Two workers on this machine, as processes that may start others."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as found,
    ):
        yield found
