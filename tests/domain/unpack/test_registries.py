"""A Job reaches registries as our own programs do: authorities, mirrors and proxies from the same two ConfigMaps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared import names
from shared.api.manifest import Manifest
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.registries import referred
from shared.domain.unpack.result import Missing, Refused, Running, to_create
from shared.reading import unpacking
from shared.reading.unpacking import UnpackState, read_unpacking
from tests.domain.unpack.test_mirrors import a_set
from tests.domain.unpack.test_unpack import DESIRED, NOW
from tests.kit.cluster import FakeCluster

ELSEWHERE = replace(DESIRED, catalog=CatalogKey("team", "local"))
CA = "-----BEGIN CERTIFICATE-----"
CONF = 'unqualified-search-registries = ["a.example"]'


def a_config_map(name: str, **data: str) -> Manifest:
    keys = {key.replace("_conf", ".conf").replace("_crt", ".crt"): value for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "olm"}, "data": keys}


REGISTRIES = a_config_map("olmf-registries", ca_crt=CA, registries_conf=CONF)
PROXY = a_config_map("olmf-proxy", HTTPS_PROXY="http://proxy:3128", NO_PROXY=".svc")


def looked(desired: Unpacking, *objects: Manifest) -> UnpackState:
    cluster = FakeCluster(objects)
    return read_unpacking(desired, None, cluster, NOW, warnings=cluster)


def the_job(desired: Unpacking, *objects: Manifest) -> Manifest:
    return to_create(desired, looked(desired, *objects).result)[-1]


def env(job: Manifest) -> list[Manifest]:
    [container] = job["spec"]["template"]["spec"]["containers"]
    first, *others = container["env"]
    assert first["name"] == "CONTAINER_IMAGE"
    return list(others)


def test_beside_the_config_maps_the_job_reads_them_itself() -> None:
    assert env(the_job(DESIRED, REGISTRIES, PROXY)) == env(the_job(DESIRED)) == referred()
    assert all(one["valueFrom"]["configMapKeyRef"]["optional"] for one in referred())


@pytest.mark.parametrize(
    ("there", "want"),
    [
        pytest.param([], {}, id="there are none"),
        pytest.param([a_config_map("olmf-proxy") | {"data": None}], {}, id="one without content"),
        pytest.param(
            [REGISTRIES, PROXY],
            {
                names.REGISTRY_CA: CA, names.REGISTRIES_CONF: CONF, "HTTPS_PROXY": "http://proxy:3128",
                "NO_PROXY": ".svc",
            },
            id="all that is there",
        ),
        pytest.param(
            [a_config_map("olmf-proxy", HTTP_PROXY="http://me:secret@proxy:3128")], {},
            id="not a proxy with a password, which whoever reads the Job would read",
        ),
    ],
)  # fmt: skip
def test_in_another_namespace_the_job_is_told_the_values(there: list[Manifest], want: dict[str, str]) -> None:
    assert {one["name"]: one["value"] for one in env(the_job(ELSEWHERE, *there))} == want


def test_what_cannot_be_told_is_said() -> None:
    large = a_config_map("olmf-registries", ca_crt="x" * 100_000)
    assert looked(ELSEWHERE, large).result == Refused(
        "ca.crt of ConfigMap olm/olmf-registries is larger than 98304 bytes, too large for an unpack Job; keep "
        "in it only what registries need"
    )


def test_an_error_of_ours_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw is a defect of ours, which is recorded as such, and nothing that a user can mend."""

    def fails(*_: object) -> str:
        raise ValueError("not enough values to unpack")

    monkeypatch.setattr(unpacking, "mirrors_about", fails)
    with pytest.raises(ValueError, match="not enough values"):
        looked(ELSEWHERE)


@pytest.mark.parametrize("desired", [DESIRED, ELSEWHERE], ids=["at home", "in another namespace"])
def test_a_job_that_was_told_something_goes_on(desired: Unpacking) -> None:
    """What it was told is no reason to make it again."""
    seen = looked(desired, a_set(desired.path.partition("/")[0]), REGISTRIES, PROXY)
    assert isinstance(seen.result, Missing)
    job = {**to_create(desired, seen.result)[-1]}
    assert "--mirrors" in job["spec"]["template"]["spec"]["containers"][0]["command"]
    again = looked(desired, job, a_set(desired.path.partition("/")[0]), REGISTRIES, PROXY)
    assert isinstance(again.result, Running)
