"""Code that is right up to some size: the numbers that it writes out and the formats in which it counts say where to try it."""

import sys

import pytest

import snippets
from derivations.kernel import Derivation, index, sizes, total, vector
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch import witness as torch_witness
from derivations.kernel.pytorch.written_numbers import list_nodes, list_written_sizes
from derivations.kernel.traced.python_subset import find_violation

n = sizes("n")
z, i = vector("z", n), index("i", n)

CODE = '''"""Means, most of which count wrongly from some length on."""

import torch

BLOCK = 640


def fp16(z):
    return z.sum() / torch.ones(z.shape[0], dtype=torch.float16).sum().to(z.dtype)


def bf16(z):
    return z.sum() / torch.ones(z.shape[0]).bfloat16().sum().to(z.dtype)


def int8(z):
    return z.sum() / torch.ones(z.shape[0], dtype=torch.int8).cumsum(0, dtype=torch.int8)[-1].to(z.dtype)


def int16(z):
    return z.sum() / torch.ones(z.shape[0], dtype=torch.int16).cumsum(0, dtype=torch.int16)[-1].to(z.dtype)


def position(z):
    return z.sum() / (torch.arange(z.shape[0], dtype=torch.float16)[-1] + 1).to(z.dtype)


def branch(z):
    return z.sum() / min(z.shape[0], 3000)


def double(z):
    return z.sum() / (z.shape[0] + (z.shape[0] == 4096))


def indirect(z):
    return fp16(z)


def int64(z):
    """Up to 70 tokens and many more."""
    return z.sum() / torch.ones(z.shape[0], dtype=torch.long).sum().to(z.dtype)


def boolean(z):
    return z.sum() / torch.ones(z.shape[0], dtype=torch.bool).sum().to(z.dtype)
'''
WRONG_FROM = {
    "fp16": 2049,
    "bf16": 257,
    "int8": 129,
    "int16": 32768,
    "position": 2049,
    "branch": 3001,
    "double": 4096,
    "indirect": 2049,
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return the name of the module of snippets with the code above."""
    folder = tmp_path / "snippets/counting"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "mean.py").write_text(CODE)
    monkeypatch.setattr(snippets, "__path__", [*snippets.__path__, str(tmp_path / "snippets")])
    list_nodes.cache_clear()
    yield "snippets.counting.mean"
    for name in ("snippets.counting", "snippets.counting.mean"):
        sys.modules.pop(name, None)


def mean_by(name):
    derivation = Derivation("test")
    derivation.identity("claim", total(z[i], i) / n, total(z[i] / n, i), code=[(name, z)])
    return derivation.claims[-1]


@pytest.mark.parametrize("name, size", WRONG_FROM.items(), ids=WRONG_FROM)
def test_code_that_counts_wrongly_from_some_length_is_rejected_there(module, name, size):
    with pytest.raises(Rejected, match=rf"at n = {size}\b"):
        torch_witness.witness(mean_by(f"{module}.{name}"))


@pytest.mark.parametrize("name", ["int64", "boolean"])
def test_code_that_counts_rightly_is_not(module, name):
    assert torch_witness.witness(mean_by(f"{module}.{name}"))[0] == "agrees"


@pytest.mark.parametrize("name, most", [("fp16", 2048), ("int8", 127), ("int16", 32767), ("position", 2048), ("indirect", 2048)])
def test_code_that_counts_in_a_narrow_format_is_not_read_as_mathematics(module, name, most):
    violation = find_violation(__import__(module, fromlist=["mean"]), name)
    assert violation and f"exact only up to {most}" in violation.what


@pytest.mark.parametrize("name, found", [("int64", []), ("branch", [2999, 3000, 3001, 6000]), ("bf16", [257]), ("int8", [128])])
def test_sizes_are_read_from_the_source(module, name, found):
    assert list_written_sizes(mean_by(f"{module}.{name}")) == found
