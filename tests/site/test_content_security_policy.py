"""Tests of the content security policy and of the other changes that its hook makes to a finished page."""

import base64
import hashlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from derivations.kernel.site import PageError, content_policy_hook

ROOT_POLICY = re.compile(r'content="(default-src[^"]*)"')


def test_policy_allows_only_the_inline_scripts_of_the_page():
    theme = content_policy_hook.__file__.replace("content_policy_hook.py", "theme/main.html")
    with open(theme, encoding="utf-8") as file:
        meta = re.search(r"<meta http-equiv[^>]*>", file.read())[0]
    assert "'unsafe-inline'; style-src" in meta
    page = f'{meta}<script>var a=1</script><script src="x.js"></script><script type="application/json">{{}}</script>'
    found = ROOT_POLICY.search(content_policy_hook.on_post_page(page))[1]
    digest = base64.b64encode(hashlib.sha256(b"var a=1").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}'; style-src" in found
    assert found.count("sha256-") == 1
    assert not re.search(r"https?:|\*", found)


def test_page_without_policy_is_unchanged():
    assert content_policy_hook.on_post_page("<p>x</p><script>1</script>") == "<p>x</p><script>1</script>"


def test_a_page_that_redirects_gets_the_policy_once(tmp_path):
    plugin = SimpleNamespace(config={"redirect_maps": {"old.md": "new.md", "other.md": "missing.md"}})
    config = SimpleNamespace(plugins={"redirects": plugin}, docs_dir="docs", site_dir=str(tmp_path), use_directory_urls=True)
    page = tmp_path / "old" / "index.html"
    page.parent.mkdir()
    page.write_text("<html><head><script>var a=1</script></head></html>")
    content_policy_hook.on_post_build(config=config)
    once = page.read_text()
    digest = base64.b64encode(hashlib.sha256(b"var a=1").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}'; style-src" in ROOT_POLICY.search(once)[1]
    content_policy_hook.on_post_build(config=config)
    assert page.read_text() == once and not (tmp_path / "other").exists()


def test_subscripts_are_lowered_only_in_displayed_titles():
    kept = '<title>Why √d_k?</title><p>d_k</p><a href="#x" title="Why √d_k?">'
    assert content_policy_hook.on_post_page(f"{kept}Why √d_k?</a>") == f"{kept}Why √d<sub>k</sub>?</a>"
    assert (
        content_policy_hook.on_post_page("<text>Why √d_k</text>")
        == '<text>Why √d<tspan baseline-shift="sub" font-size="70%">k</tspan></text>'
    )
    assert content_policy_hook.on_post_page('<h1 id="d_k">Why √d_k?<a') == '<h1 id="d_k">Why √d<sub>k</sub>?<a'
    assert content_policy_hook.on_post_page('<h1 id="d_k">The wrong d_k</h1>') == '<h1 id="d_k">The wrong d<sub>k</sub></h1>'


SETTINGS = "site_name: Sums\nsite_description: Of sums.\nextra:\n  more: a = b\nnav:\n  - Home: index.md\n  - Often said:\n      - One of them: a/b.md\n"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [("Home", '"softmax(z) = z"', 6), ("Often said", "a → b", 7), ("One of them", '"1 = 2"', 8), ("Sums", "a ≤ b", 1), ("Of sums", "softmax(z) = z for every z", 2)],
)  # fmt: skip
def test_relation_in_mkdocs_yml_stops_the_build(tmp_path, old, new, line):
    path = tmp_path / "mkdocs.yml"
    path.write_text(SETTINGS)
    content_policy_hook.on_config(SimpleNamespace(config_file_path=str(path)))
    path.write_text(SETTINGS.replace(old, new))
    with pytest.raises(PageError) as caught:
        content_policy_hook.on_config(SimpleNamespace(config_file_path=str(path)))
    assert caught.value.format_message().startswith(f"mkdocs.yml:{line}: ") and "states a relation" in caught.value.format_message()


def test_settings_of_the_site_state_no_relation():
    content_policy_hook.on_config(SimpleNamespace(config_file_path=str(Path(__file__).parents[2] / "mkdocs.yml")))
