"""Measure the cost of trying a mutant, by part of the work: `python tests/bench/mutants.py [FILE]`. It takes about three minutes.

The sample is always the same. It takes mutants at regular intervals from all topics, and tries each with every witness that vouches for its
claim; it takes claims at regular intervals, and runs their controls. All run in one process of the kind that `make mutants` starts. Seconds
are processor time, so other load on the machine matters little. The outcome of each mutant is written to FILE, to compare two states.
"""

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before PyTorch is imported
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from derivations.kernel.attack import mutant_trials  # noqa: E402
from derivations.kernel.check import mutation_run
from derivations.kernel.check.process_pool import local_pool  # noqa: E402
from derivations.kernel.store import certificates

TOPICS = 24
APART, CLAIMS_APART = 25, 8  # the intervals of the mutants that are tried and of the claims whose controls are run


def timed(spent: Counter, part: str, work):
    """Return a function that does the same work and adds its seconds to its part."""

    def working(*arguments, **keywords):
        start = time.process_time()
        try:
            return work(*arguments, **keywords)
        finally:
            spent[part] += time.process_time() - start

    return working


def vouched(topic: str) -> dict:
    """Return the witnesses that vouch for each claim in the last check of the topic, even if that is stale."""
    claims = certificates.STORE.require(topic)["claims"]
    return {c["id"]: {w["name"]: "accepted" for w in c["witnesses"] if w["verdict"] != "not applicable"} for c in claims}


def measured(topics: list) -> tuple:
    """Return the seconds by part, the numbers of mutants and controls, and the outcome of each mutant."""
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
                before = Counter(spent)  # count the time of the controls apart from that of the mutants
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
