"""The small GPT as training left it: its guesses, its words, what they cost.

--8<-- [start:example-loss]
>>> from snippets.together.text import counting_loss, held_out_loss
>>> from snippets.together.trained import load_gpt
>>> model = load_gpt()
>>> sum(parameter.numel() for parameter in model.parameters())
210720
>>> for name, length in {"unigram": 1, "bigram": 2, "six in a row": 6}.items():
...     print(f"{name:12} {counting_loss(length):.2f}")
unigram      3.02
bigram       2.38
six in a row 1.44
>>> print(f"GPT          {held_out_loss(model):.2f}")
GPT          1.40

--8<-- [end:example-loss]

It goes on from a few words:

--8<-- [start:example-write]
>>> from textwrap import fill
>>> from snippets.together.trained import write_text
>>> for start in ("A query ", "The proof ", "What is true: "):
...     print(fill(write_text(start, count=150), 76, subsequent_indent="  "))
A query without each key it by random. Fixed weights a pattern is the sum of
  every key, and two keys: The exactly gaps between the reaches or form one
  large o
The proof weights. Why anyone would want it The first token that it takes to
  a score is the matrix. The plain multipliers with the matrices by the
  values do. Fo
What is true: whose the right does not see a time. Its share is the keys and
  values is the scores two axes: One entropy of a keys are a mean of
  variance one that po

--8<-- [end:example-write]

The sentence of the start page, in one pass and with the last step from the cache:

--8<-- [start:example-sentence]
>>> import torch
>>> from torch.nn.functional import cross_entropy
>>> from snippets.together.text import encode
>>> from snippets.together.trained import load_gpt
>>> sentence = "The animal didn't cross the street because it was too tired."
>>> model, tokens = load_gpt().double(), encode(sentence).unsqueeze(0)
>>> logits, cache = model(tokens)
>>> tuple(logits.shape), sum(part.numel() for block in cache for part in block)
((1, 60, 78), 11520)
>>> guesses = logits[0].softmax(-1)
>>> for start, following in (("beca", "u"), ("becau", "s")):
...     end = sentence.index(start) + len(start)
...     print(f"{start:5} {following} {guesses[end - 1, tokens[0, end]]:.2f}")
beca  u 0.84
becau s 0.98
>>> round(cross_entropy(logits[0, :-1], tokens[0, 1:]).item(), 2)
2.89
>>> _, cache = model(tokens[:, :-1])
>>> last, _ = model(tokens[:, -1:], cache=cache)
>>> torch.allclose(last[0, -1], logits[0, -1])
True

--8<-- [end:example-sentence]

What generating costs with the cache, over without it, in counted operations:

--8<-- [start:example-cost]
>>> import torch
>>> from snippets.order.cost import operations
>>> from snippets.together.trained import load_gpt
>>> model = load_gpt()
>>> first = torch.zeros(1, 1, dtype=torch.long)  # (batch, n)
>>> for count in (8, 32):
...     kept, anew = (
...         operations(model.generate, first, count=count, use_cache=use_cache)
...         for use_cache in (True, False))
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
def untrained_gpt() -> GPT:
    """The model before training."""
    sizes = Config(
        vocab_size=len(vocabulary()),
        num_layers=2,
        num_heads=4,
        num_kv_heads=2,
        d=96,
        d_ff=256,
    )
    return GPT(sizes)


def load_gpt() -> GPT:
    """The model as `python -m snippets.together.train` stored it."""
    model = untrained_gpt().requires_grad_(False)
    content = bytearray(stored("weights.fp16"))
    weights = torch.frombuffer(content, dtype=torch.float16)
    vector_to_parameters(weights.float(), model.parameters())
    return model


# --8<-- [end:load]


# --8<-- [start:write]
def write_text(
    start: str, *, count: int, seed: int = 0, temperature: float = 0.7
) -> str:
    """`count` characters more, in double precision."""
    tokens = encode(start).unsqueeze(0)  # (1, n)
    more = (
        load_gpt()
        .double()
        .generate(
            tokens,
            count=count,
            temperature=temperature,
            generator=torch.Generator().manual_seed(seed),
        )
    )
    return decode(more[0])


# --8<-- [end:write]
