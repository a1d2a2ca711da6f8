"""The files that a reader downloads for claims typed in a browser."""

import re

from ..printing.topic_templates import FILES, fill


def make_topic(topic: str, text: str) -> dict[str, str]:
    """Return the four files of a topic, by path: the script is a text, and the page shows the text's claims, the first one as a theorem.

    Snippet and tests are those of a new topic, to be replaced by code that computes the claims.
    """
    chapter, name = topic.split("/")
    values = {"{topic}": topic, "{chapter}": chapter, "{name}": name, "{title}": name.replace("_", " ").capitalize(), "{next}": ""}
    files = {fill(path, values): fill(content, values) for path, content in FILES.items() if "figures" not in path}
    run = 'if __name__ == "__main__":\n    derivation.main()\n'
    files[f"derivations/{topic}.py"] = text if "derivation.main()" in text else f"{text.rstrip()}\n\n{run}"
    files[f"docs/{topic}.md"] = show_claims(files[f"docs/{topic}.md"], topic, text)
    return files


def show_claims(page: str, topic: str, text: str) -> str:
    """Return a page that shows the claims of a script in place of those of the template."""
    first, *rest = re.findall(r"derivation\.(?!define\b)\w+\(\s*[\"']([a-z][a-z0-9-]*)[\"']", text) or ["claim"]
    page = page.replace(f"{topic}#sum-transposed", f"{topic}#{first}")
    page = re.sub(r"/// figure .*?///\n\n", "", page, flags=re.S)
    page = page.replace("Add a matrix to itself and transpose.", "What follows from the theorem?").replace(
        f"{topic}#twice", f"{topic}#{(rest or [first])[0]}"
    )
    more = "".join(f"/// claim | {topic}#{id}\n///\n\n" for id in rest[1:])
    return page.replace("/// practice", f"{more}/// practice", 1)
