"""Store the outcomes of mutation testing, by claim and witness, under a digest of everything that a result depends on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from . import certificates, dependencies, project_files
from .import_closure import hashes
from .store import Store, digest

STORE = Store("mutants", by_digest=True)
SURVEYS = Store("surveys", by_digest=True)  # for each topic, its claims' fingerprints and numbers of mutants, once all were tried
COUNTS = ("killed", "survived", "equivalent", "unclassified")
ROOMS = {"exact": "exact", "sympy": "sympy", "torch": "pytorch"}
WITNESSES = tuple(ROOMS)
MUTANT_MODULES = ("claim_mutants", "equivalent_rewrites", "judge")  # results depend on these modules and on their imports


def depends_on() -> dict[str, str]:
    """Return, for each witness, a digest of everything that its results depend on, except the claims."""
    attack = {path.stem: path for path in project_files.kernel_files() if project_files.room_of(path) == "attack"}
    modules = [attack[name] for name in MUTANT_MODULES]
    trials = project_files.file_hash(attack["mutant_trials"])  # without its imports, which include every witness
    versions = dependencies.library_versions() | {name: dependencies.installed_version(name) for name in ("torch", "numpy", "hypothesis")}
    return {name: digest(trials, versions, hashes([*modules, *witness_files(name)])) for name in WITNESSES}


def witness_files(name: str) -> list[Path]:
    """Return the Python files of a witness, or of the whole kernel if no witness of ROOMS has this name."""
    files = [path for path in project_files.kernel_files() if path.suffix == ".py"]
    if name not in ROOMS:
        return files
    return [path for path in files if project_files.room_of(path).partition("/")[0] == ROOMS[name]]


def recorded_reads(topic: str) -> dict:
    """Return the states of the files and variables that the check of a topic read, except source files, which other digests cover."""
    content = certificate(topic)
    inputs = {name: was for name, was in content.get("inputs", {}).items() if not name.endswith((".py", ".v"))}
    return inputs | content.get("variables", {})


def certificate(topic: str) -> dict:
    """Return the certificate of a topic, or {} if there is no valid one."""
    try:
        return certificates.load(topic)
    except certificates.CertificateError:
        return {}


def key(fingerprint: str, depends: str, reads: dict) -> str:
    """Return the key of the results of a claim under a witness."""
    return digest(fingerprint, depends, reads)


def get(fingerprint: str, current: dict[str, str], read: dict) -> dict[str, dict]:
    """Return the stored results of a claim by witness. `current` is the result of `depends_on`, `read` that of `recorded_reads`."""
    found = {name: STORE.get(key(fingerprint, depends, read)) for name, depends in current.items()}
    return {name: result for name, result in found.items() if result is not None}


def put(fingerprint: str, results: dict[str, dict], current: dict[str, str], reads: dict) -> None:
    """Store the results of a claim by witness."""
    for name, result in results.items():
        STORE.put(key(fingerprint, current[name], reads), result)


def put_survey(topic: str, survey: dict) -> None:
    """Store the claims of a topic whose mutants were all tried. Do nothing if the topic has no valid certificate."""
    if content := certificate(topic):
        SURVEYS.put(survey_key(content, depends_on()), survey)


def survey_key(content: dict, current: dict[str, str]) -> str:
    """Return the key of a survey: a digest of the topic's certificate and the witnesses."""
    inputs = {name: was for name, was in content["inputs"].items() if not name.startswith("derivations/kernel/")}
    return digest(content["topic"], inputs, content["variables"], current)


def get_topics(topics: list[str]) -> dict[str, dict | None]:
    """Return the results of each topic's claims, or None if not all mutants of its current claims were tried with the current witnesses."""
    current = depends_on()
    return {topic: get_topic(topic, current) for topic in topics}


def get_topic(topic: str, current: dict[str, str]) -> dict | None:
    """Return the results of the claims of a topic by id, or None if some are missing."""
    content = certificate(topic)
    survey = content and SURVEYS.get(survey_key(content, current))
    if not survey:
        return None
    reads = recorded_reads(topic)
    results = {id_: known | claim_result(get(known["fingerprint"], current, reads)) for id_, known in survey.items()}
    return results if all(result["witnesses"].keys() == current.keys() for result in results.values()) else None


def claim_result(witnesses: dict[str, dict]) -> dict:
    """Return the result of a claim: the results of the witnesses, and the mutants that print the same as the claim."""
    alike = {mutant: None for result in witnesses.values() for mutant in result["alike"]}
    return {"alike": list(alike), "witnesses": witnesses}


def empty_result() -> dict:
    """Return a result without outcomes."""
    return dict.fromkeys(COUNTS, 0) | {"operators": {}, "listed": [], "hows": {}}


def add_outcomes(result: dict, outcomes: list[dict]) -> None:
    """Add outcomes to the results of a claim, which are stored by witness. Outcomes other than "killed" are also listed."""
    for o in outcomes:
        w = result[o["witness"]]
        w[o["outcome"]] += 1
        counts = w["operators"].setdefault(o["operator"], dict.fromkeys(COUNTS, 0))
        counts[o["outcome"]] += 1
        if o["outcome"] == "killed":
            w["hows"][o["how"]] = w["hows"].get(o["how"], 0) + 1
        else:
            w["listed"].append(o)
            w["listed"].sort(key=lambda o: (o["outcome"], o["path"], o["mutant"]))


def totals(results: dict) -> dict:
    """Return the numbers of covered claims, of mutants by outcome, of controls and of failed controls, for each witness."""
    found: dict[str, Counter] = {}
    for result in (r for claims in results.values() for r in claims.values()):
        for name, w in result["witnesses"].items():
            sums = found.setdefault(name, Counter(dict.fromkeys(("claims", *COUNTS, "controls", "controls failed"), 0)))
            sums.update(
                {k: w[k] for k in COUNTS} | {"claims": int(w["covers"]), "controls": w["controls"], "controls failed": len(w["failed"])}
            )
    return {name: dict(sums) for name, sums in found.items()}


def passes(results: dict) -> bool:
    """Return whether mutation testing passes.

    At least one mutant was killed, none survived or is unclassified, no control failed, and no mutant prints the same as its claim.
    """
    sums, alike = totals(results).values(), [r for claims in results.values() for r in claims.values() if r["alike"]]
    return (
        any(w["killed"] for w in sums) and not alike and not any(w["survived"] or w["unclassified"] or w["controls failed"] for w in sums)
    )
