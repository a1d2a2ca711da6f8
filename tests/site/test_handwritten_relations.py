"""Test that relations written by hand in places other than prose, and imitations of the kernel's own boxes, stop the build."""

import re
from pathlib import Path

import markdown
import pytest
from bs4 import BeautifulSoup

from derivations.kernel import site
from derivations.kernel.site import page_lint

ROOT = Path(__file__).parents[2]
BADGE = '<span class="claim__witness">exact</span>'

FORGED = {
    "text": "```text\nsoftmax(z) = z, for every z\n```",
    "text after another line": "```text\nabout softmax\nsoftmax(z) = z, for every z\n```",
    "a drawn relation": "```text\n           ___\nsoftmax(z) ___ z\n```",
    "a console": "```console\nsoftmax(z) = z, for every z\n```",
    "a prompt of a console": "```console\n$ softmax(z) = z\n```",
    "a comparison in a console": "```console\nsoftmax(z) is z\n```",
    "an output of a console": '```console\n$ python -c "print(1)"\ntensor([1., 2.])\n```',
    "words of an output": "```console\n$ python -m derivations check\nok  softmax/distribution 5/5 claims\n```",
    "an output behind the prompt": "```console\n$ tensor([1., 2.])\n```",
    "a comment on a command": "```console\n$ # tensor([1., 2.])\n```",
    "a table of results": "```text\nsoftmax([1, 2])     [1, 2]\n```",
    "a call and its value": "```text\nsoftmax(1): 0.5\n```",
    "a table of names": "```text\nsoftmax(z)    z\n```",
    "a value alone": "```text\nthe softmax of a vector\n[0.25, 0.75]\n```",
    "a head of a claim": "**Theorem (every shape).** The transpose of a product is the product of the transposes.",
    "a head with a number": "**Lemma 2.** The transpose of a product is the product of the transposes.",
    "a head in HTML": "<b>Identity.</b> The transpose of a product is the product of the transposes.",
    "a head that is not bold": "Definition (softmax). It leaves each vector as it is.",
    "a head as a heading": "## Law (every value)",
    "a theorem as a heading": "## Theorem: every matrix is normal",
    "a theorem as a title": "/// admonition | Theorem 3\n    type: note\n\nMatrices commute.\n///",
    "a theorem that is folded": "/// details | Theorem: matrices commute\n\nText\n///",
    "a theorem that opens a paragraph": "**Theorem**\nMatrices commute.",
    "a claim by name": "**Claim (every shape).** Matrices commute.",
    "a badge as a link's title": '[x](index.md "every shape · exact · SymPy")',
    "a command that says what it is told": "```console\n$ echo ok softmax/distribution 5/5\n```",
    "a program in a command": "```console\n$ python -c \"print('softmax(z) is z')\"\n```",
    "a badge of words": "The transpose of a product, in the same order. every shape · exact · SymPy · PyTorch",
    "a badge the other way round": "The transpose of a product (exact, SymPy and PyTorch; every value).",
    "a badge with emphasis": "The transpose of a product. *every shape* **exact** `SymPy`",
    "a badge as a list": "The transpose of a product, in the same order.\n\n- every shape\n- exact\n- SymPy",
    "a badge as a nested list": "1. every shape\n    - exact\n    - SymPy",
    "a badge as a row": "| softmax | every shape | exact | SymPy |\n|-|-|-|-|\n| z | z | z | z |",
    "a badge as a column": "| softmax |\n|-|\n| every shape |\n| exact |\n| SymPy |",
    "a proportion": "softmax(z) : z :: 1 : 1",
    "a doubled colon": "softmax(z) :: z",
    "a ratio": "softmax(z) : z",
    "a comparison by a call": "It is `torch.equal(softmax(z), z)` for each.",
    "a comparison by a method": "It is `softmax(z).allclose(z)` for each.",
    "a fence of waves": "~~~text\nsoftmax(z) = z\n~~~",
    "a fence in a list": "- x\n\n    ```text\n    softmax(z) = z\n    ```",
    "a fence of no language": "```\nsoftmax(z) = z\n```",
    "a fence of code": "```python\nassert softmax(z) == z\n```",
    "a fence closed by one that stands further in": '```python\n--8<-- "snippets/a/b.py:add"\n  ```\nsoftmax(z) = z\n```text\nx\n```',
    "text that is included": '```text\n--8<-- "README.md"\n```',
    "preformatted text": "<pre>softmax(z) = z</pre>",
    "a box of a claim": '<section class="claim claim--identity"><header class="claim__head">softmax</header></section>',
    "a badge": f"By {BADGE} so.",
    "a box by a list of attributes": "softmax(z), z\n{: .claim }",
    "a box by attributes of a block": "/// details | More\n    attrs: {class: claim claim--identity}\n\nsoftmax(z), z\n///",
    "a row of the trust page": '<div class="trust">all is proved</div>',
    "an output of a lab": '<div class="lab__output">x</div>',
    "a picture of the kernel": '<figure class="picture">x</figure>',
    "a box in capitals": '<section CLASS="CLAIM">x</section>',
    "a class of the theme": '<div class="md-banner">x</div>',
    "a token of the kernel": '/// claim | scaling/variance#mean\n///\n\n<section class="\ue000certified0\ue001">x</section>',
    "an image": "![The softmax](rel.svg)",
    "an image within": "![The softmax](data:image/svg+xml;base64,AAAA)",
    "an image of HTML": '<img src="rel.svg">',
    "an image by reference": "![The softmax][rel]\n\n[rel]: rel.svg",
    "lines over and under": "softmax(z) <u><s>&nbsp;&nbsp;</s></u> z",
    "a line under": "softmax(z) <ins>&nbsp;</ins> z",
    "a line through": "softmax(z) <del>&nbsp;</del> z",
    "two rules": "softmax(z) <hr> <hr> z",
    "two rules of dashes": "softmax(z)\n\n---\n\n---\n\nz",
    "a link to a script": "[x](javascript:alert(1))",
    "a link that is none": "[x](http://[z)",
    "a link to a page of its own": '<a href=" da&#10;ta:text/html,x">x</a>',
    "a comment that ends sooner": "<!-->softmax(z) = z-->",
    "a described element": '<span aria-description="softmax(z) = z">x</span>',
    "a name in what is read aloud": '<span aria-roledescription="softmax(z) = z">x</span>',
    "a value of data": '<span data-md-tooltip="softmax(z) = z">x</span>',
    "a hint": '<a href="index.md" placeholder="softmax(z) = z">x</a>',
    "a hint by a list of attributes": 'Text\n{: data-copy="softmax(z) = z" }',
    "a title": '[x](index.md "softmax(z) = z")',
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_forgery_is_rejected_with_its_line(text, refused):
    assert re.match(r"docs/notes/page\.md(:\d+)?: ", refused(f"Title\n\n{text}\n"))


SHOWN = {
    "a block as it is written": "```text\n/// claim | simplify/bilinear#merged\n///\n```",
    "a message": "```text\nvacuous: both sides are the same expression already\n```",
    "a command": "```console\n$ python -m doctest snippets/softmax/distribution.py\n```",
    "a command on two lines": "```console\n$ python -m doctest \\\n    snippets/softmax/distribution.py\n\n$ ./run --fast\n```",
    "a sentence about witnesses": "The exact witness proves it at every shape; SymPy writes sizes out, and PyTorch agrees.",
    "a theorem in a sentence": "The **theorem** says more. The limit. A definition (of softmax) is folded. **Definitions** stand first.",
    "a message with a bracket": "```text\nA @ B: the shapes (n, d) and (d, m) of the sides\n```",
    "a colon": "Two things: a ratio of 3:1, and `torch.equal`.",
    "a command after a prompt": "```console\n$ python -m derivations check --page\n```",
    "an admonition": "/// details | More\n\nText\n///",
    "a column of a table": "| a | b |\n|:--|--:|\n| 1 | 2 |",
    "a link": '[x](index.md "A page")',
}


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
def test_text_without_relations_passes(text, page):
    assert page(f"Title\n\n{text}\n")


def test_boxes_of_the_kernel_pass_with_their_classes(page):
    html = BeautifulSoup(page("/// claim | scaling/variance#mean\n///\n"), "html.parser")
    assert html.select_one("div.claims > section.claim span.claim__witness")


@pytest.mark.parametrize(
    "front", ["title: softmax(z) = z", "description: it is that 0 ≤ 1", "tags: [x, a = b]", "a: {b: [x ≈ y]}", "x = y: z"]
)
def test_relation_in_front_matter_is_rejected(front, refused):
    assert re.match(r"docs/notes/page\.md:2: .* states a relation", refused("# Title\n", front=f"---\n{front}\n---\n"))


def test_front_matter_without_relations_passes(page):
    assert page("# Title\n", front="---\ntitle: Softmax\ndescription: What it is.\nhide: [toc]\n---\n")


@pytest.mark.parametrize(
    "latex",
    [
        r"z \frac{\frac{\quad}{\quad}}{\quad} z",
        r"z \frac{}{\quad} z",
        r"z \sqrt{\quad} z",
        r"z \sqrt[3]{} z",
        r"z \overline{\quad} z",
        r"z^{\frac{\quad}{\quad}} z",
        r"z \begin{array}{c}\hline \\ \hline\end{array} z",
        r"z \begin{array}{c}\hline x \\ \hline\end{array} z",
        r"z \begin{matrix} \\ \end{matrix} z",
        r"A \textcolor{white}{+ B}",
        r"\textcolor{red}{K}",
        r"x\ \mathrm{yields}\ z",
        r"x \mathrm{becomes} z",
        r"x\ \mathit{gives}\ z",
        r"x\ \operatorname{makes}\ z",
        r"x\ yields\ z",
        r"f(x)\ \mathrm{yields}\ f(z)",
    ],
)
def test_relation_in_handwritten_formula_is_rejected(latex, refused):
    assert refused(f"Title\n\nThen ${latex}$ here.\n").startswith(f"docs/notes/page.md:3: ${latex}$ ")


@pytest.mark.parametrize(
    "latex",
    [r"\frac{1}{2}", r"\sqrt{d_k}", r"\mathrm{head}", r"\mathrm{fl}(x)", r"x \log x", r"\exp(x)", r"W_{\mathrm{out}}", r"a \max b", "x y"],
)
def test_formula_that_only_names_a_quantity_passes(latex, page):
    assert "<math>" in page(f"Let ${latex}$ be.")


@pytest.mark.parametrize("span", ["softmax(z) is z", "softmax(z) in z", "softmax(z) is not z", "size=0", "x if y else z is x", "dim=d_k"])
def test_comparison_in_code_span_is_rejected(span, refused):
    assert f"`{span}` states a relation" in refused(f"Title\n\nSay `{span}` here.\n")


# Snippets -------------------------------------------------------------------------------------------------------------------------

SNIPPET = '''"""About sums.

--8<-- [start:example]
>>> from snippets.a.b import add
>>> {example}
{output}

--8<-- [end:example]
"""


# --8<-- [start:add]
def add(a, b):
    {comment}
    return a + b
# --8<-- [end:add]
'''
TOLD = {
    "an output": ('print("softmax(z) = z")', "softmax(z) = z", "# (n, d) -> (n,)"),
    "a text that is not shown": ('f"softmax(z) = {1}"', "'softmax(z) ' + '1'", "# sums"),
    "an output that is put together": ('print("softmax(z)", chr(61), "z")', "softmax(z) = z", "# sums"),
    "a shape of words": ("add(1, 2)", "3", "# (softmax of scores) -> (scores)"),
    "a shape of a call": ("add(1, 2)", "3", "# (n) -> (softmax, (z))"),
}


@pytest.mark.parametrize("case", TOLD)
def test_relation_in_example_or_comment_of_a_snippet_is_found(case, tmp_path):
    (tmp_path / "snippets/a").mkdir(parents=True)
    example, output, comment = TOLD[case]
    (tmp_path / "snippets/a/b.py").write_text(SNIPPET.format(example=example, output=output, comment=comment))
    (found, *_) = page_lint.check_words(tmp_path, "a/b")
    assert re.match(r"snippets/a/b\.py:\d+: .* states a relation", str(found))


def test_examples_and_comments_without_relations_pass(tmp_path):
    (tmp_path / "snippets/a").mkdir(parents=True)
    text = SNIPPET.format(example="add(1, 2)", output="3", comment="# (*batch, 2 * n, d) (..., d) -> (n, d)")
    (tmp_path / "snippets/a/b.py").write_text(text)
    assert page_lint.check_words(tmp_path, "a/b") == []


def test_relations_in_included_code_pass(tmp_path):
    (tmp_path / "snippets/a").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "snippets/a/b.py").write_text("# --8<-- [start:one]\ndef one(a):\n    return a == 1\n# --8<-- [end:one]\n")
    text = '# Title\n\n```python\n--8<-- "snippets/a/b.py:one"\n```\n'
    (tmp_path / "docs/page.md").write_text(text)
    extensions = [
        "attr_list",
        "pymdownx.highlight",
        "pymdownx.superfences",
        "pymdownx.blocks.details",
        site.makeExtension(docs=str(tmp_path / "docs")),
        "pymdownx.snippets",
    ]
    html = markdown.markdown(text, extensions=extensions, extension_configs={"pymdownx.snippets": {"base_path": [str(tmp_path)]}})
    assert "return a == 1" in BeautifulSoup(html, "html.parser").pre.text
