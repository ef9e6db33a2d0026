"""`k8s/extensions`: who writes the objects of extensions has rights of its own, and no others (DESIGN §17)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
import yaml

from eventing.deploy import extensions
from eventing.deploy.rbac import WORKER, account_of
from eventing.deploy.rules import RULES
from tests.conformance.control_plane import program
from tests.kit.manifests import K8S

ACCOUNT = account_of(extensions.GROUP)


@pytest.fixture(scope="module")
def built() -> list[Any]:
    """What `kubectl apply -k k8s/extensions` applies."""
    command = [str(program("kubectl")), "kustomize", str(K8S / "extensions")]
    text = subprocess.run(command, capture_output=True, check=True).stdout
    return list(yaml.load_all(text, yaml.CSafeLoader))


def steps_of(built: list[Any], name: str) -> list[str]:
    """The groups of steps that the first container of a Deployment runs."""
    (found,) = (one for one in built if one["kind"] == "Deployment" and one["metadata"]["name"] == name)
    container = found["spec"]["template"]["spec"]["containers"][0]
    (steps,) = (one["value"] for one in container["env"] if one["name"] == "OLMF_STEPS")
    return str(steps).split(",")


def test_every_group_is_run_by_one_deployment(built: list[Any]) -> None:
    assert steps_of(built, extensions.NAME) == [extensions.GROUP]
    assert sorted([*steps_of(built, WORKER), extensions.GROUP]) == sorted(RULES)


def test_nobody_else_has_its_rights(built: list[Any]) -> None:
    bound = [
        (subject["name"], one["roleRef"]["name"])
        for one in built
        if one["kind"] in ("ClusterRoleBinding", "RoleBinding")
        for subject in one["subjects"]
        if ACCOUNT in (subject["name"], one["roleRef"]["name"])
    ]
    assert sorted(bound) == [(ACCOUNT, ACCOUNT), (ACCOUNT, extensions.NAME)]


def test_it_may_write_nothing_that_a_bundle_holds_and_give_no_rights(built: list[Any]) -> None:
    (role,) = (one for one in built if one["kind"] == "ClusterRole" and one["metadata"]["name"] == ACCOUNT)
    allowed = {name.partition("/")[0] for rule in role["rules"] for name in rule["resources"]}
    assert allowed == {"clusterobjectsets", "events"}
    assert not {"escalate", "bind", "impersonate", "*"} & {verb for rule in role["rules"] for verb in rule["verbs"]}


def test_it_runs_the_image_of_all_programs(built: list[Any]) -> None:
    images = {
        container["image"]
        for one in built
        if one["kind"] == "Deployment" and one["metadata"]["name"] != "olmf-redis"
        for container in one["spec"]["template"]["spec"]["containers"]
    }
    assert len(images) == 1
    assert {key["source"]["name"] for key in extensions.replacements()} == {"olmf-scheduler"}
