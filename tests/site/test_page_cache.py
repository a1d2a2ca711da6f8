"""Tests of the page cache: a page is rendered again only if something that it is made from has changed."""

import logging
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from mkdocs.structure.toc import get_toc

from derivations.kernel.site import PageError, incremental_build, page_cache, page_cache_hook, page_dependencies, page_errors
from derivations.kernel.store import project_files, store
from derivations.kernel.store.store import Recheck

TOC = [{"name": "One", "id": "one", "level": 1, "children": []}]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder with a page and a file that the page includes. Nothing is rendered again unless necessary."""
    monkeypatch.setattr(store, "FOLDER", tmp_path / "store")
    monkeypatch.setattr(incremental_build, "may_have_changed", lambda name: False)  # files here are as young as the page
    (tmp_path / "page.md").write_text("words")
    (tmp_path / "included.py").write_text("1")
    began(monkeypatch)
    return tmp_path


def began(monkeypatch, around="as it was"):
    """Start another build."""
    monkeypatch.setattr(page_cache, "_build", [page_cache.Build(around)])


@dataclass(frozen=True)
class File:
    src_uri: str
    abs_src_path: str


def page_of(site):
    file = File("a/page.md", str(site / "page.md"))
    return SimpleNamespace(file=file, content=None, title="", toc=get_toc([]), present_anchor_ids=None, links_to_anchors=None)


class Inventory(dict):
    def register(self, name, **item):
        self[name] = SimpleNamespace(name=name, **item)


class Anchors(dict):
    def register_anchor(self, page, identifier, anchor=None, *, title=None, primary=True):
        self[identifier] = (page.file.src_uri, anchor, title, primary)


class Handler:
    def collect(self, identifier, options):
        return f"{identifier} with {options}"


def plugins():
    """Return the plugins mkdocstrings and autorefs, which record what a page registers."""
    handlers = SimpleNamespace(inventory=Inventory(), seen_handlers=[Handler()])
    return {"autorefs": Anchors(), "mkdocstrings": SimpleNamespace(handlers=handlers)}


def told(plugins):
    items = plugins["mkdocstrings"].handlers.inventory.values()
    return plugins["autorefs"], [(item.name, item.uri, item.priority) for item in items]


def referring(page, plugins, reads=(), names=()):
    """Register what mkdocstrings registers for a page that documents names, each also under an alias with the same ending."""
    handlers = plugins["mkdocstrings"].handlers
    for identifier in reads:
        assert handlers.seen_handlers[0].collect(identifier, {}) == f"{identifier} with {{}}"
    for name in names:
        plugins["autorefs"].register_anchor(page, name, title="Title")
        for alias, priority in ((name, 1), (name.rpartition(".")[2], 2)):
            if priority == 1 or alias not in handlers.inventory:
                handlers.inventory.register(name=alias, uri=f"{page.file.src_uri}#{name}", priority=priority)


def built(site, plugins=None, **shown):
    """Return the page, rendered or from the cache, and whether it was rendered."""
    page, runs = page_of(site), []

    def execute():
        runs.append(1)
        page_dependencies.note_files([site / "included.py"])
        page.content, page.title, page.toc = f"<p>{(site / 'included.py').read_text()}</p>", "One", get_toc(TOC)
        page.present_anchor_ids, page.links_to_anchors = {"one"}, {page.file: {"one": "page.md#one"}}
        if shown:
            referring(page, plugins, **shown)

    page_cache_hook.render(
        page, plugins or {}, SimpleNamespace(get_file_from_path=lambda name: page.file if name == "a/page.md" else None), execute
    )
    return page, bool(runs)


def test_unchanged_page_comes_from_the_cache(site, monkeypatch):
    first, was_rendered = built(site)
    assert was_rendered
    began(monkeypatch)
    second, was_rendered = built(site)
    assert not was_rendered
    assert page_cache_hook.page_to_json(second) == page_cache_hook.page_to_json(first) and second.content == "<p>1</p>"
    assert second.present_anchor_ids == {"one"} and second.links_to_anchors == {second.file: {"one": "page.md#one"}}


@pytest.mark.parametrize("name", ["page.md", "included.py"])
def test_page_with_changed_source_is_rendered(site, monkeypatch, name):
    built(site)
    (site / name).write_text("2, and longer")
    began(monkeypatch)
    page, was_rendered = built(site)
    assert was_rendered and page.content == f"<p>{(site / 'included.py').read_text()}</p>"
    began(monkeypatch)
    assert not built(site)[1]


def test_change_of_a_common_dependency_causes_rendering(site, monkeypatch):
    built(site)
    began(monkeypatch, "another kernel")
    assert built(site)[1]


def test_mismatch_in_recheck_stops_the_build_and_clears_the_cache(site, monkeypatch):
    built(site)
    stored = page_cache.STORE.get("a/page.md")
    page_cache.STORE.put("a/page.md", stored | {"result": stored["result"] | {"content": "<p>2</p>"}})
    assert built(site)[0].content == "<p>2</p>"  # the seal is good, so that only rendering tells
    monkeypatch.setattr(store.settings, "recheck", Recheck(1))
    with pytest.raises(PageError, match="docs/a/page.md: differs from its stored result"):
        built(site)
    assert page_cache.STORE.keys() == []
    assert built(site)[0].content == "<p>1</p>"


def test_page_with_mkdocs_warning_is_not_cached(site):
    page = page_of(site)
    page_cache_hook.render(page, {}, None, lambda: logging.getLogger("mkdocs.structure.pages").warning("no such file"))
    assert page_cache.STORE.keys() == []


@pytest.mark.parametrize("reads", [["a.module"], ["derivations.kernel", "a.module"], ["derivations.kernels"]])
def test_page_that_reads_undeclared_files_is_not_cached(site, reads):
    assert built(site, plugins(), reads=reads)[1] and page_cache.STORE.keys() == []


def test_cached_reference_page_registers_its_names_again(site, monkeypatch):
    shown = {"reads": ["derivations.kernel", "derivations.kernel.core.Expr"], "names": ["core.Expr"]}
    first, second = plugins(), plugins()
    assert built(site, first, **shown)[1]
    began(monkeypatch)
    assert not built(site, second, **shown)[1]
    assert (
        told(second)
        == told(first)
        == (
            {"core.Expr": ("a/page.md", None, "Title", True)},
            [("core.Expr", "a/page.md#core.Expr", 1), ("Expr", "a/page.md#core.Expr", 2)],
        )
    )
    monkeypatch.setattr(store.settings, "recheck", Recheck(1))
    assert built(site, plugins(), **shown)[1]  # rendering gives the same result


@pytest.mark.parametrize("before, now", [([], ["other.Expr"]), (["other.Expr"], []), ([], ["core.Expr"]), (["core.Expr"], [])])
@pytest.mark.parametrize("name", ["core.Expr", "Expr"])
def test_names_of_cached_page_merge_with_other_pages_as_when_rendered(site, monkeypatch, name, before, now):
    """What other pages have registered differs between builds, and this page registers some of the same names."""
    elsewhere = SimpleNamespace(file=File("a/other.md", ""))
    first, taken, rendered = plugins(), plugins(), plugins()
    referring(elsewhere, first, names=before)
    built(site, first, names=[name])
    began(monkeypatch)
    for each in (taken, rendered):
        referring(elsewhere, each, names=now)
    assert not built(site, taken, names=[name])[1]
    referring(page_of(site), rendered, names=[name])
    assert told(taken) == told(rendered)


def test_failed_rendering_leaves_mkdocstrings_unchanged(site):
    given = plugins()
    handlers = given["mkdocstrings"].handlers
    inventory = handlers.inventory

    def fails():
        handlers.seen_handlers[0].collect("derivations.kernel", {})
        raise PageError("not this")

    with pytest.raises(PageError):
        page_cache_hook.render(page_of(site), given, None, fails)
    assert handlers.inventory is inventory and not vars(handlers.seen_handlers[0]) and not vars(given["autorefs"])


def test_page_that_changes_during_rendering_is_not_cached(site, monkeypatch):
    monkeypatch.setattr(incremental_build, "may_have_changed", lambda name: name.endswith("included.py"))
    assert built(site)[1] and page_cache.STORE.keys() == []


def test_cache_is_not_used_while_serving(site, monkeypatch):
    page = page_of(site)
    page.render = object()
    before = page.render
    monkeypatch.setattr(page_errors, "are_shown", lambda: True)
    assert page_cache_hook.on_pre_page(page).render is before
    monkeypatch.setattr(page_errors, "are_shown", lambda: False)
    assert page_cache_hook.on_pre_page(page).render is not before


def test_every_page_depends_on_kernel_settings_and_list_of_files(tmp_path, monkeypatch):
    (tmp_path / "mkdocs.yml").write_text("site_name: One")
    (tmp_path / "kernel.py").write_text("1")
    monkeypatch.setattr(project_files, "kernel_files", lambda: [tmp_path / "kernel.py"])
    config = SimpleNamespace(
        config_file_path=str(tmp_path / "mkdocs.yml"), docs_dir="docs", site_url="http://a/", repo_url="", use_directory_urls=True
    )
    files = [SimpleNamespace(src_uri="a.md")]
    seen = {page_cache_hook.digest_shared_inputs(config, files)}
    assert page_cache_hook.digest_shared_inputs(config, files) in seen
    for change in (
        lambda: (tmp_path / "kernel.py").write_text("22"),
        lambda: (tmp_path / "mkdocs.yml").write_text("site_name: Two!"),
        lambda: setattr(config, "repo_url", "http://b/"),
        lambda: files.append(SimpleNamespace(src_uri="b.md")),
    ):
        change()
        seen.add(page_cache_hook.digest_shared_inputs(config, files))
    assert len(seen) == 5
