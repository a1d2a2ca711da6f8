"""The five steps in numbers, and the graph of a whole layer of self-attention."""

import torch

from derivations.kernel.site.diagrams import Picture, below, beside, heat_map, number, operations
from derivations.kernel.site.figure_widgets import Played, played
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.attention.formula import AttentionSteps, attention_steps, attention_weights, scores
from snippets.seeing.atlas import stored_head

VALUES = torch.tensor([[10.0], [20], [30]])


def _example() -> AttentionSteps:
    """Two queries and three keys, as in the example of the page; the first query may not see the third key."""
    query, key = torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 0]]), torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 3, 0, 0]])
    mask = torch.tensor([[0, 0, -torch.inf], [0, 0, 0]])
    return attention_steps(query, key, VALUES, attn_mask=mask)


def steps() -> Picture:
    found = _example()
    names = "1. products", "2. scaled", "3. masked", "4. weights", "5. output"
    maps = []
    for name, step, said in zip(names, found, found._fields):
        rows = [[round(x, 2) for x in row] for row in step.tolist()]
        maps.append(
            heat_map(
                rows,
                digits=0 if all(x.is_integer() for row in rows for x in row if abs(x) < torch.inf) else 2,
                most={"weights": 1, "output": 30}.get(said, 6),
                title=name,
                description="; ".join(f"query {i}: " + ", ".join(map(str, row)) for i, row in enumerate(rows, 1)) + ".",
            )
        )
    title = "The five steps for two queries, the rows, and three keys, the columns"
    return below(beside(*maps[:2], title="Queries meet keys"), beside(*maps[2:4], title="From scores to weights"), maps[4], title=title)


def block() -> Picture:
    return operations(
        {
            "X": ("$X$", 1, 0, "$n × d$"),
            "to Q": ("times $W_Q$", 0, 1),
            "to K": ("times $W_K$", 1, 1),
            "to V": ("times $W_V$", 2, 1),
            "Q": ("$Q$", 0, 2, "$n × d_k$"),
            "K": ("$K$", 1, 2, "$n × d_k$"),
            "V": ("$V$", 2, 2, "$n × d_v$"),
            "dot": ("matrix product", 0.5, 3),
            "scale": ("scale", 0.5, 4),
            "mask": ("mask", 0.5, 5),
            "M": ("$M$", -0.4, 5, "$n × n$"),
            "softmax": ("softmax", 0.5, 6),
            "mix": ("matrix product", 1, 7),
            "last": ("times $W_O$", 1, 8),
            "Y": ("$Y$", 1, 9, "$n × d$"),
        },
        [
            ("X", "to Q"),
            ("X", "to K"),
            ("X", "to V"),
            ("to Q", "Q"),
            ("to K", "K"),
            ("to V", "V"),
            ("Q", "dot"),
            ("K", "dot"),
            ("dot", "scale", "products, $n × n$"),
            ("scale", "mask"),
            ("M", "mask"),
            ("mask", "softmax", "scores"),
            ("softmax", "mix", "weights, $n × n$"),
            ("V", "mix"),
            ("mix", "last", "$n × d_v$"),
            ("last", "Y"),
        ],
        title="A layer of self-attention, from its input to its output",
        description="The input X, n by d, is multiplied by three matrices, which gives the queries and keys, n by d_k, and the values, n by "
        "d_v. Queries and keys are multiplied to n by n products. These are scaled and masked, which makes scores, and softmax turns scores "
        "into weights. "
        "The weights are multiplied with the values, and the result with W_O, which gives the output Y, n by d.",
    )


def sentence() -> Picture:
    head = stored_head()
    query = head.tokens.index("it")
    rows = {
        "product": scores(head.query, head.key, scale=1.0)[query],
        "score": scores(head.query, head.key)[query],
        "weight": attention_weights(head.query, head.key)[query],
    }
    largest = rows["weight"].argmax().item()
    return token_columns(
        head.tokens,
        [Column(name, values.tolist()) for name, values in rows.items()],
        title="The query of the word “it”, in one head of a trained model",
        description=f"For each token: the dot product of its key with the query of “it”, the score, and the weight. The largest product, "
        f"{rows['product'][largest]:.2f}, is with {head.tokens[largest]}; its score is {rows['score'][largest]:.2f} and its weight "
        f"{rows['weight'][largest]:.2f}.",
        query=query,
    )


def symbols() -> Played:
    """The first query of the example: what each part of the formula makes of its numbers."""
    found = _example()
    rows = [step[0].tolist() for step in found[:4]] + [(found.weights[0] * VALUES[:, 0]).tolist()]
    names = ["products", "scaled", "masked", "weights", "weights times values"]
    said = "; ".join(f"{name}: " + ", ".join(number(x, 1) for x in row) for name, row in zip(names, rows))
    picture = heat_map(
        rows,
        rows=names,
        columns=["1", "2", "3"],
        across="key",
        digits=1,
        title="The numbers of the first query, step by step",
        description=f"{said}. The last three add up to the output, {found.output[0, 0]:.0f}.",
    )
    return played(
        picture,
        claim="formula",
        code="attention_steps",
        steps=list(found._fields),
        letters=[["Q", "K"], ["dk"], ["M"], ["softmax"], ["V"]],
        names=names,
        rows=[[x if x > -torch.inf else number(x) for x in row] for row in rows],
        says=[
            "Q and K: the dot product of the query with each key",
            "The root of d_k: divide by 2",
            "M: the third key is hidden",
            "softmax: weights that sum to 1",
            f"V: weights times values; together the output, {found.output[0, 0]:.0f}",
        ],
    )
