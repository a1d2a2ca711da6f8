"""Names that a reader recognises from PyTorch or from mathematics."""

import math
from functools import cache

import torch
from torch import nn
from torch.nn import functional

OTHERS = ("average", "expectation", "identity", "probability", "rank", "transposed")  # neither PyTorch nor `math` has these


@cache
def find_familiar_names() -> frozenset[str]:
    """Return the public callables of PyTorch and `math`, and a few terms of mathematics."""
    holders = (torch, nn, functional, torch.linalg, torch.special, torch.fft, math)
    return frozenset(name for one in holders for name, held in vars(one).items() if name[0] != "_" and callable(held)) | frozenset(OTHERS)
