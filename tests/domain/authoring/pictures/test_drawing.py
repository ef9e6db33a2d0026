from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from shared.domain.authoring.identity import InvalidBundle
from shared.domain.authoring.pictures.drawing import Drawing, GraphOptions, Undrawable, documents_of, draw
from shared.domain.authoring.pictures.graphviz import graphviz
from shared.domain.authoring.pictures.mermaid import mermaid
from shared.domain.authoring.pictures.svg import svg
from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from tests.domain.authoring.catalogs import WRITTEN, a_bundle, a_catalog, a_channel, a_package, written


@pytest.mark.parametrize(
    ("catalog", "options", "picture"),
    [
        pytest.param("tea.yaml", GraphOptions(marks_skipped=False), "tea.plain.mmd", id="R347: without marks"),
        pytest.param("tea.yaml", GraphOptions(), "tea.v0.mmd", id="R347: fbc.md 14, the example and more deprecations"),
        pytest.param("tea.yaml", GraphOptions("tea", marks_skipped=False), "tea.plain.mmd", id="R349: one package"),
        pytest.param("tea.yaml", GraphOptions(minimum="tea.v1.1.0", marks_skipped=False), "tea.minimum.mmd", id="R348"),
        pytest.param("tea.yaml", GraphOptions("absent"), "empty.mmd", id="R351: an unknown package"),
        pytest.param("steps.yaml", GraphOptions(), "steps.v0.mmd", id="fbc.md 14: skipped and deprecated"),
        pytest.param("steps.yaml", GraphOptions(minimum="s.v2"), "steps.minimum.mmd", id="R348: with marks"),
    ],
)
def test_mermaid_is_drawn_line_by_line_as_opm_draws_it(catalog: str, options: GraphOptions, picture: str) -> None:
    assert mermaid(draw(written(catalog), options)) == (WRITTEN / picture).read_text()


def test_a_package_of_an_index_is_drawn_like_its_documents() -> None:
    entries = (Entry("tea.v2", "tea.v1", ("tea.v0",), ">=0.1.0 <2.0.0"), Entry("tea.v1"))
    bundles = {f"tea.v{number}": Bundle(f"tea.v{number}", f"{number}.0.0", "") for number in (1, 2)}
    package = Package("tea", "main", (Channel("main", entries),), bundles, {"bundle/tea.v1": "old", "package": "gone"})
    drawn = draw(documents_of(package), GraphOptions("tea"))
    declared = [{"name": "tea.v2", "replaces": "tea.v1", "skips": ["tea.v0"], "skipRange": ">=0.1.0 <2.0.0"}]
    config = a_catalog(
        a_package(),
        a_channel(*declared, {"name": "tea.v1"}, name="main"),
        a_bundle("tea.v1", "1.0.0"),
        a_bundle("tea.v2", "2.0.0"),
    )
    assert [one.is_deprecated for one in drawn.packages[0].channels[0].nodes] == [False, True]
    assert drawn.packages[0].is_deprecated
    bare = draw(documents_of(replace(package, deprecations={})), GraphOptions("tea"))
    assert mermaid(bare) == mermaid(draw(config, GraphOptions("tea")))


def test_r350_an_unknown_minimum_is_refused() -> None:
    with pytest.raises(Undrawable, match='unknown minimum edge name: "x"'):
        draw(written("tea.yaml"), GraphOptions(minimum="x"))


@pytest.mark.parametrize("text", ["nonsense", "1.0.0 || || 2.0.0"])
def test_r352_r353_an_invalid_range_is_left_out_with_a_warning(text: str) -> None:
    config = a_catalog(
        a_package(), a_channel({"name": "a", "skipRange": text}, {"name": "b", "replaces": "a"}), a_bundle("b", "2.0.0")
    )
    drawing = draw(config, GraphOptions())
    assert [warning.partition(": ")[0] for warning in drawing.warnings] == [
        'ignoring invalid SkipRange for package/edge "tea"/"a"'
    ]
    assert 'a["a"]-- replace -->' in mermaid(drawing)
    assert draw(config, GraphOptions(minimum="b")).packages[0].channels[0].nodes[0].name == "b"


def test_r354_links_are_counted_in_the_order_of_the_text() -> None:
    skipping = ({"name": "b", "replaces": "a"}, {"name": "c", "skips": ["b"], "replaces": "a"}, {"name": "a"})
    config = a_catalog(
        a_channel(*skipping, name="zz", package="first"),
        a_channel({"name": "a"}, {"name": "b", "replaces": "a"}, name="aa", package="second"),
        *(a_bundle(name, f"{number}.0.0", "first") for number, name in enumerate("abc", 1)),
    )
    lines = mermaid(draw(config, GraphOptions())).splitlines()
    links = [line for line in lines if "-->" in line]
    assert lines[-1].startswith("linkStyle 2 ")
    assert links[2] == '      first-zz-a["a"]-- replace --> first-zz-b["b"]'


def test_fbc_14_every_deprecated_package_is_marked() -> None:
    notes = ({"schema": "olm.deprecations", "package": name, "entries": [
        {"reference": {"schema": "olm.package"}, "message": "old"},
        {"reference": {"schema": "olm.channel", "name": "c"}, "message": "old"},
    ]} for name in ("a", "b"))  # fmt: skip
    channels = (a_channel({"name": "e"}, name="c", package=name) for name in ("a", "b", "c"))
    lines = mermaid(draw(a_catalog(*notes, *channels), GraphOptions())).splitlines()
    marks = ["style a fill:#989695", "style b fill:#989695", "style a-c fill:#DCD0FF", "style b-c fill:#DCD0FF"]
    assert lines[-4:] == marks


def test_fbc_14_a_channel_that_loses_everything_is_not_drawn() -> None:
    config = a_catalog(
        a_channel({"name": "a"}, name="low"), a_channel({"name": "b"}, {"name": "a"}, name="high"),
        a_channel({"name": "b", "skipRange": "<2.0.0", "skips": ["a"], "replaces": "a"}, name="wide"),
        a_bundle("a", "1.0.0"), a_bundle("b", "2.0.0"),
    )  # fmt: skip
    drawn = draw(config, GraphOptions(minimum="b")).packages[0]
    assert [(channel.name, len(channel.nodes)) for channel in drawn.channels] == [("high", 1), ("wide", 1)]
    assert draw(config, GraphOptions(minimum="a")).packages[0].channels[2].nodes[0].links[-1].source == "a"


def test_fbc_14_a_package_that_loses_everything_is_not_drawn() -> None:
    bundles = (a_bundle("a", "1.0.0"), a_bundle("b", "2.0.0"), a_bundle("b", "0.1.0"))
    assert draw(a_catalog(a_channel({"name": "a"}), *bundles), GraphOptions(minimum="b")).packages == []


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        pytest.param([], 'bundle "b" has multiple "olm.package" properties, expected exactly 1', id="none"),
        pytest.param(
            [{"type": "olm.package", "value": {"version": "x"}}],
            'bundle "b" has invalid version "x": No Major.Minor.Patch elements found',
            id="no version",
        ),
        pytest.param(
            [{"type": "olm.gvk", "value": 1}], 'parse properties for bundle "b": parse property[0] of type "olm.gvk": ',
            id="no object",
        ),
    ],
)  # fmt: skip
def test_fbc_14_a_bundle_without_a_version_cannot_be_drawn(properties: list[object], message: str) -> None:
    bundle = {"schema": "olm.bundle", "name": "b", "package": "p", "image": "", "properties": properties}
    with pytest.raises(InvalidBundle) as caught:
        draw(a_catalog(bundle), GraphOptions())
    assert str(caught.value).startswith(message)


def test_graphviz_draws_the_same_links() -> None:
    text = graphviz(draw(written("steps.yaml"), GraphOptions()))
    assert '"steps-main-s.v3" -> "steps-main-s.v4" [label="replace", style=solid];' in text
    assert '"steps-main-s.v1" -> "steps-main-s.v3" [label="skip", style=dashed, color=red];' in text
    assert '"steps-main-s.ghost" [label="s.ghost", style=dashed];' in text
    assert 'style="rounded,filled", fillcolor="#E8960F", color=red];' in text
    assert text.count("{") == text.count("}")
    assert 'bgcolor="#DCD0FF"' in graphviz(draw(written("tea.yaml"), GraphOptions()))


@pytest.mark.parametrize("catalog", ["steps.yaml", "tea.yaml"])
def test_svg_is_a_picture_with_a_box_for_each_entry_and_an_arc_for_each_link(catalog: str) -> None:
    drawing = draw(written(catalog), GraphOptions())
    root = ElementTree.fromstring(svg(drawing))
    names = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    nodes = [node for channel in drawing.packages[0].channels for node in channel.nodes]
    assert {node.name for node in nodes} <= names
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert sorted(map(str, titles)) == sorted(link.label for node in nodes for link in node.links)


def test_svg_of_nothing_is_a_picture() -> None:
    assert ElementTree.fromstring(svg(Drawing())).tag.endswith("svg")
