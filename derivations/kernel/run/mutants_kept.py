"""What became of the mutants, kept like certificates: what a witness said, for as long as nothing that it imports has changed, and
nothing that the check of the topic read."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

from . import certificates
from .importing import hashes
from .shared import Shared

COUNTS = ("killed", "survived", "equivalent", "unclassified")
ROOMS = {"exact": "exact", "sympy": "sympy", "torch": "pytorch"}
WITNESSES = tuple(ROOMS)
NOTHING: dict = {"files": {}, "variables": {}}


def store(topic: str) -> Path:
    return certificates.STORE / "mutants" / f"{topic}.json"


MAKERS = ("claim_mutants", "equivalent_rewrites", "judge")  # the modules that make, rewrite and judge mutants, with all that they import


def depends_on() -> dict:
    """For each witness, a hash of all that its results depend on beside the claims."""
    attack = {path.stem: path for path in certificates.kernel_files() if certificates.room(path) == "attack"}
    makers = [attack[name] for name in MAKERS]
    own = certificates.file_hash(attack["mutant_trials"])  # itself alone: it imports every witness
    versions = certificates.versions() | {name: certificates.installed(name) for name in ("torch", "numpy", "hypothesis")}
    return {name: sha256(repr((own, sorted(versions.items()), hashes([*makers, *homes(name)]))).encode()).hexdigest() for name in WITNESSES}


def homes(name: str) -> list:
    """Where a witness begins; of one that is not ours, all of the kernel."""

    def its_own(path: Path) -> bool:
        room = certificates.room(path).partition("/")[0]
        return path.suffix == ".py" and room == ROOMS.get(name, room)

    return list(filter(its_own, certificates.kernel_files()))


def read(topic: str) -> dict:
    """What the check of a topic read beside modules of the project, which fingerprints know; NOTHING where it has to be checked again."""
    try:
        content = certificates.load(topic)
    except certificates.CertificateError:
        return NOTHING
    files = {
        name: was for name, was in content["inputs"].items() if not name.endswith(".py") and not name.startswith("derivations/kernel/")
    }
    return {"files": files, "variables": content["variables"]}


def kept(topic: str, current: dict) -> dict:
    """By claim, its fingerprint and what those witnesses said of its mutants that are as they were."""
    try:
        content = certificates.read(store(topic), f"what became of the mutants of '{topic}'", f"run: python -m derivations mutants {topic}")
    except certificates.CertificateError:
        return {}
    return usable(topic, content, current)


def usable(topic: str, content: dict, current: dict) -> dict:
    try:
        if content["topic"] != topic or content.get("read", NOTHING) != read(topic):
            return {}
        return {
            id_: result
            | {"witnesses": {name: said for name, said in result["witnesses"].items() if said["depends_on"] == current.get(name)}}
            for id_, result in content["claims"].items()
        }
    except (KeyError, TypeError, AttributeError):
        return {}


def keep(topic: str, results: dict, shared: Shared | None = None):
    content = {"topic": topic, "script": certificates.file_hash(certificates.script_of(topic)), "read": read(topic), "claims": results}
    certificates.write(store(topic), content)
    if shared and is_checked(topic) and not content["read"]["variables"]:
        shared.give(address(topic), content)


def address(topic: str) -> str:
    """Where what became of its mutants lies in a folder that is shared: a hash of the script, and of all that the witnesses are."""
    form = [certificates.file_hash(Path(__file__).with_name(name)) for name in ("mutation.py", "mutants_kept.py")]
    of = ["mutants", topic, certificates.file_hash(certificates.script_of(topic)), depends_on(), form]
    return sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()


def is_checked(topic: str) -> bool:
    """Only then it is known what a check of the topic reads."""
    try:
        certificates.load(topic)
    except certificates.CertificateError:
        return False
    return True


def taken(topic: str, current: dict, shared: Shared) -> dict:
    """What became of them on another machine, whole."""
    found = usable(topic, shared.take(address(topic)) or {}, current) if is_checked(topic) else {}
    return found if all(result["witnesses"].keys() == current.keys() for result in found.values()) else {}


def standing(topics: list) -> dict:
    """By topic, the results of its claims if all of them were tried, with the script and the witnesses as they are; else None."""
    current = depends_on()
    return {topic: whole(topic, kept(topic, current), current) for topic in topics}


def whole(topic: str, results: dict, current: dict) -> dict | None:
    same = results and json.loads(store(topic).read_text()).get("script") == certificates.file_hash(certificates.script_of(topic))
    return results if same and all(r["witnesses"].keys() == current.keys() for r in results.values()) else None


def empty(current: str) -> dict:
    return dict.fromkeys(COUNTS, 0) | {"depends_on": current, "operators": {}, "listed": [], "hows": {}}


def record(result: dict, outcomes: list):
    for o in outcomes:
        w = result["witnesses"][o["witness"]]
        w[o["outcome"]] += 1
        by = w["operators"].setdefault(o["operator"], dict.fromkeys(COUNTS, 0))
        by[o["outcome"]] += 1
        if o["outcome"] == "killed":
            w["hows"][o["how"]] = w["hows"].get(o["how"], 0) + 1
        else:
            w["listed"].append(o)
            w["listed"].sort(key=lambda o: (o["outcome"], o["path"], o["mutant"]))


def totals(results: dict) -> dict:
    """By witness: claims covered, what came of the mutants, and the controls."""
    found = {}
    for result in (r for claims in results.values() for r in claims.values()):
        for name, w in result["witnesses"].items():
            sums = found.setdefault(name, Counter(dict.fromkeys(("claims", *COUNTS, "controls", "controls failed"), 0)))
            sums.update(
                {k: w[k] for k in COUNTS} | {"claims": int(w["covers"]), "controls": w["controls"], "controls failed": len(w["failed"])}
            )
    return {name: dict(sums) for name, sums in found.items()}


def passes(results: dict) -> bool:
    """The gate. Nothing tried is not a pass."""
    sums, alike = totals(results).values(), [r for claims in results.values() for r in claims.values() if r["alike"]]
    return (
        any(w["killed"] for w in sums) and not alike and not any(w["survived"] or w["unclassified"] or w["controls failed"] for w in sums)
    )
