"""What the tests refuse of a page and of the code on it, as findings: file, line, what is wrong, what to do.

One definition for all: tests/site asks it of the whole site, `check --page` and `check --watch` of one topic.
"""

import ast
import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from tokenize import TokenError
from urllib.parse import unquote, urlsplit

import yaml
from markdown import Markdown

from ..check.shown_code import BOUND_TWICE
from ..printing.relation_signs import fault_of_code, fault_of_text
from ..snippet_source import Origin, Region, Snippet, doctest_examples, doctest_parts, parse
from ..store.certificates import CertificateError, load
from . import code_fences, example_rules, hardcoded_numbers, page_errors, snippet_usage
from .code_regions import INCLUDE, home, library, line_at, snippet_of, text_of
from .page_source import RANKS

FIGURE = re.compile(r"^/// figure \| (\S+)(?: play=\w+)?$", re.M)
_SHAPE = r"\([\w*,. ]*\)"  # sizes, numbers, products of them, and whatever comes before
SHAPES = re.compile(rf"(?:{_SHAPE}[ ,]*)+->(?: *{_SHAPE})+")  # (n, d) (d, m) -> (n, m)
PHRASE = re.compile(r"[^\W\d_][\w]* +[^\W\d_]")  # two words, and no two sizes
RULER = re.compile(r"-{3,}$")


@dataclass(frozen=True, order=True)
class Finding:
    """Something that is refused, on a line."""

    place: str  # "file:line", or "file"
    message: str

    def __str__(self):
        return f"{self.place}: {self.message}"


def pages(root: Path) -> dict[Path, str]:
    return {path: text_of(path) for path in sorted((root / "docs").rglob("*.md"))}


def topics_with_snippets(root: Path) -> list[str]:
    return [path.relative_to(root / "snippets").with_suffix("").as_posix() for path in sorted((root / "snippets").rglob("*.py"))]


def place_of_region(snippet: Snippet, region: Region) -> str:
    return f"{snippet.file}:{region.first - 1}"


# Code -------------------------------------------------------------------------------------------------------------------------


def typed_by_hand(root: Path, path: Path) -> list[Finding]:
    """Fences that are no include, includes of nothing, and markup that would be a way around a fence."""
    name = path.relative_to(root).as_posix()
    return [Finding(f"{name}:{line}", said) for line, _, said in code_fences.by_hand(text_of(path), root)]


def unshown(root: Path, topic: str) -> list[Finding]:
    """Sections of a topic's snippet that no page shows."""
    shown, snippet = included_regions(root), snippet_of(root, topic)
    return [
        Finding(place_of_region(snippet, one), f"no page shows the section {name!r}; show it in a fence, or take its marks away")
        for name, one in snippet.regions.items()
        if (topic, name) not in shown
    ]


def included_regions(root: Path) -> set[tuple[str, str]]:
    """Return (topic, name) of all regions that pages include."""
    return {(include["topic"], include["section"]) for text in pages(root).values() for include in INCLUDE.finditer(text)}


def unrun(root: Path, topic: str) -> list[Finding]:
    """Sections that no test runs: output outside a docstring, or code of which some function is never used by the topic's tests or
    examples. To be imported is not enough."""
    wrong = []
    snippet = snippet_of(root, topic)
    try:
        examples = "".join(one.source for one in doctest_examples(snippet.docstring))
        chapter, _, last = topic.rpartition("/")
        used = names(examples) | names(text_of(root / "tests" / chapter / f"test_{last}.py"))
        for region in snippet.regions.values():
            wrong += [Finding(place_of_region(snippet, region), said) for said in unrun_region(snippet, region, examples, used)]
    except SyntaxError as error:
        wrong.append(Finding(f"{snippet.file}:{error.lineno}", f"this, its examples or its tests are not Python: {error.msg}"))
    except ValueError as error:
        wrong.append(Finding(snippet.file, f"its examples cannot be read: {error}"))
    return wrong


def unrun_region(snippet: Snippet, region: Region, examples: str, used: set[str]) -> list[str]:
    if region.is_example:
        there = all(example.source in examples for example in doctest_examples(region.body))
        return [] if there else [f"{region.name} is not in the docstring of its module, where doctest would run it; move it there"]
    defined = defined_in(snippet, region)
    if not defined:
        return [f"{region.name} defines nothing that a test could run; put it into a function"]
    return [f"{region.name}: {one} is in no test and no example; test it" for one in sorted(defined - used)]


def defined_in(snippet: Snippet, region: Region) -> set[str]:
    """Return the functions and classes of a module that begin in a region. Raises SyntaxError."""
    return {name for name, node in snippet.definitions.items() if node.lineno in region.lines}


def wrongly_marked(root: Path, topic: str) -> list[Finding]:
    """Marks of sections by which a page would not show what is there, and examples that are not compared."""
    snippet = snippet_of(root, topic)
    return [Finding(f"{snippet.file}:{line}", said) for line, said in snippet.mark_faults]


def misplaced(root: Path, topic: str) -> list[Finding]:
    """Sections of code that are other than statements of their module: lines of a text, a function without what is below or its decorator."""
    snippet = snippet_of(root, topic)
    try:
        code = [one for one in snippet.regions.values() if not one.is_example]
        return [Finding(f"{snippet.file}:{line}", said) for region in code for line, said in cut(snippet, region)]
    except SyntaxError:
        return []  # that is said of its own


def cut(snippet: Snippet, region: Region) -> Iterator[tuple[int, str]]:
    """Statements of which a section of code shows some lines, and not all."""
    for one in snippet.statements:
        inside = [line in region.lines for line in one.lines]
        if any(inside) and not all(inside):
            yield one.first, f"{region.name} shows some of the lines {one.first} to {one.last}, which are one statement; show all of them"


def claims_of(topic: str) -> list[dict]:
    try:
        return load(topic)["claims"]
    except CertificateError:
        return []  # that is said of its own


def stated_in_words(root: Path, topic: str) -> list[Finding]:
    """Docstrings, comments and texts of a snippet that state a relation: a page shows them, and no witness looks at words."""
    snippet = snippet_of(root, topic)
    try:
        told = [*comments(snippet), *docstrings(snippet), *told_by_code(snippet)]
    except (SyntaxError, TokenError, ValueError):
        return []  # that is said of its own
    return [
        Finding(f"{snippet.file}:{line}", f"{words.strip()!r} {fault}; show a claim of it, or say it in words")
        for line, words, fault in told
        if fault
    ]


def comments(snippet: Snippet) -> Iterator[tuple[int, str, str]]:
    """(line, words, what is wrong with them) for each comment, but for the marks of sections."""
    for line, comment in snippet.comments:
        if "--8<--" not in comment:
            words = comment.lstrip("#! ")
            yield line, words, fault_of_words(words)


def docstrings(snippet: Snippet) -> Iterator[tuple[int, str, str]]:
    """The same for each paragraph of a text that stands by itself, and for what the examples in it say in words: they are run, but what
    they print may be anything."""
    for node in snippet.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            line = node.lineno
            for part in doctest_parts(node.value.value):
                if isinstance(part, doctest.Example):
                    first = node.lineno + part.lineno
                    yield from ((first, words, fault) for words, fault in of_example(part))
                    line = first + part.source.count("\n") + part.want.count("\n")
                    continue
                for words in part.split("\n"):
                    if "--8<--" not in words:
                        yield line, words, fault_of_words(words)
                    line += 1
                line -= 1


def told_by_code(snippet: Snippet) -> Iterator[tuple[int, str, str]]:
    """The same for each text in the code of a section, and for what is raised anywhere: a reader meets both. What is left are patterns,
    options and the like."""
    lines = {line for region in snippet.regions.values() for line in region.lines}
    for node in snippet.nodes:
        if isinstance(node, ast.Raise):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    yield from ((line, words, fault_of_words(words)) for line, words in texts_of(snippet.tree) if line in lines)


def texts_of(node: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) for the texts in code, but for those that stand by themselves. What a text is filled with counts as a name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        yield node.lineno, "".join(one.value if isinstance(one, ast.Constant) else "a" for one in node.values)
        parts = [one.value for one in node.values if isinstance(one, ast.FormattedValue)]
        yield from (text for part in parts for text in texts_of(part))
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) and not is_einsum(node):
        yield from (text for part in ast.iter_child_nodes(node) for text in texts_of(part))


def is_einsum(node: ast.AST) -> bool:
    """Whether this is einsum's call, whose text is a program: its arrow is read by PyTorch."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "einsum"


def of_example(example: doctest.Example) -> Iterator[tuple[str, str]]:
    """(words, what is wrong with them) for the texts in an example, and for what it gives: values, or else words."""
    yield from ((text, fault_of_text(text)) for text in texts_in(example.source))
    try:
        yield from ((text, fault_of_text(text)) for text in texts_in(example.want.strip() or "None"))
        yield example.want, fault_of_code(example.want)
    except SyntaxError:
        yield from ((words, fault_of_text(words)) for words in example.want.split("\n"))


def texts_in(code: str) -> list[str]:
    """The texts that stand in code, pieces of texts too."""
    return [node.value for node in Snippet("", code).nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def fault_of_words(words: str) -> str:
    """What a line of words says or holds that it may not. Shapes may be followed by the shape that they give; a ruler is no dash."""
    parts = RULER.sub("", SHAPES.sub(without_sizes, words)).split("`")
    return next(filter(None, [fault_of_text("".join(parts[::2])), *map(fault_of_code, parts[1::2])]), "")


def without_sizes(shapes: re.Match) -> str:
    """Nothing of shapes that hold sizes; all of what holds words."""
    return shapes[0] if PHRASE.search(shapes[0]) else ""


def claimed_unshown(root: Path, topic: str) -> list[Finding]:
    """Functions that the topic's claims name as their code, and that no page shows."""
    shown = included_regions(root)
    return [
        Finding(
            f"derivations/{topic}.py:{claim['line']}",
            f"the claim '{claim['id']}' names {name}, and no page shows its lines; show them in a fence, or name what is shown",
        )
        for claim in claims_of(topic)
        for name in claim["code"]
        if not is_shown(root, name, shown)
    ]


def is_shown(root: Path, name: str, shown: set[tuple[str, str]]) -> bool:
    """Return whether a function, `snippets.chapter.topic.function`, is defined in a region that a page includes."""
    module, _, function = name.removeprefix("snippets.").rpartition(".")
    topic = module.replace(".", "/")
    snippet = snippet_of(root, topic)
    try:
        regions = (one for one in snippet.regions.values() if (topic, one.name) in shown and not one.is_example)
        return any(function in defined_in(snippet, one) for one in regions)
    except SyntaxError:
        return False


def used_unshown(root: Path, topic: str) -> list[Finding]:
    """What the functions use that the topic's claims name, or that its sections show, and no page shows."""
    where = snippet_usage.shown(root, pages(root))
    wrong = []
    for claim in claims_of(topic):
        for name in claim["code"]:
            for said in snippet_usage.unshown(root, library(root).definition(Origin(*name.rsplit(".", 1))), where):
                wrong.append(Finding(f"derivations/{topic}.py:{claim['line']}", f"the claim '{claim['id']}' names {name}: {said}"))
    for one in where:
        if one.file == home(topic):
            wrong += [
                Finding(f"{one.file}:{one.first}", f"on a page: {said}")
                for said in snippet_usage.unshown(root, one, where, constants=False)
            ]
    return wrong


def taken_names(root: Path, path: Path) -> list[Finding]:
    """Names on a page that a reader takes for PyTorch's."""
    name = path.relative_to(root / "docs").as_posix()
    where = snippet_usage.shown(root, pages(root))
    return [Finding(f"docs/{name}:{line}", said) for line, said in snippet_usage.taken(root, name, text_of(path), where)]


def loaded_unshown(root: Path, topic: str) -> list[Finding]:
    """Lines of a topic's snippet that call something while it is loaded, and that no page shows."""
    try:
        return [
            Finding(f"{home(topic)}:{line}", said)
            for line, said in snippet_usage.loaded(root, topic, snippet_usage.shown(root, pages(root)))
        ]
    except SyntaxError:
        return []  # that is said of its own


def misleading(root: Path, topic: str) -> list[Finding]:
    """Lines of a topic's snippet, or of the examples in it, by which a name means something else than a reader takes it for."""
    snippet = snippet_of(root, topic)
    try:
        twice = [(line, BOUND_TWICE.format(name=name, first=first)) for name, line, first in snippet.names_bound_twice()]
        told = [
            *example_rules.faults(snippet),
            *snippet_usage.unshown_in_examples(root, topic, snippet_usage.shown(root, pages(root))),
            *twice,
        ]
    except (SyntaxError, ValueError):
        return []  # that is said of its own
    return [Finding(f"{snippet.file}:{line}", said) for line, said in told]


def names(source: str) -> set[str]:
    """What the code uses, by name or as an attribute; an import alone uses nothing."""
    nodes = Snippet("", source).nodes
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


# Pictures and claims ------------------------------------------------------------------------------------------------------------


def figures_of(root: Path, topic: str) -> dict[str, int]:
    """The functions of a topic's file of figures that return a picture, and their lines."""
    file = f"docs/figures/{topic}.py"
    functions = [node for node in parse(file, text_of(root / file)).definitions.values() if isinstance(node, ast.FunctionDef)]
    return {one.name: one.lineno for one in functions if one.returns and ast.unparse(one.returns) == "Picture" and not one.args.args}


def unshown_figures(root: Path, topic: str) -> list[Finding]:
    """Functions that return a picture which no page shows."""
    name = f"docs/figures/{topic}.py"
    try:
        made = figures_of(root, topic)
    except SyntaxError as error:
        return [Finding(f"{name}:{error.lineno}", f"this is not Python: {error.msg}")]
    shown = {name for text in pages(root).values() for name in FIGURE.findall(text)}
    return [
        Finding(f"{name}:{line}", f"no page shows the picture {one!r}; show it with '/// figure | {topic}:{one}', or begin its name with _")
        for one, line in made.items()
        if f"{topic}:{one}" not in shown
    ]


def typed_numbers(root: Path, topic: str) -> list[Finding]:
    """Numbers that a topic's pictures show as results, and that are typed by hand."""
    name = f"docs/figures/{topic}.py"
    try:
        return [Finding(f"{name}:{line}", said) for line, said in hardcoded_numbers.in_figures(parse(name, text_of(root / name)))]
    except SyntaxError:
        return []  # that is said of its own


def settings(root: Path) -> list[Finding]:
    """Relations in what mkdocs.yml says to readers."""
    return [Finding(f"mkdocs.yml:{line}", said) for line, said in hardcoded_numbers.in_settings(text_of(root / "mkdocs.yml"))]


def unshown_claims(topic: str, page: str) -> list[str]:
    """The ids of the topic's claims that its page does not show. Raises CertificateError."""
    if re.search(rf"^/// derivation \| {topic}$", page, flags=re.M):
        return []
    shown = set(re.findall(rf"^/{{3,}} (?:{'|'.join(RANKS)}) \| {topic}#([\w-]+)$", page, flags=re.M))
    return [claim["id"] for claim in load(topic)["claims"] if claim["id"] not in shown]


def claims_left_out(root: Path, topic: str) -> list[Finding]:
    page, name = text_of(root / "docs" / f"{topic}.md"), f"docs/{topic}.md"
    if not page:
        return [Finding(name, "the topic has no page, or an empty one; write it")]
    try:
        return [
            Finding(name, f"the claim {one!r} is left out; show it with '/// claim | {topic}#{one}'") for one in unshown_claims(topic, page)
        ]
    except CertificateError:
        return []  # that is said of its own


# The page as it is rendered -----------------------------------------------------------------------------------------------------


class Configuration(yaml.SafeLoader):
    """mkdocs.yml; what only MkDocs understands in it, such as !ENV, is passed over."""


Configuration.add_multi_constructor("", lambda loader, suffix, node: None)


def markdown(root: Path) -> Markdown:
    """Markdown as mkdocs.yml asks for it."""
    listed = yaml.load(text_of(root / "mkdocs.yml"), Configuration).get("markdown_extensions", [])
    options = {name: more or {} for entry in listed for name, more in (entry.items() if isinstance(entry, dict) else [(entry, {})])}
    if "pymdownx.snippets" in options:
        bases = options["pymdownx.snippets"].get("base_path", ["."])
        options["pymdownx.snippets"] = options["pymdownx.snippets"] | {"base_path": [str(root / base) for base in bases]}
    own = "derivations.kernel.site"
    options[own] = options.get(own, {}) | {"docs": str(root / "docs")}
    return Markdown(extensions=list(options), extension_configs=options)


@lru_cache(maxsize=256)
def _rendered(root: Path, path: Path, text: str, now: int) -> tuple[str, tuple[str, ...]]:
    body = re.sub(r"\A---[ \t]*\n.*?\n---[ \t]*\n", lambda match: match[0] if not_yaml(match[0]) else "", text, count=1, flags=re.S)
    with page_errors.collected() as found:
        html = markdown(root).convert(body.lstrip("\n"))
    return html, tuple(error.format_message() for error in found)


def not_yaml(front: str) -> bool:
    try:
        return not isinstance(yaml.safe_load(front.strip().strip("-")), dict)
    except yaml.YAMLError:
        return True


def rendering(root: Path, path: Path, now: int) -> list[Finding]:
    """Everything for which the page's own rendering would stop a build."""
    return [finding(said) for said in dict.fromkeys(_rendered(root, path, text_of(path), now)[1])]


def finding(said: str) -> Finding:
    place, _, message = said.partition(": ")
    return Finding(place, message)


class Addresses(HTMLParser):
    """The ids of a page and where its links lead."""

    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        self.links += [given["href"]] if tag == "a" and given.get("href") else []


def addresses(html: str) -> Addresses:
    reader = Addresses()
    reader.feed(html)
    return reader


def dead_links(root: Path, path: Path, now: int) -> list[Finding]:
    """Links to pages and to places on them that are not there. A link out of the site is the reader's."""
    html, _ = _rendered(root, path, text_of(path), now)
    wrong = []
    for link in dict.fromkeys(addresses(html).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if parts.path and not target.is_file():
            if target.suffix == ".md":
                wrong.append(Finding(place_of(root, path, link), f"the link {link!r} leads to no page; mend its path"))
        elif parts.fragment and target.suffix == ".md":
            there = addresses(_rendered(root, target, text_of(target), now)[0]).ids
            if unquote(parts.fragment) not in there:
                wrong.append(
                    Finding(place_of(root, path, link), f"the link {link!r} leads to no place on that page; mend what follows '#'")
                )
    return wrong


def place_of(root: Path, path: Path, link: str) -> str:
    text, name = text_of(path), path.relative_to(root).as_posix()
    return f"{name}:{line_at(text, text.index(link))}" if link in text else name


# All of it ----------------------------------------------------------------------------------------------------------------------


def of_topic(root: Path, topic: str, now: int) -> list[Finding]:
    """All that is refused of a topic's page, its code and its pictures, in the order of the files. `now` is a number that changes
    whenever what a page is made from may have changed."""
    page = root / "docs" / f"{topic}.md"
    found = [
        *wrongly_marked(root, topic),
        *unshown(root, topic),
        *unrun(root, topic),
        *misplaced(root, topic),
        *stated_in_words(root, topic),
        *claimed_unshown(root, topic),
    ]
    found += [*used_unshown(root, topic), *loaded_unshown(root, topic), *misleading(root, topic)]
    found += [*unshown_figures(root, topic), *typed_numbers(root, topic), *claims_left_out(root, topic), *settings(root)]
    if page.is_file():
        found += [*typed_by_hand(root, page), *taken_names(root, page), *rendering(root, page, now), *dead_links(root, page, now)]
    return sorted(set(found), key=lambda one: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(one))])
