from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from functools import cache
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.catalog.documents import NotACatalog, PackageDocuments, read
from shared.domain.catalog.model import Bundle, Entry, Package, Property
from shared.domain.catalog.parse import SickPackage
from tests.kit.fbc import packages_of

_TEA = """
schema: olm.package
name: tea
defaultChannel: stable
---
schema: olm.channel
package: tea
name: stable
entries:
- name: tea.v1
- name: tea.v2
  replaces: tea.v1
  skips: [tea.v0]
  skipRange: "<2.0.0"
---
schema: olm.bundle
package: tea
name: tea.v1
image: quay.io/tea:1
properties:
- type: olm.package
  value: {packageName: tea, version: 1.0.0}
- type: olm.csv.metadata
  value: {displayName: Tea}
- type: olm.bundle.object
  value: {data: e30=}
---
schema: olm.bundle
package: tea
name: tea.v2
image: quay.io/tea:2
properties:
- type: olm.package
  value: {packageName: tea, version: 2.0.0}
- type: olm.gvk
  value: {group: x.io, kind: Tea, version: v1}
---
schema: olm.deprecations
package: tea
entries:
- reference: {schema: olm.package}
  message: gone
- reference: {schema: olm.bundle, name: tea.v1}
  message: old
---
schema: com.example.other
package: tea
"""


def parsed(text: str) -> tuple[Package | SickPackage, ...]:
    return packages_of(read("tea/catalog.yaml", text.lstrip()))


@cache
def _documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(_TEA))


def changed(kind: str, **fields: object) -> str:
    """The catalog above with some fields of its first document of a schema changed; None removes one."""
    documents = deepcopy(_documents())
    target = next(document for document in documents if document["schema"] == kind)
    target |= fields
    for field in [name for name, value in target.items() if value is None]:
        del target[field]
    written: str = yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False)
    return written


def test_a_package_has_its_channels_bundles_and_deprecations() -> None:
    (tea,) = parsed(_TEA)
    assert isinstance(tea, Package)
    assert (tea.name, tea.default_channel) == ("tea", "stable")
    assert tea.channels[0].entries == (Entry("tea.v1"), Entry("tea.v2", "tea.v1", ("tea.v0",), "<2.0.0"))
    assert tea.deprecations == {"package": "gone", "bundle/tea.v1": "old"}
    assert tea.bundles["tea.v2"].image == "quay.io/tea:2"


def test_what_only_people_read_is_left_out() -> None:
    (tea,) = parsed(_TEA)
    assert isinstance(tea, Package)
    identity = Property("olm.package", {"packageName": "tea", "version": "1.0.0"})
    assert tea.bundles["tea.v1"] == Bundle("tea.v1", "1.0.0", "quay.io/tea:1", (identity,))


def test_documents_of_other_schemas_make_no_package() -> None:
    of_tea = list(read("f", _TEA.lstrip()))
    assert not PackageDocuments.of(of_tea).is_empty
    assert PackageDocuments.of(one for one in of_tea if one.schema == "com.example.other").is_empty


def test_fbc_md_2_2_field_names_match_in_any_case() -> None:
    (tea,) = parsed(_TEA.replace("defaultChannel", "DEFAULTCHANNEL").replace("skipRange", "skiprange"))
    assert isinstance(tea, Package)
    assert tea.default_channel == "stable"
    assert tea.channels[0].entries[1].skip_range == "<2.0.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("apiVersion: v1\nkind: Pod", "missing root schema field (its fields: apiVersion, kind)", id="2.3"),
        pytest.param("- 1", "json: cannot unmarshal array into Go value", id="fbc.md 2.1: a list"),
        pytest.param("# nothing", "line 1: it is empty: every document", id="fbc.md 2.1: a file of comments"),
        pytest.param("schema: y", 'expected value for key "schema" to be a string, got ', id="fbc.md 2.2: a boolean"),
        pytest.param("{}", "missing root schema field (its fields: none)", id="fbc.md 2.3: no field at all"),
        pytest.param("schema: a\n---\nb: [", "document 2, line 3: ", id="broken YAML names its document and line"),
    ],
)
def test_what_is_not_a_catalog_says_where_and_why(text: str, message: str) -> None:
    with pytest.raises(NotACatalog) as caught:
        list(read("dir/file.yaml", text))
    assert str(caught.value).startswith("dir/file.yaml, document ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(changed("olm.package", name="pot"), "unknown package 'tea' for channel 'stable'", id="fbc.md A4"),
        pytest.param(changed("olm.package", defaultChannel=None), "package 'tea' has no default channel", id="A20"),
        pytest.param(changed("olm.package", defaultChannel="x"), "has no channel 'x'", id="fbc.md A20: absent channel"),
        pytest.param(changed("olm.channel", name=None), "contains channel with no name", id="fbc.md A5"),
        pytest.param(_TEA + _TEA, "duplicate package 'tea'", id="fbc.md A2"),
        pytest.param(_TEA + _TEA, "package 'tea' has duplicate channel 'stable'", id="fbc.md A6"),
        pytest.param(_TEA + _TEA, "package 'tea' has duplicate bundle 'tea.v1'", id="fbc.md A10"),
        pytest.param(
            changed("olm.channel", entries=[{"name": "tea.v1"}, {"name": "tea.v1"}]),
            "duplicate entry 'tea.v1'",
            id="fbc.md A7",
        ),
        pytest.param(changed("olm.channel", entries=[]), "must contain at least one entry", id="fbc.md 2.4: no entry"),
        pytest.param(changed("olm.channel", entries=[3]), "an entry needs a name", id="an entry of the wrong type"),
        pytest.param(
            changed("olm.channel", entries=[{"name": "tea.v1", "skips": [""]}]),
            "names for skips",
            id="fbc.md 2.5: skip",
        ),
        pytest.param(
            changed("olm.channel", entries=[{"name": "tea.v3"}]),
            "no olm.bundle blobs found in package 'tea' for olm.channel entries ['tea.v3']",
            id="fbc.md A19",
        ),
        pytest.param(changed("olm.bundle", package=None), "names no package", id="fbc.md A8"),
        pytest.param(changed("olm.bundle", name=None), "has no name", id="a bundle without a name"),
        pytest.param(changed("olm.bundle", image=3), "an image that is no text", id="an image of the wrong type"),
        pytest.param(changed("olm.bundle", properties=3), "a list of {type, value}", id="fbc.md A11"),
        pytest.param(changed("olm.bundle", properties=[]), "exactly 1", id="fbc.md A12"),
        pytest.param(
            changed(
                "olm.bundle", properties=[{"type": "olm.package", "value": {"packageName": "x", "version": "1.0.0"}}]
            ),
            "does not match",
            id="fbc.md A13",
        ),
        pytest.param(
            changed(
                "olm.bundle", properties=[{"type": "olm.package", "value": {"packageName": "tea", "version": "1.0"}}]
            ),
            "No Major.Minor.Patch elements found",
            id="fbc.md A16",
        ),
        pytest.param(
            changed("olm.bundle", properties=[{"type": "olm.package", "value": 3}]),
            "without packageName and version",
            id="fbc.md A11: a value of the wrong type",
        ),
        pytest.param(changed("olm.deprecations", entries=[{"message": "x"}]), "needs a message", id="fbc.md A24"),
    ],
)
def test_a_defect_makes_its_package_sick_and_says_where(text: str, finding: str) -> None:
    sick = [one for one in parsed(text) if isinstance(one, SickPackage)]
    assert finding in "\n".join(why for one in sick for why in one.findings)


def test_a_sick_package_leaves_its_siblings_alone() -> None:
    found = {one.name: one for one in parsed("schema: olm.package\nname: pot\n---" + _TEA)}
    assert isinstance(found["pot"], SickPackage)
    assert isinstance(found["tea"], Package)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "tea", "tea.v1", "1.0.0", "olm.package"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "type", "value", "packageName", "version", "skips", "reference", "message"]), inner
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["olm.package", "olm.channel", "olm.bundle", "olm.deprecations"]),
    st.dictionaries(st.sampled_from(["package", "name", "entries", "image", "properties", "defaultChannel"]), _values),
)
def test_whatever_a_document_holds_its_package_is_sound_or_sick(schema: str, fields: dict[str, object]) -> None:
    text = b"\n".join(map(orjson.dumps, [{"schema": schema, **fields}, *_documents()]))
    with suppress(NotACatalog):  # a name that is no text
        assert all(one.findings for one in packages_of(read("f", text)) if isinstance(one, SickPackage))
