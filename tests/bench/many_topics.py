"""Measure the cost of a topic in a project of a thousand topics and in the project as it is: `python tests/bench/many_topics.py`.

It takes about twenty minutes. Each copy of the topics is a part with its own chapters, and its scripts, pages and figures refer to each
other; all share the snippets. A check of a thousand topics from scratch would take hours, and its cost is the sum of its parts, so the
certificates of the copies are written directly, in a temporary folder.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
COPIES = 13
BESIDE = (".github/",)  # not needed here
SEAL = """
import json, sys
from pathlib import Path
from derivations.kernel.store import certificates, project_files

for topic, content in json.load(open(sys.argv[1])).items():
    imported = [project_files.ROOT / name for name in content["imported"]]
    depends, _ = certificates.collect_dependencies(certificates.script_of(topic), imported, libraries=content["versions"])
    certificates.put(topic, content["title"], content["claims"], depends)
"""


def project(folder: Path, copies: int) -> None:
    """Write the project with a number of copies of its topics."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if not name.startswith(BESIDE):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    topics = [path.relative_to(ROOT / "derivations").with_suffix("").as_posix() for path in sorted(ROOT.glob("derivations/*/*.py"))]
    topics = [topic for topic in topics if not topic.startswith("kernel/") and not topic.endswith("__init__")]
    sealed = {}
    for topic in topics:
        content = json.loads((ROOT / ".certificates/certificates" / topic).read_text().partition("\n")[2])  # below the checksum
        imported = [n for n in content["inputs"] if n.endswith(".py") and not n.startswith(("derivations/kernel", f"derivations/{topic}"))]
        sealed[topic] = {part: content[part] for part in ("title", "claims", "versions")} | {"imported": imported}
    nav = navigation()
    every = dict(sealed)
    for number in range(2, copies + 2):
        rename = renaming(topics, number)
        for name in names:
            chapter = re.match(r"(derivations|docs|docs/figures)/(\w+)/\w+\.(py|md)$", name)
            if chapter and f"{chapter[2]}/{Path(name).stem}" in topics:
                copy = folder / chapter[1] / f"{chapter[2]}_{number}" / Path(name).name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(rename((ROOT / name).read_text()))
        every |= {rename(topic): json.loads(rename(json.dumps(content))) for topic, content in sealed.items()}
        nav.append({f"Part {number}": copied(navigation(), topics, rename, number)})
    text = (folder / "mkdocs.yml").read_text()
    (folder / "mkdocs.yml").write_text(re.sub(r"(?ms)^nav:\n.*?(?=^\S)", lambda m: yaml.safe_dump({"nav": nav}) + "\n", text))
    (folder / "sealed.json").write_text(json.dumps(every))
    run(folder, "-c", SEAL, str(folder / "sealed.json"))


def renaming(topics: list, number: int):
    """Return a function that changes the names of topics in scripts and on pages to those of a copy, except the names of snippets."""
    named = re.compile(rf"(?<!snippets/)(?<![\w.])({'|'.join(sorted({topic.partition('/')[0] for topic in topics}))})/(?=\w)")
    return lambda text: named.sub(rf"\g<1>_{number}/", text)


def navigation() -> list:
    text = (ROOT / "mkdocs.yml").read_text()
    return yaml.safe_load(re.search(r"(?ms)^nav:\n.*?(?=^\S)", text)[0])["nav"]


def copied(entries: list, topics: list, rename, number: int) -> list:
    """Return the navigation entries of the topics, for a copy."""
    found = []
    for title, leads in (next(iter(entry.items())) if isinstance(entry, dict) else ("", entry) for entry in entries):
        if isinstance(leads, list):
            within = copied(leads, topics, rename, number)
            found += [{f"{title} {number}": within}] if within else []
        elif leads.removesuffix(".md") in topics:
            found.append({f"{title} {number}": rename(leads)} if title else rename(leads))
    return found


def run(folder: Path, *arguments: str) -> float:
    """Return the seconds of processor time that a Python process takes in a folder. If it fails, stop the benchmark with its output."""
    before = spent()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    if done.returncode:
        sys.exit(f"bench: {' '.join(arguments)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return spent() - before


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(copies: int) -> dict:
    """Return the processor seconds, bytes and memory of a project with a number of copies, by what they are spent on."""
    folder = Path(tempfile.mkdtemp())
    try:
        project(folder, copies)
        topics = len(json.loads((folder / "sealed.json").read_text()))
        found = {"topics": topics}
        run(folder, "-m", "derivations", "check")  # writes the programs to which pages link
        found["check with nothing changed, s"] = run(folder, "-m", "derivations", "check")
        for name in ("build from nothing, s", "build with nothing changed, s"):
            found[name] = run(folder, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", "site")
        site = folder / "site"
        found |= {
            "pages, bytes": sum(path.stat().st_size for path in site.glob("*/*/index.html")),
            "search, bytes": sum(path.stat().st_size for path in site.rglob("*") if path.is_file() and "search" in path.as_posix()),
            "certificates, bytes": sum(path.stat().st_size for path in (folder / ".certificates/certificates").glob("*/*")),
            "all of the site, bytes": sum(path.stat().st_size for path in site.rglob("*") if path.is_file()),
        }
        return found
    finally:
        shutil.rmtree(folder)


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f} before this began")
    began = time.monotonic()
    few, many = measured(0), measured(int(sys.argv[1]) if sys.argv[1:] else COPIES)
    print(f"{'each topic, of':40} {few['topics']:>12} {many['topics']:>12}   ratio")
    for name in [name for name in few if name != "topics"]:
        each = few[name] / few["topics"], many[name] / many["topics"]
        print(f"{name:40} {each[0]:12.3f} {each[1]:12.3f}   {each[1] / each[0]:.2f}   (aim: at most 1.1)")
    print(f"{time.monotonic() - began:.0f} s in all, load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
