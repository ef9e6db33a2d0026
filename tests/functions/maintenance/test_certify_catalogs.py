"""The server of catalogs has a certificate that its clients can verify at every moment (v1.md §6, csv.md §7.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.maintenance.certify_catalogs import certify_catalogs
from shared import names
from shared.api.manifest import Manifest, timestamp
from shared.api.views import Deployment
from shared.domain.endpoints.certificates import ROTATED_BEFORE, VALID, Content
from shared.domain.serving.catalog_certificate import SETTLED, authorities, hosts, server_of
from shared.kinds import CLUSTER_CATALOG, DEPLOYMENT, Ref
from shared.ports import Policy
from shared.step import Apply, Emit, Outcome, StoreKeys
from tests.domain.csv.builders import NOW
from tests.functions.maintenance.server_keys import ServerKeys
from tests.kit.cluster import FakeCluster, FixedClock

REF = server_of("olm")
SERVER = ServerKeys(REF, hosts(REF))
a_pair = SERVER.pair
SECRET = "olmf-catalogs-service-cert"


def a_deployment(secret: str = SECRET, **meta: Any) -> Manifest:
    meta = {"name": "olmf-catalogs", "namespace": "olm", "uid": "d", **meta}
    pod = {"volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "serving", "secret": {"secretName": secret}}]}
    spec = {"template": {"spec": pod}}
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, "metadata": meta, "spec": spec}


def published(content: Content) -> Manifest:
    return authorities(Deployment(a_deployment()), content)


def run(*objects: Manifest, held: Content | None = None, after: timedelta = timedelta(), ref: Ref = REF) -> Outcome:
    clock = FixedClock(NOW + after)
    return certify_catalogs(ref, FakeCluster(objects), replace(SERVER, content=held), clock, policy=Policy())


HELD = Content(a_pair())


def told(writes: Iterable[Any]) -> str:
    """The CAs that clients are told to trust."""
    (found,) = (one.manifest["data"]["ca.crt"] for one in writes if isinstance(one, Apply))
    return str(found)


def test_v1_md_6_the_server_gets_a_certificate_and_its_clients_the_authority() -> None:
    store, publish = run(a_deployment()).writes
    assert isinstance(store, StoreKeys)
    assert isinstance(publish, Apply)
    assert store.keys == {"tls.key": "key next"}
    assert store.texts["tls.crt"] == "certificate next"
    assert told([publish]) == "CA next;"
    for write in (store, publish):
        assert write.manifest["metadata"]["ownerReferences"][0]["uid"] == "d"
        assert write.manifest["metadata"]["labels"][names.MANAGED] == "true"


def test_a_certificate_names_the_service_in_every_way_that_clients_have() -> None:
    assert hosts(REF) == ("olmf-catalogs.olm", "olmf-catalogs.olm.svc", "olmf-catalogs.olm.svc.cluster.local")


def test_nothing_is_written_when_nothing_changed() -> None:
    assert run(a_deployment(), published(HELD), held=HELD).writes == ()


@pytest.mark.parametrize(
    "present",
    [
        pytest.param((), id="it is gone"),
        pytest.param(({**published(HELD), "data": {"ca.crt": "another"}},), id="somebody changed it"),
    ],
)
def test_authorities_that_are_not_as_they_were_come_back(present: tuple[Manifest, ...]) -> None:
    (publish,) = run(a_deployment(), *present, held=HELD).writes
    assert told([publish]) == "CA first;"


@pytest.mark.parametrize(
    ("ref", "objects"),
    [
        pytest.param(server_of("tenant"), (a_deployment(namespace="tenant"),), id="a Deployment of a tenant"),
        pytest.param(REF, (), id="there is none"),
        pytest.param(REF, (a_deployment(deletionTimestamp=timestamp(NOW)),), id="it is being deleted"),
        pytest.param(REF, (a_deployment("of-cert-manager"),), id="it has a certificate of somebody else"),
    ],
)
def test_no_key_is_made_where_nobody_asked_for_it(ref: Ref, objects: tuple[Manifest, ...]) -> None:
    assert run(*objects, ref=ref).writes == ()


def test_v1_md_6_at_no_moment_of_a_rotation_do_certificate_and_trust_disagree() -> None:
    """Clients read the CAs when they like, so half a day passes before a certificate of a new one is shown."""
    late = VALID - ROTATED_BEFORE
    store, publish = run(a_deployment(), published(HELD), held=HELD, after=late).writes
    assert isinstance(store, StoreKeys)
    assert store.manifest["metadata"]["resourceVersion"] == "7"
    assert store.texts["tls.crt"] == "certificate first"
    assert told([publish]) == "CA first;CA next;"
    both = Content(a_pair(), following=a_pair("next", late))
    just = late + SETTLED - timedelta(seconds=1)
    assert run(a_deployment(), published(both), held=both, after=just).writes == ()
    switched, again = run(a_deployment(), published(both), held=both, after=late + SETTLED).writes
    assert isinstance(switched, StoreKeys)
    assert switched.texts["tls.crt"] == "certificate next"
    assert told([again]) == "CA next;CA first;"
    assert late + SETTLED < VALID
    used = Content(a_pair("next", late), former="CA first;")
    ended, last = run(a_deployment(), published(used), held=used, after=late + ROTATED_BEFORE).writes
    assert isinstance(ended, StoreKeys)
    assert told([last]) == "CA next;"


def test_a_certificate_that_cannot_be_used_is_made_anew() -> None:
    store, publish = run(a_deployment(), published(HELD), held=HELD, after=VALID).writes
    assert isinstance(store, StoreKeys)
    assert (store.texts["tls.crt"], told([publish])) == ("certificate next", "CA next;")


def a_catalog(name: str, base: str) -> Manifest:
    status = {"urls": {"base": f"{base}/catalogs/{name}"}} if base else {}
    return {
        "apiVersion": CLUSTER_CATALOG.api_version, "kind": CLUSTER_CATALOG.kind, "metadata": {"name": name},
        "status": status,
    }  # fmt: skip


def test_catalogs_that_name_an_address_without_tls_are_looked_at() -> None:
    """Else one whose image is not looked up again would name it for ever; each time, as an older release may say it."""
    catalogs = [
        a_catalog("old", "http://olmf-catalogs.olm.svc"), a_catalog("new", Policy().catalogs_url),
        a_catalog("waits", ""),
    ]  # fmt: skip
    looked_at = (Emit(names.DEPENDENT_CHANGED, CLUSTER_CATALOG.ref("old")),)
    assert run(a_deployment(), *catalogs).emits == looked_at
    assert run(a_deployment(), published(HELD), *catalogs, held=HELD).emits == looked_at
    assert run(a_deployment(), published(HELD), *catalogs[1:], held=HELD).emits == ()
