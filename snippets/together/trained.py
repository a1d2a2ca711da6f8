"""The small GPT as training left it: how well it guesses, what it writes, and what that costs.

--8<-- [start:example-loss]
>>> from snippets.together.text import counting_loss, held_out_loss
>>> from snippets.together.trained import load
>>> model = load()
>>> sum(parameter.numel() for parameter in model.parameters())
210720
>>> print(f"unigram {counting_loss(1):.2f}   bigram {counting_loss(2):.2f}   "
...       f"six in a row {counting_loss(6):.2f}   GPT {held_out_loss(model):.2f}")
unigram 3.02   bigram 2.38   six in a row 1.44   GPT 1.41

--8<-- [end:example-loss]

It goes on from a few words:

--8<-- [start:example-write]
>>> from textwrap import fill
>>> from snippets.together.trained import write
>>> for start in ("A query ", "The proof ", "What is true: "):
...     print(fill(write(start, 150), 90, subsequent_indent="  "))
A query with the two keys. The rank only the same weight becomehere. Let one be be a score
  counts every width one. That is left is a large number: the largesy
The proof grows with the gap of transposed the same, and the mean zero. So other comes
  from the scale is notebook and order may stands a patch and values do. Wh
What is true: without each assumption The code to the same would convex takes to a score
  adds then the weights, each query and the sum of the scores that is left pr

--8<-- [end:example-write]

What generating costs, in operations as PyTorch counts them, with the cache over without it:

--8<-- [start:example-cost]
>>> import torch
>>> from snippets.order.cost import operations
>>> from snippets.together.trained import load
>>> model = load()
>>> first = torch.zeros(1, 1, dtype=torch.long)  # (batch, n)
>>> for count in (8, 32):
...     kept, anew = (operations(model.generate, first, count, use_cache=use_cache)
...                   for use_cache in (True, False))
...     print(f"{count:2} tokens   {kept / anew:.2f}")
 8 tokens   0.22
32 tokens   0.06

--8<-- [end:example-cost]
"""

import torch
from torch.nn.utils import vector_to_parameters

from snippets.together.gpt import GPT, Config
from snippets.together.text import decode, encode, stored, vocabulary


# --8<-- [start:load]
def small() -> GPT:
    """The model before training."""
    return GPT(Config(len(vocabulary()), num_layers=2, num_heads=4, num_kv_heads=2, d=96, d_ff=256))


def load() -> GPT:
    """The trained model, from the file that `python -m snippets.together.train` makes."""
    model = small().requires_grad_(False)
    weights = torch.frombuffer(bytearray(stored("weights.fp16")), dtype=torch.float16)
    vector_to_parameters(weights.float(), model.parameters())
    return model


# --8<-- [end:load]


# --8<-- [start:write]
def write(start: str, count: int, seed: int = 0, temperature: float = 0.7) -> str:
    """So many characters more, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    tokens = encode(start).unsqueeze(0)  # (1, n)
    more = load().double().generate(tokens, count, temperature=temperature, generator=generator)
    return decode(more[0])


# --8<-- [end:write]
