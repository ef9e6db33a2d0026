"""What is written for a version is written with the rights of the ServiceAccount that its group names."""

from __future__ import annotations

from shared import kinds
from shared.api.manifest import Manifest
from shared.step import Create, Outcome
from tests.domain.csv.builders import a_csv, a_status
from tests.functions.cluster_service_version.world import World

ACCOUNT: Manifest = {
    "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "limited", "namespace": "ns"},
}  # fmt: skip


def a_group(account: str = "limited", *, name: str = "group", namespaces: tuple[str, ...] = ("ns",)) -> Manifest:
    return {
        "apiVersion": kinds.OPERATOR_GROUP.api_version, "kind": "OperatorGroup",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"serviceAccountName": account}, "status": {"namespaces": [*namespaces]},
    }  # fmt: skip


def installed(*objects: Manifest) -> tuple[World, Outcome]:
    world = World([a_csv(status=a_status("InstallReady")), *objects])
    world.later(minutes=1)
    return world, world.does("install")


def test_a_deployment_is_written_with_the_permissions_of_the_account() -> None:
    """csv.md 8.4."""
    world, _ = installed(a_group(), ACCOUNT)
    assert world.csv()["status"]["reason"] == "InstallComponentFailedNoRetry"
    assert (
        'User "system:serviceaccount:ns:limited" cannot create resource "deployments"'
        in (world.csv()["status"]["message"])
    )


def test_without_a_name_they_are_ours() -> None:
    world, outcome = installed(a_group(""))
    assert [one.identity for one in outcome.writes if isinstance(one, Create)] == [None]
    assert world.csv()["status"]["phase"] == "Installing"


def test_an_account_that_does_not_exist_is_reported() -> None:
    """csv.md 18 row 76: nothing is written, least of all with our rights."""
    world, outcome = installed(a_group())
    assert not [one for one in outcome.writes if isinstance(one, Create)]
    assert world.csv()["status"]["reason"] == "InstallComponentFailedNoRetry"
    reported = "please make sure the service account exists. sa=limited operatorgroup=ns/group"
    assert world.csv()["status"]["message"].endswith(reported)


def test_without_exactly_one_group_nothing_is_written() -> None:
    """csv.md 8.4: it must not be our rights because nobody can tell whose."""
    for groups in ([], [a_group("", namespaces=())], [a_group(""), a_group(name="other")]):
        world, outcome = installed(*groups)
        assert not outcome.writes
        assert world.csv()["status"]["phase"] == "InstallReady"


def test_an_installation_that_was_forbidden_is_tried_again_with_another_group() -> None:
    """csv.md 18 row 75."""
    world, _ = installed(a_group(), ACCOUNT)
    world.later(seconds=5)
    assert "permissions" in world.does("check").summary
    world.later(seconds=5)
    edited = a_group("")
    edited["metadata"]["managedFields"] = [{"manager": "kubectl", "time": "2100-01-01T00:00:00Z"}]
    world.put(edited)
    world.does("check")
    assert world.csv()["status"]["reason"] == "DetectedClusterChange"
