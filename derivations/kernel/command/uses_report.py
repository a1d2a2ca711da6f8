"""`python -m derivations uses`: which recorded uses the kernel sees at work, and which results nothing rests on.

No witness reads what a claim uses: each proves the claim from itself alone. So what is asked first is answered yes by design, and asked all
the same: is each claim that uses others still proved by the exact witness with its uses taken away? What can be decided of a single use is
whether what it speaks of has a part in the claim:

- "not seen": no side of the used claim occurs in the claim, whatever its letters are called. The proof cannot have met it.
- "passed over": a side occurs, and the claim is proved as well with an unknown in its place. What is known of it is not needed.
- "occurs": a side occurs, and with an unknown in its place the claim is not proved, or no unknown can stand there.

Only "occurs" fits a use. The other two are for a reader to look at, and no fault: a use may name the idea of a step, or what a claim answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import click

from ..attack.rebuild_trees import rebuild, unfolded
from ..core import claims
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, strip, symbol, walk
from ..core.operators import AVERAGES, BINDERS
from ..errors import KernelError, quantity
from ..exact.assumption_needs import still_proved
from ..run import certificates, worker

OUTCOMES = ("occurs", "passed over", "not seen")
TRIES = 4  # terms, or factors, that are looked for in any order
Bound = dict[str, Expr]


@dataclass(frozen=True)
class Use:
    claim: str
    used: str
    outcome: str


def main(targets: list[tuple[str, Path]], as_json: bool) -> int:
    """Report the uses of the scripts given and, where these are all topics, the results that nothing uses. Raises ClickException."""
    everything = [(topic, certificates.script_of(topic)) for topic in certificates.topics()]
    stated = loaded(dict(everything) | dict(targets))
    asked = [topic for topic, _ in targets]
    using = [(id_, claim) for id_, claim in stated.items() if id_.partition("#")[0] in asked and claim.uses]
    alone = [id_ for id_, claim in using if not proved_alone(claim)]
    uses = [use for id_, claim in using for use in uses_of(id_, claim, stated)]
    idle = nothing_rests_on(asked)
    if as_json:
        click.echo(json.dumps({"not proved alone": alone, "uses": [vars(use) for use in uses], "nothing rests on": idle}, indent=1))
    else:
        tell(len(using), alone, uses, idle)
    return int(bool(alone))


def loaded(scripts: dict[str, Path]) -> dict[str, Claim]:
    """All claims that the scripts state, by topic and id."""
    found = {}
    for topic, script in scripts.items():
        if problem := worker.load_script(script):
            raise click.ClickException(f"{script}:{problem[0]}: {problem[1]}")
        found |= {f"{topic}#{claim.id}": claim for claim in claims.LOADED[0].claims}
    return found


def proved_alone(claim: Claim) -> bool:
    """Is it proved with its uses taken away? What is refuted has its counterexample, and a definition nothing to prove."""
    return claim.kind in ("refutation", "definition") or proved(replace(claim, uses=()))


def proved(claim: Claim) -> bool:
    try:
        return still_proved(claim, claim.given)
    except KernelError:
        return False


def uses_of(id_: str, claim: Claim, stated: dict[str, Claim]) -> Iterator[Use]:
    for name in claim.uses:
        used = name if "#" in name else f"{id_.partition('#')[0]}#{name}"
        if used not in stated:
            raise click.ClickException(f"{id_} uses {used!r}, and there is no such claim")
        yield Use(id_, used, outcome(claim, stated[used]))


# One use -------------------------------------------------------------------------------------------------------------------------


def outcome(claim: Claim, used: Claim) -> str:
    bare = changed(claim, lambda tree: strip(unfolded(tree)))
    sides = [side for side in map(strip, map(unfolded, (used.start, *(step.expr for step in used.steps)))) if side.args]
    parts = [node for node in within(bare) if any(matches(side, node, {}) is not None for side in sides)]
    if not parts:
        return "not seen"
    unknown = with_unknowns(bare, parts)
    return "passed over" if unknown and claim.kind != "refutation" and proved(unknown) else "occurs"


def within(claim: Claim) -> list[Expr]:
    return list(dict.fromkeys(node for tree in claim.trees for node in walk(tree) if node.args))


def changed(claim: Claim, change) -> Claim:
    """The claim with another tree for each of its trees, those of its assumptions too."""
    return replace(
        claim,
        start=change(claim.start),
        steps=tuple(replace(step, expr=change(step.expr)) for step in claim.steps),
        given=tuple(replace(one, args=tuple(map(change, one.args))) for one in claim.given),
        because=tuple(map(change, claim.because)),
        without=(),
        code=(),
    )


def with_unknowns(claim: Claim, parts: list[Expr]) -> Claim | None:
    """The claim with a letter of its own for each part, the largest first; None where a letter would say something else."""
    if any(not can_be_unknown(part, claim) for part in parts):
        return None
    letters = {part: symbol(f"unknown{n}", "real", part.shape) for n, part in enumerate(parts)}
    try:
        return changed(claim, lambda tree: put(tree, letters))
    except KernelError:
        return None


def put(tree: Expr, letters: dict[Expr, Expr]) -> Expr:
    """The tree with letters for parts, from the root down."""
    if tree in letters:
        return letters[tree]
    return rebuild(tree, tuple(put(node, letters) for node in tree.args))


def can_be_unknown(part: Expr, claim: Claim) -> bool:
    """A letter is a number or a tensor, the same everywhere: it is nothing random, and depends on no index, on nothing that the claim
    takes a derivative by, and on nothing that goes to a limit."""
    random = any(node.op == "symbol" and node.data[1] == "random" for node in walk(part))
    moving = {node.args[1] for tree in claim.trees for node in walk(tree) if node.op == "derivative"}
    moving |= {claim.towards[0]} if claim.towards else set()
    depends = any(node in moving for node in walk(part)) or any(node in moving for node in part.shape)
    return not (free_indices(part) or depends or random and part.op not in AVERAGES)


# Does a tree have the form of another? ------------------------------------------------------------------------------------------


def matches(form: Expr, tree: Expr, letters: Bound) -> Bound | None:
    """Which letters of the form stand for what, if the tree is the form with other things for its letters; else None."""
    if form.op in ("symbol", "index"):
        return letter(form, tree, letters)
    if form.op in ("add", "mul"):
        return in_any_order(form, tree, letters)
    if form.op != tree.op or len(form.args) != len(tree.args):
        return None
    if form.op not in BINDERS and form.data != tree.data:
        return None
    if form.op in BINDERS:
        found = matches(form.args[0], tree.args[0], letters | {form.data[0]: tree.bound_index})
        return None if found is None else {name: what for name, what in found.items() if name != form.data[0]}
    return each(form.args, tree.args, letters)


def letter(form: Expr, tree: Expr, letters: Bound) -> Bound | None:
    same = len(form.shape) == len(tree.shape) and letters.get(form.data[0], tree) == tree
    return letters | {form.data[0]: tree} if same and (form.op != "index" or tree.op in ("index", "const")) else None


def each(forms: tuple, trees: tuple, letters: Bound | None) -> Bound | None:
    for form, tree in zip(forms, trees):
        letters = matches(form, tree, letters)
        if letters is None:
            return None
    return letters


def in_any_order(form: Expr, tree: Expr, letters: Bound) -> Bound | None:
    """Terms of a sum, or factors of a product, in any order, and beside others."""
    forms, trees = operands(form, form.op), operands(tree, form.op)
    if len(forms) > len(trees):
        return None
    orders = permutations(trees, len(forms)) if len(trees) <= TRIES + 1 else [tuple(trees[: len(forms)])]
    return next((found for order in orders if (found := each(tuple(forms), order, letters)) is not None), None)


def operands(tree: Expr, op: str) -> list[Expr]:
    return [one for argument in tree.args for one in operands(argument, op)] if tree.op == op else [tree]


# What nothing rests on -----------------------------------------------------------------------------------------------------------


def nothing_rests_on(topics: list[str]) -> list[str]:
    """Results of these topics that no claim uses and that are no page's theorem, of all that stand on pages."""
    from ..site import claim_graph

    graph = claim_graph.resting(certificates.ROOT / "docs", certificates.load, certificates.topics())
    return [node.id for node in graph.idle() if node.topic in topics]


def tell(using: int, alone: list[str], uses: list[Use], idle: list[str]) -> None:
    for id_ in alone:
        click.secho(f"{id_}: not proved with its uses taken away", fg="red", err=True)
    for use in (one for one in uses if one.outcome != "occurs"):
        click.echo(f"{use.outcome:12} {use.claim} uses {use.used}")
    for id_ in idle:
        click.echo(f"{'nothing rests':12} {id_}")
    counts = Counter(use.outcome for use in uses)
    click.echo(
        f"{quantity(using, 'claim')} with uses, {using - len(alone)} proved without; "
        f"{quantity(len(uses), 'use')}: {', '.join(f'{counts[one]} {one}' for one in OUTCOMES)}; "
        f"{quantity(len(idle), 'result')} used by nothing, and no page's theorem"
    )
