"""Measure the code of this site against PyTorch's, that of transformers and naive code: `python tests/bench/attention.py`, some minutes.

Causal attention of some lengths, forward alone and with its backward pass: the time as a ratio to PyTorch's fastest, and the memory at its
peak. Then the tokens per second that decoders of one size write. All candidates take turns in rounds, and a ratio is the median of those of
the rounds, so another program's load affects all alike. The results are written to docs/figures/order/attention_speed.json, which the page
on costs draws; `--dry` only prints them.

`python tests/bench/attention.py cuda` measures on a GPU, with more tokens and in bf16, and writes attention_speed_gpu.json.
"""

import datetime
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is imported
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from snippets.attention.formula import attention
from snippets.io.flash import flash_attention
from snippets.together.decoder import Decoder, DecoderConfig
from snippets.together.gpt import GPT, Config

try:
    import transformers
    from transformers.models.llama.modeling_llama import eager_attention_forward
except ImportError:
    transformers = None
    print("NOT MEASURED, transformers: it is not installed, so nothing will be recorded; `make models` installs it", file=sys.stderr)

NUM_HEADS, D_K = 8, 64
ROUNDS = 7
SIZES = {"vocab_size": 256, "num_layers": 4, "num_heads": 4, "num_kv_heads": 4, "d": 128, "d_ff": 384}
PEER = "SDPA"  # the candidate that the others are compared with
PRODUCTS = ("aten::bmm", "aten::mm", "aten::baddbmm", "aten::addmm")

Run = Callable[[], object]


@dataclass(frozen=True)
class Setup:
    """Where attention is measured, at which lengths and in which format, and the file for the results."""

    device: str
    dtype: torch.dtype
    lengths: tuple[int, ...]
    reasons_at: int  # the length whose ratios are explained
    block_size: int
    counts: tuple[int, ...]  # of tokens that decoders write
    record: Path


FIGURES = ROOT / "docs/figures/order"
SETUPS = {
    "cpu": Setup("cpu", torch.float32, (256, 512, 1024, 2048, 4096), 2048, 128, (64, 128, 256, 512), FIGURES / "attention_speed.json"),
    "cuda": Setup("cuda", torch.bfloat16, (512, 1024, 2048, 4096, 8192, 16384), 4096, 512, (64, 128), FIGURES / "attention_speed_gpu.json"),
}


# Candidates -------------------------------------------------------------------------------------------------------------


def math_backend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with sdpa_kernel(SDPBackend.MATH):
        return scaled_dot_product_attention(q, k, v, is_causal=True)


def naive(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = q @ k.mT / q.shape[-1] ** 0.5 + mask  # (batch, head, n, n)
    return torch.softmax(scores, dim=-1) @ v


def eager(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    module = SimpleNamespace(num_key_value_groups=1, training=False)
    return eager_attention_forward(module, q, k, v, mask, q.shape[-1] ** -0.5)[0].transpose(1, 2)


def make_candidates(n: int, setup: Setup) -> dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]]:
    """Return causal attention as each candidate computes it, for (batch, head, n, d_k). Those that take a mask get one made in advance."""
    mask = torch.full((n, n), -torch.inf, dtype=setup.dtype, device=setup.device).triu(1)
    candidates = {
        PEER: partial(scaled_dot_product_attention, is_causal=True),
        "SDPA, math": math_backend,
        "formula": partial(attention, is_causal=True),
        "blocks": partial(flash_attention, block_size=setup.block_size, is_causal=True),
        "naive": partial(naive, mask=mask),
    }
    if transformers:
        candidates["transformers"] = partial(eager, mask=mask)
    return candidates


def forward(function: Callable, inputs: tuple[Tensor, ...]) -> None:
    with torch.no_grad():
        function(*inputs)


def forward_backward(function: Callable, inputs: tuple[Tensor, ...]) -> None:
    output = function(*inputs)
    torch.autograd.grad(output, inputs, torch.ones_like(output))


PASSES = {"forward": forward, "with backward": forward_backward}


# Measuring --------------------------------------------------------------------------------------------------------------


def wait_for_gpu() -> None:
    """Wait until the GPU has finished all that was started, if there is one."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(run: Run, repeats: int = 1) -> float:
    wait_for_gpu()
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    wait_for_gpu()
    return (time.perf_counter() - start) / repeats


def take_turns(runs: dict[str, Run], *, rounds: int, repeats: int = 1) -> dict[str, list[float]]:
    """Return the seconds of each run in each round. A round before them is not counted."""
    for run in runs.values():
        run()
    taken = [{name: seconds(run, repeats) for name, run in runs.items()} for _ in range(rounds)]
    return {name: [each[name] for each in taken] for name in runs}


def median_ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def profiled(run: Run, device: str, **options: bool) -> profile:
    activities = [ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * (device == "cuda")]
    with profile(activities=activities, **options) as found:
        run()
        wait_for_gpu()
    return found


def peak_bytes(run: Run, device: str = "cpu") -> int:
    """Return the most bytes that a run holds at once beyond its inputs, with what kernels allocate inside. It is the same in every run."""
    return peak_bytes_on_gpu(run) if device == "cuda" else peak_bytes_on_processor(run)


def peak_bytes_on_gpu(run: Run) -> int:
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    return torch.cuda.max_memory_allocated() - before


def peak_bytes_on_processor(run: Run) -> int:
    events = profiled(run, "cpu", profile_memory=True).profiler.kineto_results.events()
    held = most = 0
    for event in sorted((one for one in events if one.name() == "[memory]"), key=lambda one: one.start_ns()):
        held += event.nbytes()  # negative where memory is freed
        most = max(most, held)
    return most


def share_of_products(run: Run, device: str) -> float:
    """Return the share of a run's time that matrix products take, on a GPU of the time of its kernels."""
    times = profiled(run, device).key_averages()
    parts = {one.key: one.self_device_time_total if device == "cuda" else one.self_cpu_time_total for one in times if is_operation(one.key)}
    return sum(parts.get(name, 0) for name in PRODUCTS) / sum(parts.values())


def is_operation(name: str) -> bool:
    """Return whether a line of a profile is an operation of PyTorch. The lines of its kernels would count their time again."""
    return name.startswith("aten::")


class CountedCalls(TorchDispatchMode):
    """Counts the operations of PyTorch that run inside."""

    calls = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.calls += 1
        return operation(*args, **(kwargs or {}))


def calls_of(run: Run) -> int:
    with CountedCalls() as counted:
        run()
    return counted.calls


# Attention --------------------------------------------------------------------------------------------------------------


def measure_attention(setup: Setup, lengths: tuple[int, ...], rounds: int) -> dict:
    """Return, for each pass and candidate, by length: milliseconds, the ratio of its time to that of SDPA, and bytes."""
    results = {name: {} for name in PASSES}
    for n in lengths:
        inputs = make_inputs(n, setup)
        for passed, run_pass in PASSES.items():
            runs = {name: partial(run_pass, function, inputs) for name, function in make_candidates(n, setup).items()}
            taken = take_turns(runs, rounds=rounds, repeats=max(1, min(8, 2048 // n)))
            for name, run in runs.items():
                row = results[passed].setdefault(name, {"milliseconds": [], "ratio": [], "bytes": []})
                row["milliseconds"].append(round(1e3 * statistics.median(taken[name]), 3))
                row["ratio"].append(round(median_ratio(taken[name], taken[PEER]), 3))
                row["bytes"].append(peak_bytes(run, setup.device))
            print(
                f"{n} tokens, {passed}: " + ", ".join(f"{name} {row['ratio'][-1]:.2f}" for name, row in results[passed].items()), flush=True
            )
    return results


def make_inputs(n: int, setup: Setup) -> tuple[Tensor, ...]:
    """Return query, key and value (1, head, n, d_k), which need gradients."""
    tensors = torch.randn(3, 1, NUM_HEADS, n, D_K, generator=torch.Generator().manual_seed(n))
    return tuple(one.requires_grad_() for one in tensors.to(setup.device, setup.dtype))


def find_reasons(setup: Setup, n: int, rounds: int) -> dict:
    """Return what explains the ratios at one length: the share of products in the formula's time, and what a causal mask saves SDPA."""
    inputs = make_inputs(n, setup)
    with torch.no_grad():
        shares = [share_of_products(lambda: attention(*inputs, is_causal=True), setup.device) for _ in range(rounds)]
        runs = {causal: partial(scaled_dot_product_attention, *inputs, is_causal=causal) for causal in (True, False)}
        taken = take_turns(runs, rounds=rounds)
    share = statistics.median(shares)
    return {"tokens": n, "share of products": round(share, 3), "SDPA, causal to full": round(median_ratio(taken[True], taken[False]), 3)}


# Decoding ---------------------------------------------------------------------------------------------------------------


def make_writers(device: str) -> dict[str, Callable[[int], Tensor]]:
    """Return functions that write a number of tokens after the first one, with models of one size whose parameters are random."""
    torch.manual_seed(0)
    decoder, gpt = Decoder(DecoderConfig(**SIZES)).to(device), GPT(Config(**SIZES)).to(device)
    first = torch.zeros(1, 1, dtype=torch.long, device=device)
    writers = {
        "Decoder": lambda count: decoder.generate(first, count=count),
        "GPT": lambda count: gpt.generate(first, count=count),
        "GPT, no cache": lambda count: gpt.generate(first, count=count, use_cache=False),
    }
    if transformers:
        writers["transformers"] = partial(write_with_transformers, make_llama().to(device), first)
    return writers


def make_llama() -> torch.nn.Module:
    """Return a Llama of transformers with random parameters."""
    config = transformers.LlamaConfig(
        vocab_size=SIZES["vocab_size"],
        hidden_size=SIZES["d"],
        intermediate_size=SIZES["d_ff"],
        num_hidden_layers=SIZES["num_layers"],
        num_attention_heads=SIZES["num_heads"],
        num_key_value_heads=SIZES["num_kv_heads"],
        tie_word_embeddings=True,
        eos_token_id=None,
        pad_token_id=0,
        attn_implementation="sdpa",
    )
    return transformers.LlamaForCausalLM(config).eval()


def write_with_transformers(model: torch.nn.Module, first: Tensor, count: int) -> Tensor:
    return model.generate(first, attention_mask=torch.ones_like(first), max_new_tokens=count, do_sample=True, top_k=0)


def measure_decoding(device: str, counts: tuple[int, ...], rounds: int) -> dict:
    """Return, for each writer, by the number of tokens written: tokens per second, the ratio to those of Decoder, and calls per token.

    Calls are the operations of PyTorch that one more token takes.
    """
    writers = make_writers(device)
    results = {name: {"calls": calls_of(partial(write, 9)) - calls_of(partial(write, 8))} for name, write in writers.items()}
    results = {name: row | {"per second": [], "ratio": []} for name, row in results.items()}
    for count in counts:
        runs = {name: partial(write, count) for name, write in writers.items()}
        taken = take_turns(runs, rounds=rounds, repeats=max(1, min(4, 256 // count)))
        for name in writers:
            row = results[name]
            row["per second"].append(round(count / statistics.median(taken[name]), 1))
            row["ratio"].append(round(median_ratio(taken["Decoder"], taken[name]), 3))
        print(
            f"{count} tokens written: " + ", ".join(f"{name} {row['per second'][-1]:.0f} a second" for name, row in results.items()),
            flush=True,
        )
    return results


# The record -------------------------------------------------------------------------------------------------------------


def processor() -> str:
    """Return the name of the processor, as Linux gives it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor() or "unknown")


def describe_machine(setup: Setup) -> dict:
    """Return the processor that the measurements depend on, with what bounds its speed."""
    if setup.device == "cuda":
        return {"processor": torch.cuda.get_device_name(), "cores": torch.cuda.get_device_properties().multi_processor_count}
    return {"processor": processor(), "cores": os.cpu_count(), "threads": torch.get_num_threads(), "system": platform.system()}


def measure(setup: Setup, lengths: tuple[int, ...] = (), counts: tuple[int, ...] = (), rounds: int = ROUNDS) -> dict:
    """Return the record: the machine, the sizes and all results. Lengths and counts are those of the setup unless others are given."""
    torch.set_num_threads(1)
    lengths, counts = lengths or setup.lengths, counts or setup.counts
    return {
        "machine": describe_machine(setup),
        "versions": {"python": platform.python_version(), "torch": str(torch.__version__)}
        | {"transformers": transformers.__version__ if transformers else ""},
        "date": datetime.date.today().isoformat(),
        "sizes": {"heads": NUM_HEADS, "d_k": D_K, "block": setup.block_size, "rounds": rounds, "decoder": SIZES},
        "dtype": str(setup.dtype).removeprefix("torch."),
        "lengths": list(lengths),
        "attention": measure_attention(setup, lengths, rounds),
        "reasons": find_reasons(setup, min(setup.reasons_at, max(lengths)), rounds),
        "counts": list(counts),
        "decoding": measure_decoding(setup.device, counts, rounds),
    }


def main() -> None:
    setup = SETUPS["cuda" if "cuda" in sys.argv else "cpu"]
    found = measure(setup)
    if "--dry" in sys.argv or not transformers:
        print(json.dumps(found, indent=1))
        print(f"{setup.record.relative_to(ROOT)} stays as it was")
    else:
        setup.record.write_text(json.dumps(found, indent=1) + "\n")
        print(f"written to {setup.record.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
