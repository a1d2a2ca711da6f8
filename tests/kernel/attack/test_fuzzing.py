"""Fuzzing: no witness accepts a false random claim, and a fault planted in a witness or a printer is found."""

from dataclasses import replace
from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    absolute,
    cos,
    diff,
    each,
    exp,
    gaussian,
    has_moment,
    in_range,
    independent,
    index,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    norm,
    positive,
    random,
    representable,
    rounded,
    scalars,
    sin,
    sizes,
    sqrt,
    tanh,
    total,
    variance,
    vector,
    zero_or_one,
)
from derivations.kernel.attack import fuzz_claim, mutant_trials, print_round_trip, shrink_claim
from derivations.kernel.attack.claim_families import FAMILIES, draw_claim
from derivations.kernel.attack.claim_script import claim_to_script
from derivations.kernel.attack.judge import judge
from derivations.kernel.attack.random_points import draw_points
from derivations.kernel.check import fuzz_run
from derivations.kernel.core.constructors import E, Var
from derivations.kernel.core.expr import lift, show, strip_brackets, walk
from derivations.kernel.printing import latex, script_text
from derivations.kernel.store import fuzz_results, store
from tests.nightly import nightly_after

SEED = 12
n, m = sizes("n m")
t, x, y = scalars("t x y")
u, A, q, g = vector("u", n), matrix("A", n, m), random("q", n), random("g")
i = index("i", n)


def stated(method, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, method)("claim", *arguments, **more)
    return derivation.claims[-1]


def attempts(numbers, witnesses=None, family="", shares=None):
    return [fuzz_claim.fuzz_one(SEED, number, witnesses, family, shares) for number in numbers]


def faults(outcomes):
    return [fault for o in outcomes for fault in o.faults]


def everything(claim):
    return "accepted"


def nothing(claim):
    return "refused"


# The gate, in short


def test_no_witness_is_wrong_about_the_first_claims_of_a_seed():
    found = attempts(range(300))
    assert faults(found) == []
    told = [(o.truth, said) for o in found for said in o.said.values()]
    assert told.count(("true", "accepted")) > 60 and told.count(("false", "refused")) > 60


def test_each_family_gives_claims_and_some_of_each_are_false():
    for family in FAMILIES:
        truths = [judge(draw_claim(SEED, number, family)[1], most=6)[0] for number in range(12)]
        assert "false" in truths, family
        assert "true" in truths or family in ("names", "limits"), family


def test_a_claim_follows_from_its_seed_and_its_number():
    assert [draw_claim(3, k) for k in range(5)] == [draw_claim(3, k) for k in range(5)]
    assert draw_claim(3, 1) != draw_claim(4, 1)


# Planted faults


def test_a_witness_that_accepts_everything_is_found():
    found = faults(attempts(range(20), {"exact": everything}, shares={"exact": 1}))
    assert len(found) > 5 and all(name == "exact" and "accepts what is false" in what for name, what, _ in found)


def test_a_witness_that_accepts_nothing_is_found():
    found = faults(attempts(range(20), {"exact": nothing}, "polynomials", {"exact": 1}))
    assert found and all("refuses what is true" in what for _, what, _ in found)


def test_a_witness_that_breaks_is_found():
    def broken(claim):
        return "broke: IndexError"

    found = faults(attempts(range(3), {"exact": broken}, "sums", {"exact": 1}))
    assert len(found) == 3 and all("exact broke: IndexError" in what for _, what, _ in found)


@pytest.mark.parametrize(
    ("family", "op"),
    nightly_after(
        2,
        [
            ("derivatives", "derivative"),
            ("sums", "sum"),
            ("roots", "pow"),
            ("softmax", "softmax"),
            ("rounding", "rounded"),
            ("products", "matmul"),
            ("orders of positions", "where"),
        ],
    ),
)
def test_a_witness_that_is_blind_to_one_kind_of_node_is_found(family, op):
    def blind(claim):
        return "accepted" if any(node.op == op for tree in claim.trees for node in walk(tree)) else "refused"

    found = faults(attempts(range(30), {"exact": blind}, family, {"exact": 1}))
    assert any("accepts what is false" in what for _, what, _ in found)


@pytest.mark.parametrize("kind", ["inequality", "limit", "refutation", "law"])
def test_a_witness_that_accepts_one_kind_of_claim_is_found(kind):
    def blind(claim):
        return "accepted" if claim.kind == kind else "refused"

    family = {"inequality": "inequalities", "limit": "limits", "refutation": "refutations", "law": "laws"}[kind]
    found = faults(attempts(range(20), {"exact": blind}, family, {"exact": 1}))
    assert any("accepts what is false" in what for _, what, _ in found)


def test_a_witness_that_takes_facts_about_a_point_for_facts_about_slopes_is_found():
    """It drops every absolute value and every root of a square of what is not negative, inside derivatives too."""

    def hasty(claim):
        return "accepted" if any(a.kind == "nonnegative" for a in claim.given) else "refused"

    found = faults(attempts(range(40), {"exact": hasty}, "near a kink", {"exact": 1}))
    assert any("a derivative that does not exist" in what for _, what, _ in found)


def test_a_witness_that_tries_small_sizes_only_is_found():
    def near_sighted(claim):
        text = script_text.script(claim.start) + script_text.script(claim.steps[0].expr)
        return "accepted" if "- 1)*(" in text and "- 2)" in text else "refused"

    found = faults(attempts(range(40), {"exact": near_sighted}, "sums", {"exact": 1}))
    assert any(f"= {size}" in what for size in range(4, 10) for _, what, _ in found)


def test_a_printer_that_prints_two_things_alike_is_found(monkeypatch):
    real = latex.Printer.neg
    monkeypatch.setattr(latex.Printer, "neg", lambda self, e: self.show(e.args[0], 3))
    found = faults(attempts(range(40), {"exact": nothing}, "polynomials", {"exact": 99}))
    assert any("are both printed" in what for _, what, _ in found)
    monkeypatch.setattr(latex.Printer, "neg", real)
    assert not [what for _, what, _ in faults(attempts(range(10), {"exact": nothing}, "polynomials", {"exact": 99})) if "printed" in what]


def test_a_printer_whose_scripts_read_otherwise_is_found(monkeypatch):
    monkeypatch.setattr(script_text.Script, "mul", lambda self, e: f"{self.show(e.args[0], 3)}*{self.show(e.args[1], 4)}")
    found = faults(attempts(range(40), {"exact": nothing}, "quotients", {"exact": 99}))
    assert any("reads as" in what for _, what, _ in found)


# The judge, where it says more than it says of mutants


def test_the_judge_knows_where_there_is_no_derivative():
    corner = stated("identity", x * diff(absolute(x), x), x, given=[nonnegative(x)])
    assert judge(corner)[0] == "false" and judge(corner, partial=True, derivatives=True)[0] == "false"
    assert judge(corner, partial=True)[0] == "true"
    assert judge(stated("identity", x * diff(absolute(x), x), x, given=[positive(x)]))[0] == "true"
    assert judge(stated("identity", diff(absolute(x) * x, x), 2 * absolute(x)))[0] != "false"  # it bends, and has a slope


def test_a_coin_without_a_mean_may_have_that_of_another():
    g, k = random("g"), random("k")
    law = stated(
        "identity", Var(g * k), E(g) * Var(k) + Var(g) * E(k) ** 2, given=[zero_or_one(g), zero_or_one(k), mean(g, Fraction(1, 3))]
    )
    assert judge(law, most=fuzz_claim.MANY)[0] == "false"


def test_large_terms_that_cancel_do_not_hide_small_ones():
    large = exp(exp(7) + x)
    assert judge(stated("identity", y + large - large, y))[0] == "true"
    assert judge(stated("identity", y + large - large, y + 1))[0] == "false"


SMALL = [  # false where the moments of g are below one
    stated("inequality", E(g) ** 2, E(g**2) * E(g**4), because=E(g**2) * E(g**4) - E(g) ** 2, given=[has_moment(g, 4)]),
    stated("inequality", Var(g), Var(g) ** 2, because=Var(g) ** 2 - Var(g), given=[has_moment(g, 2)]),
]


@pytest.mark.parametrize("claim", SMALL, ids=["moments", "variance"])
def test_the_judge_tries_random_variables_that_are_small(claim):
    assert judge(claim, most=fuzz_claim.MANY)[0] == "false"


@pytest.mark.parametrize(("excess", "at_fault"), [(Fraction(1, 10**9), False), (Fraction(1, 10**5), True)])
def test_a_limit_that_is_off_by_less_than_fp64_shows_is_no_fault_of_pytorch(excess, at_fault):
    claim = stated("limit", (1 + excess) / x * log(1 + x), x, 0, 1)
    verdict, why = judge(claim)
    assert verdict == "false"
    for name in ("exact", "sympy"):
        assert fuzz_claim.find_fault(name, claim, verdict, why, "accepted", "")
    assert bool(fuzz_claim.find_fault("torch", claim, verdict, why, "accepted", "")) is at_fault


def test_the_judge_takes_no_cancelled_digits_for_a_limit():
    scale = 10**9
    ratio = log(1 + exp(-scale * x)) / exp(-scale * x)
    assert judge(stated("limit", ratio, x, "oo", 0))[0] == "false"
    assert judge(stated("limit", ratio, x, "oo", 1))[0] == "true"
    assert judge(stated("limit", (x + scale) / x, x, "oo", 1))[0] == "true"


def test_the_judge_tries_every_size_up_to_nine():
    term = n - 1
    for k in range(2, 9):
        term = term * (n - k)
    assert judge(stated("identity", term, 0 * n))[0] == "false"
    assert judge(stated("identity", total(u[i], i) + term, total(u[i], i)))[0] == "false"


def test_a_term_that_vanishes_at_small_sizes_does_not_at_the_largest_at_which_the_judge_looks():
    """Else it takes for true what a witness rightly refuses."""
    found = set()
    for number in range(300):
        _, claim = draw_claim(SEED, number, "laws")
        said = " ".join(show(side) for side in (claim.start, claim.steps[0].expr))
        found |= {k for k in (2, 3, 4, 5, 6) if f" - {k})" in said}
    assert found == {2, 3, 4}


def test_before_a_witness_is_said_to_refuse_what_is_true_the_judge_looks_at_many_points():
    claim = stated("inequality", 1 - y, exp(x) + n * t - y, because=exp(x) + n * t - 1, given=[nonnegative(t), positive(y)])
    assert judge(claim, most=400)[0] == "false"


def test_the_judge_tries_large_numbers():
    gap = 15_000 - (x * y) ** 2
    assert judge(stated("inequality", y, y + gap, because=gap))[0] == "false"


@pytest.mark.parametrize("other", [t**2, 2 * t], ids=str)
def test_the_judge_rounds_equal_numbers_to_two_formats(other):
    """Rounding is monotone in one format; of two equal numbers, two formats may round either up."""
    gap = rounded(x, "bf16") - rounded(other, "fp16")
    claim = stated("inequality", y, y + gap, because=gap, given=[nonnegative(x - other), in_range()])
    assert judge(claim, most=400)[0] == "false"


def test_the_judge_sees_a_moment_beside_a_coin():
    q = random("q", n)
    for name in "abgh":
        coin = random(name)
        claim = stated("identity", E(coin**2 * q[1]), E(coin * q[1]), given=[zero_or_one(coin), mean(coin, Fraction(1, 2))])
        assert judge(claim)[0] == "false"


def test_the_judge_multiplies_by_no_zero_at_a_large_size():
    """What shows at one size only is a multiple of something, and where that is zero nothing shows."""
    for seed in range(20):
        drawn = draw_points(stated("identity", x * n + u[1], x + u[1]), seed)
        assert {env["n"] for env in drawn if env["x"][()]} >= {4, 5, 6, 7, 8, 9}


@pytest.mark.parametrize(
    "promised, left, given",
    [
        (True, rounded(x) * y, [in_range()]),
        (False, rounded(x) * y, []),
        (True, diff(x**2, x) + absolute(x), []),
        (False, diff(absolute(x), x), []),
        (False, diff(sqrt(x), x), [positive(x)]),
        (False, diff(x * rounded(y), x), [in_range()]),
        (True, E(q[1]), [mean(q, 1)]),
        (False, E(q[1]) * n, [mean(q, 1)]),
    ],
)
def test_of_pytorch_is_promised_what_the_judge_can_know(promised, left, given):
    """The judge knows no overflow, and meets a corner by chance."""
    claim = stated("identity", left, 2 * left - left, given=given)
    assert fuzz_claim.is_promised("torch", claim) is promised


def test_the_judge_takes_nothing_that_its_digits_cannot_hold_for_undefined():
    small = x - 150
    assert judge(stated("identity", log(log(exp(exp(small)))), small))[0] != "false"
    assert judge(stated("identity", log(small), log(2 * small) - log(2)))[0] == "false"


def test_for_the_judge_what_is_not_said_to_be_independent_may_be_one_thing_or_several():
    k = random("k", n)
    given = [variance(q, 1), variance(k, 1), mean(q, 0), mean(k, 0)]
    for other in (q[1], -q[1], lift(0)):
        assert judge(stated("identity", Var(q[1] + other), Var(q[1] + k[1]), given=given))[0] == "false"


def test_for_the_judge_two_coins_may_be_one():
    given = [zero_or_one(g), zero_or_one(q)]
    for sides in ((E(g * q[1]), E(g) * E(q[1])), (Var(g + q[1]), Var(g) + Var(q[1]))):
        assert judge(stated("identity", *sides, given=given))[0] == "false"
        assert judge(stated("identity", *sides, given=[*given, independent(g, q)]))[0] == "true"
    assert judge(stated("identity", E(g**2 * q[1]), E(g * q[1]), given=given))[0] == "true"


def test_the_judge_finds_moments_that_contradict_themselves():
    assumption = mean(q, 0)
    opened = type(assumption)("mean", (q, i))
    claim = stated("identity", E(q[1] + 1), 1 + 0 * E(q[1]), given=[assumption])
    assert judge(claim)[0] == "true"
    assert judge(replace(claim, given=(opened,)))[0] == "false"


def test_the_judge_tries_laws_at_three_to_five():
    for odd in (3, 4, 5):
        term = lift(1)
        for k in {0, 1, 2, 3, 4, 5} - {odd}:
            term = term * (n - k)
        law = stated("identity", E(q[1] ** 2) + term, Var(q[1]) + 1, given=[mean(q, 1), has_moment(q, 2)])
        assert judge(law)[0] == "false"


def test_the_judge_asks_for_the_highest_moment_that_is_stated():
    sides = E(q[1] ** 3 + 1), 1 + E(q[1] ** 3)
    assert judge(stated("identity", *sides, given=[gaussian(q), has_moment(q, 2)]))[0] == "true"
    assert judge(stated("identity", *sides, given=[has_moment(q, 3)]))[0] == "true"
    assert judge(stated("identity", *sides, given=[has_moment(q, 2)]))[0] == "false"


def test_entries_in_one_place_may_be_one_number_while_others_are_not():
    k, a = random("k", n), index("a", n)
    law = stated("identity", E(q @ k), E(total(q[a], a) * k[i]), given=[variance(q, 2), variance(k, 1)])
    assert judge(law)[0] == "false" and mutant_trials.WITNESSES["torch"](law) == "refused"
    alike = stated("identity", E(q[1] + n), E(q[i] + n), given=[has_moment(q, 1)])
    assert judge(alike)[0] == "true" and mutant_trials.WITNESSES["torch"](alike) == "accepted"


def test_the_judge_does_not_take_a_small_number_for_zero():
    sides = log(exp(-(x**2)) ** 200), -200 * x**2
    assert judge(stated("identity", *sides))[0] == "true"
    assert judge(stated("identity", log(x - x), log(x - x)))[0] == "false"
    assert judge(stated("identity", log(-(exp(-(x**2)) ** 9)), 0 * x))[0] == "false"
    assert judge(stated("identity", 1 / exp(-(x**2)) ** 200, exp(x**2) ** 200))[0] == "true"
    assert judge(stated("identity", *[1 / (sqrt(1 + x**2) ** 2 - 1 - x**2)] * 2))[0] == "false"


def test_the_judge_divides_by_the_power_of_a_small_number():
    sides = (x**2) ** (2 * n) / (x**2) ** (2 * n), (x**2) ** (2 * n - 2 * n)
    assert judge(stated("identity", *sides, given=[nonzero(x)]))[0] == "true"
    assert judge(stated("identity", *sides))[0] == "false"


@pytest.mark.parametrize(
    "exact", [1 + y, 1 - y, y**2, 3 * y, 1 + rounded(y), rounded(1 + y) - y], ids=["1+y", "1-y", "y^2", "3y", "1+fl(y)", "fl(1+y)-y"]
)
def test_the_judge_rounds_what_needs_more_digits_than_there_are(exact):
    """y = 2^-30 is far from overflow, and 1 + y has 31 digits."""
    given = [representable(y), in_range()]
    assert judge(stated("identity", exact, rounded(exact), given=given), most=6)[0] == "false"
    assert judge(stated("identity", rounded(2 * y), 2 * rounded(y), given=given))[0] == "true"


def test_the_judge_calls_no_limit_false_while_the_distance_becomes_smaller():
    huge = exp(-(10**9) * y)
    assert judge(stated("limit", huge * log(1 + 1 / x), x, "oo", 0))[0] == "true"
    assert judge(stated("limit", huge * log(1 + 1 / x) + 1, x, "oo", 0))[0] == "false"
    assert judge(stated("limit", huge * x, x, "oo", 0))[0] == "false"
    assert judge(stated("limit", 1 / log(x), x, "oo", 0))[0] == "cannot tell"
    assert judge(stated("limit", 1 / log(x), x, "oo", 1))[0] == "false"


@pytest.mark.parametrize("left, right, wrong", [(tanh(x), 1, -1), (tanh(-x), -1, 0), (cos(1 / x), 1, 0), (x * sin(1 / x), 1, 0)])
def test_the_judge_knows_functions_far_out(left, right, wrong):
    assert judge(stated("limit", left, x, "oo", right))[0] == "true"
    assert judge(stated("limit", left, x, "oo", wrong))[0] == "false"
    assert judge(stated("limit", left + norm(u), x, "oo", right + norm(u)))[0] == "true"


def test_the_judge_looks_so_far_out_that_what_is_slow_has_come_close():
    assert judge(stated("limit", 1 / (1 + n * exp(-(x**2))), n, "oo", 0))[0] == "true"
    assert judge(stated("limit", 1 / (1 + n * x * y), n, "oo", 0))[0] == "false"


@pytest.mark.parametrize("witness", mutant_trials.WITNESSES)
def test_no_witness_lets_a_size_go_to_nothing(witness):
    claim = stated("limit", n / (1 + n), n, "oo", 1)
    assert mutant_trials.WITNESSES[witness](claim) == "accepted"
    assert mutant_trials.WITNESSES[witness](replace(claim, towards=(claim.towards[0], 0))) == "refused"


@pytest.mark.parametrize("witness", mutant_trials.WITNESSES)
def test_no_limit_is_that_of_a_name_that_may_be_nothing(witness):
    assert mutant_trials.WITNESSES[witness](stated("limit", 1 / (1 + n * x * y), n, "oo", 0)) == "refused"
    assert mutant_trials.WITNESSES[witness](stated("limit", 1 / (1 + n * x), n, "oo", 0, given=[positive(x)])) == "accepted"


@pytest.mark.parametrize("witness", mutant_trials.WITNESSES)
def test_one_over_what_has_no_value_is_not_nothing(witness):
    assert mutant_trials.WITNESSES[witness](stated("refute", x / (1 + 1 / y), 1, at={x: 1, y: 0})) == "refused"
    assert mutant_trials.WITNESSES[witness](stated("refute", x / (1 + 1 / y), 1, at={x: 1, y: 1})) == "accepted"


def test_a_moment_is_pasted_in_the_words_of_the_language():
    assert "given=[has_moment(q, 3)]" in claim_to_script(stated("identity", E(q[1] ** 3 + 1), 1 + E(q[1] ** 3), given=[has_moment(q, 3)]))


def test_a_counterexample_without_a_value_is_none():
    assert judge(stated("refute", x + y, x, at={x: 1}))[0] == "false"


@pytest.mark.parametrize("witness", mutant_trials.WITNESSES)
def test_no_witness_takes_a_counterexample_without_a_value(witness):
    """A zero above hides that nothing is below."""
    assert mutant_trials.WITNESSES[witness](stated("refute", x / y, 1, at={x: 0})) == "refused"


@pytest.mark.parametrize("witness", ["exact", "sympy"])
def test_no_proof_takes_a_counterexample_without_a_value_of_an_index(witness):
    assert mutant_trials.WITNESSES[witness](stated("refute", 0, u[i], at={n: 1, u: [-1]})) == "refused"
    assert mutant_trials.WITNESSES[witness](stated("refute", 0, u[i], at={n: 1, u: [-1], i: 1})) == "accepted"


# Shrinking, pasting, reading back, keeping


def test_what_is_wrong_is_made_small():
    claim = stated("identity", (x + y) ** 2 + sqrt(x**2) * exp(y), x + y + (y * x + 3), given=[nonzero(y)])
    small = shrink_claim.shrink(claim, lambda c: any(node.op == "pow" for node in walk(c.start)))
    assert shrink_claim.size(small) < shrink_claim.size(claim) / 2 and small.given == ()


def test_what_is_pasted_states_the_claim_again():
    for number in range(60):
        _, claim = draw_claim(SEED, number)
        names: dict = {}
        text = claim_to_script(claim).removesuffix("D.main()")
        exec(compile(text, "pasted.py", "exec"), names)  # made here, of a claim that was made here
        again = names["D"].claims[0]
        assert tuple(map(print_round_trip.normalize, again.trees)) == tuple(map(print_round_trip.normalize, claim.trees)), text
        assert (again.kind, again.at, again.towards) == (claim.kind, claim.at, claim.towards)


def test_a_comparison_of_two_numbers_is_pasted_as_one():
    claim = stated("identity", total(u[i], i, where=lift(1) <= lift(2)), total(u[i], i))
    assert "where=paren(1) <= 2" in claim_to_script(claim)


def test_a_script_is_read_back_as_the_tree():
    names = {s.data[0]: s for s in (x, y, n, m, u, A, i)}
    for e in (x * (y / 2), -(x * y), (-x) * y, x - (y - x), (A.T @ u)[1], total(u[i] ** 2, i), 2 / (x * y) / y, diff(exp(x), x)):
        assert strip_brackets(print_round_trip.parse_script(script_text.script(e), names)) == strip_brackets(e)
    with pytest.raises(print_round_trip.Unreadable):
        print_round_trip.parse_script("__import__('os')", names)


def test_counts_add_up_and_the_gate_is_passed_only_where_something_was_tried():
    whole, parts = fuzz_run.try_claims(SEED, 0, 30), fuzz_run.empty_counts()
    for start in (0, 10, 20):
        fuzz_run.add_counts(parts, fuzz_run.try_claims(SEED, start, start + 10))
    assert whole == parts and whole["claims"] == 30
    assert not fuzz_run.passes(fuzz_run.empty_counts())
    good = fuzz_run.empty_counts() | {"witnesses": {name: {"true, accepted": 1, "false, refused": 1} for name in fuzz_claim.SHARES}}
    assert fuzz_run.passes(good) and not fuzz_run.passes(good | {"faulty": {"exact, sums": 1}})
    assert not fuzz_run.passes(good | {"claims": 100, "families": {"sums": {"undecided": 6, "true": 94}}})  # a judge that cannot tell


def test_counts_stand_while_nothing_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    result = fuzz_run.empty_counts() | {"claims": 50, "seed": 3, "depends_on": fuzz_results.depends_on()}
    fuzz_results.put(result)
    fuzz_results.put(result | {"claims": 20})
    assert fuzz_results.get()["claims"] == 50  # the larger stays
    monkeypatch.setattr(fuzz_results, "depends_on", lambda: "another")
    assert fuzz_results.get() is None


def test_a_slow_witness_is_no_fault_and_no_acceptance(monkeypatch):
    monkeypatch.setattr(fuzz_claim, "SECONDS", 0.05)

    def slow(claim):
        while True:
            pass

    o = fuzz_claim.fuzz_one(SEED, 0, {"exact": slow}, "polynomials", {"exact": 1})
    assert o.said == {"exact": "too slow"} and not [f for f in o.faults if f[0] == "exact"]
    assert mutant_trials.LIMIT > fuzz_claim.SECONDS


def test_the_judge_looks_at_entries_that_are_not_taken():
    square = matrix("S", n, n)
    i, j = index("i", n), index("j", n)
    row = each(x / square[i, j], j)
    assert judge(stated("identity", row[1], x / square[i, 1], given=[nonzero(square[i, 1])]))[0] == "false"
    assert judge(stated("identity", row[1], x / square[i, 1], given=[nonzero(square[i, j])]))[0] == "true"
