"""A picture of the best number of parts."""

from derivations.kernel.site.diagrams import Picture, curves
from snippets.io.split import sequential_steps as steps_of

KEYS = 65536
PARTS = [2**k for k in range(4, 13)]  # 16 to 4096


def steps() -> Picture:
    walk = [KEYS / parts for parts in PARTS]
    both = [steps_of(KEYS, parts) for parts in PARTS]
    least = min(both)
    return curves(
        [("both", PARTS, both), ("keys of a part", PARTS, walk), ("merge", PARTS, PARTS)],
        across="parts",
        up="steps",
        log="xy",
        title=f"Steps for {KEYS:,} keys: a worker for each part, then a merge in sequence",
        description="With more parts, each part has fewer keys and the merge takes longer. The sum is smallest, "
        f"{least} steps, at {PARTS[both.index(least)]} parts.",
    )
