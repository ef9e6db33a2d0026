"""`olmf resolve` and `olmf explain` on a capture: the namespace as it was, with the catalogs as they answered."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.commands import lead_to_cluster
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.main import app
from shared.domain.resolution_inputs.request import reader_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION
from shared.ports import Bundles, Catalogs
from tests.domain.resolver.scenery import (
    needs,
    releases,
)
from tests.functions.subscription.world import FakeBundles, FakeCatalogs
from tests.replay.living import LivingWorld
from tests.replay.stories import an_object

IMAGE = "registry.example/catalog:v1"
CONTENT = [*releases("a", 2), *releases("b", 1, v1=[needs("K")])]


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is kept of catalogs goes to a folder of the test; no test after it prints commands for its capture."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    yield
    lead_to_cluster()


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture of a namespace with a Subscription to a, and one to b, which lacks what it needs."""
    catalogs = FakeCatalogs()
    catalogs.publish(IMAGE, *reader_of(CONTENT).packages.values())
    world = LivingWorld({Catalogs: catalogs, Bundles: FakeBundles()})
    world.add(an_object(NAMESPACE, "ns"))
    world.add(an_object(OPERATOR_GROUP, "all", "ns", spec={}))
    world.add(an_object(CATALOG_SOURCE, "cat", "ns", spec={"sourceType": "grpc", "image": IMAGE}))
    for name in ("a", "b"):
        spec = {"name": name, "channel": "stable", "source": "cat", "sourceNamespace": "ns"}
        world.add(an_object(SUBSCRIPTION, name, "ns", spec={**spec, "startingCSV": f"{name}.v1"}))
    installed = {
        "version": "1.0.0",
        "displayName": "x",
        "install": {"strategy": "deployment", "spec": {"deployments": []}},
    }
    world.add(an_object(CLUSTER_SERVICE_VERSION, "x.v1", "other", spec=installed))
    return str(world.save(tmp_path_factory.mktemp("incident") / "incident.tar.gz"))


def olmf(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def failure(*words: str) -> CliError:
    error = olmf(*words).exception
    assert isinstance(error, CliError)
    return error


def test_what_a_captured_namespace_would_get(incident: str) -> None:
    found = olmf("resolve", "-n", "ns", "--from", incident, "-o", "json")
    assert found.exit_code == NEGATIVE
    reported = {one["subscription"]: one["gets"] for one in json.loads(found.stdout)}
    assert reported == {"a": "a.v1", "b": ""}
    assert olmf("resolve", "-n", "other", "--from", incident).exit_code == 0
    error = failure("resolve", "-n", "nss", "--from", incident)
    assert (error.code, "nothing in namespace nss, but in ns, other (-n)" in str(error)) == (USAGE, True)


def test_a_captured_refusal_is_explained(incident: str) -> None:
    found = olmf("explain", "b", "-n", "ns", "--from", incident)
    assert found.exit_code == NEGATIVE
    assert "needs kind K of g/v1, which nothing here offers" in found.stdout
    found = olmf("explain", "b", "-n", "ns", "--from", incident, "--isolation", "namespace")
    assert "Subscriptions a, b cannot be satisfied" in found.stdout


def test_why_reports_a_captured_object_as_of_a_living_one(incident: str) -> None:
    found = olmf("why", "sub/b", "-n", "ns", "--from", incident)
    assert found.exit_code == 0
    assert "subscription/track_subscription" in found.stdout
    assert "needs kind K" in found.stdout
    screen = olmf("why", "-n", "ns", "--from", incident).stdout
    assert f"`olmf why Subscription/a -n ns --from {incident}` shows more" in screen
    assert olmf("why", "--from", incident).stdout == screen, "the only namespace with Subscriptions"
    rows = json.loads(olmf("why", "-n", "ns", "--from", incident, "-o", "json").stdout)["waiting"]
    assert "b" in [row["subscription"] for row in rows]
    assert failure("why", "sub/nobody", "-n", "ns", "--from", incident).code == NEGATIVE
    assert failure("why", "-n", "ns", "--from", incident, "--state", "s").code == USAGE
    assert failure("why", "-n", "ns", "--from", "/nosuch").code == USAGE


def test_of_a_plan_that_cannot_go_on_its_package_is_reported(tmp_path: Path) -> None:
    world = LivingWorld()
    where = 'in API group "" in the namespace "ns"'
    message = f'x is forbidden: User "system:serviceaccount:ns:few" cannot create resource "services" {where}'
    spec = {"name": "a", "channel": "stable", "source": "cat", "sourceNamespace": "ns"}
    pending = {"type": "InstallPlanPending", "status": "True", "reason": "Installing", "message": message}
    status = {"state": "UpgradePending", "installPlanRef": {"name": "install-1", "namespace": "ns"}}
    world.keep(
        an_object(SUBSCRIPTION, "a", "ns", spec=spec, status={**status, "conditions": [pending]}),
        an_object(INSTALL_PLAN, "install-1", "ns", spec={"approved": True}, status={"phase": "Installing"}),
        an_object(OPERATOR_GROUP, "og", "ns", spec={"serviceAccountName": "few"}),
    )
    found = olmf("why", "InstallPlan/install-1", "-n", "ns", "--from", str(world.save(tmp_path / "incident.tar")))
    assert (
        "ServiceAccount ns/few, which OperatorGroup og names, may not create services in namespace ns" in found.stdout
    )
    assert "next try: when ServiceAccount ns/few is given what it lacks" in found.stdout
    assert "`olmf plan --grants -n ns --from " in found.stdout


def test_a_captured_version_that_failed_is_not_reported_as_installed(tmp_path: Path) -> None:
    world = LivingWorld()
    status = {"phase": "Failed", "reason": "UnsupportedOperatorGroup", "message": "no such mode"}
    modes = {"installModes": [{"type": "OwnNamespace", "supported": True}]}
    world.keep(
        an_object(OPERATOR_GROUP, "all", "ns", spec={}, status={"namespaces": [""]}),
        an_object(CLUSTER_SERVICE_VERSION, "a.v1", "ns", spec=modes, status=status),
    )
    spec = {"name": "a", "channel": "stable", "source": "cat", "sourceNamespace": "ns"}
    reported = {"state": "AtLatestKnown", "currentCSV": "a.v1", "installedCSV": "a.v1"}
    world.keep(an_object(SUBSCRIPTION, "a", "ns", spec=spec, status=reported))
    found = olmf("explain", "-n", "ns", "--from", str(world.save(tmp_path / "incident.tar")))
    assert found.exit_code == NEGATIVE
    assert "a: a.v1 is Failed: no such mode; OperatorGroup all selects all namespaces; a.v1 supports" in found.stdout
    assert "is installed" not in found.stdout


def test_another_catalog_may_stand_in(incident: str, tmp_path: Path) -> None:
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump_all([*releases("a", 2), *releases("b", 1)]))
    words = ("resolve", "-n", "ns", "--from", incident, "--catalog", f"ns/cat={tmp_path / 'whole.yaml'}")
    assert olmf(*words).exit_code == 0
    assert olmf(*words[:-1], str(tmp_path / "whole.yaml"), "--lock", str(tmp_path / "lock")).exit_code == 0
    assert olmf("resolve", "--locked", str(tmp_path / "lock")).exit_code == 0


def test_what_was_never_asked_is_named(tmp_path: Path) -> None:
    world = LivingWorld()
    world.add(an_object(OPERATOR_GROUP, "all", "ns", spec={}))
    state = {"connectionState": {"address": "registry.example/catalog@sha256:0"}}
    world.keep(an_object(CATALOG_SOURCE, "cat", "ns", spec={"image": IMAGE}, status=state))
    spec = {"name": "a", "channel": "stable", "source": "cat", "sourceNamespace": "ns"}
    world.keep(an_object(SUBSCRIPTION, "a", "ns", spec=spec))
    for verb in ("resolve", "explain"):
        found = olmf(verb, "-n", "ns", "--from", str(world.save(tmp_path / "incident.tar")))
        assert (found.exit_code, "is not in the capture" in found.stdout) == (UNKNOWN, True), verb


@pytest.mark.parametrize("verb", ["resolve", "explain"])
def test_a_tar_of_something_else_and_a_folder_without_catalogs_are_refused(verb: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w"):
        pass
    missing = f"{tmp_path / 'x.tar'}: not a capture of olmf: filename 'capture.json' not found"
    for place, why in (("x.tar", missing), ("", "name the catalogs, too")):
        error = failure(verb, "-n", "ns", "--from", str(tmp_path / place))
        assert (error.code, why in str(error)) == (USAGE, True), str(error)
