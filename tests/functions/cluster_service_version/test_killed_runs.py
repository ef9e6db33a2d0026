"""Every run dies behind its first write: what serves is installed, upgraded, rotated and removed all the same.

pytestmark = pytest.mark.unmeasured

So each state that a killed process can leave behind is one from which the next run goes on.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.keys import StoredKeys
from shared.adapters.keys.stored import public_part
from shared.api.manifest import Manifest
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CUSTOM_RESOURCE_DEFINITION,
    MUTATING_WEBHOOKS,
    ROLE_BINDING,
    SECRET,
    VALIDATING_WEBHOOKS,
    Ref,
)
from shared.ports import Keys
from shared.step import Outcome
from tests.domain.csv.builders import a_crd, owned_crd
from tests.domain.endpoints.builders import THINGS, a_conversion, a_server, a_webhook, an_api
from tests.functions.cluster_service_version.served import Served, a_global_group, available
from tests.functions.cluster_service_version.world import csv_ref

CERTIFICATE = SECRET.ref("operator-service-cert", "ns")
DEFINITION = CUSTOM_RESOURCE_DEFINITION.ref(THINGS)
MEASURES = API_SERVICE.ref("v1.api.example.com")
HOOKS = (a_webhook(), a_webhook("m.example.com", "Mutating"), a_conversion())
BROUGHT = {f"operatorframework.io/installed-alongside-{number}": f"ns/a.v{number}" for number in (1, 2)}
MOST_RUNS = 400


class Killed(BaseException):
    """As a process sees it: nothing of it runs any more."""


class MortalWorld(Served):
    """A run performs one write; before the next one it is killed, and the private keys that it made are lost."""

    kills = 0
    is_deadly = False

    def does(self, name: str, csv: str = "a.v1") -> Outcome:
        left, asked = 1, self.api._asked

        def counted(ref: Ref) -> None:
            nonlocal left
            if self.is_deadly and not left:
                raise Killed
            left -= 1
            asked(ref)

        self.api._asked = counted  # type: ignore[method-assign]
        try:
            return super().does(name, csv)
        except Killed:
            self.kills += 1
            self.keys = self.ports[Keys] = StoredKeys(self)
            return Outcome()
        finally:
            self.api._asked = asked  # type: ignore[method-assign]
            self.seen()

    def seen(self) -> None:
        """What must hold after every single write."""
        for bundle in bundles(self):
            secret = self.objects[CERTIFICATE]
            assert public_part(secret).content.pair.authority in bundle, "a server that its clients do not trust"


def clients(world: MortalWorld) -> Iterator[Manifest]:
    for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
        yield from (hook["clientConfig"] for one in world.api.list(kind) for hook in one["webhooks"])
    if webhook := (world.objects[DEFINITION]["spec"].get("conversion") or {}).get("webhook"):
        yield webhook["clientConfig"]
    if MEASURES in world.objects:
        yield world.objects[MEASURES]["spec"]


def bundles(world: MortalWorld) -> list[str]:
    return [base64.b64decode(one["caBundle"]).decode() for one in clients(world)]


def a_version(name: str = "a.v1", **more: Any) -> Manifest:
    return a_server(*HOOKS, name=name, apis=(an_api(),), customresourcedefinitions=owned_crd(), **more)


@pytest.fixture
def world() -> MortalWorld:
    server = a_version()
    found = MortalWorld([server, a_global_group(server), a_crd(THINGS, annotations=BROUGHT)])
    found.is_prompt = found.is_deadly = True
    return found


def walk_until(world: MortalWorld, name: str, phase: str = "Succeeded") -> None:
    """Each step of each living version in turn; an API is available as soon as it is there."""
    for _ in range(MOST_RUNS):
        for one in [one for one in ("a.v1", "a.v2") if csv_ref(one) in world.objects]:
            world.walk(one)
        if MEASURES in world.objects and "status" not in (api := world.objects[MEASURES]):
            available(world, api)
        if csv_ref(name) not in world.objects:
            assert phase == "gone"
            return
        if world.csv(name).get("status", {}).get("phase") == phase:
            return
    raise AssertionError(f"{name} never came to {phase}: {world.csv(name).get('status')}")


def test_an_installation_csv_md_6_1(world: MortalWorld) -> None:
    walk_until(world, "a.v1")
    assert world.kills > 10
    assert len(set(bundles(world))) == 1
    assert len(bundles(world)) == 4


def test_an_upgrade_keeps_all_that_serves_csv_md_4_7(world: MortalWorld) -> None:
    """From the first write to the last each webhook, the conversion and the API are there."""
    walk_until(world, "a.v1")
    before = bundles(world)
    world.seen = lambda: _still(world, before)  # type: ignore[method-assign]
    world.put(a_version("a.v2", replaces="a.v1"))
    walk_until(world, "a.v2")
    walk_until(world, "a.v1", "gone")
    walk_until(world, "a.v2")
    world.is_deadly = False
    world.walk_until_rest()
    assert bundles(world) == before
    owners = {one["metadata"]["labels"]["olm.owner"] for one in world.api.list(VALIDATING_WEBHOOKS)}
    assert owners == {"a.v2"}


def _still(world: MortalWorld, before: list[str]) -> None:
    assert set(bundles(world)) == set(before)
    assert len(bundles(world)) >= len(before)


def test_a_rotation_csv_md_7_8(world: MortalWorld) -> None:
    """Killed in any stage, a server is trusted by all of its clients."""
    walk_until(world, "a.v1")
    before = public_part(world.objects[CERTIFICATE]).content.pair.authority
    world.time += timedelta(days=729, hours=1)
    world.does("probe")
    for _ in range(MOST_RUNS):
        world.walk("a.v1")
        world.seen()
        world.time += timedelta(seconds=2)
        content = public_part(world.objects[CERTIFICATE]).content
        if not content.is_rotating and content.pair.authority != before:
            break
    walk_until(world, "a.v1")
    assert set(bundles(world)) == {content.pair.authority} != {before}


def test_a_removal_csv_md_3_1_2(world: MortalWorld) -> None:
    """The finalizer goes last: nothing of the version outlives it."""
    walk_until(world, "a.v1")
    kills = world.kills
    csv = world.csv()
    world.put({**csv, "metadata": {**csv["metadata"], "deletionTimestamp": "2026-01-01T12:00:00Z"}})
    for _ in range(MOST_RUNS):
        if csv_ref("a.v1") not in world.objects or not world.csv()["metadata"].get("finalizers"):
            break
        world.does("replace")
    assert world.kills > kills + 4
    assert [*clients(world)] == []
    permissions = [*world.api.list(CLUSTER_ROLE_BINDING), *world.api.list(ROLE_BINDING, "kube-system")]
    assert [one for one in permissions if "operator-service" in one["metadata"]["name"]] == []
