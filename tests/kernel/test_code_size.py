"""Limits on the code that every claim relies on, as the trust page reports it."""

from derivations.kernel.site.trust_counts import KERNEL, SHARED, count_by_room, count_code_lines, count_room_lines

MAX_LINES, MAX_TABLE_LINES = 525, 165
TABLES = ("operators.py", "number_formats.py")


def test_what_all_witnesses_share_stays_small_enough_to_read():
    table = sum(count_code_lines(KERNEL / "core" / name) for name in TABLES)
    assert 0 < table <= MAX_TABLE_LINES
    assert 0 < sum(map(count_room_lines, SHARED)) - table <= MAX_LINES


def test_lines_of_code_leave_out_comments_and_docstrings(tmp_path):
    path = tmp_path / "some.py"
    path.write_text('"""A\nmodule."""\n\n# why\nx = 1\n\n\ndef f():\n    """What."""\n    return [\n        1,\n    ]\n')
    assert count_code_lines(path) == 5


def test_lines_of_coq_leave_out_comments(tmp_path):
    path = tmp_path / "some.v"
    path.write_text("(* What\nit is. *)\n\nLemma a : x = x.  (* why *)\nProof. by []. Qed.\n")
    assert count_code_lines(path) == 2


def test_every_part_is_counted():
    _, rows, _ = count_by_room()
    assert [row[0] for row in rows] == [
        "shared by all witnesses",
        "from a script to its claims",
        "from a verdict to its page",
        "formulas as text",
        "the text of snippets",
        "exact",
        "SymPy",
        "PyTorch",
        "Coq",
        "code",
        "attacks on the witnesses",
        "what runs in a browser",
        "the command line",
    ]
    assert all(int(row[2]) > 100 for row in rows)
    rooms = [room for row in rows for room in row[1].split(", ")]
    assert sorted(rooms) == sorted(f"{path.parent.name}/" for path in KERNEL.glob("*/__init__.py"))  # each of them once
