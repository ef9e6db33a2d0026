"""A document of a catalog: what it is about, and which values are none."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.catalog.documents import Document, NotACatalog


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
    assert Document.of("file, document 1", value).owner == owner


def test_a_value_without_a_schema_is_refused_with_its_fields() -> None:
    with pytest.raises(NotACatalog, match=r"^file, document 1 is missing root schema field \(its fields: name\)$"):
        Document.of("file, document 1", {"name": "tea"})
