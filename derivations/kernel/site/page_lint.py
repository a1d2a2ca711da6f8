"""Check a page, its code and its figures. `check_topic` returns all findings for one topic.

The tests in tests/site apply these checks to the whole site; `check --page` and `check --watch` apply them to one topic. Each check returns
findings and reports one kind of fault. Files that are not Python and certificates that cannot be loaded are reported by the check that is
responsible for them; the others then return nothing.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ..check.shown_code import BOUND_TWICE
from ..snippet_source import Origin, Region, Snippet, doctest_examples, parse
from ..store.certificates import CertificateError, load
from . import code_fence_lint, example_rules, hardcoded_numbers, strong_sentences, unshown_code_lint
from .findings import Fault, Finding
from .included_regions import INCLUDE, code_path, read_snippet, read_text, snippet_library
from .page_source import RANKS, Source
from .rendered_page_lint import check_links, check_rendering
from .snippet_text_lint import check_words

FIGURE = re.compile(r"^/{3,} figure \| (\S+)(?: play=\w+)?$", re.M)


def read_pages(root: Path) -> dict[Path, str]:
    """Return the texts of all pages, by their files."""
    return {path: read_text(path) for path in sorted((root / "docs").rglob("*.md"))}


def topics_with_snippets(root: Path) -> list[str]:
    """Return the topic (path without `.py`) of each Python file in snippets/, including `__init__.py`."""
    return [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in sorted((root / "snippets").rglob("*.py"))]


def locate_region(snippet: Snippet, region: Region) -> str:
    """Return the file and line of the mark that opens a region."""
    return f"{snippet.file}:{region.first - 1}"


# Code -------------------------------------------------------------------------------------------------------------------------


def check_fences(root: Path, path: Path) -> list[Finding]:
    """Return findings for code, results and relations in fences of a page that are typed by hand (code_fence_lint.py)."""
    name = path.relative_to(root).as_posix()
    return [Finding(f"{name}:{line}", message) for line, _, message in code_fence_lint.find_fence_faults(read_text(path), root)]


def check_strong_sentences(root: Path, path: Path) -> list[Finding]:
    """Return findings for strong sentences of a page that have no basis (strong_sentences.py)."""
    name = path.relative_to(root).as_posix()
    source = Source(read_text(path), root / "docs", path)
    faults = strong_sentences.find_faults(source, strong_sentences.read_reviewed(root))
    return [Finding(f"{name}:{line}", message) for line, message in faults]


def check_regions_shown(root: Path, topic: str) -> list[Finding]:
    """Return findings for regions of a topic's snippet that no page shows."""
    shown, snippet = find_included_regions(root), read_snippet(root, topic)
    return [
        Finding(locate_region(snippet, region), f"no page shows the section {name!r}; show it in a fence, or delete its marks")
        for name, region in snippet.regions.items()
        if (topic, name) not in shown
    ]


def find_included_regions(root: Path) -> set[tuple[str, str]]:
    """Return (topic, region name) for all includes on pages."""
    return {(include["topic"], include["section"]) for text in read_pages(root).values() for include in INCLUDE.finditer(text)}


def check_regions_run(root: Path, topic: str) -> list[Finding]:
    """Return findings for regions that no test runs.

    These are examples outside the docstring, and code with a function that neither the topic's tests nor its examples use. An import is
    not a use."""
    found = []
    snippet = read_snippet(root, topic)
    try:
        examples = "".join(example.source for example in doctest_examples(snippet.docstring))
        chapter, _, last = topic.rpartition("/")
        used = find_used_names(examples) | find_used_names(read_text(root / "tests" / chapter / f"test_{last}.py"))
        for region in snippet.regions.values():
            messages = find_unrun_code(snippet, region, examples, used)
            found += [Finding(locate_region(snippet, region), message) for message in messages]
    except SyntaxError as error:
        found.append(Finding(f"{snippet.file}:{error.lineno}", f"this, its examples or its tests are not Python: {error.msg}"))
    except ValueError as error:
        found.append(Finding(snippet.file, f"its examples cannot be read: {error}"))
    return found


def find_unrun_code(snippet: Snippet, region: Region, examples: str, used: set[str]) -> list[str]:
    """Return messages for the code of a region that no test runs. `examples` is the code of the docstring's examples, `used` the names in use."""
    if region.is_example:
        in_docstring = all(example.source in examples for example in doctest_examples(region.body))
        return [] if in_docstring else [f"{region.name} is not in the docstring of its module, where doctest would run it; move it there"]
    defined = find_definitions(snippet, region)
    if not defined:
        return [f"{region.name} defines nothing that a test could run; put it into a function"]
    return [f"{region.name}: no test and no example uses {name}; test it" for name in sorted(defined - used)]


def find_definitions(snippet: Snippet, region: Region) -> set[str]:
    """Return the names of the functions and classes that a region defines. Raise SyntaxError if the module is not Python."""
    return {name for name, node in snippet.definitions.items() if node.lineno in region.lines}


def check_marks(root: Path, topic: str) -> list[Finding]:
    """Return findings for faulty marks of regions, which would make a page show something other than the file's code."""
    snippet = read_snippet(root, topic)
    return [Finding(f"{snippet.file}:{line}", message) for line, message in snippet.mark_faults]


def check_whole_statements(root: Path, topic: str) -> list[Finding]:
    """Return findings for regions of code that show part of a statement, such as a function without its decorator."""
    snippet = read_snippet(root, topic)
    try:
        code = [region for region in snippet.regions.values() if not region.is_example]
        return [Finding(f"{snippet.file}:{line}", message) for region in code for line, message in find_split_statements(snippet, region)]
    except SyntaxError:
        return []


def find_split_statements(snippet: Snippet, region: Region) -> Iterator[Fault]:
    """Yield (line, message) for each statement of a module that a region shows in part."""
    for statement in snippet.statements:
        first, last = statement.first, statement.last
        inside = [line in region.lines for line in statement.lines]
        if any(inside) and not all(inside):
            yield first, f"{region.name} shows some of the lines {first} to {last}, which are one statement; show all of them"


def load_claims(topic: str) -> list[dict]:
    """Return the claims in a topic's certificate; none if it cannot be loaded."""
    try:
        return load(topic)["claims"]
    except CertificateError:
        return []


def check_claimed_code_shown(root: Path, topic: str) -> list[Finding]:
    """Return findings for functions that the topic's claims name as their code and no page shows."""
    shown = find_included_regions(root)
    return [
        Finding(
            f"derivations/{topic}.py:{claim['line']}",
            f"the claim '{claim['id']}' names {name}, which no page shows; show it in a fence, or name a function that is shown",
        )
        for claim in load_claims(topic)
        for name in claim["code"]
        if not is_shown(root, name, shown)
    ]


def is_shown(root: Path, name: str, shown: set[tuple[str, str]]) -> bool:
    """Return whether a page includes the region that defines a function, named as `snippets.chapter.topic.function`."""
    module, _, function = name.removeprefix("snippets.").rpartition(".")
    topic = module.replace(".", "/")
    snippet = read_snippet(root, topic)
    try:
        regions = (region for region in snippet.regions.values() if (topic, region.name) in shown and not region.is_example)
        return any(function in find_definitions(snippet, region) for region in regions)
    except SyntaxError:
        return False


def check_used_code_shown(root: Path, topic: str) -> list[Finding]:
    """Return findings for definitions that no page shows, and that the code of the topic's claims or the regions of its file use."""
    shown = unshown_code_lint.find_shown_statements(root, read_pages(root))
    found: list[Finding] = []
    for claim in load_claims(topic):
        for name in claim["code"]:
            definition = snippet_library(root).definition(Origin(*name.rsplit(".", 1)))
            for message in unshown_code_lint.find_unshown_uses(root, definition, shown):
                found.append(Finding(f"derivations/{topic}.py:{claim['line']}", f"the claim '{claim['id']}' names {name}: {message}"))
    for statement in shown:
        if statement.file == code_path(topic):
            messages = unshown_code_lint.find_unshown_uses(root, statement, shown, constants=False)
            found += [Finding(f"{statement.file}:{statement.first}", f"on a page: {message}") for message in messages]
    return found


def check_familiar_names(root: Path, path: Path) -> list[Finding]:
    """Return findings for snippet definitions used on a page that have the name of something in PyTorch or mathematics."""
    name = path.relative_to(root / "docs").as_posix()
    shown = unshown_code_lint.find_shown_statements(root, read_pages(root))
    return [
        Finding(f"docs/{name}:{line}", message)
        for line, message in unshown_code_lint.find_misleading_names(root, name, read_text(path), shown)
    ]


def check_import_calls_shown(root: Path, topic: str) -> list[Finding]:
    """Return findings for statements of a topic's snippet that call something on import and that no page shows."""
    try:
        shown = unshown_code_lint.find_shown_statements(root, read_pages(root))
        return [
            Finding(f"{code_path(topic)}:{line}", message) for line, message in unshown_code_lint.find_unshown_calls(root, topic, shown)
        ]
    except SyntaxError:
        return []


def check_meanings(root: Path, topic: str) -> list[Finding]:
    """Return findings for names in a snippet that may not mean what readers expect.

    These are names bound twice, definitions that examples use and no page shows, and violations of example_rules.py."""
    snippet = read_snippet(root, topic)
    try:
        faults = [
            *example_rules.find_example_faults(snippet),
            *unshown_code_lint.find_unshown_in_examples(root, topic, unshown_code_lint.find_shown_statements(root, read_pages(root))),
            *((line, BOUND_TWICE.format(name=name, first=first)) for name, line, first in snippet.names_bound_twice()),
        ]
    except (SyntaxError, ValueError):
        return []
    return [Finding(f"{snippet.file}:{line}", message) for line, message in faults]


def find_used_names(source: str) -> set[str]:
    """Return the names and attributes that code uses, without those that it only imports. Raise SyntaxError if it is not Python."""
    nodes = Snippet("", source).nodes
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


# Figures and claims -------------------------------------------------------------------------------------------------------------


def find_figures(root: Path, topic: str) -> dict[str, int]:
    """Return the functions of a topic's file of figures that draw a picture, with their lines. Raise SyntaxError if it is not Python."""
    file = f"docs/figures/{topic}.py"
    functions = [node for node in parse(file, read_text(root / file)).definitions.values() if isinstance(node, ast.FunctionDef)]
    return {node.name: node.lineno for node in functions if node.returns and ast.unparse(node.returns) == "Picture" and not node.args.args}


def check_figures_shown(root: Path, topic: str) -> list[Finding]:
    """Return findings for pictures of a topic that no page shows, and for a file of figures that is not Python."""
    name = f"docs/figures/{topic}.py"
    try:
        figures = find_figures(root, topic)
    except SyntaxError as error:
        return [Finding(f"{name}:{error.lineno}", f"this is not Python: {error.msg}")]
    shown = {name for text in read_pages(root).values() for name in FIGURE.findall(text)}
    return [
        Finding(
            f"{name}:{line}",
            f"no page shows the picture {figure!r}; show it with '/// figure | {topic}:{figure}', or begin its name with _",
        )
        for figure, line in figures.items()
        if f"{topic}:{figure}" not in shown
    ]


def check_typed_numbers(root: Path, topic: str) -> list[Finding]:
    """Return findings for pictures of a topic that show typed numbers as results."""
    name = f"docs/figures/{topic}.py"
    try:
        return [
            Finding(f"{name}:{line}", message)
            for line, message in hardcoded_numbers.find_typed_numbers(parse(name, read_text(root / name)))
        ]
    except SyntaxError:
        return []


def check_settings(root: Path) -> list[Finding]:
    """Return findings for relations in the texts of mkdocs.yml that readers see."""
    return [
        Finding(f"mkdocs.yml:{line}", message) for line, message in hardcoded_numbers.find_stated_relations(read_text(root / "mkdocs.yml"))
    ]


def find_unshown_claims(topic: str, page: str) -> list[str]:
    """Return the ids of the topic's claims that its page does not show. Raise CertificateError."""
    if re.search(rf"^/// derivation \| {topic}$", page, flags=re.M):
        return []
    shown = set(re.findall(rf"^/{{3,}} (?:{'|'.join(RANKS)}) \| {topic}#([\w-]+)$", page, flags=re.M))
    return [claim["id"] for claim in load(topic)["claims"] if claim["id"] not in shown]


def check_claims_shown(root: Path, topic: str) -> list[Finding]:
    """Return findings for a topic without a page, and for claims that its page does not show."""
    page, name = read_text(root / "docs" / f"{topic}.md"), f"docs/{topic}.md"
    if not page:
        return [Finding(name, "the topic has no page, or an empty page; write it")]
    try:
        left_out = find_unshown_claims(topic, page)
    except CertificateError:
        return []
    return [Finding(name, f"the page does not show the claim {claim!r}; show it with '/// claim | {topic}#{claim}'") for claim in left_out]


# All checks ---------------------------------------------------------------------------------------------------------------------


def check_topic(root: Path, topic: str, version: int) -> list[Finding]:
    """Return all findings for a topic's page, code and figures, sorted by file and line.

    Rendered pages are cached by `version`: pass another number whenever something that pages depend on may have changed."""
    page = root / "docs" / f"{topic}.md"
    found = [
        *check_marks(root, topic),
        *check_regions_shown(root, topic),
        *check_regions_run(root, topic),
        *check_whole_statements(root, topic),
        *check_words(root, topic),
        *check_claimed_code_shown(root, topic),
    ]
    found += [*check_used_code_shown(root, topic), *check_import_calls_shown(root, topic), *check_meanings(root, topic)]
    found += [*check_figures_shown(root, topic), *check_typed_numbers(root, topic), *check_claims_shown(root, topic), *check_settings(root)]
    if page.is_file():
        found += [
            *check_fences(root, page),
            *check_strong_sentences(root, page),
            *check_familiar_names(root, page),
            *check_rendering(root, page, version),
            *check_links(root, page, version),
        ]
    return sorted(set(found), key=lambda finding: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(finding))])
