"""Tests of what contributors read: the commands, paths and links in README, CONTRIBUTING and SECURITY exist, the checker prints
each message that they explain, and the issue forms, the hooks and the metadata are valid.
"""

import ast
import doctest
import re
import shlex
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path
from types import FunctionType

import click
import pytest
import yaml

from derivations.kernel import (
    Derivation,
    Var,
    absolute,
    diff,
    errors,
    exp,
    in_range,
    index,
    matrix,
    nonnegative,
    nonzero,
    random,
    rounded,
    scalars,
    sizes,
    softmax,
    total,
    variance,
    vector,
)
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.command import cli
from derivations.kernel.errors import KernelError
from derivations.kernel.site import claim_journey, figure_block

ROOT = Path(__file__).resolve().parents[2]
TOLD = (
    "README.md",
    "CONTRIBUTING.md",
    "MAINTAINING.md",
    "SECURITY.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "docs/contributing/claim-to-page.md",
    "docs/trust.md",
    "docs/trust-details.md",
)


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def code_in(text):
    """Return the code in a Markdown text: spans in backticks, and lines that are indented by four spaces or between fences."""
    spans = re.findall(r"`([^`\n]+)`", text)
    lines = re.findall(r"^ {4}(.+)$", text, re.M) + [
        line for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()
    ]
    return [re.sub(r"\s+#.*", "", piece).strip() for piece in spans + lines]


def commands(text):
    """Return the commands in a text, including those after an && or a prompt."""
    return [part.strip() for piece in code_in(text) for part in piece.split("&&") if part.strip()]


# Commands ---------------------------------------------------------------------------------------------------------------------


def targets():
    return set(re.search(r"^\.PHONY: (.*)", text_of("Makefile"), re.M)[1].split())


def wrong_make(command):
    """Return what is wrong with a make command, or None."""
    words = [word for word in shlex.split(command)[1:] if "=" not in word]
    return next((f"make has no {word}" for word in words if word not in targets()), None)


def wrong_derivations(command):
    """Return what is wrong with a command `python -m derivations ...`, or None."""
    words = shlex.split(command)[3:]
    if not words:
        return None
    if words[0] not in cli.main.commands:
        return f"python -m derivations has no {words[0]}"
    known = {name for option in cli.main.commands[words[0]].params if isinstance(option, click.Option) for name in option.opts}
    return next((f"{words[0]} has no {word}" for word in words if word.startswith("--") and word not in known), None)


def wrong(command):
    if re.match(r"make( |$)", command):
        return wrong_make(command)
    if command.startswith("python -m derivations"):
        return wrong_derivations(command)
    return None


@pytest.mark.parametrize("name", TOLD)
def test_documented_commands_exist(name):
    found = commands(text_of(name))
    assert [(command, wrong(command)) for command in found if wrong(command)] == []


def test_readme_and_contributing_document_the_main_commands():
    for name in ("README.md", "CONTRIBUTING.md"):
        found = " ; ".join(commands(text_of(name)))
        for command in ("make serve", "make test", "make lint", "python -m derivations new", "check --watch", "check --page"):
            assert command in found, (name, command)


@pytest.mark.parametrize(
    "command", ["make tea", "python -m derivations brew", "python -m derivations check --quick", "make PORT=1 serve tea"]
)
def test_nonexistent_command_is_found(command):
    assert wrong(command)


@pytest.mark.parametrize(
    "command", ["make", 'make test ARGS="-k x"', "python -m derivations check --fresh a/b", "python -m derivations list"]
)
def test_existing_command_passes(command):
    assert wrong(command) is None


# Paths and links --------------------------------------------------------------------------------------------------------------

EXAMPLES = ("scaling/topic", "scaling/test_topic")  # the example topic that the reader creates
MADE = {"CHAPTER", ".venv", ".certificates", "docs/coq", "docs/sympy"}
BUILT = {"site", "dist", "build", "mutants"}  # made by make; the guides mean the checker's `site/` instead
FOLDERS = tuple(f"{path.name}/" for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".") and path.name not in BUILT)


def paths(text):
    """Return the paths in code, relative to the root."""
    words = [word.strip("'\",:()").split("::")[0] for piece in code_in(text) for word in piece.split()]
    return {word for word in words if word.startswith((*FOLDERS, ".ci/", ".github/")) and re.fullmatch(r"[\w./{}*-]+", word)}


def exists(word):
    return any(part in word for part in (*EXAMPLES, *MADE)) or "{" in word or bool(list(ROOT.glob(word.rstrip("/"))))


@pytest.mark.parametrize("name", TOLD)
def test_documented_paths_exist(name):
    assert [word for word in sorted(paths(text_of(name))) if not exists(word)] == []


def test_nonexistent_path_is_found():
    (word,) = paths("See `tests/kernel/test_of_nothing.py`.")
    assert not exists(word)


def anchors(text):
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in re.findall(r"^#+ (.+)$", text, re.M)}


def broken_links(name, text):
    """Return the links of a Markdown file in the repository whose target is missing."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists() or anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            found.append(target)
    return found


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "MAINTAINING.md", "SECURITY.md"])
def test_links_are_not_broken(name):
    assert broken_links(name, text_of(name)) == []


def test_broken_link_is_found():
    assert broken_links("README.md", "[a](nothing.md) [b](README.md#nothing) [c](README.md#licence) [d](https://x.example/)") == [
        "nothing.md",
        "README.md#nothing",
    ]


def test_readme_and_contributing_link_to_the_contributor_pages():
    assert "](CONTRIBUTING.md)" in text_of("README.md") and "](SECURITY.md)" in text_of("README.md")
    assert {"docs/contributing/language.md", "docs/contributing/claim-to-page.md"} <= paths_linked("CONTRIBUTING.md")


def paths_linked(name):
    return set(re.findall(r"\]\(([^)\s#]+)", text_of(name)))


# Messages of witnesses---------------------------------------------------------------------------------------------------------

n, m = sizes("n m")
A, B, S = matrix("A", n, m), matrix("B", n, m), matrix("S", n, n)
x, y = scalars("x y")
v, i, j = vector("v", n), index("i", n), index("j", n)
X = random("X")
SQUARE = "snippets.simplify.bilinear.merged_scores"
REFUSED = {
    "vacuous: both sides are the same expression already": lambda D: D.identity("c", (A + B).T, (A + B).T),
    "false: at": lambda D: D.identity("c", (A + B).T, A.T - B.T),
    "not proved: left - right has the normal form": lambda D: D.identity(
        "c", total((softmax(vector("a", m)) @ softmax(matrix("Z", m, n)))[index("i", n)], index("i", n)), 1
    ),
    "used but not stated:": lambda D: D.identity("c", x * y / y, x),
    "is stated but not shown to be needed": lambda D: D.identity("c", x * y + x, x * (y + 1), given=[nonzero(y)]),
    "is not the certificate": lambda D: D.inequality("c", 2 * x * y, x**2 + y**2, because=(x - y) * (x + y)),
    "the certificate repeats the difference of the two sides": lambda D: D.inequality(
        "c", x, exp(x) * exp(x) + x, because=exp(x) * exp(x) + x - x
    ),
    "have different shapes": lambda D: D.identity("c", A.T, A),
    "cannot be multiplied": lambda D: D.identity("c", A @ B, A),
    "is not an expression; write numbers as integers or fractions": lambda D: D.identity("c", x * 0.5, x / 2),
    "compare trees here, not values": lambda D: D.identity("c", total((1 - (i == j)) * v[j], j), total(v[j], j)),
    "takes no keyword": lambda D: D.identity("c", (A + B).T, A.T + B.T, titel="A sum"),
    "is used for two things": lambda D: D.identity("c", x + sizes("x"), sizes("x") + x),
    "is read as an entry of": lambda D: D.identity("c", x * v[j], v[j] * sizes("v_1")),
    "call it something else": lambda D: D.define("pi", x + 1),
    "the PyTorch witness does not confirm it: snippets.": lambda D: D.identity(
        "c", 2 * (S @ S @ S.T), S @ (2 * S) @ S.T, code=[(SQUARE, S, S)]
    ),
    "it lacks a second witness": lambda D: D.identity("c", diff(diff(rounded(y) * x**3, x), x), 6 * x * rounded(y), given=[in_range()]),
    "it lacks a run of snippets.": lambda D: D.identity(
        "c", diff(diff(x**3, x), x), 6 * x, code=[("snippets.scaling.saturation.two_key_weight", x)]
    ),
    ", which has to compute it": lambda D: D.identity("c", S @ S.T, (S @ S.T).T, code=[(SQUARE, S @ S.T, S)]),
    "it is no counterexample": lambda D: D.refute("c", x + y, y + x * 1, at={x: 1, y: 2}),
    "it is stated to be a variance": lambda D: D.identity("c", Var(X), 1 - n**2, given=[variance(X, 1 - n**2)]),
    "stands in no side of the claim": lambda D: D.inequality("c", x, y, because=Var(X), given=[variance(X, y - x)]),
    "no values were found, with n =": lambda D: D.identity(
        "c",
        absolute(v[i] - 1) * absolute(3 - total(v[j], j)),
        (v[i] - 1) * (3 - total(v[j], j)),
        given=[nonnegative(v[i] - 1), nonnegative(3 - total(v[j], j))],
    ),
    "leave one value only": lambda D: D.identity(
        "c", (-(x**2)) ** Fraction(1, 2) * (-(x**2)) ** Fraction(1, 2), -(x**2), given=[nonnegative(-(x**2))]
    ),
}
ON_A_PAGE = {
    "states a relation": "$d_k = 64$\n",
    "has no certificate": "/// claim | notes/nothing#here\n///\n",
    "may be read as a relation, or not be seen": "So a \N{BOX DRAWINGS DOUBLE HORIZONTAL} b.\n",
    "only the kernel's own boxes have this class": '<section class="claim">x</section>\n',
    "one over another": "$x \\overset{'}{.} y$\n",
}


def explained_messages():
    """Return the messages that CONTRIBUTING explains."""
    return re.findall(r"^\| `([^`]+)` \|", text_of("CONTRIBUTING.md"), re.M)


def test_every_explained_message_has_a_test():
    assert sorted(explained_messages()) == sorted([*REFUSED, *ON_A_PAGE])


@pytest.mark.parametrize("message", REFUSED)
def test_checker_prints_the_explained_message(message, monkeypatch):
    """The message is raised from a script, since scripts are where == is rejected."""
    monkeypatch.setattr(errors.scripts, "watched", True)
    state = FunctionType(REFUSED[message].__code__, globals() | {"__name__": "derivation"})
    with pytest.raises((KernelError, TypeError)) as caught:
        derivation = Derivation("A test")
        state(derivation)
        check_claim(derivation.claims[-1])
    assert message in str(caught.value)


@pytest.mark.parametrize("message", ON_A_PAGE)
def test_page_check_prints_the_explained_message(message, refused):
    assert message in refused(ON_A_PAGE[message])


def test_examples_in_contributing_pass():
    failed, tried = doctest.testfile(str(ROOT / "CONTRIBUTING.md"), module_relative=False)
    assert tried >= 4 and not failed


# The path of a claim ----------------------------------------------------------------------------------------------------------

PAGE = "docs/contributing/claim-to-page.md"


def test_claim_path_shows_the_statement_of_the_script():
    script = {"script": "derivations/simplify/bilinear.py"}
    line = next(number for number, line in enumerate(text_of(script["script"]).splitlines(), 1) if line.strip() == '"merged",')
    shown = claim_journey.render_statement(script, {"line": line}, lambda name: name)
    assert (
        shown.startswith("<p>derivations/simplify/bilinear.py, from line ")
        and "<code>derivation.chain(\n    &quot;merged&quot;" in shown
        and "&quot;merged&quot;," in shown
        and "merged-scaled" not in shown
    )


def test_claim_path_shows_that_pytorch_agrees():
    said = [{"name": name, "verdict": verdict, "scope": "", "note": ""} for name, verdict in (("exact", "proved"), ("torch", "agrees"))]
    html = claim_journey.render_witnesses({}, {"witnesses": said}, str)
    assert "<td>exact</td><td>✓ proved</td>" in html and "<td>PyTorch</td><td>≈ agrees</td>" in html


def test_missing_statement_is_an_error():
    with pytest.raises(claim_journey.JourneyError, match="no statement at line 2"):
        claim_journey.render_statement({"script": "derivations/simplify/bilinear.py"}, {"line": 2}, str)


def test_files_of_the_claim_path_exist_and_have_descriptions():
    html = claim_journey.render_files({"script": "derivations/simplify/bilinear.py"}, {}, lambda name: name)
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(\d+)</td></tr>", html)
    assert len(rows) == len(claim_journey.FILES) and all(said and int(lines) > 0 for _, said, lines in rows)


def test_missing_file_is_an_error(monkeypatch):
    monkeypatch.setattr(claim_journey, "FILES", ("derivations/kernel/gone.py",))
    with pytest.raises(claim_journey.JourneyError, match="names derivations/kernel/gone.py, which does not exist"):
        claim_journey.render_files({"script": "derivations/simplify/bilinear.py"}, {}, str)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("scaling/variance", "expected '/// journey | chapter/topic#id PART'"),
        ("scaling/variance#variance", "expected '/// journey | chapter/topic#id PART' with a part of statement, witnesses"),
        ("scaling/variance#variance nowhere", "found 'scaling/variance#variance nowhere'"),
        ("scaling/variance#nothing record", "scaling/variance has no claim 'nothing'"),
        ("nothing/here#at record", "has no certificate"),
    ],
)
def test_invalid_claim_path_is_rejected_with_page_and_line(block, message, refused):
    said = refused(f"# A page\n\n/// journey | {block}\n///\n")
    assert message in said and re.match(r"\S*notes/page\.md:3: ", said)


def test_page_names_only_files_of_the_kernel():
    """The page omits the kernel's own folder from their paths."""
    named = set(re.findall(r"`((?:core|language|command|run|printing|site|attack)/[\w/.]+)`", text_of(PAGE)))
    assert len(named) >= 8 and all((ROOT / "derivations/kernel" / name).is_file() for name in named)
    assert {f"derivations/kernel/{name}" for name in named} <= set(claim_journey.FILES)


def test_diagram_shows_exactly_the_rooms_of_the_kernel():
    made = figure_block._load_module(ROOT / "docs/figures/contributing/rooms.py")
    drawn = [room for layer in made.layers() for room in layer]
    there = {path.parent.name for path in (ROOT / "derivations/kernel").glob("*/__init__.py")} | {"errors"}
    assert sorted(drawn) == sorted(there)
    assert all(room in made.rooms().description for room in drawn)


# Hooks, forms and metadata ----------------------------------------------------------------------------------------------------


def hooks():
    return [hook for repository in yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"] for hook in repository["hooks"]]


def test_hooks_are_local_and_need_no_network():
    config = yaml.safe_load(text_of(".pre-commit-config.yaml"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    assert {hook["language"] for hook in hooks()} == {"system"}


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: hook["id"])
def test_hook_runs_an_existing_command(hook):
    words = shlex.split(hook["entry"])
    assert words[0] == ".venv/bin/python"
    if words[1] == "-m":
        known = subprocess.run([sys.executable, "-m", words[2], *words[3:4], "--help"], cwd=ROOT, capture_output=True, text=True)
        assert known.returncode == 0 and all(word in known.stdout for word in words[4:] if word.startswith("--")), known.stderr
    else:
        assert words[1] == "-c"
        (imported,) = [node for node in ast.walk(ast.parse(words[2])) if isinstance(node, ast.ImportFrom)]
        module = __import__(imported.module, fromlist=[alias.name for alias in imported.names])
        assert all(hasattr(module, alias.name) for alias in imported.names)
    re.compile(hook.get("files", ""))


def test_hooks_and_make_lint_run_the_same_tools():
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", text_of("Makefile"), re.M)[1]
    for tool in ("ruff check", "ruff format", "lint_imports_command", "mypy"):
        assert tool in lint and any(tool in hook["entry"] for hook in hooks())


def test_claims_hook_matches_scripts_but_no_kernel_files():
    (files,) = [hook["files"] for hook in hooks() if hook["id"] == "claims"]
    assert re.search(files, "derivations/scaling/variance.py")
    assert not any(
        re.search(files, name) for name in ("derivations/kernel/errors.py", "derivations/kernel/core/expr.py", "derivations/__init__.py")
    )


def test_ruff_ignores_pages():
    shown = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-files", "."], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = shown.stdout.split()
    assert any(name.endswith("claims.py") for name in names) and not [name for name in names if name.endswith(".md")]
    page = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--check", "--force-exclude", "README.md"], cwd=ROOT, capture_output=True, text=True
    )
    assert "No Python files found" in page.stderr


FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("form", [path for path in FORMS if path.name != "config.yml"], ids=lambda path: path.stem)
def test_issue_form_is_valid(form):
    content = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= content.keys() and len(content["body"]) >= 3
    for field in content["body"]:
        assert field["type"] in ("input", "textarea", "dropdown", "checkboxes", "markdown")
        assert field["attributes"]["label"] and field["id"]
        if field["type"] == "dropdown":
            assert len(set(field["attributes"]["options"])) == len(field["attributes"]["options"]) >= 2
    ids = [field["id"] for field in content["body"]]
    assert len(set(ids)) == len(ids)


def test_issue_forms_for_claim_checker_and_topic_exist():
    assert {path.stem for path in FORMS} == {"claim", "checker", "topic", "config"}


def test_citation_file_has_the_required_fields():
    content = yaml.safe_load(text_of("CITATION.cff"))
    assert content["cff-version"] == "1.2.0"
    assert {"authors", "cff-version", "message", "title"} <= content.keys()
    assert content["type"] in ("software", "dataset") and all("name" in author for author in content["authors"])
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert content["license"] == project["license"] and [a["name"] for a in content["authors"]] == [a["name"] for a in project["authors"]]


def test_editorconfig_agrees_with_ruff():
    text = text_of(".editorconfig")
    parts = dict(re.findall(r"^\[(.+)\]\n((?:.+\n?)+)", text, re.M))
    assert text.startswith("root = true")
    ruff = tomllib.loads(text_of("pyproject.toml"))["tool"]["ruff"]
    assert f"max_line_length = {ruff['line-length']}" in parts["*.py"]
    narrow = tomllib.loads(text_of("snippets/ruff.toml"))
    assert f"max_line_length = {narrow['line-length']}" in parts["snippets/**.py"] and "indent_style = tab" in parts["Makefile"]


# Claims about the project ---------------------------------------------------------------------------------------------------

PUBLIC = [
    "README.md",
    "CONTRIBUTING.md",
    "MAINTAINING.md",
    "SECURITY.md",
    "CITATION.cff",
    "mkdocs.yml",
    "pyproject.toml",
    *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")),
]
# Statements that were once published and went too far.
TOO_MUCH = re.compile(
    r"every relation|every line of code|nothing (here )?is taken on trust|share no code|in a SymPy script|proved in SymPy|never rounded",
    re.I,
)


@pytest.mark.parametrize("name", PUBLIC)
def test_overstatements_are_absent(name):
    assert TOO_MUCH.findall(" ".join(text_of(name).split())) == []


def test_pytorch_is_never_said_to_prove():
    for name in PUBLIC:
        assert not re.search(r"PyTorch (witness )?proves|proved by PyTorch", " ".join(text_of(name).split())), name
