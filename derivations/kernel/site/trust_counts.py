"""The numbers of the trust page, counted from certificates, from stored results of attacks, and from the kernel's own files."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

from ..check import coq_open_claims
from ..check.proving_witnesses import provers
from ..errors import quantity
from ..store import complete_run_counts, fuzz_results, mutant_results
from ..store.certificates import topics
from ..store.coq_results import load
from . import code_verdict_text
from .claim_details import WITNESSES as NAMES

KERNEL = Path(__file__).resolve().parents[1]

# What every witness relies on: the expression tree, the claims, and the rule of acceptance. A fault here can let a false claim
# through; a fault in one witness cannot, as long as another covers the claim.
SHARED = ("core",)
SUPPORT = {
    "from a script to its claims": ("language", "script"),
    "from a verdict to its page": ("check", "store", "site"),
    "formulas as text": ("printing",),
    "the text of snippets": ("snippet_source",),
}
WITNESSES = {"exact": ("exact",), "SymPy": ("sympy",), "PyTorch": ("pytorch",), "Coq": ("coq",), "code": ("traced",)}
OTHER = {"attacks on the witnesses": ("attack",), "what runs in a browser": ("browser",), "the command line": ("command",)}

Table = tuple[list[str], list[list[str]], str]  # head, rows, the command that reproduces it


def count_code_lines(path: Path) -> int:
    """Return the number of lines of code in a Python or Coq file, without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".v":
        return sum(bool(line.strip()) for line in re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL).splitlines())
    documented = {line for node in find_docstrings(ast.parse(text)) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return sum(line.strip()[:1] not in ("", "#") for number, line in enumerate(text.splitlines(), 1) if number not in documented)


def find_docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield the statements that are docstrings, of the node and of everything defined in it."""
    if ast.get_docstring(node, clean=False) is not None:
        yield node.body[0]
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (ast.ClassDef, ast.FunctionDef)):
            yield from find_docstrings(inner)


def load_all_claims() -> dict[str, dict]:
    """Return the claims of all topics, by `chapter/topic#id`. Raise CertificateError if a topic has no valid certificate."""
    return {f"{topic}#{claim['id']}": claim for topic in topics() for claim in load(topic)["claims"]}


def count_by_kind() -> Table:
    """Count the claims by kind and by scope."""
    claims = load_all_claims().values()
    scopes = [scope for scope, _ in Counter(c["scope"] for c in claims).most_common()]
    kinds = [kind for kind, _ in Counter(c["kind"] for c in claims).most_common()]
    count = Counter((c["kind"], c["scope"]) for c in claims)
    rows = [[kind, *(str(count[kind, scope] or "") for scope in scopes), str(sum(count[kind, s] for s in scopes))] for kind in kinds]
    rows.append(["all", *(str(sum(count[k, scope] for k in kinds)) for scope in scopes), str(len(claims))])
    return ["kind", *scopes, "all"], rows, "python -m derivations check --fresh --json"


def count_by_witness() -> Table:
    """Count the claims that each witness vouches for, by scope, and the claims by the number of their witnesses."""
    claims, rows = load_all_claims().values(), []
    for name in dict.fromkeys(w["name"] for c in claims for w in c["witnesses"]):
        verdicts = [w for c in claims for w in c["witnesses"] if w["name"] == name and w["verdict"] != "not applicable"]
        scopes = ", ".join(f"{n} {scope}" for scope, n in Counter(w["scope"] for w in verdicts).most_common())
        rows.append([NAMES.get(name, name), str(len(verdicts)), scopes])
    numbers = Counter(sum(w["verdict"] != "not applicable" for w in c["witnesses"]) for c in claims if c["kind"] != "definition")
    rows.append(["claims by number of witnesses", str(sum(numbers.values())), ", ".join(f"{k} by {n}" for n, k in sorted(numbers.items()))])
    return ["witness", "claims", "how far"], rows, "python -m derivations check --fresh --json && python -m derivations coq"


def summarize() -> Table:
    """Count the claims, those that each witness vouches for in this build, and what the last complete attacks tried and found."""
    claims = [*load_all_claims().values()]
    rows = [["claims on this site", str(len(claims)), "all accepted"]]
    for name, says in SUMMARY.items():
        count = sum(w["name"] == name and w["verdict"] != "not applicable" for claim in claims for w in claim["witnesses"])
        rows.append([NAMES[name], str(count or ""), says if count else "not run in this build"])
    scopes = code_verdict_text.count_scopes(claims)
    total = sum(scopes.values())
    rows.append(
        [
            "code that a claim names",
            str(total),
            f"proved to compute the claim, except for {scopes['numbers only']} compared in numbers",
        ]
    )
    for label, tried, faults, commit in list_full_runs()[1]:
        found = "no" if faults == "0" else faults
        result = f"{found} faults in the last complete run, at {commit}" if tried else "no complete run was recorded"
        rows.append([label if tried else "attacks", tried, result])
    return ["what", "how many", "result"], rows, "python -m derivations check --fresh --json && python -m derivations coq"


SUMMARY = {
    "exact": "proved, or refuted by an exact counterexample",
    "sympy": "proved up to the sizes beside each claim, by induction, or as limits",
    "torch": "agrees in numbers",
    "coq": "proved from the axioms listed beside each claim",
}


def count_by_code_scope() -> Table:
    """Count the claims that name code, by the scope at which the code is proved to compute them."""
    counts = code_verdict_text.count_scopes([*load_all_claims().values()])
    rows = [[scope, str(count)] for scope, count in counts.items()]
    return ["the code of a claim is shown to compute it at", "claims"], [*rows, ["all that name code", str(sum(counts.values()))]], CODE


CODE = "python -m derivations code"


def find_claims_compared_in_numbers() -> list[tuple[str, str]]:
    """Return the claims whose code is only compared in numbers, each with the reason."""
    claims = load_all_claims().items()
    return [
        (name, code_verdict_text.describe_note(claim)) for name, claim in claims if claim.get("computed", {}).get("state") == "not read"
    ]


def find_claims_with_one_proof() -> list[tuple[str, str]]:
    """Return the claims that only one witness proves, each with an empty note."""
    return [(name, "") for name, claim in load_all_claims().items() if claim["kind"] != "definition" and len(provers(claim)) == 1]


def find_claims_open_in_coq() -> list[tuple[str, str]]:
    """Return the claims that Coq can state but does not prove, each with the reason."""
    return sorted(coq_open_claims.read_reasons().items())


# By name: the function that lists the claims, and the text for an empty list.
LISTS = {
    "alone": (find_claims_with_one_proof, "none; each claim has two proofs or more."),
    "open": (find_claims_open_in_coq, "none; Coq proves all that it can state."),
    "unread": (find_claims_compared_in_numbers, "none; all code that a claim names is read."),
}

OUTCOMES = ("killed", "equivalent", "survived", "unclassified")
NOT_TRIED = "not tried on this machine"
MUTANTS = "python -m derivations mutants"


def count_killed_mutants() -> Table:
    """Count the mutants by kind of claim, and how many of the false ones that it judged each witness killed."""
    by_topic = mutant_results.get_topics(topics())
    claims = [(claim["kind"], results[claim["id"]]) for topic, results in by_topic.items() if results for claim in load(topic)["claims"]]
    names = list(dict.fromkeys(name for _, result in claims for name in result["witnesses"]))
    groups = {kind: [result for k, result in claims if k == kind] for kind, _ in Counter(kind for kind, _ in claims).most_common()}
    if claims:
        groups["all"] = [result for _, result in claims]
    rows = [
        [
            kind,
            str(sum(result["mutants"] for result in group)),
            *(_killed_share([result["witnesses"][name] for result in group]) for name in names),
        ]
        for kind, group in groups.items()
    ]
    missing = sum(results is None for results in by_topic.values())
    if missing:
        rows.append([f"{NOT_TRIED}: {quantity(missing, 'topic')}", *[""] * (1 + len(names))])
    return ["kind", "mutants", *(NAMES.get(name, name) for name in names)], rows, MUTANTS


def _killed_share(results: list[dict]) -> str:
    """Return how many of the false mutants that a witness judged were killed, as "3 of 4"; "" if there were none."""
    killed = sum(w["killed"] for w in results)
    false = killed + sum(w["survived"] + w["unclassified"] for w in results)
    return f"{killed} of {false}" if false else ""


def count_mutants() -> Table:
    """Count the outcomes of mutants by topic, over all witnesses. A last row counts the topics without current results."""
    rows: list[list[str]] = []
    sums: Counter[str] = Counter()
    by_topic = mutant_results.get_topics(topics())
    tried = {topic: claims for topic, claims in by_topic.items() if claims is not None}
    for topic, claims in tried.items():
        counts = Counter(mutants=sum(c["mutants"] for c in claims.values()), alike=sum(len(c["alike"]) for c in claims.values()))
        for witness in (w for c in claims.values() for w in c["witnesses"].values()):
            counts.update({outcome: witness[outcome] for outcome in OUTCOMES})
        sums.update(counts)
        rows.append([topic, *(str(counts[key]) for key in ("mutants", *OUTCOMES, "alike"))])
    if tried:
        rows.append(["all", *(str(sums[key]) for key in ("mutants", *OUTCOMES, "alike"))])
    if len(tried) < len(by_topic):
        rows.append([f"{NOT_TRIED}: {quantity(len(by_topic) - len(tried), 'topic')}", *[""] * (2 + len(OUTCOMES))])
    return ["topic", "mutants", *OUTCOMES, "shown as the claim is"], rows, MUTANTS


FUZZ = "python -m derivations fuzz"
ANSWERS = ("accepted", "refused", "not applicable", "too slow", "broke")


def count_random_claims() -> Table:
    """Count the answers of each witness to true and false random claims. A single row says if there are no current results."""
    result = fuzz_results.get()
    if result is None:
        return ["asked", "random claims", *ANSWERS], [[NOT_TRIED, *[""] * (1 + len(ANSWERS))]], FUZZ
    rows = []
    for name, counts in result["witnesses"].items():
        for truth, label in (("true", "true claims"), ("false", "false claims"), ("undecided", "claims that the judge cannot decide")):
            row = [counts.get(f"{truth}, {answer}", 0) for answer in ANSWERS]
            rows.append([f"{NAMES.get(name, name)}, {label}", *map(str, (sum(row), *row))])
    rows.append(["all (only one witness is asked about some)", str(result["claims"]), *[""] * len(ANSWERS)])
    return ["asked", "random claims", *ANSWERS], rows, f"{FUZZ} --seed {result['seed']} --claims {result['claims']}"


def count_by_family() -> Table:
    """Count the random claims by family, by the judge's verdict, and by the faults that they revealed."""
    result = fuzz_results.get()
    if result is None:
        return ["kind", "true", "false", "undecided", "faults"], [[NOT_TRIED, "", "", "", ""]], FUZZ
    faults: Counter[str] = Counter()
    for kind, count in result["faulty"].items():
        faults[kind.partition(", ")[2]] += count
    rows = [
        [family, *(str(counts.get(truth, 0)) for truth in ("true", "false", "undecided")), str(faults[family])]
        for family, counts in sorted(result["families"].items())
    ]
    rows.append(["all", *(str(sum(int(row[k]) for row in rows)) for k in range(1, 5))])
    return ["kind", "true", "false", "undecided", "faults"], rows, f"{FUZZ} --seed {result['seed']} --claims {result['claims']}"


# The kinds of full runs: a name, a label, and the entry with the number of faults.
RUNS = (
    ("mutants", "all mutants of {claims} claims", "left"),
    ("code", "all corrupted snippets of {topics} topics", "left"),
    ("fuzz", "random claims of seed {seed}", "faults"),
)


def list_full_runs() -> Table:
    """Return the counts of the last full runs of mutants, corrupted snippets and random claims, each with its commit."""
    runs = complete_run_counts.read()
    rows = [
        [label.format(**run), str(run["tried"]), str(run[faults]), f"{run['commit'][:7]} of {run['date']}"]
        for name, label, faults in RUNS
        if (run := runs.get(name))
    ]
    command = f"{MUTANTS} && {MUTANTS} --code && {FUZZ}"
    return ["run", "tried", "faults", "of the commit"], rows or [["none was recorded", "", "", ""]], command


def count_room_lines(room: str) -> int:
    """Return the number of lines of code in all files of a room."""
    return sum(count_code_lines(path) for path in sorted((KERNEL / room).iterdir()) if path.suffix in (".py", ".v"))


def count_by_room() -> Table:
    """Count the lines of code of the rooms, grouped by what they do for a claim."""
    parts = {"shared by all witnesses": SHARED} | SUPPORT | WITNESSES | OTHER
    rows = [[name, ", ".join(f"{room}/" for room in rooms), str(sum(map(count_room_lines, rooms)))] for name, rooms in parts.items()]
    return ["part", "folder of derivations/kernel", "lines of code"], rows, "pytest tests/kernel/test_code_size.py"


TABLES: dict[str, Callable[[], Table]] = {
    "summary": summarize,
    "kinds": count_by_kind,
    "witnesses": count_by_witness,
    "code": count_by_code_scope,
    "killed": count_killed_mutants,
    "mutants": count_mutants,
    "random": count_random_claims,
    "families": count_by_family,
    "runs": list_full_runs,
    "size": count_by_room,
}


def render_table(name: str) -> str:
    """Return one of the tables as HTML; each number links to the command that reproduces it."""
    head, rows, command = TABLES[name]()

    def cell(text: str) -> str:
        return f"<a href='#counted-{name}'>{escape(text)}</a>" if text[:1].isdigit() else escape(text)

    footer = f"<p class='trust__command' id='counted-{name}'>Counted again by <code>{escape(command)}</code></p>"
    return render_rows(head, [list(map(cell, row)) for row in rows]) + footer


def render_rows(head: list[str], rows: list[list[str]]) -> str:
    """Return a table; the titles are text, the cells are HTML."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{cells}</tbody></table>"
