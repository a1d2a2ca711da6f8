"""Benchmarks of checks, pages and snippets, as ratios measured in one run: `make bench`. They have no pass or fail.

1. An unchanged build of the site against a build of the same pages by plain Material, without claims and without the files beside them.
2. A check of every derivation from scratch against running the same scripts as mkdocs-jupyter notebooks.
3. The average time to draw a figure.
4. Attention as the pages show it against the plain formula, and against PyTorch's own on its math backend.
5. A check of some topics by two workers of a Dask cluster against a check by two processes.
6. The cost of pages in a browser: browser.py. `python tests/bench/browser.py SITE` measures only that, for a finished site.
7. The time from an edit to the updated page: edit_latency.py.
8. The cost of trying a mutant: mutants.py.
9. Attention by length, and tokens per second, against PyTorch's, those of transformers and naive code: attention.py, which writes the record
   that the page on costs draws.
10. The cost of one topic among a thousand: many_topics.py, which takes longer than all the others.
11. The cost of proving a claim again in a browser: prover.py. `python tests/bench/prover.py SITE` measures it, for a finished site.
12. The times of what pages count: counts.py, which writes the record that these pages draw.

Those from 7 to 10 and 12 can run alone, as `python tests/bench/edit_latency.py`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import browser
import prover
import yaml

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5
ALONE = ("edit_latency.py", "mutants.py", "attention.py", "counts.py", "many_topics.py")  # each prints its results


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, including its tags."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def timed(*command: str, **environment: str) -> float:
    """Return the seconds that a command takes. If it fails, stop the benchmark with its output."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"bench: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start


def write_config(folder: Path, name: str, config: dict) -> str:
    path = folder / name
    path.write_text(yaml.safe_dump(config))
    return str(path)


def absolute(config: dict) -> dict:
    """Return the site's configuration in a form that works from another folder."""
    config["docs_dir"] = str(ROOT / "docs")
    config["theme"]["custom_dir"] = str(ROOT / config["theme"]["custom_dir"])
    config["hooks"] = [str(ROOT / hook) for hook in config.get("hooks", [])]
    config["watch"] = []
    for extension in config["markdown_extensions"]:
        if isinstance(extension, dict) and "pymdownx.snippets" in extension:
            extension["pymdownx.snippets"]["base_path"] = [str(ROOT)]
    config.pop("validation", None)  # without claims there are no anchors to link to
    return config


def unchanged_build(folder: Path) -> float:
    """Return the seconds of a build of the site over those of a build by plain Material: the shortest of several alternating rounds.

    Neither build runs a stored lab again, and the plain one uses none of the project's extensions.
    """
    timed("derivations", "check")
    config = absolute(yaml.load((ROOT / "mkdocs.yml").read_text(), _Loader))
    with_ = write_config(folder, "with.yml", config)
    config["markdown_extensions"] = [e for e in config["markdown_extensions"] if "derivations" not in str(e)]
    config["hooks"] = [hook for hook in config["hooks"] if hook.endswith("lab_hook.py")]
    del config["theme"]["custom_dir"]
    without = write_config(folder, "without.yml", config)
    builds = {"with": [], "without": []}
    for round_ in range(ROUNDS + 1):
        for name, path in (("with", with_), ("without", without)):
            seconds = timed("mkdocs", "build", "--quiet", "-f", path, "-d", str(folder / "site"), PYTHONPATH=str(ROOT))
            builds[name] += [seconds] * (round_ > 0)  # the first round fills caches
    print(f"unchanged build: {min(builds['with']):.2f} s of the site, {min(builds['without']):.2f} s by plain Material")
    return min(builds["with"]) / min(builds["without"])


def cold_check(folder: Path) -> float:
    """Return the seconds of checking everything from scratch over those of running the scripts as notebooks."""
    docs = folder / "notebooks"
    for script in sorted(ROOT.glob("derivations/*/*.py")):
        if script.parent.name != "kernel" and script.name != "__init__.py":
            (docs / script.parent.name).mkdir(parents=True, exist_ok=True)
            # Check the claims as `derivation.main()` does, but without its SystemExit, which would stop the notebook's kernel.
            text = script.read_text().split("if __name__")[0]
            (docs / script.parent.name / script.name).write_text(
                text
                + "\n\nfrom derivations.kernel.check.claim_records import check_claim\n\nfor claim in derivation.claims:\n    check_claim(claim)\n"
            )
    (docs / "index.md").write_text("# Notebooks\n")
    config = write_config(
        folder,
        "notebooks.yml",
        {
            "site_name": "notebooks",
            "docs_dir": str(docs),
            "theme": {"name": "material"},
            "plugins": [{"mkdocs-jupyter": {"include": ["**/*.py"], "execute": True, "allow_errors": False, "cache": False}}],
        },
    )
    before = timed("derivations", "check", "--fresh")
    notebooks = timed("mkdocs", "build", "--quiet", "-f", config, "-d", str(folder / "notebook-site"), PYTHONPATH=str(ROOT))
    after = timed("derivations", "check", "--fresh")  # if the machine became slower meanwhile, both are affected
    print(f"every derivation: {before:.2f} and {after:.2f} s to check from cold, {notebooks:.2f} s to execute as notebooks")
    return (before + after) / 2 / notebooks


DRAW_ALL = """
import re
from pathlib import Path
from derivations.kernel.site import figure_block

blocks = re.compile(r"^/{3,} figure \\| ([a-z0-9_/]+):([a-z0-9_]+)(?: play=\\w+)?$", re.M)
shown = [(name, function) for page in Path("docs").rglob("*.md") for name, function in blocks.findall(page.read_text())]
for name, function in shown:
    figure_block._run_function(figure_block.ROOT / f"docs/figures/{name}.py", function)
print(len(shown))
"""


def drawing(folder: Path) -> float:
    """Return the average seconds to draw a figure, when all are drawn one after another."""
    (folder / "draw_all.py").write_text(DRAW_ALL)
    start = time.perf_counter()
    drawn = subprocess.run(
        [sys.executable, str(folder / "draw_all.py")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        stdout=subprocess.PIPE,
    )
    return (time.perf_counter() - start) / int(drawn.stdout)


ATTENTION = """
import timeit
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from snippets.attention.formula import attention

torch.set_num_threads(1)
plain = lambda q, k, v: torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1) @ v
least = lambda run, n: min(timeit.repeat(run, number=n, repeat=7)) / n
for shape, n in (((2, 4, 16, 32), 2000), ((2, 8, 256, 64), 20)):
    q, k, v = torch.randn(3, *shape)
    mask = torch.ones(shape[-2], shape[-2], dtype=torch.bool).tril()
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
        ours, formula = least(lambda: attention(q, k, v), n), least(lambda: plain(q, k, v), n)
        math = least(lambda: scaled_dot_product_attention(q, k, v), n)
        masked = least(lambda: attention(q, k, v, attn_mask=mask), n)
        peer = least(lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask), n)
    print(*shape, *(f"{x:.2f}" for x in (ours / formula, ours / math, masked / peer)), f"{ours * 1e6:.0f}")
"""


def speed(folder: Path) -> list:
    """Return, for each shape: the shape, the ratios of its time to that of the formula and of the math backend, and microseconds."""
    (folder / "attention.py").write_text(ATTENTION)
    run = [sys.executable, str(folder / "attention.py")]
    done = subprocess.run(run, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True, stdout=subprocess.PIPE, text=True)
    return [line.split() for line in done.stdout.splitlines()]


CLUSTER = """
import time
import dask
from distributed import LocalCluster
from derivations.kernel.check import dask_cluster, runner

def main():
    wanted = runner.find_targets(TOPICS)
    seconds = {}
    dask.config.set({"distributed.worker.daemon": False})
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as local:
        with dask_cluster.connect(local.scheduler_address) as workers:
            for round_ in range(2):  # the first round includes start-up costs
                for name, run in (("cluster", dask_cluster.make_cluster_check(workers)), ("processes", None)):
                    start = time.perf_counter()
                    results = runner.check_all(wanted, True, 2, lambda done, more: None, options=runner.Options(run=run))
                    seconds[name] = time.perf_counter() - start
                    assert all(result.holds for result in results)
    print(seconds["cluster"] / seconds["processes"])

if __name__ == "__main__":
    main()
"""


def on_a_cluster(folder: Path) -> float:
    """Return the seconds of checking some topics by two workers over those of checking them by two processes."""
    topics = ("attention", "softmax", "scaling", "simplify", "order")  # the other topics that these use have certificates
    (folder / "on_a_cluster.py").write_text(CLUSTER.replace("TOPICS", repr(topics)))
    run = [sys.executable, str(folder / "on_a_cluster.py")]
    return float(subprocess.run(run, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True, stdout=subprocess.PIPE).stdout)


def in_a_browser(folder: Path) -> list[str]:
    """Measure the cost of pages, and return what could not be measured."""
    timed("mkdocs", "build", "--quiet", "-d", str(folder / "pages"))
    lacking = browser.main(folder / "pages")
    if prover.has_files(folder / "pages"):
        prover.main(folder / "pages")
        return lacking
    return [*lacking, "the cost of proving a claim in a browser: `make prover` fetches what it needs"]


def main():
    folder = Path(tempfile.mkdtemp())
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before this began")
    try:
        fast, unchanged, cold, drawn = speed(folder), unchanged_build(folder), cold_check(folder), drawing(folder)
        clustered = on_a_cluster(folder)
        lacking = in_a_browser(folder)
    finally:
        shutil.rmtree(folder)
    print(f"ratio, unchanged build to one by plain Material   {unchanged:.2f}   (aim: at most 1.15)")
    print(f"ratio, cold check to notebooks                   {cold:.2f}   (aim: at most 0.12)")
    print(f"ratio, two workers of a cluster to two processes  {clustered:.2f}   (aim: at most 1.1)")
    print(f"seconds, to draw a picture                       {drawn:.2f}   (aim: at most 4)")
    for *shape, formula, math, masked, microseconds in fast:
        print(
            f"ratio, attention of {' x '.join(shape)} to the formula {formula}, to PyTorch's math backend {math}, "
            f"masked {masked}   ({microseconds} µs)"
        )
    print(f"load {os.getloadavg()[0]:.1f} at the end: where it is above the number of cores, times and scores are those of a busy machine")
    for line in lacking:
        print(f"NOT MEASURED, {line}")
    for name in ALONE:
        print(f"{name}:", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).with_name(name))], check=True)


if __name__ == "__main__":
    main()
