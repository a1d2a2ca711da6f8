"""The SymPy witness: the same tree, translated to SymPy and proved there.

Identities are expanded entry by entry at small explicit sizes. Laws of expectation are proved for every size by
induction: the moments of a sum of d independent terms follow from those of d - 1, and SymPy sums the recurrence.
It shares no code with the exact witness.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations, islice, product

import sympy as sp
from mpmath import mp
from sympy.polys.matrices import DomainMatrix

from ..core.claims import Claim, Refused
from ..core.expr import Expr, free_indices, show, strip, symbols, walk
from ..errors import KernelError


class Disagrees(KernelError):
    """SymPy does not confirm a step."""


class NotForSymPy(KernelError):
    """A claim that SymPy has no way to check."""


def witness(claim: Claim):
    """(verdict, scope, note); raises Refused where SymPy contradicts or cannot confirm a claim that it should settle."""
    try:
        return CHECKS[claim.kind](claim)
    except NotForSymPy as reason:
        return "not applicable", "", str(reason)
    except Disagrees as problem:
        raise Refused(claim.file, claim.line, claim.id, f"the SymPy witness does not confirm it: {problem}") from None


def pairs(claim: Claim):
    previous = claim.start
    for k, step in enumerate(claim.steps, 1):
        yield k, previous, step.expr
        previous = step.expr


SIGNS = {"positive": "is_positive", "nonnegative": "is_nonnegative", "nonzero": "is_nonzero"}


def covers(x: Expr, name: str, place: tuple) -> bool:
    """Is what is assumed of x assumed of this entry of the symbol? An open index of x stands for each of its values."""
    if x.op == "symbol":
        return x.data[0] == name
    if x.op != "entry" or x.args[0].op != "symbol" or x.args[0].data[0] != name:
        return False
    known = {}
    return all(known.setdefault(i, k) == k if i.op == "index" else i.data == k + 1 for i, k in zip(x.args[1:], place))


# Translation at explicit sizes: a tensor is a dict from index tuples to SymPy expressions.


class Model:
    """Sizes and symbols as SymPy sees them."""

    def __init__(self, claim: Claim, sizes: dict, values: dict | None = None):
        self.sizes, self.values = sizes, values or {}
        self.signs = [(a.kind, strip(a.args[0])) for a in claim.given if a.kind in SIGNS]
        self.symbols = {}  # by name, those that were met

    def size(self, e: Expr) -> int:
        size = int(e.data) if e.op == "const" else self.sizes[e.data[0]]
        if not isinstance(size, int):
            raise NotForSymPy(f"something of the size {show(e)}, which has no value here")
        return size

    def leaf(self, e: Expr, place: tuple):
        name = e.data[0]
        if name in self.values:
            return self.values[name][place]
        label = "_".join([name, *(str(i + 1) for i in place)])
        return sp.Symbol(label, real=True, **{kind: True for kind, x in self.signs if covers(x, name, place)})

    def tensor(self, e: Expr, env: dict) -> dict:
        rule = TRANSLATE.get(e.op)
        if rule is None:
            raise NotForSymPy(f"SymPy has no counterpart of '{e.op}'")
        return rule(self, e, env, list(product(*(range(self.size(s)) for s in e.shape))))

    def scalar(self, e: Expr, env: dict):
        return self.tensor(e, env)[()]


def translate_symbol(m, e, env, places):
    if e.data[1] == "size":
        return {(): sp.Integer(m.sizes[e.data[0]]) if isinstance(m.sizes[e.data[0]], int) else m.sizes[e.data[0]]}
    if e.data[0] not in m.symbols:
        m.symbols[e.data[0]] = {p: m.leaf(e, p) for p in places}
    return m.symbols[e.data[0]]


def binary(operation):
    def run(m, e, env, places):
        a, b = (m.tensor(x, env) for x in e.args)
        return {p: operation(a[p if e.args[0].shape else ()], b[p if e.args[1].shape else ()]) for p in places}

    return run


def translate_matmul(m, e, env, places):
    a, b = (m.tensor(x, env) for x in e.args)
    split, inner = len(e.args[0].shape) - 1, m.size(e.args[0].shape[-1])
    return {p: sp.Add(*(a[p[:split] + (k,)] * b[(k,) + p[split:]] for k in range(inner))) for p in places}


def translate_inverse(m, e, env, places):
    n, a = m.size(e.shape[0]), m.tensor(e.args[0], env)
    result = sp.Matrix(n, n, lambda i, j: a[i, j]).inv()
    return {p: result[p] for p in places}


def translate_sum(m, e, env, places):
    name, size = e.data
    return {(): sp.Add(*(m.scalar(e.args[0], {**env, name: k}) for k in range(m.size(size))))}


def translate_entry(m, e, env, places):
    at = tuple(int(i.data) - 1 if i.op == "const" else env[i.data[0]] for i in e.args[1:])
    return {(): m.tensor(e.args[0], env)[at]}


def translate_softmax(m, e, env, places):
    top = {p: sp.exp(s) for p, s in m.tensor(e.args[0], env).items()}
    return {p: top[p] / sp.Add(*(t for q, t in top.items() if q[:-1] == p[:-1])) for p in places}


def translate_derivative(m, e, env, places):
    return {(): sp.diff(m.scalar(e.args[0], env), m.scalar(e.args[1], env))}


def logarithm(v):
    """SymPy's logarithm of a negative number is a complex one, with the slope of a real one; here it has no value."""
    if v.is_negative:
        raise Disagrees(f"the logarithm of {v}, which is negative, is taken")
    return sp.log(v)


def power(base, exponent):
    if base.is_negative and exponent.is_integer is False:
        raise Disagrees(f"the power {exponent} of {base}, which is negative, is taken")
    return base**exponent


ARITHMETIC = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "pow": power, "neg": lambda a: -a}
FUNCTIONS = {"exp": sp.exp, "log": logarithm, "abs": sp.Abs}
TRANSLATE = {
    "const": lambda m, e, env, places: {(): sp.Rational(e.data.numerator, e.data.denominator)},
    "imaginary": lambda m, e, env, places: {(): sp.I},
    "symbol": translate_symbol,
    "index": lambda m, e, env, places: {(): sp.Integer(env[e.data[0]] + 1)},
    "defined": lambda m, e, env, places: m.tensor(e.args[0], env),
    "paren": lambda m, e, env, places: m.tensor(e.args[0], env),
    "neg": lambda m, e, env, places: {p: -v for p, v in m.tensor(e.args[0], env).items()},
    **{name: binary(ARITHMETIC[name]) for name in ("add", "mul", "div", "pow")},
    "matmul": translate_matmul,
    "transpose": lambda m, e, env, places: {p[::-1]: v for p, v in m.tensor(e.args[0], env).items()},
    "inverse": translate_inverse,
    "eye": lambda m, e, env, places: {p: sp.Integer(p[0] == p[1]) for p in places},
    "fill": lambda m, e, env, places: {p: sp.Integer(e.data) for p in places},
    "array": lambda m, e, env, places: dict(zip(places, (m.scalar(x, env) for x in e.args))),
    "sum": translate_sum,
    "entry": translate_entry,
    "function": lambda m, e, env, places: {p: FUNCTIONS[e.data](v) for p, v in m.tensor(e.args[0], env).items()},
    "softmax": translate_softmax,
    "derivative": translate_derivative,
}


def away_from_zero(difference) -> bool:
    """Is it certainly not 0 at one point? Settles false claims without simplifying them; it never accepts anything."""
    names = sorted(difference.free_symbols, key=str)
    with mp.workdps(40):
        values = {s: mp.mpf(k + 2) if s.is_integer else mp.mpf(2 * k + 3) / (k + 7) for k, s in enumerate(names)}
        try:
            value = value_of(difference, values)
        except (TypeError, ValueError, ArithmeticError):  # a part that has no value there, or that is no number
            return False
        return bool(mp.isfinite(value) and abs(value) > mp.mpf(10) ** -15 * max([1, *map(abs, values.values())]))


VALUES = {
    sp.Add: mp.fsum,
    sp.Mul: mp.fprod,
    sp.Pow: lambda x: mp.power(*x),
    sp.exp: lambda x: mp.exp(*x),
    sp.log: lambda x: mp.log(*x),
    sp.Abs: lambda x: abs(*x),
    type(sp.I): lambda x: mp.mpc(0, 1),
}


def value_of(e, values: dict):
    """The number that e is. What stands in it more than once is evaluated once, which SymPy's own evalf does not."""
    if e not in values:
        if e.is_Rational:
            values[e] = mp.mpf(e.p) / e.q
        elif e.func in VALUES:
            values[e] = VALUES[e.func]([value_of(x, values) for x in e.args])
        else:
            values[e] = mp.mpmathify(e.evalf(50))
    return values[e]


def vanishes(difference, ideal=()) -> bool:
    """Does SymPy reduce it to 0? `.equals` is not asked: it is a heuristic and can be wrong either way."""
    return not (not ideal and away_from_zero(difference)) and reduces(difference, ideal)


def reduces(difference, ideal=()) -> bool:
    """Does it become 0 by what SymPy proves?"""
    difference = sp.expand(difference)
    if difference == 0:
        return True
    if ideal:
        names = difference.free_symbols.union(*(g.free_symbols for g in ideal))
        return sp.groebner(list(ideal), *sorted(names, key=str), order="grevlex").reduce(difference)[1] == 0
    return any(simplify(difference) == 0 for simplify in (lambda x: sp.cancel(sp.together(x)), sp.simplify))


def left_over(difference) -> str:
    """For messages. What is long is neither multiplied out nor printed: that would take longer than all the rest."""
    long = sum(1 for _ in islice(sp.preorder_traversal(difference), 40)) == 40
    return "an expression of forty parts and more is left over" if long else f"{sp.expand(difference)} is left over"


def explicit_sizes(claim: Claim):
    names = sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")
    hard = any(n.op in ("inverse", "softmax", "derivative") for t in claim.trees for n in walk(t)) or any(
        a.kind == "product" for a in claim.given
    )
    top, count = 2 if hard else 3, len(names)
    if count < 4 and not any(n.shape or n.op == "sum" for t in claim.trees for n in walk(t)):  # sizes as numbers only: cheap
        yield from (dict(zip(names, c)) for c in product((1, 2, 3, 4), repeat=count))
        return
    # Every size takes every value, and of any two sizes each is the larger one once.
    chosen = [
        [1] * count,
        [2] * count,
        *([1 + (k // top**digit + shift) % top for k in range(count)] for digit in range(2 if count > top else 1) for shift in range(top)),
        [top - k % top for k in range(count)],
    ]
    yield from {tuple(c): dict(zip(names, c)) for c in chosen}.values()


def identity(claim: Claim):
    if any(n.op in ("expectation", "variance") for t in claim.trees for n in walk(t)):
        return law(claim)
    return "proved", scope(claim, all_vanish(differences(claim))), "expanded entry by entry"


def differences(claim: Claim):
    """(where, left - right, equations that hold, sizes) for each entry of each step, at each of the sizes."""
    for sizes in explicit_sizes(claim):
        model = Model(claim, sizes)
        ideal = [g for a in claim.given if a.kind == "product" for g in relation_entries(model, a)]
        if contradictory(ideal):  # at these sizes everything would follow
            continue
        for k, left, right in pairs(claim):
            for env in environments(model, left, right):
                a, b = model.tensor(left, env), model.tensor(right, env)
                yield from ((f"step {k}, at sizes {sizes}, entry {p}: ", a[p] - b[p], ideal, sizes) for p in a)


def all_vanish(found) -> int:
    """The largest size met, or 0 if nothing was found; Disagrees if a difference is not 0. What is false is seen before anything is proved."""
    kept = []
    for where, difference, ideal, sizes in found:
        if not ideal and away_from_zero(difference):
            raise Disagrees(where + left_over(difference))
        kept.append((where, difference, ideal, sizes))
    for where, difference, ideal, _ in kept:
        if not reduces(difference, ideal):
            raise Disagrees(where + left_over(difference))
    return max((max([1, *sizes.values()]) for *_, sizes in kept), default=0)


def scope(claim: Claim, largest: int) -> str:
    if not largest:
        raise NotForSymPy("at all the small sizes that are tried, its assumptions contradict each other")
    sized = any(s.data[1] == "size" for s in symbols(*claim.trees).values())
    return f"some sizes up to {largest}" if sized else "every value"


def environments(model, *trees):
    """Every value of the index variables that no sum binds."""
    free = sorted(set().union(*map(free_indices, trees)), key=lambda i: i.data[0])
    for chosen in product(*(range(model.size(i.data[1])) for i in free)):
        yield {i.data[0]: k for i, k in zip(free, chosen)}


def contradictory(ideal: list) -> bool:
    """Have the equations no solution, not even a complex one?"""
    equations = [g for g in ideal if g != 0]
    if any(g.is_number for g in equations):
        return True
    names = set().union(*(g.free_symbols for g in equations))
    return bool(equations) and sp.groebner(equations, *sorted(names, key=str), order="grevlex").exprs == [1]


def relation_entries(model, a):
    left, right, times = a.args
    rows = model.tensor(Expr("matmul", (left, right), left.shape[:1] + right.shape[1:]), {})
    return [sp.expand(v - (times.data if p[0] == p[1] else 0)) for p, v in rows.items()]


# Laws, by induction on the size


class Law:
    """E[polynomial or exponential of sums over one dimension], for every size at once."""

    def __init__(self, claim: Claim):
        self.claim, self.sums = claim, {}
        self.model = Model(
            claim, {n: sp.Symbol(n, positive=True, integer=True) for n, s in symbols(*claim.trees).items() if s.data[1] == "size"}
        )
        self.mean = {a.args[0].data[0]: self.model.scalar(a.args[1], {}) for a in claim.given if a.kind == "mean"}
        self.variance = {a.args[0].data[0]: self.model.scalar(a.args[1], {}) for a in claim.given if a.kind == "variance"}
        for name, value in self.variance.items():
            if value.is_negative:
                raise Disagrees(f"the variance of {name} is stated to be {value}, which is negative")
        self.independent = [{x.data[0] for x in a.args} for a in claim.given if a.kind == "independent"]
        self.gaussian = {x.data[0] for a in claim.given if a.kind == "gaussian" for x in a.args}

    def read(self, e: Expr):
        """A tree without open tensors as a SymPy expression; sums of random terms become symbols with an increment."""
        if e.op in ("expectation", "variance"):
            body = self.read(e.args[0])
            mean = self.expect(body)
            return mean if e.op == "expectation" else self.expect(sp.expand(body**2)) - mean**2
        if e.op == "matmul" and len(e.args[0].shape) == len(e.args[1].shape) == 1:
            return self.sum_symbol(self.coordinate(e.args[0]) * self.coordinate(e.args[1]), e.args[0].shape[0])
        if e.op == "sum":
            return self.sum_symbol(self.coordinate(e.args[0], Expr("index", (), (), e.data)), e.data[1])
        if e.op in ("paren", "defined"):
            return self.read(e.args[0])
        if e.shape:
            raise NotForSymPy(f"a law about the tensor {show(e)}")
        if e.op == "function":
            return FUNCTIONS[e.data](self.read(e.args[0]))
        if e.op in ("add", "mul", "div", "pow", "neg"):
            parts = [self.read(x) for x in e.args]
            return ARITHMETIC[e.op](*parts)
        if e.op in ("symbol", "const", "imaginary"):
            return self.entry_symbol(e.data[0]) if e.op == "symbol" and e.data[1] == "random" else self.model.scalar(e, {})
        raise NotForSymPy(f"a law with the node '{e.op}'")

    def entry_symbol(self, name):
        return sp.Symbol(f"entry of {name}", real=True)

    def coordinate(self, e: Expr, index=None):
        """One coordinate of a vector, or the summand at the sum's index."""
        if e.op == "symbol" and e.shape:
            return self.entry_symbol(e.data[0]) if e.data[1] == "random" else self.fixed(e)
        if e.op == "entry" and e.args[1:] == (index,) and e.args[0].op == "symbol":
            return self.coordinate(e.args[0])
        if e.op in ("expectation", "variance"):
            body = sp.expand(self.coordinate(e.args[0], index))
            mean = self.entry_mean(body)
            return mean if e.op == "expectation" else self.entry_mean(sp.expand(body**2)) - mean**2
        if e.op in ("paren", "defined"):
            return self.coordinate(e.args[0], index)
        if e.op in ("add", "mul", "div", "pow", "neg"):
            parts = [self.coordinate(x, index) for x in e.args]
            return ARITHMETIC[e.op](*parts)
        if not e.shape and e.op in ("const", "imaginary") or e.op == "symbol" and e.data[1] != "random":
            return self.read(e)
        raise NotForSymPy(f"a sum of {show(e)}")  # also of a random number that is the same at every index

    def need_independence(self, *bodies):
        names = {str(s).removeprefix("entry of ") for body in bodies for s in body.free_symbols if str(s).startswith("entry of")}
        if not any(names <= group for group in self.independent):
            raise Disagrees(f"the independence of the entries of {', '.join(sorted(names))} is used but not stated")

    def fixed(self, e: Expr):
        raise NotForSymPy(f"a law with the fixed vector {show(e)}: its terms are not identically distributed")

    def sum_symbol(self, increment, size: Expr):
        if not any(str(s).startswith("entry of") for s in increment.free_symbols):
            return increment * self.model.scalar(size, {})
        for s, known in self.sums.items():
            if known == (increment, size):
                return s
        s = sp.Symbol(f"sum {len(self.sums)}", real=True)
        self.sums[s] = increment, size
        return s

    def expect(self, body):
        used = [s for s in self.sums if s in body.free_symbols]
        loose = [s for s in body.free_symbols if str(s).startswith("entry of")]
        if not used:
            return self.entry_mean(body) if loose else body
        if loose or len({self.sums[s][1] for s in used}) > 1:
            raise NotForSymPy("sums over different dimensions in one expectation")
        size = self.model.scalar(self.sums[used[0]][1], {})
        if body.has(sp.exp):
            return self.expect_exponential(body, used, size)
        polynomial = sp.Poly(sp.expand(body), *used)
        return sp.expand(sum(c * self.moment(dict(zip(used, powers)), size) for powers, c in polynomial.terms()))

    def moment(self, powers: dict, size):
        """E[prod of sums^power] at every size: the recurrence in the size, summed from 0."""
        t = sp.Symbol("t", integer=True, nonnegative=True)
        return self._moment(tuple(sorted(powers.items(), key=str)), t).subs(t, size)

    @cache  # noqa: B019  a reader lives as long as one claim is checked
    def _moment(self, powers: tuple, t):
        if not any(p for _, p in powers):
            return sp.Integer(1)
        step = 0
        for taken in product(*(range(p + 1) for _, p in powers)):
            if not any(taken):
                continue
            ways = sp.prod([sp.binomial(p, j) for (_, p), j in zip(powers, taken)])
            increment = sp.prod([self.sums[s][0] ** j for (s, _), j in zip(powers, taken)])
            rest = tuple((s, p - j) for (s, p), j in zip(powers, taken))
            if any(p for _, p in rest):
                self.need_independence(*(self.sums[s][0] for s, _ in powers))
            step += ways * self._moment(rest, t) * self.entry_mean(sp.expand(increment))
        u = sp.Symbol("u", integer=True, nonnegative=True)
        return sp.expand(sp.summation(sp.expand(step).subs(t, u), (u, 0, t - 1)))

    def expect_exponential(self, body, used, size):
        """E[exp(c S)] = E[exp(c x)]^n for a sum S of n independent copies of x."""
        if body.func is not sp.exp or len(used) != 1:
            raise NotForSymPy("an expectation of an exponential times something else")
        (s,) = used
        self.need_independence(self.sums[s][0])
        slope, rest = linear(body.args[0], s) or (0, body)
        if rest != 0:
            raise NotForSymPy("the expectation of an exponential that is not linear in the sum")
        return self.entry_mean(sp.exp(slope * self.sums[s][0])) ** size

    def entry_mean(self, body):
        """E over the entries in body, which are independent: moments of monomials, or Gaussian integrals."""
        entries = sorted((s for s in body.free_symbols if str(s).startswith("entry of")), key=str)
        if len(entries) > 1 and not (isinstance(body, sp.Add) and all(len(t.free_symbols & set(entries)) < 2 for t in body.args)):
            self.need_independence(body)
        if body.has(sp.exp):
            for s in entries:
                name = str(s).removeprefix("entry of ")
                if name not in self.gaussian:
                    raise NotForSymPy(f"the distribution of {name} is not stated")
                if name not in self.mean or name not in self.variance:
                    raise NotForSymPy(f"the mean or the variance of {name} is not stated")
                body = gaussian_mean(body, s, self.mean[name], self.variance[name])
            return body
        if not entries:
            return body
        return sum(
            c * sp.prod([self.entry_moment(str(s).removeprefix("entry of "), r) for s, r in zip(entries, powers)])
            for powers, c in sp.Poly(body, *entries).terms()
        )

    def entry_moment(self, name: str, r: int):
        if r == 0:
            return sp.Integer(1)
        m = self.mean.get(name, sp.Symbol(f"first moment of {name}"))
        v = self.variance.get(name, sp.Symbol(f"second moment of {name}") - m**2)
        if r == 1:
            return m
        if r == 2:
            return v + m**2
        if name in self.gaussian:
            t = sp.Symbol("t")
            return sp.expand(sp.diff(sp.exp(m * t + v * t**2 / 2), t, r).subs(t, 0))
        return sp.Symbol(f"moment {r} of {name}")


def gaussian_mean(body, s, m, v):
    """The mean of body over s, term by term."""
    return sp.Add(*(term_mean(sp.powsimp(term, combine="exp"), s, m, v) for term in sp.Add.make_args(sp.expand(body))))


ENTRY, SLOPE = sp.Symbol("entry", real=True), sp.Symbol("slope")
MEAN, VARIANCE = sp.Symbol("mean", real=True), sp.Symbol("variance", positive=True)


def term_mean(term, s, m, v):
    """For exp of something linear in s, from one integral that is taken once, whatever the slope, the mean and the variance."""
    fixed, moving = term.as_independent(s, as_Add=False)
    split = linear(moving.args[0], s) if moving.func is sp.exp else None
    if split is None:
        return fixed * gaussian_integral(moving.xreplace({s: ENTRY}), m, v)
    slope, rest = split
    found = gaussian_integral(sp.exp(SLOPE * ENTRY), MEAN, VARIANCE)
    return fixed * sp.exp(rest) * found.xreplace({SLOPE: slope, MEAN: m, VARIANCE: v})


def linear(e, s):
    """(slope, rest) with e = slope * s + rest and s in neither; None where e is not linear in s."""
    slope = sp.expand(e).coeff(s, 1)
    rest = sp.expand(e - slope * s)
    return None if slope.has(s) or rest.has(s) else (slope, rest)


@lru_cache(maxsize=200)
def gaussian_integral(body, m, v):
    """The integral of body, in which ENTRY stands for the random number, times its density."""
    density = sp.exp(-((ENTRY - m) ** 2) / (2 * v)) / sp.sqrt(2 * sp.pi * v)
    return sp.simplify(sp.integrate(sp.expand(body * density), (ENTRY, -sp.oo, sp.oo), conds="none"))


def law(claim: Claim):
    reader = Law(claim)
    for k, left, right in pairs(claim):
        difference = reader.read(left) - reader.read(right)
        if away_from_zero(difference) or not vanishes(difference) and sp.simplify(sp.powsimp(sp.powdenest(difference, force=False))) != 0:
            raise Disagrees(f"step {k}: {left_over(difference)}")
    return (
        "proved",
        "induction" if reader.sums else "every value",
        "moments by induction on the dimension" if reader.sums else "by integration",
    )


# The other kinds


def inequality(claim: Claim):
    left, right = claim.start, claim.steps[0].expr
    if left.op == "rank":
        return rank_bound(claim, left.args[0], right)
    signs = set()

    def found():
        for sizes in explicit_sizes(claim):
            model = Model(claim, sizes)
            for env in environments(model, left, right):
                if not broken(model, claim, env):
                    certificate = model.scalar(claim.because[0], env)
                    signs.add(certificate.is_nonnegative)
                    yield (
                        f"right - left is not the certificate at sizes {sizes}: ",
                        model.scalar(right - left, env) - certificate,
                        (),
                        sizes,
                    )

    reach = scope(claim, all_vanish(found()))
    if False in signs:
        raise Disagrees(f"the certificate {show(claim.because[0])} can be negative")
    if signs != {True}:
        raise NotForSymPy("SymPy confirms the difference of the two sides, but cannot settle its sign under these assumptions")
    return "proved", reach, "the difference is the certificate, and SymPy settles its sign"


def broken(model, claim: Claim, env: dict) -> bool:
    """Is a stated sign certainly wrong at these sizes?"""
    return any(
        getattr(model.scalar(a.args[0], env | every), SIGNS[a.kind]) is False
        for a in claim.given
        if a.kind in SIGNS
        for every in environments(model, a.args[0])
    )


def rank_bound(claim: Claim, matrix: Expr, bound: Expr):
    """All minors one larger than the bound vanish."""
    names = sorted(n for n, s in symbols(*claim.trees).items() if s.data[1] == "size")
    largest = 0
    if bound.op not in ("symbol", "const"):
        raise NotForSymPy(f"a rank bounded by {show(bound)}")
    for r in (1, 2) if bound.op == "symbol" else (int(bound.data),):
        model = Model(claim, {n: r + 1 for n in names} | ({bound.data[0]: r} if bound.op == "symbol" else {}))
        entries = model.tensor(matrix, {})
        rows_, columns_ = (model.size(n) for n in matrix.shape)
        m = DomainMatrix.from_Matrix(sp.Matrix(rows_, columns_, lambda i, j: entries[i, j]))  # a polynomial is multiplied out as it grows
        for rows in combinations(range(rows_), r + 1):
            for columns in combinations(range(columns_), r + 1):
                if m.extract(list(rows), list(columns)).det() != m.domain.zero:
                    raise Disagrees(f"a minor of size {r + 1} does not vanish where the bound is {r}")
        largest = r + 1
    return "proved", f"sizes up to {largest}", "every larger minor vanishes"


def limit(claim: Claim):
    """With every size a symbol where none is counted to; else at small sizes, entry by entry."""
    left, right = claim.start, claim.steps[0].expr
    counted = any(n.shape or n.op in ("sum", "index") for t in (left, right) for n in walk(t))
    unknown = {n: sp.Symbol(n, positive=True) for n, s in symbols(*claim.trees).items() if s.data[1] == "size"}
    moving = {n: s for n, s in unknown.items() if n == claim.towards[0].data[0]}
    largest = 0
    for sizes in explicit_sizes(claim) if counted else [unknown]:
        model = Model(claim, sizes | moving)
        for env in environments(model, left, right):
            tends(claim, model, env)
        largest = max([1, largest, *(k for k in sizes.values() if counted)])
    return "proved", "limit", "SymPy's limit (Gruntz)" + (f", at some sizes up to {largest}" if counted and unknown else "")


def tends(claim: Claim, model: Model, env: dict):
    variable, to = claim.towards
    x = model.scalar(variable, {})
    right = model.tensor(claim.steps[0].expr, env)
    for place, value in model.tensor(claim.start, env).items():
        result = sp.limit(value, x, 0, "+") if to == 0 else sp.limit(value, x, sp.oo)
        if not vanishes(result - right[place]):
            raise Disagrees(f"SymPy's limit is {result}")


def refutation(claim: Claim):
    sizes, entries = counterexample(claim)
    model = Model(claim, sizes, entries)
    left, right = claim.start, claim.steps[0].expr
    if any(n.op in ("expectation", "variance") for t in (left, right) for n in walk(t)):
        reader = Law(claim)
        numbers = {reader.model.sizes[n]: v for n, v in sizes.items()} | {sp.Symbol(n, real=True): v[()] for n, v in entries.items()}
        difference = sp.simplify((reader.read(left) - reader.read(right)).subs(numbers))
        if difference.free_symbols:
            raise Disagrees(f"whether the sides differ depends on {', '.join(sorted(map(str, difference.free_symbols)))}")
        if not breaks(claim.refuted, difference):
            raise Disagrees("both sides are equal at the counterexample" if claim.refuted == "=" else "the left side is not larger")
        return "refuted", "exact counterexample", "both sides evaluated from the stated moments"
    if left.op == "rank":
        inner = model.tensor(left.args[0], {})
        rows, columns = (1 + max(p[k] for p in inner) for k in (0, 1))
        value = sp.Matrix(rows, columns, lambda i, j: sp.simplify(inner[i, j])).rank()
        broken = breaks(claim.refuted, value - model.scalar(right, {}))
    else:
        a, b = model.tensor(left, {}), model.tensor(right, {})
        if any(not v.is_finite for v in (*a.values(), *b.values())):
            raise Disagrees("a side does not exist at the counterexample")
        broken = any(breaks(claim.refuted, a[p] - b[p]) for p in a) if a.keys() == b.keys() else claim.refuted == "="
    if not broken:
        raise Disagrees("both sides are equal at the counterexample" if claim.refuted == "=" else "the left side is not larger")
    return "refuted", "exact counterexample", "both sides evaluated with SymPy's exact numbers"


def breaks(relation: str, difference) -> bool:
    """Is left - right not 0; or, where left <= right is refuted, more than 0?"""
    if sp.simplify(difference) == 0:
        return False
    value = sp.N(difference, 50)
    return bool(abs(value) > sp.Float(10) ** -40 and (relation == "=" or value.is_real and value > 0))


def counterexample(claim: Claim) -> tuple:
    """The values of a refutation: sizes by name, also those read off the lengths of arrays, and entries by name and place."""
    named, sizes, entries = symbols(*claim.trees), {}, {}
    for name, value in claim.at:
        found = {place: Model(claim, {}).scalar(x, {}) for place, x in leaves(value, ())}
        if named[name].data[1] == "size":
            if not (found[()].is_Integer and found[()] > 0):
                raise Disagrees(f"the size {name} is a positive integer")
            lengths = [(named[name], int(found[()]))]
        else:
            lengths = [(size, 1 + max(p[k] for p in found)) for k, size in enumerate(named[name].shape)]
            entries[name] = found
        for size, length in lengths:
            if size.op == "symbol" and sizes.setdefault(size.data[0], length) != length or size.op == "const" and size.data != length:
                raise Disagrees(f"the values disagree about the size {show(size)}")
    return sizes, entries


def leaves(value, place):
    if isinstance(value, tuple):
        for k, v in enumerate(value):
            yield from leaves(v, place + (k,))
    else:
        yield place, value


def definition(claim: Claim):
    raise NotForSymPy("a definition has nothing to prove")


CHECKS = {
    "identity": identity,
    "chain": identity,
    "law": law,
    "inequality": inequality,
    "limit": limit,
    "refutation": refutation,
    "definition": definition,
}
