"""`python -m derivations new CHAPTER/TOPIC`: the four files of a topic, which pass as made, and the page's place in the navigation."""

from __future__ import annotations

import re
from keyword import iskeyword

from ..run.certificates import ROOT

FILES = {
    "derivations/{topic}.py": '''"""{title}: what is proved here, in a sentence."""

# What a script may say, with recipes: the page "The claim language", docs/contributing/language.md.
from derivations.kernel import Derivation, matrix, sizes

n, d = sizes("n d")
A, B = matrix("A", n, d), matrix("B", n, d)

derivation = Derivation("{title}")

derivation.chain(
    "sum-transposed",
    (A + B).T,
    (A.T + B.T, "a transpose is taken entry by entry"),
    code=[("snippets.{chapter}.{name}.sum_transposed", A, B)],  # what the page shows computes this
    title="The transpose of a sum",
)

if __name__ == "__main__":
    derivation.main()
''',
    "snippets/{topic}.py": '''"""{title}, in PyTorch.

--8<-- [start:example]
>>> import torch
>>> sum_transposed(torch.tensor([[1, 2]]), torch.tensor([[3, 4]])).tolist()
[[4], [6]]

--8<-- [end:example]
"""

from torch import Tensor


# --8<-- [start:sum_transposed]
def sum_transposed(a: Tensor, b: Tensor) -> Tensor:
    """(A + B) transposed: (..., n, d) and (..., n, d) give (..., d, n)."""
    return (a + b).transpose(-2, -1)  # (..., d, n)


# --8<-- [end:sum_transposed]
''',
    "tests/{chapter}/test_{name}.py": """import torch

from snippets.{chapter}.{name} import sum_transposed


def test_sum_transposed():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 3, 4, generator=generator, dtype=torch.float64)  # (batch, n, d) each
    torch.testing.assert_close(sum_transposed(a, b), a.mT + b.mT)
""",
    "docs/{topic}.md": """# {title}

The result in one sentence, in plain words.

A reader's reason to want it, in two or three sentences.

/// theorem | {topic}#sum-transposed
///

What it says, why it holds, and what goes wrong where its assumptions do not hold.

## In code

```python
--8<-- "snippets/{topic}.py:sum_transposed"
```

```pycon
--8<-- "snippets/{topic}.py:example"
```

/// practice
What to do differently tomorrow.
///

/// exercise | What it asks for
A question that a reader can answer with what stands above.

//// solution
What it comes to, and why.
////
///

The next page, and sources.
""",
}


# What is left to whoever asked for a topic.
NEXT = """
Next: state your claims in derivations/{topic}.py; docs/contributing/language.md says how, derivations/simplify/bilinear.py is an example.
While you write: python -m derivations check --watch, and mkdocs serve beside it.
Before you commit: python -m derivations check --page {topic}, which also says what the page of a course still lacks.
"""
# Folders that hold something else than a chapter.
TAKEN = ("assets", "contributing", "figures", "kernel", "labs")


class ScaffoldError(Exception):
    """Why the files of a topic were not made."""


def create(topic: str) -> list:
    """Make the four files and the navigation entry; nothing is overwritten, and nothing is made if anything is in the way."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", topic) or topic.startswith(tuple(f"{name}/" for name in TAKEN)):
        raise ScaffoldError(
            f"'{topic}' is not CHAPTER/TOPIC: two names of lower-case letters, digits and underscores (taken: {', '.join(TAKEN)})"
        )
    chapter, name = topic.split("/")
    if iskeyword(chapter) or iskeyword(name):
        raise ScaffoldError(f"'{topic}' has a word of Python's in it, so it could not be imported; choose another")
    title = name.replace("_", " ").capitalize()
    fill = {"{topic}": topic, "{chapter}": chapter, "{name}": name, "{title}": title}
    made = {ROOT / filled(path, fill): filled(text, fill) for path, text in FILES.items()}
    package = ROOT / "snippets" / chapter / "__init__.py"
    taken = [p.relative_to(ROOT).as_posix() for p in made if p.exists()]
    if taken:
        raise ScaffoldError(f"{', '.join(taken)} exists already; nothing was made")
    if not package.exists():
        made[package] = ""
    navigation = with_page((ROOT / "mkdocs.yml").read_text(), chapter, topic, title)
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (ROOT / "mkdocs.yml").write_text(navigation)
    return [p.relative_to(ROOT).as_posix() for p in made] + ["mkdocs.yml"]


def next_steps(topic: str) -> str:
    """What to do with the files that were made, in three lines."""
    return filled(NEXT, {"{topic}": topic}).strip()


def filled(text: str, fill: dict) -> str:
    for mark, value in fill.items():
        text = text.replace(mark, value)
    return text


def with_page(config: str, chapter: str, topic: str, title: str) -> str:
    """mkdocs.yml with the page added: behind its chapter's last page, or in a new chapter before the trust page, or at the end of nav."""
    lines = config.splitlines()
    if "nav:" not in lines:
        raise ScaffoldError("mkdocs.yml has no 'nav:' to add the page to")
    start = lines.index("nav:")
    end = next((k for k in range(start + 1, len(lines)) if lines[k].strip() and not lines[k].startswith((" ", "#", "-"))), len(lines))
    inside = [k for k in range(start + 1, end) if re.search(rf"\b{chapter}/\w+\.md\s*$", lines[k])]
    if inside:
        indent = re.match(r" *", lines[inside[-1]]).group()
        return "\n".join(lines[: inside[-1] + 1] + [f"{indent}- {title}: {topic}.md"] + lines[inside[-1] + 1 :]) + "\n"
    while end > start and not lines[end - 1].strip():
        end -= 1
    place = next((k for k in range(start + 1, end) if re.match(r" {2}- (Trust|Labs):", lines[k])), end)
    chapter_title = chapter.replace("_", " ").capitalize()
    return "\n".join(lines[:place] + [f"  - {chapter_title}:", f"      - {title}: {topic}.md"] + lines[place:]) + "\n"
