"""The numbers of the trust page: counted from certificates, from the mutants' table, and from the kernel's own files."""

import ast
import re
from collections import Counter
from html import escape
from pathlib import Path

from ..run import coq_open, fuzz_kept, mutants_kept, whole_runs
from ..run.certificates import topics
from ..run.coq_results import load
from ..run.proofs import provers
from . import code_verdicts
from .claim_details import WITNESSES as NAMES

KERNEL = Path(__file__).resolve().parents[1]

# What every witness relies on: the tree, what a claim says, and that each witness is asked. A fault here can let a false claim
# through; a fault in one witness cannot, as long as another covers the claim.
SHARED = ("core",)
BESIDE = {
    "from a script to its claims": ("language",),
    "from a verdict to its page": ("run", "site"),
    "formulas as text": ("printing",),
    "the text of snippets": ("snippet_source",),
}
WITNESSES = {"exact": ("exact",), "SymPy": ("sympy",), "PyTorch": ("pytorch",), "Coq": ("coq",), "code": ("traced",)}
AROUND = {"attacks on the witnesses": ("attack",), "the command line": ("command",)}

Table = tuple[list[str], list[list[str]], str]  # head, rows, the command that reproduces it


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".v":
        return sum(bool(line.strip()) for line in re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL).splitlines())
    documented = {line for docstring in docstrings(ast.parse(text)) for line in range(docstring.lineno, docstring.end_lineno + 1)}
    return sum(line.strip()[:1] not in ("", "#") for number, line in enumerate(text.splitlines(), 1) if number not in documented)


def docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef):
    if ast.get_docstring(node, clean=False) is not None:
        yield node.body[0]
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (ast.ClassDef, ast.FunctionDef)):
            yield from docstrings(inner)


def all_claims() -> list[dict]:
    return [claim for topic in topics() for claim in load(topic)["claims"]]


def by_kind() -> Table:
    """How many claims of each kind reach how far."""
    claims = all_claims()
    scopes = [scope for scope, _ in Counter(c["scope"] for c in claims).most_common()]
    kinds = [kind for kind, _ in Counter(c["kind"] for c in claims).most_common()]
    count = Counter((c["kind"], c["scope"]) for c in claims)
    rows = [[kind, *(str(count[kind, scope] or "") for scope in scopes), str(sum(count[kind, s] for s in scopes))] for kind in kinds]
    rows.append(["all", *(str(sum(count[k, scope] for k in kinds)) for scope in scopes), str(len(claims))])
    return ["kind", *scopes, "all"], rows, "python -m derivations check --fresh --json"


def by_witness() -> Table:
    """For how many claims each witness vouches, and how far it reaches where it does."""
    claims, rows = all_claims(), []
    for name in dict.fromkeys(w["name"] for c in claims for w in c["witnesses"]):
        verdicts = [w for c in claims for w in c["witnesses"] if w["name"] == name and w["verdict"] != "not applicable"]
        reach = ", ".join(f"{n} {scope}" for scope, n in Counter(w["scope"] for w in verdicts).most_common())
        rows.append([NAMES.get(name, name), str(len(verdicts)), reach])
    several = Counter(sum(w["verdict"] != "not applicable" for w in c["witnesses"]) for c in claims if c["kind"] != "definition")
    rows.append(["claims by number of witnesses", str(sum(several.values())), ", ".join(f"{k} by {n}" for n, k in sorted(several.items()))])
    return ["witness", "claims", "how far"], rows, "python -m derivations check --fresh --json && python -m derivations coq"


def by_code() -> Table:
    """How many of the claims that name code have it proved to compute them, and how far."""
    found = code_verdicts.counts(all_claims())
    rows = [[reach, str(count)] for reach, count in found.items()]
    return ["the code of a claim is shown to compute it at", "claims"], [*rows, ["all that name code", str(sum(found.values()))]], CODE


CODE = "python -m derivations code"


def in_numbers_alone() -> list[tuple[str, str]]:
    """Each claim whose code is compared in numbers alone, and why."""
    found = [(f"{topic}#{claim['id']}", claim) for topic in topics() for claim in load(topic)["claims"]]
    return [(name, code_verdicts.note(claim)) for name, claim in found if claim.get("computed", {}).get("state") == "not read"]


def alone() -> list[tuple[str, str]]:
    """Each claim that one witness alone proves, and no more of it."""
    return [
        (f"{topic}#{claim['id']}", "")
        for topic in topics()
        for claim in load(topic)["claims"]
        if claim["kind"] != "definition" and len(provers(claim)) == 1
    ]


def not_by_coq() -> list[tuple[str, str]]:
    """Each claim that Coq can state and does not prove, and why."""
    return sorted(coq_open.reasons().items())


# By name: what lists claims, and what is said where there is none.
LISTS = {
    "alone": (alone, "none; each claim has two proofs or more."),
    "open": (not_by_coq, "none; Coq proves all that it can state."),
    "unread": (in_numbers_alone, "none; all code that a claim names is read."),
}

OUTCOMES = ("killed", "equivalent", "survived", "unclassified")
MUTANTS = "python -m derivations mutants"


def by_killer() -> Table:
    """For each kind of claim, how many mutants there are, and how many of them each witness killed, of those that it had to judge."""
    tried = mutants_kept.standing(topics())
    claims = [(claim["kind"], results[claim["id"]]) for topic, results in tried.items() if results for claim in load(topic)["claims"]]
    names = list(dict.fromkeys(name for _, result in claims for name in result["witnesses"]))
    groups = {kind: [result for k, result in claims if k == kind] for kind, _ in Counter(kind for kind, _ in claims).most_common()}
    if claims:
        groups["all"] = [result for _, result in claims]
    rows = [
        [
            kind,
            str(sum(result["mutants"] for result in group)),
            *(killed([result["witnesses"][name] for result in group]) for name in names),
        ]
        for kind, group in groups.items()
    ]
    missing = sum(results is None for results in tried.values())
    if missing:
        rows.append([not_tried(missing), *[""] * (1 + len(names))])
    return ["kind", "mutants", *(NAMES.get(name, name) for name in names)], rows, MUTANTS


def not_tried(topics: int) -> str:
    return f"not tried on this machine: {topics} topic{'s' * (topics != 1)}"


def killed(said: list) -> str:
    """How many of the false mutants that a witness had to judge it killed."""
    dead = sum(w["killed"] for w in said)
    false = dead + sum(w["survived"] + w["unclassified"] for w in said)
    return f"{dead} of {false}" if false else ""


def by_mutant() -> Table:
    """What became of the corrupted claims, topic by topic, over all witnesses; how many topics were not tried as they are is said last."""
    rows, sums = [], Counter()
    standing = mutants_kept.standing(topics())
    tried = {topic: claims for topic, claims in standing.items() if claims is not None}
    for topic, claims in tried.items():
        here = Counter(mutants=sum(c["mutants"] for c in claims.values()), alike=sum(len(c["alike"]) for c in claims.values()))
        for witness in (w for c in claims.values() for w in c["witnesses"].values()):
            here.update({outcome: witness[outcome] for outcome in OUTCOMES})
        sums.update(here)
        rows.append([topic, *(str(here[key]) for key in ("mutants", *OUTCOMES, "alike"))])
    if tried:
        rows.append(["all", *(str(sums[key]) for key in ("mutants", *OUTCOMES, "alike"))])
    if len(tried) < len(standing):
        rows.append([not_tried(len(standing) - len(tried)), *[""] * (2 + len(OUTCOMES))])
    return ["topic", "mutants", *OUTCOMES, "shown as the claim is"], rows, MUTANTS


FUZZ = "python -m derivations fuzz"
SAID = ("accepted", "refused", "not applicable", "too slow", "broke")


def by_random_claim() -> Table:
    """What each witness said of the random claims that it was asked, true and false; a row says so where none were tried as things are."""
    counted = fuzz_kept.kept()
    if counted is None:
        return ["asked", "random claims", *SAID], [["not tried on this machine", *[""] * (1 + len(SAID))]], FUZZ
    rows = []
    for name, said in counted["witnesses"].items():
        for truth, meant in (("true", "true"), ("false", "false"), ("undecided", "undecided by the judge")):
            row = [said.get(f"{truth}, {word}", 0) for word in SAID]
            rows.append([f"{NAMES.get(name, name)}, of what is {meant}", *map(str, (sum(row), *row))])
    rows.append(["all, of which some are put to one witness only", str(counted["claims"]), *[""] * len(SAID)])
    return ["asked", "random claims", *SAID], rows, f"{FUZZ} --seed {counted['seed']} --claims {counted['claims']}"


def by_family() -> Table:
    """Of what kinds the random claims were, how many of them the judge found true and false, and how many faults came of them."""
    counted = fuzz_kept.kept()
    if counted is None:
        return ["kind", "true", "false", "undecided", "faults"], [["not tried on this machine", "", "", "", ""]], FUZZ
    faults = Counter()
    for kind, count in counted["faulty"].items():
        faults[kind.partition(", ")[2]] += count
    rows = [
        [family, *(str(counts.get(truth, 0)) for truth in ("true", "false", "undecided")), str(faults[family])]
        for family, counts in sorted(counted["families"].items())
    ]
    rows.append(["all", *(str(sum(int(row[k]) for row in rows)) for k in range(1, 5))])
    return ["kind", "true", "false", "undecided", "faults"], rows, f"{FUZZ} --seed {counted['seed']} --claims {counted['claims']}"


def by_whole_run() -> Table:
    """The last runs of all mutants and of all random claims: of which commit, how many were tried, and how many faults came of them."""
    runs, rows = whole_runs.read(), []
    if kept := runs.get("mutants"):
        rows.append([f"all mutants of {kept['claims']} claims", *(str(kept[key]) for key in ("tried", "left")), told_of(kept)])
    if kept := runs.get("code"):
        rows.append([f"all corrupted snippets of {kept['topics']} topics", *(str(kept[key]) for key in ("tried", "left")), told_of(kept)])
    if kept := runs.get("fuzz"):
        rows.append([f"random claims of seed {kept['seed']}", *(str(kept[key]) for key in ("tried", "faults")), told_of(kept)])
    again = f"{MUTANTS} && {MUTANTS} --code && {FUZZ}"
    return ["run", "tried", "faults", "of the commit"], rows or [["none was recorded", "", "", ""]], again


def told_of(kept: dict) -> str:
    return f"{kept['commit'][:7]} of {kept['date']}"


def room_lines(room: str) -> int:
    """The lines of code of all files in a room."""
    return sum(code_lines(path) for path in sorted((KERNEL / room).iterdir()) if path.suffix in (".py", ".v"))


def by_module() -> Table:
    """Lines of code, room by room: what all witnesses share, what stands beside it, each witness, and what is around them."""
    parts = {"shared by all witnesses": SHARED} | BESIDE | WITNESSES | AROUND
    rows = [[name, ", ".join(f"{room}/" for room in rooms), str(sum(map(room_lines, rooms)))] for name, rooms in parts.items()]
    return ["part", "folder of derivations/kernel", "lines of code"], rows, "pytest tests/kernel/test_size.py"


TABLES = {
    "kinds": by_kind,
    "witnesses": by_witness,
    "code": by_code,
    "killed": by_killer,
    "mutants": by_mutant,
    "random": by_random_claim,
    "families": by_family,
    "runs": by_whole_run,
    "size": by_module,
}


def counted(name: str) -> str:
    """One of the tables as HTML; each number leads to the command that counts it again."""
    head, rows, command = TABLES[name]()

    def cell(text: str) -> str:
        return f"<a href='#counted-{name}'>{escape(text)}</a>" if text[:1].isdigit() else escape(text)

    again = f"<p class='trust__command' id='counted-{name}'>Counted again by <code>{escape(command)}</code></p>"
    return table(head, [list(map(cell, row)) for row in rows]) + again


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of cells that are HTML already, under titles that are text."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{cells}</tbody></table>"
