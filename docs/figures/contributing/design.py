"""Pictures of the design that figures follow."""

from derivations.kernel.site.diagrams import Picture, below, curves, heat_map, operations


def roles() -> Picture:
    names = {"Q": "query", "K": "key", "V": "value"}
    nodes: dict[str, tuple] = {letter: (f"${letter}$", place, 0, name) for place, (letter, name) in enumerate(names.items())}
    nodes |= {"step": ("attention", 1, 1), "O": ("$O$", 1, 2, "output")}
    return operations(
        nodes,
        [*((letter, "step") for letter in names), ("step", "O")],
        title="The colours of queries, keys, values and outputs",
        description="Q in blue, K in brown and V in green lead to attention, which leads to O in purple.",
    )


def marks() -> Picture:
    weights = [[0.6, 0.3, 0.1], [-0.2, 0.5, 0.0]]
    x = [k / 4 for k in range(9)]
    return below(
        heat_map(
            weights, marked=[(0, 0)], title="Cells", description="Positive numbers are blue, negative ones red, and one cell is framed."
        ),
        curves(
            [("first", x, [v / 2 for v in x]), ("second", x, [1 - v / 2 for v in x])],
            across="",
            up="",
            title="Curves",
            description="The first curve is solid and blue, the second dashed and red.",
        ),
        title="Cells and curves",
    )
