"""Basic templates, templates in general, and catalogs that become templates."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from shared.domain.authoring.template import SCHEMAS, Rendered, TemplateError, detect, images, render
from shared.domain.authoring.template.convert import convert, text
from shared.domain.authoring.writing.write import Form
from tests.domain.authoring.catalogs import WRITTEN, a_bundle, a_catalog, a_channel, a_package


def rendered(image: str) -> list[Rendered]:
    return [Rendered(a_catalog(a_bundle(image, "1.0.0")).bundles[0])]


def a_template(*entries: Any, schema: str = "olm.template.basic") -> bytes:
    return yaml.safe_dump({"schema": schema, "entries": list(entries)}).encode()


def test_r298_a_bundle_of_a_basic_template_is_what_its_image_holds() -> None:
    entries = (a_package(), a_channel({"name": "one"}), {"schema": "olm.bundle", "image": "one", "name": "ignored"})
    config = render(a_template(*entries, {"schema": "acme.note"}), SCHEMAS["basic"], rendered)
    assert config.packages == [a_package()]
    assert [bundle["name"] for bundle in config.bundles] == ["one"]
    assert config.others[0].schema == "acme.note"


@pytest.mark.parametrize(
    "field",
    [
        {"package": "tea"},
        {"properties": [{"type": "t", "value": 1}]},
        {"relatedImages": [{"image": "i"}]},
        {"image": ""},
    ],
    ids=lambda field: f"R299: {next(iter(field))}",
)
def test_what_an_image_decides_is_not_written_beside_it(field: dict[str, Any]) -> None:
    with pytest.raises(TemplateError, match="unexpected fields present in basic template bundle"):
        render(a_template({"schema": "olm.bundle", "image": "one"} | field), SCHEMAS["basic"], rendered)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "decoding template schema: EOF", id="fbc.md 12.2: nothing"),
        pytest.param(b"a: [", "decoding template schema: ", id="fbc.md 12.2: broken"),
        pytest.param(
            b"schema: 1\n",
            "unmarshalling template: json: cannot unmarshal number into Go struct field BasicTemplateData.schema",
            id="a number",
        ),
        pytest.param(
            a_template(schema="olm.x"), 'template has unknown schema ("olm.x"), should be "olm.template.basic"',
            id="fbc.md 12.2: another schema",
        ),
        pytest.param(
            b"entries: 5\n",
            "unmarshalling template: json: cannot unmarshal number into Go struct field BasicTemplateData.entries "
            "of type []*declcfg.Meta",
            id="no list",
        ),
        pytest.param(a_template(1), "unmarshalling template: json: cannot unmarshal number", id="an entry of no kind"),
        pytest.param(a_template({"a": 1}), "object is missing root schema field", id="an entry without a schema"),
    ],
)  # fmt: skip
def test_what_is_no_basic_template_states_why(content: bytes, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render(content, SCHEMAS["basic"], rendered)
    assert str(caught.value).startswith(message)


def test_r292_r296_types_are_the_last_words_of_schemas() -> None:
    assert dict(SCHEMAS) == {
        "semver": "olm.semver", "basic": "olm.template.basic", "substitutes": "olm.template.substitutes",
    }  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [b"schema: olm.semver\nstable: {}\n", b'{"Schema": "olm.semver"}'],
    ids=["R294: YAML", "R294: JSON"],
)
def test_the_schema_of_a_template_is_found_out(content: bytes) -> None:
    assert detect(content) == "olm.semver"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"schema: x\n", "unknown template schema: x", id="R295: not one of ours"),
        pytest.param(b"schema: OLM.SEMVER\n", "unknown template schema: OLM.SEMVER", id="R297: case counts"),
        pytest.param(b"a: b\n", "template input missing required 'schema' field", id="R295: no schema"),
        pytest.param(b"a: [\n", "decoding template input: ", id="R295: broken"),
        pytest.param(b"", "decoding template input: EOF", id="fbc.md 12.1: nothing"),
        pytest.param(b"schema: []\n", "unmarshalling template schema: ", id="fbc.md 12.1: a list"),
    ],
)
def test_a_template_without_a_known_schema_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        detect(content)
    assert str(caught.value).startswith(message)


def files(name: str) -> list[tuple[str, bytes]]:
    return [(name, (WRITTEN / name).read_bytes())]


def test_r330_a_catalog_becomes_a_basic_template() -> None:
    template = convert(files("tea.yaml"), "basic")
    bundles = [entry for entry in template["entries"] if entry["schema"] == "olm.bundle"]
    assert bundles[1] == {"schema": "olm.bundle", "image": "quay.io/acme/tea:1.0.0"}
    again = render(text(template, Form.JSON), SCHEMAS["basic"], lambda image: [Rendered({"name": image})])
    assert len(again.bundles) == len(bundles)


def test_fbc_12_4_a_catalog_becomes_a_substitutes_template() -> None:
    template = convert(files("tea.yaml"), "substitutes")
    assert template["substitutions"] == []
    assert template["entries"][3]["name"] == "tea.v1.2.0"


def test_fbc_13_8_a_template_is_printed_as_opm_prints_it() -> None:
    template = {"schema": "s", "entries": [{"a": "<b>"}]}
    want = (
        b'{\n    "schema": "s",\n    "entries": [\n        {\n            "a": "\\u003cb\\u003e"\n        }\n    ]\n}\n'
    )
    assert text(template, Form.JSON) == want
    assert text(template, Form.YAML) == b"---\nentries:\n- a: <b>\nschema: s\n\n"
    assert convert([], "basic")["entries"] is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"- a\n", "error unmarshaling JSON"),
        (b"a: b\n", "object is missing root schema field (f, document 1)"),
        (b"schema: olm.bundle\nimage: 1\n", "parse bundle: json: cannot unmarshal number"),
    ],
)
def test_what_is_no_catalog_becomes_no_template(content: bytes, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        convert([("f", content)], "basic")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("template", "kind", "want"),
    [
        ({"entries": [{"schema": "olm.bundle", "image": image} for image in "ab"]}, "basic", ["a", "b"]),
        ({"stable": {"bundles": [{"image": "b"}, {"image": "a"}]}, "fast": {"bundles": [{"image": "a"}]}}, "semver",
         ["a", "b"]),
        ({"substitutions": [{"name": "b", "base": "x"}, {"name": "a", "base": "z"}]}, "substitutes", ["b", "a"]),
        ({"substitutions": [{"name": "b", "base": "x"}, {"name": "c", "base": "x"}]}, "substitutes", ["b", "c"]),
        ({"entries": 1}, "basic", []),
        ({"stable": 1}, "semver", []),
        ({"substitutions": 1}, "substitutes", []),
    ],
)  # fmt: skip
def test_the_images_of_a_template_are_known_before_it_is_rendered(
    template: dict[str, Any], kind: str, want: list[str]
) -> None:
    assert images(yaml.safe_dump({"schema": SCHEMAS[kind]} | template).encode(), SCHEMAS[kind]) == want
