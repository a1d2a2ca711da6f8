"""A script that crashes, hangs or floods its output is reported by name and does not affect other scripts; hash seeds change nothing."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from derivations.kernel.check import runner
from tests.kernel.common import GOOD, certified_claims, verdicts_by_script

pytestmark = pytest.mark.slow


MISBEHAVING = {
    "a crash": ("import os\nos.kill(os.getpid(), 11)\n", "died (exit -11)"),
    "memory": ("hoard = bytearray(2 ** 40)\n", "MemoryError"),
    "memory, bit by bit": ("import mmap\nhoard = []\nwhile True: hoard.append(mmap.mmap(-1, 2 ** 28))\n", "stopped with"),
    "words without end": ("while True: print('x' * 2 ** 16)\n", "the script stopped with OSError"),
    "a megabyte of complaints": ("import sys\nsys.stderr.write('x' * 2 ** 20)\nimport os\nos._exit(3)\n", "died (exit 3)"),
}


@pytest.mark.parametrize("text, says", MISBEHAVING.values(), ids=MISBEHAVING)
def test_a_script_that_misbehaves_is_named_and_takes_no_other_down(text, says, scripts, records):
    scripts(bad=GOOD + text, good=GOOD)
    one_is_named(says, *records("--jobs", 2))


def test_a_script_that_hangs_is_named_and_takes_no_other_down(scripts, records, hang):
    scripts(bad=GOOD + hang, good=GOOD)
    one_is_named(f"took longer than {runner.TIME_LIMIT} s", *records("--jobs", 1))


def one_is_named(says, code, found):
    assert code == 1 and certified_claims("chapter/good") == ["good"] and certified_claims("chapter/bad") is None
    assert verdicts_by_script(found)["good"] == "holds"
    (problem,) = [record for record in found if record["id"] is None]
    assert says in problem["message"] and "bad.py" in problem["message"]


FOREVER = 10 * runner.TIME_LIMIT  # seconds that no check takes: the runner would have stopped it


def test_a_thread_that_does_not_end_holds_nothing_up(scripts, records, tmp_path):
    ended = tmp_path / "ended"
    scripts(
        thread="import threading, time\nfrom pathlib import Path\n"
        f"def wait():\n    time.sleep({FOREVER})\n    Path({str(ended)!r}).touch()\nthreading.Thread(target=wait).start()\n" + GOOD
    )
    code, found = records()
    assert code == 0 and verdicts_by_script(found) == {"thread": "holds"} and not ended.exists()


def test_a_process_that_outlives_its_script_is_ended_with_it(scripts, records, tmp_path):
    """The pipe that it holds is closed when it ends."""
    held = tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    scripts(
        child=f"import subprocess\nheld = open({str(held)!r}, 'w')\n"
        f"child = subprocess.Popen(['sleep', '{FOREVER}'], stdout=held)\nheld.close()\n" + GOOD
    )
    try:
        code, found = records()
        assert code == 0 and verdicts_by_script(found) == {"child": "holds"}
        assert select.select([reader], [], [], FOREVER / 2)[0]
    finally:
        os.close(reader)


def test_a_script_that_prints_megabytes_is_checked_like_any_other(scripts, records):
    scripts(loud="for _ in range(30): print('x' * 2 ** 20)\n" + GOOD)
    code, found = records()
    assert code == 0 and verdicts_by_script(found) == {"loud": "holds"}


# Hash seeds -------------------------------------------------------------------------------------------------------------------

SEEDED = """from derivations.kernel import *
n, m, d = sizes("n m d")
A, B = matrix("A", n, n), matrix("B", n, n)
q, k = random("q", d), random("k", d)
x, y = scalars("x y")
z = vector("z", n)
i, j = index("i", n), index("j", n)
moments = [mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
derivation = Derivation("Seeds")
derivation.identity("transposed", (A @ B).T, A.T @ B.T)
derivation.identity("unstated", (x ** 2 - y ** 2) / (x - y) + sqrt(x), x + y + sqrt(x))
derivation.identity("width", Var(q @ k), d, given=moments)
derivation.identity("law", Var(q @ k), d, given=[independent(q, k), *moments])
derivation.identity("slope", diff(softmax(z)[i], z[j]), 2 * softmax(z)[i] * softmax(z)[j])
derivation.inequality("means", 2 * x * y, x ** 2 + y ** 2, because=(x - y) ** 2)
if __name__ == "__main__":
    derivation.main()
"""


def test_the_seed_of_hashes_changes_no_verdict_and_no_message(tmp_path):
    path = tmp_path / "seeded.py"
    path.write_text(SEEDED)
    root = Path(__file__).resolve().parents[3]
    said = []
    for seeds in ("01", "23"):
        running = [
            subprocess.Popen(
                [sys.executable, str(path)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            )
            for seed in seeds
        ]
        said += [process.communicate()[0] for process in running]
    assert said[0].count("REJECTED") == 4 and "Traceback" not in said[0]
    assert said[1:] == said[:1] * 3
