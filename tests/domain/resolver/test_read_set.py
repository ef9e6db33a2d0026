"""What was read is stored and read again, and says of a CatalogSource what decides."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.domain.resolver.read_set import CatalogReads, ReadSet, state_of

KEY = CatalogKey("olm", "local")
CATALOG = Catalog(KEY, "registry/local:v1", "registry/local@sha256:0")


def test_what_is_stored_is_read_again() -> None:
    apis = {Gvk("g", "v1", "K"): ("a", "b"), Gvk("", "v1", "L"): ()}
    reads = CatalogReads("0 True False ", {"a": "digest", "gone": ""}, apis, is_empty=False)
    read_set = ReadSet("component available olm", {str(KEY): reads, "ns/own": CatalogReads("9 False False why")})
    found = ReadSet.stored(orjson.loads(orjson.dumps(read_set.as_json())))
    assert found == read_set
    assert (found.of(KEY), found.of(CatalogKey("olm", "other"))) == (reads, None)


def test_of_nothing_that_is_stored_nothing_is_known() -> None:
    assert ReadSet.stored({}) is None


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        pytest.param({"reference": "registry/local@sha256:1"}, True, id="other content, which is asked itself"),
        pytest.param({"image": "registry/local:v2"}, True, id="from where it is pulled"),
        pytest.param({"secrets": ("login",)}, True, id="with which login it is pulled"),
        pytest.param({"problem": "wrong in the catalog: one bundle"}, True, id="a remark on what is in use"),
        pytest.param({"priority": 1}, False, id="its priority"),
        pytest.param({"is_stale": True, "problem": "no answer"}, False, id="it cannot be read any more"),
        pytest.param({"reference": ""}, False, id="it has no content"),
        pytest.param({"reference": "", "problem": "no answer"}, False, id="why it has none"),
    ],
)
def test_what_decides_of_a_catalog_source_beside_its_content(changed: dict[str, object], is_same: bool) -> None:
    other = replace(CATALOG, **changed)  # type: ignore[arg-type]  # a table of fields
    assert (state_of(other) == state_of(CATALOG)) == is_same
