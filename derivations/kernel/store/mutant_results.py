"""What became of the mutants: of each claim under each witness, stored under a digest of everything that the result depends on."""

from __future__ import annotations

from collections import Counter

from . import certificates, dependencies, project_files
from .import_closure import hashes
from .store import Store, digest

STORE = Store("mutants", by_digest=True)
SURVEYS = Store("surveys", by_digest=True)  # of a topic: each claim's fingerprint and number of mutants, stored when all were tried
COUNTS = ("killed", "survived", "equivalent", "unclassified")
ROOMS = {"exact": "exact", "sympy": "sympy", "torch": "pytorch"}
WITNESSES = tuple(ROOMS)
MAKERS = ("claim_mutants", "equivalent_rewrites", "judge")  # the modules that make, rewrite and judge mutants, with all that they import


def depends_on() -> dict[str, str]:
    """Return for each witness a digest of everything that its results depend on except the claims."""
    attack = {path.stem: path for path in project_files.kernel_files() if project_files.room(path) == "attack"}
    makers = [attack[name] for name in MAKERS]
    own = project_files.file_hash(attack["mutant_trials"])  # itself alone: it imports every witness
    versions = dependencies.versions() | {name: dependencies.installed(name) for name in ("torch", "numpy", "hypothesis")}
    return {name: digest(own, versions, hashes([*makers, *files_of(name)])) for name in WITNESSES}


def files_of(name: str) -> list:
    """Return the files of a witness; all of the kernel's for one that is not ours."""

    def its_own(path) -> bool:
        room = project_files.room(path).partition("/")[0]
        return path.suffix == ".py" and room == ROOMS.get(name, room)

    return list(filter(its_own, project_files.kernel_files()))


def read_by(topic: str) -> dict:
    """Return what the check of a topic read, except the kernel and Python files, which a claim's fingerprint covers."""
    content = certificate(topic)
    inputs = {name: was for name, was in content.get("inputs", {}).items() if not name.endswith((".py", ".v"))}
    return inputs | content.get("variables", {})


def certificate(topic: str) -> dict:
    try:
        return certificates.load(topic)
    except certificates.CertificateError:
        return {}


def key(fingerprint: str, depends: str, read: dict) -> str:
    return digest(fingerprint, depends, read)


def get(fingerprint: str, current: dict[str, str], read: dict) -> dict[str, dict]:
    """Return the stored results of a claim by witness."""
    found = {name: STORE.get(key(fingerprint, depends, read)) for name, depends in current.items()}
    return {name: result for name, result in found.items() if result is not None}


def put(fingerprint: str, results: dict[str, dict], current: dict[str, str], read: dict) -> None:
    for name, result in results.items():
        STORE.put(key(fingerprint, current[name], read), result)


def put_survey(topic: str, survey: dict) -> None:
    """Store of which claims a topic consists, once all their mutants were tried."""
    if content := certificate(topic):
        SURVEYS.put(survey_key(content, depends_on()), survey)


def survey_key(content: dict, current: dict[str, str]) -> str:
    inputs = {name: was for name, was in content["inputs"].items() if not name.startswith("derivations/kernel/")}
    return digest(content["topic"], inputs, content["variables"], current)


def of_topics(topics: list) -> dict[str, dict | None]:
    """Return for each topic the results of its claims, if all were tried with the topic and the witnesses as they are; else None."""
    current = depends_on()
    return {topic: of_topic(topic, current) for topic in topics}


def of_topic(topic: str, current: dict[str, str]) -> dict | None:
    content = certificate(topic)
    survey = content and SURVEYS.get(survey_key(content, current))
    if not survey:
        return None
    read = read_by(topic)
    results = {id_: known | of_claim(get(known["fingerprint"], current, read)) for id_, known in survey.items()}
    return results if all(result["witnesses"].keys() == current.keys() for result in results.values()) else None


def of_claim(witnesses: dict[str, dict]) -> dict:
    """Return a claim's result: those of the witnesses, and the mutants that are printed like the claim."""
    alike = {mutant: None for result in witnesses.values() for mutant in result["alike"]}
    return {"alike": list(alike), "witnesses": witnesses}


def empty() -> dict:
    return dict.fromkeys(COUNTS, 0) | {"operators": {}, "listed": [], "hows": {}}


def record(result: dict, outcomes: list) -> None:
    """Count outcomes in the results of a claim by witness."""
    for o in outcomes:
        w = result[o["witness"]]
        w[o["outcome"]] += 1
        by = w["operators"].setdefault(o["operator"], dict.fromkeys(COUNTS, 0))
        by[o["outcome"]] += 1
        if o["outcome"] == "killed":
            w["hows"][o["how"]] = w["hows"].get(o["how"], 0) + 1
        else:
            w["listed"].append(o)
            w["listed"].sort(key=lambda o: (o["outcome"], o["path"], o["mutant"]))


def totals(results: dict) -> dict:
    """Return by witness how many claims it covers, what became of the mutants, and the controls."""
    found: dict[str, Counter] = {}
    for result in (r for claims in results.values() for r in claims.values()):
        for name, w in result["witnesses"].items():
            sums = found.setdefault(name, Counter(dict.fromkeys(("claims", *COUNTS, "controls", "controls failed"), 0)))
            sums.update(
                {k: w[k] for k in COUNTS} | {"claims": int(w["covers"]), "controls": w["controls"], "controls failed": len(w["failed"])}
            )
    return {name: dict(sums) for name, sums in found.items()}


def passes(results: dict) -> bool:
    """Return whether the gate is passed: something was tried, and every witness rejected what it had to."""
    sums, alike = totals(results).values(), [r for claims in results.values() for r in claims.values() if r["alike"]]
    return (
        any(w["killed"] for w in sums) and not alike and not any(w["survived"] or w["unclassified"] or w["controls failed"] for w in sums)
    )
