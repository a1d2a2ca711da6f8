"""Tests of the make commands in a copy of the files that they use.

The commands really run, but download nothing: the copy pins no package and has substitutes for the modules that the commands run.
"""

import ast
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
BASE_PYTHON = os.path.realpath(sys._base_executable)

pytestmark = pytest.mark.slow

# Replaces ruff, mypy, derivations, pytest, mkdocs and the training of models. It prints how it was called, builds a page, and fails if
# FAILING names it.
STAND_IN = """
import os, pathlib, sys
name = pathlib.Path(__file__).parent.name
print(name, *sys.argv[1:], *["and keeps nothing compiled"] * sys.dont_write_bytecode)
if os.environ.get("FAILING") == name:
    sys.exit("no")
if name == "mkdocs":
    pathlib.Path("site").mkdir(exist_ok=True)
    pathlib.Path("site/index.html").write_text("built")
"""
IMPORTLINTER = """
import os, sys
def lint_imports_command(arguments):
    print("importlinter", *arguments)
    sys.exit(os.environ.get("FAILING") == "importlinter" and "no")
"""
LINTED = ["ruff check .", "ruff format --check .", "importlinter --no-logo", "mypy"]


def copy_into(folder):
    """Copy the Makefile and .ci into a folder whose name has a space, and return it."""
    tree = folder / "a clone"
    shutil.copytree(ROOT / ".ci", tree / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Makefile", tree)
    (tree / "requirements.txt").write_text("# nothing\n")
    for module in "ruff", "mypy", "derivations", "pytest", "mkdocs":
        (tree / module).mkdir()
        (tree / module / "__main__.py").write_text(STAND_IN)
    (tree / "importlinter").mkdir()
    (tree / "importlinter" / "cli.py").write_text(IMPORTLINTER)
    for chapter in "seeing", "together":
        (tree / "snippets" / chapter).mkdir(parents=True)
        (tree / "snippets" / chapter / "train.py").write_text(STAND_IN)
    return tree


@pytest.fixture
def tree(tmp_path):
    """Return a copy in which nothing is set up."""
    return copy_into(tmp_path)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """Return a copy in which everything is set up. Tests share it, so they must not change it."""
    tree = copy_into(tmp_path_factory.mktemp("ready"))
    assert make(tree, "setup").returncode == 0
    return tree


def environment(**more):
    """Return the caller's environment without the variables of an outer make or of pip's settings, and with no package index."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "MAKE", "MFLAGS")) and name not in ("PORT", "PYTHON", "ARGS", "REPLAY", "SEED", "SHARED", "SINCE")
    }
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", **more}


def make(tree, *arguments, python=BASE_PYTHON, **more):
    return subprocess.run(
        ["make", f"PYTHON={python}", *arguments],
        cwd=tree,
        env=environment(**more),
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def refusal(run):
    """Return the one line of a failed run on stderr, apart from make's own."""
    lines = [line for line in run.stderr.splitlines() if not re.match(r"make(\[\d+\])?: \*\*\*", line)]
    assert run.returncode != 0
    assert len(lines) == 1, run.stderr
    return lines[0]


def fake_python(folder, change):
    """Return a Python that runs the given statements first."""
    (folder / "change").mkdir()
    (folder / "change" / "sitecustomize.py").write_text(change)
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\nPYTHONPATH='{folder}/change' exec '{BASE_PYTHON}' \"$@\"\n")
    python.chmod(0o755)
    return python


@pytest.fixture
def busy_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


# Errors before anything is set up


def test_python_too_old(tree, tmp_path):
    python = fake_python(tmp_path, "import sys; sys.version_info = (3, 9, 2, 'final', 0)")
    assert re.fullmatch(
        r"setup: .* is Python 3\.9\.2, but 3\.11\.5 or later is needed\. .*make PYTHON=.*", refusal(make(tree, "test", python=python))
    )
    assert not (tree / ".venv").exists()


@pytest.mark.parametrize("script", ["setup.py", "serve.py"])
def test_old_python_can_parse_the_scripts(script):
    ast.parse((ROOT / ".ci" / script).read_text(), feature_version=(3, 6))


@pytest.mark.parametrize("name", ["python2.7", "python3.6", "python3.8", "python3.10"])
def test_old_python_is_reported(tree, name):
    found = [shutil.which(name), *map(str, Path.home().glob(f".pyenv/versions/*/bin/{name}"))]
    works = [path for path in found if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0]
    if not works:
        pytest.skip(f"there is no {name} here")
    for target in "test", "serve":
        assert "or later is needed" in refusal(make(tree, target, "PORT=0", python=works[0]))


@pytest.mark.parametrize("python", ["/nowhere/python3", "false"])
def test_no_python(tree, python):
    assert refusal(make(tree, "test", python=python)).startswith(f"setup: '{python}' is not a working Python. Install Python 3.11")


def test_no_venv_module(tree, tmp_path):
    python = fake_python(tmp_path, "import sys; sys.modules['ensurepip'] = None")
    line = refusal(make(tree, "test", python=python))
    assert "has no venv module" in line and "apt-get install python3-venv" in line
    assert not (tree / ".venv").exists()


@pytest.mark.parametrize("port", ["abc", "-1", "65536", "80 80", "", "²"])
def test_invalid_port(tree, port):
    assert refusal(make(tree, "serve", f"PORT={port}")).startswith(f"serve: PORT={port} is not a port. Give a number")


def test_port_in_use_is_reported_before_the_long_work(tree, busy_port):
    line = refusal(make(tree, "serve", f"PORT={busy_port}"))
    assert line.startswith(f"serve: port {busy_port} is in use.") and f"make serve PORT={busy_port + 1}" in line
    assert not (tree / ".venv").exists()


def test_port_taken_during_the_build(tree, busy_port):
    served = subprocess.run([sys.executable, ".ci/serve.py", str(busy_port), "."], cwd=tree, text=True, capture_output=True, timeout=600)
    assert served.returncode == 1
    assert served.stderr.startswith(f"serve: port {busy_port} is in use.") and served.stderr.count("\n") == 1


# Errors while .venv is set up


def test_missing_package_leaves_setup_unfinished(tree):
    (tree / "requirements.txt").write_text("no-such-package==1\n")
    for _ in range(2):
        line = refusal(make(tree, "test"))
        assert line.startswith("setup: pip finds no version of no-such-package==1: there is no network, or")
        assert "no-such-package" in (tree / ".venv" / "setup.log").read_text()


def test_no_network(tree):
    (tree / "requirements.txt").write_text("no-such-package==1\n")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound but not listening: it refuses every connection
        index = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
        line = refusal(make(tree, "test", PIP_NO_INDEX="", PIP_INDEX_URL=index, PIP_RETRIES="1"))
    assert line.startswith("setup: no network: pip cannot reach its package index. Connect, then run")


def explained(log):
    script = "import sys; sys.path.insert(0, '.ci'); import setup; print(setup.explain_failure(sys.stdin.read()))"
    return subprocess.run([sys.executable, "-B", "-c", script], cwd=ROOT, input=log, text=True, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "log, line",
    [
        (
            "ERROR: Could not find a version that satisfies the requirement torch==9 (from versions: 2.13.0)\n"
            "ERROR: No matching distribution found for torch==9\n",
            "pip finds no torch==9 for Python 3",
        ),
        ("OSError: [Errno 28] No space left on device\n", "the disk is full."),
        ("Traceback\nERROR: the wheel is broken.\nNOTE: more\n", "pip failed: the wheel is broken. Run the same"),
        ("", "pip failed: no reason was given. Run the same"),
    ],
)
def test_pip_error_is_explained_in_one_line(log, line):
    assert explained(log).startswith(line)
    assert explained(log).endswith("The output of pip is in .venv/setup.log.\n") and explained(log).count("\n") == 1


def test_file_in_place_of_the_environment(tree):
    (tree / ".venv").write_text("")
    line = refusal(make(tree, "test"))
    assert re.match(r"setup: .* -m venv could not make \.venv: .+\. Remove \.venv and run", line)


def test_missing_list_of_packages(tree):
    (tree / "requirements.txt").unlink()
    line = refusal(make(tree, "test"))
    assert line.startswith("setup: ") and "requirements.txt" in line


def react_to_interrupt():
    """Make a command that a test interrupts react to Ctrl-C, which processes in the background ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt_setup(tree, how):
    """Stop the setup while pip waits for an index that never answers, and return what make prints on stderr."""
    (tree / "requirements.txt").write_text("no-such-package==1\n")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(300)
        run = subprocess.Popen(
            ["make", "test", f"PYTHON={BASE_PYTHON}"],
            cwd=tree,
            text=True,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=react_to_interrupt,
            env=environment(PIP_NO_INDEX="", PIP_INDEX_URL=f"http://127.0.0.1:{silent.getsockname()[1]}/"),
        )
        with silent.accept()[0]:  # pip has connected
            os.killpg(run.pid, how)
            errors = run.communicate(timeout=600)[1]
    assert run.returncode != 0
    return errors


def test_interrupted_setup_says_what_to_do(tree):
    errors = interrupt_setup(tree, signal.SIGINT)
    assert "setup: interrupted. Run the same command again; it starts over.\n" in errors and "Traceback" not in errors


def test_killed_setup_counts_as_unfinished(tree):
    interrupt_setup(tree, signal.SIGKILL)
    assert refusal(make(tree, "test")).startswith("setup: pip finds no version of no-such-package==1")


def test_second_setup_waits_for_the_first(ready):
    with open(ready / ".ci" / "setup.py") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a running setup holds this lock
        second = subprocess.Popen(
            ["make", "setup", f"PYTHON={BASE_PYTHON}"], cwd=ready, env=environment(), text=True, stdout=subprocess.PIPE
        )
        assert second.stdout.readline() == "Another setup is running here. Waiting for it.\n"
        assert second.poll() is None
    assert second.communicate(timeout=600) == ("", None) and second.returncode == 0


# Successful runs


def test_setup_runs_once_and_again_when_the_pins_change(tree):
    first = make(tree, "test", 'ARGS=-k "two words"')
    assert first.stdout.splitlines() == [
        "Setting up .venv from requirements.txt. This takes a few minutes, once.",
        *LINTED,
        "derivations check",
        "pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 "
        "-m not coq and not slow and not browser and not nightly -k two words",
    ]
    assert first.stderr == ""
    assert make(tree, "check").stdout == "derivations check\n"

    active = tree / ".venv" / "bin" / "python"  # as if .venv were activated
    assert make(tree, "check", python=active).stdout == "derivations check\n"
    (tree / "requirements.txt").write_text("# nothing, said differently\n")
    changed = make(tree, "check", python=active)
    assert changed.returncode == 0 and changed.stdout.startswith("Setting up")

    (tree / ".venv" / "bin" / "python").unlink()  # remove its Python
    assert make(tree, "check").stdout.startswith("Setting up")


def test_tests_run_in_one_more_process_than_cores_by_default(pytestconfig, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(1000), raising=False)

    def processes(asked):
        config = SimpleNamespace(option=SimpleNamespace(numprocesses=asked))
        return pytestconfig.hook.pytest_xdist_auto_num_workers(config=config)

    assert processes("auto") == 1001 and processes("logical") != 1001
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "7")
    assert processes("auto") == 7


def test_store_and_since_are_passed_on(ready):
    asked = make(ready, "mutants", "REPLAY=20", "SEED=7", "SHARED=a folder", "ARGS=--share 1/6").stdout.splitlines()
    assert asked[-2:] == [
        "derivations check --replay 20 --seed 7 --shared a folder",
        "derivations mutants --replay 20 --seed 7 --shared a folder --share 1/6",
    ]
    asked = make(ready, "slow", "SINCE=main").stdout.splitlines()
    assert asked[-1].startswith("pytest -p tests.chosen --since main --numprocesses") and asked[-1].endswith("-m slow")


def test_site_is_strict(ready):
    assert make(ready, "site").stdout.splitlines() == ["derivations check", "mkdocs build --strict --site-dir site"]


def test_compiled_modules_are_kept_in_any_environment(ready):
    """Otherwise each process would compile the kernel again, and each process that runs tests would rewrite all of it."""
    assert make(ready, "check", PYTHONDONTWRITEBYTECODE="1").stdout == "derivations check\n"


def test_lint_runs_each_tool(ready):
    assert make(ready, "lint").stdout.splitlines() == LINTED


@pytest.mark.parametrize("tool", ["ruff", "importlinter", "mypy"])
def test_failing_linter_stops_before_the_tests(ready, tool):
    tested = make(ready, "test", FAILING=tool)
    assert tested.returncode != 0 and tested.stdout.splitlines()[-1].split()[0] == tool


@pytest.mark.parametrize("module", ["derivations", "mkdocs"])
def test_failure_stops_the_following_steps(ready, module):
    served = make(ready, "serve", "PORT=0", FAILING=module)
    assert served.returncode != 0 and served.stdout.splitlines()[-1].split()[0] == module


def test_clean_removes_only_generated_files(tree):
    kept = [*tree.rglob("*"), tree / "tests" / "site"]
    kept[-1].mkdir(parents=True)
    for made in ".venv/bin", "site/assets", ".certificates/scaling", ".ruff_cache", ".mypy_cache", "derivations/__pycache__":
        (tree / made).mkdir(parents=True)
    assert make(tree, "clean").returncode == 0
    assert set(tree.rglob("*")) == {*kept, tree / "tests"}


def test_models_are_trained_and_written_or_only_compared(ready):
    assert make(ready, "retrain").stdout == "seeing\ntogether\n"
    assert make(ready, "retrain", "ARGS=--check").stdout == "seeing --check\ntogether --check\n"


def test_serve_prints_its_address_and_ends_quietly(ready):
    server = subprocess.Popen(
        ["make", "serve", "PORT=0", f"PYTHON={BASE_PYTHON}"],
        cwd=ready,
        env=environment(),
        text=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=react_to_interrupt,
    )
    try:
        line = next(line for line in server.stdout if line.startswith("Serving on "))
        address = re.fullmatch(r"Serving on (http://127\.0\.0\.1:\d+/) \(Ctrl-C stops it\)\n", line)[1]
        with urllib.request.urlopen(address) as page:
            assert page.read() == b"built" and page.headers["Cache-Control"] == "no-cache"
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(address + "missing")
        missing.value.close()
        assert missing.value.code == 404
    finally:
        os.killpg(server.pid, signal.SIGINT)
        out, errors = server.communicate(timeout=600)
    assert "Stopped." in out and "Traceback" not in errors


def test_make_without_arguments_lists_the_commands(tree):
    """The help lists exactly the commands of the Makefile."""
    told = re.findall(r"^make (\w+) ", make(tree).stdout, re.MULTILINE)
    offered = re.search(r"^\.PHONY: (.*)", (tree / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert set(told) == set(offered) - {"help", "python", "port", "setup"}


# The pins


def pins():
    """Return the lines of the two files of pins, without comments and conditions."""
    text = "\n".join((ROOT / name).read_text() for name in ("requirements.txt", "requirements-models.txt"))
    lines = [line.split(";")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_pin_is_one_exact_version():
    """A line has no address, no option and no local version, so that the index in use decides what follows a +."""
    assert [pin for pin in pins() if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", pin)] == []
    assert len({normal(pin.split("==")[0]) for pin in pins()}) == len(pins())


def asked():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return [Requirement(line) for group in groups.values() for line in group if isinstance(line, str)]


def test_required_packages_are_pinned():
    pinned = {normal(name): version for name, version in (pin.split("==") for pin in pins())}
    assert {"torch", "sympy", "mkdocs", "pytest"} <= {requirement.name for requirement in asked()}
    for requirement in asked():
        assert requirement.specifier.contains(pinned[normal(requirement.name)]), requirement


def imported(path):
    """The top-level modules that a file imports by their full name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_imported_packages_are_required():
    """Each package that a file imports is named in pyproject.toml, even if another package would install it too."""
    names = {normal(requirement.name) for requirement in asked()}
    brought_by = {module: {normal(name) for name in found} for module, found in packages_distributions().items()}
    files = [path for folder in ("derivations", "snippets", "docs", "tests") for path in (ROOT / folder).rglob("*.py")]
    modules = {(str(path.relative_to(ROOT)), module) for path in files for module in imported(path) if module in brought_by}
    assert ("tests/site/test_make.py", "pytest") in modules
    unasked = {(path, module) for path, module in modules if not brought_by[module] & names}
    assert not unasked, f"name these in the dependency-groups of pyproject.toml: {sorted(unasked)}"


# The workflow


@pytest.fixture(scope="module")
def workflow():
    return yaml.load((ROOT / ".github/workflows/site.yml").read_text(), yaml.BaseLoader)


def test_pull_request_gets_a_read_only_token(workflow):
    assert workflow["permissions"] == {}
    writers = {name for name, job in workflow["jobs"].items() if "write" in job["permissions"].values()}
    assert writers == {"publish"}
    assert workflow["jobs"]["publish"]["if"] == "github.event_name == 'push' && github.ref == 'refs/heads/main'"
    assert workflow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert workflow["on"].keys() == {"pull_request", "push", "schedule"} and workflow["on"]["push"] == {"branches": ["main"]}


def test_actions_are_pinned_to_commits(workflow):
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and [use for use in used if not re.fullmatch(r"actions/[a-z/-]+@[0-9a-f]{40}", use)] == []


def test_workflow_runs_the_commands_of_contributors(workflow):
    jobs = {name: job for name, job in workflow["jobs"].items() if name != "publish"}
    run = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert run == {"claims": [".ci/run claims"], "rest": [".ci/run ${{ matrix.part }}"], "site": [".ci/run site"]}
    assert {*workflow["jobs"]["publish"]["needs"]} == {*jobs}
    parts = ["claims", *jobs["rest"]["strategy"]["matrix"]["part"], "site"]
    assert f"set -- {' '.join(parts)}" in (ROOT / ".ci/run").read_text()  # the parts that run if none is named
    assert os.access(ROOT / ".ci/run", os.X_OK)


@pytest.fixture
def parts(tmp_path):
    """Return a function that runs .ci/run with a make that only prints its arguments, installs nothing, and returns the output."""
    tree, programs = copy_into(tmp_path), tmp_path / "programs"
    programs.mkdir()
    for name in ("chromium", "nginx", "coqc", "dpkg-query", "apt-get"):
        (programs / name).write_text("#!/bin/sh\necho installed\n")
    (programs / "make").write_text('#!/bin/sh\necho make "$@" SINCE=$SINCE\n[ "$1" != "$FAILING" ]\n')
    for name in programs.iterdir():
        name.chmod(0o755)
    for command in (["init", "-q"], ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "all"]):
        subprocess.run(["git", *command], cwd=tree, check=True)

    def run(*names, **environment):
        environment = {"PATH": f"{programs}:{os.environ['PATH']}", "SINCE": "", "NIGHT": ""} | environment
        return subprocess.run([".ci/run", *names], cwd=tree, env=os.environ | environment, capture_output=True, text=True)

    return run


def made(done):
    return [line.removeprefix("make ").partition(" SINCE=")[0] for line in done.stdout.splitlines() if line.startswith("make ")]


def test_ci_runs_all_parts_or_the_named_ones(parts):
    whole = parts()
    assert whole.returncode == 0 and "== all passed" in whole.stdout
    assert (
        " ".join(words.split()[0] for words in made(whole))
        == "proofs mutants fuzz coqtest models prover test browser models prover slow prover site wheel"
    )
    *first, looks, prover, site, wheel = made(parts("slow", "site"))
    assert first == ["models", "prover"] and re.fullmatch(r"slow ARGS=--share [1-8]/8", looks)
    assert (prover, site, wheel) == ("prover", "site", "wheel")
    mutants, fuzz, *rest = made(parts("attacks", "tests", "slow", NIGHT="1"))
    assert mutants == "mutants" and re.fullmatch(r"fuzz ARGS=--seed \d+", fuzz)
    assert rest == ["coqtest", "models", "prover", "test", "browser", "nightly", "models", "prover", "slow ARGS=--share 1/1"]


def test_random_claims_are_new_every_night_and_can_be_tried_again(parts):
    nights = [parts("attacks", NIGHT="1") for _ in range(2)]
    asked = [made(night)[1].removeprefix("fuzz ARGS=") for night in nights]
    assert asked[0] != asked[1]
    for night, arguments in zip(nights, asked):
        assert f'make fuzz ARGS="{arguments}"\n' in night.stdout
    assert made(parts("attacks"))[1] == "fuzz ARGS=--claims 10000"


@pytest.mark.parametrize("silent", [False, True])
def test_ci_fails_if_no_commit_is_known(parts, tmp_path, silent):
    if silent:
        (tmp_path / "programs/git").symlink_to("/bin/true")
    else:
        shutil.rmtree(tmp_path / "a clone/.git")
    for part in ("attacks", "slow"):
        done = parts(part, GIT_CEILING_DIRECTORIES=str(tmp_path))
        assert done.returncode != 0 and made(done) == [] and "all passed" not in done.stdout


def test_ci_stops_at_the_first_failing_part(parts):
    done = parts("attacks", "tests", FAILING="fuzz")
    assert done.returncode == 1 and [words.split()[0] for words in made(done)] == ["mutants", "fuzz"] and "all passed" not in done.stdout


def test_ci_rejects_an_unknown_part_before_it_starts(parts):
    done = parts("site", "all")
    assert (
        done.returncode == 2
        and made(done) == []
        and "unknown part 'all'; the parts are claims, attacks, tests, slow and site" in done.stderr
    )


def test_ci_tests_only_what_a_change_affects(parts, tmp_path):
    head = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=tmp_path / "a clone", capture_output=True, text=True).stdout
    assert "--since" not in "".join(made(parts("attacks")))
    done = parts("attacks", "tests", SINCE="0a1b")
    share = int(head, 16) % 24 + 1
    assert made(done)[0].endswith(f"--share {share}/24 --since 0a1b") and "make test SINCE=0a1b" in done.stdout
