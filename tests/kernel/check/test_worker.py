"""The process that checks a script: it fixes the time zone, the locale and the arguments, and reuses freed memory."""

import os
import resource
import subprocess
import sys

import pytest
import torch

from derivations.kernel.check import preload
from derivations.kernel.store import project_files

GOOD = """from derivations.kernel import Derivation, matrix, sizes

n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A sum transposed")
derivation.identity("sum", (A + B).T, A.T + B.T)
"""


@pytest.mark.parametrize(
    "text",
    [
        "import time\nassert (time.timezone, time.tzname[0], time.localtime(0).tm_hour) == (0, 'UTC', 0)",
        "import locale\nassert locale.setlocale(locale.LC_ALL, '') in ('C.UTF-8', 'C')",
        "import locale\nassert locale.localeconv()['decimal_point'] == '.' and not locale.localeconv()['thousands_sep']",
        "import os\nassert os.environ['TZ'] == 'UTC' and 'LANGUAGE' not in os.environ and 'LC_NUMERIC' not in os.environ",
        "import sys\nassert sys.argv == sys.orig_argv == [__file__]",
    ],
    ids=["time zone", "locale", "decimal point", "variables", "arguments"],
)
@pytest.mark.parametrize(
    "where", [{}, {"TZ": "Asia/Tokyo", "LC_ALL": "C", "LANGUAGE": "de", "LANG": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"}]
)
def test_the_time_zone_the_locale_and_the_arguments_are_the_same_everywhere(text, where, records, tmp_path, monkeypatch):
    for name, value in where.items():
        monkeypatch.setenv(name, value)
    script = tmp_path / "script.py"
    script.write_text(f"{text}\n{GOOD}")
    code, found = records(script)
    assert code == 0 and [record["verdict"] for record in found] == ["holds"]


TOLD = """
import locale, os, time
from derivations.kernel.check import worker

def told():
    print(time.timezone, time.tzname[0], locale.setlocale(locale.LC_ALL, ""))

for zone in {zones}:
    os.environ |= {{"TZ": zone, "LC_ALL": "C"}}
    time.tzset()
    told()
    worker.set_time_zone_and_locale()
    told()
"""


def test_a_process_that_is_elsewhere_is_brought_to_where_all_are():
    zones = ["Asia/Tokyo", "JST-9", "America/New_York"]
    elsewhere = os.environ | {"TZ": zones[0], "LC_ALL": "C", "PYTHONPATH": str(project_files.ROOT)}
    ran = subprocess.run([sys.executable, "-c", TOLD.format(zones=zones)], env=elsewhere, capture_output=True, text=True, check=True)
    said = list(map(str.split, ran.stdout.splitlines()))
    assert len(said) == 2 * len(zones)
    for before, after in zip(said[::2], said[1::2]):
        assert before[1] != "UTC" and after[:2] == ["0", "UTC"] and after[2] in ("C.UTF-8", "C")


def test_memory_that_is_given_back_is_used_again():
    if sys.platform != "linux":
        pytest.skip("mallopt is the C library's of Linux")
    preload.keep_memory()
    held = [torch.ones(2**20) for _ in range(20)]  # of a thousand pages each
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        held.clear()
        held += [torch.ones(2**20) for _ in range(20)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 10_000
