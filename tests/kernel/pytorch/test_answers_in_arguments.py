"""A claim's `code=` may not pass the answer to the function, since a function that returns its argument would agree."""

import importlib
import sys

import pytest

import snippets
from derivations.kernel import Derivation, exp, index, ones, positive, scalars, sizes, softmax, total, vector
from derivations.kernel.check.answers_in_arguments import reject_leaked_answers
from derivations.kernel.check.claim_records import check_claim
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch import witness as tw
from tests.kernel.common import has_code

FOE = "snippets.planted.foe."
TEXT = """from torch import Tensor


def fast_softmax(x: Tensor) -> Tensor:
    return x


def back(x: Tensor) -> Tensor:
    return x / 2


def same(x: Tensor) -> Tensor:
    return x


def real(x: Tensor) -> Tensor:
    return x.softmax(-1)


def log(x: Tensor) -> Tensor:
    return x.log()


def raised(x: Tensor) -> Tensor:
    return x.exp()
"""
n = sizes("n")
z, i, j = vector("z", n), index("i", n), index("j", n)
weight = exp(z[i]) / total(exp(z[j]), j)


@pytest.fixture
def stated(tmp_path, monkeypatch):
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted/foe.py").write_text(TEXT)
    monkeypatch.setattr(snippets, "__path__", [*snippets.__path__, str(tmp_path)])
    importlib.invalidate_caches()

    def state(*code, left=softmax(z)[i], right=weight, **more):
        derivation = Derivation("test")
        derivation.identity("weights", left, right, code=list(code), **more)
        return derivation.claims[-1]

    yield state
    for name in [name for name in sys.modules if name.startswith("snippets.planted")]:
        del sys.modules[name]


HANDED = {
    "a side": (FOE + "fast_softmax", softmax(z)[i]),
    "the other side": (FOE + "fast_softmax", weight),
    "twice a side": (FOE + "back", 2 * softmax(z)[i]),
    "a side by its keyword": (FOE + "fast_softmax", {"x": weight}),
}


@pytest.mark.parametrize("code", HANDED.values(), ids=HANDED)
def test_a_side_is_not_handed_to_what_computes_it(code, stated):
    claim = stated(code)
    with pytest.raises(Rejected, check=has_code("leaked-answer")) as caught:
        check_claim(claim)
    assert str(caught.value).startswith(f"{claim.file}:{claim.line}: claim 'weights': code[0] ")


WRITTEN = {
    "written otherwise": (FOE + "fast_softmax", softmax(z + ones(n))[i]),
    "from another call": (FOE + "fast_softmax", (FOE + "real", z)),
    "from a call of the answer": (FOE + "fast_softmax", (FOE + "same", softmax(z))),
}


@pytest.mark.parametrize("code", WRITTEN.values(), ids=WRITTEN)
def test_nor_is_its_value_however_it_is_written(code, stated):
    claim = stated(code)
    reject_leaked_answers(claim)
    with pytest.raises(Rejected, check=has_code("leaked-answer"), match=r"code\[0\] .*snippets\.planted\.foe\.fast_softmax"):
        tw.witness(claim)


def test_a_call_that_computes_stands(stated):
    claim = stated((FOE + "real", z))
    assert check_claim(claim)["code"] == [FOE + "real"]
    assert f"; also {FOE}real(z), with" in tw.witness(claim)[2]


def test_there_and_back_stands(stated):
    x = scalars("x")
    claim = stated((FOE + "raised", (FOE + "log", x)), left=exp(x) / exp(x) * x, right=x, given=[positive(x)])
    reject_leaked_answers(claim)
    assert f"; also {FOE}raised({FOE}log(x))" in tw.witness(claim)[2]


def test_a_name_that_is_a_side_may_be_handed(stated):
    x = scalars("x")
    claim = stated((FOE + "same", x), left=2 * x - x, right=x)
    reject_leaked_answers(claim)
    assert tw.witness(claim)[0] == "agrees"
