"""Find numbers in pictures that are typed by hand where a reader expects results, and relations in the texts of mkdocs.yml.

The numbers that a picture shows must be computed by snippets or by PyTorch. Typed numbers may be shown as inputs: under a name that is also
passed to a function of the snippets or of PyTorch. Titles in the navigation and the site's name and description follow the rules for prose.
"""

import ast
from collections.abc import Callable, Iterable, Iterator

import yaml

from ..printing.handwritten_relations import find_text_fault
from ..snippet_source import Snippet
from .example_rules import pair_names_with_values
from .findings import Fault

DIAGRAMS = "derivations.kernel.site.diagrams"
# The functions that draw, and the argument of each that holds the numbers.
SHOWN_ARGUMENTS = {"heat_map": "values", "mask": "kept", "tokens": "weights", "bars": "rows", "curves": "drawn"}
# Functions that turn typed numbers into a value.
CONSTRUCTORS = ("tensor", "as_tensor", "Tensor", "FloatTensor", "DoubleTensor", "array", "list", "tuple", "float", "Fraction")
# Attributes and methods whose results have the same numbers.
PRESERVING_ATTRIBUTES = tuple(
    ["double", "float", "half", "to", "tolist", "numpy", "clone", "item", "mT", "T", "view", "reshape", "unsqueeze", "squeeze"]
)
# Functions of PyTorch and Python that return the numbers they get, apart from sign, rounding, clipping and layout.
PRESERVING_FUNCTIONS = tuple(
    [
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
)
# The modules in which these functions are found.
PRESERVING_MODULES = ("", "torch", "F", "functional", "nn.functional", "torch.nn.functional", "math", "np", "numpy")
# Functions that read numbers from a text.
PARSERS = ("loads", "literal_eval", "fromstring", "float", "int", "Fraction", "Decimal", "len", "ord")
# Functions of PyTorch that do not look at the numbers.
SHAPE_FUNCTIONS = ("numel", "is_tensor", "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like")
NOT_COMPUTING = frozenset([*CONSTRUCTORS, *PRESERVING_FUNCTIONS, *SHAPE_FUNCTIONS, "manual_seed"])
SITE_TEXTS = ("site_name", "site_description", "site_author", "copyright")  # settings in mkdocs.yml that readers see


def find_typed_numbers(file: Snippet) -> Iterator[Fault]:
    """Yield a fault for each picture in a file of figures that shows typed numbers as results. Raise SyntaxError if it is not Python."""
    diagrams = {one.bound: one.origin.name for one in file.imports if one.origin.module == DIAGRAMS}
    inputs = find_input_names(file)
    for function in [node for node in file.definitions.values() if isinstance(node, ast.FunctionDef)]:
        module_level = (node for node in file.tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef)))
        assigned = find_assigned_values([*module_level, function])
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and (argument := SHOWN_ARGUMENTS.get(find_diagram(call.func, diagrams))):
                shown = next((one.value for one in call.keywords if one.arg == argument), call.args[0] if call.args else None)
                if shown is not None and is_typed(select_results(shown, argument), assigned, inputs):
                    yield (
                        call.lineno,
                        f"{ast.unparse(call.func)} shows numbers that are typed here, as if they were results; compute them with a function "
                        "of the snippets, or give them a name and pass that name to such a function too",
                    )


def find_diagram(function: ast.expr, diagrams: dict[str, str]) -> str:
    """Return the name of the function that a call draws with, or "" if it is not known. `diagrams` maps imported names to that name."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return diagrams.get(function.id, "") if isinstance(function, ast.Name) else ""


def find_assigned_values(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """Return the values that plain assignments in some nodes give to each name."""
    found: dict[str, list[ast.expr]] = {}
    for assignment in (node for start in nodes for node in ast.walk(start) if isinstance(node, ast.Assign)):
        for target in assignment.targets:
            for name, _, value in pair_names_with_values(target, assignment.value):
                if isinstance(value, ast.expr):
                    found.setdefault(name, []).append(value)
    return found


def find_input_names(file: Snippet) -> set[str]:
    """Return the names passed to functions of the snippets or of PyTorch that compute something from their arguments."""
    snippet_names = {one.bound for one in file.imports if one.origin.name and one.origin.module.startswith("snippets")}
    found = set()
    for call in file.nodes:
        if isinstance(call, ast.Call):
            root, _, last = ast.unparse(call.func).rpartition(".")
            package = root.partition(".")[0]
            if (package or last) in snippet_names or package == "torch" and last not in NOT_COMPUTING:
                arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
                found |= {node.id for argument in arguments for node in ast.walk(argument) if isinstance(node, ast.Name)}
    return found


def select_results(shown: ast.expr, argument: str) -> ast.expr:
    """Return the part of a drawn value that readers take for results: of curves only the heights, and otherwise all of it."""
    if argument == "drawn" and isinstance(shown, (ast.List, ast.Tuple)):
        curves = [one.elts for one in shown.elts if isinstance(one, ast.Tuple)]  # each is (label, places, heights)
        starred = [part for curve in curves for part in curve if isinstance(part, ast.Starred)]
        heights = [curve[2] for curve in curves if len(curve) > 2 and not {*curve} & {*starred}]
        return ast.List([*starred, *heights], ast.Load())
    return shown


def is_typed(shown: ast.expr, assigned: dict[str, list[ast.expr]], inputs: set[str], depth: int = 20) -> bool:
    """Return whether a value contains typed numbers, directly or through names, that no function computed.

    `assigned` are the values of names; names in `inputs` may hold typed numbers. `depth` limits how many names and nested expressions are
    followed."""
    if not depth:
        return False

    def typed(one: ast.expr) -> bool:
        return is_typed(one, assigned, inputs, depth - 1)

    if isinstance(shown, ast.Constant):
        return isinstance(shown.value, (int, float))
    if isinstance(shown, ast.Name):
        return shown.id not in inputs and any(map(typed, assigned.get(shown.id, ())))
    if isinstance(shown, (ast.List, ast.Tuple, ast.Set)):
        return any(map(typed, shown.elts))
    if isinstance(shown, ast.Dict):
        return any(map(typed, shown.values))
    if isinstance(shown, ast.BinOp):
        return typed(shown.left) and typed(shown.right)
    if isinstance(shown, (ast.UnaryOp, ast.Starred, ast.Subscript)):
        return typed(shown.operand if isinstance(shown, ast.UnaryOp) else shown.value)
    if isinstance(shown, ast.IfExp):
        return typed(shown.body) or typed(shown.orelse)
    if isinstance(shown, ast.Attribute):
        return shown.attr in PRESERVING_ATTRIBUTES and typed(shown.value)
    if isinstance(shown, ast.Call):
        return is_typed_call(shown, typed)
    if isinstance(shown, (ast.ListComp, ast.GeneratorExp)):  # rows that come unchanged from a typed list
        rows = {one.id for loop in shown.generators if typed(loop.iter) for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        return any(isinstance(one, ast.Name) and one.id in rows for one in list_elements(shown.elt)) and not contains_call(shown.elt)
    return False


def is_typed_call(call: ast.Call, typed: Callable[[ast.expr], bool]) -> bool:
    """Return whether a call returns typed numbers: it passes on typed ones, or reads numbers from a typed text."""
    methods = ("items", "values", *PRESERVING_ATTRIBUTES, *PRESERVING_FUNCTIONS)
    if isinstance(call.func, ast.Attribute) and call.func.attr in methods and typed(call.func.value):
        return True
    module, _, name = ast.unparse(call.func).rpartition(".")
    preserves = name in CONSTRUCTORS or name in PRESERVING_FUNCTIONS and module in PRESERVING_MODULES
    return preserves and any(map(typed, call.args[:1])) or name in PARSERS and any(map(is_literal_text, call.args))


def is_literal_text(expression: ast.expr) -> bool:
    """Return whether an expression is a string that is written out, or sums and products of such strings."""
    nodes = list(ast.walk(expression))
    literal = all(isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.operator)) for node in nodes)
    return literal and any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in nodes)


def list_elements(expression: ast.expr) -> list[ast.expr]:
    """Return the elements of a tuple or a list; the expression itself if it is neither."""
    return list(expression.elts) if isinstance(expression, (ast.Tuple, ast.List)) else [expression]


def contains_call(expression: ast.expr) -> bool:
    """Return whether an expression calls anything."""
    return any(isinstance(node, ast.Call) for node in ast.walk(expression))


def find_stated_relations(text: str) -> Iterator[Fault]:
    """Yield a fault for each relation in the texts of mkdocs.yml that readers see: navigation titles, the site's name and description."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        texts = find_titles(value) if key.value == "nav" else [value] if key.value in SITE_TEXTS else []
        for text_node in texts:
            if isinstance(text_node, yaml.ScalarNode) and (fault := find_text_fault(text_node.value)):
                yield text_node.start_mark.line + 1, f"{text_node.value!r} {fault}; say it in words"


def find_titles(node: yaml.Node) -> Iterator[yaml.Node]:
    """Yield the titles in a navigation, which are the keys of its mappings."""
    if isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from find_titles(entry)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield from find_titles(value)
