from typing import Any

import pytest

from shared.api.manifest import Manifest, annotations_of, labels_of, metadata
from shared.api.views import Csv, Deployment, Subscription
from shared.domain.csv.deployments import annotated, changes, desired_deployments, hash_label
from shared.domain.objects.hashes import deployment_hash
from tests.domain.csv.builders import a_component, a_csv


def desired(*subscriptions: Manifest, **more: Any) -> Manifest:
    (found,) = desired_deployments(Csv(a_csv(**more)), Subscription.each(subscriptions))
    return found


def a_subscription(**config: Any) -> Manifest:
    return {"spec": {"config": config}, "status": {"installedCSV": "a.v1"}}


def pod_annotations(deployment: Manifest) -> dict[str, str]:
    return annotations_of(deployment["spec"]["template"])


def test_every_annotation_of_the_version_is_on_the_pods_csv_md_6_2() -> None:
    component = a_component()
    component["spec"]["template"]["metadata"]["annotations"] = {"mine": "1", "both": "template"}
    found = desired(
        strategy={"deployments": [component]}, annotations={"olm.targetNamespaces": "ns", "both": "version"}
    )
    assert pod_annotations(found) == {"mine": "1", "both": "version", "olm.targetNamespaces": "ns"}


def test_a_configuration_is_applied_to_pods_that_serve_csv_md_6_3() -> None:
    """As in OLM, it comes after the certificate: its volume takes the place of ours, its mount that of ours."""
    own = {"name": "webhook-cert", "secret": {"secretName": "mine"}}
    subscription = a_subscription(volumes=[own], volumeMounts=[{"name": "webhook-cert", "mountPath": "/mine"}])
    (found,) = desired_deployments(Csv(a_csv()), Subscription.each([subscription]), {"operator": "digest"})
    pod = found["spec"]["template"]["spec"]
    assert [one["name"] for one in pod["volumes"]] == ["apiservice-cert", "webhook-cert"]
    assert pod["volumes"][1] == own
    (container,) = pod["containers"]
    assert [one["mountPath"] for one in container["volumeMounts"]] == ["/apiserver.local.config/certificates", "/mine"]
    assert pod_annotations(found)["olmcahash"] == "digest"


def test_labels_of_a_deployment_csv_md_6_2_and_18_rows_69_70() -> None:
    component = a_component() | {"label": {"team": "x", "olm.owner": "mine"}}
    found = desired(strategy={"deployments": [component]})
    assert labels_of(found) == {
        "team": "x",
        "olm.managed": "true",
        "olm.owner": "a.v1",
        "olm.owner.namespace": "ns",
        "olm.owner.kind": "ClusterServiceVersion",
        "olm.deployment-spec-hash": deployment_hash(found["spec"]),
    }
    assert "olm.deployment-spec-hash" not in labels_of(found["spec"]["template"])


def test_a_deployment_belongs_to_its_version_and_never_blocks_it_csv_md_6_2() -> None:
    (owner,) = metadata(desired())["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == ("uid-a.v1", False, False)
    assert metadata(desired())["namespace"] == "ns"


def test_one_old_revision_is_kept_whatever_the_version_says_csv_md_18_row_69() -> None:
    component = a_component()
    component["spec"]["revisionHistoryLimit"] = 7
    assert desired(strategy={"deployments": [component]})["spec"]["revisionHistoryLimit"] == 1


@pytest.mark.parametrize(
    ("env", "want"),
    [
        pytest.param([], ["OPERATOR_CONDITION_NAME=a.v1"], id="csv.md 18 row 243: none before"),
        pytest.param(
            [{"name": "A", "value": "1"}], ["A=1", "OPERATOR_CONDITION_NAME=a.v1"], id="csv.md 18 row 244: others"
        ),
        pytest.param(
            [{"name": "OPERATOR_CONDITION_NAME", "value": "old"}, {"name": "A", "value": "1"}],
            ["OPERATOR_CONDITION_NAME=a.v1", "A=1"], id="csv.md 18 row 245: another value",
        ),
    ],
)  # fmt: skip
def test_each_container_knows_the_name_of_its_condition(env: list[Manifest], want: list[str]) -> None:
    containers = [{"name": name, "image": "i", "env": env} for name in "ab"]
    found = desired(strategy={"deployments": [a_component(containers=containers, initContainers=[{"name": "i"}])]})
    pod = found["spec"]["template"]["spec"]
    assert [[f"{item['name']}={item['value']}" for item in container["env"]] for container in pod["containers"]] == [
        want
    ] * 2
    assert pod["initContainers"] == [{"name": "i"}]


def test_the_subscription_is_laid_over_every_deployment_csv_md_6_3() -> None:
    csv = a_csv(strategy={"deployments": [a_component("one"), a_component("two")]})
    found = desired_deployments(Csv(csv), [Subscription(a_subscription(nodeSelector={"a": "b"}))])
    assert [item["spec"]["template"]["spec"]["nodeSelector"] for item in found] == [{"a": "b"}] * 2


def test_annotations_of_the_subscription_never_override_csv_md_6_3() -> None:
    found = desired(a_subscription(annotations={"new": "1", "both": "subscription"}), annotations={"both": "version"})
    assert pod_annotations(found) == {"new": "1", "both": "version"}
    assert annotations_of(found) == {"new": "1", "both": "subscription"}


def test_another_config_is_another_hash_csv_md_6_6() -> None:
    assert hash_label(Deployment(desired())) != hash_label(
        Deployment(desired(a_subscription(env=[{"name": "A", "value": "1"}])))
    )


def test_a_strategy_that_nobody_knows_has_no_deployments() -> None:
    assert desired_deployments(Csv(a_csv(strategy_name="helm")), ()) == ()


CSV = a_csv()
DESIRED = desired_deployments(Csv(CSV), ())


def stored(deployment: Manifest, **meta: Any) -> Manifest:
    return {**deployment, "metadata": {**metadata(deployment), "resourceVersion": "7", "uid": "u", **meta}}


def test_a_missing_deployment_is_created_csv_md_6_1_2() -> None:
    assert changes(Csv(CSV), DESIRED, []).created == DESIRED


def test_what_is_written_is_a_component_from_the_start_and_to_be_none_is_no_difference_csv_md_12_3() -> None:
    label = {"operators.coreos.com/a.ns": ""}
    csv = Csv({**CSV, "metadata": {**metadata(CSV), "labels": label}})
    (made,) = changes(csv, DESIRED, []).created
    assert made["metadata"]["labels"] == {**metadata(DESIRED[0])["labels"], **label}
    (replaced,) = changes(csv, DESIRED, [Deployment(stored(DESIRED[0], labels={}))]).replaced
    assert replaced["metadata"]["labels"] == made["metadata"]["labels"]
    assert changes(csv, DESIRED, [Deployment(stored(DESIRED[0]))]).replaced == ()


def test_an_equal_deployment_is_left_alone_whatever_the_server_added() -> None:
    live = stored(DESIRED[0])
    live["spec"] = {**live["spec"], "progressDeadlineSeconds": 600}
    found = changes(Csv(CSV), DESIRED, [Deployment(live)])
    assert (found.created, found.replaced, found.orphans) == ((), (), ())


def test_a_different_deployment_is_replaced_at_the_version_that_was_read_csv_md_6_1_2() -> None:
    live = stored(DESIRED[0], labels={})
    (replaced,) = changes(Csv(CSV), DESIRED, [Deployment(live)]).replaced
    assert replaced == {**DESIRED[0], "metadata": {**metadata(DESIRED[0]), "resourceVersion": "7"}}


def test_a_deployment_of_the_predecessor_changes_hands_csv_md_6_7() -> None:
    old = stored(desired_deployments(Csv(a_csv("a.v0")), ())[0])
    (replaced,) = changes(Csv(CSV), DESIRED, [Deployment(old)]).replaced
    assert metadata(replaced)["ownerReferences"] == metadata(DESIRED[0])["ownerReferences"]


@pytest.mark.parametrize(
    ("meta", "want"),
    [
        pytest.param({}, ["gone"], id="csv.md 18 row 72: labelled and owned"),
        pytest.param({"ownerReferences": []}, [], id="csv.md 18 row 72: labelled, not owned"),
        pytest.param({"labels": {}}, [], id="csv.md 6.1-3: not labelled"),
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, [], id="it is being deleted already"),
    ],
)
def test_orphans_are_deleted(meta: Manifest, want: list[str]) -> None:
    orphan = stored(DESIRED[0], name="gone", **meta)
    assert [
        item.name for item in changes(Csv(CSV), DESIRED, [Deployment(stored(DESIRED[0])), Deployment(orphan)]).orphans
    ] == want


def with_new_annotation(**more: Any) -> tuple[Manifest, Manifest]:
    """What is wanted after a new annotation of the version, and what is there."""
    live = desired(annotations={"a": "1"}, **more)
    return desired(annotations={"a": "1", "b": "2"}, **more), {
        **live,
        "metadata": {**live["metadata"], "resourceVersion": "7"},
    }


def test_a_new_annotation_is_written_in_place() -> None:
    desired, live = with_new_annotation()
    (found,) = annotated(Csv(CSV), [desired], [Deployment(live)])
    assert found == {**desired, "metadata": {**desired["metadata"], "resourceVersion": "7"}}


def test_no_annotation_is_written_to_what_olm_v1_controls() -> None:
    desired, live = with_new_annotation()
    revision = {"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterObjectSet", "name": "a-1", "uid": "r"}
    owners = [*metadata(live)["ownerReferences"], {**revision, "controller": True}]
    both = {**live, "metadata": {**metadata(live), "ownerReferences": owners}}
    assert annotated(Csv(CSV), [desired], [Deployment(both)]) == ()


def test_an_annotation_in_place_takes_no_component_label_away() -> None:
    """csv.md 12.3: else it would be adopted again with each annotation."""
    desired, live = with_new_annotation()
    labels = {"operators.coreos.com/a.ns": ""}
    csv = Csv({**CSV, "metadata": {**CSV["metadata"], "labels": labels}})
    (found,) = annotated(csv, [desired], [Deployment(live)])
    assert found["metadata"]["labels"] == desired["metadata"]["labels"] | labels


def test_pods_that_are_recreated_are_not_annotated_in_place() -> None:
    component = a_component()
    component["spec"]["strategy"] = {"type": "Recreate"}
    desired, live = with_new_annotation(strategy={"deployments": [component]})
    assert annotated(Csv(CSV), [desired], [Deployment(live)]) == ()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"metadata": {"name": "other"}}, id="the Deployment is missing"),
        pytest.param({"spec": {"replicas": 1, "template": {"spec": {}}}}, id="its pods differ"),
    ],
)
def test_what_differs_otherwise_is_not_annotated_in_place(changes: Manifest) -> None:
    desired, live = with_new_annotation()
    assert annotated(Csv(CSV), [desired], [Deployment({**live, **changes})]) == ()


def test_what_is_as_wanted_is_not_written() -> None:
    desired, _ = with_new_annotation()
    assert annotated(Csv(CSV), [desired], [Deployment(desired)]) == ()
