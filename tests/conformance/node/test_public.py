"""The public bundles with the stand-in for an operator in their containers are what their authors wrote otherwise."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from tests.conformance.node.public import StoodIn, commands_of, containers_of, ports_of
from tests.conformance.node.steps.public_operators import cpu_of, cpus
from tests.conformance.packages.offers import versions
from tests.kit.real_bundles import extracted, needs_real_bundles

pytestmark = needs_real_bundles


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return extracted(tmp_path_factory.mktemp("bundles"))


def test_nothing_but_the_images_of_containers_is_changed(bundles: Path) -> None:
    written = {csv["metadata"]["name"]: csv for csv in versions(bundles)}
    for root in sorted(bundles.glob("*/*")):
        bundle = StoodIn(root)
        changed, own = containers_of(bundle.csv), containers_of(written[bundle.name])
        images = [(new["image"], old["image"]) for new, old in zip(changed, own, strict=True)]
        assert {new for new, _ in images} <= {bundle.container, bundle.initialization}
        for container, (_, old) in zip(containers_of(bundle.csv), images, strict=True):
            container["image"] = old
        assert bundle.csv == written[bundle.name]


def test_ports_and_programs_are_those_that_a_bundle_names(bundles: Path) -> None:
    jaeger, etcd = (StoodIn(bundles / name).csv for name in ("jaeger/1.65.0", "etcd/0.9.4"))
    assert ports_of(jaeger) == {8081, 8443, 9443}
    assert commands_of(jaeger) == {"/jaeger-operator"}
    assert commands_of(etcd) == {"/bin/etcd-operator", "/bin/etcd-backup-operator", "/bin/etcd-restore-operator"}
    assert commands_of(StoodIn(bundles / "ack-s3-controller/1.9.0").csv) == {"/bin/controller"}


def test_a_container_that_has_to_end_before_is_another_image(bundles: Path) -> None:
    bundle = StoodIn(next(bundles.glob("opendatahub-operator/3.5.0")))
    assert [one["image"] for one in containers_of(bundle.csv)] == [bundle.container, bundle.initialization]


def test_processors_of_all_pods_are_counted(bundles: Path) -> None:
    assert cpu_of(StoodIn(bundles / "opentelemetry-operator/0.158.0").csv) == Decimal("0.3")
    assert [cpus("1500m"), cpus(2)] == [Decimal("1.5"), Decimal(2)]
