"""A document of a catalog: what it is about, and which values are none."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.catalog.documents import Document, NotACatalog, light
from shared.domain.catalog.validation_result import Place


@pytest.mark.parametrize(
    ("value", "owner"),
    [
        ({"schema": "olm.package", "name": "tea"}, "tea"),
        ({"schema": "olm.channel", "package": "tea", "name": "stable"}, "tea"),
        ({"schema": "example.com/notes", "name": "tea"}, ""),
    ],
    ids=["a package is about itself", "a channel is about its package", "others are about the package they name"],
)
def test_the_package_that_a_document_is_about(value: Any, owner: str) -> None:
    document = Document.of("file, document 1", value)
    assert isinstance(document, Document)
    assert document.owner == owner


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param({"name": "tea"}, "missing root schema field (its fields: name)", id="fbc.md 2.3: no schema"),
        pytest.param(None, "it is empty: every document of a catalog is an object with a schema", id="nothing"),
        pytest.param({"schema": "a", "Schema": "b"}, 'duplicate keys for key "schema": [Schema schema]', id="two"),
    ],
)
def test_a_value_that_is_no_document_states_why(value: Any, why: str) -> None:
    assert Document.of("file, document 1", value) == why


def test_a_property_with_a_broken_type_is_kept_for_the_rules_that_refuse_it() -> None:
    broken = {"type": ["olm.gvk"], "value": 1}
    embedded = {"type": "olm.bundle.object", "value": {"data": ""}}
    document = Document("file, document 1", "olm.bundle", "tea", "b", {"properties": [broken, embedded]})
    assert light(document).fields["properties"] == [broken]


def test_what_is_no_catalog_is_reported_with_its_place() -> None:
    assert str(NotACatalog("it is empty", Place("a.yaml", 2, 10, 3))) == "a.yaml, document 2, line 3: it is empty"
    assert str(NotACatalog("nobody knows where")) == "nobody knows where"
