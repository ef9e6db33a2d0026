"""The API of PackageManifests is registered while it is served, and never longer (csv.md §13.8, DESIGN §14)."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.maintenance.publish_packages import publish_packages
from shared import names
from shared.api.manifest import Manifest, timestamp
from shared.domain.endpoints.certificates import SETTLED, VALID, Content
from shared.domain.serving.publication import API, GRACE, OWNER, PAUSE, api_service, hosts, server_of
from shared.kinds import DEPLOYMENT, Ref
from shared.ports import Policy
from shared.step import Apply, Delete, Merge, Outcome, StoreKeys
from tests.domain.csv.builders import NOW
from tests.functions.maintenance.server_keys import ServerKeys
from tests.kit.cluster import FakeCluster, FixedClock

REF = server_of("olm")
SERVER = ServerKeys(REF, hosts(REF))
a_pair = SERVER.pair


def a_deployment(available: int = 1, *, since: timedelta = timedelta(), **meta: Any) -> Manifest:
    condition = {"type": "Available", "status": str(available > 0), "lastTransitionTime": timestamp(NOW - since)}
    status = {"availableReplicas": available, "conditions": [condition]}
    meta = {"name": "olmf-packages", "namespace": "olm", "uid": "d", **meta}
    spec = {"replicas": meta.pop("replicas", 2)}
    named = {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind}
    return {**named, "metadata": meta, "spec": spec, "status": status}


def registered(content: Content, available: str = "True", since: timedelta = timedelta()) -> Manifest:
    """The APIService as the API server has it."""
    desired = api_service(REF, content, None)
    condition = {
        "type": "Available", "status": available, "message": "no route", "lastTransitionTime": timestamp(NOW - since),
    }  # fmt: skip
    return {
        **desired, "metadata": {**desired["metadata"], "uid": "a"},
        "status": {"conditions": [condition] if available else []},
    }  # fmt: skip


def run(*objects: Manifest, held: Content | None = None, after: timedelta = timedelta(), ref: Ref = REF) -> Outcome:
    clock = FixedClock(NOW + after)
    return publish_packages(ref, FakeCluster(objects), replace(SERVER, content=held), clock, policy=Policy())


HELD = Content(a_pair())
GONE = (Delete(API, "a"),)


def bundle_of(writes: Iterable[Any]) -> str:
    (bundle,) = (one.manifest["spec"]["caBundle"] for one in writes if isinstance(one, Apply))
    return base64.b64decode(bundle).decode()


def test_the_api_is_registered_with_a_new_certificate_once_a_pod_is_available() -> None:
    (waiting,) = run(a_deployment(0)).writes
    assert isinstance(waiting, StoreKeys)
    assert waiting.manifest["metadata"]["ownerReferences"][0]["uid"] == "d"
    assert waiting.keys == {"tls.key": "key next"}
    outcome = run(a_deployment(), held=HELD)
    assert outcome.writes == (Apply(api_service(REF, HELD, None)),)
    assert bundle_of(outcome.writes) == "CA first;"


def test_it_goes_with_the_cluster_role_of_the_installation() -> None:
    role = {"apiVersion": OWNER.api_version, "kind": OWNER.kind, "metadata": {"name": OWNER.name, "uid": "r"}}
    (write,) = run(a_deployment(), role, held=HELD).writes
    assert isinstance(write, Apply)
    assert [one["uid"] for one in write.manifest["metadata"]["ownerReferences"]] == ["r"]


def test_nothing_is_written_when_nothing_changed() -> None:
    assert run(a_deployment(), registered(HELD), held=HELD).writes == ()


@pytest.mark.parametrize(
    "deployment",
    [
        pytest.param((), id="there is none"),
        pytest.param((a_deployment(deletionTimestamp=timestamp(NOW)),), id="it is being deleted"),
        pytest.param((a_deployment(replicas=0),), id="it wants no Pods"),
        pytest.param((a_deployment(0, since=GRACE),), id="no Pod is available for too long"),
    ],
)
def test_it_is_withdrawn_when_nobody_serves_it(deployment: tuple[Manifest, ...]) -> None:
    assert run(*deployment, registered(HELD), held=HELD).writes == GONE
    assert run(*deployment, held=HELD).writes == ()


def test_a_moment_without_pods_changes_nothing() -> None:
    outcome = run(a_deployment(0, since=GRACE / 2), registered(HELD), held=HELD)
    assert outcome.writes == ()
    assert outcome.again_in == GRACE / 2


def test_a_deployment_that_says_nothing_yet_has_a_moment_too() -> None:
    silent = {**a_deployment(), "spec": {}, "status": {}}
    assert run(silent, registered(HELD), held=HELD).again_in == GRACE


def test_an_api_that_is_not_reached_is_withdrawn_and_rests() -> None:
    assert run(a_deployment(), registered(HELD, "False"), held=HELD).again_in == GRACE
    noted, gone = run(a_deployment(), registered(HELD, "False", GRACE), held=HELD).writes
    assert isinstance(noted, Merge)
    assert gone == GONE[0]
    marked = a_deployment(annotations=noted.patch["metadata"]["annotations"])
    resting = run(marked, held=HELD)
    assert (resting.writes, resting.again_in) == ((), PAUSE)
    assert run(marked, held=HELD, after=PAUSE).writes == (Apply(api_service(REF, HELD, None)),)


def test_what_the_api_server_has_not_looked_at_yet_stays() -> None:
    assert run(a_deployment(), registered(HELD, ""), held=HELD).writes == ()


@pytest.mark.parametrize(
    ("ref", "objects"),
    [
        pytest.param(server_of("tenant"), (), id="a Deployment of that name elsewhere"),
        pytest.param(REF, ({**registered(HELD), "metadata": {"name": API.name}},), id="the package server of OLM"),
    ],
)
def test_what_is_not_ours_is_left_alone(ref: Ref, objects: tuple[Manifest, ...]) -> None:
    assert run(a_deployment(), *objects, ref=ref, held=HELD).writes == ()


def test_at_no_moment_of_a_rotation_do_certificate_and_trust_disagree() -> None:
    late = VALID - timedelta(hours=2)
    store, apply = run(a_deployment(), registered(HELD), held=HELD, after=late).writes
    assert isinstance(store, StoreKeys)
    assert store.manifest["metadata"]["resourceVersion"] == "7"
    assert store.texts["tls.crt"] == "certificate first"
    both = Content(a_pair(), following=a_pair("next", late))
    assert bundle_of([apply]) == "CA first;CA next;"
    assert run(a_deployment(), registered(both), held=both, after=late).writes == ()
    assert run(a_deployment(), registered(both), held=both, after=late).again_in == SETTLED
    (switched,) = run(a_deployment(), held=both, after=late + SETTLED).writes[:1]
    assert isinstance(switched, StoreKeys)
    assert switched.texts["tls.crt"] == "certificate next"
    used = Content(a_pair("next", late), former="CA first;")
    assert run(a_deployment(), registered(used), held=used, after=late + timedelta(hours=1)).writes == ()
    ended, reported = run(a_deployment(), registered(used), held=used, after=late + timedelta(days=1)).writes
    assert isinstance(ended, StoreKeys)
    assert names.CA_HASH in ended.manifest["metadata"]["annotations"]
    assert bundle_of([reported]) == "CA next;"


def test_a_certificate_that_cannot_be_used_is_made_anew() -> None:
    (store, _) = run(a_deployment(), held=HELD, after=VALID).writes
    assert isinstance(store, StoreKeys)
    assert store.texts["tls.crt"] == "certificate next"
