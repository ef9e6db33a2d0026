"""Plans that do no more than the author of their Subscription may; his name is checked where policies are served."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from shared import names
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest
from shared.domain.authors import admission, policy
from shared.kinds import CLUSTER_ROLE_BINDING, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, SERVICE_ACCOUNT, SUBSCRIPTION, Ref
from tests.kit.installation import Installation, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

RBAC = "rbac.authorization.k8s.io"
WRITER = {"apiGroups": ["operators.coreos.com"], "resources": ["subscriptions"], "verbs": ["create", "get", "update"]}
Json = Any


def a_bound_group(namespace: str) -> Manifest:
    group = an_operator_group(namespace, targets=(namespace,))
    meta = {**group["metadata"], "annotations": {names.AUTHOR_BOUND: "true"}}
    return {**group, "metadata": meta}


def written_by(author: str, namespace: str) -> Manifest:
    """A Subscription that says who wrote it: a ServiceAccount, with its groups."""
    found = a_subscription("tide", namespace)
    groups = f"system:serviceaccounts\nsystem:serviceaccounts:{namespace}\nsystem:authenticated"
    annotations = {names.AUTHOR: author, names.AUTHOR_GROUPS: groups}
    return {**found, "metadata": {**found["metadata"], "annotations": annotations}}


def told(installation: Installation, namespace: str, sentence: str) -> Manifest:
    """The only plan of the namespace, as soon as its status has the sentence."""
    wait_for(lambda: installation.cluster.list(INSTALL_PLAN, namespace), "a plan")
    [plan] = installation.cluster.list(INSTALL_PLAN, namespace)
    return installation.until(Ref.of(plan), lambda each: sentence in str(each["status"]), sentence)


def test_no_author_is_believed_without_the_policy(installation: Installation, namespace: str) -> None:
    installation.apply(a_bound_group(namespace), written_by("system:admin", namespace))
    plan = told(
        installation,
        namespace,
        f"{policy.AUTHORS.policy.kind} {policy.AUTHORS.name} does not exist: apply {policy.AUTHORS.file}",
    )
    assert {step["status"] for step in plan["status"]["plan"]} == {"Unknown"}
    assert not installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace)


@pytest.fixture(scope="module")
def checked(installation: Installation) -> Iterator[None]:
    """The policy is in force, and has been for as long as it takes until names are believed."""
    if installation.cluster.find(admission.API, policy.AUTHORS.policy.kind) is None:
        pytest.skip("the sandbox serves no admission policies")
    installation.apply(*policy.AUTHORS.manifests())
    wait_for(lambda: refused(installation.cluster, policy.probe("default")), "the policy")
    time.sleep(admission.SPREAD.total_seconds() + 1)
    yield
    for one in policy.AUTHORS.manifests():
        installation.cluster.delete(Ref.of(one))
    wait_for(lambda: not refused(installation.cluster, policy.probe("default")), "the end of the policy")


def refused(client: KubeClient, manifest: Manifest) -> str:
    """Why the API server does not take it; empty when it would, as nothing is stored."""
    try:
        client.try_out(manifest)
    except ApiError as error:
        return error.message
    return ""


def given(name: str, namespace: str, **role: Json) -> list[Manifest]:
    """A Role of the account `author`, and its binding."""
    meta = {"name": name, "namespace": namespace}
    subject = {"kind": "ServiceAccount", "name": "author", "namespace": namespace}
    ref = {"apiGroup": RBAC, "kind": "Role", "name": name}
    return [
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, **role},
        {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": meta, "roleRef": ref, "subjects": [subject]},
    ]


@pytest.mark.usefixtures("checked")
def test_a_plan_does_what_its_author_may(installation: Installation, namespace: str) -> None:
    account, name = SERVICE_ACCOUNT.ref("author", namespace), f"system:serviceaccount:{namespace}:author"
    person = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "author", "namespace": namespace}}
    installation.apply(person, *given("writer", namespace, rules=[WRITER]), a_bound_group(namespace))
    author = installation.cluster.acting_as(account)
    wait_for(lambda: not refused(author, written_by(name, namespace)), "the right to subscribe")
    assert policy.WRONG_AUTHOR in refused(author, written_by("system:admin", namespace))
    masters = written_by(name, namespace)
    masters["metadata"]["annotations"][names.AUTHOR_GROUPS] = "system:masters"
    assert "only groups of whoever writes" in refused(author, masters)
    configured = written_by(name, namespace)
    configured["spec"]["config"] = {"env": [{"name": "A", "value": "b"}]}
    assert "spec.config reaches Deployments" in refused(author, configured)

    stored = author.create(written_by(name, namespace))
    with pytest.raises(ApiError, match="has to be the name of whoever writes"):
        installation.cluster.merge(SUBSCRIPTION.ref("tide", namespace), {"spec": {"channel": "other"}})
    installation.cluster.merge(SUBSCRIPTION.ref("tide", namespace), {"metadata": {"labels": {"a": "b"}}})
    assert stored["metadata"]["annotations"][names.AUTHOR] == name

    lacking = f'User "{name}" cannot create resource "clusterserviceversions" "tide.v'
    plan = told(installation, namespace, lacking)
    assert not installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace)
    assert "besides: " in plan["status"]["message"]
    everything = {
        "apiVersion": CLUSTER_ROLE_BINDING.api_version, "kind": "ClusterRoleBinding", "metadata": {"name": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "author", "namespace": namespace}],
    }  # fmt: skip
    installation.apply(everything)
    try:
        done = installation.until(Ref.of(plan), lambda each: each["status"]["phase"] == "Complete", "Complete")
        version = done["spec"]["clusterServiceVersionNames"][0]
        installation.until_phase(version, namespace)
    finally:
        installation.cluster.delete(Ref.of(everything))
