"""What it costs to try a mutant, by what the time goes to: `python tests/bench/mutants.py [FILE]`. Some three minutes.

The sample is the same each time: of topics all over the project, each mutant so far apart is tried before every witness that vouches for
its claim, and the controls of each claim so far apart, in one process of the kind that `make mutants` starts. Seconds are of the processor,
so that a busy machine changes little. What became of each mutant is written to the FILE, to be compared with what another state makes of it.
"""

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before PyTorch is loaded
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from derivations.kernel.attack import mutant_trials  # noqa: E402
from derivations.kernel.check import mutation_run
from derivations.kernel.check.process_pool import local_pool  # noqa: E402
from derivations.kernel.store import certificates

TOPICS = 24
APART, CLAIMS_APART = 25, 8  # mutants that are tried, and claims whose controls are


def timed(spent: Counter, part: str, work):
    """The same work; the seconds that it takes go to its part."""

    def working(*arguments, **keywords):
        start = time.process_time()
        try:
            return work(*arguments, **keywords)
        finally:
            spent[part] += time.process_time() - start

    return working


def vouched(topic: str) -> dict:
    """By claim, the witnesses that vouch for it, as the last check of the topic had it, of whatever state that was."""
    claims = certificates.STORE.require(topic)["claims"]
    return {c["id"]: {w["name"]: "accepted" for w in c["witnesses"] if w["verdict"] != "not applicable"} for c in claims}


def measured(topics: list) -> tuple:
    """(seconds by part, how many there were of what, what became of each mutant that was tried)"""
    spent, many, became = Counter(), Counter(), {}
    for name, witness in list(mutant_trials.WITNESSES.items()):
        mutant_trials.WITNESSES[name] = timed(spent, name, witness)
    mutant_trials.judge = timed(spent, "judge", mutant_trials.judge)
    for topic in topics:
        said = vouched(topic)
        for id_, (claim, mutants) in timed(spent, "making", mutation_run.load_mutants)(str(certificates.script_of(topic))).items():
            covering = [name for name in mutant_trials.WITNESSES if name in said[id_]]
            alike = timed(spent, "printing", mutant_trials.find_printed_alike)(claim, mutants)
            if many["claims"] % CLAIMS_APART == 0:
                before = Counter(spent)  # what a witness takes for a control is no part of what it takes for a mutant
                whole = timed(before, "controls", mutant_trials.try_controls)(claim, [], covering, said[id_])
                spent.clear()
                spent.update(before)
                became[topic, id_] = [alike, whole]
                many["claims with controls"] += 1
            tried = [mutant for k, mutant in enumerate(mutants, many["mutants"]) if covering and k % APART == 0]
            for mutant in tried:
                became[topic, id_, mutant.operator, mutant.path] = timed(spent, "trying", list)(
                    mutant_trials.try_mutant_with_witnesses(mutant, claim, covering)
                )
            many.update({"claims": 1, "mutants": len(mutants), "tried": len(tried)})
    return spent, many, became


def main() -> None:
    every = certificates.topics()
    with local_pool(1) as pool:
        spent, many, became = pool.submit(measured, [every[k * len(every) // TOPICS] for k in range(TOPICS)]).result()
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text("\n".join(json.dumps([*map(str, about), said]) for about, said in became.items()) + "\n")
    parts = [*mutant_trials.WITNESSES, "judge"]
    spent["all else in trying"] = spent.pop("trying") - sum(spent[part] for part in parts)
    of = dict.fromkeys([*parts, "all else in trying"], many["tried"]) | dict.fromkeys(["making", "printing"], many["mutants"])
    each = {part: spent[part] / count for part, count in of.items()}
    each["controls"] = spent["controls"] / many["claims with controls"] * many["claims"] / many["mutants"]
    print(", ".join(f"{count} {what}" for what, count in many.items()))
    for part, seconds in each.items():
        print(f"{part:20} {seconds * 1e3:8.2f} ms a mutant")
    print(f"{'all':20} {sum(each.values()) * 1e3:8.2f} ms a mutant, {1 / sum(each.values()):.1f} mutants a second of processor time")


if __name__ == "__main__":
    main()
