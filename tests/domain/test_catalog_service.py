"""The Service by which clients of the registry API reach a CatalogSource."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Object
from shared.domain.catalog_service import differs, is_its_own, qualified, registry_of, service_name, service_of
from shared.domain.server_address import ServerAddress

SERVER = ServerAddress("olmf-catalogs.olm.svc.cluster.local", 50051)
SOURCE = CatalogSource({"metadata": {"name": "my.tea", "namespace": "team", "uid": "7"}})
DESIRED = service_of(SOURCE, SERVER)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param("tea", "tea", id="as the catalog"),
        pytest.param("my.tea", "my-tea", id="dashes for dots"),
        pytest.param("4tea", "", id="no Service begins with a digit"),
        pytest.param("a" * 64, "", id="too long"),
        pytest.param("../tea", "", id="no name at all"),
    ],
)
def test_catalog_md_2_4_1_its_name(name: str, want: str) -> None:
    assert service_name(CatalogSource({"metadata": {"name": name}})) == want


def test_catalog_md_2_4_1_it_is_another_name_for_the_server_and_goes_with_its_catalog() -> None:
    assert DESIRED["spec"]["externalName"] == "olmf-catalogs.olm.svc.cluster.local"
    assert DESIRED["metadata"]["labels"] == {"olm.managed": "true"}
    assert [one["uid"] for one in DESIRED["metadata"]["ownerReferences"]] == ["7"]
    assert registry_of(DESIRED) == {
        "protocol": "grpc", "serviceName": "my-tea", "serviceNamespace": "team", "port": "50051",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("owners", "want"),
    [
        pytest.param([], False, id="somebody's"),
        pytest.param([{"kind": "CatalogSource", "name": "my.tea", "uid": "8"}], False, id="of a former catalog"),
        pytest.param([{"kind": "Deployment", "uid": "7"}], False, id="of something else"),
        pytest.param([{"kind": "CatalogSource", "uid": "7"}], True, id="its own"),
        pytest.param([{"kind": "CatalogSource", "uid": "7"}, {"kind": "CatalogSource", "uid": "8"}], False, id="two's"),
        pytest.param(
            [{"kind": "CatalogSource", "uid": "7"}, {"kind": "Role", "uid": "8"}], True, id="of no other catalog"
        ),
    ],
)
def test_whose_it_is(owners: list[Manifest], want: bool) -> None:
    assert is_its_own(SOURCE, Object({"metadata": {"ownerReferences": owners}})) is want


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param({"sessionAffinity": "None"}, False, id="what the API server adds"),
        pytest.param({"externalName": "elsewhere"}, True, id="another host"),
        pytest.param({"ports": [{"port": 1}]}, True, id="another port"),
        pytest.param({"type": "ClusterIP", "externalName": "", "selector": {"a": "b"}}, True, id="what OLM left"),
        pytest.param({"selector": {"a": "b"}}, True, id="a selector"),
    ],
)
def test_when_it_is_written_again(change: Manifest, want: bool) -> None:
    present = {**DESIRED, "spec": {**DESIRED["spec"], **change}}
    assert differs(Object(present), DESIRED) is want


def test_it_is_written_again_without_its_label() -> None:
    assert differs(Object({**DESIRED, "metadata": {"labels": {}}}), DESIRED)


@pytest.mark.parametrize(
    ("address", "resolv_conf", "want"),
    [
        pytest.param("a.olm.svc:1", "", "a.olm.svc.cluster.local:1", id="the usual domain"),
        pytest.param(
            "a.olm.svc:1", "nameserver 10.0.0.1\nsearch olm.svc.here.test svc.here.test here.test\n",
            "a.olm.svc.here.test:1", id="the domain of the cluster",
        ),
        pytest.param("a.olm.svc:1", "search example.com\n", "a.olm.svc.cluster.local:1", id="no Pod"),
        pytest.param("a.olm.svc:1", "search svc.dots.\n", "a.olm.svc.dots:1", id="with a dot at the end"),
        pytest.param("localhost:1", "search svc.here.test\n", "localhost:1", id="no Service"),
        pytest.param("a.olm.svc.else.test:1", "", "a.olm.svc.else.test:1", id="whole already"),
    ],
)  # fmt: skip
def test_a_service_needs_the_whole_name_of_a_host(address: str, resolv_conf: str, want: str) -> None:
    assert qualified(address, resolv_conf) == want
