"""Test that every keyword of a public function has an effect: no number and no switch is accepted and then ignored."""

import inspect
import math
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import pytest
import torch

from snippets.together.gpt import Config
from tests.snippets.input_rows import Row, Seeded, T
from tests.snippets.test_public import in_form, modules, public, rows, run, tensors

CONFIG = Config(vocab_size=11, num_layers=1, num_heads=2, num_kv_heads=1, d=8, d_ff=8)
HEADS = T(2, 4, 5, 3), T(2, 2, 5, 3), T(2, 2, 5, 3)  # four heads of queries, two of keys and values
LONG = T(2, 5, 64), T(5, kind="position")
KEEP = T(2, 5), torch.tensor([True, False, True, True, False])

# Further rows, where those of rows/ are too small for a keyword to have an effect.
MORE = {
    "attention": [Row(*HEADS, enable_gqa=True), Row(*HEADS[:1] * 3)],
    "filled_weights": [Row(*KEEP, constant=-1.0)],
    "added_weights": [Row(*KEEP, constant=-1.0)],
    "rolling_attention": [Row(*HEADS, window=3, enable_gqa=True)],
    "yarn_frequencies_by_pair": [Row(64, s=40.0, trained=4096)],
    "apply_yarn": [Row(*LONG, s=40.0, trained=4096)],
    "GPT.generate": [Row(T(2, 3, kind="whole"), count=9, of=Row(CONFIG), generator=Seeded())],
}
# Keywords that say how a result is computed, but not what it is.
SAME_RESULT = {
    "backward_in_blocks": {"block_size"},
    "attention_in_blocks": {"block_size"},
    "prefill_in_chunks": {"size"},
    "plain_attention": {"block_size"},
    "square_product": {"side"},
    "square_attention": {"side"},
    "flash_attention": {"block_size"},
    "flash_tile": {"block_size"},
    "skipping_attention": {"block_size"},
    "attention_in_parts": {"parts", "size"},
    "decode_by_workers": {"workers"},
    "decode_by_size": {"size"},
    "sum_in_parts": {"parts", "size"},
    "chunked_delta_rule": {"chunk"},
    "chunked_linear_attention": {"chunk"},
    "attention_reach": {"d"},  # the features are independent
    "Sites.rounded": {"count"},  # it is noted
    "GPT.generate": {"use_cache"},
}
# Keywords without effect in the other state of a switch: name of the function, keyword, switch.
TURNED_OFF = {
    ("flash_tile", "first", "is_causal"),
    ("apply_yarn", "truncate", "by_pair"),
}


def kinds(annotation) -> tuple:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def others(annotation, value) -> list:
    """Return other values for a number or a switch: slightly larger and slightly smaller ones."""
    of = kinds(annotation)
    if bool in of:
        return [not value]
    if not {int, float} & set(of):
        return []
    if value is None:
        return [0.7] if float in of else [1, 7]
    if int in of and not isinstance(value, float):
        return [value + 1, value - 1, 2 * value]
    return [0.75 * value + 0.125, 1.25 * value + 0.125, 0.5]


def options(function) -> dict:
    """Return the keyword-only parameters that are numbers or switches, with their annotations."""
    hints = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    return {p.name: hints[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY and {int, float, bool} & set(kinds(hints[p.name]))}


def rows_of(topic: str, name: str) -> list:
    return rows().get(topic, {}).get(name, []) + MORE.get(name, [])


def settings() -> list:
    """Return (topic, name, keyword, switch): a switch in its other state, or None."""
    found = []
    for topic, name in in_form():
        named = options(public(modules()[topic])[name]) if rows_of(topic, name) else {}
        switches = [None, *(keyword for keyword, hint in named.items() if bool in kinds(hint))]
        found += [(topic, name, keyword, switch) for keyword in named for switch in switches if switch != keyword]
    return found


def outcome(function, row, changed: dict):
    """Return the results of a call with other keywords, or its error."""
    args, kwargs = row.make(torch.float64, "cpu")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        try:
            result = run(function, row, args, kwargs | changed, checked=False)
        except (RuntimeError, ValueError, TypeError, IndexError, ZeroDivisionError) as error:
            return error
    return tensors(result) or result


def same(one, other) -> bool:
    """Return whether two outcomes are equal, up to rounding."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        return repr(one) == repr(other)
    if isinstance(one, float):
        return math.isclose(one, other)
    if not tensors(one):
        return one == other
    pairs = list(zip(one, other, strict=True))
    return all(a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-9, atol=1e-12, equal_nan=True) for a, b in pairs)


def has_effect(where: tuple) -> bool:
    topic, name, keyword, switch = where
    function = public(modules()[topic])[name]
    for row in rows_of(topic, name):
        now = {p.name: p.default for p in inspect.signature(function).parameters.values()} | row.kwargs
        turned = {} if switch is None else {switch: not now[switch]}
        base = outcome(function, row, turned)
        if isinstance(base, Exception):
            continue
        values = others(options(function)[keyword], now[keyword])
        if not all(same(outcome(function, row, turned | {keyword: value}), base) for value in values):
            return True
    return False


@pytest.mark.parametrize("where", settings(), ids=lambda where: "-".join(map(str, where)))
def test_keyword_changes_the_result(where):
    _, name, keyword, switch = where
    listed = keyword in SAME_RESULT.get(name, ()) or (name, keyword, switch) in TURNED_OFF
    assert has_effect(where) != listed
