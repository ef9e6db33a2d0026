from __future__ import annotations

import pytest

from shared.domain.authoring.migrate import UnknownLevel, check_level, migrate
from shared.domain.go_types.engine import MisfitError
from tests.domain.authoring.catalogs import a_bundle, a_catalog, a_csv, an_embedded

EMBEDDED = [an_embedded({"kind": "Service"}), an_embedded(a_csv(displayName="Tea"))]
DESCRIBED = {"type": "olm.csv.metadata", "value": {"displayName": "Tea"}}


@pytest.mark.parametrize("level", ["all", "bundle-object-to-csv-metadata"])
def test_r232_r233_embedded_manifests_become_a_description(level: str) -> None:
    config = a_catalog(a_bundle("b", "1.0.0", properties=EMBEDDED))
    migrate(config, level)
    kinds = [one["type"] for one in config.bundles[0]["properties"]]
    assert kinds == ["olm.package", "olm.csv.metadata"]
    assert config.bundles[0]["properties"][-1]["value"] == {
        "apiServiceDefinitions": {}, "crdDescriptions": {}, "displayName": "Tea", "provider": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("bundle", "level"),
    [
        pytest.param(a_bundle("b", "1.0.0", properties=EMBEDDED), "none", id="R234"),
        pytest.param(a_bundle("b", "1.0.0", properties=EMBEDDED), "", id="fbc.md 10.5: no level"),
        pytest.param(a_bundle("b", "1.0.0", properties=[*EMBEDDED, DESCRIBED]), "all", id="R235"),
        pytest.param(a_bundle("b", "1.0.0", properties=EMBEDDED, image=""), "all", id="R236"),
        pytest.param(a_bundle("b", "1.0.0", properties=EMBEDDED[:1]), "all", id="fbc.md 10.5: no CSV"),
        pytest.param({"schema": "olm.bundle", "package": "p", "image": "i"}, "all", id="fbc.md 10.5: no properties"),
    ],
)
def test_a_bundle_that_cannot_or_need_not_change_stays(bundle: dict[str, object], level: str) -> None:
    config = a_catalog(bundle)
    before = list(config.bundles)
    migrate(config, level)
    assert config.bundles == before


def test_r237_an_unknown_level_is_refused() -> None:
    with pytest.raises(UnknownLevel, match='unknown migration level "bogus"'):
        check_level("bogus")


@pytest.mark.parametrize(
    ("csv", "message"),
    [
        pytest.param(a_csv(displayName=1), "spec.displayName: wanted text, got a number", id="a number for a name"),
        pytest.param(a_csv() | {"metadata": []}, "metadata: wanted an object, got a list", id="a list for metadata"),
        pytest.param(a_csv() | {"spec": "x"}, "spec: wanted an object, got text", id="text for a specification"),
    ],
)
def test_fbc_10_5_a_csv_of_the_wrong_shape_ends_the_migration(csv: dict[str, object], message: str) -> None:
    config = a_catalog(a_bundle("b", "1.0.0", properties=[an_embedded(csv)]))
    with pytest.raises(MisfitError, match=message):
        migrate(config, "all")
