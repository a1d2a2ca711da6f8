"""The rule of acceptance: the verdicts and snippet runs that a claim needs."""

import re
from dataclasses import replace

import pytest

from derivations.kernel import Derivation, diff, exp, log, matrix, rounded, scalars, sizes, vector
from derivations.kernel.check import witnesses
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.core.acceptance import collect_verdicts, missing_witnesses
from derivations.kernel.core.claims import Rejected, Step, Verdict
from derivations.kernel.errors import KernelError
from tests.kernel.common import has_code

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
    ("identity", [], ["no-proof", "no-second-witness"]),
    ("identity", [PROVED], ["no-second-witness"]),
    ("identity", [PROVED, SILENT, SILENT], ["no-second-witness"]),
    ("identity", [SILENT, SILENT, AGREES], ["no-proof", "no-second-witness"]),
    ("identity", [AGREES, AGREES, AGREES], ["no-proof"]),
    ("identity", [AGREES, AGREES, REFUTED], ["contradicting-witnesses", "no-proof"]),
    ("identity", [PROVED, PROVED, REFUTED], ["contradicting-witnesses"]),
    ("identity", [PROVED, PROVED, "probably"], ["contradicting-witnesses"]),
    ("identity", [PROVED, ""], ["contradicting-witnesses", "no-second-witness"]),
    ("refutation", [REFUTED, SILENT], ["no-second-witness"]),
    ("refutation", [AGREES, AGREES], ["no-proof"]),
    ("refutation", [REFUTED, AGREES, PROVED], ["contradicting-witnesses"]),
    ("definition", [SILENT, REFUTED], ["contradicting-witnesses"]),
]


@pytest.mark.parametrize("kind, said", ENOUGH)
def test_two_vouch_and_one_of_them_by_proof(kind, said):
    assert [v.verdict for v in asked(stated(kind), *said)] == said


@pytest.mark.parametrize("kind, said, codes", TOO_LITTLE)
def test_a_claim_with_too_few_verdicts_is_rejected(kind, said, codes):
    claim = stated(kind)
    with pytest.raises(Rejected, check=has_code(codes[0])) as caught:
        asked(claim, *said)
    assert missing_witnesses(claim, [Verdict("", word, "", "") for word in said]) == codes
    assert (caught.value.file, caught.value.line, caught.value.claim) == (claim.file, claim.line, "claim")


NUMBERS, SHAPES = stated(code=[(NUMBER, x)]), stated(left=A @ A, right=A @ A + 0 * A, code=[(PRODUCT, A, A, A), (PRODUCT, A, A)])
ONE, OTHER = SHAPES.code


@pytest.mark.parametrize("claim, ran", [(NUMBERS, [(NUMBERS.code[0], 0, 2)]), (SHAPES, [(ONE, 2, 2), (OTHER, 3, 20)])])
def test_every_snippet_has_run(claim, ran):
    assert asked(claim, PROVED, AGREES, ran=tuple(ran))


@pytest.mark.parametrize(
    "claim, ran, missing",
    [
        (NUMBERS, [], [NUMBER]),
        (NUMBERS, [(NUMBERS.code[0], 9, 1)], [NUMBER]),
        (NUMBERS, [(ONE, 9, 9)], [NUMBER]),
        (NUMBERS, [((NUMBER, (y,), ()), 9, 9)], [NUMBER]),
        (SHAPES, [(ONE, 2, 2)], [PRODUCT]),
        (SHAPES, [(ONE, 2, 2), (OTHER, 1, 80)], [PRODUCT]),
        (SHAPES, [], [PRODUCT, PRODUCT]),
        (stated("definition", code=[(NUMBER, x)]), [], [NUMBER]),
    ],
)
def test_a_snippet_that_the_claim_names_must_have_run(claim, ran, missing):
    said = [SILENT, AGREES] if claim.kind == "definition" else [PROVED, PROVED, AGREES]
    with pytest.raises(Rejected, check=has_code("snippet-not-run")) as caught:
        asked(claim, *said, ran=tuple(ran))
    assert re.findall(r"snippets[.\w]+", caught.value.message) == missing


def test_one_witness_that_rejects_the_claim_is_enough():
    def refuses(claim):
        raise Rejected(claim.file, claim.line, claim.id, "no", code="false-claim")

    with pytest.raises(Rejected, check=has_code("false-claim")):
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
    with pytest.raises(Rejected, check=has_code("snippet-not-run")):
        check_claim(derivation.claims[1])


def test_the_witnesses_are_timed():
    said = witnesses.WITNESSES["exact"](stated())
    assert said.verdict == PROVED and said.seconds > 0


def test_coming_closer_from_far_away_is_no_agreement():
    derivation = Derivation("test")
    derivation.limit("claim", 1 + exp(1 / (x / N)), x, "oo", 1)
    assert witnesses.WITNESSES["torch"](derivation.claims[-1]).verdict == SILENT
