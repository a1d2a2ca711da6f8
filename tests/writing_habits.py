"""Count habits of writing that make prose sound translated, for each thousand sentences.

    python -m tests.writing_habits                 # the pages of this site, by chapter and by habit
    python -m tests.writing_habits FOLDER ...      # Markdown files elsewhere, for comparison

The patterns find some of what docs/contributing/style.md describes, and some sentences that are fine. They compare texts; they do not judge
a sentence.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
NO_PAGES = {"coq", "sympy", "figures", "labs", "assets"}

THINGS = r"(?:softmax|formula|scale|variance|weights?|scores?|matri(?:x|ces)|masks?|claims?|layers?|heads?|keys?|quer(?:y|ies)|tokens?|rows?|models?|pages?)"
HABITS = {
    "inverted question or clause": r"\b(?i:how|what|which|why)\b[^.?!]{0,40}\b(?:has|have|is|are) (?:a|an|the|one|its|their)\b[^.?!]{0,40} to \w+|"
    r"(?:^|: )(?:Kept|Left|Lost|Needed|Wanted|Gone|Not|Nor|Only then|So much|Below|Above|Beside|Behind) (?:is|are|does|do|can|has|have|stands?|lies?)\b",
    "preposition with which, whoever, what that": r"\b(?:of|in|by|from|on|with|for|to|at) which\b|\bwhoever\b|\bwhatever\b|\bwhat [a-z]+(?: [a-z]+)? that\b",
    "noun clause as a subject": r"(?:^|[,;:] |and )[Ww](?:hat|hether|hich of)\b[^.?!,;:]{3,60}\b(?:is|are|has|was|goes|comes|makes|follows|remains|stands)\b(?![^.]*\?)",
    "condition by inversion": r"^(?:Let|Take|Draw|Add|Divide|Hold|Give|Leave|Write|Read|Put|Multiply|Make|Set|Replace)\b[^.?!]{3,90}, and (?:the|it|they|a|its|there|nothing|every|all|what)\b",
    "contrast by and no, and not": r"\band (?:no|not|none|nothing|never)\b",
    "one as a subject": r"\bone (?:can|could|may|must|has|needs|gets|divides|multiplies|adds|takes|reads|writes|knows|asks|wants|sees|computes|would|should|might|says|finds)\b",
    "private word for a term": r"\b(?:slopes?|turns?|turned|dear|dearer|dearest|cheap|cheaper|downhill|knob|spread|bring(?:s)? (?:a|the) variance)\b",
    "thing that acts like a person": rf"\b{THINGS} (?:asks?|knows?|wants?|says?|answers?|tells?|forgets?|sees?|cares?|learns? of|looks? for|likes?)\b",
    "stand, lie, come, go as idioms": r"\b(?:stands?|lies?|comes? (?:of|out|in|to|from|back|up|with|down)|goes? (?:by|on|into|through|back)|takes? (?:its|their) place)\b",
    "clipped sentence": r"^(?:\W*\w+\W*){1,4}$",
    "for in the sense of because": r"[,;] for (?:it|they|the|a|an|that|this|nothing|no|there|each|all|then|its)\b(?! (?:sake|example|instance))",
    "sentence that begins with where": r"^Where\b[^?]*$",
    "pronoun without a noun": r"^(?:That|This|These|Those|Both|None|Neither|Either|All|Others?|Most|It|They) (?:is|are|was|were|has|have|does|do|can|holds?|makes?|says?|takes?|follows?|needs?|would|will|may|must)\b",
}  # fmt: skip
PATTERNS = {name: re.compile(pattern) for name, pattern in HABITS.items()}

FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,}).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!et al)[.?!][\"”’)]*\s+(?=[A-Z\"“‘])")


def sentences(markdown: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, list entries and captions. Code, mathematics, headings, tables and blocks' marks are left out."""
    text = FENCE.sub("", FRONT_MATTER.sub("", markdown))
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$\n]+\$", "x", text)
    text = re.sub(r"`([^`\n]+)`", "x", text)
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)\s]*\)|\{[^}]*\})", r"\1", text)
    text = re.sub(r":\w+:", "", text)
    for paragraph in re.split(r"\n[ \t]*\n|^[ \t]*(?:/{3,}|[#|!<]|:\w+:|-{3}).*$|^[ \t]*[*+:-] +|^[ \t]*\d+\. ", text, flags=re.MULTILINE):
        paragraph = " ".join((paragraph or "").split()).strip("*_ ")
        for sentence in SENTENCE_END.split(paragraph):
            if re.search(r"[a-z]{2}", sentence):
                yield sentence


def count(paths: list[Path]) -> tuple[int, Counter]:
    """Return the number of sentences in files, and the number of times that each habit occurs."""
    total, found = 0, Counter()
    for path in paths:
        for sentence in sentences(path.read_text(encoding="utf-8")):
            total += 1
            found.update({name: len(pattern.findall(sentence)) for name, pattern in PATTERNS.items()})
    return total, found


def rate(total: int, found: Counter) -> int:
    """Return the number of habits in a thousand sentences."""
    return round(1000 * sum(found.values()) / total) if total else 0


def main(folders: list[str]) -> None:
    """Print the rates of folders, or of the chapters of this site."""
    if folders:
        groups = {folder: sorted(Path(folder).rglob("*.md")) for folder in folders}
    else:
        pages = sorted(path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in NO_PAGES)
        groups = {
            name: [page for page in pages if page.relative_to(DOCS).parts[0] == name]
            for name in sorted({page.relative_to(DOCS).parts[0] for page in pages})
        }
        groups["all pages"] = pages
    for name, paths in groups.items():
        total, found = count(paths)
        print(f"{rate(total, found):5}  {name} ({total} sentences)")
    for name, number in found.most_common():
        print(f"{round(1000 * number / total):5}    {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
