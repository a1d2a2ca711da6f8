"""Each claim's SymPy check is a program that runs with SymPy alone; what it says is what the witness says, and a slip makes it fail.

Every third program of the site is run here; `make sympy` runs all of them, each in a process of its own.
"""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from derivations.kernel import (
    Derivation,
    Var,
    array,
    exp,
    independent,
    index,
    inverse,
    invertible,
    matrix,
    mean,
    norm,
    product_is,
    random,
    rank,
    scalars,
    sizes,
    softmax,
    total,
    variance,
    vector,
)
from derivations.kernel.check import runner, sympy_program_files
from derivations.kernel.command import sympy_programs as command_programs
from derivations.kernel.core import claims
from derivations.kernel.core.claims import Rejected, Step
from derivations.kernel.core.expr import Expr, lift
from derivations.kernel.script.loading import load_script
from derivations.kernel.site import Page
from derivations.kernel.site.claim_html import ClaimError, render_claim
from derivations.kernel.site.page_source import Source
from derivations.kernel.store import certificates, coq_results, project_files
from derivations.kernel.sympy import prelude_selection
from derivations.kernel.sympy.prelude import rounding
from derivations.kernel.sympy.prelude.inequalities import Signs
from derivations.kernel.sympy.prelude.outcome import NotSettled
from derivations.kernel.sympy.prelude.zero_test import reduces
from derivations.kernel.sympy.program import write_program
from derivations.kernel.sympy.witness import check_with_program, witness
from tests.kernel.common import has_code
from tests.nightly import nightly_after

LEAST = 450
half = Fraction(1, 2)
n, m, d = sizes("n m d")
A, B = matrix("A", n, m), matrix("B", m, n)
S, M = matrix("S", n, n), matrix("M", n, n)
v, w, z = vector("v", n), vector("w", n), vector("z", n)
i, j, l = index("i", n), index("j", n), index("l", n)
x, y, t, c = scalars("x y t c")
q, k = random("q", d), random("k", d)
standard = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]


def stated(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[-1]


def ran(text, folder, name="program.py"):
    """(exit code, what it printed) of a program in a process of its own, which finds nothing of ours."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", str(path)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


# The site's programs


@pytest.fixture(scope="module")
def site():
    """Every claim's record, by topic and id."""
    results = runner.check_all(runner.find_targets(()), fresh=False, jobs=2, progress=lambda done, more: None)
    assert all(r.holds for r in results)
    return {(r.topic, record["claim"]["id"]): record["claim"] for r in results for record in r.records}


@pytest.fixture(scope="module")
def texts(site):
    return {key: text for key, claim in sorted(site.items()) if (text := sympy_program_files.program_text(claim))}


def test_nearly_every_claim_has_one_and_the_others_say_why(site, texts):
    proper = {key for key, claim in site.items() if claim["kind"] != "definition"}
    assert len(proper) >= 459 and texts.keys() <= proper
    assert len(texts) >= LEAST
    for key in site.keys() - texts.keys():
        assert sympy_program_files.explain_missing_program(site[key]), key
    for key, claim in site.items():
        (said,) = (w for w in claim["witnesses"] if w["name"] == "sympy")
        assert (said["verdict"] in ("proved", "refuted")) == (key in texts), key


@pytest.mark.nightly
def test_what_is_recorded_is_written_from_the_claim_as_it_stands(texts):
    found = {}
    for topic in certificates.topics():
        assert load_script(project_files.ROOT / "derivations" / f"{topic}.py") is None
        found |= {(topic, claim.id): write_program(claim).text for claim in claims.LOADED[0].claims if (topic, claim.id) in texts}
    assert found == texts


@pytest.mark.slow
def test_a_program_imports_sympy_and_the_standard_library_alone(texts):
    allowed = {"sympy", "mpmath", *sys.stdlib_module_names} - {"os", "importlib", "subprocess", "socket"}
    for key, text in texts.items():
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
        names = {a.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for a in node.names}
        names |= {node.module.partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not any(node.level for node in nodes if isinstance(node, ast.ImportFrom)), key
        assert names <= allowed, (key, names - allowed)
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        assert not called & {"eval", "exec", "compile", "open", "__import__"}, key
        assert text.isascii(), key
        assert f"on the site it is {key[0]}#{key[1]}:" in ast.get_docstring(tree), key
        assert ast.get_docstring(tree) and "The claim stands in derivations/" in ast.get_docstring(tree), key


ALL_IN_ONE = """
import io, json, sys
from contextlib import redirect_stdout
for name in ("derivations", "torch", "flint"):
    sys.modules[name] = None  # importing it is an error
found = {}
for path in json.load(sys.stdin):
    said, code = io.StringIO(), 0
    with redirect_stdout(said):
        try:
            exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__"})
        except SystemExit as end:
            code = end.code
    found[path] = [code, said.getvalue()]
print(json.dumps(found))
"""


def run_in_one(texts, folder):
    """{key: (exit code, what it printed)} of many programs in one process without ours."""
    paths = {}
    for number, (key, text) in enumerate(texts.items()):
        paths[key] = folder / f"{number}.py"
        paths[key].write_text(text, encoding="utf-8")
    asked = json.dumps(list(map(str, paths.values())))
    done = subprocess.run([sys.executable, "-I", "-c", ALL_IN_ONE], input=asked, capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {key: tuple(found[str(path)]) for key, path in paths.items()}


@pytest.mark.slow
def test_a_third_of_them_runs_without_us_and_says_what_the_witness_says(site, texts, tmp_path):
    chosen = dict(list(texts.items())[::3])
    assert len(chosen) >= LEAST // 3
    for key, (code, said) in run_in_one(chosen, tmp_path).items():
        (by_sympy,) = (w for w in site[key]["witnesses"] if w["name"] == "sympy")
        assert code == 0, (key, said)
        assert said.splitlines()[-1] == f"{by_sympy['verdict']}, {by_sympy['scope']}: {by_sympy['note']}", key
        assert said.count("holds") >= 1 and "step 1" in said, key


EACH_KIND = [
    "attention/formula/one-weight",
    "simplify/bilinear/rank",
    "scaling/variance/variance",
    "scaling/variance/fixed-query",
    "softmax/dilution/gap-bound",
    "softmax/temperature/cold",
    "attention/masks/billion",
    "heads/module/stacked",
]


@pytest.mark.parametrize("name", nightly_after(3, EACH_KIND))
def test_one_of_each_kind_runs_as_a_stranger_runs_it(name, texts, tmp_path):
    topic, _, id_ = name.rpartition("/")
    code, said = ran(texts[topic, id_], tmp_path)
    assert code == 0 and "holds" in said, said


# What a program says, and slips

TRUE = {
    "a sum": lambda D: D.identity("claim", (A @ B).T, B.T @ A.T, reason="transpose the product"),
    "a chain": lambda D: D.chain(
        "claim", total(v[l] * (v[l] + 1), l), (v @ v + total(v[l], l), "expand"), (total(v[l], l) + v @ v, "swap")
    ),
    "a law": lambda D: D.chain(
        "claim", Var(q @ k), (total(Var(q[index("a", d)] * k[index("a", d)]), index("a", d)), "add"), (d, "count"), given=standard
    ),
    "an inequality": lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x - y) ** 2),
    "a limit": lambda D: D.limit("claim", (1 + t) / t, t, "oo", 1),
    "a refutation": lambda D: D.refute("claim", (x + y) ** 2, x**2 + y**2, at={x: 1, y: 2}),
    "a rank": lambda D: D.inequality("claim", rank(A @ B), m, because=(A, B)),
}


@pytest.mark.parametrize("state", TRUE.values(), ids=TRUE)
def test_a_true_claim_s_program_ends_well(state, tmp_path):
    verdict, scope, note, text = check_with_program(stated(state))
    code, said = ran(text, tmp_path)
    assert code == 0 and said.splitlines()[-1] == f"{verdict}, {scope}: {note}"


def with_last(claim, change):
    """The claim with its last step changed."""
    *kept, last = claim.steps
    return replace(claim, steps=(*kept, Step(last.relation, change(last.expr), last.reason)))


PLANTED = {
    "a sign": (lambda: with_last(stated(TRUE["a chain"]), lambda e: -e), "step 2, at sizes n = 1"),
    "a transposed factor": (lambda: stated(lambda D: D.identity("claim", S @ M, S @ M.T)), "step 1, at sizes n = 2, entry 1 of 4"),
    "factors in the wrong order": (lambda: stated(lambda D: D.identity("claim", (S @ M).T, S.T @ M.T)), "step 1, at sizes n = 2"),
    "a size that is one off": (lambda: with_last(stated(TRUE["a law"]), lambda e: e - 1), "step 2: 1 is left over"),
    "an index that is one off": (
        lambda: stated(lambda D: D.identity("claim", total(i * v[i], i), total((i - 1) * v[i], i))),
        "step 1, at sizes n = 1",
    ),
    "independence dropped": (
        lambda: replace(stated(TRUE["a law"]), given=tuple(standard[1:])),
        "the moment of order 4 of k is taken, and nothing stated says that there is one",
    ),
    "a product of matrices dropped": (
        lambda: replace(stated(lambda D: D.identity("claim", S @ M @ v, v, given=[product_is(S, M, 1)])), given=()),
        "step 1, at sizes n = 1",
    ),
    "a certificate that is another": (
        lambda: stated(lambda D: D.inequality("claim", 2 * x * y, x**2 + y**2, because=(x + y) ** 2)),
        "step 1: right - left",
    ),
    "a certificate that can be negative": (
        lambda: stated(lambda D: D.inequality("claim", x * 0, -1 * (1 + x**2), because=-1 * (1 + x**2))),
        "step 2",
    ),
    "another limit": (lambda: stated(lambda D: D.limit("claim", (1 + t) / t, t, "oo", 2)), "step 1: SymPy's limit is 1, and 2 is stated"),
    "no counterexample": (lambda: stated(lambda D: D.refute("claim", (x + y) ** 2, x**2 + y**2, at={x: 0, y: 2})), "both sides are equal"),
    "a rank": (lambda: stated(lambda D: D.inequality("claim", rank(A @ B + S), m, because=(A, B))), "step 1: a minor of size 2"),
}


@pytest.mark.parametrize("made, says", nightly_after(6, PLANTED.values()), ids=PLANTED)
def test_a_slip_in_the_claim_makes_its_program_fail_and_say_where(made, says, tmp_path):
    claim = made()
    code, said = ran(write_program(claim).text, tmp_path)
    assert code == 1 and "FALSE" in said and says in said, said
    with pytest.raises(Rejected, check=has_code("sympy-disagrees")) as caught:
        witness(claim)
    assert says in str(caught.value)


EDITS = {
    "a chain": ("step_2 = Add(*(v[l] for l in range(n))) + v.dot(v)", "step_2 = Add(*(v[l] for l in range(n))) - v.dot(v)", "step 2"),
    "a sum": ("B.T * A.T", "2 * B.T * A.T", "step 1"),
    "a law": ('"q": 1', '"q": 2', "step 2"),
    "an inequality": ("certificate = (x - y)**2", "certificate = (x - 2 * y)**2", "step 1"),
    "a limit": ("(Integer(1) + t) / t, 1", "(Integer(1) + t) / t, 3", "step 1"),
    "a refutation": ("x = Integer(1)", "x = Integer(0)", "equal"),
    "a rank": ("return A * B", "return A * B + sp.eye(A.rows)", "step 1"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_program_that_is_edited_so_that_a_step_is_false_fails(name, tmp_path):
    old, new, says = EDITS[name]
    text = write_program(stated(TRUE[name])).text
    assert text.count(old) == 1, text
    code, said = ran(text.replace(old, new), tmp_path)
    assert code == 1 and says in said, said


def test_an_assumption_that_rules_out_every_size_proves_nothing(tmp_path):
    claim = stated(lambda D: D.identity("claim", v @ v, v @ v + 1, given=[product_is(S, S, 0), product_is(S, S, 1)]))
    assert witness(claim)[0] == "not applicable"
    assert ran(write_program(claim).text, tmp_path)[0] == 2


def test_an_orthogonal_matrix_keeps_lengths(tmp_path):
    text = write_program(stated(lambda D: D.identity("claim", norm(S @ v), norm(v), given=[product_is(S.T, S, 1)]))).text
    assert ran(text, tmp_path) == (0, "step 1 ... holds (3 entries)\nproved, some sizes up to 3: expanded entry by entry\n")


def test_what_roots_are_beside_what_is_0_by_assumption():
    a, b, r, s = sp.symbols("a b r s", real=True)
    unit, length = (s**2 - 1,), sp.sqrt(a**2 + b**2)
    assert reduces(sp.Abs(s) * sp.Abs(a) - sp.Abs(a), unit)
    assert reduces(sp.sqrt(s**2 * a**2 + b**2) * s**2 - length, unit)
    assert reduces(sp.Abs(a) * length**3 - sp.sqrt(a**4 + a**2 * b**2) * (a**2 + s**2 * b**2), unit)
    for unsaid in (
        s * length - length,  # s is 1 or -1
        sp.Abs(a) + sp.Abs(s * a),
        sp.sqrt(s**2 * a**2 + b**2) - sp.sqrt(a**2 + 2 * b**2),
        sp.sqrt(a) * sp.sqrt(b) - s**2 * sp.sqrt(a * b),  # false where both are negative
        sp.sqrt(sp.Abs(a) + s**2) - sp.sqrt(sp.Abs(a) + 1),
        sp.exp(s**2 * a) - sp.exp(a),
        s**2 / length - 1 / length,
    ):
        with pytest.raises(NotSettled):
            reduces(unsaid, unit)


# Names, and text of a claim's own

HOSTILE = [
    "lambda",
    "import",
    "E",
    "simplify",
    "Matrix",
    "range",
    "known",
    "claim",
    "tensor",
    "start",
    "S",
    "None",
    "print",
    "sp",
    "verdict",
    "identity",
    "Add",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_python_uses_breaks_nothing(name):
    number, vector_, at = scalars(name), vector(name + "1", n), index("while", n)
    right = exp(number) * (number + total(vector_[at], at))
    true = stated(lambda D: D.identity("claim", exp(number) * number + exp(number) * total(vector_[at], at), right))
    assert witness(true)[0] == "proved"
    with pytest.raises(Rejected):
        witness(stated(lambda D: D.identity("claim", exp(number) * number - exp(number) * total(vector_[at], at), right)))
    as_vector, as_index = vector(name, n), index(name + "1", n)
    assert (
        witness(stated(lambda D: D.identity("claim", total(2 * as_vector[as_index], as_index), 2 * total(as_vector[as_index], as_index))))[
            0
        ]
        == "proved"
    )


@pytest.mark.parametrize("moving", [n, x])
def test_a_limit_in_what_stands_in_neither_side(moving):
    assert witness(stated(lambda D: D.limit("claim", lift(2), moving, "oo", 2)))[0] == "proved"
    with pytest.raises(Rejected, check=has_code("sympy-disagrees")):
        witness(stated(lambda D: D.limit("claim", lift(0), moving, "oo", 1)))


NASTY = ['"""; raise SystemExit(9)\n"""', "a\\", "\\n'''", "{x}", "\x00", "\r\nraise SystemExit(9)", '"', 'ends in \\\\"']


@pytest.mark.parametrize("text", nightly_after(3, NASTY))
def test_what_a_claim_says_in_words_is_never_run(text, tmp_path):
    claim = stated(lambda D: D.chain("claim", x + y, (y + x, text), (x + y + 0, "again" + text), title=text))
    made = write_program(claim)
    assert made.stated.count("SystemExit") == made.stated.count("SystemExit(9)") and ran(made.text, tmp_path)[0] == 0
    calls = {n.func.id for n in ast.walk(ast.parse(made.text)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    raised = [n for n in ast.walk(ast.parse(made.text)) if isinstance(n, ast.Raise)]
    assert "SystemExit" not in calls and raised


def test_a_program_is_ascii_and_says_what_it_was_told_in_signs():
    told = "Gr\u00f6\u00dfe \u03b2 \u2264 \u65e5"
    claim = stated(lambda D: D.identity("claim", (A @ B).T, B.T @ A.T, reason=told, title=told))
    made = write_program(claim)
    assert made.text.isascii() and ascii(told) in made.text
    says = ast.get_docstring(ast.parse(made.text))
    assert "Gro\\xdfe beta <= \\u65e5" in says and "(A @ B).T\n" in says and "B.T @ A.T" in says
    assert "python -I FILE.py" in says and "It needs SymPy, with the mpmath that" in says
    inverted = stated(lambda D: D.identity("claim", inverse(S) @ (S @ v), v, given=[invertible(S)]))
    assert "S^-1 @ (S @ v)" in write_program(inverted).text and write_program(inverted).text.isascii()


def test_a_program_says_which_claim_of_which_page_it_checks():
    claim = stated(TRUE["a sum"])
    at = replace(claim, file="/home/derivations/main/derivations/chapter/topic.py")
    assert "The claim stands in derivations/chapter/topic.py; on the site it is chapter/topic#claim:" in write_program(at).text
    assert "on the site" not in write_program(claim).text


def test_the_prelude_is_ascii():
    for module in prelude_selection.FILES:
        assert Path(module.__file__).read_text(encoding="utf-8").isascii(), module.__name__


def test_a_name_that_is_none_is_refused_where_a_tree_is_forged():
    forged = Expr("symbol", (), (), ('x", real=True) or print("', "real"))
    claim = replace(stated(lambda D: D.identity("claim", x + y, y + x)), start=forged + y)
    with pytest.raises(ValueError, match="is no name"):
        write_program(claim)


def test_a_symbol_is_not_mistaken_for_an_entry_of_another():
    """v_1 is a name, and so is v with its first entry."""
    v_1 = scalars("v_1")
    with pytest.raises(Rejected):
        witness(stated(lambda D: D.identity("claim", v_1 + y, vector("v", 1)[1] + y)))


def test_python_s_own_numbers_never_divide_one_another():
    one = Expr("const", (), (), Fraction(1))
    claim = stated(lambda D: D.identity("claim", total(one, i) / (one / n * 3) * x, n * n * x / 3))
    assert witness(claim)[0] == "proved"
    half = stated(lambda D: D.identity("claim", (one / 3) * x + (one / 3) * x, (one - one / 3) * x))
    assert witness(half)[0] == "proved"
    numbers = [node.value for node in ast.walk(ast.parse(write_program(half).stated)) if isinstance(node, ast.Constant)]
    assert not any(isinstance(value, float) for value in numbers)


# What is carried


def test_what_a_program_carries_is_what_the_prelude_says():
    parts, imports = prelude_selection.parts()
    assert {
        "identity",
        "law",
        "inequality",
        "limit",
        "refutation",
        "rank_bound",
        "run",
    } <= parts.keys() and not parts.keys() & imports.keys()
    for module in prelude_selection.FILES:
        source = Path(module.__file__).read_text(encoding="utf-8")
        mine = [part for part in parts.values() if part.text in source]
        assert mine, module.__name__
    text = prelude_selection.select_prelude(frozenset(["identity"])).definitions
    assert "def away_from_zero" in text and "gaussian" not in text


def test_the_prelude_imports_nothing_of_ours_but_itself():
    for module in prelude_selection.FILES:
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level < 2 and (node.level or node.module.partition(".")[0] in {"sympy", "mpmath", *sys.stdlib_module_names})


a, b, u = sp.symbols("a b u", real=True)
POSITIVE = sp.Symbol("p", positive=True)
SIGNS = {
    "a square": ((a - b) ** 2, [], True),
    "a modulus and its number": (sp.Abs(a) - a, [], True),
    "a modulus and half its number": (2 * sp.Abs(a) - a, [], True),
    "a modulus less twice its number": (sp.Abs(a) - 2 * a, [], False),
    "what is assumed": (a - b, [a - b], True),
    "a multiple of it": (3 * a - 3 * b, [a - b], True),
    "its negative": (b - a, [a - b], False),
    "a product of two": ((a - b) * (a + b), [a - b, a + b], True),
    "a product of one and a number": ((a - b) * u, [a - b], False),
    "a sum of two": (2 * a + u, [a - b, a + b + u], True),
    "a sum of one and another": (2 * a + u, [a - b], False),
    "an exponential": (sp.exp(a) / (1 + sp.exp(b)), [], True),
    "what is larger than an exponential": (a * u**2, [a - sp.exp(b)], True),
    "a quotient by what may be zero": (1 / a, [a], False),
    "a quotient by what is positive": (1 / POSITIVE, [], True),
    "two negative factors": ((b - a) * (b - a - POSITIVE), [a - b], True),
    "three negative factors": ((b - a) * (b - a - POSITIVE) * (b - a), [a - b], False),
    "an odd power": (a**3, [], False),
    "an odd power of what is assumed": (a**3, [a], True),
}


@pytest.mark.parametrize("e, assumed, holds", SIGNS.values(), ids=SIGNS)
def test_a_sign_is_proved_where_it_follows_and_nowhere_else(e, assumed, holds):
    assert Signs([], assumed, []).nonnegative(e) is holds


@settings(derandomize=True, deadline=None, database=None, max_examples=60)
@given(st.lists(st.integers(-2, 2), min_size=6, max_size=6), st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3))
def test_no_sign_is_proved_that_fails_at_a_point(c, x1, x2, x3):
    e = c[0] * a + c[1] * b + c[2] * sp.Abs(a) + c[3] * a * b + c[4] * sp.Abs(b) * a + c[5] * (a - u) * (b - u)
    known = [a - u, b + sp.Abs(u)]
    at = {a: x1, b: x2, u: x3}
    if all(g.subs(at) >= 0 for g in known) and Signs([], known, []).nonnegative(e):
        assert e.subs(at) >= 0


@settings(derandomize=True, deadline=None, database=None, max_examples=200)
@given(st.fractions(), st.integers(-160, 120))
@example(Fraction(2**24 + 1), 0)
@example(Fraction(2**24 + 3), 0)
@example(Fraction(1), -150)
@example(Fraction(3), -150)
@example(Fraction(2**24 - 1), -149)
def test_rounding_is_numpy_s(value, scale):
    exact = sp.Rational(value.numerator, value.denominator) * sp.Integer(2) ** scale
    as_double = float(Fraction(int(exact.p), int(exact.q))) if abs(exact) < 2**127 else None
    if as_double is not None and Fraction(as_double) == Fraction(int(exact.p), int(exact.q)):  # so that it is rounded once
        with np.errstate(under="ignore"):
            assert Fraction(float(np.float32(as_double))) == Fraction(*map(int, rounding.rounded(exact, "fp32").as_numer_denom()))


# Beside the pages


def made(text, id_="sum"):
    return {"id": id_, "kind": "identity", "witnesses": [{"name": "sympy", "verdict": "proved", "source": text, "note": ""}]}


def test_what_is_published_is_what_was_checked_and_nothing_older(tmp_path):
    assert sympy_program_files.publish_programs({"chapter/tiny": [made("one"), made("two", "other")]}, tmp_path, every=True) == [
        tmp_path / "chapter/tiny/sum.py",
        tmp_path / "chapter/tiny/other.py",
    ]
    before = (tmp_path / "chapter/tiny/sum.py").stat().st_mtime_ns
    (tmp_path / "chapter/gone").mkdir()
    (tmp_path / "chapter/gone/old.py").write_text("old")
    sympy_program_files.publish_programs({"chapter/tiny": [made("one")]}, tmp_path, every=False)
    assert (tmp_path / "chapter/tiny/sum.py").stat().st_mtime_ns == before and not (tmp_path / "chapter/tiny/other.py").exists()
    assert (tmp_path / "chapter/gone/old.py").exists()
    sympy_program_files.publish_programs({"chapter/tiny": None}, tmp_path, every=True)
    assert list(tmp_path.rglob("*.py")) == [tmp_path / "chapter/tiny/sum.py"]  # refused: it stays, and what is of no topic goes
    sympy_program_files.publish_programs({"chapter/tiny": []}, tmp_path, every=True)
    assert list(tmp_path.rglob("*.py")) == []


def test_check_publishes_the_programs_of_what_holds_and_leaves_those_of_what_does_not(tree, command):
    file = tree.root / "docs/sympy/chapter/tiny/sum.py"
    assert command("check").exit_code == 0 and "(A + B).T" in file.read_text()
    assert coq_results.load("chapter/tiny")["claims"][0]["witnesses"][1]["file"] == "sympy/chapter/tiny/sum.py"
    file.unlink()
    assert command("check").exit_code == 0 and file.exists()  # from the certificate
    tree.script.write_text(tree.script.read_text().replace("A.T + B.T", "A.T - B.T"))
    assert command("check").exit_code == 1 and "A.T + B.T" in file.read_text()
    tree.script.write_text(tree.script.read_text().replace("A.T - B.T", "B.T + A.T").replace('"sum"', '"other"'))
    assert command("check").exit_code == 0 and [path.name for path in file.parent.iterdir()] == ["other.py"]


def test_the_command_writes_them_where_it_is_told_and_runs_them(tree, command, tmp_path):
    out = tmp_path / "out"
    said = command("sympy", "--out", out, "--run", "--jobs", 1)
    assert said.exit_code == 0 and "1 program in" in said.output and "1 of 1 program succeeded" in said.output
    assert (out / "chapter/tiny/sum.py").read_text() == sympy_program_files.program_text(certificates.load("chapter/tiny")["claims"][0])
    bad = tmp_path / "bad.py"
    bad.write_text("import sys\nprint('step 1 is false')\nsys.exit(1)\n")
    assert not command_programs.run_programs([out / "chapter/tiny/sum.py", bad], 1)


def test_the_command_says_which_have_none_and_why(tree, command, tmp_path):
    text = tree.script.read_text().replace("matrix, sizes", "in_range, matrix, representable, rounded, scalars, sizes")
    more = 'x = scalars("x")\nderivation.identity("same", rounded(2 * x), 2 * rounded(x), given=[representable(x), in_range()])\n'
    tree.script.write_text(text + more)
    checked = command("sympy", "--out", tmp_path / "out")
    if checked.exit_code == 0:
        assert "no program for chapter/tiny#same: the rounding of a number that is not known" in checked.output
    else:
        assert "not all claims are accepted" in checked.output


def test_a_page_refuses_a_program_that_is_not_what_was_checked(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    page = Page(Source("", docs))
    with pytest.raises(ClaimError, match="is not the file that was checked; run 'python -m derivations check'"):
        page.links.to_file("sympy/chapter/tiny/sum.py", "one")
    sympy_program_files.publish_programs({"chapter/tiny": [made("one")]}, docs / "sympy", every=True)
    assert page.links.to_file("sympy/chapter/tiny/sum.py", "one") == "sympy/chapter/tiny/sum.py"
    (docs / "sympy/chapter/tiny/sum.py").write_text("two")
    with pytest.raises(ClaimError, match="is not the file that was checked"):
        page.links.to_file("sympy/chapter/tiny/sum.py", "one")


def test_a_claim_on_a_page_links_to_its_program_and_no_other_claim_does(tree, command):
    assert command("check").exit_code == 0
    record = coq_results.load("chapter/tiny")["claims"][0]
    asked = []

    def html(claim):
        stash, box = [], Element("div")
        render_claim(
            claim,
            box,
            stash=lambda text: stash.append(text) or f"[{len(stash) - 1}]",
            number=1,
            anchor="sum",
            script="derivations/chapter/tiny.py",
            repository="",
            link_use=str,
            link_file=lambda name, text="": asked.append((name, text)) or f"../{name}",
        )
        return [(stash[int(a.text.strip("[]"))], a.get("href")) for a in box.iter("a") if a.get("class") == "claim__source"]

    assert html(record) == [("the program", "../sympy/chapter/tiny/sum.py")]
    assert asked == [("sympy/chapter/tiny/sum.py", sympy_program_files.program_text(record))]
    for said in record["witnesses"]:
        said.pop("file", None)
    assert html(record) == []


def test_a_value_for_what_a_refutation_does_not_mention_is_refused():
    """A mutant drops what a value was given for; the values are then not those of the claim."""
    x, y = scalars("x y")
    derivation = Derivation("test")
    derivation.refute("claim", x, y, at={x: 1, y: 2})
    (claim,) = derivation.claims
    assert witness(claim)[0] == "refuted"
    with pytest.raises(Rejected, check=has_code("unused-value")):
        witness(replace(claim, at=(*claim.at, ("z", lift(3)))))


def test_zero_over_zero_in_a_matrix_is_no_value():
    """SymPy's matrices take 0 times infinity for 0."""
    A, y = matrix("A", 1, 2), scalars("y")
    derivation = Derivation("test")
    derivation.refute("claim", A / y, 2 * A + array([[1, 1]]), at={A: [[0, 0]], y: 1})
    (claim,) = derivation.claims
    assert witness(claim)[0] == "refuted"
    with pytest.raises(Rejected, check=has_code("sympy-disagrees")):
        witness(replace(claim, at=(claim.at[0], ("y", lift(0)))))


def test_a_certificate_has_no_index_that_the_inequality_lacks():
    """Where two weights sum to one, (p1 - 1/2)^2 is (p2 - 1/2)^2: at two entries an index too many goes unnoticed."""
    p = softmax(z)
    left, right = total((p[i] - p[i] ** 2) * v[i] ** 2, i), total(v[i] ** 2, i) / 4
    honest, stray = (total((p[k] - half) ** 2 * v[i] ** 2, i) for k in (i, j))
    claim = stated(lambda D: D.inequality("claim", left, right, because=honest))
    assert witness(claim)[0] == "proved"
    with pytest.raises(Rejected, check=has_code("wrong-certificate"), match="index j"):
        witness(replace(claim, because=(stray,)))
