"""Trains the small GPT on the site's own text, and writes what the page shows.

`python -m snippets.together.train` takes some minutes on two cores. With
`--check` behind it, it writes nothing, and compares with the stored files.

text.txt is the prose of the site's pages as `prose_of` gives it, in the order
of their paths, without the bibliography, the list of sources and the pages for
contributors. It was made once, and stays as it is when a page changes.
"""

import json
import re
import sys
from hashlib import sha256

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector

from snippets.together.gpt import GPT
from snippets.together.text import (
    FOLDER,
    LENGTH,
    encode,
    held_out_loss,
    parts,
    stored,
)
from snippets.together.trained import load_gpt, untrained_gpt

SEED, STEPS, BATCH, RATE, EVERY = 0, 1600, 16, 4e-3, 50
# How far losses may be from the stored ones. Rounding differs elsewhere, and
# what it does grows: the first losses agree, and those on held-out text at all
# steps stay close.
FIRST, AT_FIRST, LATER = 100, 1e-3, 0.03


def prose_of(page: str) -> str:
    """A page in Markdown without front matter, blocks and code.

    Each paragraph is one line.
    """
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    fenced = re.compile(r"^(```|///).*?^\1", re.DOTALL | re.MULTILINE)
    page = fenced.sub("", page)
    page = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", page)  # of a link, its text
    page = page.replace(r"\operatorname", "")
    marks = r"^(#+|\|.*|-|:::.*) *|[$*`\\{}]|<[^>]*>"
    page = re.sub(marks, "", page, flags=re.MULTILINE)
    paragraphs = (" ".join(part.split()) for part in page.split("\n\n"))
    prose = "".join(f"{part}\n" for part in paragraphs if part)
    return prose.encode("ascii", "ignore").decode()


# --8<-- [start:train]
def train_gpt(
    *, steps: int = STEPS, seed: int = SEED
) -> tuple[GPT, list[float], dict[int, float]]:
    """The model after so many steps of AdamW.

    Beside it the loss of each step, and of some steps on held-out text.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = untrained_gpt()
    tokens = encode(parts()[0])  # (n)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), RATE, betas=(0.9, 0.99), weight_decay=0.1
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, STEPS, pct_start=0.1, cycle_momentum=False
    )
    losses, held_out = [], {0: held_out_loss(model)}
    for step in range(1, steps + 1):
        most = len(tokens) - LENGTH
        start = torch.randint(most, (BATCH, 1), generator=generator)
        block = tokens[start + torch.arange(LENGTH + 1)]  # (batch, LENGTH + 1)
        logits, _ = model(block[:, :-1])  # (batch, LENGTH, vocab_size)
        loss = cross_entropy(logits.flatten(0, 1), block[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % EVERY == 0:
            held_out[step] = held_out_loss(model)
    return model.requires_grad_(False), losses, held_out


# --8<-- [end:train]


def _write(model: GPT, losses: list[float], held_out: dict[int, float]) -> None:
    """Weights in half precision, the curve, and the digests of all files."""
    weights = parameters_to_vector(model.parameters()).half()
    training = [round(loss, 6) for loss in losses]
    curve = {"training": training, "held out": held_out}
    (FOLDER / "weights.fp16").write_bytes(
        bytes(weights.view(torch.uint8).tolist())
    )
    (FOLDER / "curve.json").write_text(json.dumps(curve), encoding="utf-8")
    digests = "".join(
        f'    "{name}": "{sha256((FOLDER / name).read_bytes()).hexdigest()}",\n'
        for name in ("curve.json", "text.txt", "weights.fp16")
    )
    head = '"""Written by train.py: the digests of the files beside it."""'
    (FOLDER / "stored.py").write_text(
        f"{head}\n\nDIGESTS = {{\n{digests}}}\n", encoding="utf-8"
    )


def _apart(losses: list[float], stored_losses: list[float]) -> float:
    """The largest difference; infinite where there are more of one."""
    if len(losses) != len(stored_losses):
        return float("inf")
    return max(abs(a - b) for a, b in zip(losses, stored_losses))


def _differ(
    model: GPT, losses: list[float], held_out: dict[int, float]
) -> bool:
    """Print how a run differs from the stored one; True if it is another."""
    curve, kept = json.loads(stored("curve.json")), load_gpt()
    early = _apart(losses[:FIRST], curve["training"][:FIRST])
    same_steps = [str(step) for step in held_out] == list(curve["held out"])
    ends = [held_out_loss(model)], [held_out_loss(kept)]
    later = _apart(list(held_out.values()), list(curve["held out"].values()))
    end = _apart(*ends)
    pairs = zip(model.parameters(), kept.parameters())
    gap = max((a.half() - b.half()).abs().max().item() for a, b in pairs)
    print(
        f"held-out loss {ends[0][0]:.4f}, stored {ends[1][0]:.4f}; "
        f"on the way it differs by {later:.1e} at most, "
        f"the first {FIRST} losses in training by {early:.1e}, "
        f"parameters by {gap:.1e}"
    )
    close = early <= AT_FIRST and max(later, end) <= LATER
    return not (close and same_steps and len(losses) == len(curve["training"]))


def _main(check: bool) -> int:
    """Train, then write the files, or compare: 1 if they differ."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model, losses, held_out = train_gpt()
    if check:
        return int(_differ(model, losses, held_out))
    _write(model, losses, held_out)
    return 0


if __name__ == "__main__":
    sys.exit(_main("--check" in sys.argv))
