"""The files of a new topic, with placeholders such as `{topic}`."""

FILES = {
    "derivations/{topic}.py": '''"""{title}: what is proved here, in a sentence."""

# What a script can state, with recipes: docs/contributing/language.md, the page "The claim language".
from derivations.kernel import Derivation, matrix, sizes

n, d = sizes("n d")
A, B = matrix("A", n, d), matrix("B", n, d)

derivation = Derivation("{title}")

derivation.chain(
    "sum-transposed",
    (A + B).T,
    (A.T + B.T, "a transpose is taken entry by entry"),
    code=[("snippets.{chapter}.{name}.transposed_{name}", A, B)],  # what the page shows computes this
    title="The transpose of a sum",
)
derivation.identity("twice", (A + A).T, 2 * A.T, "both summands are the same", title="Twice a matrix")

if __name__ == "__main__":
    derivation.main()
''',
    "snippets/{topic}.py": '''"""{title}, in PyTorch.

--8<-- [start:example]
>>> import torch
>>> a, b = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])
>>> transposed_{name}(a, b).tolist()
[[4.0], [6.0]]

--8<-- [end:example]

--8<-- [start:example-twice]
>>> import torch
>>> a = torch.tensor([[1.0, 2.0]])
>>> torch.equal(transposed_{name}(a, a), 2 * a.mT)
True

--8<-- [end:example-twice]
"""

from jaxtyping import Float
from torch import Tensor


# --8<-- [start:transposed_{name}]
def transposed_{name}(
    a: Float[Tensor, "*batch n d"],
    b: Float[Tensor, "*batch n d"],
) -> Float[Tensor, "*batch d n"]:
    """The transpose of a sum."""
    return (a + b).mT


# --8<-- [end:transposed_{name}]
''',
    "tests/{chapter}/test_{name}.py": """import torch

from snippets.{chapter}.{name} import transposed_{name}


def test_transposed_{name}():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 3, 4, generator=generator, dtype=torch.float64)  # (batch, n, d) each
    torch.testing.assert_close(transposed_{name}(a, b), a.mT + b.mT)
""",
    "docs/{topic}.md": """---
kind: deeper
---

# {title}

The result in one sentence, in plain words.

/// theorem | {topic}#sum-transposed
///

An example with numbers, and a reader's reason to want the result. Then: why it holds, and what goes wrong where its assumptions fail.

/// figure | {topic}:result
The caption, in one sentence.
///

/// practice
Advice that follows from the result, in a few sentences.
///

/// details | Code

```python
--8<-- "snippets/{topic}.py:transposed_{name}"
```

```pycon
--8<-- "snippets/{topic}.py:example"
```
///

/// exercise | What it asks for
A question that a reader can answer from this page.

//// solution
The answer, and why.
////
///

/// exercise | A claim to find
Add a matrix to itself and transpose.

//// solution
///// claim | {topic}#twice
/////
////
///

/// exercise | In code
The same, in PyTorch.

//// solution
```pycon
--8<-- "snippets/{topic}.py:example-twice"
```

////
///

{next}Sources.
""",
    "docs/figures/{topic}.py": '''"""Pictures of {topic}."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from snippets.{chapter}.{name} import transposed_{name}


def result() -> Picture:
    a, b = torch.randn(2, 2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return heat_map(
        transposed_{name}(a, b).tolist(),
        digits=1,
        title="The transpose of a sum",
        description="What the picture shows, for a reader who cannot see it.",
    )
''',
}


def fill(text: str, values: dict[str, str]) -> str:
    """Return a template with its placeholders replaced."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text
