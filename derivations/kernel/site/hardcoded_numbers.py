"""What is typed by hand where a reader expects a result: the numbers of a picture, and what mkdocs.yml says to readers.

A picture shows numbers as results. They come from snippets, or from PyTorch; typed ones may be shown where they are what goes in: where
the same name is given to a function of the snippets or of PyTorch. Titles in the navigation, and the site's name and description, are
prose, and are read as prose is.
"""

import ast
from collections.abc import Iterator

import yaml

from ..printing.relation_signs import fault_of_text
from ..snippet_source import Snippet

DRAWING = "derivations.kernel.site.diagrams"
SHOWN = {"heat_map": "values", "mask": "kept", "tokens": "weights", "bars": "rows", "curves": "drawn"}  # what holds the numbers
MAKES = ("tensor", "as_tensor", "Tensor", "FloatTensor", "DoubleTensor", "array", "list", "tuple", "float", "Fraction")  # of typed numbers
HANDS_ON = ("double", "float", "half", "to", "tolist", "numpy", "clone", "item", "mT", "T", "view", "reshape", "unsqueeze", "squeeze")
# What gives back the numbers that it is given, but for their signs or their last digits, or lays them out anew: PyTorch's and Python's.
LEAVES = [
    "relu",
    "abs",
    "absolute",
    "round",
    "clamp",
    "clip",
    "clamp_min",
    "clamp_max",
    "nan_to_num",
    "positive",
    "neg",
    "contiguous",
    "detach",
    "cpu",
    "type",
    "bool",
    "int",
    "long",
    "flatten",
    "ravel",
    "permute",
    "transpose",
    "t",
    "flip",
    "stack",
    "cat",
    "sorted",
    "reversed",
]
MODULES = ("", "torch", "F", "functional", "nn.functional", "torch.nn.functional", "math", "np", "numpy")  # whose functions LEAVES are
READS = ("loads", "literal_eval", "fromstring", "float", "int", "Fraction", "Decimal", "len", "ord")  # a text as numbers
COUNTS = ("numel", "is_tensor", "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like")  # what does not look at the numbers
TOLD = ("site_name", "site_description", "site_author", "copyright")  # in mkdocs.yml, beside the navigation
HANDS = frozenset([*MAKES, *LEAVES, *COUNTS, "manual_seed"])  # what computes nothing of the numbers that it is given
Said = tuple[int, str]  # a line, and what is wrong there


def in_figures(file: Snippet) -> Iterator[Said]:
    """Numbers that pictures in a file of figures show as results, and that stand there as they are. Raises SyntaxError."""
    drawing = {one.bound: one.origin.name for one in file.imports if one.origin.module == DRAWING}
    given = taken_in(file)
    for function in [node for node in file.definitions.values() if isinstance(node, ast.FunctionDef)]:
        known = values([*(node for node in file.tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))), function])
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and (kind := SHOWN.get(called(call.func, drawing))):
                shown = next((one.value for one in call.keywords if one.arg == kind), call.args[0] if call.args else None)
                if shown is not None and is_typed(results(shown, kind), known, given):
                    yield (
                        call.lineno,
                        f"{ast.unparse(call.func)} shows numbers that are typed here, as if they were results; compute them by a function of "
                        "the snippets, or give the same numbers, under a name, to one",
                    )


def called(function: ast.expr, drawing: dict[str, str]) -> str:
    """What draws, by its own name; "" where that is not known."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return drawing.get(function.id, "") if isinstance(function, ast.Name) else ""


def values(nodes: list[ast.AST]) -> dict[str, list[ast.expr]]:
    """What names are given by plain assignments."""
    found: dict[str, list[ast.expr]] = {}
    for node in [one for start in nodes for one in ast.walk(start)]:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
                pairs = list(zip(target.elts, node.value.elts))
            for one, value in pairs:
                if isinstance(one, ast.Name):
                    found.setdefault(one.id, []).append(value)
    return found


def taken_in(file: Snippet) -> set[str]:
    """The names that are given to what computes: a function of the snippets or of PyTorch, but for what only makes or hands on numbers."""
    ours = {one.bound for one in file.imports if one.origin.name and one.origin.module.startswith("snippets")}
    found = set()
    for call in file.nodes:
        if isinstance(call, ast.Call):
            root, _, last = ast.unparse(call.func).rpartition(".")
            if (root.partition(".")[0] or last) in ours or root.partition(".")[0] == "torch" and last not in HANDS:
                parts = [*call.args, *(one.value for one in call.keywords)]
                found |= {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}
    return found


def results(shown: ast.expr, kind: str) -> ast.expr:
    """Of what is shown the part that is a result: of a curve its heights, not the places that it is drawn at."""
    if kind == "drawn" and isinstance(shown, (ast.List, ast.Tuple)):
        drawn = [one.elts for one in shown.elts if isinstance(one, ast.Tuple)]
        starred = [part for parts in drawn for part in parts if isinstance(part, ast.Starred)]
        return ast.List([*starred, *(parts[2] for parts in drawn if len(parts) > 2 and not {*parts} & {*starred})], ast.Load())
    return shown


def is_typed(shown: ast.expr, known: dict[str, list[ast.expr]], given: set[str], depth: int = 20) -> bool:
    """Whether numbers stand there as they are, under a name or not, that nothing computed."""
    if not depth:
        return False

    def typed(one: ast.expr) -> bool:
        return is_typed(one, known, given, depth - 1)

    if isinstance(shown, ast.Constant):
        return isinstance(shown.value, (int, float))
    if isinstance(shown, ast.Name):
        return shown.id not in given and any(map(typed, known.get(shown.id, ())))
    if isinstance(shown, (ast.List, ast.Tuple, ast.Set)):
        return any(map(typed, shown.elts))
    if isinstance(shown, ast.Dict):
        return any(map(typed, shown.values))
    if isinstance(shown, ast.BinOp):
        return typed(shown.left) and typed(shown.right)
    if isinstance(shown, (ast.UnaryOp, ast.Starred, ast.Subscript)):
        return typed(shown.value if not isinstance(shown, ast.UnaryOp) else shown.operand)
    if isinstance(shown, ast.IfExp):
        return typed(shown.body) or typed(shown.orelse)
    if isinstance(shown, ast.Attribute):
        return shown.attr in HANDS_ON and typed(shown.value)
    if isinstance(shown, ast.Call):
        if isinstance(shown.func, ast.Attribute) and shown.func.attr in ("items", "values", *HANDS_ON, *LEAVES) and typed(shown.func.value):
            return True
        root, _, last = ast.unparse(shown.func).rpartition(".")
        passes = last in MAKES or last in LEAVES and root in MODULES
        return passes and any(map(typed, shown.args[:1])) or last in READS and any(map(is_text, shown.args))
    if isinstance(shown, (ast.ListComp, ast.GeneratorExp)):  # rows that are taken from a list of typed ones
        taken = {one.id for loop in shown.generators if typed(loop.iter) for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        return any(isinstance(one, ast.Name) and one.id in taken for one in parts_of(shown.elt)) and not computed(shown.elt)
    return False


def is_text(one: ast.expr) -> bool:
    """Is it a text that is written out, be it by a product of one?"""
    return all(isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.operator)) for node in ast.walk(one)) and any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) for node in ast.walk(one)
    )


def parts_of(shown: ast.expr) -> list[ast.expr]:
    return list(shown.elts) if isinstance(shown, (ast.Tuple, ast.List)) else [shown]


def computed(shown: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(shown))


def in_settings(text: str) -> Iterator[Said]:
    """Relations in what mkdocs.yml says to readers: the titles in its navigation, the site's name and its description."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        told = titles(value) if key.value == "nav" else [value] if key.value in TOLD else []
        for one in told:
            if isinstance(one, yaml.ScalarNode) and (fault := fault_of_text(one.value)):
                yield one.start_mark.line + 1, f"{one.value!r} {fault}; say it in words"


def titles(node: yaml.Node) -> Iterator[yaml.Node]:
    """The titles in a navigation: whatever stands there before a colon."""
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from titles(one)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield from titles(value)
