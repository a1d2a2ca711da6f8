"""Expressions as data: what is written is read again as the same tree."""

import json

import pytest

from derivations.kernel import each, index, matrix, scalars, sizes, total, vector
from derivations.kernel.core import claims
from derivations.kernel.script.loading import load_script
from derivations.kernel.script.tree_data import read_data, write_data
from tests.kernel.browser.texts import ROOT

n, d = sizes("n d")
A, z, x = matrix("A", n, d), vector("z", n), scalars("x")
i = index("i", n)


@pytest.mark.parametrize("e", [x / 3, A.T @ z, total(z[i] ** 2, i), each(z[i] * x, i), A[1, 1], -x], ids=str)
def test_an_expression_is_read_as_it_was_written(e):
    read = read_data(json.loads(json.dumps(write_data(e))))
    assert str(read) == str(e) and read.shape == e.shape and write_data(read) == write_data(e)


@pytest.mark.parametrize("topic", ["scaling/variance", "softmax/jacobian", "associativity/rounding", "linear/delta"])
def test_all_expressions_of_a_topic_are_read_as_they_were_written(topic):
    load_script(ROOT / "derivations" / f"{topic}.py")
    trees = [tree for claim in claims.LOADED[0].claims for tree in claim.trees]
    assert trees and [write_data(read_data(write_data(tree))) for tree in trees] == [write_data(tree) for tree in trees]


def test_what_is_no_part_of_an_expression_is_refused():
    with pytest.raises(TypeError, match="is no part of an expression"):
        write_data(object())
