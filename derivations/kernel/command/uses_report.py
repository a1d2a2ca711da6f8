"""`python -m derivations uses`: report which recorded uses a proof could need, and which results nothing uses.

No witness reads a claim's uses: each proves the claim by itself. This report verifies that: the exact witness must prove each claim without
its uses. For a single use, the report looks for a side of the used claim in the claim:

- "not seen": no side of the used claim occurs, whatever its symbols are called. The proof cannot have used it.
- "passed over": a side occurs, but the claim is still proved with an unknown in its place, so its value is not needed.
- "occurs": a side occurs, and the claim is not proved with an unknown in its place, or an unknown cannot replace it.

Only "occurs" supports a use. The other two are hints for a reader, not errors: a use may name the idea of a step, or a question that the
claim answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import click

from ..attack.rebuild_trees import rebuild, unfold_definitions
from ..core import claims
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, strip_brackets, symbol, walk
from ..core.operators import AVERAGE_OPERATORS, BINDERS
from ..errors import KernelError, quantity
from ..exact.assumption_needs import is_proved_under
from ..script.loading import load_script
from ..store import certificates, project_files

OUTCOMES = ("occurs", "passed over", "not seen")
MAX_UNORDERED = 5  # sums and products with at most this many operands are matched in any order
Bound = dict[str, Expr]


@dataclass(frozen=True)
class Use:
    """A use of one claim by another, and whether the used claim occurs in it."""

    claim: str
    used: str
    outcome: str


def main(targets: list[tuple[str, Path]], as_json: bool) -> int:
    """Print the report on these topics. Return 1 if a claim is not proved without its uses, else 0.

    Raise ClickException if a script cannot be loaded or a used claim does not exist.
    """
    everything = [(topic, certificates.script_of(topic)) for topic in certificates.topics()]
    stated = load_claims(dict(everything) | dict(targets))
    topics = [topic for topic, _ in targets]
    using = [(id_, claim) for id_, claim in stated.items() if id_.partition("#")[0] in topics and claim.uses]
    unproved = [id_ for id_, claim in using if not is_proved_without_uses(claim)]
    uses = [use for id_, claim in using for use in find_uses(id_, claim, stated)]
    unused = unused_results(topics)
    if as_json:
        click.echo(json.dumps({"not proved alone": unproved, "uses": [vars(use) for use in uses], "unused": unused}, indent=1))
    else:
        print_report(len(using), unproved, uses, unused)
    return int(bool(unproved))


def load_claims(scripts: dict[str, Path]) -> dict[str, Claim]:
    """Return all claims that the scripts state, by topic and id. Raise ClickException if a script cannot be loaded."""
    found: dict[str, Claim] = {}
    for topic, script in scripts.items():
        if problem := load_script(script):
            raise click.ClickException(f"{script}:{problem.line}: {problem.message}")
        found |= {f"{topic}#{claim.id}": claim for claim in claims.LOADED[0].claims}
    return found


def is_proved_without_uses(claim: Claim) -> bool:
    """Return whether the claim is proved without its uses. Refutations and definitions need no proof."""
    return claim.kind in ("refutation", "definition") or is_proved(replace(claim, uses=()))


def is_proved(claim: Claim) -> bool:
    """Return whether the exact witness proves the claim."""
    try:
        return is_proved_under(claim, claim.given)
    except KernelError:
        return False


def find_uses(id_: str, claim: Claim, stated: dict[str, Claim]) -> Iterator[Use]:
    """Yield the uses of a claim. Raise ClickException if a used claim does not exist."""
    for name in claim.uses:
        used = name if "#" in name else f"{id_.partition('#')[0]}#{name}"
        if used not in stated:
            raise click.ClickException(f"{id_} uses {used!r}, and there is no such claim")
        yield Use(id_, used, classify_use(claim, stated[used]))


# One use -------------------------------------------------------------------------------------------------------------------------


def classify_use(claim: Claim, used: Claim) -> str:
    """Return one of OUTCOMES for a use of `used` by `claim`."""
    bare = map_trees(claim, lambda tree: strip_brackets(unfold_definitions(tree)))
    sides = [side for side in map(strip_brackets, map(unfold_definitions, (used.start, *(step.expr for step in used.steps)))) if side.args]
    parts = [node for node in subtrees(bare) if any(match_tree(side, node, {}) is not None for side in sides)]
    if not parts:
        return "not seen"
    unknown = replace_by_unknowns(bare, parts)
    return "passed over" if unknown and claim.kind != "refutation" and is_proved(unknown) else "occurs"


def subtrees(claim: Claim) -> list[Expr]:
    """Return all subtrees of the claim that have arguments."""
    return list(dict.fromkeys(node for tree in claim.trees for node in walk(tree) if node.args))


def map_trees(claim: Claim, change: Callable[[Expr], Expr]) -> Claim:
    """Return the claim with every tree changed, those of its assumptions too."""
    return replace(
        claim,
        start=change(claim.start),
        steps=tuple(replace(step, expr=change(step.expr)) for step in claim.steps),
        given=tuple(replace(assumption, args=tuple(map(change, assumption.args))) for assumption in claim.given),
        because=tuple(map(change, claim.because)),
        without=(),
        code=(),
    )


def replace_by_unknowns(claim: Claim, parts: list[Expr]) -> Claim | None:
    """Return the claim with a new symbol in place of each part, or None if a symbol cannot replace one of them."""
    if any(not can_be_unknown(part, claim) for part in parts):
        return None
    unknowns = {part: symbol(f"unknown{n}", "real", part.shape) for n, part in enumerate(parts)}
    try:
        return map_trees(claim, lambda tree: substitute(tree, unknowns))
    except KernelError:
        return None


def substitute(tree: Expr, replacements: dict[Expr, Expr]) -> Expr:
    """Return the tree with subtrees replaced, from the root down."""
    if tree in replacements:
        return replacements[tree]
    return rebuild(tree, tuple(substitute(node, replacements) for node in tree.args))


def can_be_unknown(part: Expr, claim: Claim) -> bool:
    """Return whether a symbol can replace the part.

    A symbol has one value everywhere, so the part must not be random, and must not depend on an index, on a variable of a derivative in the
    claim, or on the variable of its limit.
    """
    random = any(node.op == "symbol" and node.data[1] == "random" for node in walk(part))
    variables = {node.args[1] for tree in claim.trees for node in walk(tree) if node.op == "derivative"}
    variables |= {claim.towards[0]} if claim.towards else set()
    depends = any(node in variables for node in walk(part)) or any(node in variables for node in part.shape)
    return not (free_indices(part) or depends or random and part.op not in AVERAGE_OPERATORS)


# Pattern matching ----------------------------------------------------------------------------------------------------------------


def match_tree(form: Expr, tree: Expr, bound: Bound) -> Bound | None:
    """Match a tree against a form whose symbols may stand for any trees. Return the trees of the symbols, or None without a match.

    `bound` contains the trees of the symbols that are already known.
    """
    if form.op in ("symbol", "index"):
        return match_symbol(form, tree, bound)
    if form.op in ("add", "mul"):
        return match_in_any_order(form, tree, bound)
    if form.op != tree.op or len(form.args) != len(tree.args):
        return None
    if form.op not in BINDERS and form.data != tree.data:
        return None
    if form.op in BINDERS:
        inner = Expr("index", (), (), tree.data)
        found = match_tree(form.args[0], tree.args[0], bound | {form.data[0]: inner})
        return None if found is None else {name: value for name, value in found.items() if name != form.data[0]}
    return match_each(form.args, tree.args, bound)


def match_symbol(form: Expr, tree: Expr, bound: Bound) -> Bound | None:
    same = len(form.shape) == len(tree.shape) and bound.get(form.data[0], tree) == tree
    return bound | {form.data[0]: tree} if same and (form.op != "index" or tree.op in ("index", "const")) else None


def match_each(forms: tuple[Expr, ...], trees: tuple[Expr, ...], bound: Bound) -> Bound | None:
    for form, tree in zip(forms, trees):
        extended = match_tree(form, tree, bound)
        if extended is None:
            return None
        bound = extended
    return bound


def match_in_any_order(form: Expr, tree: Expr, bound: Bound) -> Bound | None:
    """Match the operands of a sum or product with some operands of another, in any order."""
    forms, trees = operands(form, form.op), operands(tree, form.op)
    if len(forms) > len(trees):
        return None
    orders = permutations(trees, len(forms)) if len(trees) <= MAX_UNORDERED else [tuple(trees[: len(forms)])]
    return next((found for order in orders if (found := match_each(tuple(forms), order, bound)) is not None), None)


def operands(tree: Expr, op: str) -> list[Expr]:
    """Return the operands of nested operations of one kind."""
    return [operand for argument in tree.args for operand in operands(argument, op)] if tree.op == op else [tree]


# Unused results ---------------------------------------------------------------------------------------------------------------


def unused_results(topics: list[str]) -> list[str]:
    """Return the results of these topics that no claim uses and that no page shows as a theorem."""
    from ..site import claim_graph

    graph = claim_graph.build_graph(project_files.ROOT / "docs", certificates.load, certificates.topics())
    return [node.id for node in graph.find_unused_results() if node.topic in topics]


def print_report(using: int, unproved: list[str], uses: list[Use], unused: list[str]) -> None:
    """Print the report: `using` is the number of claims with uses."""
    for id_ in unproved:
        click.secho(f"{id_}: not proved without its uses", fg="red", err=True)
    for use in (use for use in uses if use.outcome != "occurs"):
        click.echo(f"{use.outcome:12} {use.claim} uses {use.used}")
    for id_ in unused:
        click.echo(f"{'unused':12} {id_}")
    counts = Counter(use.outcome for use in uses)
    click.echo(
        f"{quantity(using, 'claim')} with uses, {using - len(unproved)} proved without; "
        f"{quantity(len(uses), 'use')}: {', '.join(f'{counts[outcome]} {outcome}' for outcome in OUTCOMES)}; "
        f"{quantity(len(unused), 'result')} that nothing uses and no page shows as a theorem"
    )
