"""Pictures of attention in blocks: two states merge, and a state grows key by key."""

from math import exp, nan

import torch

from derivations.kernel.site.diagrams import Picture, curves, operations
from derivations.kernel.site.figure_widgets import played
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.attention.formula import scores
from snippets.blocks.merge import attention_state, merge_states
from snippets.seeing.atlas import stored_head

SCORES, VALUES = [1, 0, 2, 1, 3, 0, 4, 2, 1, 0, 3, 5], [2, 5, 1, 4, 3, 7, 6, 0, 8, 2, 5, 9]


def graph() -> Picture:
    nodes = {
        "first": ("sums", 0, 0, "first block"),
        "a": ("reference", 1, 0, "first block"),
        "b": ("reference", 2, 0, "second block"),
        "second": ("sums", 3, 0, "second block"),
        "larger": ("the larger", 1.5, 1),
        "move": ("multiply", 0, 2),
        "factor": ("exp of the gap", 1, 2),
        "other": ("exp of the gap", 2, 2),
        "shift": ("multiply", 3, 2),
        "add": ("add", 0.5, 3),
        "sums": ("sums", 0.5, 4, "both blocks"),
        "c": ("reference", 1.5, 4, "both blocks"),
    }
    arrows = [
        ("first", "move"),
        ("second", "shift"),
        ("a", "larger"),
        ("b", "larger"),
        ("a", "factor"),
        ("b", "other"),
        ("larger", "factor"),
        ("larger", "other"),
        ("factor", "move"),
        ("other", "shift"),
        ("move", "add"),
        ("shift", "add"),
        ("add", "sums"),
        ("larger", "c"),
    ]
    picture = operations(
        nodes,
        arrows,
        title="How two states merge",
        description="The larger of the two references becomes the common one. The exponential of each reference minus the common one "
        "is a factor. Each block's sums are multiplied by its factor, and then added.",
    )
    return played(picture, scores=SCORES, values=VALUES, sizes=[1, 2, 3, 4], size=3)


def running() -> Picture:
    generator = torch.Generator().manual_seed(3)
    scores = 2 * torch.randn(32, generator=generator, dtype=torch.float64)
    keys = [attention_state(score[None], torch.ones(1, 1, dtype=torch.float64)) for score in scores]
    states = keys[:1]
    for one in keys[1:]:
        states.append(merge_states(states[-1], one))
    places = list(range(1, len(keys) + 1))
    largest = [kept.reference.item() for kept in states]
    log_sums = [(kept.reference + kept.total.log()).item() for kept in states]
    corners = sorted(places + places[1:])  # a step at each key: level up to it, then up
    steps = [largest[0]] + [level for level in largest[:-1] for _ in range(2)][1:] + [largest[-1]]
    jumps = sum(later > earlier for earlier, later in zip(largest, largest[1:]))
    return curves(
        [("log of the sum", places, log_sums), ("reference", corners, steps), ("score", places, scores.tolist(), True)],
        across="keys so far",
        up="score",
        title="A state that grows key by key",
        description=f"{len(keys)} scores arrive one by one. The reference, the largest so far, jumps {jumps} times, "
        f"from {largest[0]:.2f} to {largest[-1]:.2f}. The logarithm of the sum grows with every key "
        f"and ends at {log_sums[-1]:.2f}.",
    )


def sentence() -> Picture:
    head = stored_head()
    row = scores(head.query, head.key)[head.tokens.index("it")]
    blocks = [attention_state(block, head.value[2 * k : 2 * k + 2]) for k, block in enumerate(row.split(2))]
    states = blocks[:1]
    for block in blocks[1:]:
        states.append(merge_states(states[-1], block))
    references = [kept.reference.item() for kept in states]
    factors = [nan, *(exp(old - new) for old, new in zip(references, references[1:]))]  # the first block has nothing to merge with
    sums = [kept.total.item() for kept in states]
    return token_columns(
        [" ".join(head.tokens[2 * k : 2 * k + 2]) for k in range(len(blocks))],
        [
            Column("largest", [block.reference.item() for block in blocks], labels=True),
            Column("reference", references, labels=True),
            Column("factor", factors, labels=True),
            Column("sum", sums),
        ],
        title="The scores of the word “it”, two keys at a time",
        description="After each block of two keys, the largest score so far and the sum of the exponentials: "
        + "; ".join(f"{most:.2f} and {total:.2f}" for most, total in zip(references, sums))
        + f". The smallest factor is {min(factors[1:]):.2f}.",
    )
