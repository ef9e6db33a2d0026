"""Where the registry API is served, as the settings of a process say."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventing.wiring.environment import whole_address
from shared.config import SettingError


def test_without_one_nothing_is_read(tmp_path: Path) -> None:
    assert whole_address("", tmp_path) == ""


def test_a_pod_knows_the_domain_of_its_cluster(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("search olm.svc.here.test svc.here.test here.test\n")
    assert whole_address("olmf-catalogs.olm.svc:50051", file) == "olmf-catalogs.olm.svc.here.test:50051"
    absent = whole_address("olmf-catalogs.olm.svc:50051", tmp_path / "absent")
    assert absent == "olmf-catalogs.olm.svc.cluster.local:50051"


@pytest.mark.parametrize("address", ["olmf-catalogs", "http://catalogs:1", "grpcs://catalogs:1", "a b:1"])
def test_what_is_no_address_is_reported_at_the_start(address: str) -> None:
    with pytest.raises(SettingError, match="OLMF_CATALOGS_ADDRESS"):
        whole_address(address)
