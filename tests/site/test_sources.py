"""Tests of docs/sources.toml: every row names claims that appear on their pages, and tests."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.store.certificates import load

ROOT = Path(__file__).parents[2]
ROWS = tomllib.loads((ROOT / "docs/sources.toml").read_text(encoding="utf-8"))["row"]
PAGE = (ROOT / "docs/sources.md").read_text(encoding="utf-8")

REQUIRED = [
    "U1",
    "U2",
    "U3",
    "U4",
    "U5",
    "U6",
    "U7",
    "U8",
    "U9",
    "U10",
    "U11",
    "U12",
    "U13",
    "U14",
    "U15",
    "U16",
    "U17",
    "U18",
    "N1",
    "N2",
    "N3",
    "N4",
    "N5",
    "N6",
    "N7",
    "N8",
    "V1",
    "V2",
    "V3",
    "V4",
    "V5",
    "V6",
    "V7",
    "V8",
    "V9",
    "V10",
    "V11",
    "D1",
    "D2",
    "D3",
    "D4",
    "E1",
    "E2",
    "E3",
    "E4",
    "E5",
    "E6",
    "E7",
    "E8",
    "E9",
    "F1",
    "F2",
    "F3",
    "F4",
    "F5",
    "F6",
    "F7",
    "F8",
    "F9",
    "F10",
    "F11",
    "F12",
    "F13",
    "F14",
    "F15",
    "F16",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "16",
    "17",
    "18",
    "19",
    "20",
    "21",
    "22",
    "23",
    "24",
    "25",
    "26",
    "27",
    "28",
    "29",
    "30",
    "31",
    "32",
    "33",
    "34",
    "35",
    "36",
    "37",
    "38",
    "39",
    "40",
    "41",
    "42",
    "43",
    "44",
    "45",
    "46",
    "47",
    "48",
    "49",
    "50",
]

# This statement says that two things differ, so a claim that they are equal refutes it.
DIFFERS = {"F12"}


@cache
def kinds(topic):
    """Return the kinds of a topic's claims, by id."""
    return {claim["id"]: claim["kind"] for claim in load(topic)["claims"]}


@cache
def text(path):
    return (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""


@cache
def functions(path):
    tree = ast.parse(text(path))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def not_the_required(rows):
    found = [row["id"] for row in rows]
    return sorted(set(REQUIRED) ^ set(found)) + sorted({one for one in found if found.count(one) > 1})


def without_a_page(rows):
    topics = {topic for row in rows for topic in [claim.partition("#")[0] for claim in row["claims"]] + row.get("pages", [])}
    return sorted(topic for topic in topics if not text(f"docs/{topic}.md")) + [
        row["id"] for row in rows if not row["claims"] and not row.get("pages")
    ]


def without_a_claim(rows):
    named = {claim for row in rows for claim in row["claims"]}
    return sorted(claim for claim in named if claim.partition("#")[2] not in kinds(claim.partition("#")[0]))


def not_on_its_page(rows):
    named = {claim for row in rows for claim in row["claims"]}
    return sorted(claim for claim in named if not shown(claim, text(f"docs/{claim.partition('#')[0]}.md")))


def shown(claim, page):
    return re.search(rf"^/{{3,}} (?:(?:theorem|claim|routine) \| {claim}|derivation \| {claim.partition('#')[0]})$", page, flags=re.M)


def not_refuted(rows):
    """Return false statements without a refutation. A statement that two things differ needs a claim that they are equal."""
    wrong = []
    for row in rows:
        if row["id"].startswith("F"):
            found = {kinds(claim.partition("#")[0])[claim.partition("#")[2]] for claim in row["claims"]}
            expected = "identity" if row["id"] in DIFFERS else "refutation"
            wrong += [row["id"]] * (expected not in found)
    return wrong


def not_told(rows):
    """Return the false statements that the page of false statements does not refute by one of their claims."""
    return [
        row["id"]
        for row in rows
        if row["id"].startswith("F") and not any(f"\n/// claim | {claim}\n" in text("docs/wrong.md") for claim in row["claims"])
    ]


def without_a_test(rows):
    named = {test for row in rows for test in row["tests"]}
    return [row["id"] for row in rows if not row["tests"]] + sorted(
        test for test in named if test.partition("::")[2] not in functions(test.partition("::")[0])
    )


FIGURE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?!\w)")

# Published facts about models, of the text and of others. No test can compute them.
NOT_COMPUTED = {"V7"}


def figures(words):
    return {float(figure) for figure in FIGURE.findall(words)}


@cache
def numbers(path):
    """Return the numbers in each test of a file: its constants and the numbers in its strings, without signs.

    Comments and the docstring do not count.
    """
    found = {}
    for test in ast.parse(text(path)).body:
        if isinstance(test, ast.FunctionDef):
            body = test.body[1:] if ast.get_docstring(test) else test.body
            constants = [node.value for part in [*test.decorator_list, *body] for node in ast.walk(part) if isinstance(node, ast.Constant)]
            found[test.name] = {float(one) for one in constants if isinstance(one, int | float)}
            found[test.name] |= {figure for one in constants if isinstance(one, str) for figure in figures(one)}
    return found


def without_their_figures(rows):
    """Return the numbers in the rows' statements and corrections that appear in no test of their row."""
    missing = []
    for row in rows:
        if re.match("[UNVDE]", row["id"]) and row["id"] not in NOT_COMPUTED:
            named = [test.partition("::") for test in row["tests"]]
            tested = {number for path, _, name in named for number in numbers(path)[name]}
            missing += [f"{row['id']}: {figure:g}" for figure in sorted(figures(row["says"] + " " + row.get("right", "")) - tested)]
    return missing


CHECKS = (not_the_required, without_a_page, without_a_claim, not_on_its_page, not_refuted, not_told, without_a_test, without_their_figures)


@pytest.mark.parametrize("check", CHECKS)
def test_rows_of_the_site_have_no_fault(check):
    assert check(ROWS) == []


def changed(wanted, **fields):
    assert any(row["id"] == wanted for row in ROWS)
    return [row | fields if row["id"] == wanted else row for row in ROWS]


FAULTS = {
    "a row is missing": (not_the_required, [row for row in ROWS if row["id"] != "N5"], ["N5"]),
    "a row stands twice": (not_the_required, ROWS + ROWS[:1], ["U1"]),
    "a row that is none": (not_the_required, changed("N5", id="N9"), ["N5", "N9"]),
    "no page": (without_a_page, changed("U11", pages=["simplify/nowhere"]), ["simplify/nowhere"]),
    "nothing at all": (without_a_page, changed("U11", pages=[]), ["U11"]),
    "no such claim": (without_a_claim, changed("U1", claims=["scaling/variance#means"]), ["scaling/variance#means"]),
    "not on its page": (not_on_its_page, changed("U1", claims=["scaling/variance#mean", "scaling/normal#mean"]), ["scaling/normal#mean"]),
    "not refuted": (not_refuted, changed("F1", claims=["simplify/bilinear#merged"]), ["F1"]),
    "not shown to be equal": (not_refuted, changed("F12", claims=["heads/module#by-name"]), ["F12"]),
    "not told": (not_told, changed("F4", claims=["scaling/variance#squared-width"]), ["F4"]),
    "another figure": (without_their_figures, changed("N8", says="Scores without a scale reach 25.8."), ["N8: 25.8"]),
    "another figure beside it": (without_their_figures, changed("E4", right="It is 1.9366, 6.6831 and 1.5952."), ["E4: 1.5952"]),
    "no test": (without_a_test, changed("E3", tests=[]), ["E3"]),
    "no such test": (
        without_a_test,
        changed("E3", tests=["tests/example/test_closed.py::test_nothing"]),
        ["tests/example/test_closed.py::test_nothing"],
    ),
    "no such file": (without_a_test, changed("E3", tests=["tests/nowhere.py::test_nothing"]), ["tests/nowhere.py::test_nothing"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(fault):
    check, rows, expected = FAULTS[fault]
    assert check(rows) == expected


def test_page_shows_every_group():
    shown = re.findall(r"^/// sources \| (\w+)$", PAGE, flags=re.M)
    assert sorted(shown) == sorted({re.sub(r"\d", "", row["id"]) or "numbered" for row in ROWS})


# The block --------------------------------------------------------------------------------------------------------------

SAMPLE = """
[[row]]
id = "U1"
says = "The variance of $d_k$ terms, in `code`."
right = "It is set right."
claims = ["scaling/variance#mean", "scaling/variance#variance", "simplify/bilinear#merged"]
tests = []

[[row]]
id = "7"
says = "A page alone."
claims = []
pages = ["scaling/variance"]
tests = []
"""


@pytest.fixture
def listed(page, tmp_path):
    """Return a function that shows a group of the sample, or of a changed sample, on a page with the given name."""
    for topic in ("scaling/variance", "simplify/bilinear"):
        path = tmp_path / "docs" / f"{topic}.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"# The page {topic}\n")

    def show(group="U", name="sources.md", sample=SAMPLE):
        (tmp_path / "docs/sources.toml").write_text(sample)
        return BeautifulSoup(page(f"# Title\n\n/// sources | {group}\n///\n", name=name), "html.parser")

    return show


@pytest.mark.parametrize("name, up", [("sources.md", ""), ("notes/sources.md", "../")])
def test_row_links_to_its_claims(listed, name, up):
    (row,) = listed(name=name).select("tr")
    assert row["id"] == "row-u1" and row.th.text == "U1"
    assert [p.text for p in row.select(".rows__says p")] == ["The variance of dk terms, in code.", "It is set right."]
    assert row.select_one(".rows__says math") and row.select_one(".rows__says code")
    assert [(a["href"], a.text) for a in row.select("a")] == [
        (up + "scaling/variance.md", "The page scaling/variance"),
        (up + "scaling/variance.md#mean", "mean"),
        (up + "scaling/variance.md#variance", "variance"),
        (up + "simplify/bilinear.md", "The page simplify/bilinear"),
        (up + "simplify/bilinear.md#merged", "merged"),
    ]
    assert row.li.text == "The page scaling/variance: mean, variance"


def test_row_may_refer_to_a_page(listed):
    (row,) = listed("numbered").select("tr")
    assert row.th.text == "7" and [a["href"] for a in row.select("a")] == ["scaling/variance.md"]
    assert not row.select(".rows__right")


@pytest.mark.parametrize(
    ("group", "old", "new", "message"),
    [
        ("X", "", "", "docs/sources.md:3: expected '/// sources | GROUP' with a group of U, numbered, found 'X'"),
        ("U", "#mean", "#means", "docs/sources.md:3: row U1 names 'scaling/variance#means', which is not a claim"),
        ("U", "#mean", "", "docs/sources.md:3: row U1 names 'scaling/variance', which is not a claim"),
        ("U", "scaling/variance#mean", "scaling/no#mean", "docs/sources.md:3: 'scaling/no' has no certificate"),
        (
            "numbered",
            '"scaling/variance"]',
            '"scaling/no"]',
            "docs/sources.md:3: docs/scaling/no.md is not a page that begins with a heading",
        ),
        ("U", "says =", "told =", "docs/sources.md:3: docs/sources.toml is not a list of rows with id, says and claims"),
        ("U", "[[row]]", "[[row", "docs/sources.md:3: docs/sources.toml is not a list of rows with id, says and claims"),
        ("U", "set right", "a = b", "docs/sources.md: '=' states a relation in prose"),
        ("U", "$d_k$", "$d = k$", "docs/sources.md: $d = k$ states a relation"),
    ],
)
def test_invalid_rows_stop_the_build(listed, group, old, new, message):
    from derivations.kernel.site import PageError

    with pytest.raises(PageError) as caught:
        listed(group, sample=SAMPLE.replace(old, new) if old else SAMPLE)
    assert caught.value.format_message().startswith(message)


def test_missing_file_is_rejected(refused):
    assert refused("/// sources | U\n///\n") == "docs/notes/page.md:1: there is no docs/sources.toml"
