"""Tests of the exercises that readers answer: each accepts right answers in any form, and rejects wrong ones."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

from derivations.kernel.browser import typed_answers, typed_formula
from derivations.kernel.site import Source
from derivations.kernel.site.course_boxes import ANSWER
from derivations.kernel.store import certificates

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("answers")  # a file for each chapter: for each answer, right and wrong forms of it


@cache
def answers():
    """Return the page of each answer by its argument, such as "scaling/variance#fixed-query"."""
    found = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for opening in Source(path.read_text(encoding="utf-8"), ROOT / "docs", path).openings():
            if opening.name == "answer":
                found[opening.argument] = path.relative_to(ROOT / "docs").as_posix()
    return found


@cache
def forms():
    return {name: one for path in sorted(FOLDER.glob("*.toml")) for name, one in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def judge(argument, typed, folder):
    topic, id, part = ANSWER.fullmatch(argument).groups("")
    text = (ROOT / "derivations" / f"{topic}.py").read_text(encoding="utf-8")
    path = str(folder / "derivations" / f"{topic}.py")
    claim = next(one for one in certificates.load(topic)["claims"] if one["id"] == id)
    if claim["kind"] == "refutation":
        return typed_answers.judge_counterexample(path, text, id, typed)
    return typed_answers.judge_answer(path, text, id, typed, part)


def assumptions():
    """Return the exercises that ask for an assumption: what names each one, and its number."""
    return [(name, int(name.rpartition(" ")[2])) for name in answers() if " assumption " in name]


def test_there_are_enough_answers_and_each_core_page_has_one():
    assert len(answers()) >= 120 and set(forms()) == set(answers()) - {name for name, _ in assumptions()}
    assert len(assumptions()) >= 10 and sum(" step " in name for name in answers()) >= 10
    core = {
        path.relative_to(ROOT / "docs").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if path.read_text().startswith("---\nkind: core\n")
    }
    assert core - set(answers().values()) == set()
    for name, one in forms().items():
        assert len(set(one["right"])) >= 3 and len(set(one["wrong"])) >= 3 and not set(one["right"]) & set(one["wrong"]), name


@pytest.mark.parametrize("argument", forms())
def test_right_forms_are_accepted_and_wrong_ones_rejected(argument, tmp_path):
    for typed in forms()[argument]["right"]:
        found = judge(argument, typed, tmp_path)
        assert found["verdict"] == "right" and found["latex"], (typed, found["message"])
    for typed in forms()[argument]["wrong"]:
        found = judge(argument, typed, tmp_path)
        assert found["verdict"] == "wrong" and found["message"], (typed, found)


@pytest.mark.parametrize("argument, asked", assumptions())
def test_only_the_missing_assumption_is_right(argument, asked, tmp_path):
    topic, id, _ = ANSWER.fullmatch(argument).groups()
    text = (ROOT / "derivations" / f"{topic}.py").read_text(encoding="utf-8")
    claim = next(one for one in certificates.load(topic)["claims"] if one["id"] == id)
    for chosen, assumption in enumerate(claim["assumptions"], start=1):
        found = typed_answers.judge_assumption(str(tmp_path / "derivations" / f"{topic}.py"), text, id, chosen, asked)
        assert found["verdict"] == ("right" if chosen == asked else "wrong") and found["message"] == assumption["needed"]


def test_a_choice_for_a_script_that_stops_gets_a_reason(tmp_path):
    found = typed_answers.judge_assumption(str(tmp_path / "derivations/a/b.py"), "nothing", "sum", 1, 2)
    assert found["verdict"] == "unread" and "nothing" in found["message"]


@pytest.mark.parametrize(
    "argument, typed",
    [
        ("simplify/attempts#solution step 1", "F^-1 (F W_Q (F W_K)^T)"),  # the line before
        ("simplify/attempts#solution step 1", "W_Q W_K^T F^T"),  # the line after
        ("heads/nothing#shrunk step 1", "e^z_i/(1 + sum_j e^z_j)"),
        ("simplify/bilinear#gauge step 1", "X W_Q (X W_K)^T"),  # the script uses SymPy
    ],
)
def test_another_line_of_the_claim_is_no_answer(argument, typed, tmp_path):
    found = judge(argument, typed, tmp_path)
    assert found["verdict"] == "unread" and "another line" in found["message"], found


@pytest.mark.parametrize(
    "argument, typed, message",
    [
        ("order/cost#forward step 1", "8 n d^2 + 4 n^2 d + 0 h", "no h"),
        ("simplify/bilinear#gauge step 1", "X W_Q W_K^T X^T", "the letter M"),
    ],
)
def test_the_missing_line_has_its_own_letters(argument, typed, message, tmp_path):
    found = judge(argument, typed, tmp_path)
    assert found["verdict"] == "unread" and message in found["message"], found


@pytest.mark.parametrize(
    "argument, typed, verdict",
    [
        ("softmax/jacobian#variance step 1", r"\sum_{i=1}^{n} p_i x_i^2 - (\sum_i p_i x_i)^2", "right"),
        ("softmax/jacobian#variance step 1", r"\sum_{i=2}^{n} p_i x_i^2 - (\sum_i p_i x_i)^2", "unread"),
        ("softmax/jacobian#variance step 1", r"\sum_{i=1}^{n-1} p_i x_i^2 - (\sum_i p_i x_i)^2", "unread"),
        ("scaling/variance#fixed-query", r"\sum_{i=1}^{d} a_i^2", "right"),
        ("scaling/variance#fixed-query", r"\sum_{i=1}^{d-1} a_i^2", "unread"),
    ],
)
def test_a_sum_runs_over_all_values_of_its_index(argument, typed, verdict, tmp_path):
    found = judge(argument, typed, tmp_path)
    assert found["verdict"] == verdict and (verdict == "right" or "a sum runs" in found["message"].lower()), found


def test_an_unknown_vector_of_sympy_is_written_by_its_entries(tmp_path):
    found = judge("softmax/jacobian#variance step 1", "x^T p", tmp_path)
    assert found["verdict"] == "unread" and "by their entries, such as x_i" in found["message"], found


@pytest.mark.parametrize(
    "typed, written",
    [
        ("2 d", "implicit_product(2, d)"),
        ("d(a+b)", "implicit_product(d, a + b)"),
        ("2d/3", "implicit_product(2, d) / 3"),
        ("exp(a)", "exp(a)"),
        ("log d", "log(d)"),
        ("(a+b)(a-b)", "implicit_product(a + b, a - b)"),
        ("d σ²", "implicit_product(d, sigma ** 2)"),
        ("√d", "sqrt(d)"),
        ("p_i (delta_ij - p_j)", "implicit_product(p[i], delta(i, j) - p[j])"),
        ("p_{i} - p_1", "p[i] - p[1]"),
        ("W_K.T", "transpose(W_K)"),
        ("W_K^T W_K^{⊤}", "implicit_product(transpose(W_K), transpose(W_K))"),
        ("a^-1", "power(a, -1)"),
        ("e^-d + e", "exp(-d) + exp(1)"),
        ("W_K^{-1} W_K", "implicit_product(power(W_K, -1), W_K)"),
        ("W_K^T (a W_K)", "implicit_product(transpose(W_K), implicit_product(a, W_K))"),
        ("Π Δ_i", "implicit_product(Pi, Delta[i])"),
        ("a^{d+1}", "a ** (d + 1)"),
        ("abd", "implicit_product(implicit_product(a, b), d)"),
        ("bd^2", "implicit_product(b, d ** 2)"),
        ("1/bd", "1 / implicit_product(b, d)"),
        ("bd(d-1)", "implicit_product(implicit_product(b, d), d - 1)"),
        ("cut(b)(d-1)", "implicit_product(cut(b), d - 1)"),
        ("|a| + ||p||", "absolute(a) + norm(p)"),
        ("softmax(p)_i", "softmax(p)[i]"),
        (r"\dfrac{d^{2}}{2} \cdot \sigma.", "dot_product(d ** 2 / 2, sigma)"),
        ("= 2·3", "6"),
        (r"$W_K^\mathsf{T} p_{i}a$", "implicit_product(implicit_product(transpose(W_K), p[i]), a)"),
        ("W_K⁻¹W_K^TW_K", "implicit_product(implicit_product(power(W_K, -1), transpose(W_K)), W_K)"),
        (r"(W_K^\top)", "transpose(W_K)"),
        (r"\sqrt{d} \left(a - p_{i}\right)", "implicit_product(sqrt(d), a - p[i])"),
        (r"\frac{\sqrt{d}}{a}", "sqrt(d) / a"),
        (r"W_K^\top", "transpose(W_K)"),
        ("1/4 + 0.25", "exact_fraction(1, 2)"),
        ("2^-3", "exact_fraction(1, 8)"),
        ("r_1", "pair[1]"),
        ("[[1, 2], [a, d]]", "array([[1, 2], [a, d]])"),
        ("2 array([a, 1])", "implicit_product(2, array([a, 1]))"),
        ("sum_i p_i a", "sum(implicit_product(p[i], a), i)"),
        ("2 Σ_i p_i - a", "implicit_product(2, sum(p[i], i)) - a"),
        (r"\sum_{i=1}^{d} p_i^2 / d + a", "sum(p[i] ** 2 / d, i, Last(d)) + a"),
        ("abs(a)", "absolute(a)"),
        ("a sum_i (p_i - sum_j p_j)^2", "implicit_product(a, sum((p[i] - sum(p[j], j)) ** 2, i))"),
        (r"\sum_{i} \sum_{j} p_i p_j", "sum(sum(implicit_product(p[i], p[j]), j), i)"),
        ("sum_i^d p_i", "sum(p[i], i, Last(d))"),
        (r"\|p\|^2", "norm(p) ** 2"),
    ],
)
def test_what_is_typed_is_read_as_mathematics(typed, written):
    names = {name: name for name in ("d", "a", "b", "p", "i", "j", "sigma", "W_K", "pair", "Pi", "Delta")} | {"r": "pair", "cut": ""}
    assert typed_formula.write_python(typed, names) == written


def test_the_transpose_is_read_beside_a_symbol_of_that_name():
    assert typed_formula.write_python("a^T d^2", {"a": "a", "d": "d", "T": "T"}) == "implicit_product(power(a, T), d ** 2)"


def test_symbols_may_have_their_names_on_the_page():
    text = 'd = sizes("n")\npair, (gap, one) = vector("s", 2), 1\nu, v = scalars("v w")\nlist_ = matrix("Q", d, d)\nw = f.define("P", d)\n'
    text += "def cut(number):\n    return number\n"
    names = typed_formula.list_names(text)
    assert names == {
        "n": "d",
        "s": "pair",
        "d": "d",
        "pair": "pair",
        "u": "u",
        "v": "v",
        "w": "w",
        "list_": "list_",
        "Q": "list_",
        "P": "w",
    } | {
        "gap": "gap",
        "one": "one",
        "cut": "",
    }


def test_a_product_without_a_sign_is_that_of_numbers_or_of_matrices(tmp_path):
    assert judge("attention/masks#all-filled", "(1/m) ones(n, m) V", tmp_path)["verdict"] == "right"
    found = judge("seeing/recall#own-key", "(q q + k k)/2", tmp_path)
    assert found["verdict"] == "unread" and "needs a sign" in found["message"], found


@pytest.mark.parametrize(
    "typed, message",
    [
        ("", "Type a formula"),
        ("2 1/2", "Two numbers side by side"),
        ("d @", "not complete"),
        ("nothing", "no such name"),
        ("2 arccos(d)", "The function arccos has no meaning"),
        ("d; import os", "has no meaning"),
        ("Variance(qk)", "a variance"),
        ("'d'", "has no meaning"),
        ("d, d", "one formula"),
        ("tanh^2(d)", "after the brackets, as in tanh(x)^2"),
    ],
)
def test_what_cannot_be_judged_gets_a_reason(typed, message, tmp_path):
    found = judge("scaling/variance#self-variance", typed, tmp_path)
    assert found["verdict"] == "unread" and message in found["message"], found


def test_a_counterexample_must_be_values(tmp_path):
    assert judge("scaling/variance#squared-width", "2", tmp_path)["verdict"] == "right"  # of the only unknown
    for typed in ("x", "d = x", "d > 3"):
        found = judge("scaling/variance#squared-width", typed, tmp_path)
        assert found["verdict"] == "unread" and found["message"], found


def test_a_counterexample_that_cannot_be_evaluated_is_not_wrong(tmp_path):
    found = judge("softmax/distribution#rounded-sum", "z = [5, 5, 5]", tmp_path)
    assert found["verdict"] == "unread" and "rational" in found["message"], found


@pytest.mark.parametrize(
    "argument, typed",
    [
        ("layers/residual#growth", "L t + p"),  # without the assumption that variances are not negative
        ("sparse/learned#indexer-share left", "1/(1 + f k/(h n))"),  # where nothing is divided by zero
        ("attention/worked#one-wins left", "1/(1 + n e^-c)"),  # the script has another e
    ],
)
def test_an_answer_is_right_if_it_is_equal_where_it_has_a_value(argument, typed, tmp_path):
    assert judge(argument, typed, tmp_path)["verdict"] == "right"


def test_preview_is_the_formula_or_the_reason(tmp_path):
    text = (ROOT / "derivations/scaling/variance.py").read_text(encoding="utf-8")
    path = str(tmp_path / "derivations/scaling/variance.py")
    assert typed_answers.preview_answer(path, text, "self-variance", "2d") == {"latex": "2 d", "message": ""}
    assert "not complete" in typed_answers.preview_answer(path, text, "self-variance", "2(")["message"]
