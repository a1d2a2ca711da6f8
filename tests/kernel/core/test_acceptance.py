"""The rule of acceptance: what witnesses have to say of a claim, and its snippets to have done, before it stands."""

from dataclasses import replace

import pytest

from derivations.kernel import Derivation, diff, exp, log, matrix, rounded, scalars, sizes, vector
from derivations.kernel.check import witnesses
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.core.acceptance import collect_verdicts
from derivations.kernel.core.claims import Rejected, Step, Verdict
from derivations.kernel.errors import KernelError

n = sizes("n")
x, y = scalars("x y")
A = matrix("A", n, n)
PRODUCT, NUMBER = "snippets.associativity.products.grouped_left", "snippets.scaling.saturation.two_key_weight"


def stated(kind="identity", code=(), left=x * (y + 1), right=x * y + x):
    derivation = Derivation("test")
    if kind == "definition":
        derivation.define("p", left, id="claim", code=code)
    elif kind == "refutation":
        derivation.refute("claim", left, right + 1, at={x: 1, y: 2}, code=code)
    else:
        derivation.identity("claim", left, right, code=code)
    return derivation.claims[-1]


def asked(claim, *said, ran=()):
    """What the rule says where three witnesses say these words."""
    words = dict(zip(("first", "second", "third"), said))
    return collect_verdicts(
        claim, {name: lambda claim, word=word: Verdict("", word, "", f"note of {word}", ran=ran) for name, word in words.items()}
    )


PROVED, REFUTED, AGREES, SILENT = "proved", "refuted", "agrees", "not applicable"
ENOUGH = [("identity", [PROVED, PROVED]), ("identity", [PROVED, SILENT, AGREES]), ("identity", [AGREES, SILENT, PROVED])]
ENOUGH += [("refutation", [REFUTED, AGREES]), ("refutation", [SILENT, REFUTED, REFUTED]), ("definition", [SILENT, SILENT, SILENT])]
ENOUGH += [("definition", [SILENT, AGREES])]
TOO_LITTLE = [
    ("identity", [], "it lacks a proof and a second witness: nobody was asked"),
    ("identity", [PROVED], "it lacks a second witness: first says proved (note of proved)"),
    ("identity", [PROVED, SILENT, SILENT], "it lacks a second witness: first says proved"),
    (
        "identity",
        [SILENT, SILENT, AGREES],
        "it lacks a proof and a second witness: first says not applicable (note of not applicable); second",
    ),
    ("identity", [AGREES, AGREES, AGREES], "it lacks a proof: first says agrees"),
    ("identity", [AGREES, AGREES, REFUTED], "it lacks witnesses that say one thing and a proof"),
    ("identity", [PROVED, PROVED, REFUTED], "it lacks witnesses that say one thing: first says proved"),
    ("identity", [PROVED, PROVED, "probably"], "it lacks witnesses that say one thing"),
    ("identity", [PROVED, ""], "it lacks witnesses that say one thing and a second witness"),
    ("refutation", [REFUTED, SILENT], "it lacks a second witness"),
    ("refutation", [AGREES, AGREES], "it lacks a proof"),
    ("refutation", [REFUTED, AGREES, PROVED], "it lacks witnesses that say one thing"),
    ("definition", [SILENT, REFUTED], "it lacks witnesses that say one thing"),
]


@pytest.mark.parametrize("kind, said", ENOUGH)
def test_two_vouch_and_one_of_them_by_proof(kind, said):
    assert [v.verdict for v in asked(stated(kind), *said)] == said


@pytest.mark.parametrize("kind, said, message", TOO_LITTLE)
def test_with_less_a_claim_is_refused_and_told_what_it_lacks(kind, said, message):
    claim = stated(kind)
    with pytest.raises(Rejected) as caught:
        asked(claim, *said)
    assert caught.value.message.startswith(message)
    assert (caught.value.file, caught.value.line, caught.value.claim) == (claim.file, claim.line, "claim")


NUMBERS, SHAPES = stated(code=[(NUMBER, x)]), stated(left=A @ A, right=A @ A + 0 * A, code=[(PRODUCT, A, A, A), (PRODUCT, A, A)])
ONE, OTHER = SHAPES.code


@pytest.mark.parametrize("claim, ran", [(NUMBERS, [(NUMBERS.code[0], 0, 2)]), (SHAPES, [(ONE, 2, 2), (OTHER, 3, 20)])])
def test_every_snippet_has_run(claim, ran):
    assert asked(claim, PROVED, AGREES, ran=tuple(ran))


@pytest.mark.parametrize(
    "claim, ran, lacks",
    [
        (NUMBERS, [], f"a run of {NUMBER} at two points"),
        (NUMBERS, [(NUMBERS.code[0], 9, 1)], f"a run of {NUMBER} at two points"),
        (NUMBERS, [(ONE, 9, 9)], f"a run of {NUMBER} at two points"),
        (NUMBERS, [((NUMBER, (y,), ()), 9, 9)], f"a run of {NUMBER} at two points"),
        (SHAPES, [(ONE, 2, 2)], f"a run of {PRODUCT} at two shapes"),
        (SHAPES, [(ONE, 2, 2), (OTHER, 1, 80)], f"a run of {PRODUCT} at two shapes"),
        (SHAPES, [], f"a run of {PRODUCT} at two shapes and a run of {PRODUCT} at two shapes"),
        (stated("definition", code=[(NUMBER, x)]), [], f"a run of {NUMBER} at two points"),
    ],
)
def test_a_snippet_that_is_named_and_did_not_run_is_refused(claim, ran, lacks):
    said = [SILENT, AGREES] if claim.kind == "definition" else [PROVED, PROVED, AGREES]
    with pytest.raises(Rejected, match=f"it lacks {lacks}: "):
        asked(claim, *said, ran=tuple(ran))


def test_one_that_refuses_is_enough():
    def refuses(claim):
        raise Rejected(claim.file, claim.line, claim.id, "no")

    with pytest.raises(Rejected, match="no"):
        collect_verdicts(stated(), {"a": refuses, "b": lambda claim: Verdict("b", PROVED, "", "")})


# Claims that the language does not make: a fault of the language must not pass for a claim that holds


def made(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[-1]


m = sizes("m")
B = matrix("B", n, n)
TRUE = made(lambda D: D.identity("claim", (A @ B).T, B.T @ A.T))
MALFORMED = {
    "another right-hand side": lambda: replace(TRUE, steps=(Step("=", A.T @ B.T),)),
    "another left-hand side": lambda: replace(TRUE, start=(B @ A).T),
    "no step": lambda: replace(TRUE, steps=()),
    "a definition of something that has no new name": lambda: replace(TRUE, kind="definition", steps=(Step(":=", A.T @ B.T),)),
    "a definition that shows an equation": lambda: replace(TRUE, kind="definition", steps=(Step("=", A.T @ B.T),)),
    "a definition of another body": lambda: replace(made(lambda D: D.define("p", x + 1)), steps=(Step(":=", x + 2),)),
    "an equality shown as an inequality of the two": lambda: replace(TRUE, steps=(Step("!=", B.T @ A.T),)),
    "an equality shown as a definition": lambda: replace(TRUE, steps=(Step(":=", B.T @ A.T),)),
    "a refutation shown as an equation": lambda: replace(made(lambda D: D.refute("claim", x, y, at={x: 1, y: 2})), steps=(Step("=", y),)),
    "an inequality shown as an equation": lambda: replace(
        made(lambda D: D.inequality("claim", 0, x**2, because=x * x)), steps=(Step("=", x**2),)
    ),
    "an inequality with a second step": lambda: replace(
        made(lambda D: D.inequality("claim", 0, x**2, because=x * x)), steps=(Step("<=", x**2), Step("=", x**2 + 1))
    ),
    "one name for two shapes": lambda: replace(TRUE, start=A @ vector("u", n), steps=(Step("=", A @ matrix("u", n, m)),)),
}


@pytest.mark.parametrize("make", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_claim_is_refused(make):
    assert check_claim(TRUE)["steps"]
    with pytest.raises((AttributeError, KernelError)):
        check_claim(make())


# With the witnesses themselves

N = 10**9
WITHOUT = rounded(y)  # SymPy takes no limit of it, and fp64 holds nothing so close to the limit
ALONE = {
    "log": (WITHOUT + log(1 + exp(-N * x)) / exp(-N * x), WITHOUT),
    "a power more": (WITHOUT + log(1 + exp(-10 * N * x)) / exp(-10 * N * x), WITHOUT),
    "exp": (WITHOUT + (exp(exp(-N * x)) - 1) / exp(-N * x), WITHOUT),
    "a factor": (WITHOUT * log(1 + exp(-N * x)) / exp(-N * x), 0 * WITHOUT),
    "a square": (WITHOUT**2 + log(1 + 2 * exp(-N * x)) / exp(-N * x), WITHOUT**2),
    "a difference": (WITHOUT - log(1 + exp(-N * x)) / exp(-N * x), WITHOUT),
}


@pytest.mark.parametrize("name", ALONE)
def test_a_false_limit_that_one_witness_took_is_refused(name):
    derivation = Derivation("test")
    body, value = ALONE[name]
    derivation.limit("claim", body, x, "oo", value)
    with pytest.raises(Rejected):
        check_claim(derivation.claims[-1])


def test_code_that_pytorch_cannot_judge_is_refused():
    """Two witnesses prove it; but nobody ran the snippet that the page would show."""
    derivation = Derivation("test")
    derivation.identity("claim", diff(diff(x**3, x), x), 6 * x)
    derivation.identity("with-code", diff(diff(x**3, x), x), 6 * x, code=[(NUMBER, x)])
    assert check_claim(derivation.claims[0])["witnesses"][2]["verdict"] == SILENT
    with pytest.raises(Rejected, match=f"it lacks a run of {NUMBER} at two points: .*torch says not applicable"):
        check_claim(derivation.claims[1])


def test_the_witnesses_are_timed():
    said = witnesses.WITNESSES["exact"](stated())
    assert said.verdict == PROVED and said.seconds > 0


def test_coming_closer_from_far_away_is_no_agreement():
    derivation = Derivation("test")
    derivation.limit("claim", 1 + exp(1 / (x / N)), x, "oo", 1)
    assert witnesses.WITNESSES["torch"](derivation.claims[-1]).verdict == SILENT
