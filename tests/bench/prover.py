"""Measure what proving a claim again costs a reader's browser: time to the first verdict, download and memory, cold and warm.

    python tests/bench/prover.py SITE

SITE is a finished site, built after `make prover`. Cold means an empty cache, and warm means a later visit to another page.
"""

import json
import statistics
import sys
import time
from contextlib import suppress
from pathlib import Path

import browser
import psutil
from playwright.sync_api import Page, sync_playwright

ROUNDS = 3
COLD, WARM = "softmax/jacobian/", "softmax/temperature/"


def first_verdict(page: Page, address: str) -> float:
    """Return the seconds from the press on a page's first button until the verdict is shown."""
    page.goto(address)
    start = time.perf_counter()
    page.locator(".prove__button:visible").first.click()
    page.locator(".prove__rows dd").first.wait_for(timeout=600_000)
    return time.perf_counter() - start


def whole_page(page: Page) -> float:
    """Return the seconds that all claims of the page take, by the page's own count."""
    start = time.perf_counter()
    page.get_by_role("button", name="Prove this whole page").click()
    page.get_by_text("On your device, the exact witness says of").wait_for(timeout=600_000)
    return time.perf_counter() - start


def memory_of(process: psutil.Process) -> int:
    """Return the bytes of memory of a browser with all its processes."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += one.memory_info().rss
    return total


def measure(site: Path) -> dict[str, float]:
    """Return one round of measurements, in a browser of its own."""
    with browser.served(site) as address, sync_playwright() as playwright:
        before = {one.pid for one in psutil.process_iter()}
        chromium = playwright.chromium.launch(executable_path=browser.chromium(), args=["--no-sandbox"])
        process = min((one for one in psutil.process_iter() if one.pid not in before and "chrom" in one.name()), key=lambda one: one.pid)
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{address}/{COLD}")
        plain = memory_of(process)
        found = {"cold": first_verdict(page, f"{address}/{COLD}"), "memory": memory_of(process) - plain, "page": whole_page(page)}
        found["download"] = sum(path.stat().st_size for path in needed(site))
        found["warm"] = first_verdict(page, f"{address}/{WARM}")
        chromium.close()
    return found


def needed(site: Path) -> list[Path]:
    """Return the files that the first verdict needs."""
    folder = site / "assets" / "prover"
    return [folder / name for name, _ in json.loads((folder / "index.json").read_text(encoding="utf-8"))["exact"]]


def has_files(site: Path) -> bool:
    """Return whether a finished site can prove claims in a browser."""
    return (site / "assets/prover/index.json").is_file()


def main(site: Path) -> None:
    if not has_files(site):
        sys.exit(f"{site} has no files for browsers: run `make prover`, and build the site again")
    rounds = [measure(site) for _ in range(ROUNDS)]
    found = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    print(f"first verdict: {found['cold']:.1f} s cold, {found['warm']:.1f} s warm ({found['warm'] / found['cold']:.2f} of it)")
    print(f"all claims of a page after that: {found['page']:.2f} s ({found['page'] / found['warm']:.2f} of a warm first verdict)")
    print(f"download: {found['download'] / 1e6:.1f} MB, once; memory: {found['memory'] / 1e6:.0f} MB more than the page alone")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
