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
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, TokenError, generate_tokens
from urllib.parse import unquote, urlsplit

import yaml
from markdown import Markdown

from ..printing.relation_signs import fault_of_code, fault_of_text
from ..run import as_shown
from ..store.certificates import CertificateError, load
from . import code_fences, code_regions, example_rules, hardcoded_numbers, page_errors, snippet_usage
from .code_regions import INCLUDE, home, line_at, sections, sections_of, text_of
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


def line_of_section(root: Path, topic: str, name: str) -> str:
    section = sections(text_of(root / home(topic))).get(name)
    return f"{home(topic)}:{section.first - 1 if section else 1}"


# Code -------------------------------------------------------------------------------------------------------------------------


def typed_by_hand(root: Path, path: Path) -> list[Finding]:
    """Fences that are no include, includes of nothing, and markup that would be a way around a fence."""
    name = path.relative_to(root).as_posix()
    return [Finding(f"{name}:{line}", said) for line, _, said in code_fences.by_hand(text_of(path), root)]


def unshown(root: Path, topic: str) -> list[Finding]:
    """Sections of a topic's snippet that no page shows."""
    shown = {(include["topic"], include["section"]) for text in pages(root).values() for include in INCLUDE.finditer(text)}
    return [
        Finding(line_of_section(root, topic, name), f"no page shows the section {name!r}; show it in a fence, or take its marks away")
        for name in sections_of(root, topic)
        if (topic, name) not in shown
    ]


def unrun(root: Path, topic: str) -> list[Finding]:
    """Sections that no test runs: output outside a docstring, or code of which some function is never used by the topic's tests or
    examples. To be imported is not enough."""
    wrong = []
    snippet = text_of(root / "snippets" / f"{topic}.py")
    try:
        examples = "".join(example.source for example in doctest.DocTestParser().get_examples(docstring(snippet)))
        chapter, _, last = topic.rpartition("/")
        used = names(examples) | names(text_of(root / "tests" / chapter / f"test_{last}.py"))
        for name, text in sections_of(root, topic).items():
            wrong += [Finding(line_of_section(root, topic, name), said) for said in unrun_section(name, text, examples, used)]
    except SyntaxError as error:
        wrong.append(Finding(f"snippets/{topic}.py:{error.lineno}", f"this, its examples or its tests are not Python: {error.msg}"))
    except ValueError as error:
        wrong.append(Finding(f"snippets/{topic}.py", f"its examples cannot be read: {error}"))
    return wrong


def unrun_section(name: str, text: str, examples: str, used: set[str]) -> list[str]:
    if ">>>" in text:
        there = all(example.source in examples for example in doctest.DocTestParser().get_examples(text))
        return [] if there else [f"{name} is not in the docstring of its module, where doctest would run it; move it there"]
    defined = {node.name for node in definitions(text)}
    if not defined:
        return [f"{name} defines nothing that a test could run; put it into a function"]
    return [f"{name}: {one} is in no test and no example; test it" for one in sorted(defined - used)]


def wrongly_marked(root: Path, topic: str) -> list[Finding]:
    """Marks of sections by which a page would not show what is there, and examples that are not compared."""
    return [Finding(f"{home(topic)}:{line}", said) for line, said in code_regions.mismarked(text_of(root / home(topic)))]


def misplaced(root: Path, topic: str) -> list[Finding]:
    """Sections of code that are other than statements of their module: lines of a text, a function without what is below or its decorator."""
    text = text_of(root / home(topic))
    try:
        return [Finding(f"{home(topic)}:{line}", said) for section in sections(text).values() for line, said in cut(text, section)]
    except SyntaxError:
        return []  # that is said of its own


def cut(text: str, section: code_regions.Section) -> Iterator[tuple[int, str]]:
    """Statements of which a section of code shows some lines, and not all."""
    for node in [] if section.example else ast.parse(text).body:
        lines = range(min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]), node.end_lineno + 1)
        inside = [line in section.lines for line in lines]
        if any(inside) and not all(inside):
            yield lines[0], f"{section.name} shows some of the lines {lines[0]} to {lines[-1]}, which are one statement; show all of them"


def definitions(text: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes at the top level."""
    return [node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def claims_of(topic: str) -> list[dict]:
    try:
        return load(topic)["claims"]
    except CertificateError:
        return []  # that is said of its own


def stated_in_words(root: Path, topic: str) -> list[Finding]:
    """Docstrings, comments and texts of a snippet that state a relation: a page shows them, and no witness looks at words."""
    source, name = text_of(root / "snippets" / f"{topic}.py"), f"snippets/{topic}.py"
    try:
        told = [*comments(source), *docstrings(source), *told_by_code(source)]
    except (SyntaxError, TokenError, ValueError):
        return []  # that is said of its own
    return [
        Finding(f"{name}:{line}", f"{words.strip()!r} {fault}; show a claim of it, or say it in words")
        for line, words, fault in told
        if fault
    ]


def comments(source: str) -> Iterator[tuple[int, str, str]]:
    """(line, words, what is wrong with them) for each comment, but for the marks of sections."""
    for token in generate_tokens(StringIO(source).readline):
        if token.type == COMMENT and "--8<--" not in token.string:
            words = token.string.lstrip("#! ")
            yield token.start[0], words, fault_of_words(words)


def docstrings(source: str) -> Iterator[tuple[int, str, str]]:
    """The same for each paragraph of a text that stands by itself, and for what the examples in it say in words: they are run, but what
    they print may be anything."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            line = node.lineno
            for part in doctest.DocTestParser().parse(node.value.value):
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


def told_by_code(source: str) -> Iterator[tuple[int, str, str]]:
    """The same for each text in the code of a section, and for what is raised anywhere: a reader meets both. What is left are patterns,
    options and the like."""
    tree = ast.parse(source)
    lines = {line for section in sections(source).values() for line in section.lines}
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    yield from ((line, words, fault_of_words(words)) for line, words in texts_of(tree) if line in lines)


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
    return [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def fault_of_words(words: str) -> str:
    """What a line of words says or holds that it may not. Shapes may be followed by the shape that they give; a ruler is no dash."""
    parts = RULER.sub("", SHAPES.sub(without_sizes, words)).split("`")
    return next(filter(None, [fault_of_text("".join(parts[::2])), *map(fault_of_code, parts[1::2])]), "")


def without_sizes(shapes: re.Match) -> str:
    """Nothing of shapes that hold sizes; all of what holds words."""
    return shapes[0] if PHRASE.search(shapes[0]) else ""


def claimed_unshown(root: Path, topic: str) -> list[Finding]:
    """Functions that the topic's claims name as their code, and that no page shows."""
    shown = {(include["topic"], include["section"]) for text in pages(root).values() for include in INCLUDE.finditer(text)}
    wrong = []
    for claim in claims_of(topic):
        for name in claim["code"]:
            home_, _, function = name.removeprefix("snippets.").rpartition(".")
            of = home_.replace(".", "/")
            sections = [text for section, text in sections_of(root, of).items() if (of, section) in shown and ">>>" not in text]
            if not any(function in defines(text) for text in sections):
                said = f"the claim '{claim['id']}' names {name}, and no page shows its lines; show them in a fence, or name what is shown"
                wrong.append(Finding(f"derivations/{topic}.py:{claim['line']}", said))
    return wrong


def used_unshown(root: Path, topic: str) -> list[Finding]:
    """What the functions use that the topic's claims name, or that its sections show, and no page shows."""
    where = snippet_usage.shown(root, pages(root))
    wrong = []
    for claim in claims_of(topic):
        for name in claim["code"]:
            for said in snippet_usage.unshown(root, snippet_usage.defined(root, *name.rsplit(".", 1)), where):
                wrong.append(Finding(f"derivations/{topic}.py:{claim['line']}", f"the claim '{claim['id']}' names {name}: {said}"))
    for one in where:
        if one.topic == topic:
            wrong += [
                Finding(f"{home(topic)}:{one.line}", f"on a page: {said}")
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
    text = text_of(root / home(topic))
    try:
        told = [*example_rules.faults(text), *snippet_usage.unshown_in_examples(root, topic, snippet_usage.shown(root, pages(root)))]
        found = [Finding(f"{home(topic)}:{line}", said) for line, said in told]
        as_shown.refuse_text(home(topic), text)
    except (SyntaxError, ValueError):
        return []  # that is said of its own
    except as_shown.NotAsShown as error:
        found.append(finding(str(error)))
    return found


def defines(text: str) -> set[str]:
    """The functions and classes at the top level of a section."""
    try:
        return {node.name for node in definitions(text)}
    except SyntaxError:
        return set()


def docstring(source: str) -> str:
    return ast.get_docstring(ast.parse(source), clean=False) or ""


def names(source: str) -> set[str]:
    """What the code uses, by name or as an attribute; an import alone uses nothing."""
    nodes = list(ast.walk(ast.parse(source)))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


# Pictures and claims ------------------------------------------------------------------------------------------------------------


def figures_of(root: Path, topic: str) -> dict[str, int]:
    """The functions of a topic's file of figures that return a picture, and their lines."""
    path = root / "docs" / "figures" / f"{topic}.py"
    functions = [node for node in ast.parse(text_of(path)).body if isinstance(node, ast.FunctionDef)]
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
        return [Finding(f"{name}:{line}", said) for line, said in hardcoded_numbers.in_figures(text_of(root / name))]
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
