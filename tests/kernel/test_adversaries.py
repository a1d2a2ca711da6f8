"""The checker attacked: forged claims and certificates, patched libraries, scripts that misbehave, and random expressions.

What is a promise is asserted as one. The promise covers mistakes, not malice; where malice succeeds, a test says so, and shows
that a fresh check undoes it.
"""

import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import mpmath
import pytest
import sympy as sp

from derivations.kernel import (
    Derivation,
    E,
    I,
    Var,
    absolute,
    diff,
    exp,
    eye,
    independent,
    index,
    inverse,
    invertible,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
)
from derivations.kernel.core.claims import Claim, Refused, Step, Verdict
from derivations.kernel.core.expr import Expr, free_indices, lift, walk
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import witness as check
from derivations.kernel.exact.assumption_facts import facts_of
from derivations.kernel.exact.denominators import clear_denominators
from derivations.kernel.exact.polynomials import add, scale
from derivations.kernel.exact.series_limits import limit
from derivations.kernel.exact.tree_to_normal_form import read
from derivations.kernel.exact.witness import exact
from derivations.kernel.run import again, certificates, runner, worker
from derivations.kernel.run.certificates import CertificateError, load
from derivations.kernel.run.records import check_claim, record
from derivations.kernel.sympy import witness as sympy_witness

pytestmark = pytest.mark.slow

n, m = sizes("n m")
A, B, C = matrix("A", n, n), matrix("B", n, n), matrix("C", n, m)
x, y, c = scalars("x y c")
u, v = vector("u", n), vector("v", n)
i, j, k = index("i", n), index("j", n), index("k", m)
q, R, X = random("q", n), random("R", n, n), random("X")
TOPIC = "chapter/tiny"


def holds(claim):
    """Is a claim, however it was made, accepted by the checker as the worker asks it?"""
    found = []
    worker.claims.LOADED[:] = []
    derivation = Derivation("forged")
    derivation.claims.append(claim)
    original, worker.load_script = worker.load_script, lambda path: None
    try:
        worker.check_script(Path(__file__), Path(__file__).parent, lambda event, **content: found.append((event, content)))
    finally:
        worker.load_script = original
        worker.claims.LOADED[:] = []
    (verdict,) = [content for event, content in found if event == "claim"]
    assert verdict["message"] or verdict["verdict"] == "holds"
    return verdict["verdict"] == "holds"


def stated(state):
    derivation = Derivation("honest")
    state(derivation)
    return derivation.claims[-1]


TRUE = stated(lambda D: D.identity("claim", (A @ B).T, B.T @ A.T))


# Forged claims ----------------------------------------------------------------------------------------------------------------


def test_a_claim_that_is_not_forged_holds():
    assert holds(TRUE)


FORGED = {
    "another right-hand side": lambda: replace(TRUE, steps=(Step("=", A.T @ B.T),)),
    "another left-hand side": lambda: replace(TRUE, start=(B @ A).T),
    "no step": lambda: replace(TRUE, steps=()),
    "a definition of something that has no new name": lambda: replace(TRUE, kind="definition", steps=(Step(":=", A.T @ B.T),)),
    "a definition that shows an equation": lambda: replace(TRUE, kind="definition", steps=(Step("=", A.T @ B.T),)),
    "a definition of another body": lambda: replace(stated(lambda D: D.define("p", x + 1)), steps=(Step(":=", x + 2),)),
    "an equality shown as an inequality of the two": lambda: replace(TRUE, steps=(Step("!=", B.T @ A.T),)),
    "an equality shown as a definition": lambda: replace(TRUE, steps=(Step(":=", B.T @ A.T),)),
    "a refutation shown as an equation": lambda: replace(stated(lambda D: D.refute("claim", x, y, at={x: 1, y: 2})), steps=(Step("=", y),)),
    "an inequality shown as an equation": lambda: replace(
        stated(lambda D: D.inequality("claim", 0, x**2, because=x * x)), steps=(Step("=", x**2),)
    ),
    "an inequality with a second step": lambda: replace(
        stated(lambda D: D.inequality("claim", 0, x**2, because=x * x)), steps=(Step("<=", x**2), Step("=", x**2 + 1))
    ),
    "a kind that there is not": lambda: replace(TRUE, kind="axiom"),
    "nothing at all": lambda: object.__new__(Claim),
    "one name for two shapes": lambda: replace(TRUE, start=A @ vector("u", n), steps=(Step("=", A @ matrix("u", n, m)),)),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_claim_does_not_hold(forge):
    try:
        claim = forge()
        accepted = holds(claim)
    except (AttributeError, KernelError):
        return  # not even checked
    assert not accepted


def test_an_expression_that_was_never_built_does_not_hold():
    hollow = object.__new__(Expr)
    object.__setattr__(hollow, "op", "const")
    assert not holds(replace(TRUE, steps=(Step("=", hollow),)))


def test_a_verdict_is_not_taken_from_a_claim():
    """A claim has no place for one, and one put there by force changes nothing."""
    false = replace(TRUE, steps=(Step("=", A.T @ B.T),))
    object.__setattr__(false, "verdict", Verdict("exact", "proved", "every shape", ""))
    object.__setattr__(false, "witnesses", (Verdict("exact", "proved", "every shape", ""),))
    assert not holds(false)
    with pytest.raises(TypeError):
        replace(TRUE, verdict="proved")


def test_what_is_recorded_is_what_was_proved_even_of_a_tree_that_was_changed():
    right = A.T @ B.T
    claim = stated(lambda D: D.identity("claim", (A @ B).T, right))
    assert not holds(claim)
    object.__setattr__(right, "args", (B.T, A.T))
    assert holds(claim) and check_claim(claim)["steps"][0]["latex"] == r"B^{\top} A^{\top}"
    object.__setattr__(right, "args", (A.T, B.T))
    assert not holds(claim)


def test_a_symbol_that_was_renamed_by_force_is_recorded_under_its_new_name():
    own = scalars("a")
    claim = stated(lambda D: D.identity("claim", own * (own + 1), own**2 + own))
    object.__setattr__(own, "data", ("b", "real"))
    assert "a" not in check_claim(claim)["latex"] and holds(claim)


def test_a_certificate_built_by_hand_is_refused(tree):
    """Everything about it is right but the seal; the key is not known to who writes it."""
    certificates.save(TOPIC, tree.script, "By hand", [], [])
    content = json.loads(tree.certificate.read_text())
    import hashlib
    import hmac

    for key in (b"", b"key", b"0" * 64, content["inputs"]["derivations/chapter/tiny.py"].encode()):
        body = json.dumps({name: value for name, value in content.items() if name != "seal"}, sort_keys=True).encode()
        tree.certificate.write_text(json.dumps(content | {"seal": hmac.new(key, body, hashlib.sha256).hexdigest()}))
        with pytest.raises(CertificateError, match="was not written by the checker"):
            load(TOPIC)


# Names ------------------------------------------------------------------------------------------------------------------------


def sympys(left, right):
    """The claim that two SymPy expressions are equal."""
    return lambda D: D.identity("claim", sp.Eq(left, right, evaluate=False))


real, plus = sp.Symbol("x", real=True), sp.Symbol("x", positive=True)
SYMBOLS = {
    "one name with two assumptions": sympys(plus * (real + 1), plus * real + plus),
    "two dummies of one name": sympys(sp.Dummy("x", real=True) - sp.Dummy("x", real=True) + real, real),
    "a number and a size": sympys(sp.Symbol("x", integer=True, positive=True) * (real + 1), real**2 + real),
    "a symbol that may be complex": sympys(sp.Abs(sp.Symbol("z")) ** 2, sp.Symbol("z") ** 2),
    "an imaginary symbol": sympys(sp.Abs(sp.Symbol("z", imaginary=True)) ** 2, sp.Symbol("z", imaginary=True) ** 2),
    "symbols that do not commute": sympys(*(lambda a, b: (a * b + a, b * a + a))(*sp.symbols("a b", commutative=False))),
}


@pytest.mark.parametrize("state", SYMBOLS.values(), ids=SYMBOLS)
def test_a_symbol_of_sympys_that_means_something_else_is_refused(state, refused):
    assert refused(state)


def test_a_kernel_symbol_is_one_thing_whatever_it_is_made_with(refused):
    assert "two things" in refused(lambda D: D.identity("claim", x * (random("x") + 1), x * x + x))
    assert "two things" in refused(lambda D: D.identity("claim", x * (sizes("x") + 1), x * x + x))


# Unsound rules, each once accepted --------------------------------------------------------------------------------------------

FALSE = {
    "the inverse of a random matrix does not vary": lambda D: D.identity("claim", Var(inverse(R)[1, 1]), 0, given=[invertible(R)]),
    "a random matrix and its inverse are uncorrelated": lambda D: D.identity(
        "claim", E(R[1, 1] * inverse(R)[1, 1]), 0, given=[invertible(R), mean(R, 0)]
    ),
    "an inverse has no slope": lambda D: D.identity("claim", E(X) + diff(inverse(A)[1, 1], A[1, 1]), 0, given=[invertible(A), mean(X, 0)]),
    "an assumption is differentiated": lambda D: D.chain(
        "claim",
        diff((A @ B)[1, 1], A[1, 1]) + (A @ B)[1, 1] * E(X + 1),
        ((A @ B)[1, 1] * E(X + 1), "no slope"),
        (1, "insert"),
        given=[product_is(A, B, 1), mean(X, 0)],
    ),
    "a root has a slope at zero": lambda D: D.identity("claim", diff(sqrt(x), x) * sqrt(x), Fraction(1, 2), given=[nonnegative(x)]),
    "the root of a square has a slope at zero": lambda D: D.identity("claim", diff(sqrt(x**2), x) * sqrt(x**2), x),
    "a norm has a slope at zero": lambda D: D.identity("claim", diff(sqrt(v @ v), v[i]) * sqrt(v @ v), v[i]),
    "a moment does not depend on the mean": lambda D: D.identity("claim", diff(E(X) * E(X**2), c), E(X**2), given=[mean(X, c)]),
    "the mean of real numbers is imaginary": lambda D: D.identity("claim", E(X) ** 2, -1, given=[mean(X, I)]),
}


@pytest.mark.parametrize("state", FALSE.values(), ids=FALSE)
def test_a_false_claim_is_refused_by_the_exact_witness_alone(state, refused):
    try:
        state(Derivation("test"))
    except Refused:
        pass
    except KernelError as error:  # it cannot even be written down
        assert str(error)
        return
    assert refused(state)


def test_an_assumption_with_an_open_index_is_about_every_value_of_it():
    def state(D):
        D.inequality(
            "claim",
            0 * v[i] * other[j],
            total(v[i], i) * total(-other[j], j),
            because=total(v[i], i) * total(-other[j], j),
            given=[nonnegative(v[i]), nonnegative(-other[j])],
        )

    other = vector("w", n)
    claim = stated(state)
    assert [a["text"] for a in record(claim, [exact(claim)])["assumptions"]] == [
        "$v_{i}$ is not negative, for every $i$",
        "$-w_{j}$ is not negative, for every $j$",
    ]
    other = v  # of one vector they leave zeros alone
    with pytest.raises(Refused, match="leave one value only"):
        exact(stated(state))


def test_a_limit_from_above_is_shown_as_one():
    """|x|/x has no limit at zero, but one from above."""
    claim = stated(lambda D: D.limit("claim", sqrt(x**2) / x, x, 0, 1))
    shown = record(claim, [exact(claim)])["latex"]
    assert any(mark in shown.replace(" ", "") for mark in ("0^{+}", "0^+", r"\downarrow0", r"\searrow0")), shown


CONTRADICTORY = {
    "a sign and its opposite": lambda D: D.identity("claim", exp(log(x)) + exp(log(-x)), 0, given=[positive(x), positive(-x)]),
    "an invertible matrix whose square is zero": lambda D: D.identity(
        "claim", inverse(A) @ (A @ A), 0 * A, given=[invertible(A), product_is(A, A, 0)]
    ),
    "a negative variance": lambda D: D.identity("claim", E(X**2), -1, given=[mean(X, 0), variance(X, -1)]),
    "a size below one": lambda D: D.identity("claim", sqrt(1 - n) ** 2 / (1 - n), 1, given=[positive(1 - n)]),
    "an inverse on one side only": lambda D: D.identity("claim", A @ B @ A, 0 * A + A, given=[product_is(A, B, 1), product_is(B, A, 0)]),
    "more columns than rows, and orthogonal": lambda D: D.identity(
        "claim",
        matrix("T", 1, 2).T @ matrix("T", 1, 2) @ matrix("S", 2, 1),
        matrix("S", 2, 1) * 1,
        given=[product_is(matrix("T", 1, 2).T, matrix("T", 1, 2), 1)],
    ),
}


@pytest.mark.parametrize("state", CONTRADICTORY.values(), ids=CONTRADICTORY)
def test_nothing_follows_from_assumptions_that_contradict_each_other(state, refused):
    assert refused(state)


BREAKING = {
    "an inverse of a singular matrix": lambda D: D.refute("claim", A @ A, A, at={A: [[0, 1], [0, 0]]}, given=[invertible(A)]),
    "a product that is another": lambda D: D.refute(
        "claim", A @ B, B @ A, at={A: [[1, 1], [0, 1]], B: [[1, 0], [1, 1]]}, given=[product_is(A, B, 0)]
    ),
    "a sign of an entry": lambda D: D.refute("claim", absolute(v[1]), v[1], at={v: [-1]}, given=[nonnegative(v[1])]),
    "a negative variance": lambda D: D.refute("claim", Var(X), absolute(c), at={c: -1}, given=[mean(X, 0), variance(X, c)]),
    "a sign in a law": lambda D: D.refute("claim", E(X) * sqrt(c**2), E(X) * c, at={c: -1}, given=[mean(X, 1), positive(c)]),
    "a zero": lambda D: D.refute("claim", x * y, x, at={x: 1, y: 0}, given=[nonzero(y)]),
}


@pytest.mark.parametrize("state", BREAKING.values(), ids=BREAKING)
def test_a_counterexample_that_breaks_what_is_assumed_refutes_nothing(state, refused):
    assert refused(state)


# Patched libraries ------------------------------------------------------------------------------------------------------------

HEAD = """from derivations.kernel import Derivation, matrix, sizes
n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A test")
"""
GOOD = HEAD + 'derivation.identity("good", (A + B).T, A.T + B.T)\n'
BAD = HEAD + 'derivation.identity("bad", (A + B).T, A.T - B.T)\n'
YES_TO_ALL = """import sympy
for name in ("simplify", "expand", "cancel", "together", "powsimp", "powdenest", "factor", "nsimplify"):
    setattr(sympy, name, lambda *anything, **more: sympy.Integer(0))
sympy.limit = lambda *anything, **more: sympy.Integer(7)
"""
PATCHED_KERNEL = """from derivations.kernel.exact import witness as check
from derivations.kernel.sympy import running
check.equal = lambda left, right, facts: {}
running.run = lambda program: ("proved", "every value", "whatever it says")
"""


@pytest.fixture
def scripts(tree):
    """A function that writes scripts into the tree's chapter, by name, and gives their topics."""

    def write(**texts):
        tree.script.unlink(missing_ok=True)
        for name, text in texts.items():
            tree.script.with_name(f"{name}.py").write_text(text)
        return [f"chapter/{name}" for name in texts]

    return write


def verdicts(found):
    return {record["topic"].split("/")[1]: record["verdict"] for record in found if record["id"]}


def certified(topic):
    try:
        return [claim["id"] for claim in load(topic)["claims"]]
    except CertificateError:
        return None


def test_a_sympy_that_says_yes_to_all_proves_nothing_false(scripts, records):
    scripts(patched=YES_TO_ALL + BAD, limits=YES_TO_ALL + HEAD + 'derivation.limit("bad", 1 / n, n, "oo", 7)\n')
    code, found = records()
    assert code == 1 and verdicts(found) == {"patched": "refused", "limits": "refused"}
    assert "false: at A = " in next(r["message"] for r in found if r["topic"] == "chapter/patched")
    assert certified("chapter/patched") is None and certified("chapter/limits") is None


def test_a_script_that_patches_two_witnesses_is_refused_by_the_third_and_fools_no_other(scripts, records):
    """Malice, against which there is no promise. It is gone with the patch, and no other script inherits it."""
    scripts(malice=PATCHED_KERNEL + BAD, other=BAD)
    code, found = records("--jobs", 1)
    assert code == 1 and verdicts(found)["other"] == "refused" and certified("chapter/other") is None
    assert verdicts(found)["malice"] == "refused"  # today: it patches two witnesses, and the third is not fooled
    scripts(malice=BAD)
    code, found = records("chapter/malice")
    assert code == 1 and verdicts(found)["malice"] == "refused" and certified("chapter/malice") is None


def test_a_kernel_that_is_patched_where_the_check_is_asked_for_is_not_the_one_that_checks(scripts, records, monkeypatch):
    scripts(bad=BAD)
    monkeypatch.setattr(check, "equal", lambda *anything: {})
    monkeypatch.setattr(again, "witnessed", lambda claim: {})
    code, found = records("--fresh")
    assert code == 1 and verdicts(found) == {"bad": "refused"}


# Stale certificates -----------------------------------------------------------------------------------------------------------


def checked(tree):
    """The certificate of a script after a check, which is still good as nothing has changed."""
    result = runner.check_script(TOPIC, tree.script, False, lambda done, more: None)
    assert result.holds, (result.problems, result.records)
    return load(TOPIC)


def test_a_change_of_what_an_import_imports_is_noticed(tree):
    folder = tree.script.parent
    (folder / "third.py").write_text("def swap(a, b):\n    return b, a\n")
    (folder / "second.py").write_text("from third import swap\n")
    tree.script.write_text(
        HEAD + 'from second import swap\nderivation.identity("sum", (A + B).T, sum(swap(A.T, B.T)[1:], swap(A.T, B.T)[0]))\n'
    )
    assert "derivations/chapter/third.py" in checked(tree)["inputs"]
    (folder / "third.py").write_text("def swap(a, b):\n    return 2 * b, a\n")
    with pytest.raises(CertificateError, match="third.py changed"):
        load(TOPIC)


def test_a_change_of_a_late_import_is_noticed(tree):
    (tree.script.parent / "late.py").write_text("factor = 1\n")
    tree.script.write_text(
        HEAD + 'def f():\n    from late import factor\n    return factor\nderivation.identity("sum", (A + B).T, A.T + f() * B.T)\n'
    )
    assert "derivations/chapter/late.py" in checked(tree)["inputs"]


def test_the_version_of_every_library_that_a_script_imports_is_in_its_certificate(tree):
    """A claim may be computed with any library, and may hold with one version of it only."""
    tree.script.write_text("import numpy\n" + GOOD)
    assert "numpy" in checked(tree)["versions"]


WRITES_ITSELF = """
from pathlib import Path
Path({path!r}).write_text({text!r})
"""


def test_a_script_that_was_edited_while_it_was_checked_is_not_certified_as_it_is_now(tree):
    """What was checked is the text that was read. Here the script does to itself what an editor does in the meantime."""
    tree.script.write_text(GOOD + WRITES_ITSELF.format(path=str(tree.script), text=BAD))
    runner.check_script(TOPIC, tree.script, False, lambda done, more: None)
    assert tree.script.read_text() == BAD
    with pytest.raises(CertificateError):
        load(TOPIC)


def test_an_import_that_was_edited_while_it_was_checked_is_not_certified_as_it_is_now(tree):
    helper = tree.script.with_name("helper.py")
    helper.write_text("factor = 1\n")
    tree.script.write_text(
        HEAD
        + 'from helper import factor\nderivation.identity("sum", (A + B).T, A.T + factor * B.T)\n'
        + WRITES_ITSELF.format(path=str(helper), text="factor = 2\n")
    )
    runner.check_script(TOPIC, tree.script, False, lambda done, more: None)
    with pytest.raises(CertificateError):
        load(TOPIC)


# Circles ----------------------------------------------------------------------------------------------------------------------


def using(*uses):
    return GOOD.replace("A.T + B.T)", f"A.T + B.T, uses={list(uses)!r})")


@pytest.mark.parametrize("asked", [(), ("chapter/a",), ("chapter/a", "chapter/b")], ids=["all", "one", "both"])
@pytest.mark.parametrize("length", [2, 3])
def test_topics_that_use_each_other_in_a_circle_are_refused(asked, length, scripts, records):
    names = "abc"[:length]
    scripts(**{name: GOOD for name in names})
    assert records()[0] == 0
    for name, following in zip(names[1:], names[2:] + names[:1]):
        scripts(**{name: using(f"chapter/{following}#good")})
        assert records(f"chapter/{name}")[0] == 0
    scripts(a=using("chapter/b#good"))
    code, found = records(*asked)
    assert code == 1 and any("lead back" in record["message"] for record in found)
    assert certified("chapter/a") is None


def test_a_claim_that_uses_itself_by_its_full_name_is_refused(scripts, records):
    scripts(a=using("chapter/a#good"))
    assert records()[0] == 1 and certified("chapter/a") is None


def test_a_claim_that_uses_one_that_does_not_hold_is_refused(scripts, records):
    scripts(a=using("chapter/b#bad"), b=BAD)
    code, found = records()
    assert code == 1 and verdicts(found)["b"] == "refused" and certified("chapter/b") is None
    assert records("chapter/a")[0] == 1


@pytest.mark.parametrize("uses", [["good"], ["chapter/b#good"], ["good", "chapter/b#good"]], ids=["an earlier one", "another's", "both"])
def test_a_false_claim_gains_nothing_by_what_it_cites(uses, scripts, records):
    scripts(a=GOOD + f'derivation.identity("bad", (A + B).T, A.T - B.T, uses={uses})\n', b=GOOD)
    code, found = records()
    assert code == 1 and [r["verdict"] for r in found if r["id"] == "bad"] == ["refused"] and certified("chapter/a") is None


def test_a_true_claim_owes_nothing_to_what_it_cites():
    """The proof is of the claim alone: another citation in the place of one changes no verdict."""

    def said(uses):
        D = Derivation("test")
        D.identity("first", (A @ A).T, A.T @ A.T)
        D.identity("second", (2 * A).T, 2 * A.T)
        D.identity("claim", (A + A).T, 2 * A.T, uses=uses)
        return exact(D.claims[-1]), sympy_witness.witness(D.claims[-1])

    assert said([]) == said(["first"]) == said(["second"])


# Scripts that misbehave -------------------------------------------------------------------------------------------------------

MISBEHAVING = {
    "a crash": ("import os\nos.kill(os.getpid(), 11)\n", "died (exit -11)"),
    "memory": ("hoard = bytearray(2 ** 40)\n", "MemoryError"),
    "memory, bit by bit": ("import mmap\nhoard = []\nwhile True: hoard.append(mmap.mmap(-1, 2 ** 28))\n", "stopped with"),
    "words without end": ("while True: print('x' * 2 ** 16)\n", "the script stopped with OSError"),
    "a megabyte of complaints": ("import sys\nsys.stderr.write('x' * 2 ** 20)\nimport os\nos._exit(3)\n", "died (exit 3)"),
}


@pytest.mark.parametrize("text, says", MISBEHAVING.values(), ids=MISBEHAVING)
def test_a_script_that_misbehaves_is_named_and_takes_no_other_down(text, says, scripts, records):
    scripts(bad=GOOD + text, good=GOOD)
    one_is_named(says, *records("--jobs", 2))


def test_a_script_that_hangs_is_named_and_takes_no_other_down(scripts, records, hang):
    scripts(bad=GOOD + hang, good=GOOD)
    one_is_named(f"took longer than {runner.TIME_LIMIT} s", *records("--jobs", 1))


def one_is_named(says, code, found):
    assert code == 1 and certified("chapter/good") == ["good"] and certified("chapter/bad") is None
    assert verdicts(found)["good"] == "holds"
    (problem,) = [record for record in found if record["id"] is None]
    assert says in problem["message"] and "bad.py" in problem["message"]


# A script that starts a process is refused, unless it hides it, as a library in C does without meaning to.
UNSEEN = "from derivations.kernel.run import tracking\ntracking._recorders[-1].thread = 0\n"
FOREVER = 10 * runner.TIME_LIMIT  # seconds that no check takes: the runner would have stopped it


def test_a_thread_that_does_not_end_holds_nothing_up(scripts, records, tmp_path):
    ended = tmp_path / "ended"
    scripts(
        thread="import threading, time\nfrom pathlib import Path\n"
        f"def wait():\n    time.sleep({FOREVER})\n    Path({str(ended)!r}).touch()\nthreading.Thread(target=wait).start()\n" + GOOD
    )
    code, found = records()
    assert code == 0 and verdicts(found) == {"thread": "holds"} and not ended.exists()


@pytest.mark.parametrize("apart", [False, True], ids=["of its session", "of its own session"])
def test_a_process_that_outlives_its_script_holds_nothing_up(apart, scripts, records, tmp_path):
    """It is ended with the script, unless it left the script's session, which no mistake does. The pipe that it holds is closed when
    it ends, and is what says so."""
    told, held = tmp_path / "pid", tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    scripts(
        child=f"{UNSEEN}import subprocess\nheld = open({str(held)!r}, 'w')\n"
        f"child = subprocess.Popen(['sleep', '{FOREVER}'], stdout=held, start_new_session={apart})\n"
        f"held.close()\nopen({str(told)!r}, 'w').write(str(child.pid))\n" + GOOD
    )
    try:
        code, found = records()
        assert code == 0 and verdicts(found) == {"child": "holds"}
        ended = bool(select.select([reader], [], [], 0 if apart else FOREVER / 2)[0])
    finally:
        os.close(reader)
    if apart and not ended:
        os.kill(int(told.read_text()), signal.SIGKILL)
    assert ended != apart


def test_the_records_of_a_process_that_a_script_forked_are_not_taken_for_its_own(scripts, records):
    """The child states one claim and comes first; the script itself states another, which is false."""
    scripts(
        forks=UNSEEN
        + "import os\n"
        + GOOD
        + 'pid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    derivation.identity("bad", A + B, A - B)\n'
    )
    code, found = records()
    assert code == 1 and certified("chapter/forks") is None


def test_a_script_that_prints_megabytes_is_checked_like_any_other(scripts, records):
    scripts(loud="for _ in range(30): print('x' * 2 ** 20)\n" + GOOD)
    code, found = records()
    assert code == 0 and verdicts(found) == {"loud": "holds"}


def as_checker(tree):
    """What makes the kernel in a script's own process work on the tree of the test."""
    return (
        "from pathlib import Path\nfrom derivations.kernel.run import certificates\n"
        f"root = Path({str(tree.root)!r})\ncertificates.ROOT, certificates.STORE = root, root / '.certificates'\n"
        "certificates.kernel_files = lambda: sorted((root / 'derivations/kernel').rglob('*.py'))\n"
    )


OWN = {
    "it deletes it": "path.unlink(missing_ok=True)\n",
    "it writes it": "path.parent.mkdir(parents=True, exist_ok=True)\npath.write_text('{}')\n",
}


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_what_a_script_does_to_its_own_certificate_is_undone(text, tree):
    tree.script.write_text(f"from pathlib import Path\npath = Path({str(tree.certificate)!r})\n" + text + GOOD)
    checked(tree)
    assert certified(TOPIC) == ["good"]


def test_a_script_that_scribbles_on_the_certificate_of_another_makes_it_unreadable(tree, scripts, records):
    scripts(a=GOOD, b=f"open({str(tree.certificate.with_name('a.json'))!r}, 'a').write('x')\n" + GOOD)
    assert records("chapter/a")[0] == 0 and certified("chapter/a") == ["good"]
    assert records("chapter/b")[0] == 0
    with pytest.raises(CertificateError, match="cannot be read"):
        load("chapter/a")
    assert records("chapter/a")[0] == 0 and certified("chapter/a") == ["good"]


def test_a_script_that_seals_a_certificate_for_another_is_found_out_by_a_fresh_check(tree, scripts, records):
    """Malice: who can write to the store can forge a seal. Trust rests on replay."""
    scripts(
        a=BAD,
        b=GOOD + UNSEEN + as_checker(tree) + "certificates.save('chapter/a', root / 'derivations/chapter/a.py', 'A', "
        "[{'id': 'bad', 'kind': 'identity', 'scope': 'every shape', 'line': 5, 'witnesses': []}], [])\n",
    )
    assert records("chapter/b")[0] == 0
    assert certified("chapter/a") == ["bad"]  # this is what happens today
    code, found = records("--fresh", "chapter/a")
    assert code == 1 and verdicts(found) == {"a": "refused"} and certified("chapter/a") is None


# Hash seeds -------------------------------------------------------------------------------------------------------------------

SEEDED = """from derivations.kernel import *
n, m, d = sizes("n m d")
A, B = matrix("A", n, n), matrix("B", n, n)
q, k = random("q", d), random("k", d)
x, y = scalars("x y")
z = vector("z", n)
i, j = index("i", n), index("j", n)
moments = [mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
derivation = Derivation("Seeds")
derivation.identity("transposed", (A @ B).T, A.T @ B.T)
derivation.identity("unstated", (x ** 2 - y ** 2) / (x - y) + sqrt(x), x + y + sqrt(x))
derivation.identity("width", Var(q @ k), d, given=moments)
derivation.identity("law", Var(q @ k), d, given=[independent(q, k), *moments])
derivation.identity("slope", diff(softmax(z)[i], z[j]), 2 * softmax(z)[i] * softmax(z)[j])
derivation.inequality("means", 2 * x * y, x ** 2 + y ** 2, because=(x - y) ** 2)
if __name__ == "__main__":
    derivation.main()
"""


def test_the_seed_of_hashes_changes_no_verdict_and_no_message(tmp_path):
    path = tmp_path / "seeded.py"
    path.write_text(SEEDED)
    root = Path(__file__).resolve().parents[2]
    said = []
    for seeds in ("01", "23"):
        running = [
            subprocess.Popen(
                [sys.executable, str(path)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            )
            for seed in seeds
        ]
        said += [process.communicate()[0] for process in running]
    assert said[0].count("REJECTED") == 4 and "Traceback" not in said[0]
    assert said[1:] == said[:1] * 3


# Random expressions: what the exact witness makes of them, against numbers ----------------------------------------------------

g = scalars("g")
LEAVES = {(): [x, y, g], (n,): [u, v], (n, n): [A, B], (n, m): [C], (m, n): [matrix("F", m, n)]}
INDICES = [i, j, index("h", n)]


class Odd(Exception):
    """A place where the expression does not exist, or is too large to compare."""


def grown(r, shape=(), depth=3, scope=()):
    """A random expression of a shape; scope holds the indices that sums around it bind."""
    if depth <= 0 or r.random() < 0.1:
        leaf = lift(r.choice([1, 2, -1, 3, Fraction(1, 2)])) if not shape and r.random() < 0.3 else r.choice(LEAVES[shape])
        if not shape and r.random() < 0.5:
            at = [r.choice([*scope, lift(1)]) for _ in range(2)]
            leaf = r.choice([u[at[0]], v[at[0]], A[at[0], at[1]], B[at[0], at[1]]])
        return leaf
    sub = lambda s=shape, more=(): grown(r, s, depth - 1, (*scope, *more))
    if shape:
        kind = r.choice(["add", "scaled", "hadamard", "softmax", "matmul"] + ["transpose"] * (len(shape) == 2))
        if kind == "transpose":
            return sub(shape[::-1]).T
        if kind == "matmul":
            return sub((shape[0], n)) @ sub((n, *shape[1:]))
        return {
            "add": lambda: sub() + sub(),
            "scaled": lambda: sub(()) * sub(),
            "hadamard": lambda: sub() * sub(),
            "softmax": lambda: softmax(sub()),
        }[kind]()
    over = r.choice(INDICES)
    return {
        "add": lambda: sub() + sub(),
        "mul": lambda: sub() * sub(),
        "neg": lambda: -sub(),
        "abs": lambda: absolute(sub()),
        "exp": lambda: exp(sub() / 2),
        "log": lambda: log(r.choice([g, g * exp(sub()), 1 + sub() ** 2])),
        "div": lambda: sub() / r.choice([g, 1 + sub() ** 2, exp(sub())]),
        "pow": lambda: sub() ** r.choice([2, 3]),
        "root": lambda: r.choice([sub() ** 2, g * sub() ** 2, 1 + sub() ** 2, g]) ** Fraction(r.choice([1, -1, 3]), 2),
        "sum": lambda: total(sub((), (over,)), over),
        "dot": lambda: sub((n,)) @ sub((n,)),
        "entry": lambda: sub((n, n))[r.choice([*scope, lift(1)]), r.choice([*scope, lift(1)])],
        "size": lambda: r.choice([n, m]) * sub(),
    }[r.choice(["add", "mul", "neg", "abs", "exp", "log", "div", "pow", "root", "sum", "sum", "dot", "entry", "size"])]()


def corrupted(r, e):
    """The expression with one thing wrong, somewhere."""
    places = [k for k, a in enumerate(e.args) if a.op not in ("index", "const")]
    if places and r.random() < 0.8:
        k = r.choice(places)
        return Expr(e.op, e.args[:k] + (corrupted(r, e.args[k]),) + e.args[k + 1 :], e.shape, e.data)
    if e.op in ("add", "matmul") and e.args[0].shape == e.args[1].shape and r.random() < 0.5:
        return e.args[0] - e.args[1] if e.op == "add" else e.args[1] @ e.args[0]
    if e.op == "transpose" and e.shape == e.args[0].shape:
        return e.args[0]
    if e.op in ("paren", "neg") or e.op == "function" and e.data == "abs":
        return e.args[0]
    return r.choice([-e, 2 * e] + [leaf for leaf in LEAVES.get(e.shape, []) if leaf != e])


def value(e, env, at=()):
    """One entry of an expression at numbers, by plain recursion in mpmath."""
    a, size = e.args, lambda s: int(s.data) if s.op == "const" else env[s.data[0]]
    sub = lambda x, place=(): value(x, env, place)
    if e.op == "const":
        return mpmath.mpf(e.data.numerator) / e.data.denominator
    if e.op == "symbol":
        return mpmath.mpf(env[e.data[0]]) if e.data[1] == "size" else env[e.data[0]][at]
    if e.op == "index":
        return mpmath.mpf(env[e] + 1)
    if e.op in ("add", "mul", "neg", "div"):
        parts = [sub(part, at if part.shape else ()) for part in a]
        if e.op == "div" and abs(parts[1]) < 1e-6:
            raise Odd
        return {"add": lambda p, q: p + q, "mul": lambda p, q: p * q, "neg": lambda p: -p, "div": lambda p, q: p / q}[e.op](*parts)
    if e.op == "pow":
        base, power = sub(a[0]), sub(a[1])
        if power < 0 and abs(base) < 1e-6 or power != int(power) and base < 0:
            raise Odd
        return base ** int(power) if power == int(power) else base**power
    if e.op == "matmul":
        split = len(a[0].shape) - 1
        return sum(sub(a[0], at[:split] + (k,)) * sub(a[1], (k,) + at[split:]) for k in range(size(a[0].shape[-1])))
    if e.op == "transpose":
        return sub(a[0], at[::-1])
    if e.op == "entry":
        return sub(a[0], tuple(int(k.data) - 1 if k.op == "const" else env[k] for k in a[1:]))
    if e.op == "sum":
        return sum(value(a[0], {**env, Expr("index", (), (), e.data): k}) for k in range(size(e.data[1])))
    if e.op == "eye":
        return mpmath.mpf(at[0] == at[1])
    if e.op == "softmax":
        row = [mpmath.exp(sub(a[0], at[:-1] + (k,))) for k in range(size(e.shape[-1]))]
        return row[at[-1]] / sum(row)
    inside = sub(a[0], at)
    if e.data == "log" and inside <= 0 or e.data == "exp" and inside > 30:
        raise Odd
    return {"exp": mpmath.exp, "log": mpmath.log, "abs": abs}[e.data](inside)


def form(p, env, slots=()):
    """A normal form at numbers. It is read here afresh: an atom is a head with indices, a term a product of powers of atoms."""
    result = mpmath.mpf(0)
    for (bound, factors), coefficient in p:
        for chosen in product(*(range(1, (int(s.data) if s.op == "const" else env[s.data[0]]) + 1) for s in bound)):

            def place(k):
                return {"b": lambda: chosen[k[1]], "s": lambda: slots[k[1]], "c": lambda: k[1], "f": lambda: env["free", k[1]]}[k[0]]()

            term = mpmath.mpf(coefficient.numerator) / coefficient.denominator
            for (head, indices), power in factors:
                at = tuple(place(k) for k in indices)
                if head[0] in ("exp", "log", "abs", "sum"):
                    inside = form(head[1], env, at)
                    if head[0] == "log" and inside <= 0:
                        raise Odd
                    base = {"exp": mpmath.exp, "log": mpmath.log, "abs": abs, "sum": lambda z: z}[head[0]](inside)
                else:
                    base = {
                        "entry": lambda: env[head[1]][tuple(k - 1 for k in at)],
                        "size": lambda: env[head[1]],
                        "random": lambda: env[head[1]][tuple(k - 1 for k in at)],
                        "prime": lambda: head[1],
                        "delta": lambda: int(at[0] == at[1]),
                        "value": lambda: at[0],
                        "moment": lambda: env["moment", head[1]](head[2]),
                    }[head[0]]()
                base = mpmath.mpf(base)
                if power < 0 and abs(base) < 1e-9 or power.denominator != 1 and base < 0:
                    raise Odd
                term *= base ** int(power) if power.denominator == 1 else base ** (mpmath.mpf(power.numerator) / power.denominator)
            result += term
    return result


def numbers(r):
    """Sizes, and values of every symbol; g is positive."""
    env = {"n": r.randint(1, 3), "m": r.randint(1, 2)}
    for s in sorted({leaf for leaves in LEAVES.values() for leaf in leaves}, key=lambda s: s.data):
        env[s.data[0]] = {
            at: mpmath.mpf(r.choice([-2, -1, 1, 1, 2, 3])) / r.choice([1, 2, 3])
            for at in product(*(range(env[size.data[0]]) for size in s.shape))
        }
    env["g"] = {(): abs(env["g"][()]) + mpmath.mpf(1) / 3}
    return env


def close(a, b):
    return abs(a - b) <= 1e-8 * (1 + abs(a) + abs(b))


def small(e, most=60):
    return sum(1 for _ in walk(e)) <= most


def samples(seed, count, depths=(2, 3, 3, 4)):
    """Random expressions that are not too large, with the generator."""
    r, made = Random(seed), 0
    while made < count:
        try:
            e = grown(r, depth=r.choice(depths))
        except KernelError:
            continue
        if small(e):
            made += 1
            yield r, e


def understood(e, facts):
    """The normal form, or None where the witness does not know the expression or needs what is not stated."""
    try:
        p = read(e, facts)
    except KernelError:
        return None
    return None if facts.unstated else p


def test_the_normal_form_of_a_random_expression_has_its_value():
    compared = 0
    for r, e in samples(1, 1500):
        p = understood(e, facts_of((positive(g),)))
        for env in [numbers(r) for _ in range(2)] if p is not None else ():
            try:
                expected = value(e, env)
                found = form(p.items(), env)
            except (Odd, OverflowError):
                continue
            assert close(found, expected), (e, env)
            compared += 1
    assert compared > 300


def test_a_corrupted_expression_is_never_called_equal():
    refused, called_equal = 0, 0
    for r, e in samples(2, 1500):
        wrong, facts = corrupted(r, e), facts_of((positive(g),))
        try:
            same = not clear_denominators(add(read(e, facts), scale(read(wrong, facts), -1)), facts)
        except (KernelError, AttributeError):
            continue
        if facts.unstated or not same:
            refused += 1
            continue
        called_equal += 1
        for env in [numbers(r) for _ in range(3)]:
            try:
                assert close(value(e, env), value(wrong, env)), (e, wrong, env)
            except (Odd, OverflowError):
                continue
    assert refused > 200 and called_equal > 5


def test_the_derivative_of_a_random_expression_is_its_slope():
    compared = 0
    for r, e in samples(3, 1500, depths=(2, 3, 3)):
        by = r.choice([x, g, u[1], A[1, 1], u[index("f", n)], A[1, index("f", n)]])
        p = understood(diff(e, by), facts_of((positive(g),)))
        if p is None:
            continue
        env = numbers(r)
        env["free", "f"] = r.randint(1, env["n"])
        target = by.args[0] if by.op == "entry" else by
        at = tuple((1 if k.op == "const" else env["free", "f"]) - 1 for k in by.args[1:]) if by.op == "entry" else ()
        moved = lambda h: env | {target.data[0]: env[target.data[0]] | {at: env[target.data[0]][at] + h}}
        try:
            with mpmath.workdps(40):
                h = mpmath.mpf(10) ** -15
                slope, wider = ((value(e, moved(s * h)) - value(e, moved(-s * h))) / (2 * s * h) for s in (1, 2))
                found = form(p.items(), env)
        except (Odd, OverflowError):
            continue
        if abs(slope - wider) < 1e-9 * (1 + abs(slope)):  # not at a kink
            assert close(found, slope), (e, by, env)
            compared += 1
    assert compared > 100


SUPPORTS = {"q": (0, 1), "k": (1, 3), "R": (-1, 2), "X": (1, 4)}


def moments_of(support):
    return lambda power: mpmath.mpf(int(sum(t**power for t in support))) / len(support)


def product_of_entries(r):
    """A product of a few random and fixed entries, summed over some of its indices."""
    over = [i, j, index("h", n), index("l", n)][: r.randint(1, 4)]
    where = lambda: r.choice([*over, lift(1)])
    factor = lambda: r.choice(
        [
            lambda: q[where()],
            lambda: random("k", n)[where()],
            lambda: R[where(), where()],
            lambda: X * 1,
            lambda: u[where()],
            lambda: eye(n)[where(), where()],
        ]
    )()
    body = factor()
    for _ in range(r.randint(1, 3)):
        body = body * factor() ** r.choice([1, 1, 2])
    summed = over[r.random() < 0.3 :]
    return total(body, *summed) if summed else body


def test_the_law_of_random_products_is_the_average_of_all_outcomes():
    r, compared = Random(4), 0
    joint = independent(q, random("k", n), R, X)
    while compared < 150:
        body, of = product_of_entries(r), r.choice([E, E, Var])
        try:
            p = understood(of(body), facts_of((joint,)))
        except KernelError:
            continue
        size = r.choice([1, 2])
        names = sorted({s.data[0]: s for s in walk(body) if s.op == "symbol" and s.data[1] == "random"}.items())
        slots = [(name, at) for name, s in names for at in product(range(size), repeat=len(s.shape))]
        if p is None or len(slots) > 6:
            continue
        env = {"n": size, "u": dict(zip(product(range(size)), (mpmath.mpf(2), mpmath.mpf(-3))))}
        env |= {("moment", name): moments_of(support) for name, support in SUPPORTS.items()}
        for free in free_indices(body):
            env[free] = r.randrange(size)
            env["free", free.data[0]] = env[free] + 1
        outcomes = []
        for drawn in product((0, 1), repeat=len(slots)):
            here = dict(env)
            for (name, at), which in zip(slots, drawn):
                here.setdefault(name, {})
                here[name] = here[name] | {at: mpmath.mpf(SUPPORTS[name][which])}
            outcomes.append(value(body, here))
        average = sum(outcomes) / len(outcomes)
        expected = average if of is E else sum(o * o for o in outcomes) / len(outcomes) - average**2
        assert close(form(p.items(), env), expected), (of, body, size)
        compared += 1


def near_infinity(r, depth=3):
    """A random expression in n that has limits often: quotients of powers, roots, exponentials and logarithms close to one."""
    if depth <= 0:
        return r.choice([n, n, 1 / n, lift(r.choice([1, 2, -1, Fraction(1, 2)])), x**2])
    sub = lambda: near_infinity(r, depth - 1)
    return r.choice(
        [
            lambda: sub() + sub(),
            lambda: sub() * sub(),
            lambda: sub() / (1 + sub() ** 2),
            lambda: sub() / n,
            lambda: sub() - sub(),
            lambda: exp(sub() / n),
            lambda: log(1 + sub() ** 2 / n),
            lambda: sqrt(n**2 + sub() ** 2) - n,
            lambda: sqrt(1 + sub() ** 2 / n),
            lambda: (1 + x**2 / n) ** (r.choice([1, -1, 2]) * n / 2),
            lambda: n * (exp(sub() / n**2) - 1),
            lambda: n**3 * (exp(x / n) - 1 - x / n - x**2 / (2 * n**2)),
        ]
    )()


def test_the_limit_of_a_random_expression_is_its_value_far_out():
    r, compared = Random(5), 0
    for _ in range(800):
        e, facts = near_infinity(r, r.choice([2, 3])), facts_of(())
        try:
            found = limit(read(e, facts), n, "oo", facts)
        except KernelError:
            continue
        if facts.unstated or not small(e, 50):
            continue
        at = mpmath.mpf(r.choice([1, 2, 3])) / 2
        with mpmath.workdps(120):
            far = [value(e, {"n": mpmath.mpf(10) ** power, "x": {(): at}}) for power in (24, 30)]
            expected = form(found.items(), {"x": {(): at}})
            assert abs(far[1] - expected) < 1e-4 * (1 + abs(expected)), (e, far, expected)
        compared += 1
    assert compared > 100


@pytest.mark.parametrize(
    "use, said",
    [
        ("chapter/other#sum", "'chapter/other' was not checked as it is, or does not hold; run: python -m derivations check chapter/other"),
        ("chapter/b#goood", "there is no such claim that holds; did you mean good? There are good"),
        ("chapter/b#wrong", "there is no such claim that holds"),  # it is refuted
    ],
)
def test_a_use_that_is_not_met_says_why(use, said, scripts, records):
    refuted = 'derivation.refute("wrong", A, 2 * A, at={A: [[1]]})\n'
    scripts(a=GOOD.replace("A.T + B.T)", f"A.T + B.T, uses=[{use!r}])"), b=GOOD + refuted)
    _, found = records()
    assert said in next(r["message"] for r in found if r["topic"] == "chapter/a" and r["verdict"] == "refused")
