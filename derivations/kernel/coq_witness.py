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

TIME_LIMIT = 300      # seconds for one file
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
OURS = re.compile(r"(step|claim|certificate|assumed|size|root|positive|exp|exponent|part|whole|written|places)(_[A-Za-z0-9]*)?")
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
            rows, columns = self.size(left.shape[0]), self.size(left.shape[1]) if len(left.shape) == 2 else "1"
            return f"\\matrix_({i} < {rows}, {j} < {columns}) ({at[0]} * {at[1]})", SUM
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

    def of_array(self, e):
        if len(e.shape) > 2 or any(int(size.data) > LARGEST // 4 for size in e.shape):
            raise NotForCoq("a tensor written out, with more than two axes or a long one")
        columns = int(e.shape[1].data) if len(e.shape) == 2 else 1
        rows = [e.args[k:k + columns] for k in range(0, len(e.args), columns)]
        shown = "; ".join(f"[:: {'; '.join(self.show(x) for x in row)}]" for row in rows)
        return f"(written {len(rows)} {columns} [:: {shown}] : {self.type(e.shape)})", ATOM

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
                  "Hypothesis exp_positive : forall x, 0 < exp x."]
    if notation.level >= REAL:
        positive = list(notation.numbers) if not notation.uses_exp else list(sizes)
        lines += [f"Hypothesis size_{s} : (0 < {notation.name(s)})%N." for s in positive]
    lines += [f"Hypothesis {name} : {statement}." for name, statement in assumed]
    return lines


def script(notation: Notation, claim: Claim) -> list:
    """The proof of an equality of the claim: what is known is brought to bear, then the general tactic."""
    trees = [claim.start, *(s.expr for s in claim.steps), *claim.because]
    lengths = {int(s.data) for t in trees for n in walk(t) for s in (*n.shape, *([n.data[1]] if n.op == "sum" else [])) if s.op == "const"}
    arrays = any(n.op == "array" for t in trees for n in walk(t))
    lines = [line for n in sorted(lengths) if 1 < n <= LARGEST // 4 for line in written_out(n, arrays)]
    lines += [f"normal_fact assumed_{k}." for k, a in enumerate(claim.given, 1)
              if a.kind in ("positive", "nonzero") and a.args[0].op not in ("symbol", "const") and not free_indices(a.args[0])]
    products = [f"apply_product assumed_{k}." for k, a in enumerate(claim.given, 1) if a.kind == "product"]
    products += [f"apply_inverse assumed_{k}." for k, a in enumerate(claim.given, 1) if a.kind == "invertible"]
    if products:
        lines += ["multiply_out.", *products]
    lines += parts_of_exponents(notation)
    if not any(n.op in SUMS or n.op == "matmul" and not n.shape for t in trees for n in walk(t)):
        return [*lines, "matrices R."]
    return [*lines, "entrywise R."]


SUMS = ("sum", "entry", "softmax", "function", "array")


def written_out(n: int, places: bool) -> list:
    """A sum over a known number of places, term by term; and, where wanted, that these are all the places."""
    ordinals = [f"(@Ordinal {n} {k} isT)" for k in range(n)]
    lines = [f"have written_{n} : forall f : 'I_{n} -> R, \\sum_(i < {n}) f i = {' + '.join('f ' + k for k in ordinals)} by write_out."]
    if places:
        lines.append(f"have places_{n} : forall P : 'I_{n} -> Prop, {' -> '.join('P ' + k for k in ordinals)} -> forall i, P i by every_place.")
    return lines


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
Lemma numeralE n : n%:R = numeral n. Proof. by []. Qed.
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

(* Softmax of a vector, and of each row of a matrix, for any exponential. *)
Section Softmax.
Variables (R : realFieldType) (exp : R -> R).
Definition softmax_column n (z : 'cV[R]_n) : 'cV[R]_n := \col_i (exp (z i ord0) / \sum_(j < n) exp (z j ord0)).
Definition softmax_rows m n (S : 'M[R]_(m, n)) : 'M[R]_(m, n) := \matrix_(i, j) (exp (S i j) / \sum_(k < n) exp (S i k)).
Lemma softmax_columnE n (z : 'cV[R]_n) i j : softmax_column z i j = exp (z i ord0) / \sum_(k < n) exp (z k ord0).
Proof. by rewrite mxE. Qed.
Lemma softmax_rowsE m n (S : 'M[R]_(m, n)) i j : softmax_rows S i j = exp (S i j) / \sum_(k < n) exp (S i k).
Proof. by rewrite mxE. Qed.
End Softmax.

(* Signs, read off the way an expression is built. *)
Section Signs.
Variable R : realFieldType.
Implicit Types x : R.
Lemma norm_plus_ge0 x : 0 <= `|x| + x. Proof. by rewrite -ler_subl_addr sub0r -normrN ler_norm. Qed.
Lemma norm_minus_ge0 x : 0 <= `|x| - x. Proof. by rewrite subr_ge0 ler_norm. Qed.
Lemma even_ge0 x n : ~~ odd n -> 0 <= x ^+ n. Proof. exact: exprn_even_ge0. Qed.
Lemma even_gt0 x n : ~~ odd n -> x != 0 -> 0 < x ^+ n.
Proof. by move=> n_even x0; rewrite exprn_even_gt0 // x0 orbT. Qed.
Lemma square_ge0 x : 0 <= x * x. Proof. by rewrite -expr2 sqr_ge0. Qed.
Lemma square_gt0 x : x != 0 -> 0 < x * x. Proof. by move=> x0; rewrite -expr2; apply: even_gt0. Qed.
Lemma sum_positive n (f : 'I_n -> R) : (0 < n)%N -> (forall i, 0 < f i) -> 0 < \sum_(i < n) f i.
Proof.
case: n f => // n f _ f_positive; rewrite big_ord_recl; apply: ltr_paddr => //.
by apply: sumr_ge0 => i _; apply: ltW.
Qed.
Lemma above_ge0 x y : 0 <= x - y -> 0 <= y -> 0 <= x. Proof. by rewrite subr_ge0 => yx y0; apply: le_trans yx. Qed.
Lemma size_minus_ge0 n : (0 < n)%N -> 0 <= n%:R - 1 :> R. Proof. by move=> n0; rewrite subr_ge0 ler1n. Qed.
Lemma entry_dot_ge0 n (u : 'cV[R]_n) : 0 <= (u^T *m u) ord0 ord0.
Proof. by rewrite mxE; apply: sumr_ge0 => i _; rewrite mxE square_ge0. Qed.
End Signs.

Ltac assumed := match goal with
  | H : is_true (@Order.lt _ _ _ _) |- is_true (@Order.lt _ _ _ _) => exact: H
  | H : is_true (@Order.le _ _ _ _) |- is_true (@Order.le _ _ _ _) => exact: H
  | H : is_true (@Order.lt _ _ _ _) |- is_true (@Order.le _ _ _ _) => exact: ltW H
  | H : forall _, is_true (@Order.lt _ _ _ _) |- is_true (@Order.lt _ _ _ _) => exact: H
  | H : forall _, is_true (@Order.le _ _ _ _) |- is_true (@Order.le _ _ _ _) => exact: H
  | H : is_true (negb _) |- is_true (negb _) => exact: H
  end.
Ltac positive := first [ assumed | lazymatch goal with |- is_true (@Order.lt _ _ _ ?x) => lazymatch x with
  | GRing.one _ => exact: ltr01
  | @GRing.natmul _ _ _ => by rewrite ltr0n
  | @GRing.inv _ _ => rewrite invr_gt0; positive
  | @GRing.mul _ _ _ => first [by apply: square_gt0; assumed | apply: mulr_gt0; positive]
  | @GRing.add _ _ (@GRing.opp _ (GRing.one _)) => rewrite -addrA; apply: ltr_paddr; [by apply: size_minus_ge0 | positive]
  | @GRing.add _ _ _ => first [ apply: ltr_paddr; [nonnegative | positive] | apply: ltr_paddl; [nonnegative | positive] ]
  | @BigOp.bigop _ _ _ _ _ => apply: sum_positive => // ?; positive
  | @GRing.exp _ _ _ => first [by apply: even_gt0 => //; assumed | apply: exprn_gt0; positive]
  | @Num.sqrt _ _ => rewrite sqrtr_gt0; positive
  | @fun_of_matrix _ _ _ _ _ _ => first [rewrite softmax_rowsE | rewrite softmax_columnE]; positive
  | _ => first [exact: ltr01 | apply: addr_gt0; positive | apply: mulr_gt0; positive]   (* as `field` leaves numerals *)
  end end ]
with nonnegative := first [ assumed | lazymatch goal with |- is_true (@Order.le _ _ _ ?x) => lazymatch x with
  | GRing.zero _ => exact: lexx
  | GRing.one _ => exact: ler01
  | @GRing.natmul _ _ _ => exact: ler0n
  | @GRing.inv _ _ => rewrite invr_ge0; nonnegative
  | @GRing.mul _ _ _ => first [exact: square_ge0 | apply: mulr_ge0; nonnegative]
  | @GRing.opp _ (@GRing.opp _ _) => rewrite opprK; nonnegative
  | @GRing.add _ (Num.norm _) (@GRing.opp _ _) => exact: norm_minus_ge0
  | @GRing.add _ (Num.norm _) _ => exact: norm_plus_ge0
  | @GRing.add _ _ (@GRing.opp _ (GRing.one _)) => by apply: size_minus_ge0
  | @GRing.add _ _ (@GRing.opp _ (@GRing.opp _ _)) => rewrite opprK; nonnegative
  | @GRing.add _ _ _ => apply: addr_ge0; nonnegative
  | @BigOp.bigop _ _ _ _ _ => apply: sumr_ge0 => ? _; nonnegative
  | @GRing.exp _ _ _ => first [by apply: even_ge0 | apply: exprn_ge0; nonnegative]
  | @Num.sqrt _ _ => exact: sqrtr_ge0
  | Num.norm _ => exact: normr_ge0
  | @fun_of_matrix _ _ _ _ _ _ => first [exact: entry_dot_ge0 | rewrite softmax_rowsE; nonnegative | rewrite softmax_columnE; nonnegative]
  end end | apply: ltW; positive
  | match goal with
    | H : is_true (@Order.le _ _ _ (@GRing.add _ ?x (@GRing.opp _ _))) |- is_true (@Order.le _ _ _ ?x) => apply: (above_ge0 H); nonnegative
    | H : forall _ : 'I_?m, is_true (@Order.le _ _ _ (@GRing.add _ ?x (@GRing.opp _ _))), i : 'I_?m |- is_true (@Order.le _ _ _ ?x) =>
      apply: (above_ge0 (H i)); nonnegative
    end ].

(* The side conditions that `field` leaves. *)
Ltac nonzero :=
  repeat match goal with |- _ /\ _ => split end;
  rewrite ?/plus ?/times ?/minus ?/opposite ?/numeral ?/zero ?/one ?/reciprocal ?/power ?/entry; apply/eqP;
  first [ done | match goal with H : _ |- _ => exact: H end | by apply: lt0r_neq0; positive
        | by rewrite oppr_eq0; apply: lt0r_neq0; positive ].

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
Lemma exp_numeral n : exp n%:R = exp 1 ^+ n. Proof. by rewrite -[n%:R]mulr1 exp_multiple. Qed.
Lemma divided (x : R) n : (0 < n)%N -> exists y, x = n%:R * y.
Proof. by move=> n0; exists (x / n%:R); rewrite mulrCA divff ?mulr1 // pnatr_eq0 -lt0n. Qed.
End Exponential.
Ltac write_out := let f := fresh "f" in move=> f; rewrite !big_ord_recl big_ord0 addr0 ?addrA; repeat apply: (f_equal2 +%R); apply: (f_equal f); exact: val_inj.
Ltac every_place := clear; intros; let k := fresh "k" in let below := fresh "below" in
  match goal with i : 'I_?n |- ?P _ => destruct i as [k below] end;
  repeat first
    [ solve [exfalso; move: below; rewrite ?ltnS ltn0; discriminate]
    | destruct k as [| k]; [match goal with H : ?P ?j |- ?P ?i => have -> : i = j by [apply: val_inj]; exact: H end |] ].

(* ---- normal form of a number: a sum of products, sums over indices as tight as they go ---- *)
Section NormalForm.
Variable R : comRingType.
Implicit Types x y c d : R.
Lemma keep_left x y c d : x = c * d -> x * y = c * y * d. Proof. by move=> ->; rewrite mulrAC. Qed.
Lemma keep_right x y c d : x = c * d -> x * y = c * (d * y). Proof. by move=> ->; rewrite mulrA. Qed.
Lemma take_out n (f g : 'I_n -> R) c s : (forall i, f i = c * g i) -> \sum_(i < n) g i = s -> \sum_(i < n) f i = c * s.
Proof. by move=> fg <-; rewrite mulr_sumr; apply: eq_bigr. Qed.
Lemma count n : \sum_(i < n) (1 : R) = n%:R. Proof. by rewrite sumr_const card_ord. Qed.
Lemma pick n (k : 'I_n) (f g : 'I_n -> R) : (forall i, f i = (i == k)%:R * g i) -> \sum_(i < n) f i = g k.
Proof.
move=> fg; rewrite (bigD1 k) //= fg eqxx mul1r big1 ?addr0 // => i /negbTE ik.
by rewrite fg ik mul0r.
Qed.
Lemma pick_turned n (k : 'I_n) (f g : 'I_n -> R) : (forall i, f i = (k == i)%:R * g i) -> \sum_(i < n) f i = g k.
Proof. by move=> fg; apply: pick => i; rewrite eq_sym. Qed.
Lemma deltaM (b : bool) : b%:R * b%:R = b%:R :> R. Proof. by case: b; rewrite ?mul1r ?mul0r. Qed.
Lemma each n (f g : 'I_n -> R) : (forall i, f i = g i) -> \sum_(i < n) f i = \sum_(i < n) g i.
Proof. by move=> fg; apply: eq_bigr. Qed.
Lemma sum_one (f : 'I_1 -> R) : \sum_(i < 1) f i = f ord0. Proof. by rewrite big_ord1; congr f; apply: val_inj. Qed.
Lemma sum0 n : \sum_(i < n) (0 : R) = 0. Proof. exact: big1. Qed.
End NormalForm.
(* A matrix of which each entry is written. *)
Definition written (R : ringType) m n (rows : seq (seq R)) : 'M[R]_(m, n) := \matrix_(i, j) nth 0 (nth [::] rows i) j.
Lemma writtenE (R : ringType) m n (rows : seq (seq R)) i j : written m n rows i j = nth 0 (nth [::] rows i) j. Proof. by rewrite mxE. Qed.
Lemma cancelled (F : fieldType) (m x r q : F) : m = x^-1 * r -> r = x * q -> x != 0 -> m = q.
Proof. by move=> -> -> x0; rewrite mulKf. Qed.
Lemma root_twice (F : rcfType) (m x r q : F) : m = Num.sqrt x * r -> r = Num.sqrt x * q -> 0 <= x -> m = x * q.
Proof. by move=> -> -> x0; rewrite mulrA -expr2 sqr_sqrtr. Qed.
Lemma root_below_twice (F : rcfType) (m x r q : F) : m = (Num.sqrt x)^-1 * r -> r = (Num.sqrt x)^-1 * q -> 0 <= x -> m = x^-1 * q.
Proof. by move=> -> -> x0; rewrite mulrA -invfM -expr2 sqr_sqrtr. Qed.
Lemma one_place (i : 'I_1) : i = ord0. Proof. by rewrite ord1; apply: val_inj. Qed.

(* c and d with b = c * d, where c does not depend on i *)
Ltac parts R i b :=
  lazymatch b with
  | ?x * ?y => let p := parts R i x in
    lazymatch p with (?c, ?d) =>
      lazymatch y with
      | context [i] => constr:((c, d * y))
      | _ => constr:((c * y, d))
      end end
  | context [i] => constr:((1 : R, b))
  | _ => constr:((b, 1 : R))
  end.
Ltac by_parts :=
  lazymatch goal with
  | |- @GRing.mul _ ?x ?y = @GRing.mul _ ?c (@GRing.mul _ ?d ?y) => apply: keep_right; by_parts
  | |- @GRing.mul _ ?x ?y = @GRing.mul _ (@GRing.mul _ ?c ?y) ?d => apply: keep_left; by_parts
  | |- _ = @GRing.mul _ (GRing.one _) _ => symmetry; apply: mul1r
  | |- _ = @GRing.mul _ _ (GRing.one _) => symmetry; apply: mulr1
  | |- @GRing.mul _ _ _ = @GRing.mul _ _ _ => apply: mulrC
  end.
(* a monomial without the factor (i == k)%:R : (that factor, the rest) or fails *)
Ltac is_delta i b :=
  lazymatch b with
  | @GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ i ?k)) => lazymatch k with context [i] => fail | _ => idtac end
  | @GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ ?k i)) => lazymatch k with context [i] => fail | _ => idtac end
  end.
Ltac without_delta R i b :=
  match b with
  | @GRing.mul _ ?x ?y => let _ := match goal with _ => is_delta i y end in constr:((y, x))
  | @GRing.mul _ ?x ?y => let p := without_delta R i x in lazymatch p with (?k, ?r) => constr:((k, r * y)) end
  | _ => let _ := match goal with _ => is_delta i b end in constr:((b, 1 : R))
  end.

Ltac is_atom e := lazymatch e with _ + _ => fail | _ * _ => fail | - _ => fail | _^-1 => fail | @BigOp.bigop _ _ _ _ _ => fail | _ => idtac end.

Ltac multiply := repeat match goal with   (* by what is written: a numeral is no sum here *)
  | |- context [@GRing.mul _ (@GRing.add _ ?x ?y) ?z] => rewrite (mulrDl x y z)
  | |- context [@GRing.mul _ ?x (@GRing.add _ ?y ?z)] => rewrite (mulrDr x y z)
  | |- context [@GRing.mul _ ?x (@GRing.opp _ ?y)] => rewrite (mulrN x y)
  | |- context [@GRing.mul _ (@GRing.opp _ ?x) ?y] => rewrite (mulNr x y)
  | |- context [@GRing.mul _ ?x (@GRing.mul _ ?y ?z)] => rewrite (mulrA x y z)
  | |- context [@GRing.opp _ (@GRing.add _ ?x ?y)] => rewrite (opprD x y)
  | |- context [@GRing.opp _ (@GRing.opp _ ?x)] => rewrite (opprK x)
  | |- context [@GRing.add _ ?x (@GRing.add _ ?y ?z)] => rewrite (addrA x y z)
  end.
Ltac small_powers := repeat match goal with
  | |- context [@GRing.exp _ ?x (S (S ?n))] => lazymatch n with S (S (S _)) => fail | _ => rewrite (exprS x n.+1) end
  | |- context [@GRing.exp _ ?x (S O)] => rewrite (expr1 x)
  end.
Ltac sign_out := multiply; rewrite ?(mul1r, mulr1, mul0r, mulr0, addr0, add0r, oppr0, subr0, sub0r);
  repeat match goal with |- context [@GRing.mul _ (@GRing.natmul _ (GRing.one _) (nat_of_bool ?b)) (@GRing.natmul _ (GRing.one _) (nat_of_bool ?b))] => rewrite (deltaM _ b) end.

(* a product without its first factor that is a sum over an index: (that factor, the rest) *)
Ltac without_sum R b :=
  match b with
  | @GRing.mul _ ?x ?y => let p := without_sum R x in lazymatch p with (?s, ?r) => let q := eval cbv beta in (r * y) in constr:((s, q)) end
  | @GRing.mul _ ?x (@BigOp.bigop ?T ?I ?z ?r ?f) => constr:((@BigOp.bigop T I z r f, x))
  | @BigOp.bigop _ _ _ _ _ => let q := eval cbv beta in (1 : R) in constr:((b, q))
  end.
(* goal: \sum_(i < n) f i = ?x, f i a monomial *)
Ltac one_sum :=
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (GRing.zero _)) = _ => apply: sum0
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f i)) = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    let i := fresh "i" in
    tryif (let kg := constr:(fun i : 'I_n => ltac:(let b := eval cbv beta in (f i) in let p := without_delta R i b in let p := eval cbv beta in p in exact p)) in
           lazymatch kg with
           | fun j => (@GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ j ?k)), @?g j) => etransitivity; [apply: (@pick _ n k f g) => ?; cbv beta; by_parts |]
           | fun j => (@GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ ?k j)), @?g j) => etransitivity; [apply: (@pick_turned _ n k f g) => ?; cbv beta; by_parts |] end)
    then (cbv beta; rewrite ?eqxx -?[nat_of_bool true]/1%N ?mulr1n; sign_out; reflexivity)
    else
    (let cd := constr:(fun i : 'I_n => ltac:(let b := eval cbv beta in (f i) in let p := parts R i b in let p := eval cbv beta in p in exact p)) in
    lazymatch cd with fun j => (?c, @?d j) =>
      etransitivity; [apply: (@take_out _ n f d c); [move=> ?; cbv beta; by_parts | tight] |] end;
    sign_out; reflexivity)
  end
(* goal: \sum_(i < n) d i = ?x, where every factor of d i depends on i *)
with tight :=
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (GRing.one _)) = _ => apply: count
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType _)) _ = _ => cbv beta; etransitivity; [apply: each => ?; cbv beta; rewrite ?mul1r; push_in | reflexivity]
  end
with push_in :=
  lazymatch goal with |- ?m = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    tryif let p := without_sum R m in lazymatch p with (?s, ?r) => etransitivity; [assert (e : m = s * r) by by_parts; exact e |] end
    then (etransitivity; [apply: mulr_suml |]; etransitivity; [apply: each => ?; cbv beta; push_in | reflexivity])
    else (rewrite ?mul1r ?mulrA; reflexivity)
  end.

Ltac sum_out :=   (* goal: \sum_(i < n) f i = ?x, f i a sum of monomials *)
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@GRing.add _ _ _)) = _ => etransitivity; [apply: big_split | rewrite /=; etransitivity; [apply: (f_equal2 +%R); sum_out |]; sign_out; reflexivity]
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@GRing.opp _ _)) = _ => etransitivity; [apply: sumrN |]; etransitivity; [apply: (f_equal -%R); sum_out |]; sign_out; reflexivity
  | |- _ => one_sum
  end.

Ltac is_literal n := lazymatch n with O => idtac | S ?k => is_literal k end.
Ltac without_literal R b :=
  match b with
  | @GRing.mul _ ?x (@GRing.natmul ?V ?o ?n) => let _ := match goal with _ => is_literal n end in constr:((@GRing.natmul V o n, x))
  | @GRing.mul _ ?x ?y => let p := without_literal R x in lazymatch p with (?k, ?r) => let q := eval cbv beta in (r * y) in constr:((k, q)) end
  | @GRing.mul _ (@GRing.natmul ?V ?o ?n) ?y => let _ := match goal with _ => is_literal n end in constr:((@GRing.natmul V o n, y))
  end.
(* x / x in a product *)
(* The same but for how MathComp's structures were found. *)
Ltac alike x y :=
  lazymatch x with
  | @GRing.add _ ?a ?b => lazymatch y with @GRing.add _ ?c ?d => alike a c; alike b d end
  | @GRing.mul _ ?a ?b => lazymatch y with @GRing.mul _ ?c ?d => alike a c; alike b d end
  | @GRing.opp _ ?a => lazymatch y with @GRing.opp _ ?c => alike a c end
  | @GRing.inv _ ?a => lazymatch y with @GRing.inv _ ?c => alike a c end
  | GRing.one _ => lazymatch y with GRing.one _ => idtac end
  | @GRing.natmul _ ?a ?n => lazymatch y with @GRing.natmul _ ?c n => alike a c end
  | @fun_of_matrix _ _ _ ?A ?i ?j => lazymatch y with @fun_of_matrix _ _ _ A i j => idtac end
  | @Num.sqrt _ ?a => lazymatch y with @Num.sqrt _ ?c => alike a c end
  | @BigOp.bigop _ _ _ ?r ?f => lazymatch y with @BigOp.bigop _ _ _ r f => idtac end
  | ?f ?a => lazymatch y with f ?c => alike a c end
  | _ => constr_eq x y
  end.
Ltac without R x b :=
  match b with
  | @GRing.mul _ ?y ?z => let _ := match goal with _ => alike x z end in constr:(y)
  | @GRing.mul _ ?y ?z => let r := without R x y in let q := eval cbv beta in (r * z) in constr:(q)
  | _ => let _ := match goal with _ => alike x b end in let q := eval cbv beta in (1 : R) in constr:(q)
  end.
Ltac normal_product := rewrite ?(mul1r, invfM, mulrA).
Ltac cancel :=   (* goal: a sum of products = ?x *)
  lazymatch goal with
  | |- @GRing.add _ _ _ = _ => etransitivity; [apply: (f_equal2 +%R); cancel | reflexivity]
  | |- @GRing.opp _ _ = _ => etransitivity; [apply: (f_equal -%R); cancel | reflexivity]
  | |- ?m = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    tryif match m with context [@GRing.inv ?U ?x] =>
      let r := without R (@GRing.inv U x) m in let q := without R x r in
      etransitivity; [refine (@cancelled _ m x r q _ _ _); [solve [by_parts] | solve [by_parts] | apply: lt0r_neq0; solve [positive]] |] end
    then (rewrite ?mul1r; cancel) else
    tryif match m with
    | context [@GRing.inv ?U (@Num.sqrt ?V ?x)] =>
      let r := without R (@GRing.inv U (@Num.sqrt V x)) m in let q := without R (@GRing.inv U (@Num.sqrt V x)) r in
      etransitivity; [refine (@root_below_twice _ m x r q _ _ _); [solve [by_parts] | solve [by_parts] | nonnegative] |]
    | context [@Num.sqrt ?V ?x] =>
      let r := without R (@Num.sqrt V x) m in let q := without R (@Num.sqrt V x) r in
      etransitivity; [refine (@root_twice _ m x r q _ _ _); [solve [by_parts] | solve [by_parts] | nonnegative] |] end
    then (normal_product; cancel) else reflexivity
  end.
(* roots of products *)
Ltac split_roots := rewrite ?sqrtr1; repeat match goal with
  | |- context [Num.sqrt (@GRing.mul _ ?x ?y)] =>
    let e := fresh "e" in assert (e : Num.sqrt (x * y) = Num.sqrt x * Num.sqrt y) by (apply: sqrtrM; nonnegative); rewrite e; clear e
  | |- context [Num.sqrt (@GRing.inv _ ?x)] =>
    let e := fresh "e" in assert (e : Num.sqrt x^-1 = (Num.sqrt x)^-1) by (apply: sqrtrV; nonnegative); rewrite e; clear e
  end; rewrite ?invrK.
(* exp of a sum is a product, of a multiple a power *)
Ltac exponents E P :=
  let exp := lazymatch type of P with forall x, is_true (@Order.lt _ _ _ (?exp x)) => exp end in
  repeat match goal with
  | |- context [exp (@GRing.add _ _ _)] => rewrite E
  | |- context [exp (@GRing.opp _ _)] => rewrite (exp_opposite E P)
  | |- context [exp (GRing.zero _)] => rewrite (exp_zero E P)
  | |- context [exp (@GRing.natmul _ (GRing.one _) (S ?n))] => is_literal n; rewrite (exp_numeral E P n.+1)
  | |- context [exp (@GRing.mul _ (@GRing.natmul _ (GRing.one _) ?n) ?r)] => is_literal n; rewrite (exp_multiple E P n r)
  | |- context [exp ?b] =>
    let R := lazymatch type of b with ?R => constr:(R) end in
    let p := without_literal R b in lazymatch p with (@GRing.natmul _ _ ?n, ?r) =>
      let e := fresh "e" in assert (e : b = n%:R * r) by by_parts; rewrite e (exp_multiple E P); clear e end
  end.
Ltac normal :=   (* goal: e = ?x *)
  lazymatch goal with
  | |- ?a + ?b = _ => etransitivity; [apply: (f_equal2 +%R); normal |]; sign_out; reflexivity
  | |- ?a * ?b = _ => etransitivity; [apply: (f_equal2 *%R); normal |]; sign_out; cancel
  | |- - ?a = _ => etransitivity; [apply: (f_equal -%R); normal |]; sign_out; reflexivity
  | |- @GRing.inv _ (@GRing.mul _ _ _) = _ => rewrite invfM; normal
  | |- ?a ^-1 = _ => etransitivity; [apply: (f_equal GRing.inv); normal |]; rewrite ?(invfM, invrN, invrK, invr1); reflexivity
  | |- @GRing.natmul _ (GRing.one _) ?n = _ => reflexivity
  | |- ?a *+ ?n = _ => rewrite -mulr_natr; normal
  | |- ?a ^+ ?n = _ => etransitivity; [apply: (f_equal (fun t => t ^+ n)); normal |];
     tryif (lazymatch goal with |- @GRing.exp _ ?b _ = _ => is_atom b end) then (small_powers; sign_out; reflexivity)
     else (rewrite ?(exprS, expr0, mulr1); sign_out; reflexivity)
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f i)) = _ =>
     tryif (match n with 1%N => rewrite sum_one | _ => match goal with H : forall f : 'I_n -> _, _ = _ |- _ => rewrite H end end) then normal
     else (etransitivity; [apply: each => ?; normal | cbv beta; sum_out])
  | E : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y), P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- ?exp ?a = _ =>
     etransitivity; [apply: (f_equal exp); normal |];
     exponents E P; small_powers; sign_out; cancel
  | |- `|?a| = _ => etransitivity; [apply: (f_equal Num.norm); normal |]; reflexivity
  | |- Num.sqrt ?a = _ => etransitivity; [apply: (f_equal Num.sqrt); normal |]; split_roots; sign_out; reflexivity
  | |- fun_of_matrix (softmax_rows _ _) _ _ = _ => rewrite softmax_rowsE; normal
  | |- fun_of_matrix (softmax_column _ _) _ _ = _ => rewrite softmax_columnE; normal
  | |- fun_of_matrix (written _ _ _) _ _ = _ => rewrite writtenE;
     lazymatch goal with |- ?e = _ => let v := eval cbv [nth nat_of_ord ord0] in e in change e with v end; normal
  | |- fun_of_matrix _ _ _ = _ => tryif (progress rewrite mxE) then normal else reflexivity
  | |- _ => reflexivity
  end.

(* ---- comparing normal forms ---- *)
Section Compare.
Variable C : comRingType.
Definition total n (f : 'I_n -> C) : C := \sum_(i < n) f i.
Lemma total_each n (f g : 'I_n -> C) : (forall i, f i = g i) -> total f = total g. Proof. exact: each. Qed.
Lemma total_swap m n (f : 'I_m -> 'I_n -> C) : total (fun i => total (f i)) = total (fun j => total (fun i => f i j)).
Proof. exact: exchange_big. Qed.
End Compare.
Definition not_zero (F : fieldType) (x : GRing.ComRing.sort F) : bool := (x : F) != 0.
Definition above_zero (R : realFieldType) (x : GRing.ComRing.sort R) : bool := 0 < (x : R).
Ltac literal_sum C n := lazymatch n with O => constr:(@zero C) | S O => constr:(@one C) | S ?k => let r := literal_sum C k in constr:(@plus C (@one C) r) end.
Ltac literal_power C a n := lazymatch n with O => constr:(@one C) | S O => constr:(a) | S ?k => let r := literal_power C a k in constr:(@times C a r) end.
Ltac spelled C F e := lazymatch e with
  | @GRing.add _ ?a ?b => let a := spelled C F a in let b := spelled C F b in constr:(@plus C a b)
  | @GRing.mul _ ?a ?b => let a := spelled C F a in let b := spelled C F b in constr:(@times C a b)
  | @GRing.opp _ ?a => let a := spelled C F a in constr:(@opposite C a)
  | @GRing.inv _ ?a => let a := spelled C F a in
lazymatch F with tt => constr:(e) | _ => constr:(@reciprocal F a) end
  | GRing.zero _ => constr:(@zero C)
  | GRing.one _ => constr:(@one C)
  | @GRing.natmul _ (GRing.one _) ?n =>
      match n with _ => let _ := match goal with _ => is_literal n end in literal_sum C n | _ => constr:(@numeral C n) end
  | @GRing.exp _ ?a ?n => let a := spelled C F a in
      match n with _ => let _ := match goal with _ => is_literal n end in literal_power C a n | _ => constr:(@power C a n) end
  | @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f i)) =>
      let i := fresh "i" in
      let g := constr:(fun i : 'I_n => ltac:(let b := eval cbv beta in (f i) in let b := spelled C F b in exact b)) in
      constr:(@total C n g)
  | @fun_of_matrix _ ?m ?n ?A ?i ?j => constr:(@entry C m n A i j)
  | @Num.sqrt ?T ?a => let a := spelled C F a in constr:(@Num.sqrt T a)
  | @Num.norm ?T ?V ?a => let a := spelled C F a in constr:(@Num.norm T V a)
  | ?f ?a => let a := spelled C F a in constr:(f a)
  | _ => constr:(e)
  end.
Ltac carrier R k :=
  match R with
  | _ => let T := type of (field_of R) in
    lazymatch T with @field_theory _ (zero ?C) _ _ _ _ _ _ (@reciprocal ?F) _ => k C F end
  | _ => let T := type of (ring_of R) in lazymatch T with @ring_theory _ (zero ?C) _ _ _ _ _ _ => k C tt end
  end.
Ltac spell_all C F :=
  repeat match goal with H : is_true (negb (@eq_op _ ?e _)) |- _ =>
    let e' := spelled C F e in
    lazymatch goal with _ : is_true (@not_zero _ e') |- _ => fail | _ => idtac end; have : not_zero e' by [exact: H]; move=> ? end;
  repeat match goal with H : is_true (@Order.lt _ _ (GRing.zero _) ?e) |- _ =>
    let e' := spelled C F e in
    lazymatch goal with _ : is_true (@above_zero _ e') |- _ => fail | _ => idtac end; have : above_zero e' by [exact: H]; move=> ? end;
  repeat match goal with H : @GRing.mul _ ?a ?b = ?e |- _ =>
    let a' := spelled C F a in let e' := spelled C F e in change (@times C a' a' = e') in H end;
  lazymatch goal with |- ?a = ?b =>
    let a' := spelled C F a in let b' := spelled C F b in change (a' = b') end.
Ltac front k :=   (* goal: sum = ?x; the sum number k comes first *)
  lazymatch k with
  | O => reflexivity
  | S ?l => etransitivity; [apply: total_each => ?; front l | cbv beta; apply: total_swap]
  end.
Ltac named t :=
  let s := fresh "s" in let known := fresh "known" in
  set (s := t) in *; pose proof (@Logic.eq_refl _ s : t = s) as known; clearbody s.
Ltac same_kind u t :=
  lazymatch u with
  | @total _ _ _ => lazymatch t with @total _ _ _ => idtac end
  | @eq_op _ _ _ => lazymatch t with @eq_op _ _ _ => idtac end
  | ?f _ => lazymatch t with f _ => idtac end
  end.
Ltac hide t same :=
  tryif match goal with known : ?u = ?s |- _ => is_var s; same_kind u t;
      let e := fresh "e" in let x := fresh "x" in
      (assert (e : t = s) by (refine (etrans _ known); solve [same tt]));
      set (x := t) in *; clearbody x; subst x end
  then idtac else named t.
Ltac leaf R :=
  repeat match goal with |- context [@total ?C ?n ?f] => hide (@total C n f) ltac:(fun _ => same_sum R) end;
  repeat match goal with
  | P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- context [?exp ?a] => (have : above_zero (exp a) by [exact: P]); move=> ?; hide (exp a) ltac:(fun _ => apply: (f_equal exp); by_ring R)
  | |- context [@Num.sqrt ?T ?a] => hide (@Num.sqrt T a) ltac:(fun _ => apply: (f_equal (@Num.sqrt T)); by_ring R)
  | |- context [@Num.norm ?T ?V ?a] => hide (@Num.norm T V a) ltac:(fun _ => apply: (f_equal (@Num.norm T V)); by_ring R)
  | |- context [nat_of_bool (@eq_op ?T ?a ?b)] => hide (@eq_op T a b) ltac:(fun _ => apply: eq_sym)
  end
with by_ring R := first [reflexivity | ring]
with same_sum R := cbv beta;
  lazymatch goal with
  | |- @total _ _ _ = @total _ _ _ => first
    [ solve [apply: total_each => ?; same_sum R]
    | solve [symmetry; etransitivity; [front (S O) | symmetry; apply: total_each => ?; same_sum R]]
    | solve [symmetry; etransitivity; [front (S (S O)) | symmetry; apply: total_each => ?; same_sum R]]
    | solve [symmetry; etransitivity; [front (S (S (S O))) | symmetry; apply: total_each => ?; same_sum R]] ]
  | |- @total _ _ _ = _ => fail
  | |- _ = @total _ _ _ => fail
  | |- _ => leaf R; by_ring R
  end.

Ltac denominators :=
  repeat match goal with |- context [@GRing.inv _ ?e] =>
    match e with context [@BigOp.bigop ?T ?I ?z ?r ?f] =>
      lazymatch goal with H : is_true (@Order.lt _ _ _ (@BigOp.bigop T I z r f)) |- _ => fail | _ => idtac end;
      have : 0 < @BigOp.bigop T I z r f by [apply: sum_positive => // ?; positive]; move=> ? end end;
  repeat match goal with |- context [@GRing.inv _ ?e] =>
    lazymatch goal with H : is_true (negb (@eq_op _ e _)) |- _ => fail | _ => idtac end;
    have : e != 0 by [first [assumed | apply: lt0r_neq0; positive]]; move=> ? end.
Ltac normal_fact H :=
  let e := fresh "e" in
  lazymatch type of H with
  | is_true (negb (@eq_op _ ?x _)) => eassert (e : x = _); [normal |]; have := H; rewrite ?{1}e => ?; clear e
  | is_true (@Order.lt _ _ _ ?x) => eassert (e : x = _); [normal |]; have := H; rewrite ?{1}e => ?; clear e
  end.
Ltac root_facts :=
  repeat match goal with |- context [Num.sqrt ?e] =>
    lazymatch goal with H : @GRing.mul _ (Num.sqrt e) (Num.sqrt e) = _ |- _ => fail | _ => idtac end;
    let fact := fresh "root" in have fact : Num.sqrt e * Num.sqrt e = e by (rewrite -expr2 sqr_sqrtr //; nonnegative)
  end.
Ltac unspell := rewrite -?zeroE -?oneE -?plusE -?timesE -?oppositeE -?numeralE -?powerE -?entryE -?reciprocalE.
Ltac unfold_facts := repeat match goal with
  | H : is_true (@not_zero _ _) |- _ => unfold not_zero in H
  | H : is_true (@above_zero _ _) |- _ => unfold above_zero in H
  end.
Ltac is_nonzero :=
  repeat match goal with |- _ /\ _ => split end; unfold_facts;
  apply/eqP;
  first [ assumption
        | match goal with H : is_true (negb (@eq_op _ ?e _)) |- is_true (negb (@eq_op _ ?g _)) =>
            let eq := fresh in (assert (eq : g = e) by ring); rewrite eq; exact H end
        | unspell; apply: lt0r_neq0; positive
        | unspell; rewrite oppr_eq0; apply: lt0r_neq0; positive ].
Ltac field_with_roots := lazymatch goal with
  | H1 : times ?a ?a = _, H2 : times ?b ?b = _, H3 : times ?c ?c = _ |- _ => field [H1 H2 H3]
  | H1 : times ?a ?a = _, H2 : times ?b ?b = _ |- _ => field [H1 H2]
  | H1 : times ?a ?a = _ |- _ => field [H1]
  | _ => field end.
Ltac by_field R := first [reflexivity | ring | field_with_roots; is_nonzero].
Ltac one_places := repeat match goal with
  | |- context [@Ordinal 1 0 ?p] => rewrite (one_place (@Ordinal 1 0 p))
  | i : 'I_1 |- _ => rewrite ?(one_place i); clear i
  end.
(* Without sums over an index nothing need be multiplied out. *)
Ltac plain_numbers R :=
  lazymatch goal with |- context [@BigOp.bigop] => fail | _ => idtac end;
  rewrite ?mxE;
  lazymatch goal with |- context [@BigOp.bigop] => fail | _ => idtac end;
  try match goal with
  | E : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y), P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- _ => exponents E P
  end;
  denominators; root_facts; carrier R ltac:(fun C F => spell_all C F); leaf R; by_field R.
Ltac numbers R :=
  (etransitivity; [normal |]); symmetry; (etransitivity; [normal |]); symmetry;
  denominators; root_facts; carrier R ltac:(fun C F => spell_all C F); leaf R; by_field R.
Ltac place_by_place := repeat match goal with
  | i : 'I_?n, every : forall P : 'I_?n -> Prop, _ |- context [written] => move: i; apply: every
  end.
Ltac entrywise R := try (apply/matrixP => ? ?); one_places; place_by_place; first [solve [plain_numbers R] | numbers R].
Ltac matrices R := multiply_out; entries; entrywise R.
'''.lstrip()
