"""Running the mutants against the witnesses: `python -m derivations mutants`.

A witness covers a mutant if it gives a verdict on the claim itself. It must then reject the mutant, or the judge must
find the mutant true. The gate: none survives, none is left unclassified, every control is accepted, and no mutant is printed as the
claim is.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import signal
import sys
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

import click

from . import certificates, runner

LIMIT = 20       # seconds of the processor's time that a witness has for one mutant, so that a busy machine changes nothing
CHUNK = 20       # mutants to a task: few, so that no process waits long for the last one
COUNTS = ("killed", "survived", "equivalent", "unclassified")


# In a process of its own: what a witness says, and what the judge says of what it accepts

class Late(BaseException):
    """A witness has taken too long."""


def within_limit(witness, claim, too_slow="too slow"):
    """What the witness, or the judge, says of the claim; or that it took longer than it may."""
    def late(number, frame):
        raise Late
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        return witness(claim)
    except Late:
        return too_slow
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# A witness says "accepted", or how it rejects: "refused", "not applicable", or "broke: ..."

def by_exact(claim) -> str:
    """The proof alone first, for that is quick; all the rest of the witness only where the proof goes through."""
    from .check import exact, prove_refutation, still_proved
    from .claims import Refused
    from .expr import KernelError
    from .facts import facts_of
    try:
        if claim.kind == "definition":
            proved = True  # there is nothing to prove
        elif claim.kind == "refutation":
            proved = not prove_refutation(claim, claim.start, claim.steps[0].expr, facts_of(claim.given))
        else:
            proved = still_proved(claim, claim.given)
        if not proved:
            return "refused"
        verdict = exact(claim).verdict
    except (Refused, KernelError):
        return "refused"
    except Exception as error:  # the checker refuses a claim on which a witness breaks, too
        return f"broke: {type(error).__name__}"
    return "not applicable" if verdict == "not applicable" else "accepted"


def by_module(name: str):
    def accepts(claim) -> str:
        from importlib import import_module
        from .claims import Refused
        try:
            verdict = import_module(f"{__package__}.{name}").witness(claim)[0]
        except Refused:
            return "refused"
        except Exception as error:
            return f"broke: {type(error).__name__}"
        return "not applicable" if verdict == "not applicable" else "accepted"
    return accepts


def proof_alone(claim) -> str:
    """For a control: a part of a chain may need fewer assumptions than the whole, and that is no fault of the proof."""
    from .check import still_proved
    from .expr import KernelError
    if claim.kind == "refutation":
        return by_exact(claim)
    try:
        return "accepted" if still_proved(claim, claim.given) else "refused"
    except KernelError as error:
        return f"refused: {error}"


def witnesses() -> dict:
    return {"exact": by_exact, "sympy": by_module("sympy_witness"), "torch": by_module("torch_witness")}


def start_process():
    from .worker import limit_memory
    limit_memory()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class NotStated(Exception):
    """A script breaks before it has stated its claims."""


def stated(script: str) -> dict:
    """The claims of a script by id, each with its mutants."""
    return stated_in(script, certificates.file_hash(Path(script)))


@lru_cache(maxsize=None)  # a process meets each script several times
def stated_in(script: str, digest: str) -> dict:
    from . import claims, worker
    from .mutants import mutants
    problem = worker.load_script(Path(script))
    if problem:
        raise NotStated(f"{script}:{problem[0]}: {problem[1]}")
    found = {claim.id: (claim, mutants(claim)) for claim in claims.LOADED[0].claims}
    gc.freeze()  # they stay: the collector need not go through them again
    return found


def survey(script: str) -> dict:
    """For each claim of a script: a fingerprint of what its results depend on, and how many mutants it has."""
    return {id_: {"fingerprint": fingerprint(claim), "mutants": len(found)} for id_, (claim, found) in stated(script).items()}


def fingerprint(claim) -> str:
    """Of what a witness can see of a claim; where it stands and what it is called are no part of it."""
    bare = replace(claim, file="", line=0, title="", steps=tuple(replace(s, reason="") for s in claim.steps))
    files = [certificates.ROOT / (name.rpartition(".")[0].replace(".", "/") + ".py") for name, *_ in claim.code]
    return sha256(repr((bare, hashes(files))).encode()).hexdigest()


def try_controls(script: str, id_: str, names: list, known: dict) -> dict:
    """For each witness whether it covers the claim, and which controls it does not accept; and which mutants are printed as the claim is.

    known: what some of the witnesses said of the claim itself.
    """
    from .mutants import controls
    claim, found = stated(script)[id_]
    result = {}
    for name in names:
        accepts = witnesses()[name]
        said = known.get(name) or within_limit(accepts, claim)
        failed = [] if said in ("accepted", "not applicable") else [f"the claim itself: {said}"]
        covers = said == "accepted"
        accepts = proof_alone if name == "exact" else accepts
        made = controls(claim) if covers else []
        failed += [f"{what}: {said}" for what, control in made if (said := within_limit(accepts, control)) != "accepted"]
        result[name] = {"covers": covers, "controls": len(made), "failed": failed}
    return {"witnesses": result, "alike": printed_alike(claim, found)}


def printed_alike(claim, found: list) -> list:
    """The mutants that a reader could not tell from the claim. What a name stands for is printed where it is defined."""
    from .expr import walk
    names = {n.data[0] for tree in claim.trees for n in walk(tree) if n.op == "defined"}
    names -= {claim.start.data[0]} if claim.kind == "definition" else set()
    return [described(m)["mutant"] for m in found if not names & set(m.path[:1]) and alike(m.mutated, claim)]


def alike(mutated, claim) -> bool:
    """Would a page show the two alike? Only what differs is printed."""
    return all(new == old or shown(new) == shown(old) for new, old in zip_longest(parts(mutated), parts(claim)))


def parts(claim) -> list:
    """All that a page shows of what is claimed."""
    return [claim.start, *(part for s in claim.steps for part in (s.relation, s.expr)), *claim.because, *claim.given, *claim.at, claim.towards]


def shown(part) -> str:
    from .claims import Assumption
    from .expr import Expr
    from .latex import assumption_text, latex, value_latex
    if isinstance(part, Assumption):
        return assumption_text(part)
    if isinstance(part, Expr):
        return latex(part)
    if isinstance(part, tuple) and part:  # the value of a name in a counterexample, or where a number goes in a limit
        first, second = part
        return f"{shown(first)} = {value_latex(second)}" if isinstance(first, str) else f"{shown(first)} -> {second}"
    return repr(part)


def try_mutants(script: str, id_: str, names: list, start: int, stop: int) -> list:
    """(witness, operator, outcome, how) for each mutant of a slice and each witness named."""
    claim, found = stated(script)[id_]
    return [said for mutant in found[start:stop] for said in outcomes(mutant, claim, names)]


def outcomes(mutant, original, names: list):
    judged = {}
    for name in names:
        how = within_limit(witnesses()[name], mutant.mutated)
        if how == "accepted":
            verdict, how = judgement(mutant, original, name != "exact", judged)
            result = {"true": "equivalent", "false": "survived"}.get(verdict, "unclassified")
        else:
            result = "unclassified" if how == "too slow" else "killed"
        yield {"witness": name, "operator": mutant.operator, "outcome": result, "how": how} | (described(mutant) if result != "killed" else {})


def judgement(mutant, original, partial: bool, judged: dict) -> tuple:
    """What the judge says, asked once for all witnesses. What is true in all its parts is true in some."""
    from .judge import judge
    if judged.get(False, ("",))[0] == "true":
        return judged[False]
    if partial not in judged:
        judged[partial] = within_limit(lambda c: judge(c, partial=partial), to_judge(mutant.mutated, original), ("cannot tell", "too slow"))
    return judged[partial]


def to_judge(mutated, original):
    """The mutant; of a definition, that what it defines is what was defined, names by the same name unfolded."""
    from .mutants import unfolded
    if original.kind != "definition":
        return mutated
    new = replace(mutated.steps[0], relation="=", expr=unfolded(mutated.steps[0].expr))
    return replace(mutated, kind="identity", start=unfolded(original.steps[0].expr), steps=(new,), code=())


def described(mutant) -> dict:
    from .latex import assumption_text, plain
    claim = mutant.mutated
    said = plain(claim.start) + "".join(f" {s.relation} {plain(s.expr)}" for s in claim.steps)
    said += "".join(f"; because {plain(e)}" for e in claim.because) + "".join(f"; {assumption_text(a)}" for a in claim.given)
    said += f"; {plain(claim.towards[0])} -> {claim.towards[1]}" if claim.towards else ""
    said += "".join(f"; {n} = {value_text(v)}" for n, v in claim.at)
    return {"path": "/".join(map(str, mutant.path)), "mutant": said}


def value_text(value) -> str:
    from .latex import plain
    return "[" + ", ".join(map(value_text, value)) + "]" if isinstance(value, tuple) else plain(value)


# Results, kept like certificates: those of each witness for as long as nothing that it imports has changed

def store(topic: str) -> Path:
    return certificates.STORE / "mutants" / f"{topic}.json"


def script_of(topic: str) -> Path:
    return certificates.ROOT / "derivations" / f"{topic}.py"


def depends_on() -> dict:
    """For each witness, a hash of all that its results depend on beside the claims."""
    own = [certificates.file_hash(path) for path in certificates.kernel_files() if path.stem == "mutation_run"]
    rest = [path for path in certificates.kernel_files() if path.stem in ("mutants", "judge")]
    versions = certificates.versions() | {name: certificates.installed(name) for name in ("torch", "numpy", "hypothesis")}
    return {name: sha256(repr((own, sorted(versions.items()), hashes([*rest, *homes(name)]))).encode()).hexdigest() for name in witnesses()}


HOMES = {"exact": "check", "sympy": "sympy_witness", "torch": "torch_witness"}


def homes(name: str) -> list:
    """Where a witness begins; of one that is not ours, all of the kernel."""
    return [path for path in certificates.kernel_files() if path.suffix == ".py" and path.stem == HOMES.get(name, path.stem)]


def hashes(files: list) -> dict:
    """By name, the files and all of the project's that they import, wherever in them they do so."""
    found, waiting = {}, [path for path in files if path.exists()]
    while waiting:
        path = waiting.pop()
        if certificates.relative(path) not in found:
            found[certificates.relative(path)] = certificates.file_hash(path)
            waiting += imports(path, found[certificates.relative(path)])
    return dict(sorted(found.items()))


@lru_cache(maxsize=None)
def imports(path: Path, digest: str) -> tuple:
    """The project's files that a file imports. What starts a script or a command has no part in what a witness says."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            home = path.parents[node.level - 1] if node.level else certificates.ROOT
            home = home.joinpath(*(node.module or "").split("."))
            names |= {home.with_suffix(".py"), *(home / f"{alias.name}.py" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {certificates.ROOT.joinpath(*alias.name.split(".")).with_suffix(".py") for alias in node.names}
    return tuple(sorted(name for name in names if name.name not in ("cli.py", "worker.py") and name.is_file()))


def kept(topic: str, current: dict) -> dict:
    """By claim, its fingerprint and what those witnesses said of its mutants that are as they were."""
    try:
        content = certificates.read(store(topic), f"what became of the mutants of '{topic}'", f"run: python -m derivations mutants {topic}")
        if content["topic"] != topic:
            return {}
        return {id_: result | {"witnesses": {name: said for name, said in result["witnesses"].items() if said["depends_on"] == current.get(name)}}
                for id_, result in content["claims"].items()}
    except (certificates.CertificateError, KeyError, TypeError, AttributeError):
        return {}


def keep(topic: str, results: dict):
    content = {"topic": topic, "script": certificates.file_hash(script_of(topic)), "claims": results}
    certificates.write(store(topic), content)


def vouched(topic: str) -> dict:
    """By claim and witness what was said of the claim itself, where a certificate tells."""
    try:
        claims = certificates.load(topic)["claims"]
    except certificates.CertificateError:
        return {}
    return {claim["id"]: {w["name"]: "not applicable" if w["verdict"] == "not applicable" else "accepted" for w in claim["witnesses"]}
            for claim in claims}


# All of it

def processes(jobs: int):
    return ProcessPoolExecutor(jobs, mp_context=runner.CONTEXT, initializer=start_process)


def run(targets: list, fresh: bool, jobs: int, progress=lambda done, more: None) -> dict:
    """{topic: {id: result}} for (topic, script) pairs. What is kept and still stands is not run again."""
    results, current = {}, depends_on()
    with processes(jobs) as pool:
        surveys = {topic: pool.submit(survey, str(script)) for topic, script in targets}
        waiting = {}
        for topic, script in targets:
            before, said, results[topic] = {} if fresh else kept(topic, current), vouched(topic), {}
            for id_, known in surveys[topic].result().items():
                same = before.get(id_, {}).get("fingerprint") == known["fingerprint"]
                results[topic][id_] = (before[id_] if same else {"witnesses": {}}) | known
                missing = [name for name in witnesses() if name not in results[topic][id_]["witnesses"]]
                if missing:
                    progress(0, 1 + known["mutants"])
                    waiting[pool.submit(try_controls, str(script), id_, missing, said.get(id_, {}))] = topic, str(script), id_, 1
        while waiting:
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                topic, script, id_, count = waiting.pop(done)
                result, said = results[topic][id_], done.result()
                progress(count, 0)
                if isinstance(said, list):
                    record(result, said)
                else:
                    result["alike"] = said["alike"]
                    result["witnesses"] |= {name: empty(current[name]) | w for name, w in said["witnesses"].items()}
                    covering = [name for name, w in said["witnesses"].items() if w["covers"]]
                    for start in range(0, result["mutants"] if covering else 0, CHUNK):
                        stop = min(start + CHUNK, result["mutants"])
                        waiting[pool.submit(try_mutants, script, id_, covering, start, stop)] = topic, script, id_, stop - start
                if certificates.is_topic(topic) and not any(t == topic for t, *_ in waiting.values()):
                    keep(topic, results[topic])  # now, so that a run that is cut short is not lost
    for topic in filter(certificates.is_topic, results):
        keep(topic, results[topic])
    return results


def standing(topics: list) -> dict:
    """By topic, the results of its claims if all of them were tried, with the script and the witnesses as they are; else None."""
    current = depends_on()
    return {topic: whole(topic, kept(topic, current), current) for topic in topics}


def whole(topic: str, results: dict, current: dict) -> dict | None:
    same = results and json.loads(store(topic).read_text()).get("script") == certificates.file_hash(script_of(topic))
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
            sums.update({k: w[k] for k in COUNTS} | {"claims": int(w["covers"]), "controls": w["controls"], "controls failed": len(w["failed"])})
    return {name: dict(sums) for name, sums in found.items()}


def passes(results: dict) -> bool:
    """The gate. Nothing tried is not a pass."""
    sums, alike = totals(results).values(), [r for claims in results.values() for r in claims.values() if r["alike"]]
    return any(w["killed"] for w in sums) and not alike and not any(w["survived"] or w["unclassified"] or w["controls failed"] for w in sums)


def main(targets: tuple, as_json: bool, fresh: bool, jobs: int) -> int:
    """Try the mutants of the derivations named, or of all; print the table; 0 only if the gate is passed."""
    wanted = runner.find(targets)
    with click.progressbar(length=0, label="Trying mutants", file=sys.stderr, show_pos=True) as bar:
        def progress(done, more):
            bar.length += more
            bar.update(done)
        try:
            results = run(wanted, fresh, jobs, progress)
        except BrokenProcessPool:
            click.secho("a process that tried mutants died, perhaps for want of memory; try again with fewer --jobs", fg="red", err=True)
            return 1
        except NotStated as error:
            click.secho(str(error), fg="red", err=True)
            return 1
    good = passes(results)
    if as_json:
        click.echo(json.dumps({"topics": results, "totals": totals(results), "passes": good}, indent=1))
    else:
        table(results)
    for topic, claims in results.items():
        complain(topic, claims)
    return int(not good)


def complain(topic: str, claims: dict):
    """What stands in the way of passing, one by one."""
    for id_, result in claims.items():
        for mutant in result["alike"]:
            click.secho(f"{topic}#{id_}: a page would show the claim and this mutant alike: {mutant}", fg="red", err=True)
        for name, w in result["witnesses"].items():
            for o in w["listed"]:
                if o["outcome"] != "equivalent":
                    click.secho(f"{topic}#{id_}: {o['outcome']}, {name}, {o['operator']} at {o['path']}: {o['mutant']} ({o['how']})", fg="red", err=True)
            for control in w["failed"]:
                click.secho(f"{topic}#{id_}: {name} does not accept a control that changes nothing, {control}", fg="red", err=True)


def table(results: dict):
    names = sorted({name for claims in results.values() for r in claims.values() for name in r["witnesses"]})
    click.echo(f"{'killed / survived / equivalent / unclassified':44}" + "".join(f"{name:>24}" for name in names))
    for topic, claims in results.items():
        for id_, result in claims.items():
            if result["mutants"]:
                click.echo(f"{topic + '#' + id_:44}" + "".join(f"{cell(result['witnesses'][name]):>24}" for name in names))
    sums = totals(results)
    click.echo(f"{'in all':44}" + "".join(f"{cell(sums[name] | {'covers': True}):>24}" for name in names))
    mutants = sum(r["mutants"] for claims in results.values() for r in claims.values())
    tried = sum(bool(r["mutants"]) for claims in results.values() for r in claims.values())
    controls, failed = (sum(w[k] for w in sums.values()) for k in ("controls", "controls failed"))
    click.echo(f"{mutants} mutants of {tried} claims, {sum(len(r['alike']) for c in results.values() for r in c.values())} printed as the claim is; {controls} controls, {failed} of them not accepted: {'passed' if passes(results) else 'NOT passed'}")


def cell(w: dict) -> str:
    return " / ".join(str(w[k]) for k in COUNTS) if w["covers"] else "-"
