"""Webhooks behind a Service, whose server runs in a simulated Pod: admission, and the conversion of versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventing.local.kubelet.sample_operator import COLOR, MOST_LUMENS
from tests.conformance.http import Api
from tests.kit.lamps import Lamps
from tests.kit.served_pods import install
from tests.kit.waiting import wait_for


@pytest.fixture(scope="session")
def http(with_pods: Api) -> Api:
    return with_pods


@pytest.fixture
def lamps(http: Api, namespace: str, word: str, tmp_path: Path) -> Lamps:
    return Lamps(install(http, namespace, tmp_path / "pki"), word)


def test_a_bad_object_is_refused_by_the_operator(lamps: Lamps) -> None:
    with lamps.configured("validating", "/validate"):
        wait_for(lambda: lamps.create("b", is_dry_run=True, lumens=MOST_LUMENS + 1).status == 403, "it is heeded")
        assert lamps.create("a", lumens=MOST_LUMENS).status == 201
        refused = lamps.create("b", lumens=MOST_LUMENS + 1)
    assert (refused.status, refused.body["message"]) == (
        403, f'admission webhook "a.{lamps.group}" denied the request: 1001 lumens blind: at most 1000',
    )  # fmt: skip


def test_a_mutating_webhook_fills_in(lamps: Lamps) -> None:
    with lamps.configured("mutating", "/mutate"):
        wait_for(lambda: "color" in lamps.create("a", is_dry_run=True, lumens=1).body["spec"], "it is heeded")
        assert lamps.create("a", lumens=1).body["spec"] == {"lumens": 1, "color": COLOR}


def test_versions_are_converted_by_the_operator(lamps: Lamps) -> None:
    http, new, old = lamps.sample.http, lamps.path("v1"), lamps.path("v1alpha1")
    assert lamps.create("a", "v1alpha1", brightness=7).body["spec"] == {"brightness": 7}
    assert http.get(f"{new}/a").body["spec"] == {"lumens": 7}
    assert [one["spec"] for one in http.get(old).body["items"]] == [{"brightness": 7}]
    changed = http.patch(f"{old}/a", {"spec": {"brightness": 8}})
    assert (changed.status, changed.body["spec"]) == (200, {"brightness": 8})
    with http.watch(f"{old}?watch=1") as events:
        event = next(events)
    assert (event["type"], event["object"]["apiVersion"]) == ("ADDED", f"{lamps.group}/v1alpha1")
    assert event["object"]["spec"] == {"brightness": 8}
    assert http.delete(f"{old}/a").status == 200
