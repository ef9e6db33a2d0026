from __future__ import annotations

import json

import pytest

from shared.domain.authoring.writing.arrange import arrange
from shared.domain.authoring.writing.write import Form, Unwritable, encode, files, stream
from shared.domain.catalog.blobs import Unreadable
from shared.domain.catalog.config import Config, read_config
from tests.domain.authoring.catalogs import WRITTEN, a_bundle, a_catalog, a_channel, a_package, written


@pytest.mark.parametrize("form", list(Form), ids=lambda form: f"R187, R189, fbc.md 8.1: {form}")
def test_a_stream_is_written_byte_by_byte_as_opm_writes_it(form: Form) -> None:
    config = written("tea.yaml")
    arrange(config)
    assert b"".join(stream(config, form)) == (WRITTEN / f"tea.stream.{form}").read_bytes()


@pytest.mark.parametrize("form", list(Form), ids=lambda form: f"fbc.md 8.1: {form}")
def test_what_is_written_reads_as_what_was_written(form: Form) -> None:
    once = b"".join(stream(written("tea.yaml"), form))
    assert b"".join(stream(read_config([("again", once)]), form)) == once


def test_r188_a_deprecated_package_is_referred_to_without_a_name() -> None:
    config = written("tea.yaml")
    assert b'"schema": "olm.package"\n            }' in encode(config.deprecations[0], Form.JSON)


def test_r190_each_package_has_its_file_and_the_rest_one_at_the_root() -> None:
    found = {name: b"".join(documents) for name, documents in files(written("tea.yaml"), Form.JSON)}
    assert list(found) == ["cup/catalog.json", "tea/catalog.json", "catalog.json"]
    assert b'"acme.note"' in found["tea/catalog.json"]
    assert b'"olm.deprecations"' in found["tea/catalog.json"]
    again = read_config(list(found.items()))
    assert b"".join(stream(again, Form.YAML)) == b"".join(stream(written("tea.yaml"), Form.YAML))


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_r191_a_package_that_leads_elsewhere_gets_no_file(name: str) -> None:
    config = a_catalog({"schema": "acme.note", "package": name})
    with pytest.raises(Unwritable, match=f'invalid package name "{name}": must be a single local path element'):
        list(files(config, Form.JSON))


def test_fbc_8_2_a_package_may_name_a_folder_below() -> None:
    config = a_catalog({"schema": "acme.note", "package": "a/b"})
    assert [name for name, _ in files(config, Form.YAML)] == ["a/b/catalog.yaml"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param(
            {"schema": "olm.bundle", "name": "b", "image": ""},
            'olm.bundle "b" names no package: no file can hold it',
            id="R192: a bundle",
        ),
        pytest.param({"schema": "olm.package"}, 'olm.package "" names no package: no file can hold it', id="a package"),
    ],
)
def test_a_document_without_the_package_that_it_needs_is_not_dropped(document: dict[str, str], message: str) -> None:
    with pytest.raises(Unwritable) as caught:
        list(stream(a_catalog(document), Form.JSON))
    assert str(caught.value) == message


def test_r193_an_empty_default_channel_is_written() -> None:
    config = a_catalog({"schema": "olm.package", "name": "tea"})
    assert json.loads(b"".join(stream(config, Form.JSON))) == a_package(default_channel="")


def test_fbc_2_4_lists_that_are_absent_are_null_or_left_out() -> None:
    config = a_catalog(
        {"schema": "olm.channel", "name": "c", "package": "p"},
        {"schema": "olm.channel", "name": "d", "package": "p", "entries": [None, {"name": "e", "skips": ["a", None]}]},
        {"schema": "olm.deprecations", "package": "p"},
        {"schema": "olm.bundle", "package": "p", "properties": [None, {"type": "t"}], "relatedImages": [None]},
    )
    assert config.channels[0]["entries"] is None
    assert config.channels[1]["entries"] == [{"name": ""}, {"name": "e", "skips": ["a", ""]}]
    assert config.deprecations == [{"schema": "olm.deprecations", "package": "p", "entries": None}]
    assert config.bundles[0]["properties"] == [{"type": "", "value": None}, {"type": "t", "value": None}]
    assert config.bundles[0]["relatedImages"] == [{"name": "", "image": ""}]


@pytest.mark.parametrize(
    ("icon", "want"),
    [
        ({"base64data": "aGVs\nbG8=", "mediatype": "image/png"}, {"base64data": "aGVsbG8=", "mediatype": "image/png"}),
        ({"base64data": [104, None, 105]}, {"base64data": "aABp", "mediatype": ""}),
        ({}, {"base64data": None, "mediatype": ""}),
    ],
)
def test_fbc_2_4_an_icon_is_written_in_standard_base64(icon: dict[str, object], want: dict[str, object]) -> None:
    assert a_catalog(a_package() | {"icon": icon}).packages[0]["icon"] == want


def test_fbc_2_2_field_names_are_read_in_any_case() -> None:
    config = a_catalog({"Schema": "olm.channel", "NAME": "c", "Package": "p", "ENTRIES": [{"Name": "e"}]})
    assert config.channels == [a_channel({"name": "e"}, name="c", package="p")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            b"schema: olm.package\nname: [1]\n",
            'expected value for key "name" to be a string',
            id="fbc.md 2.2: a list as name",
        ),
        pytest.param(b"a: b\n", "object is missing root schema field (f, document 1)", id="fbc.md 2.3: no schema"),
        pytest.param(b"null", "object is missing root schema field (f, document 1)", id="fbc.md R021: nothing"),
        pytest.param(
            b"schema: s\n---\nschema: olm.package\ndefaultChannel: 1\n",
            "parse package: json: cannot unmarshal number into Go struct field Package.defaultChannel of type string"
            " (f, document 2)",
            id="fbc.md 2.3: a wrong type",
        ),
        pytest.param(b"schema: a\n--- b\n", "invalid Yaml document separator: b", id="fbc.md 2.1: a bad separator"),
    ],
)
def test_what_is_no_catalog_says_where(content: bytes, message: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_config([("f", content)])
    assert message in str(caught.value)


def test_fbc_10_3_catalogs_follow_each_other() -> None:
    config = Config()
    config.extend(a_catalog(a_package("b"), a_bundle("b1", "1.0.0", "b")))
    config.extend(a_catalog(a_package("a"), {"schema": "acme.note"}))
    assert [blob["name"] for blob in config.packages] == ["b", "a"]
    assert len(config.bundles) == len(config.others) == 1


def test_fbc_10_3_a_bundle_without_lists_stays_as_it_is() -> None:
    config = a_catalog({"schema": "olm.bundle", "name": "b", "package": "p", "image": "i"})
    before = list(config.bundles)
    arrange(config)
    assert config.bundles == before
