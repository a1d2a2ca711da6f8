"""Snippets in fp32, fp16 and bf16: the error bound covers every computation in the format, and a larger error is rejected."""

import re
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.heads.patches import derivation as patches
from derivations.kernel import (
    Derivation,
    absolute,
    diff,
    each,
    exp,
    in_range,
    index,
    inverse,
    invertible,
    log,
    matrix,
    positive,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from derivations.kernel.attack.equivalent_rewrites import make_controls
from derivations.kernel.core.claims import Rejected
from derivations.kernel.core.constructors import I, array, paren
from derivations.kernel.core.expr import walk
from derivations.kernel.pytorch import low_precision
from derivations.kernel.pytorch import witness as tw
from derivations.kernel.pytorch.evaluation import evaluate
from derivations.kernel.pytorch.float_formats import FORMATS, RULES, evaluate_in_format
from derivations.kernel.pytorch.low_precision import SLACK, FormatResults
from derivations.kernel.pytorch.sampling import draw
from derivations.kernel.pytorch.trial import Trial
from derivations.kernel.store import certificates
from tests.kernel.common import has_code

n, m, d = sizes("n m d")
A, B, Q, K, S = matrix("A", n, m), matrix("B", m, n), matrix("Q", n, d), matrix("K", m, d), matrix("S", n, n)
u, v = vector("u", n), vector("v", n)
x, y = scalars("x y")
i, j = index("i", n), index("j", n)
NAMES = ("fp32", "fp16", "bf16")
FORMAT = {f.name: f for f in FORMATS}
PRODUCTS, SCORES, WEIGHTS = (
    "snippets.associativity.products",
    "snippets.attention.formula.scores",
    "snippets.attention.formula.attention_weights",
)


def claim(kind, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, kind)("claim", *arguments, **more)
    return derivation.claims[-1]


def scores():
    return claim("identity", (Q @ K.T) / sqrt(d), ((Q / sqrt(d)) @ K.T), code=[(SCORES, Q, K)])


def weights():
    derivation = Derivation("test")
    derivation.define("p", softmax((Q @ K.T) / sqrt(d)), code=[(WEIGHTS, Q, K)])
    return derivation.claims[-1]


def grouped():
    return claim("identity", (A @ B) @ A, A @ (B @ A), code=[(f"{PRODUCTS}.grouped_left", A, B, A)])


def planted(monkeypatch, stated, name, wrong):
    """What the witness says of a claim whose snippet is another function."""
    monkeypatch.setattr(name, wrong)
    try:
        return tw.witness(stated)[2]
    except Rejected as error:
        return error.message


# The bound

TREES = {
    "add": x + y,
    "neg": -(x + y),
    "mul": x * y,
    "div": x / y,
    "square": x**2,
    "cube": (x + y) ** 3,
    "inverse square": x**-2,
    "root": sqrt(x**2 + 1),
    "inverse root": (x**2 + 1) ** Fraction(-1, 2),
    "power": (x**2 + 1) ** y,
    "exp": exp(x),
    "log": log(x**2 + 1),
    "abs": absolute(x - y),
    "constants": x * Fraction(1, 3) + 1000,
    "cancels": (x + 1) ** 2 - x**2 - 2 * x,
    "sum": total(u[i] * v[i], i),
    "double sum": total(u[i] * v[j], i, j),
    "sum of one": total(x, i),
    "index": total(i * u[i], i),
    "each": each(x * u[i] + y, i) @ v,
    "each of a matrix": each(u[i] * v[j] + x, i, j)[1, 1] * each(y, i),
    "size": x / n,
    "vectors": u @ v,
    "matmul": A @ B,
    "three": A @ B @ A,
    "row": u @ A,
    "transpose": (A @ B).T,
    "softmax": softmax(u),
    "rows": softmax(3 * A),
    "scores": softmax((Q @ K.T) / sqrt(d)) @ B,
    "array": array([[x, y], [x * y, x + y]]) @ array([x, 1]),
}
TORCH = {"add": torch.add, "mul": torch.mul, "div": torch.div, "pow": torch.pow}


def computed(e, low, f, env=()):
    """The tree in the format itself, at the first point, an operation at a time; sums in the order of their indices."""
    env = dict(env)
    run = [computed(a, low, f, env) for a in e.args] if e.op not in ("sum", "each", "entry") else []
    if e.op == "symbol" and e.data[1] == "real":
        return low.values[e.data[0]].value[0].reshape(low.shape(e)).to(f.dtype)
    if e.op in ("const", "symbol", "index"):
        return torch.tensor(
            float(e.data) if e.op == "const" else low.size(e) if e.op == "symbol" else env[e.data] + 1.0, dtype=torch.float64
        ).to(f.dtype)
    if e.op == "sum":
        parts = [computed(e.args[0], low, f, {**env, e.data: k}) for k in range(low.size(e.data[1]))]
        result = parts[0]
        for part in parts[1:]:
            result = result + part
        return result
    if e.op == "each":
        return torch.stack([computed(e.args[0], low, f, {**env, e.data: k}) for k in range(low.size(e.data[1]))])
    if e.op == "entry":
        return computed(e.args[0], low, f, env)[tuple(int(k.data) - 1 if k.op == "const" else env[k.data] for k in e.args[1:])]
    if e.op == "array":
        return torch.stack(run).reshape(low.shape(e))
    if e.op == "softmax":
        return torch.softmax(*run, -1)
    if e.op in ("neg", "paren", "transpose", "matmul"):
        return {"neg": torch.neg, "paren": lambda a: a, "transpose": lambda a: a.mT, "matmul": torch.matmul}[e.op](*run)
    return getattr(torch, e.data)(*run) if e.op == "function" else TORCH[e.op](*run)


def trial(tree, at, seed, f):
    stated = claim("identity", tree, tree + tree)
    drawn = draw(stated, {name: at.get(name, 1) for name in "nmd"}, seed)
    return drawn and low_precision.rounded(stated, drawn, f)


@given(
    st.sampled_from(sorted(TREES)),
    st.sampled_from(NAMES),
    st.fixed_dictionaries({k: st.integers(1, 4) for k in "nmd"}),
    st.integers(0, 10**6),
)
@settings(derandomize=True, deadline=None, max_examples=600)
def test_the_bound_covers_what_is_computed_in_the_format(name, format_, at, seed):
    f, tree = FORMAT[format_], TREES[name]
    low = trial(tree, at, seed, f)
    if low is None:
        return
    value = evaluate_in_format(tree, low, f)
    want, bound = (part[:1].flatten() for part in value)
    result = computed(tree, low, f).double().flatten()
    told = bound.expand(result.shape).isfinite()
    assert ((result - want).abs() <= SLACK * bound)[told].all()


@pytest.mark.parametrize("format_", NAMES)
@pytest.mark.parametrize("name", sorted(TREES))
def test_the_bound_tells_something(name, format_):
    """At some draws the error is a good part of the bound, and the bound is below the value."""
    f, tree = FORMAT[format_], TREES[name]
    shares, told = [0.0], False
    for seed in range(12):
        low = trial(tree, {"n": 3, "m": 3, "d": 3}, seed, f)
        if low is None:
            continue
        want, bound = (part[:1].flatten() for part in evaluate_in_format(tree, low, f))
        off = (computed(tree, low, f).double().flatten() - want).abs()
        told = told or (want.abs() > bound).any()
        shares += (off / bound)[(bound > 0) & bound.isfinite()].tolist()
    assert told and (name in ("neg", "abs") or max(shares) > 0.004)


def test_every_rule_is_tried():
    assert {node.op for tree in TREES.values() for node in walk(tree)} | {"paren", "defined", "eye", "fill", "where"} == set(RULES)


def at(tree, f, **values):
    trial_ = Trial([tree], {})
    for name, value in values.items():
        trial_.put({"x": x, "y": y}[name], torch.tensor([value], dtype=torch.float64))
    return evaluate_in_format(tree, trial_, FORMAT[f])


def test_brackets_do_not_change_the_bound_of_a_sum_that_may_be_computed_as_one():
    f, plain, bracketed = FORMAT["fp32"], total(total(u[i] * v[j], j), i), total(paren(total(u[i] * v[j], j)), i)
    one, other = (evaluate_in_format(tree, trial(tree, {"n": 5}, 0, f), f) for tree in (plain, bracketed))
    assert torch.equal(one.error, other.error) and (one.error > 0).all()


def test_what_may_overflow_has_no_bound():
    assert at(exp(x), "fp16", x=11.0).error.isfinite().all() and not at(exp(x), "fp16", x=11.1).error.isfinite().any()
    assert at(exp(x), "bf16", x=11.1).error.isfinite().all()
    assert not at((x * y) / y, "fp16", x=300.0, y=300.0).error.isfinite().any()
    assert not at(1 / (x - y), "fp32", x=1.0, y=1.0).error.isfinite().any()


def test_what_underflows_is_off_by_the_smallest_number():
    assert at(x * y, "fp16", x=2.0**-14, y=2.0**-14).error.item() >= 2.0**-24
    assert at(x + y, "fp16", x=2.0**-24, y=2.0**-24).error.item() < 2.0**-33  # sums do not underflow


def test_a_number_that_the_format_does_not_hold_is_rounded():
    for f in FORMATS:
        third, half = (at(x * 0 + Fraction(1, k), f.name, x=1.0).error.item() for k in (3, 2))
        assert half == 0 and abs(torch.tensor(1 / 3, dtype=f.dtype).double().item() - 1 / 3) <= third <= 1.01 * f.u / 3


@pytest.mark.parametrize("format_", NAMES)
def test_the_roundings_of_softmax_itself(format_):
    """Scores so close that subtracting the largest costs next to nothing."""
    f, shares = FORMAT[format_], []
    for size in (2, 3, 8):
        scores_ = torch.linspace(-0.25, 0.25, size).repeat(200, 1) * torch.rand(200, 1, generator=torch.Generator().manual_seed(size))
        low = Trial([softmax(u)], {"n": size})
        low.put(u, scores_.to(f.dtype).double())
        value = evaluate_in_format(softmax(u), low, f)
        shares.append(
            (
                (torch.softmax(scores_.to(f.dtype), -1).double() - value.value.reshape(200, size)).abs() / value.error.reshape(200, size)
            ).max()
        )
    assert 0.05 < max(shares) <= 1


@pytest.mark.parametrize(
    "tree", ["mul", "div", "exp", "log", "cube", "inverse square", "root", "inverse root", "add", "abs", "softmax", "vectors", "sum"]
)
def test_the_bound_covers_the_errors_of_the_arguments(tree):
    """In exact arithmetic, at the ends of the intervals: the bound is reached but for what is of second order."""
    f, generator, tree = FORMAT["fp32"], torch.Generator().manual_seed(0), TREES[tree]
    worst = 0.0
    for _ in range(40):
        low, names = Trial([tree], {"n": 3}), [s for s in (x, y, u, v) if s in set(walk(tree))]
        error = 2.0**-8
        middle = {s: 1 + torch.rand((1, 3) if s.shape else (1,), generator=generator, dtype=torch.float64) for s in names}
        for s in names:
            low.put(s, middle[s], torch.full_like(middle[s], error))
        value = evaluate_in_format(tree, low, f)
        for signs in range(2 ** sum(middle[s].numel() for s in names)):
            moved = Trial([tree], {"n": 3})
            for s in names:
                way = torch.tensor([1.0 if signs >> k & 1 else -1.0 for k in range(middle[s].numel())], dtype=torch.float64)
                signs >>= middle[s].numel()
                moved.put(s, middle[s] + error * way.reshape(middle[s].shape))
            share = ((evaluate(tree, moved).value - value.value).abs() / value.error).max().item()
            worst = max(worst, share)
    assert 0.4 < worst <= 1


# Snippets


def test_a_snippet_is_run_in_every_format_and_the_points_are_counted():
    assert re.search(
        r"grouped_left\(A, B, A\), with sizes up to 257; run in fp32 at (\d+) of \1 points, fp16 at \d+ of \d+ points, bf16 at \d+ of \d+ points, within the rounding "
        "bound of each$",
        tw.witness(grouped())[2],
    )
    assert "; run in " not in tw.witness(claim("identity", x + x, 2 * x))[2]


@pytest.mark.parametrize(
    ("format_", "through"), [("fp32", torch.float16), ("fp32", torch.bfloat16), ("fp16", torch.bfloat16), ("bf16", torch.float8_e5m2)]
)
@pytest.mark.parametrize("where", ["argument", "result"])
def test_a_round_trip_through_a_format_with_fewer_digits_is_refused(monkeypatch, format_, through, where):
    """In that format alone: everywhere else the snippet is right."""
    dtype = FORMAT[format_].dtype

    def trip(number):
        return number.to(through).to(dtype) if number.dtype == dtype else number

    def products(A, B, C):
        return (trip(A) @ B) @ C if where == "argument" else trip((A @ B) @ C)

    assert re.search(
        rf"grouped_left gives \S+ in {format_} where the claim has \S+, and the rounding bound of {format_} is \S+ at m = (\d), n = (\d), given A of shape \(\2, \1\), ",
        planted(monkeypatch, grouped(), f"{PRODUCTS}.grouped_left", products),
    )


@pytest.mark.parametrize("format_", NAMES)
def test_scores_without_their_scale_are_refused(monkeypatch, format_):
    def unscaled(query, key):
        return query @ key.mT * (1 if query.dtype == FORMAT[format_].dtype else query.shape[-1] ** -0.5)

    assert f" in {format_} where the claim has " in planted(monkeypatch, scores(), SCORES, unscaled)


@pytest.mark.parametrize("format_", NAMES)
@pytest.mark.parametrize("wrong", ["axis", "places", "nan"])
def test_wrong_weights_are_refused(monkeypatch, format_, wrong):
    def weights_(query, key):
        right = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1)
        if query.dtype != FORMAT[format_].dtype:
            return right
        return {
            "axis": torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -2),
            "places": right.round(decimals=1),
            "nan": right * torch.nan,
        }[wrong]

    assert f" in {format_} where the claim has " in planted(monkeypatch, weights(), WEIGHTS, weights_)


def test_exponentials_that_overflow_where_softmax_does_not_are_refused(monkeypatch):
    stated = claim("identity", softmax(4 * u), softmax(4 * u + u - u), code=[("snippets.softmax.axes.sums", u)])
    monkeypatch.setattr("snippets.softmax.axes.sums", lambda scores: torch.softmax(4 * scores, -1))
    assert "; run in fp32" in tw.witness(stated)[2]
    monkeypatch.setattr(
        "snippets.softmax.axes.sums",
        lambda scores: (
            (4 * scores).exp() / (4 * scores).exp().sum(-1, keepdim=True)
            if scores.dtype == torch.float16
            else torch.softmax(4 * scores, -1)
        ),
    )
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match="nan in fp16"):
        tw.witness(stated)


def test_a_snippet_is_not_run_on_an_argument_that_overflows_where_the_claim_does_not():
    """The last step of the chain has a product that fp16 cannot hold; a snippet takes it as an argument."""
    pixels = next(stated for stated in patches.claims if stated.id == "pixels")
    assert tw.witness(dict(make_controls(pixels))["step 1 on its own"])[0] == "agrees"


def test_a_snippet_computes_one_of_the_two_sides_throughout(monkeypatch):
    """Now the one and now the other side is within the larger of the two bounds everywhere, and yet is neither."""
    left, right = (x + 1) ** 2 - 2 * x - 1, x**2
    name = "snippets.softmax.temperature.objective"
    stated = claim("identity", left, right, code=[(name, x)])
    rough = lambda x: (x + 1) ** 2 - 2 * x - 1  # noqa: E731
    for snippet in (rough, lambda x: x**2):
        assert "; run in fp32" in planted(monkeypatch, stated, name, snippet)
    assert "and the rounding bound of fp32 is" in planted(
        monkeypatch, stated, name, lambda x: rough(x) + (x.dtype == torch.float32) * x**2 / 64
    )


@pytest.mark.parametrize(
    ("snippet", "reason"),
    [
        (lambda A, B, C: ((A @ B) @ C).double(), "grouped_left gives float64, and is given float32"),
        (lambda A, B, C: (A.double() @ B) @ C, "grouped_left stopped with RuntimeError: expected m1 and m2 to have the same dtype"),
        (lambda A, B, C: (A @ B) @ C / (A.dtype == torch.float64 or 1 // 0), "grouped_left stopped with ZeroDivisionError"),
    ],
    ids=["converts", "mixes", "stops"],
)
def test_a_snippet_that_insists_on_double_precision_is_not_passed(monkeypatch, snippet, reason):
    assert f"the PyTorch witness does not confirm it: {PRODUCTS}.{reason}" in planted(
        monkeypatch, grouped(), f"{PRODUCTS}.grouped_left", snippet
    )


def test_what_pytorch_cannot_do_in_a_format_is_reported(monkeypatch):
    def inverted_twice(A, B, C):
        square = A @ B + 10**6 * torch.eye(len(A), dtype=A.dtype)
        return (A @ B) @ C + 0 * torch.linalg.inv(square) @ C

    said = planted(monkeypatch, grouped(), f"{PRODUCTS}.grouped_left", inverted_twice)
    silent = re.findall(r"; nothing said in ([^:]*): ([^;]*)", said)
    assert "; run in fp32 at " in said and ", ".join(formats for formats, _ in silent) == "fp16, bf16"
    assert all(why.startswith(f"{PRODUCTS}.grouped_left stopped with RuntimeError: ") and "given" not in why for _, why in silent)


@pytest.mark.parametrize(
    ("left", "right", "given_", "op"),
    [
        (inverse(S), inverse(S) + 0 * S, [invertible(S)], "'inverse'"),
        (diff(x**2, x), diff(x**2, x) + 0, [], "'derivative'"),
        (rounded(x), rounded(x) + 0, [in_range()], "'rounded'"),
        (I * x, I * x + 0, [], "'imaginary'"),
    ],
    ids=["inverse", "derivative", "rounded", "imaginary"],
)
def test_without_a_bound_nothing_is_said(monkeypatch, left, right, given_, op):
    argument = S if left.shape else x
    stated = claim("identity", left, right, given=given_, code=[("snippets.softmax.axes.sums", argument)])
    right_ = {
        "'inverse'": lambda x: torch.linalg.inv(x),
        "'derivative'": lambda x: 2 * x,
        "'rounded'": lambda x: x.float().to(x.dtype),
        "'imaginary'": lambda x: 1j * x,
    }
    said = planted(monkeypatch, stated, "snippets.softmax.axes.sums", right_[op])
    assert f"; nothing said in fp32, fp16, bf16: no rounding bound is derived for {op}" in said


def test_outside_the_bound_of_one_side_with_none_for_the_other_nothing_is_said(monkeypatch):
    stated = claim("identity", diff(x**2, x), 2 * x, code=[("snippets.softmax.axes.sums", x)])
    slip = lambda x: 2 * x * (1.01 if x.dtype == torch.float32 else 1)  # noqa: E731
    said = planted(monkeypatch, stated, "snippets.softmax.axes.sums", slip)
    assert (
        "; run in fp16" in said
        and "nothing said in fp32: snippets.softmax.axes.sums is outside the bound of one side, and for the other" in said
    )


def test_where_a_step_may_overflow_no_point_is_counted():
    stated = claim("identity", exp(300 + x**2) / exp(300 + x**2), 1 + 0 * x, code=[("snippets.softmax.axes.sums", x)])
    book = FormatResults(stated)
    for seed in range(4):
        book.compare(draw(stated, {}, seed), [stated.start], [0])
    assert all(told == 0 for told, _ in book.ran.values())


def test_inputs_that_the_format_does_not_hold_are_left_out():
    stated = claim("identity", x * 2, x + x, given=[positive(x)])
    drawn = Trial([stated.start], {})
    drawn.put(x, torch.tensor([1.0, 2.0**-30, 2.0**20, 1.0 + 2.0**-30], dtype=torch.float64))
    assert low_precision.rounded(stated, drawn, FORMAT["fp16"]).values["x"].value.flatten().tolist() == [
        1.0,
        1.0,
    ]  # the second is 0, the third too large
    assert drawn.values["x"].value.flatten()[1] == 2.0**-30  # and the trial itself is as it was


# All claims of the site


@pytest.fixture(scope="module")
def notes():
    """What PyTorch noted when the site was checked: a certificate of anything else is refused."""
    return {
        f"{topic}#{claim['id']}": witness["note"]
        for topic in certificates.topics()
        for claim in certificates.load(topic)["claims"]
        for witness in claim["witnesses"]
        if claim["code"] and claim["kind"] != "limit" and witness["name"] == "torch"
    }


def test_every_snippet_of_a_claim_runs_in_half_precision_or_says_why_not(notes):
    """Numbers of things are no tensors; the worked example's matrices are made in fp64; the rest is named."""
    silent = {id_: re.findall(r"nothing said in ([^:]*): ([^;]*)", note) for id_, note in notes.items() if "nothing said" in note}
    known = r"gives (int|float|float64), and is given no tensor|no rounding bound is derived|stopped with RuntimeError: This function doesn't handle types other"
    assert {id_: said for id_, said in silent.items() if any(not re.search(known, reason) for _, reason in said)} == {}
    ran = [id_ for id_, note in notes.items() if all(f"{name} at " in note for name in NAMES)]
    assert len(ran) >= 0.6 * len(notes)
    points = [tuple(map(int, pair)) for note in notes.values() for pair in re.findall(r"(?:fp32|fp16|bf16) at (\d+) of (\d+) points", note)]
    assert sum(told for told, _ in points) >= 0.8 * sum(of for _, of in points)


def test_a_bound_on_rounding_is_tried_at_ties_beside_zeros():
    """The bound is half of what it should be, and another term covers that unless it is 0."""
    gap = absolute(y) / 4096 - absolute(rounded(y, "fp16") - y) + absolute(x * y)
    wrong = claim("inequality", y, y + gap, because=gap, given=[in_range()])
    with pytest.raises(Rejected, match="negative|larger"):
        tw.witness(wrong)
