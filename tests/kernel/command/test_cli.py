"""The command line: its output and exit codes. A faulty script never causes a traceback."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from derivations.kernel.check import runner
from derivations.kernel.command import new_topic
from derivations.kernel.command.new_topic import ScaffoldError
from derivations.kernel.site.claim_graph import read_navigation
from tests.nightly import nightly_after

ROOT = Path(__file__).resolve().parents[3]
HEAD = """from derivations.kernel import Derivation, matrix, sizes
n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
"""
GOOD = (
    HEAD
    + """derivation = Derivation("A test")
derivation.identity("good", (A + B).T, A.T + B.T)
"""
)
MIXED = (
    GOOD
    + """derivation.identity("bad", A + B, A - B)
derivation.chain("also-good", (A + B).T, (B.T + A.T, "commute"), title="Another")
"""
)


@pytest.fixture
def script(tmp_path):
    """A function that writes a script outside of any checkout."""

    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# Records --------------------------------------------------------------------------------------------------------------------

FIELDS = {"id", "kind", "scope", "verdict", "witnesses", "provers", "seconds", "message", "topic", "line", "cached"}


def test_one_record_a_claim(tree, records):
    code, found = records("chapter/tiny")
    (record,) = found
    assert code == 0 and set(record) >= FIELDS
    assert (record["id"], record["kind"], record["scope"], record["verdict"]) == ("sum", "identity", "every shape", "holds")
    assert {w["name"]: w["verdict"] for w in record["witnesses"]} == {"exact": "proved", "sympy": "proved", "torch": "agrees"}
    assert (
        record["message"] == ""
        and record["seconds"] >= 0
        and record["line"] == 6
        and record["cached"] is False
        and "error_code" not in record
    )


def test_a_refused_claim_among_others(script, records):
    path = script(MIXED)
    code, found = records(path)
    assert code == 1
    assert [(r["id"], r["verdict"]) for r in found] == [("good", "holds"), ("bad", "rejected"), ("also-good", "holds")]
    bad = found[1]
    assert (
        set(bad) >= FIELDS
        and bad["error_code"] == "false-claim"
        and "at A = " in bad["message"]
        and bad["line"] == 6
        and bad["kind"] == "identity"
    )


def test_the_second_time_the_certificate_answers_and_fresh_asks_again(tree, records):
    strip = lambda found: [{k: v for k, v in r.items() if k not in ("seconds", "cached", "witnesses")} for r in found]
    (_, first), (_, second), (_, third) = records(), records(), records("--fresh")
    assert [r["cached"] for r in first + second + third] == [False, True, False]
    assert strip(first) == strip(second) == strip(third)


def test_a_topic_a_chapter_and_a_path_are_one_script(tree, records):
    for target in ("chapter/tiny", "chapter", "chapter/", tree.script):
        code, found = records(target)
        assert code == 0 and [r["topic"] for r in found] == ["chapter/tiny"]
    code, found = records("chapter/tiny", "chapter", tree.script)
    assert code == 0 and len(found) == 1


def test_a_path_outside_has_no_certificate(tree, script, records):
    path = script(GOOD)
    for _ in range(2):
        code, found = records(path)
        assert code == 0 and [(r["topic"], r["cached"]) for r in found] == [(str(path), False)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_jobs_change_no_result_and_no_order(jobs, script, records):
    paths = [script(text, name) for text, name in ((GOOD, "b.py"), (MIXED, "a.py"), (GOOD, "c.py"))]
    code, found = records("--jobs", jobs, *paths)
    assert code == 1 and [(Path(r["topic"]).name, r["id"]) for r in found] == [
        ("b.py", "good"),
        ("a.py", "good"),
        ("a.py", "bad"),
        ("a.py", "also-good"),
        ("c.py", "good"),
    ]


@pytest.mark.parametrize(
    "arguments", [("nowhere/nothing",), ("nothing",), ("--jobs", "0"), ("--jobs", "x"), ("--nothing",), ("..",), ("/etc",), ("",)], ids=repr
)
def test_what_cannot_be_asked_for_exits_with_2(arguments, tree, command):
    result = command("check", *arguments)
    assert result.exit_code == 2 and "Error: " in result.stderr


def test_nothing_to_check_is_not_a_success(tree, command):
    tree.script.unlink()
    assert command("check").exit_code == 2


# Without --json -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("list",), ("--help",)], ids=repr)
def test_who_reads_no_further_ends_it_quietly(arguments):
    """As in `... | head`."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        done = subprocess.run([sys.executable, "-m", "derivations", *arguments], cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr == ""


def test_no_connection_that_somebody_else_closes_ends_a_process():
    """Of a worker, of a cluster, of a browser: that is an error like any other, and no signal that kills."""
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        os.write(writer, b"to nobody")
    os.close(writer)


def test_a_summary_on_standard_output_and_faults_on_standard_error(script, command):
    path = script(MIXED)
    result = command("check", path)
    assert result.exit_code == 1
    assert f"NO  {path}" in result.stdout and "2/3 claims" in result.stdout and "NOT all accepted" in result.stdout
    assert f"{path}:6: claim 'bad': false: at A = " in result.stderr and "false" not in result.stdout


def test_a_success_says_what_the_certificates_answered(tree, command):
    assert "1 claim in 1 topic: all accepted\n" in command("check").stdout
    again = command("check").stdout
    assert "1/1 claim  (unchanged)" in again and "1 claim in 1 topic: all accepted (1 unchanged since the last check)\n" in again


def test_list(tree, command):
    assert "chapter/tiny" in (before := command("list").stdout) and "has no certificate" in before
    command("check")
    after = command("list")
    assert after.exit_code == 0 and "1 claim  A sum transposed" in after.stdout


def test_help_says_what_there_is(command):
    shown = command("-h").stdout
    assert all(name in shown for name in ("check", "list", "new"))
    assert all(option in command("check", "--help").stdout for option in ("--json", "--fresh", "--jobs"))


def test_the_module_is_the_command(script):
    done = subprocess.run(
        [sys.executable, "-m", "derivations", "check", "--json", str(script(MIXED))], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1 and [r["verdict"] for r in json.loads(done.stdout)] == ["holds", "rejected", "holds"]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_script_on_its_own_prints_its_steps(script):
    path = script(MIXED + 'if __name__ == "__main__":\n    derivation.main()\n')
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    assert "(commute)" in done.stdout and "exact: proved, every shape" in done.stdout and "REJECTED" in done.stdout
    good = script(GOOD + 'if __name__ == "__main__":\n    derivation.main()\n')
    assert subprocess.run([sys.executable, str(good)], capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}).returncode == 0


@pytest.mark.slow
def test_a_script_of_the_site_runs_on_its_own_from_anywhere(tmp_path):
    """It finds the kernel without the caller's help."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "derivations/scaling/variance.py")], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "variance: The variance is the width" in done.stdout and "REJECTED" not in done.stdout


# Scripts that go wrong ---------------------------------------------------------------------------------------------------------

WRONG = {
    "a crash": (GOOD + "1 / 0\n", "script.py:6: the script stopped with ZeroDivisionError"),
    "a crash before anything": ("undefined\n", "script.py:1: the script stopped with NameError"),
    "a syntax error": (GOOD + "def\n", "script.py:6: this is not Python"),
    "a product without a sign": (
        GOOD + "2x\n",
        "script.py:6: this is not Python: invalid decimal literal; a product is written with a sign",
    ),
    "not text": (GOOD + "\0", "script.py:"),
    "an import that fails": ("import not_there\n" + GOOD, "script.py:1: the script stopped with ModuleNotFoundError"),
    "an exit": (GOOD + "import sys\nsys.exit()\n", "script.py:7: the script stopped with SystemExit"),
    "an exit with success": (GOOD + "raise SystemExit(0)\n", "script.py:6: the script stopped with SystemExit"),
    "no derivation": (HEAD, "script.py:0: a script makes one Derivation; this one makes 0"),
    "two derivations": (GOOD + GOOD, "a script makes one Derivation; this one makes 2"),
    "no claim": (HEAD + 'Derivation("A test")\n', "script.py:4: the derivation states no claim"),
    "the end of the process": (GOOD + "import os\nos._exit(0)\n", "the process that checked it died (exit 0)"),
    "a signal": (GOOD + "import os\nos.kill(os.getpid(), 9)\n", "the process that checked it died (exit -9)"),
    "a mistake of the kernel's user": (GOOD + "A + 0.5\n", "script.py:6: 0.5 of type float is not an expression"),
    "an interrupt": (GOOD + "raise KeyboardInterrupt\n", "script.py"),
    "endless recursion": (GOOD + "def f(): f()\nf()\n", "script.py:6: the script stopped with RecursionError"),
    "deep nesting": (HEAD + 'D = Derivation("A test")\nfor _ in range(3000): A = A + B\nD.identity("deep", A, B + A)\n', "script.py:6"),
    "an edited claim": (GOOD + "derivation.claims[0] = None\n", "script.py"),
    "a directory": (GOOD + "import os\nos.chdir('/')\n1/0\n", "script.py:8: the script stopped with ZeroDivisionError"),
}


@pytest.mark.parametrize("text, says", WRONG.values(), ids=WRONG)
def test_a_script_that_goes_wrong_is_a_message_and_a_failure(text, says, script, command):
    path = script(text)
    result = command("check", path)
    assert result.exit_code == 1, result.output
    assert str(path) in result.stderr and says in result.stderr


def test_a_script_that_hangs_is_stopped(script, command, hang):
    path = script(GOOD + hang)
    result = command("check", path)
    assert result.exit_code == 1 and f"{path}: checking took longer than {runner.TIME_LIMIT} s and was stopped" in result.stderr


def test_a_script_that_starts_something_that_hangs_is_stopped(script, command, hang, tmp_path):
    """What it started holds the pipes open, and must not hold up the checker."""
    begins, ended = hang.splitlines()[0], tmp_path / "ended"
    other = f"import time; from pathlib import Path; {begins}; time.sleep({10 * runner.TIME_LIMIT}); Path({str(ended)!r}).touch()"
    path = script(GOOD + f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {other!r}])\n")
    result = command("check", path)
    assert result.exit_code == 1 and f"longer than {runner.TIME_LIMIT} s" in result.stderr
    assert not ended.exists()


@pytest.mark.parametrize(
    "text",
    [
        'print("{}")\n',
        'print(\'{"event": "done", "imported": []}\')\n',
        'import sys\nsys.stderr.write("noise")\n',
        'import os\nos.write(1, b"raw\\n")\n',
        'print("x" * 200_000)\n',
    ],
    ids=["text", "a record", "errors", "raw", "much"],
)
def test_what_a_script_prints_is_not_taken_for_a_record(text, script, records):
    code, found = records(script(text + GOOD))
    assert code == 0 and [r["id"] for r in found] == ["good"]


def test_problems_are_in_the_records_too(script, records):
    code, found = records(script(GOOD + "1 / 0\n"))
    assert code == 1
    assert any(r["verdict"] == "rejected" and "ZeroDivisionError" in r["message"] for r in found)


def test_one_bad_script_does_not_hide_the_others(script, records):
    code, found = records(script("undefined\n", "a.py"), script(GOOD, "b.py"))
    assert code == 1 and [(r["id"], r["verdict"]) for r in found if r["id"]] == [("good", "holds")]


def test_a_script_with_an_odd_name(script, records):
    for name in ("with space.py", "ünï.py", "-dash.py"):
        code, found = records("--", script(GOOD, name))
        assert code == 0 and [r["id"] for r in found] == ["good"]


SOON = 60  # seconds that processes may take to end, on a busy machine
COMMAND = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from derivations.kernel.command import cli; cli.main()"
POOL = """import os, time
from derivations.kernel.check.process_pool import local_pool
own = local_pool(1)
own.submit(abs, 1).result()
os.mkdir({begun!r})
time.sleep(1000)
"""


def ends_with_all_it_started(process, sent, begun):
    """Send a signal to a process once it has begun. The fork server has its standard output, and lives as long as what it forked: where that
    is closed, all of them are gone."""
    try:
        for _ in range(SOON * 50):
            if begun.exists():
                break
            time.sleep(0.1)
        assert begun.exists()
    finally:
        process.send_signal(sent)
    process.communicate(timeout=SOON)


@pytest.mark.parametrize("sent", nightly_after(1, [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
def test_what_a_check_started_ends_with_it(sent, script, tmp_path):
    begun = tmp_path / "begun"
    path = script(f"open({str(begun)!r}, 'w').close()\nimport time\ntime.sleep({5 * SOON})\n")
    process = subprocess.Popen([sys.executable, "-c", COMMAND, "check", path], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ends_with_all_it_started(process, sent, begun)


@pytest.mark.nightly
def test_a_pool_ends_with_its_process(tmp_path):
    begun = tmp_path / "begun"
    process = subprocess.Popen([sys.executable, "-c", POOL.format(begun=str(begun))], cwd=ROOT, stdout=subprocess.PIPE)
    ends_with_all_it_started(process, signal.SIGKILL, begun)


# new ------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of what `new` works on."""
    root = tmp_path / "copy"
    made = ("sympy", "coq")  # programs that the checker writes into docs/: as many files as all others, and `new` looks at none
    for name, more in {"derivations": (), "snippets": (), "tests": (), "docs": made}.items():
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "fonts", *more))
    for name in ("mkdocs.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    monkeypatch.setattr(new_topic, "ROOT", root)
    return root


def contents(root):
    return {p: p.read_bytes() for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts}


def run(root, *arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=root, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(root)}
    )


def files(topic):
    chapter, name = topic.split("/")
    test, figure = f"tests/{chapter}/test_{name}.py", f"docs/figures/{topic}.py"
    return {f"derivations/{topic}.py", f"snippets/{topic}.py", test, f"docs/{topic}.md", figure}


def changed(topic, before):
    """The files that `new` changes: of the navigation, the page before and the rows."""
    return {"mkdocs.yml", f"docs/{before}.md", f"tests/snippets/rows/{topic.partition('/')[0]}.py"}


@pytest.mark.slow
def test_the_files_that_new_makes_pass_as_made(copy, command):
    """In a chapter that there is and in a new one. Their code stands on their pages as the site's tests demand it."""
    before = {"scaling/made_up": "scaling/saturation", "new_chapter/first": "together/block"}
    topics = [*before]
    for topic in topics:
        made = command("new", topic)
        chapter = {"snippets/new_chapter/__init__.py", "docs/contributing/snippets/new_chapter.md"} if "new_chapter" in topic else set()
        assert made.exit_code == 0 and set(made.stdout.split()) == files(topic) | changed(topic, before[topic]) | chapter
        for advice in (f"derivations/{topic}.py", f"docs/{before[topic]}.md", "mkdocs.yml", f"check --page {topic}"):
            assert advice in made.stderr
    checked = run(copy, "derivations", "check", *topics)
    assert checked.returncode == 0, checked.stderr
    python = [path for topic in topics for path in sorted(files(topic)) if path.startswith(("snippets/", "tests/"))]
    sweeps = ["tests/site/test_code_on_pages.py", "tests/site/test_course.py", "tests/snippets/test_public.py"]
    tested = run(copy, "pytest", "-p", "no:cacheprovider", *python, *sweeps, "-v")
    assert tested.returncode == 0, tested.stdout[-3000:]
    for topic in topics:
        assert topic.split("/")[1] in tested.stdout
    for tool in (["ruff", "check"], ["ruff", "format", "--check"]):
        linted = run(copy, *tool, *(path for topic in topics for path in sorted(files(topic)) if path.endswith(".py")))
        assert linted.returncode == 0, linted.stdout
    typed = run(copy, "mypy", "--follow-imports", "silent", *(f"derivations/{topic}.py" for topic in topics))
    assert typed.returncode == 0, typed.stdout


def test_the_page_that_new_makes_shows_its_claim_and_points_to_the_language(copy, command):
    command("new", "scaling/made_up")
    assert "/// theorem | scaling/made_up#sum-transposed\n///" in (copy / "docs/scaling/made_up.md").read_text()
    assert "docs/contributing/language.md" in (copy / "derivations/scaling/made_up.py").read_text()


def navigation(root):
    import yaml

    lines = (root / "mkdocs.yml").read_text().splitlines()
    start = lines.index("nav:")
    end = next(k for k in range(start + 1, len(lines)) if lines[k] and not lines[k].startswith(" "))
    return yaml.safe_load("\n".join(lines[start:end]))["nav"]


def pages(nav):
    for entry in nav:
        for title, target in entry.items():
            yield from [target] if isinstance(target, str) else pages(target)


def test_a_page_goes_behind_the_last_of_its_chapter(copy):
    before = list(pages(navigation(copy)))
    new_topic.create("scaling/made_up")
    after = list(pages(navigation(copy)))
    place = max(k for k, page in enumerate(before) if page.startswith("scaling/"))
    assert after == before[: place + 1] + ["scaling/made_up.md"] + before[place + 1 :]
    assert ("Why √d_k", "Made up", "scaling/made_up.md") in read_navigation((copy / "mkdocs.yml").read_text())


def test_a_new_chapter_goes_before_the_pages_that_are_looked_up(copy):
    before = navigation(copy)
    new_topic.create("new_chapter/first")
    place = next(k for k, entry in enumerate(before) if "wrong.md" in str(entry))
    assert navigation(copy) == before[:place] + [{"New chapter": [{"First": "new_chapter/first.md"}]}] + before[place:]


def test_a_new_chapter_goes_last_where_there_are_no_labs(copy):
    path = copy / "mkdocs.yml"
    path.write_text("site_name: x\nnav:\n  - Home: index.md\n\nplugins:\n  - search\n")
    new_topic.create("new_chapter/first")
    assert navigation(copy) == [{"Home": "index.md"}, {"New chapter": [{"First": "new_chapter/first.md"}]}]
    assert path.read_text().endswith("\nplugins:\n  - search\n")


def test_nothing_else_in_the_configuration_changes(copy):
    before = (copy / "mkdocs.yml").read_text().splitlines()
    new_topic.create("scaling/made_up")
    after = (copy / "mkdocs.yml").read_text().splitlines()
    assert [line for line in after if "made_up" not in line] == before and len(after) == len(before) + 1


@pytest.mark.parametrize(
    "taken", ["derivations/scaling/made_up.py", "snippets/scaling/made_up.py", "tests/scaling/test_made_up.py", "docs/scaling/made_up.md"]
)
def test_nothing_is_overwritten_and_nothing_is_made_beside_it(taken, copy, command):
    path = copy / taken
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    before = contents(copy)
    result = command("new", "scaling/made_up")
    assert result.exit_code == 2 and f"{taken} exists already" in result.stderr and contents(copy) == before


BAD = [
    "",
    "scaling",
    "scaling/",
    "/variance",
    "Scaling/variance",
    "scaling/Variance",
    "scaling/a/b",
    "../x/y",
    "x/..",
    "kernel/claims",
    "labs/more",
    "contributing/more",
    "figures/more",
    "assets/more",
    "scaling/1st",
    "scaling/a-b",
    "scaling/__init__",
    "scaling/a b",
    "scaling/a.py",
    "scaling/\n",
    "scaling/ä",
    "scaling/variance\n",
]


@pytest.mark.parametrize("topic", BAD, ids=repr)
def test_a_name_that_is_not_chapter_and_topic_makes_nothing(topic, copy, command):
    before = contents(copy)
    result = command("new", topic)
    assert result.exit_code == 2 and contents(copy) == before


@pytest.mark.parametrize("topic", ["scaling/class", "import/first"])
def test_a_keyword_is_no_name(topic, copy):
    """The test that `new` writes could not import it."""
    before = contents(copy)
    with pytest.raises(ScaffoldError):
        new_topic.create(topic)
    assert contents(copy) == before


def test_a_configuration_without_navigation_makes_nothing(copy):
    (copy / "mkdocs.yml").write_text("site_name: x\n")
    before = contents(copy)
    with pytest.raises(ScaffoldError, match="has no 'nav:'"):
        new_topic.create("scaling/made_up")
    assert contents(copy) == before
