"""The permissions that `olmf bundle rbac` asks for suffice, and none of them could be left out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from eventing.cli.extension.objects import rendered
from shared.api.manifest import ReadOnly
from shared.domain.extension.permissions import Installer, least
from shared.domain.extension.phases.order import phase_sort
from tests.conformance.conftest import Kubectl
from tests.kit.installation import SAMPLES

pytestmark = [
    pytest.mark.conformance,
    # The sandbox answers what somebody may do, but lets everybody do everything.
    pytest.mark.parametrize("api", ["real"], indirect=True, scope="session"),
]


def listed(objects: Iterable[ReadOnly]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def test_an_installer_with_these_permissions_can_install_change_and_remove(
    kubectl: Kubectl, namespace: str, word: str
) -> None:
    bundle = rendered(str(SAMPLES / "beacon" / "1.1.0"), namespace, config=None, cert_provider="none", gates={})
    objects = [one for phase in phase_sort(bundle.objects) for one in phase.objects]
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
    told = kubectl(robot, "create", "-f", "-", stdin=listed([role]), fails=True)
    assert "attempting to grant RBAC permissions not currently held" in told
