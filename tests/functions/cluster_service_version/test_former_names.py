"""What is left under former names goes, and nothing that has such a name now."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.domain.objects.ownership import labels_for
from shared.kinds import API_SERVICE, CLUSTER_ROLE_BINDING, ROLE_BINDING, SECRET, SERVICE, Ref
from tests.domain.csv.builders import a_component
from tests.domain.endpoints.builders import a_webhook, an_api
from tests.functions.cluster_service_version.served import a_working_world, a_world, edit, phase

pytestmark = pytest.mark.unmeasured

FORMER_SECRET = SECRET.ref("v1.api.example.com-cert", "ns")


@pytest.mark.parametrize(("data", "is_kept"), [({"tls.crt": ""}, False), ({"tls.crt": "", "password": "eA=="}, True)])
def test_a_former_secret_in_which_somebody_keeps_data_stays_csv_md_7_4(data: Manifest, is_kept: bool) -> None:
    meta = {"name": FORMER_SECRET.name, "namespace": "ns", "labels": labels_for("a.v1", "ns")}
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": meta, "data": data}
    world = a_working_world(secret, hooks=(), apis=(an_api(),))
    assert (FORMER_SECRET in world.objects) is is_kept


def test_a_former_name_that_another_deployment_has_now_stays_csv_md_7_4() -> None:
    """Only the dot of the API's name differs from the Service of the other Deployment, which OLM labelled."""
    ref, labels = SERVICE.ref("v1-foo-service", "ns"), labels_for("a.v1", "ns")
    hooks = (a_webhook(deploymentName="v1-foo"),)
    strategy = {"deployments": [a_component("operator"), a_component("v1-foo")]}
    world = a_working_world(hooks=hooks, apis=(an_api("foo-service"),), strategy=strategy)
    with world.edited(ref) as service:
        service["metadata"]["labels"] = labels
    with world.edited(Ref.of(world.csv())) as csv:
        csv["status"]["phase"] = "InstallReady"
    world.does("install")
    assert world.objects[ref]["metadata"]["labels"].items() >= labels.items()


def test_a_deployment_whose_new_name_has_the_same_service_keeps_its_rights_csv_md_18_row_63() -> None:
    def described(name: str) -> Manifest:
        install = {"strategy": "deployment", "spec": {"deployments": [a_component(name)]}}
        return {"install": install, "webhookdefinitions": [a_webhook(deploymentName=name)]}

    hooks, strategy = (a_webhook(deploymentName="a.b"),), {"deployments": [a_component("a.b")]}
    world = a_working_world(hooks=hooks, strategy=strategy)
    edit(world, **described("a-b"))
    with world.edited(Ref.of(world.csv())) as csv:
        csv["status"]["phase"] = "InstallReady"
    world.does("install")
    bindings = (
        CLUSTER_ROLE_BINDING.ref("a-b-service-system:auth-delegator"),
        ROLE_BINDING.ref("a-b-service-auth-reader", "kube-system"),
    )
    assert [len(world.objects[ref]["subjects"]) for ref in bindings] == [1, 1]


def test_of_a_version_that_owns_too_much_nothing_is_read_csv_md_4_3_2() -> None:
    world = a_world(hooks=(), apis=[an_api(f"g{number}.example.com") for number in range(65)])
    with world.edited(Ref.of(world.csv())) as csv:
        csv["status"] = {"phase": "InstallReady", "reason": "AllRequirementsMet"}
    before = world.reads
    world.does("install")
    assert phase(world) == ("Failed", "InstallComponentFailed")
    assert world.csv()["status"]["message"].endswith("65 APIServices are owned: a version may own 64 of them")
    assert world.reads - before < 10
    assert API_SERVICE.ref("v1.g0.example.com") not in world.objects
