"""The permissions that `olmf bundle rbac` asks for suffice, and none of them could be left out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from eventing.cli.extension.objects import rendered
from shared.api.manifest import ReadOnly, name_of
from shared.domain.extension.permissions import Installer, defined, least, resource_of
from shared.domain.extension.phases.order import phase_sort
from shared.domain.extension.scopes import cluster_kinds, scope_of
from tests.conformance.conftest import Kubectl
from tests.conformance.http import Api
from tests.kit.installation import SAMPLES
from tests.kit.real_bundles import extracted, needs_real_bundles
from tests.kit.waiting import wait_for

pytestmark = [
    pytest.mark.conformance,
    # The sandbox answers what somebody may do, but lets everybody do everything.
    pytest.mark.parametrize("api", ["real"], indirect=True, scope="session"),
]


BEACON = SAMPLES / "beacon" / "1.1.0"
PUBLIC = (
    "etcd/0.9.4-clusterwide",
    "grafana-operator/5.24.0",
    "limitador-operator/0.11.0",
    "keycloak-operator/26.7.1",
    "keda/2.7.1",
)
FORBIDDEN = 403
Object = dict[str, Any]


def objects_of(folder: Path, namespace: str) -> list[Object]:
    """What a bundle is rendered to, in the order of the rollout."""
    bundle = rendered(str(folder), namespace, config=None, cert_provider="none", gates={})
    return [json.loads(json.dumps(one)) for phase in phase_sort(bundle.objects) for one in phase.objects]


def collection(one: ReadOnly, objects: Sequence[ReadOnly]) -> str:
    """Where objects of this kind are created and listed."""
    version, namespace = str(one["apiVersion"]), scope_of(one, cluster_kinds(objects))
    group = f"/api/{version}" if version == "v1" else f"/apis/{version}"
    return f"{group}{f'/namespaces/{namespace}' if namespace else ''}/{resource_of(one, defined(objects))[1]}"


def robot_in(http: Api, namespace: str) -> Api:
    """The target, asked by the account that installs."""
    return http.as_other({"Impersonate-User": f"system:serviceaccount:{namespace}:robot"})


def refusals(robot: Api, objects: Sequence[ReadOnly]) -> Iterator[str]:
    """Every request that an installer makes, without effect (and no watch lasts): those that it may not make."""
    for path in dict.fromkeys(collection(one, objects) for one in objects):
        for query in ("?limit=1", "?watch=1&resourceVersion=none"):
            if robot.get(path + query).status == FORBIDDEN:
                yield path + query
    for one in objects:
        path = collection(one, objects)
        place = f"{path}/{name_of(one)}?dryRun=All"
        answers = [
            robot.post(f"{path}?dryRun=All", one),
            robot.get(place),
            robot.put(place, one),
            robot.patch(place, {}),
            robot.delete(place),
        ]
        yield from (str(answer.body) for answer in answers if answer.status == FORBIDDEN)


def listed(objects: Iterable[ReadOnly]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def test_an_installer_with_these_permissions_can_install_change_and_remove(
    kubectl: Kubectl, namespace: str, word: str
) -> None:
    objects = objects_of(BEACON, namespace)
    kubectl("apply", "-f", "-", stdin=listed(least(objects, Installer(word, (namespace, "robot")))))
    robot = f"--as=system:serviceaccount:{namespace}:robot"
    for verb in (["create"], ["apply", "--server-side", "--force-conflicts"], ["replace"], ["get"]):
        kubectl(robot, *verb, "-f", "-", stdin=listed(objects))
    kubectl(robot, "delete", "--wait=false", "-f", "-", stdin=listed(objects))


def test_without_the_rules_that_it_hands_out_it_cannot_install(kubectl: Kubectl, namespace: str, word: str) -> None:
    pods: dict[str, Any] = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    meta = {"name": word, "namespace": namespace}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta, "rules": [pods]}
    made = json.loads(json.dumps(least([role], Installer(word + "-i", (namespace, "robot")))))
    kubectl("apply", "-f", "-", stdin=listed(made))
    robot = f"--as=system:serviceaccount:{namespace}:robot"
    kubectl(robot, "create", "-f", "-", stdin=listed([role]))
    kubectl(robot, "delete", "-f", "-", stdin=listed([role]))
    made[0]["rules"].remove(pods)
    kubectl("replace", "-f", "-", stdin=listed(made[:1]))
    reported = kubectl(robot, "create", "-f", "-", stdin=listed([role]), fails=True)
    assert "attempting to grant RBAC permissions not currently held" in reported


def test_none_of_the_rules_could_be_left_out(http: Api, kubectl: Kubectl, namespace: str, word: str) -> None:
    objects = objects_of(BEACON, namespace)
    made = json.loads(json.dumps(least(objects, Installer(word, (namespace, "robot")))))
    kubectl("apply", "-f", "-", stdin=listed(made))
    robot = robot_in(http, namespace)
    wait_for(lambda: not list(refusals(robot, objects)))
    for role in [one for one in made if one["kind"] in ("Role", "ClusterRole")]:
        for rule in role["rules"]:
            left = [other for other in role["rules"] if other is not rule]
            kubectl("replace", "-f", "-", stdin=listed([{**role, "rules": left}]))
            wait_for(lambda: any(refusals(robot, objects)), f"somebody misses {rule}")
        kubectl("replace", "-f", "-", stdin=listed([role]))
        wait_for(lambda: not list(refusals(robot, objects)))


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real bundles."""
    return extracted(tmp_path_factory.mktemp("real-bundles"))


@needs_real_bundles
@pytest.mark.parametrize("package", PUBLIC)
def test_a_public_bundle_is_installed_with_its_permissions_and_nothing_else(
    http: Api, kubectl: Kubectl, namespace: str, word: str, bundles: Path, package: str
) -> None:
    """v1.md 18: what is rendered applies to a real API server, definitions first."""
    objects = objects_of(bundles / package, namespace)
    kubectl("apply", "-f", "-", stdin=listed(least(objects, Installer(word, (namespace, "robot")))))
    wait_for(lambda: not list(refusals(robot_in(http, namespace), objects)))
    robot = f"--as=system:serviceaccount:{namespace}:robot"
    definitions = [one for one in objects if one["kind"] == "CustomResourceDefinition"]
    others = [one for one in objects if one not in definitions]
    try:
        kubectl(robot, "create", "-f", "-", stdin=listed(definitions))
        names = [name_of(one) for one in definitions]
        kubectl(robot, "wait", "--for=condition=Established", "customresourcedefinitions", *names)
        kubectl(robot, "create", "-f", "-", stdin=listed(others))
        kubectl(robot, "get", "-f", "-", stdin=listed(objects))
    finally:
        kubectl(robot, "delete", "--wait=false", "--ignore-not-found", "-f", "-", stdin=listed(objects))
