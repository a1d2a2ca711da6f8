"""Trains the models that the pages show, and writes them to recall.json.

    python -m snippets.seeing.train            # about a minute on one core; writes the file
    `python -m snippets.seeing.train --check`   # trains again and compares with the file

Everything is drawn from seeded generators, in double precision, on one thread.
"""

import json
import re
import sys
from hashlib import sha256

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from snippets.seeing.recall import (
    KINDS,
    STORED,
    Recall,
    accuracy,
    draw_cases,
    restore,
)

DIGITS = 4  # of the parameters that are kept
TOLERANCE = 2 * 10**-DIGITS


# --8<-- [start:train]
SEED, STEPS, BATCH, RATE = 0, 2500, 128, 3e-3


def train(
    kind: str, steps: int, *, seed: int = SEED
) -> tuple[Recall, list[float]]:
    """A model of one kind after so many steps of Adam, and the loss at each step."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Recall(**KINDS[kind]).double()
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    losses = []
    for _ in range(steps):
        tokens, answers = draw_cases(BATCH, held_out=False, generator=generator)
        loss = cross_entropy(model(tokens), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.requires_grad_(False), losses


# --8<-- [end:train]


def _numbers(tensor: Tensor) -> list:
    return [
        _numbers(row) if row.dim() else round(row.item(), DIGITS)
        for row in tensor
    ]


def record(kind: str, *, steps: int = STEPS) -> dict:
    """What the file holds of one model: its parameters, rounded, and some of its losses."""
    model, losses = train(kind, steps)
    return {
        "losses": {
            str(step): loss
            for step, loss in enumerate(losses)
            if step % 100 == 99 or step < 30 and step % 7 == 0
        },
        "parameters": {
            name: _numbers(value) for name, value in model.state_dict().items()
        },
    }


def _furthest(one: dict, other: dict) -> float:
    """The largest difference between the parameters of two records."""
    pairs = (
        (
            torch.tensor(one["parameters"][name]),
            torch.tensor(other["parameters"][name]),
        )
        for name in one["parameters"] | other["parameters"]
    )
    return max((a - b).abs().max().item() for a, b in pairs)


def _share(kind: str, record: dict) -> float:
    """How often the model of a record is right, on questions that training asks."""
    cases = draw_cases(
        2_000,
        held_out=False,
        generator=torch.Generator().manual_seed(SEED + 1),
    )
    return accuracy(restore(record["parameters"], kind=kind), *cases)


def _write(records: dict[str, dict]) -> None:
    """The file, one line to each tensor, and its digest."""
    content = json.dumps(records, indent=1)
    content = re.sub(r"\n {4,}| *\n {3}(?=[]}])", "", content).encode()
    STORED.write_bytes(content)
    module = f'''"""Written by snippets/seeing/train.py: the digest of {STORED.name}."""

DIGEST = "{sha256(content).hexdigest()}"
'''
    STORED.with_name("stored.py").write_text(module, encoding="utf-8")


def _differ(records: dict[str, dict], stored: dict[str, dict]) -> bool:
    """Print how records differ from those of the file; True if one of two is right more often."""
    wrong = False
    for kind, made in records.items():
        gap, now, then = (
            _furthest(made, stored[kind]),
            _share(kind, made),
            _share(kind, stored[kind]),
        )
        same = (
            "the same numbers"
            if gap <= TOLERANCE
            else "other numbers, as elsewhere they may be"
        )
        print(
            f"{kind}: right in {now:.1%}, stored {then:.1%}; "
            f"parameters differ by {gap:.1e} at most: {same}"
        )
        wrong |= abs(now - then) > 0.03
    return wrong


def _main(check: bool) -> int:
    """Train every kind of model; write the file, or compare with it. 1 if the comparison fails."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    records = {kind: record(kind) for kind in KINDS}
    if check:
        return int(
            _differ(records, json.loads(STORED.read_text(encoding="utf-8")))
        )
    _write(records)
    return 0


if __name__ == "__main__":
    sys.exit(_main("--check" in sys.argv))
