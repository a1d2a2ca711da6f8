"""Means by symmetry: a weight of a softmax has the mean 1/n if nothing but chance tells the scores apart."""

import re

import pytest

from derivations.kernel import (
    Derivation,
    E,
    each,
    exp,
    has_moment,
    independent,
    index,
    matrix,
    ones,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from derivations.kernel.attack import judge
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.core.claims import Rejected
from derivations.kernel.exact.witness import exact
from derivations.kernel.pytorch.witness import witness as pytorch
from tests.kernel.common import has_code

n, d = sizes("n d")
c, y = scalars("c y")
r, s, w = random("r", n), random("s", n), random("w")
K, k, q, p = random("K", n, d), random("k", d), vector("q", d), vector("p", n)
A = matrix("A", n, d)
i, j = index("i", n), index("j", n)
alone = [independent(r)]

TRUE = {
    "a weight": (E(softmax(r)[i]), 1 / n, alone),
    "the first weight": (E(softmax(r)[1]), 1 / n, alone),
    "with a temperature": (E(softmax(c * r)[i]), 1 / n, alone),
    "shifted": (E(softmax(r + y * ones(n))[i]), 1 / n, alone),
    "squares": (E(softmax(r * r)[i]), 1 / n, alone),
    "two random vectors": (E(softmax(r + s)[i]), 1 / n, [independent(r, s)]),
    "an output": (E(softmax(r) @ p), total(p[i], i) / n, alone),
    "random keys": (E(softmax(K @ q / sqrt(d))[i]), 1 / n, [independent(K)]),
    "a random query": (E(softmax(K @ k)[i]), 1 / n, [independent(K, k)]),
    "times something else": (E(w * softmax(r)[i]), E(w) / n, [independent(r, w), has_moment(w, 1)]),
}
FALSE = {
    "dependent entries": (E(softmax(r)[i]), 1 / n, [], "assumption-missing"),
    "dependent vectors": (E(softmax(r + s)[i]), 1 / n, [independent(r), independent(s)], "assumption-missing"),
    "another share": (E(softmax(r)[i]), 2 / (n + 1), alone, "false-claim"),
    "a fixed vector": (E(softmax(r + p)[i]), 1 / n, alone, "false-claim"),
    "a factor for each entry": (E(softmax(r * p)[i]), 1 / n, alone, "false-claim"),
    "the position": (E(softmax(each(i * r[i], i))[j]), 1 / n, alone, "false-claim"),
    "fixed keys": (E(softmax(A @ k)[i]), 1 / n, [independent(k)], "false-claim"),
    "a square": (E(softmax(r)[i] ** 2), 1 / n**2, alone, "false-claim"),
    "two weights": (E(softmax(r)[i] * softmax(r)[j]), 1 / n**2, alone, "false-claim"),
    "the entry beside it": (E(r[i] * softmax(r)[i]), E(r[i]) / n, [*alone, has_moment(r, 1)], "false-claim"),
    "one entry in all scores": (E(softmax(r * r[1])[i]), 1 / n, alone, "false-claim"),
    "another vector below": (E(exp(r[i]) / total(exp(s[j]), j)), 1 / n, [independent(r, s)], "false-claim"),
    "one more below": (E(exp(r[i]) / (1 + total(exp(r[j]), j))), 1 / n, alone, "false-claim"),
    "a random vector that may depend on it": (E(s[i] * softmax(r)[i]), E(s[i]) / n, [*alone, has_moment(s, 1)], "assumption-missing"),
}


def claim(left, right, given):
    D = Derivation("Tests")
    D.identity("claim", left, right, given=given)
    return D.claims[-1]


@pytest.mark.parametrize("name", TRUE)
def test_a_mean_by_symmetry_is_proved_and_agrees_with_the_numbers(name):
    law = claim(*TRUE[name])
    assert [WITNESSES[witness](law).verdict for witness in ("exact", "torch")] == ["proved", "agrees"]


@pytest.mark.parametrize("name", FALSE)
def test_what_something_tells_apart_has_no_mean_by_symmetry(name):
    *stated, code = FALSE[name]
    with pytest.raises(Rejected, check=has_code(code)) as caught:
        exact(claim(*stated))
    assert re.search("left [=≈] ", str(caught.value)) or name == "dependent vectors"


@pytest.mark.parametrize(
    "name", sorted(FALSE.keys() - {"dependent entries", "dependent vectors", "another vector below", "one more below"})
)
def test_the_numbers_differ(name):
    *stated, _ = FALSE[name]
    law = claim(*stated)
    assert judge.judge(law)[0] in ("false", "cannot tell")
    with pytest.raises(Rejected):
        pytorch(law)


def test_entries_with_one_distribution_that_depend_on_each_other_show_the_need_of_independence():
    (shown,) = exact(claim(*TRUE["a weight"])).needed
    assert "in a cycle of three values" in shown and "right = 1/2" in shown


def test_the_symmetry_is_checked(monkeypatch):
    law = claim(*FALSE["a fixed vector"][:3])
    monkeypatch.setattr(
        "derivations.kernel.exact.exchangeable_entries.find_positions",
        lambda axis, leaves: {i for head, indices in leaves if head[0] == "random" for i in indices},
    )
    with pytest.raises(Rejected):
        exact(law)
