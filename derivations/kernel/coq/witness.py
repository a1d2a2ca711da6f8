"""The Coq witness: claims as theorems of Coq's MathComp, at every shape, over any commutative ring, field or real closed field.

`source` writes a file that a reader can follow and coqc can check; `prove` has coqc check such files and asserts that nothing
was assumed. The proofs are one script a kind of claim (prelude.v); Coq accepts them or not, so nothing here has to be trusted
but the translation of a tree into Coq's notation (notation.py). It shares no code with the other witnesses.

Numbers are elements of the weakest structure in which the claim can be written: a commutative ring, a field where something is
divided by, a real field where a size or a number is, a real closed field where a root is taken. The exponential is any
positive function that turns sums into products. MathComp gives every operation a value everywhere (x / 0 is 0), so what must
not be zero is for the other witnesses to notice wherever Coq's proof does not need it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, walk
from .notation import ATOM, DISTRIBUTIONS, FIELD, FORBIDDEN, LONGEST, REAL, STRUCTURES, Notation, NotForCoq, hypotheses

TIME_LIMIT = 300  # seconds for one file
CLOSED = "Closed under the global context"
PRELUDE_NAME = "Prelude"
PRELUDE = Path(__file__).with_name("prelude.v").read_text(encoding="utf-8")  # what the files share; proved, too
SCOPES = ("every commutative ring", "every commutative ring", "every field", "every ordered field", "every real closed field")
SUMS = ("sum", "entry", "softmax", "function", "array")


@dataclass(frozen=True)
class Source:
    """A claim's Coq file: its text, or none and why not. `steps` are the steps that it proves, counted from 1."""

    text: str | None
    reason: str = ""
    steps: tuple = ()
    whole: bool = False
    scope: str = ""


@dataclass(frozen=True)
class Theorem:
    name: str
    reason: str  # in words
    statement: str
    proof: list


def source(claim: Claim, topic: str = "") -> Source:
    """The theorems for a claim: one for each step that Coq can state, and for the whole where it can state all of them."""
    if claim.kind in KINDS_WITHOUT:
        return Source(None, KINDS_WITHOUT[claim.kind])
    try:
        return {"inequality": inequality, "identity": chain, "chain": chain, "law": chain}[claim.kind](claim, topic)
    except NotForCoq as reason:
        return Source(None, str(reason))


KINDS_WITHOUT = {
    "definition": "a definition has nothing to prove; where its name is used, Coq works with what it stands for",
    "limit": "a limit: MathComp's algebra has no limits",
    "refutation": "a refutation: its exact counterexample is evaluated by the other witnesses",
}


# What is stated


def chain(claim: Claim, topic: str) -> Source:
    """A theorem for each equality that Coq can state, and one that joins them."""
    ends = [claim.start, *(s.expr for s in claim.steps)]
    steps, why = statable(ends)
    if not steps:
        return Source(None, why[0])
    single, whole = len(claim.steps) == 1, len(steps) == len(claim.steps)
    notation = Notation()
    texts = {k: equation(notation, ends[k - 1], ends[k]) for k in steps}
    proof = script(notation, claim)  # one proof for every step
    theorems = [Theorem("claim" if single else f"step_{k}", claim.steps[k - 1].reason, texts[k], proof) for k in steps]
    if whole and not single:
        theorems.append(Theorem("claim", "The whole", equation(notation, ends[0], ends[-1]), [f"exact: {joined(len(steps))}."]))
    trees = [e for k in steps for e in ends[k - 1 : k + 1]]
    return Source(file(claim, topic, notation, trees, theorems), "; ".join(why), tuple(steps), whole, SCOPES[notation.level])


def statable(ends: list) -> tuple:
    """The steps that Coq can state, counted from 1, and why it cannot state the others."""
    steps, why = [], []
    for k, (left, right) in enumerate(zip(ends, ends[1:]), 1):
        try:
            equation(Notation(), left, right)
            steps.append(k)
        except NotForCoq as reason:
            why.append(f"step {k} has {reason}" if len(ends) > 2 else str(reason))
    return steps, why


def joined(last: int) -> str:
    """The steps up to the last, one after the other."""
    term = f"step_{last}"
    for k in range(last - 1, 0, -1):
        term = f"etrans step_{k} {term if k == last - 1 else f'({term})'}"
    return term


def inequality(claim: Claim, topic: str) -> Source:
    """What the right side has more is the certificate, and that is not negative."""
    if claim.start.op == "rank":
        return rank_bound(claim, topic)
    left, right = claim.start, claim.steps[0].expr
    if len(claim.because) != 1 or left.shape or claim.because[0].shape:
        raise NotForCoq("an inequality that is not between numbers")
    (certificate,) = claim.because
    notation = Notation()
    notation.need(REAL)
    difference = equation(notation, Expr("add", (right, Expr("neg", (left,)))), certificate)
    statement = f"{notation.show(left)} <=\n  {notation.show(right)} :> R"
    theorems = [
        Theorem("certificate", "What the right side has more", difference, script(notation, claim)),
        Theorem("claim", claim.steps[0].reason, statement, ["rewrite -subr_ge0 certificate; nonnegative."]),
    ]
    return Source(file(claim, topic, notation, [left, right, certificate], theorems), "", (1,), True, SCOPES[notation.level])


def rank_bound(claim: Claim, topic: str) -> Source:
    """A product through an axis of a size has at most that rank."""
    bound, (body,) = claim.steps[0].expr, claim.start.args
    if (
        bound.op not in ("const", "symbol")
        or bound.op == "symbol"
        and bound.data[1] != "size"
        or bound.op == "const"
        and bound.data.denominator != 1
    ):
        raise NotForCoq("a bound on a rank that is not a size")
    if len(claim.because) != 2:
        raise NotForCoq("a bound on a rank without a factorisation")
    first, second = claim.because
    product = Expr("matmul", (first, second), (first.shape[0], second.shape[1]))
    notation = Notation()
    notation.need(FIELD)
    shown, factored = notation.show(body), notation.show(product)
    bounded = f"(\\rank ({shown}) <= {notation.size(bound)})%N"
    theorems = [Theorem("claim", claim.steps[0].reason, bounded, ["exact: mulmx_max_rank."])]
    if shown != factored:
        theorems = [
            Theorem("certificate", "A factorisation", f"{shown} = {factored}", script(notation, claim)),
            Theorem("claim", claim.steps[0].reason, bounded, ["rewrite certificate; exact: mulmx_max_rank."]),
        ]
    return Source(file(claim, topic, notation, [body, product], theorems), "", (1,), True, SCOPES[notation.level])


def equation(notation: Notation, left: Expr, right: Expr) -> str:
    text = f"{notation.show(left)} =\n  {notation.show(right)}"
    return text if left.shape else f"{text} :> R"


# How it is proved


def script(notation: Notation, claim: Claim) -> list:
    """The proof of an equality of the claim: what is known is brought to bear, then the general tactic."""
    nodes = [n for t in (claim.start, *(s.expr for s in claim.steps), *claim.because) for n in walk(t)]
    by_entries = any(n.op in SUMS or n.op == "matmul" and not n.shape for n in nodes)
    known = what_is_known(notation, claim, by_entries)
    general = "entrywise R." if by_entries else "matrices R."
    return [*short_axes(nodes), *known, *parts_of_exponents(notation), general]


def short_axes(nodes: list) -> list:
    """Sums along an axis of a known size are written out."""
    sizes = {int(s.data) for n in nodes for s in (*n.shape, *([n.data[1]] if n.op == "sum" else [])) if s.op == "const"}
    arrays = any(n.op == "array" for n in nodes)
    return [line for n in sorted(sizes) if 1 < n <= LONGEST for line in written_out(n, arrays)]


def written_out(n: int, places: bool) -> list:
    """A sum over a known number of places, term by term; and, where wanted, that these are all the places."""
    ordinals = [f"(@Ordinal {n} {k} isT)" for k in range(n)]
    terms = " + ".join(f"f {k}" for k in ordinals)
    lines = [f"have written_{n} : forall f : 'I_{n} -> R, \\sum_(i < {n}) f i = {terms} by write_out."]
    if places:
        cases = " -> ".join(f"P {k}" for k in ordinals)
        lines.append(f"have places_{n} : forall P : 'I_{n} -> Prop, {cases} -> forall i, P i by every_place.")
    return lines


def what_is_known(notation: Notation, claim: Claim, by_entries: bool) -> list:
    """Signs in the normal form that their numbers will have; and known products of matrices, wherever they stand."""
    lines, products = [], []
    for k, a in enumerate(claim.given, 1):
        if a.kind in ("positive", "nonzero") and a.args[0].op not in ("symbol", "const") and not free_indices(a.args[0]):
            lines.append(f"normal_fact assumed_{k}.")
        if a.kind == "product":
            products.append(f"apply_product assumed_{k}.")
            lines += known_sums(notation, a, k) if by_entries else []
        if a.kind == "invertible":
            products.append(f"apply_inverse assumed_{k}.")
    return lines + (["multiply_out.", *products] if products else [])


def known_sums(notation: Notation, product: Assumption, k: int) -> list:
    """A known product of matrices, entry by entry: a sum over the inner axis."""
    left, right, times = product.args
    if len(left.shape) < 2 or len(right.shape) < 2 or times.data not in (0, 1):
        return []

    def at(e, i, j):
        return at(e.args[0], j, i) if e.op == "transpose" else f"{notation.show(e, ATOM)} {i} {j}"

    summed = f"\\sum_(place < {notation.size(left.shape[1])}) {at(left, 'row', 'place')} * {at(right, 'place', 'column')}"
    value = "(row == column)%:R" if times.data else "0"
    return [f"have known_{k} : forall row column, {summed} = {value} :> R by entry_of_product assumed_{k}."]


def parts_of_exponents(notation: Notation) -> list:
    """exp(x/2) is no power of exp(x): write x as 2y, and every exponent as a whole multiple of y."""
    combinations = [linear(e) for e in notation.exponents]
    if None in combinations:
        return []
    denominators = {}
    for atom, c in ((atom, c) for combination in combinations for atom, c in combination.items()):
        denominators[atom] = lcm(denominators.get(atom, 1), c.denominator)
    if max(denominators.values(), default=1) == 1:
        return []
    parts, lines = {}, []
    for k, (atom, d) in enumerate(denominators.items(), 1):
        parts[atom] = f"part_{k}" if d > 1 else notation.show(atom, ATOM)
        if d > 1:
            lines.append(f"have [part_{k} whole_{k}] := divided {notation.show(atom, ATOM)} (n := {d}) isT. rewrite whole_{k}.")
    notation.parts = {atom: f"({d}%:R * {parts[atom]})" for atom, d in denominators.items() if d > 1}
    for e, combination in dict(zip(notation.exponents, combinations)).items():
        terms = [multiple(notation, int(c * denominators[atom]), parts[atom]) for atom, c in combination.items()]
        counted = " + ".join(terms) or "0"
        shown, name = notation.show(e), f"exponent_{len(lines)}"
        if shown != counted:
            lines.append(f"have {name} : {shown} = {counted} :> R by compare R. try rewrite {name}. clear {name}.")
    notation.parts = {}
    return lines


def multiple(notation: Notation, count: int, part: str) -> str:
    text = part if abs(count) == 1 else f"({notation.whole(abs(count))} * {part})"
    return f"- {text}" if count < 0 else text


def linear(e: Expr) -> dict | None:
    """A tree as rational multiples of symbols and entries, or None."""
    if e.op in ("paren", "defined"):
        return linear(e.args[0])
    if e.op in ("symbol", "entry"):
        return {e: Fraction(1)} if not free_indices(e) else None
    if e.op == "neg":
        inside = linear(e.args[0])
        return inside and {a: -c for a, c in inside.items()}
    if e.op == "add":
        left, right = map(linear, e.args)
        return None if left is None or right is None else {a: left.get(a, 0) + right.get(a, 0) for a in {**left, **right}}
    if e.op in ("mul", "div"):
        body, factor = e.args if e.args[1].op == "const" else e.args[::-1]
        if factor.op != "const" or not factor.data or e.op == "div" and factor is e.args[0]:
            return None
        inside = linear(body)
        return inside and {a: c * factor.data if e.op == "mul" else c / factor.data for a, c in inside.items()}
    return None


# Files


def comment(text: str) -> str:
    """Text inside a comment of Coq, whatever it holds: it neither ends the comment nor opens a string or another one."""
    return "".join(c if c.isprintable() and c not in '"' else " " for c in str(text)).replace("(*", "( *").replace("*)", "* )")


def header(claim: Claim, topic: str) -> str:
    title = f": {comment(claim.title)}" if claim.title else ""
    return f"(* {comment(topic + '#' + claim.id if topic else claim.id)}{title} *)\n"


def file(claim: Claim, topic: str, notation: Notation, trees: list, theorems: list) -> str:
    """The theorems about these trees, under the claim's assumptions, and the question what they assume."""
    free = set().union(*map(free_indices, trees))
    assumed = hypotheses(notation, claim, free)
    trees = [*trees, *(x for a in claim.given if a.kind not in DISTRIBUTIONS for x in a.args)]
    parts = [
        header(claim, topic),
        f"From Derivations Require Import {PRELUDE_NAME}.",
        "Local Open Scope ring_scope.",
        "",
        "Section Claim.",
        *context(notation, free, trees, assumed),
        "",
    ]
    for t in theorems:
        parts += [f"(* {comment(t.reason)} *)"] if t.reason else []
        parts += [f"Theorem {t.name} :", f"  {t.statement}.", *qed(t.proof), ""]
    parts += ["End Claim.", "", *(f"Print Assumptions {t.name}." for t in theorems)]
    return "\n".join(parts) + "\n"


def qed(proof: list) -> list:
    return [f"Proof. {proof[0]} Qed."] if len(proof) == 1 else ["Proof.", *proof, "Qed."]


def context(notation: Notation, free: set, trees: list, assumed: list) -> list:
    """The section's structure, sizes, symbols and assumptions."""
    known = "Add Ring R_ring : (ring_of R)." if notation.level < FIELD else "Add Field R_field : (field_of R)."
    sizes = sizes_of(notation, trees)
    lines = [f"Variable R : {STRUCTURES[notation.level]}.", known, *variables(map(notation.name, sizes), "nat")]
    by_type = {}
    for name, e in notation.names.items():
        by_type.setdefault(notation.type(e.shape), []).append(notation.name(name))
    lines += [line for type_, names in by_type.items() for line in variables(names, type_)]
    for i in sorted(free, key=lambda i: i.data[0]):
        lines += variables([notation.name(i.data[0])], f"'I_{notation.size(i.data[1])}")
    lines += [f"Variable first_{n} : 'I_{notation.size(size)}." for n, size in notation.firsts.items()]
    if notation.uses_exp:
        lines += [
            "Variable exp : R -> R.",
            "Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.",
            "Hypothesis exp_positive : forall x, 0 < exp x.",
        ]
    if notation.level >= REAL:  # a sum of exponentials is positive where there is one to add
        positive = sizes if notation.uses_exp else notation.numbers
        lines += [f"Hypothesis size_{s} : (0 < {notation.name(s)})%N." for s in positive]
    return lines + [f"Hypothesis {name} : {statement}." for name, statement in assumed]


def sizes_of(notation: Notation, trees: list) -> list:
    """The names of the sizes: of axes, of indices, and those that stand as numbers."""
    found = [s for t in trees for n in walk(t) for s in (*n.shape, *([n.data[1]] if n.op in ("index", "sum") else []))]
    return list(dict.fromkeys([s.data[0] for s in found if s.op == "symbol"] + list(notation.numbers)))


def variables(names, type_: str) -> list:
    names = list(names)
    return [f"Variable{'s' if len(names) > 1 else ''} {' '.join(names)} : {type_}."] if names else []


# Checking with coqc


def available() -> bool:
    return shutil.which("coqc") is not None


def version() -> str:
    """What a result depends on besides the sources: Coq's version and where its libraries come from; "" without coqc."""
    if not available():
        return ""
    said = [
        subprocess.run(["coqc", option], capture_output=True, text=True, timeout=30, env=environment()).stdout.strip()
        for option in ("--version", "-where")
    ]
    library = Path(said[1]) / "user-contrib" / "mathcomp" / "algebra" / "matrix.vo"
    return f"{said[0].splitlines()[0]}, {library.stat().st_size if library.is_file() else 'no MathComp'}"


NO_PROOF = "Coq does not prove it: "  # our script finds no proof, which is not to say that there is none
STOPPED = "coqc was stopped after"
NOT_RUN = "not run: coqc is not installed; apt-get install coq libcoq-mathcomp-algebra"
NO_LIBRARY = "not run: Coq is here but MathComp's algebra is not; apt-get install libcoq-mathcomp-algebra"


def prove(sources: dict, folder: Path | str | None = None, jobs: int | None = None, limit: float = TIME_LIMIT, told=None) -> dict:
    """{id: (did Coq prove it with nothing assumed, message)} for {id: text}. The files are left in the folder, if one is given.

    `told` is called with an id as soon as its file has been checked.
    """
    if not available():
        return {key: (False, NOT_RUN) for key in sources}
    if folder is None:
        with tempfile.TemporaryDirectory() as own:
            return prove(sources, own, jobs, limit, told)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if len({file_of(key, folder) for key in sources}) < len(sources):
        raise ValueError("two names of claims give one file")
    prelude = folder / f"{PRELUDE_NAME}.v"
    prelude.write_text(PRELUDE, encoding="utf-8")
    code, _, errors = coqc(prelude, folder, limit)
    if code:
        missing = "Cannot find a physical path bound to logical path" in errors or "mathcomp" in errors.lower()
        problem = NO_LIBRARY if missing else f"not run: Coq does not accept the prelude: {shortened(errors)}"
        return {key: (False, problem) for key in sources}

    def check(key):
        result = prove_one(key, sources[key], folder, limit)
        if told:
            told(key)
        return result

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return dict(zip(sources, pool.map(check, sources)))


def file_of(key: str, folder: Path) -> Path:
    """Where the source of a claim, as topic#id or any such name, is written."""
    parts = [re.sub(r"[^A-Za-z0-9]", "_", part) for part in re.split(r"[/#]", key)]
    if not all(parts) or parts[-1] == PRELUDE_NAME:
        raise ValueError(f"{key!r} does not name a claim")
    last = parts.pop()
    return Path(folder, *parts, (last if last[0].isalpha() else f"claim_{last}") + ".v")


def prove_one(key: str, text: str, folder: Path, limit: float) -> tuple:
    problem = suspicious(text)
    if problem:
        return False, problem
    path = file_of(key, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    code, said, errors = coqc(path, folder, limit)
    if code is None:
        return False, f"{STOPPED} {limit:g} seconds"
    if code:
        return False, f"{NO_PROOF}{shortened(errors)}"
    names = theorems(text)
    if said.split("\n") != [CLOSED] * len(names) + [""]:
        return False, f"Coq's proof assumes something, or does not say that it does not: {shortened(said)}"
    return True, f"{len(names)} theorem{'s' if len(names) > 1 else ''} proved, nothing assumed"


def coqc(path: Path, folder: Path, limit: float) -> tuple:
    """(exit code, output, errors) of coqc on a file; (None, "", "") when it took too long."""
    command = ["coqc", "-q", "-w", "none", "-Q", str(folder), "Derivations", str(path)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment(),
        cwd=folder,
        start_new_session=True,
    )
    try:
        said, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""
    return process.returncode, said, errors


def environment() -> dict:
    """Without what would load other libraries than the installed ones."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("COQ", "ROCQ"))} | {"LC_ALL": "C.UTF-8"}


def theorems(text: str) -> list:
    return re.findall(r"^Theorem ([A-Za-z0-9_']+) :", uncommented(text), re.MULTILINE)


def suspicious(text: str) -> str:
    """What in a source would let it pass without a proof; "" if nothing."""
    bare, names = uncommented(text), theorems(text)
    found = FORBIDDEN.search(bare)
    if found:
        return f"the source contains '{found[0]}'"
    if not names:
        return "the source states no theorem"
    if '"' in text:  # in a comment, too: Coq reads strings there
        return "the source contains a string"
    asked = re.findall(r"^Print Assumptions ([A-Za-z0-9_']+)\.$", bare, re.MULTILINE)
    if asked != names or len(re.findall(r"\bPrint\b", bare)) != len(names):
        return "the source does not print the assumptions of each of its theorems once"
    if re.search(r"\b(idtac|fail)\b", bare):
        return "the source prints something of its own"
    strange = [s for s in sentences(bare) if not EXPECTED.fullmatch(s)]
    return f"the source contains the sentence '{strange[0]}'" if strange else ""


# All that a source is made of: what it imports, what it declares, theorems, and tactics, whose names begin with a small letter.
EXPECTED = re.compile(
    rf"From Derivations Require Import {PRELUDE_NAME}|Local Open Scope ring_scope|(Section|End) Claim|"
    r"Variables? [^:]+ : .+|Hypothesis \w+ : .+|Add Ring R_ring : \(ring_of R\)|Add Field R_field : \(field_of R\)|"
    r"Theorem [\w']+ : .+|Proof|Qed|Print Assumptions [\w']+|[a-z].*"
)


def sentences(bare: str) -> list:
    return [" ".join(s.split()) for s in re.split(r"\.\s", bare + "\n") if s.strip()]


def uncommented(text: str) -> str:
    """The text without comments, which nest in Coq."""
    depth, kept, k = 0, [], 0
    while k < len(text):
        pair = text[k : k + 2]
        if pair == "(*":
            depth, k = depth + 1, k + 2
        elif pair == "*)" and depth:
            depth, k = depth - 1, k + 2
            kept.append(" ")
        else:
            if not depth:
                kept.append(text[k])
            k += 1
    return "".join(kept)


def shortened(text: str) -> str:
    """Coq's message without the place in a file that is not the reader's."""
    lines = [line.strip() for line in text.strip().splitlines() if not line.startswith("File ")]
    return " ".join(lines)[:400] or "no message"
