"""A cluster with a version that serves for the API server, and what a test asks of it."""

from __future__ import annotations

import base64
from typing import Any

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.operator_groups.group import render_apis
from shared.domain.operator_groups.provided_apis import apis_of
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CUSTOM_RESOURCE_DEFINITION,
    ROLE_BINDING,
    SECRET,
    VALIDATING_WEBHOOKS,
    Kind,
)
from tests.domain.csv.builders import a_component, a_crd, a_group
from tests.domain.endpoints.builders import THINGS, a_server, a_webhook
from tests.functions.cluster_service_version.world import World, csv_ref
from tests.kit.kept import kept

CERTIFICATE = SECRET.ref("operator-service-cert", "ns")


SERVED = Kind("api.example.com/v1", "Measure", "measures")


DELEGATOR = CLUSTER_ROLE_BINDING.ref("operator-service-system:auth-delegator")


READER = ROLE_BINDING.ref("operator-service-auth-reader", "kube-system")


SIBLING = {"kind": "ServiceAccount", "name": "default", "namespace": "other"}


INSTALLED = {"operatorframework.io/installed-alongside-1": "ns/a.v1"}


def a_global_group(server: Manifest) -> Manifest:
    """A group that announces what the version provides."""
    group = a_group(targets=("",))
    provided = render_apis(apis_of(Csv(server)))
    return {**group, "metadata": {**group["metadata"], "annotations": {"olm.providedAPIs": provided}}}


class Served(World):
    """What an APIService names is in the discovery at once."""

    def find(self, api_version: str, kind: str) -> Kind | None:
        return SERVED if kind == SERVED.kind else super().find(api_version, kind)


def a_world(*objects: Manifest, **csv: Any) -> World:
    """A world with a version that has two webhooks, unless `csv` says otherwise."""
    hooks = csv.pop("hooks", (a_webhook(), a_webhook("m.example.com", "Mutating")))
    server = a_server(*hooks, **csv)
    world = Served([server, a_global_group(server), *objects])
    world.is_prompt = True
    return world


def installed(world: World) -> World:
    """The version works: its APIServices are available."""
    world.walk_until_rest()
    for api in world.api.list(API_SERVICE, labels={"olm.owner": "a.v1"}):
        available(world, api)
    world.walk_until_rest()
    assert world.csv()["status"]["phase"] == "Succeeded", world.csv()["status"]
    return world


@kept
def a_working_world(*objects: Manifest, **csv: Any) -> World:
    """The same world as `a_world`, where the version works."""
    return installed(a_world(*objects, **csv))


def available(world: World, api: Manifest, status: str = "True") -> None:
    world.put({**api, "status": {"conditions": [{"type": "Available", "status": status}]}})


def configuration(world: World, kind: Kind = VALIDATING_WEBHOOKS) -> Manifest:
    (found,) = world.api.list(kind)
    return found


def phase(world: World) -> tuple[str, str]:
    status = world.csv()["status"]
    return status["phase"], status["reason"]


def bundle(world: World) -> str:
    (hook,) = configuration(world)["webhooks"]
    return base64.b64decode(hook["clientConfig"]["caBundle"]).decode()


def times(world: World) -> tuple[str, str]:
    """When certificates were made, and when they are to be rotated."""
    status = world.csv()["status"]
    return status["certsLastUpdated"], status["certsRotateAt"]


def becomes(world: World, phase: str) -> None:
    """Another phase, as if the Deployments had failed and run again."""
    with world.edited(csv_ref("a.v1")) as csv:
        csv["status"] |= {"phase": phase, "reason": "ComponentUnhealthy"}


def a_convertible(**meta: Any) -> Manifest:
    return a_crd(THINGS, annotations=INSTALLED, **meta)


def conversion(world: World) -> Any:
    return world.objects[CUSTOM_RESOURCE_DEFINITION.ref(THINGS)]["spec"].get("conversion")


ANOTHER = a_server(name="b.v1", strategy={"deployments": [a_component("other")]})


def edit(world: World, **spec: Any) -> None:
    """Somebody edits the version."""
    with world.edited(csv_ref("a.v1")) as csv:
        csv["spec"] |= spec
