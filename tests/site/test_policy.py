"""The content security policy."""

import base64
import hashlib
import re

from derivations.kernel.pages import policy

ROOT_POLICY = re.compile(r'content="(default-src[^"]*)"')


def test_the_policy_names_the_inline_scripts_and_no_others():
    theme = policy.__file__.replace("policy.py", "theme/main.html")
    with open(theme, encoding="utf-8") as file:
        meta = re.search(r"<meta http-equiv[^>]*>", file.read())[0]
    assert "'unsafe-inline'; style-src" in meta
    page = f'{meta}<script>var a=1</script><script src="x.js"></script><script type="application/json">{{}}</script>'
    found = ROOT_POLICY.search(policy.on_post_page(page))[1]
    digest = base64.b64encode(hashlib.sha256(b"var a=1").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}'; style-src" in found
    assert found.count("sha256-") == 1
    assert not re.search(r"https?:|\*", found)


def test_a_page_without_the_policy_is_left_alone():
    assert policy.on_post_page("<p>x</p><script>1</script>") == "<p>x</p><script>1</script>"
