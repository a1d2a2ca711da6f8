"""The output of a script's process is read as data: nothing in it is executed, and a malformed record is reported in one line."""

import time
from importlib.metadata import version
from threading import Event, Thread

import pytest

from derivations.kernel.check import runner

HEAD = """
from derivations.kernel import Derivation, matrix, sizes
n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
"""
CLAIM = """
derivation = Derivation({title})
derivation.identity("sum", (A + B).T, A.T + B.T)
"""


def checked(tmp_path, text, title='"sums"'):
    script = tmp_path / "script.py"
    script.write_text(HEAD + text + CLAIM.format(title=title))
    return runner.run_worker("script", script, lambda done, more: None, Event(), {})


NAMED = """
import sys
class Name(str):
    def __reduce__(self):
        return eval, ("open({path!r}, 'w')",)
"""


@pytest.mark.parametrize("more, title", [("", 'Name("sums")'), ("sys.modules[Name('odd')] = sys\n", '"sums"')])
def test_nothing_of_a_script_s_runs_where_its_records_are_read(tmp_path, more, title):
    left = tmp_path / "left"
    result, last = checked(tmp_path, NAMED.format(path=str(left)) + more, title)
    assert result.holds and last and not left.exists()


WRITING = """
import os, struct, sys, time
frame = sys._getframe()
while "connection" not in frame.f_locals:
    frame = frame.f_back
connection = frame.f_locals["connection"]
"""


@pytest.mark.parametrize("what", [b"nope", b"{}", b"null", b'{"event": "done"}', b'{"event": "loaded"}', b"\xff"])
def test_what_is_no_record_is_told_in_a_line(tmp_path, what):
    result, last = checked(tmp_path, f"{WRITING}connection.send_bytes({what!r})\n")
    assert not last and result.problems == [
        f"{tmp_path / 'script.py'}: what its process says is no record of a check; let the script write to no file that it did not open"
    ]


class AtTheSign(Thread):
    """In the place of a timer: its time is up when the script has begun to say something."""

    def __init__(self, seconds, end, processes):
        assert seconds > runner.TIME_LIMIT
        super().__init__(daemon=True)
        self.ended, self.end, self.processes = Event(), end, processes

    def run(self):
        while not self.ended.wait(0.05):
            if self.sign.exists():
                return self.end(*self.processes)

    def cancel(self):
        self.ended.set()


def test_what_begins_to_be_said_and_does_not_go_on_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(AtTheSign, "sign", tmp_path / "begun", raising=False)
    monkeypatch.setattr(runner, "Timer", AtTheSign)
    begins = (
        f"{WRITING}os.write(connection.fileno(), struct.pack('!i', 10**6))\nopen({str(AtTheSign.sign)!r}, 'w').close()\ntime.sleep(10**6)\n"
    )
    result, _ = checked(tmp_path, begins)
    assert not result.holds and "died" in result.problems[0]


def test_the_version_kept_is_that_of_what_the_script_imports(tmp_path):
    other = tmp_path / "site-packages"
    for name, text in {
        "mpmath/__init__.py": "X = 1\n",
        "mpmath-9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: mpmath\nVersion: 9.9\n",
        "mpmath-9.9.dist-info/RECORD": "mpmath/__init__.py,,\n",
    }.items():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text)
    _, last = checked(tmp_path, f"import sys\nsys.path.insert(0, {str(other)!r})\n")
    assert last["libraries"]["mpmath"] == "9.9" != version("mpmath")


THREAD = """
import sys, threading, time
sys.modules.pop("colorsys", None)
threading._start_new_thread(__import__, ("colorsys",))
while "colorsys" not in sys.modules and time.monotonic() < {until}:
    time.sleep(0.01)
assert "colorsys" in sys.modules
"""


def test_a_thread_may_begin_with_an_import(tmp_path):
    assert checked(tmp_path, THREAD.format(until=time.monotonic() + 60))[0].holds
