"""Names that a reader takes for PyTorch's, or for those of mathematics."""

import math
from functools import cache

import torch
from torch import nn
from torch.nn import functional

OTHERS = ("average", "expectation", "identity", "probability", "rank", "transposed")  # that neither PyTorch nor Python's `math` has


@cache
def known() -> frozenset[str]:
    holders = (torch, nn, functional, torch.linalg, torch.special, torch.fft, math)
    return frozenset(name for one in holders for name, held in vars(one).items() if name[0] != "_" and callable(held)) | frozenset(OTHERS)
