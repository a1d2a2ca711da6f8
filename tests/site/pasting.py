"""Paste pages into fresh interpreters, run files as `python -m doctest` does, and print the results as JSON.

    python pasting.py < JOBS

A job is a kind, a name and a list of texts. For "blocks", the texts are the code blocks of a page, and each runs as a cell of a notebook
does. For "typed", the texts are what the page's copy buttons copy, and the interpreter's own prompt reads them line by line, as in a
terminal. A "file" runs alone. Each job runs in a process of its own, with its own `__main__` and without any module of the snippets. The
process from which the others are forked imports only PyTorch, once, because that import takes longer than most pages.
"""

import ctypes
import doctest
import io
import json
import multiprocessing
import os
import runpy
import sys
import tempfile
import traceback
import types
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

AT_ONCE = 2
PRELOADED = ["torch"]


def paste(blocks):
    """Run the blocks of a page one after another in one interpreter, and return the errors. Compare the outputs with those shown."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    wrong = []
    for number, block in enumerate(blocks, start=1):
        if ">>>" in block:
            said = io.StringIO()
            test = doctest.DocTestParser().get_doctest(block, main.__dict__, f"block {number}", None, 0)
            test.globs = main.__dict__  # the names that it binds remain for the next block
            if doctest.DocTestRunner(verbose=False).run(test, out=said.write, clear_globs=False).failed:
                wrong.append(said.getvalue())
        else:
            try:
                exec(compile(block, f"block {number}", "exec"), main.__dict__)
            except Exception:
                wrong.append(traceback.format_exc())
    return wrong


def typed(*copied):
    """Return the output and the errors at the plain prompt of this Python. The prompt's own loop reads the lines, as with `python -i`.

    After each block, press Enter until the prompt is back, as a reader would.
    """
    sys.modules["__main__"] = types.ModuleType("__main__")
    Path("typed").write_text("".join(f"{one.rstrip()}\n\n" for one in copied), encoding="utf-8")
    out, errors, quiet = io.StringIO(), io.StringIO(), os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)  # hide the prompts
    libc = ctypes.CDLL(None)
    libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
    loop = ctypes.pythonapi.PyRun_InteractiveLoopFlags
    loop.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    with redirect_stdout(out), redirect_stderr(errors):
        loop(libc.fopen(b"typed", b"r"), b"<stdin>", None)
    return [out.getvalue(), errors.getvalue()]


def run_alone(name, text):
    """Return what `python -m doctest NAME.py` reports for a file that stands alone in a folder."""
    Path(f"{name}.py").write_text(text, encoding="utf-8")
    sys.argv = ["doctest", f"{name}.py"]
    sys.path.insert(0, "")
    said = io.StringIO()
    with redirect_stdout(said):
        try:
            runpy.run_module("doctest", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            return [said.getvalue()] if end.code else []
    return []


def do(job):
    """Run a job in an empty folder, and return its kind, its name and its report."""
    kind, name, texts = job
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        import torch

        torch.set_num_threads(1)
        known = [module for module in sys.modules if module.partition(".")[0] == "snippets"]
        assert not known, known
        try:
            if kind == "file":
                said = run_alone(name.rpartition("/")[2].removesuffix(".py"), *texts)
            else:
                said = typed(*texts) if kind == "typed" else paste(texts)
        except BaseException:
            said = [traceback.format_exc()]
        os.chdir("/")
        import snippets

        return kind, name, said, str(Path(snippets.__file__).parent)


def main():
    jobs = json.load(sys.stdin)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with ProcessPoolExecutor(AT_ONCE, mp_context=context, max_tasks_per_child=1) as processes:
        json.dump(list(processes.map(do, jobs)), sys.stdout)


if __name__ == "__main__":
    main()
