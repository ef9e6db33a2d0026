"""The NetworkPolicy of the pods that unpack the bundles of a catalog, from its making to its end."""

from __future__ import annotations

from shared import names
from shared.api.manifest import Manifest, resource_version_of, uid_of
from shared.kinds import CATALOG_SOURCE, EVENT, NETWORK_POLICY, Ref
from tests.kit.installation import Installation
from tests.kit.waiting import wait_for

IN_A_CONFIG_MAP = {"sourceType": "internal", "configMap": "kitchen"}


def a_catalog(namespace: str, **spec: str) -> Manifest:
    meta = {"name": "tea.cups", "namespace": namespace}
    return {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec}


def policy_of(namespace: str) -> Ref:
    return NETWORK_POLICY.ref("tea.cups-unpack-bundles", namespace)


def test_nobody_connects_to_the_pods_that_unpack(installation: Installation, namespace: str) -> None:
    """catalog.md 2.4.1, 8.1 row 21: repaired when edited, made again when deleted, gone with its catalog."""
    cluster, policy = installation.cluster, policy_of(namespace)
    cluster.create(a_catalog(namespace, **IN_A_CONFIG_MAP))
    made = installation.until(policy, lambda each: "ingress" not in each["spec"], "the policy")
    assert made["metadata"]["labels"] == {names.MANAGED: "true", names.OF_CATALOG: "tea.cups"}
    assert (made["spec"]["policyTypes"], made["spec"]["egress"][0]) == (["Ingress", "Egress"], {})

    anybody, nobody = {"ingress": [{}], "egress": made["spec"]["egress"][:1]}, {"ingress": None}
    for edit in (
        {"spec": anybody},
        {"metadata": {"labels": {names.MANAGED: None}}, "spec": anybody},
        {"metadata": {"ownerReferences": None}, "spec": anybody},
        {"metadata": {"labels": {"team": "tea"}}, "spec": {**anybody, **nobody}},
    ):
        cluster.merge(policy, edit)
        repaired = installation.until(policy, lambda each: each["spec"] == made["spec"], "its spec again")
        assert uid_of(repaired) == uid_of(made), "at no time there was none"
        assert repaired["metadata"]["labels"].items() >= made["metadata"]["labels"].items()
        assert repaired["metadata"]["ownerReferences"] == made["metadata"]["ownerReferences"]
    assert repaired["metadata"]["labels"]["team"] == "tea", "what others added stays"

    cluster.delete(policy)
    again = installation.until(policy, lambda each: uid_of(each) != uid_of(made), "another one")
    assert again["spec"] == made["spec"]
    installation.until_it_rests()
    assert resource_version_of(cluster.get(policy) or {}) == resource_version_of(again), "no write when it is right"

    cluster.delete(CATALOG_SOURCE.ref("tea.cups", namespace))
    installation.until_gone(policy)


def test_a_policy_of_somebody_else_is_left_alone_and_named(installation: Installation, namespace: str) -> None:
    cluster, policy = installation.cluster, policy_of(namespace)
    meta = {"name": policy.name, "namespace": namespace, "labels": {"team": "tea"}}
    theirs = cluster.create(
        {"apiVersion": policy.api_version, "kind": policy.kind, "metadata": meta, "spec": {"podSelector": {}}}
    )
    cluster.create(a_catalog(namespace, **IN_A_CONFIG_MAP))

    def noted() -> list[Manifest]:
        return [one for one in cluster.list(EVENT, namespace) if one.get("reason") == "NoNetworkPolicy"]

    (note,) = wait_for(noted, "the Event")
    assert "tea.cups-unpack-bundles is not its own" in note["message"]
    why = installation.olmf("why", "CatalogSource/tea.cups", "-n", namespace, check=False).stdout
    assert "tea.cups-unpack-bundles is not its own" in why
    assert resource_version_of(cluster.get(policy) or {}) == resource_version_of(theirs)
