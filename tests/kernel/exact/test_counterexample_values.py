"""A counterexample shows the values of both sides: exactly if they can be written exactly, otherwise in digits that are certain."""

from fractions import Fraction

import pytest
from flint import acb, arb
from math_core import LatexToMathML

from derivations.kernel import Derivation, I, absolute, exp, index, log, matrix, positive, scalars, sizes, softmax, sqrt, total, vector
from derivations.kernel.check import worker
from derivations.kernel.check.claim_records import sides_latex
from derivations.kernel.core import claims
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.expr import lift
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import closed_forms
from derivations.kernel.exact.closed_forms import evaluate_closed_sides
from derivations.kernel.exact.counterexample_search import show_distinct
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import certainly_differ, to_fmpq
from derivations.kernel.exact.proofs import evaluate_sides
from derivations.kernel.exact.value_printing import number_to_latex, show_value
from derivations.kernel.store import certificates, project_files
from tests.kernel.common import has_code

n, m = sizes("n m")
x, y = scalars("x y")
z, A, i = vector("z", n), matrix("A", n, n), index("i", n)
CONVERT = LatexToMathML()


def refuted(left, right, at, **more):
    derivation = Derivation("test")
    derivation.refute("claim", left, right, at=at, **more)
    return derivation.claims[-1]


FORMS = {
    "a power of e": (lambda: refuted(exp(x), x, {x: 2}), "e^{2}"),
    "e": (lambda: refuted(exp(x), x, {x: 1}), "e"),
    "a fraction of e": (lambda: refuted(exp(x) / 3, x, {x: 1}), r"\frac{e}{3}"),
    "a third that was exponentials": (lambda: refuted(exp(x) / (exp(x) + 2), y, {x: 0, y: 1}), r"\frac{1}{3}"),
    "a third by a logarithm": (lambda: refuted(1 / (exp(x) + 1), y, {x: log(2), y: 1}), r"\frac{1}{3}"),
    "a weight": (lambda: refuted(softmax(z)[1], x, {z: [1, 0], x: 0}), r"\frac{e}{e + 1}"),
    "weights": (lambda: refuted(softmax(z), 2 * z, {z: [1, 0]}), r"\left(\frac{e}{e + 1}, \frac{1}{e + 1}\right)"),
    "a root": (lambda: refuted(sqrt(n) * x, x, {n: 2, x: 1}), r"\sqrt{2}"),
    "a fraction of a root": (lambda: refuted(x / sqrt(n), x, {n: 2, x: Fraction(1, 2)}), r"\frac{\sqrt{2}}{4}"),
    "an exponent that is a fraction": (lambda: refuted(exp(x), x, {x: Fraction(1, 2)}), "e^{1/2}"),
    "an exponent that is negative": (lambda: refuted(1 + exp(x), x, {x: -3}), None),
    "a logarithm": (lambda: refuted(log(x), x, {x: 3}, given=[positive(x)]), r"\log\left(3\right)"),
    "a sum over an index": (lambda: refuted(total(exp(z[i]), i), x, {z: [1, 1], x: 1}), "2 e"),
    "a matrix": (
        lambda: refuted(softmax(A), A, {A: [[0, 1], [0, 0]]}),
        r"\begin{pmatrix}\frac{1}{e + 1} & \frac{e}{e + 1} \\ \frac{1}{2} & \frac{1}{2}\end{pmatrix}",
    ),
    "an open index": (lambda: refuted(softmax(z)[i], z[i], {z: [0, 1], i: 2}), r"\frac{e}{e + 1}"),
    "a rational": (lambda: refuted(x / 3, x, {x: 1}), r"\frac{1}{3}"),
}


@pytest.mark.parametrize("state, expected", FORMS.values(), ids=FORMS)
def test_a_side_is_shown_in_closed_form(state, expected):
    claim = state()
    left, right = sides_latex(claim)
    assert left != right and (
        expected is None or left.replace(r"\left", "").replace(r"\right", "") == expected.replace(r"\left", "").replace(r"\right", "")
    )
    assert CONVERT.convert_with_local_state(left, displaystyle=True).startswith("<math")
    for form, value in zip(evaluate_closed_sides(claim), evaluate_sides(claim)):
        assert form.keys() == value.keys()
        assert not any(certainly_differ(evaluate(lift_of(form[p]), {})[()], value[p]) for p in form)


def lift_of(value):
    return value if hasattr(value, "op") else lift(Fraction(int(value.p), int(value.q)))


def test_a_closed_form_that_is_not_the_value_is_not_shown(monkeypatch):
    claim = refuted(exp(x), x, {x: 2})
    monkeypatch.setattr(closed_forms, "to_closed_form", lambda p: lift(7))
    assert sides_latex(claim) == (r"7.38905\ldots", "2")


SITE = [topic for topic in certificates.topics()]


@pytest.mark.parametrize("topic", SITE)
def test_no_counterexample_of_the_site_is_shown_rounded(topic):
    assert worker.load_script(project_files.ROOT / "derivations" / f"{topic}.py") is None
    for claim in claims.LOADED[0].claims:
        if claim.kind == "refutation":
            shown = sides_latex(claim)
            assert shown[0] != shown[1] and not any(mark in text for text in shown for mark in (".", "approx", "ldots")), claim.id


# Digits -------------------------------------------------------------------------------------------------------------------------

BALLS = {
    "a third": (arb(1) / 3, "0.333333…"),
    "two thirds": (arb(2) / 3, "0.666666…"),  # and not 0.666667, of which the last digit is no digit of it
    "e": (arb(1).exp(), "2.71828…"),
    "a large one": (arb(20).exp(), "≈4.85165e+8"),
    "one with all its digits before the point": (arb(12).exp(), "≈1.62755e+5"),
    "a small one": (arb(-5).exp(), "0.00673794…"),
    "a very small one": (arb(-50).exp(), "≈1.92875e-22"),
    "a negative one": (-arb(1).exp(), "-2.71828…"),
    "a half that is not known to be one": (arb(2).sqrt() ** 2 / 4, "≈0.5"),
    "a wide one": (arb(1, 0.5), "≈1"),
    "one around zero": (arb(2).sqrt() ** 2 - 2, "≈0"),
    "zero, perhaps": (arb(2).sqrt() ** 2 - 2, None),
    "a rational": (to_fmpq(Fraction(1, 3)), "1/3"),
    "a complex one": (acb(1, 2).exp(), "-1.13120… + 2.47172…*I"),
}


@pytest.mark.parametrize("ball, shown", BALLS.values(), ids=BALLS)
def test_the_digits_that_are_shown_are_certain(ball, shown):
    assert shown is None or show_value(ball) == shown
    assert CONVERT.convert_with_local_state(number_to_latex(ball), displaystyle=True).startswith("<math")


def test_every_digit_that_is_shown_is_one_of_the_number():
    for k in range(1, 200):
        text = show_value(arb(k) / 7 + arb(2).sqrt())
        if text.endswith("…"):
            low = Fraction(text[:-1])
            step = Fraction(1, 10 ** len(text[:-1].partition(".")[2]))
            value = arb(k) / 7 + arb(2).sqrt()
            assert value > arb(low.numerator) / low.denominator and value < arb((low + step).numerator) / (low + step).denominator


def test_two_values_that_differ_are_never_shown_alike():
    left, right = {(): arb(1).exp()}, {(): arb(1).exp() + arb(2) ** -60}
    assert show_value(left[()]) == show_value(right[()])
    shown = show_distinct(left, right)
    assert shown[0] != shown[1] and all(text.startswith("2.7182818284") for text in shown)


def test_a_message_shows_digits_that_tell_the_sides_apart():
    derivation = Derivation("test")
    derivation.identity("claim", exp(x) + Fraction(1, 10**15), exp(x) * 1 + 0)
    from derivations.kernel.exact.witness import exact

    with pytest.raises(Rejected) as refused:
        exact(derivation.claims[-1])
    left, right = refused.value.message.partition("left = ")[2].partition(", where")[0].split(", right = ")
    assert left != right


def test_what_cannot_be_told_apart_in_print_is_refused(monkeypatch):
    monkeypatch.setattr("derivations.kernel.check.claim_records.DIGITS", (6,))
    monkeypatch.setattr(closed_forms, "to_closed_form", lambda p: 1 / lift(0))
    with pytest.raises(KernelError, check=has_code("printed-alike")):
        sides_latex(refuted(exp(x), exp(x) + y, {x: 1, y: Fraction(1, 10**9)}))


def test_a_complex_side_has_a_closed_form_or_digits():
    left, _ = sides_latex(refuted(exp(I * x), x, {x: 1}))
    assert left in (r"e^{\mathrm{i}}", r"0.540302\ldots + 0.841470\ldots\,\mathrm{i}")


def test_an_absolute_value_has_one():
    assert sides_latex(refuted(absolute(x - exp(y)), x, {x: 1, y: 1}))[0] == r"\left|e - 1\right|"


@pytest.mark.parametrize(
    "value, shown",
    [
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 2**30), "1/1073741824"),
        (Fraction(1, 2**149), "2^-149"),
        (Fraction(-3, 2**149), "-3*2^-149"),
        (Fraction(2**128), "2^128"),
        (Fraction(5 * 2**90, 3), "5/3*2^90"),
        (Fraction(10**21 + 1), "1000000000000000000001"),
        (Fraction(0), "0"),
    ],
)
def test_a_long_rational_is_shown_with_a_power_of_two(value, shown):
    assert show_value(to_fmpq(value)) == shown
