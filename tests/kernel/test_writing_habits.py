"""The counter of writing habits reads sentences, not code, and counts a habit once for each place."""

import pytest

from tests.writing_habits import HABITS, PATTERNS, count, rate, sentences

PAGE = """---
kind: core
---

# A heading is not a sentence

The first sentence names $d_k$ and `dim=-1`. The second has [a link](a.md), e.g. Smith et al. (2017).

/// claim | a/b#c
///

```python
print("Not a sentence.")
```

- An entry of a list.
"""
EXAMPLES = {  # one for each habit, from docs/contributing/style.md where it has one
    "inverted question or clause": "How wide has a head to be?",
    "preposition with which, whoever, what that": "This is a sum of which one term is large.",
    "noun clause as a subject": "What softmax sees is a difference.",
    "condition by inversion": "Draw all entries independently, and the variance is the width.",
    "contrast by and no, and not": "It is a reason and no debt.",
    "one as a subject": "At the end one divides by the sum.",
    "private word for a term": "These are the slopes of the weights.",
    "thing that acts like a person": "Here softmax asks for the scores.",
    "stand, lie, come, go as idioms": "This formula stands in many places.",
    "clipped sentence": "So it waits.",
    "for in the sense of because": "The mask is needed, for it hides a key.",
    "sentence that begins with where": "Where a key is hidden the weight is zero.",
    "pronoun without a noun": "This is enough for a proof of the bound.",
}


def test_sentences_leave_out_code_headings_and_blocks():
    assert [one.rstrip(".") for one in sentences(PAGE)] == [
        "The first sentence names x and x",
        "The second has a link, e.g. Smith et al. (2017)",
        "An entry of a list",
    ]


@pytest.mark.parametrize("habit", HABITS)
def test_each_habit_is_found_in_its_example_and_not_in_plain_prose(habit):
    assert PATTERNS[habit].search(EXAMPLES[habit])
    assert not PATTERNS[habit].search("Dividing the scores by the root of the width brings their variance back to one")


def test_habits_are_counted_for_a_thousand_sentences(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("The formula stands in many places. " + "The variance equals the width of the head. " * 3, encoding="utf-8")
    total, found = count([page])
    assert (total, rate(total, found)) == (4, 250)
