"""The Coq witness: claims as theorems of Coq's MathComp, at every shape, over any commutative ring, field or real closed field.

`source` writes a file that a reader can follow and coqc can check; `prove` has coqc check such files and asserts that nothing
was assumed. The proofs are one script a kind of claim (PRELUDE); Coq accepts them or not, so nothing here has to be trusted
but the translation of a tree into Coq's notation. It shares no code with the other witnesses.

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

from .claims import Assumption, Claim
from .expr import NAME, Expr, free_indices, walk

TIME_LIMIT = 60       # seconds for one file
CLOSED = "Closed under the global context"
PRELUDE_NAME = "Prelude"
STRUCTURES = ("comRingType", "comUnitRingType", "fieldType", "realFieldType", "rcfType")
RING, UNITS, FIELD, REAL, ROOTS = range(5)
LARGEST = 64          # numerals up to here are written as they are; Coq counts them out one by one
KEYWORDS = frozenset("""
    as at cofix else end exists exists2 fix for forall fun if IF in let match mod return Set SProp Prop Type then using where with
    of is by on have suff under over do last first by done Theorem Proof Qed Section End Variable
    R O S I F E nat exp iota ord0 invmx trmx const_mx map_mx matrix unitmx Num sqrt rank isT Ordinal softmax_column softmax_rows
    row column Variables Hypothesis Hypotheses Lemma Print Assumptions From Require Import Local Open Scope Ltac root arithmetic plus times
    minus opposite zero one reciprocal quotient numeral power entry same divided etrans ring_of field_of R_ring R_field
    square_root fourth_root""".split())
OURS = re.compile(r"(step|claim|certificate|assumed|size|root|positive|exp|exponent|part|whole|written)(_[A-Za-z0-9]*)?")
FORBIDDEN = re.compile(r"\b(Axioms?|Admitted|admit|give_up|Parameters?|Conjectures?|Abort|bypass_check|Unset|Declare|Load|Drop|Redirect|"
                       r"Extraction|Cd|Add\s+(?:LoadPath|ML|Rec)|Declare\s+ML|native_compute|vm_cast_no_check|Primitive|Register|type_in_type)\b")
UNSUPPORTED = {
    "expectation": "an expectation", "variance": "a variance", "derivative": "a derivative", "rounded": "rounding",
    "imaginary": "a complex number",
}
DISTRIBUTIONS = ("independent", "gaussian", "mean", "variance")


class NotForCoq(Exception):
    """The reason why a claim, or a step of it, has no theorem here."""


@dataclass(frozen=True)
class Source:
    """A claim's Coq file: its text, or none and why not. `steps` are the steps that it proves, counted from 1."""

    text: str | None
    reason: str = ""
    steps: tuple = ()
    whole: bool = False
    scope: str = ""


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


# From trees to Coq's notation

ATOM, POSTFIX, APPLIED, POWER, SIGN, PRODUCT, SUM = range(7)   # what binds tighter comes first


class Notation:
    """Coq's notation for the trees of one claim, and what must be declared for it."""

    def __init__(self, claim: Claim):
        self.claim = claim
        self.level = RING            # the structure needed so far
        self.numbers = {}            # sizes that stand as numbers
        self.names = {}
        self.roots = {}              # base -> (text, depth)
        self.exponents = []          # arguments of exp that no sum binds
        self.parts = {}              # numbers written as multiples of a part of theirs
        self.uses_exp = False

    def need(self, level: int):
        self.level = max(self.level, level)

    def need_division(self, by: Expr):
        """Numbers and sizes are known not to be zero where numbers are ordered."""
        counted = any(n.op in ("const", "function", "softmax", "index") or n.op == "symbol" and n.data[1] == "size" for n in walk(by))
        self.need(REAL if counted else FIELD)

    def name(self, name: str) -> str:
        if not NAME.fullmatch(name):
            raise NotForCoq(f"the name {name!r} cannot be written in Coq")
        return name + "'" if name in KEYWORDS or OURS.fullmatch(name) else name

    def size(self, e: Expr) -> str:
        return str(int(e.data)) if e.op == "const" else self.name(e.data[0])

    def type(self, shape: tuple) -> str:
        if not shape:
            return "R"
        if len(shape) > 2:
            raise NotForCoq("a tensor with more than two axes")
        rows, columns = self.size(shape[0]), self.size(shape[1]) if len(shape) == 2 else "1"
        return f"'M[R]_({rows}, {columns})"

    def show(self, e: Expr, most: int = SUM) -> str:
        """The tree in Coq, in brackets if it binds more loosely than `most`."""
        text, level = self.translate(e)
        return f"({text})" if level > most else text

    def translate(self, e: Expr) -> tuple:
        if e.op in UNSUPPORTED:
            raise NotForCoq(f"{UNSUPPORTED[e.op]}, which MathComp's algebra does not have")
        rule = getattr(self, "of_" + e.op, None)
        if rule is None:
            raise NotForCoq(f"'{e.op}', for which there is no translation")
        return rule(e)

    def of_paren(self, e):
        return self.translate(e.args[0])

    of_defined = of_paren

    def of_const(self, e):
        return self.number(e.data)

    def number(self, q: Fraction):
        if q.denominator != 1:
            self.need(REAL)
            return f"{self.number(Fraction(q.numerator))[0]} / {self.whole(q.denominator)}", PRODUCT
        return (f"- {self.whole(-q.numerator)}", SIGN) if q < 0 else (self.whole(q.numerator), ATOM)

    def whole(self, n: int) -> str:
        if n < 2:
            return str(int(n))
        if n <= LARGEST:
            return f"{n}%:R"
        rest, last = divmod(n, LARGEST)
        return f"({self.whole(rest)} * {LARGEST}%:R + {self.whole(last)})"

    def of_symbol(self, e):
        if e in self.parts:
            return self.parts[e], ATOM
        name, kind = e.data
        if kind == "random":
            raise NotForCoq("a random variable, which MathComp's algebra does not have")
        if kind == "size":
            self.numbers[name] = e
            return f"{self.name(name)}%:R", ATOM
        self.names[name] = e
        return self.name(name), ATOM

    def of_index(self, e):
        return f"{self.name(e.data[0])}.+1%:R", ATOM

    def of_add(self, e):
        left, right = e.args
        sign, right = ("-", right.args[0]) if right.op == "neg" else ("+", right)
        return f"{self.show(left)} {sign} {self.show(right, PRODUCT)}", SUM

    def of_neg(self, e):
        return f"- {self.show(e.args[0], POWER)}", SUM

    def of_mul(self, e):
        left, right = e.args
        if left.shape and right.shape:
            i, j = "row", "column"
            at = [self.entry_text(x, i, j if len(x.shape) == 2 else "ord0") for x in e.args]
            return f"\\matrix_({i}, {j}) ({at[0]} * {at[1]})", SUM
        if left.shape or right.shape:
            factor, tensor = (left, right) if right.shape else (right, left)
            return f"{self.show(factor, POWER)} *: {self.show(tensor, POWER)}", PRODUCT
        return f"{self.show(left, PRODUCT)} * {self.show(right, POWER)}", PRODUCT

    def of_div(self, e):
        left, right = e.args
        self.need_division(right)
        if left.shape:
            return f"{self.show(right, ATOM)}^-1 *: {self.show(left, POWER)}", PRODUCT
        return f"{self.show(left, PRODUCT)} / {self.show(right, POWER)}", PRODUCT

    def of_pow(self, e):
        base, exponent = e.args
        if exponent.op != "const":
            raise NotForCoq("a power with a symbolic exponent")
        q = exponent.data
        if q < 0:
            self.need_division(base)
            text, level = self.power(base, -q)
            return f"{text if level == ATOM else f'({text})'}^-1", POSTFIX
        return self.power(base, q)

    def power(self, base: Expr, q: Fraction) -> tuple:
        depth = q.denominator.bit_length() - 1
        if q.denominator != 2 ** depth or depth > 2:
            raise NotForCoq(f"the power {q}: MathComp has square roots only")
        text = self.show(base, ATOM)
        if depth:
            self.need(ROOTS)
            self.roots[text] = max(depth, self.roots.get(text, 0))
            for k in range(depth):
                text = f"(Num.sqrt {text})"
        return (text, ATOM) if q.numerator == 1 else (f"{text} ^+ {q.numerator}", POWER)

    def of_matmul(self, e):
        left, right = e.args
        if len(left.shape) == 1 == len(right.shape):
            return f"({self.show(left, ATOM)}^T *m {self.show(right, POWER)}) ord0 ord0", APPLIED
        if len(left.shape) == 1:
            return f"{self.show(right, ATOM)}^T *m {self.show(left, POWER)}", PRODUCT
        return f"{self.show(left, PRODUCT)} *m {self.show(right, POWER)}", PRODUCT

    def of_transpose(self, e):
        return f"{self.show(e.args[0], ATOM)}^T", POSTFIX

    def of_inverse(self, e):
        inside = e.args[0]
        while inside.op in ("transpose", "paren", "defined", "inverse"):
            inside = inside.args[0]
        if inside.op not in ("symbol", "eye"):
            raise NotForCoq("the inverse of something other than a named matrix or its transpose")
        self.need(UNITS)
        return f"invmx {self.show(e.args[0], ATOM)}", APPLIED

    def of_eye(self, e):
        return f"(1%:M : {self.type(e.shape)})", ATOM

    def of_fill(self, e):
        if not e.data:
            return f"(0 : {self.type(e.shape)})", ATOM
        return f"(const_mx {self.show(Expr('const', (), (), e.data), ATOM)} : {self.type(e.shape)})", ATOM

    def of_sum(self, e):
        name, size = e.data
        return f"\\sum_({self.name(name)} < {self.size(size)}) {self.show(e.args[0], PRODUCT)}", SUM

    def of_entry(self, e):
        if e in self.parts:
            return self.parts[e], ATOM
        base, *at = e.args
        places = [self.place(i, s) for i, s in zip(at, base.shape)]
        return self.entry_text(base, *(places if len(places) == 2 else [places[0], "ord0"])), APPLIED

    def entry_text(self, base, row, column):
        return f"{self.show(base, ATOM)} {row} {column}"

    def place(self, i: Expr, size: Expr) -> str:
        """An index, counted from 0 where Coq is concerned."""
        if i.op == "index":
            return self.name(i.data[0])
        if size.op != "const":
            raise NotForCoq(f"the entry {i.data} of an axis with a symbolic size")
        return f"(@Ordinal {int(size.data)} {int(i.data) - 1} isT)"

    def of_function(self, e):
        argument, = e.args
        if e.data == "abs":
            self.need(REAL)
            inside = self.show(argument)
            return (f"map_mx (fun x => `|x|) {self.show(argument, ATOM)}", APPLIED) if argument.shape else (f"`|{inside}|", ATOM)
        if e.data == "exp":
            self.exponential()
            if not argument.shape:
                self.exponents.append(argument)
            return f"{'map_mx ' if argument.shape else ''}exp {self.show(argument, ATOM)}", APPLIED
        raise NotForCoq(f"the function {e.data}, which MathComp's algebra does not have")

    def of_softmax(self, e):
        self.exponential()
        return f"softmax_{'rows' if len(e.shape) == 2 else 'column'} exp {self.show(e.args[0], ATOM)}", APPLIED

    def exponential(self):
        self.need(REAL)
        self.uses_exp = True

    def of_rank(self, e):
        self.need(FIELD)
        raise NotForCoq("a rank outside a bound on it")


# Assumptions

def hypotheses(notation: Notation, claim: Claim, free: set) -> list:
    """(name, statement) for what the claim assumes. What is assumed of distributions is left out: no theorem here needs it."""
    found = []
    for k, a in enumerate(claim.given, 1):
        if a.kind in DISTRIBUTIONS:
            continue
        found.append((f"assumed_{k}", assumption(notation, a, free)))
    return found


def assumption(notation: Notation, a: Assumption, free: set) -> str:
    if a.kind in ("positive", "nonnegative", "nonzero"):
        notation.need(FIELD if a.kind == "nonzero" else REAL)
        x, = a.args
        text = {"positive": "0 < {} :> R", "nonnegative": "0 <= {} :> R", "nonzero": "{} != 0 :> R"}[a.kind].format(notation.show(x))
        bound = sorted(free_indices(x) - free, key=lambda i: i.data[0])
        every = "".join(f"forall {notation.name(i.data[0])} : 'I_{notation.size(i.data[1])}, " for i in bound)
        return every + text
    if a.kind == "invertible":
        notation.need(UNITS)
        return f"{notation.show(a.args[0], ATOM)} \\in unitmx"
    if a.kind == "product":
        left, right, times = a.args
        product = Expr("matmul", (left, right), left.shape[:-1] + right.shape[1:])
        value = "0" if not times.data else f"{notation.show(times, ATOM)}%:M"
        return f"{notation.show(product)} = {value}"
    raise NotForCoq(f"it assumes what has no counterpart: '{a.kind}'")


# Files

def comment(text: str) -> str:
    """Text inside a comment of Coq, whatever it holds: it neither ends the comment nor opens a string or another one."""
    return "".join(c if c.isprintable() and c not in '"' else " " for c in str(text)).replace("(*", "( *").replace("*)", "* )")


def header(claim: Claim, topic: str) -> str:
    title = f": {comment(claim.title)}" if claim.title else ""
    return f"(* {comment(topic + '#' + claim.id if topic else claim.id)}{title} *)\n"


def context(notation: Notation, free: set, trees: list, assumed: list) -> list:
    """The section's structure, sizes, symbols and assumptions."""
    kind = STRUCTURES[notation.level]
    lines = [f"Variable R : {kind}."]
    lines += ["Add Ring R_ring : (ring_of R)."] if notation.level < FIELD else ["Add Field R_field : (field_of R)."]
    shapes = [s for t in trees for n in walk(t) for s in (*n.shape, *([n.data[1]] if n.op in ("index", "sum") else []))]
    sizes = dict.fromkeys([s.data[0] for s in shapes if s.op == "symbol"] + list(notation.numbers))
    if sizes:
        lines.append(f"Variable{'s' if len(sizes) > 1 else ''} {' '.join(notation.name(s) for s in sizes)} : nat.")
    by_type = {}
    for name, e in notation.names.items():
        by_type.setdefault(notation.type(e.shape), []).append(notation.name(name))
    lines += [f"Variable{'s' if len(names) > 1 else ''} {' '.join(names)} : {type_}." for type_, names in by_type.items()]
    for i in sorted(free, key=lambda i: i.data[0]):
        lines.append(f"Variable {notation.name(i.data[0])} : 'I_{notation.size(i.data[1])}.")
    if notation.uses_exp:
        lines += ["Variable exp : R -> R.", "Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.",
                  "Hypothesis exp_positive : forall x, 0 < exp x.",
                  "Ltac exponents ::= rewrite ?(mulr1, mul1r, exp_add, exp_zero exp_add exp_positive,",
                  "  exp_opposite exp_add exp_positive, exp_multiple exp_add exp_positive)."]
    if notation.level >= REAL:
        positive = list(notation.numbers) if not notation.uses_exp else list(sizes)
        lines += [f"Hypothesis size_{s} : (0 < {notation.name(s)})%N." for s in positive]
    lines += [f"Hypothesis {name} : {statement}." for name, statement in assumed]
    return lines


def script(notation: Notation, claim: Claim) -> list:
    """The proof of an equality of the claim: what is known is brought to bear, then the general tactic."""
    trees = [claim.start, *(s.expr for s in claim.steps), *claim.because]
    lengths = {int(s.data) for t in trees for n in walk(t) for s in (*n.shape, *([n.data[1]] if n.op == "sum" else [])) if s.op == "const"}
    lines = [line for n in sorted(lengths) if n <= LARGEST // 4 for line in written_out(n)]
    for k, (text, depth) in enumerate(notation.roots.items(), 1):
        lemma = {1: "square_root", 2: "fourth_root"}[depth]
        facts = [f"root_{k}_{n}" for n in range(1, depth + 2)]
        lines.append(f"have positive_{k} : 0 < {text} :> R by positive.")
        lines.append(f"have [root_{k} [root_{k}_positive {' '.join(facts)}]] := {lemma} positive_{k}.")
        lines.append(f"rewrite {' '.join(f'?{fact}' for fact in facts)}. clear {' '.join(facts)}.")
    products = [f"apply_product assumed_{k}." for k, a in enumerate(claim.given, 1) if a.kind == "product"]
    products += [f"apply_inverse assumed_{k}." for k, a in enumerate(claim.given, 1) if a.kind == "invertible"]
    if products:
        lines += ["multiply_out.", *products]
    lines += parts_of_exponents(notation)
    if not any(n.op in SUMS or n.op == "matmul" and not n.shape for t in trees for n in walk(t)):
        return [*lines, "matrices arithmetic."]
    return [*lines, "sums arithmetic."]


SUMS = ("sum", "entry", "softmax", "function")


def written_out(n: int) -> list:
    """A sum over a known number of places, term by term."""
    places = " + ".join(f"f (@Ordinal {n} {k} isT)" for k in range(n))
    return [f"have written_{n} : forall f : 'I_{n} -> R, \\sum_(i < {n}) f i = {places} by write_out."]


def parts_of_exponents(notation: Notation) -> list:
    """exp(x/2) is no power of exp(x): write x as 2y, and every exponent as a whole multiple of y."""
    combinations = [linear(e) for e in notation.exponents]
    if None in combinations:
        return []
    lines, denominators = [], {}
    for combination in combinations:
        for atom, c in combination.items():
            denominators[atom] = lcm(denominators.get(atom, 1), c.denominator)
    if max(denominators.values(), default=1) == 1:
        return []
    for k, (atom, d) in enumerate(denominators.items(), 1):
        if d > 1:
            lines.append(f"have [part_{k} whole_{k}] := divided {notation.show(atom, ATOM)} (n := {d}) isT. rewrite whole_{k}.")
            notation.parts[atom] = f"({d}%:R * part_{k})"
    for e, combination in dict(zip(notation.exponents, combinations)).items():
        terms = []
        for atom, c in combination.items():
            part = re.sub(r"^\(\d+%:R \* (part_\d+)\)$", r"\1", notation.show(atom, ATOM))
            count = int(c * denominators[atom])
            multiple = part if abs(count) == 1 else f"({notation.whole(abs(count))} * {part})"
            terms.append(f"- {multiple}" if count < 0 else multiple)
        shown, counted = notation.show(e), " + ".join(terms) or "0"
        if shown != counted:
            name = f"exponent_{len(lines)}"
            lines.append(f"have {name} : {shown} = {counted} :> R by arithmetic. try rewrite {name}. clear {name}.")
    notation.parts = {}
    return lines


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


def finish(claim, topic, notation, free, trees, assumed, theorems: list) -> str:
    arithmetic = "spell_ring R; ring" if notation.level < FIELD else "spell_field R; field; nonzero"
    parts = [header(claim, topic), f"From Derivations Require Import {PRELUDE_NAME}.", "Local Open Scope ring_scope.", "",
             "Section Claim.", *context(notation, free, trees, assumed), f"Ltac arithmetic := {arithmetic}.", ""]
    names = []
    for name, reason, statement, proof in theorems:
        names.append(name)
        parts += [*([f"(* {comment(reason)} *)"] if reason else []), f"Theorem {name} :", f"  {statement}.", *qed(proof), ""]
    parts += ["End Claim.", "", *(f"Print Assumptions {n}." for n in names)]
    return "\n".join(parts) + "\n"


def qed(proof: list) -> list:
    return [f"Proof. {proof[0]} Qed."] if len(proof) == 1 else ["Proof.", *proof, "Qed."]


def equation(notation: Notation, left: Expr, right: Expr) -> str:
    text = f"{notation.show(left)} =\n  {notation.show(right)}"
    return text if left.shape else f"{text} :> R"


def chain(claim: Claim, topic: str) -> Source:
    """A theorem for each equality that Coq can state, and one that joins them."""
    ends = [claim.start, *(s.expr for s in claim.steps)]
    notation, why, steps = Notation(claim), [], []
    for k, (left, right) in enumerate(zip(ends, ends[1:]), 1):
        try:
            equation(Notation(claim), left, right)
            steps.append(k)
        except NotForCoq as reason:
            why.append(f"step {k} has {reason}" if len(claim.steps) > 1 else str(reason))
    if not steps:
        return Source(None, why[0])
    free = set().union(*(free_indices(e) for k in steps for e in ends[k - 1:k + 1]))
    texts = {k: equation(notation, ends[k - 1], ends[k]) for k in steps}
    whole = len(steps) == len(claim.steps)
    assumed = hypotheses(notation, claim, free)
    trees = [e for k in steps for e in ends[k - 1:k + 1]]
    trees += [x for a in claim.given if a.kind not in DISTRIBUTIONS for x in a.args]
    single = len(claim.steps) == 1
    proof = script(notation, claim)   # one proof for every step
    theorems = [("claim" if single else f"step_{k}", claim.steps[k - 1].reason, texts[k], proof) for k in steps]
    if whole and not single:
        joined = f"step_{len(ends) - 1}"
        for k in range(len(ends) - 2, 0, -1):
            joined = f"etrans step_{k} {joined if joined.startswith('step') else f'({joined})'}"
        theorems.append(("claim", "The whole", equation(notation, ends[0], ends[-1]), [f"exact: {joined}."]))
    return Source(finish(claim, topic, notation, free, trees, assumed, theorems), "; ".join(why), tuple(steps), whole, scope(notation))


def inequality(claim: Claim, topic: str) -> Source:
    if claim.start.op == "rank":
        return rank_bound(claim, topic)
    notation = Notation(claim)
    notation.need(REAL)
    left, right = claim.start, claim.steps[0].expr
    if len(claim.because) != 1 or left.shape or claim.because[0].shape:
        raise NotForCoq("an inequality that is not between numbers")
    certificate, = claim.because
    difference = Expr("add", (right, Expr("neg", (left,))))
    first = equation(notation, difference, certificate)
    statement = f"{notation.show(left)} <=\n  {notation.show(right)} :> R"
    free = set().union(*map(free_indices, (left, right, certificate)))
    assumed = hypotheses(notation, claim, free)
    trees = [left, right, certificate, *(x for a in claim.given for x in a.args)]
    theorems = [("certificate", "What the right side has more", first, script(notation, claim)),
                ("claim", claim.steps[0].reason, statement, ["rewrite -subr_ge0 certificate; nonnegative."])]
    return Source(finish(claim, topic, notation, free, trees, assumed, theorems), "", (1,), True, scope(notation))


def rank_bound(claim: Claim, topic: str) -> Source:
    notation = Notation(claim)
    notation.need(FIELD)
    bound = claim.steps[0].expr
    if bound.op not in ("const", "symbol") or bound.op == "symbol" and bound.data[1] != "size" or bound.op == "const" and bound.data.denominator != 1:
        raise NotForCoq("a bound on a rank that is not a size")
    if len(claim.because) != 2:
        raise NotForCoq("a bound on a rank without a factorisation")
    first, second = claim.because
    body, = claim.start.args
    product = Expr("matmul", (first, second), (first.shape[0], second.shape[1]))
    shown, factored = notation.show(body), notation.show(product)
    bounded = f"(\\rank ({shown}) <= {notation.size(bound)})%N"
    theorems = [("claim", claim.steps[0].reason, bounded, ["exact: mulmx_max_rank."])]
    if shown != factored:
        theorems = [("certificate", "A factorisation", f"{shown} = {factored}", script(notation, claim)),
                    ("claim", claim.steps[0].reason, bounded, ["rewrite certificate; exact: mulmx_max_rank."])]
    free = set().union(*map(free_indices, (body, product)))
    assumed = hypotheses(notation, claim, free)
    trees = [body, product, *(x for a in claim.given for x in a.args)]
    return Source(finish(claim, topic, notation, free, trees, assumed, theorems), "", (1,), True, scope(notation))


def scope(notation: Notation) -> str:
    return {"comRingType": "every commutative ring", "comUnitRingType": "every commutative ring", "fieldType": "every field",
            "realFieldType": "every ordered field", "rcfType": "every real closed field"}[STRUCTURES[notation.level]]
# Checking with coqc

def available() -> bool:
    return shutil.which("coqc") is not None


def version() -> str:
    """What a result depends on besides the sources: Coq's version and where its libraries come from; "" without coqc."""
    if not available():
        return ""
    said = [subprocess.run(["coqc", option], capture_output=True, text=True, timeout=30, env=environment()).stdout.strip()
            for option in ("--version", "-where")]
    library = Path(said[1]) / "user-contrib" / "mathcomp" / "algebra" / "matrix.vo"
    return f"{said[0].splitlines()[0]}, {library.stat().st_size if library.is_file() else 'no MathComp'}"


NO_PROOF = "Coq does not prove it: "   # our script finds no proof, which is not to say that there is none
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
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", env=environment(), cwd=folder, start_new_session=True)
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
    bare = uncommented(text)
    found = FORBIDDEN.search(bare)
    if found:
        return f"the source contains '{found[0]}'"
    names = theorems(text)
    if not names:
        return "the source states no theorem"
    if bare.count('"'):
        return "the source contains a string"
    if re.findall(r"^Print Assumptions ([A-Za-z0-9_']+)\.$", bare, re.MULTILINE) != names or len(re.findall(r"\bPrint\b", bare)) != len(names):
        return "the source does not print the assumptions of each of its theorems once"
    if re.search(r"\b(idtac|fail)\b|\b(Check|Search|Show|Eval|Compute|About|Fail|Timeout|Time)\b", bare):
        return "the source prints something of its own"
    return ""


def uncommented(text: str) -> str:
    """The text without comments, which nest in Coq."""
    depth, kept, k = 0, [], 0
    while k < len(text):
        pair = text[k:k + 2]
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


# What the files share. Its lemmas are proved too; nothing in it is taken for granted.

PRELUDE = r'''
(* What the claims' files share: MathComp's rings and fields for Coq's `ring` and `field`, and three tactics. *)
From Coq Require Export Ring Field.
From mathcomp Require Export all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Export GRing.Theory Order.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ring.
Variable R : comRingType.
Definition zero : R := 0.
Definition one : R := 1.
Definition plus (x y : R) : R := x + y.
Definition times (x y : R) : R := x * y.
Definition minus (x y : R) : R := x - y.
Definition opposite (x : R) : R := - x.
Definition numeral n : R := n%:R.
Definition power (x : R) n : R := x ^+ n.
Definition entry m n (M : 'M[R]_(m, n)) i j : R := M i j.
Lemma ring_of : @ring_theory (GRing.ComRing.sort R) zero one plus times minus opposite (@eq R).
Proof.
split=> //=; rewrite /plus /times /minus /opposite.
- exact: add0r. - exact: addrC. - exact: addrA. - exact: mul1r.
- exact: mulrC. - exact: mulrA. - exact: mulrDl. - exact: subrr.
Qed.
Lemma zeroE : 0 = zero. Proof. by []. Qed.
Lemma oneE : 1 = one. Proof. by []. Qed.
Lemma plusE (x y : R) : x + y = plus x y. Proof. by []. Qed.
Lemma timesE (x y : R) : x * y = times x y. Proof. by []. Qed.
Lemma oppositeE (x : R) : - x = opposite x. Proof. by []. Qed.
Lemma natmulE (x : R) n : x *+ n = times x (numeral n). Proof. by rewrite /times mulr_natr. Qed.
Lemma powerE (x : R) n : x ^+ n = power x n. Proof. by []. Qed.
Lemma entryE m n (M : 'M[R]_(m, n)) i j : M i j = entry M i j. Proof. by []. Qed.
Lemma numeral0 : numeral 0 = zero. Proof. by []. Qed.
Lemma numeralS n : numeral n.+1 = plus one (numeral n). Proof. exact: mulrS. Qed.
Lemma power0 x : power x 0 = one. Proof. exact: expr0. Qed.
Lemma powerS x n : power x n.+1 = times x (power x n). Proof. exact: exprS. Qed.
End Ring.

Section Field.
Variable F : fieldType.
Local Notation carrier := (GRing.ComRing.sort F).
Definition reciprocal (x : carrier) : carrier := (x : F)^-1.
Definition quotient (x y : carrier) : carrier := (x : F) / (y : F).
Lemma field_of : @field_theory carrier (zero F) (one F) (@plus F) (@times F) (@minus F) (@opposite F) quotient reciprocal (@eq carrier).
Proof.
split=> //=; first exact: (ring_of F).
  by apply/eqP; rewrite oner_neq0.
by move=> p /eqP p0; apply: mulVf.
Qed.
Lemma reciprocalE (x : F) : x^-1 = reciprocal x. Proof. by []. Qed.
End Field.

(* Spell every operation of the goal in the one way that `ring` and `field` know. *)
Lemma same (R : comRingType) (x y : R) : plus x (zero R) = plus y (zero R) -> x = y.
Proof. by rewrite /plus /zero !addr0. Qed.
Ltac spell C := refine (@same C _ _ _);
  rewrite ?(@powerE C, @natmulE C, @entryE C);
  rewrite ?(@zeroE C, @oneE C, @plusE C, @timesE C, @oppositeE C);
  rewrite ?(@numeral0 C, @numeralS C, @power0 C, @powerS C).
Ltac spell_ring R := spell constr:(R : comRingType).
Ltac spell_field R :=
  match type of (field_of R) with
  | @field_theory _ (zero ?C) _ _ _ _ _ _ ?inv _ =>
    spell C; match inv with @reciprocal ?F => rewrite ?(@reciprocalE F) end
  end.

(* Signs, read off the way an expression is built. *)
Section Signs.
Variable R : realFieldType.
Implicit Types x : R.
Lemma norm_plus_ge0 x : 0 <= `|x| + x. Proof. by rewrite -ler_subl_addr sub0r -normrN ler_norm. Qed.
Lemma norm_minus_ge0 x : 0 <= `|x| - x. Proof. by rewrite subr_ge0 ler_norm. Qed.
Lemma even_ge0 x n : ~~ odd n -> 0 <= x ^+ n. Proof. exact: exprn_even_ge0. Qed.
Lemma even_gt0 x n : ~~ odd n -> x != 0 -> 0 < x ^+ n.
Proof. by move=> n_even x0; rewrite exprn_even_gt0 // x0 orbT. Qed.
Lemma square_gt0 x : x != 0 -> 0 < x * x. Proof. by move=> x0; rewrite -expr2; apply: even_gt0. Qed.
End Signs.

Ltac positive := first
  [ done | match goal with H : _ |- _ => exact: H end | by rewrite ltr0n | exact: ltr01
  | by apply: divr_gt0; positive | by apply: mulr_gt0; positive | by rewrite invr_gt0; positive
  | by apply: addr_gt0; positive | by apply: ltr_paddr; [nonnegative | positive] | by apply: ltr_paddl; [nonnegative | positive]
  | by apply: even_gt0 | by apply: square_gt0 | by apply: exprn_gt0; positive | by rewrite sqrtr_gt0; positive ]
with nonnegative := first
  [ done | match goal with H : _ |- _ => exact: H end | match goal with H : _ |- _ => exact: ltW H end
  | exact: ler0n | exact: ler01 | exact: normr_ge0 | exact: norm_plus_ge0 | exact: norm_minus_ge0
  | by rewrite addrC; exact: norm_plus_ge0 | by rewrite addrC; exact: norm_minus_ge0
  | exact: sqrtr_ge0 | by apply: even_ge0
  | by apply: divr_ge0; nonnegative | by apply: mulr_ge0; nonnegative | by rewrite invr_ge0; nonnegative
  | by apply: addr_ge0; nonnegative | by apply: exprn_ge0; nonnegative | by apply: sumr_ge0 => ? _; nonnegative
  | by apply: ltW; positive ].

(* The side conditions that `field` leaves. *)
Ltac nonzero :=
  repeat match goal with |- _ /\ _ => split end;
  rewrite ?/plus ?/times ?/minus ?/opposite ?/numeral ?/zero ?/one ?/reciprocal ?/power ?/entry; apply/eqP;
  first [ done | match goal with H : _ |- _ => exact: H end | by apply: lt0r_neq0; positive
        | by rewrite oppr_eq0; apply: lt0r_neq0; positive ].

(* Roots of a positive number, as one new number whose powers give the rest. *)
Section Roots.
Variable R : rcfType.
Lemma square_root (a : R) : 0 < a -> exists s : R, [/\ 0 < s, Num.sqrt a = s & a = s ^+ 2].
Proof. by move=> a0; exists (Num.sqrt a); rewrite sqrtr_gt0 sqr_sqrtr ?ltW. Qed.
Lemma fourth_root (a : R) : 0 < a -> exists s : R, [/\ 0 < s, Num.sqrt (Num.sqrt a) = s, Num.sqrt a = s ^+ 2 & a = s ^+ 4].
Proof.
move=> a0; exists (Num.sqrt (Num.sqrt a)).
by rewrite !sqrtr_gt0 (exprM _ 2 2) !sqr_sqrtr ?ltW ?sqrtr_gt0.
Qed.
End Roots.

(* Matrices: everything to sums of products, transposes and scalars at the leaves; then entry by entry. *)
Section Matrices.
Variable R : comRingType.
Lemma turnD m n (A B : 'M[R]_(m, n)) : (A + B)^T = A^T + B^T. Proof. exact: linearD. Qed.
Lemma turnN m n (A : 'M[R]_(m, n)) : (- A)^T = - A^T. Proof. exact: linearN. Qed.
Lemma turnZ m n c (A : 'M[R]_(m, n)) : (c *: A)^T = c *: A^T. Proof. exact: linearZ. Qed.
Lemma scale_left m n p c (A : 'M[R]_(m, n)) (B : 'M_(n, p)) : (c *: A) *m B = c *: (A *m B). Proof. by rewrite scalemxAl. Qed.
Lemma scale_right m n p c (A : 'M[R]_(m, n)) (B : 'M_(n, p)) : A *m (c *: B) = c *: (A *m B). Proof. by rewrite scalemxAr. Qed.
Lemma turn_product m n p (A : 'M[R]_(m, n)) (B : 'M_(n, p)) C : A *m B = C -> B^T *m A^T = C^T.
Proof. by move=> <-; rewrite trmx_mul. Qed.
Lemma carry_product m n p (A : 'M[R]_(m, n)) (B : 'M_(n, p)) C : A *m B = C ->
  forall q (Z : 'M_(q, m)), Z *m A *m B = Z *m C.
Proof. by move=> <- q Z; rewrite mulmxA. Qed.
End Matrices.
Lemma turn_inverse (R : comUnitRingType) n (A : 'M[R]_n) : invmx A^T = (invmx A)^T. Proof. by rewrite trmx_inv. Qed.

Ltac multiply_out := rewrite ?(turnD, turnN, turnZ, trmx_mul, trmxK, trmx0, trmx1, tr_scalar_mx, trmx_const, turn_inverse, invmxK, invmx1);
  rewrite ?(mulmxDl, mulmxDr, mulNmx, mulmxN, mul1mx, mulmx1, mul0mx, mulmx0, mul_scalar_mx, mul_mx_scalar, scale_left, scale_right, mulmxA).
(* A known product A B = C, wherever it stands: also transposed, and after other factors. *)
Ltac apply_product H :=
  let turned := fresh "turned" in
  have turned := turn_product H; rewrite ?(trmxK, trmx0, trmx1, tr_scalar_mx) in turned;
  do 4 (rewrite ?(carry_product H) ?H ?(carry_product turned) ?turned; multiply_out).
Ltac entries := repeat match goal with |- context [?A *m ?B] => move: (A *m B) => ? end.
Ltac matrices arithmetic := multiply_out; entries;
  try (apply/matrixP => ? ?); rewrite ?mxE; arithmetic.

(* What is known of an invertible matrix. *)
Ltac apply_inverse H := apply_product (mulmxV H); apply_product (mulVmx H).

(* The exponential: any positive function that turns sums into products. *)
Section Exponential.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.
Hypothesis exp_positive : forall x, 0 < exp x.
Lemma exp_zero : exp 0 = 1.
Proof. by apply: (mulfI (lt0r_neq0 (exp_positive 0))); rewrite -exp_add addr0 mulr1. Qed.
Lemma exp_opposite x : exp (- x) = (exp x)^-1.
Proof.
by apply: (mulfI (lt0r_neq0 (exp_positive x))); rewrite -exp_add subrr exp_zero divff ?lt0r_neq0.
Qed.
Lemma exp_multiple n x : exp (n%:R * x) = exp x ^+ n.
Proof. by rewrite mulr_natl; elim: n => [|n IH]; rewrite ?exp_zero // mulrS exp_add IH exprS. Qed.
Lemma sum_positive n (f : 'I_n -> R) : (0 < n)%N -> (forall i, 0 < f i) -> 0 < \sum_(i < n) f i.
Proof.
case: n f => // n f _ f_positive; rewrite big_ord_recl; apply: ltr_paddr => //.
by apply: sumr_ge0 => i _; apply: ltW.
Qed.
Lemma divided (x : R) n : (0 < n)%N -> exists y, x = n%:R * y.
Proof. by move=> n0; exists (x / n%:R); rewrite mulrCA divff ?mulr1 // pnatr_eq0 -lt0n. Qed.
Definition softmax_column n (z : 'cV[R]_n) : 'cV[R]_n := \col_i (exp (z i ord0) / \sum_(j < n) exp (z j ord0)).
Definition softmax_rows m n (S : 'M[R]_(m, n)) : 'M[R]_(m, n) := \matrix_(i, j) (exp (S i j) / \sum_(k < n) exp (S i k)).
End Exponential.
Ltac write_out := let f := fresh "f" in move=> f; rewrite !big_ord_recl big_ord0 addr0; repeat apply: (f_equal2 +%R); apply: (f_equal f); exact: val_inj.
Ltac written_out := repeat match goal with H : forall f : 'I_?n -> _, _ = _ |- context [\sum_(i < ?n) _] => rewrite H end.
Ltac exponents := idtac.   (* a claim with exponentials puts its own here *)

(* Sums over an index. First way: put each summand in order, take out what does not depend on the index, and treat the sums
   that are left as numbers. *)
Ltac put_in_order := rewrite ?mxE; written_out; rewrite ?mxE; exponents; rewrite ?mulf_div.
Ltac hide_sums_of side :=
  repeat match goal with known : @BigOp.bigop _ _ _ _ _ = _ |- _ => progress rewrite known end;
  try match constr:(side) with | context [@BigOp.bigop ?T ?I ?none ?r ?f] =>
    let S := fresh "S" in let known := fresh "known" in
    try (have : 0 < @BigOp.bigop T I none r f by apply: sum_positive => // ?; positive);
    have [S known] : exists S, @BigOp.bigop T I none r f = S by [eexists];
    rewrite ?known; try move=> ? end.
Ltac hide_sum :=
  match goal with |- context [\sum_(i < ?n) @?f i] =>
    let e := fresh in let S := fresh "S" in
    eassert (e : \sum_(i < n) f i = _);
    [ etransitivity; [apply: eq_bigr => ? _; put_in_order; reflexivity
      | rewrite -?mulr_suml -?mulr_sumr ?sumr_const ?card_ord; reflexivity]
    | match type of e with _ = ?side => rewrite {}e; hide_sums_of side end ]
  end.
(* Second way: multiply everything out, into sums of sums of products, and compare summands, in any order of summation. *)
Lemma minus_sum (R : ringType) n (f : 'I_n -> R) : - (\sum_(i < n) f i) = \sum_(i < n) (- f i). Proof. by rewrite sumrN. Qed.
Ltac widen :=
  rewrite ?mxE; written_out; rewrite ?mxE; exponents;
  rewrite ?(mulr_suml, mulr_sumr, mulrDl, mulrDr, mulNr, mulrN, minus_sum, big_split, sumr_const, card_ord) /=;
  lazymatch goal with
  | |- \sum_(i < _) _ = _ => apply: eq_bigr => ? _; widen
  | |- _ + _ = _ => apply: (f_equal2 +%R); widen
  | |- _ => reflexivity
  end.
Ltac widen_sides := etransitivity; [widen | symmetry; etransitivity; [widen | symmetry]].
Ltac compare arithmetic := first
  [ solve [arithmetic]
  | solve [apply: eq_bigr => ? _; compare arithmetic]
  | solve [rewrite exchange_big /=; apply: eq_bigr => ? _; compare arithmetic]
  | solve [under eq_bigr => ? _ do rewrite exchange_big /=; rewrite exchange_big /=; apply: eq_bigr => ? _; compare arithmetic]
  | solve [apply: (f_equal2 +%R); compare arithmetic]
  | solve [rewrite -?sumrN -?big_split /=; apply: eq_bigr => ? _; compare arithmetic] ].
Ltac sums arithmetic := rewrite ?/softmax_column ?/softmax_rows; try (apply/matrixP => ? ?); first
  [ solve [put_in_order; arithmetic]
  | solve [put_in_order; repeat hide_sum; arithmetic]
  | solve [rewrite ?mxE ?(mulr_suml, mulr_sumr) -?sumrN -?big_split /=; apply: eq_bigr => ? _; put_in_order; arithmetic]
  | solve [do 3 widen_sides; compare arithmetic] ].
'''.lstrip()
