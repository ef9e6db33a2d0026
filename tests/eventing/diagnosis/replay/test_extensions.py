"""A ClusterExtension in a capture: all of its objects, no secret of its bundle, decided again alike, and explained."""

from __future__ import annotations

import base64
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eventing.cli.commands import lead_to_cluster
from eventing.cli.main import app
from eventing.diagnosis.replay import open_capture
from eventing.events.event import Event
from eventing.routes import RESYNCS, jobs_for
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import (
    CLUSTER_CATALOG,
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    DEPLOYMENT,
    NAMESPACE,
    SECRET,
    Kind,
)
from shared.ports import Bundles, Catalogs
from tests.functions.cluster_extension.world import IMAGE, PLACE, a_bundle, an_extension
from tests.functions.subscription.world import FakeBundles, FakeCatalogs, a_package
from tests.replay.living import LivingWorld
from tests.replay.stories import an_object

CONTROLLER = DEPLOYMENT.ref("etcd-controller", PLACE)
PASSWORD = b"correct horse battery staple"
LONG_AGO = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test after these prints commands for their capture."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    yield
    lead_to_cluster()


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A catalog, an extension that is rolled out and asks for a version that nobody has, and one that waits."""
    catalogs, bundles = FakeCatalogs(), FakeBundles()
    secret: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine"}}
    secret["data"] = {"password": base64.b64encode(PASSWORD).decode()}
    bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", secret)
    catalogs.publish(IMAGE, a_package("etcd", "1.0.0"))
    world = LivingWorld({Catalogs: catalogs, Bundles: bundles})
    for place in (PLACE, "olm"):
        world.add(an_object(NAMESPACE, place))
    world.add(an_object(CLUSTER_CATALOG, "c", spec={"source": {"type": "Image", "image": {"ref": IMAGE}}}))
    extension = an_extension()
    extension["metadata"] = {"name": "etcd"}
    world.add(extension)
    running = {"type": "Available", "status": "True", "lastTransitionTime": LONG_AGO}
    status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "conditions": [running]}
    world.change(CONTROLLER, {"status": status}, subresource="status")
    world.change(CLUSTER_EXTENSION.ref("etcd"), {"spec": {"source": {"catalog": {"version": "2.x"}}}})
    return str(world.save(tmp_path_factory.mktemp("incident") / "incident.tar.gz"))


def olmf(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_all_of_it_is_in_a_capture_and_no_secret_of_its_bundle(incident: str) -> None:
    capture = open_capture(Path(incident))
    found = {(one["apiVersion"], one["kind"], one["metadata"]["name"]): one for one in capture.objects}
    for kind, name in ((CLUSTER_CATALOG, "c"), (CLUSTER_EXTENSION, "etcd"), (CLUSTER_OBJECT_SET, "etcd-1")):
        assert (kind.api_version, kind.kind, name) in found
    assert (DEPLOYMENT.api_version, "Deployment", CONTROLLER.name) in found
    content = [value for key, one in found.items() if key[1] == SECRET.kind for value in one.get("data", {}).values()]
    assert content
    opened = [base64.b64decode(value) for value in content if not value.startswith("redacted:")]
    assert any(b"etcd-settings" in one for one in opened), "what a revision consists of decides"
    assert not any(one in text for text in opened for one in (PASSWORD, base64.b64encode(PASSWORD)))


def test_it_is_decided_again_alike(incident: str) -> None:
    found = olmf("replay", incident)
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("words", [("why", "clusterextension/etcd"), ("extension", "why", "etcd")])
def test_it_is_explained_from_a_capture(incident: str, words: tuple[str, ...]) -> None:
    found = olmf(*words, "--from", incident)
    assert found.exit_code == 0, found.output
    assert "No bundles are of a version in '2.x'; not etcd.v1.0.0." in found.stdout
    assert "fix: accept other versions than 2.x, which gives etcd.v1.0.0" in found.stdout
    assert "resolve_extension" in found.stdout


def test_its_revision_is_explained_from_a_capture(incident: str) -> None:
    found = olmf("why", "ClusterObjectSet/etcd-1", "--from", incident, "-o", "json")
    answer = json.loads(found.stdout)
    assert (answer["package"]["extension"], answer["package"]["code"]) == ("etcd", "Retrying")
    assert answer["writes"]


def test_no_member_of_the_tar_holds_a_secret_of_the_bundle(incident: str) -> None:
    with tarfile.open(incident) as tar:
        text = b"".join(file.read() for one in tar.getmembers() if (file := tar.extractfile(one)))
    for layers in range(3):
        packed = PASSWORD
        for _ in range(layers):
            packed = base64.b64encode(packed)
        assert packed not in text


@pytest.mark.parametrize("type_", [*RESYNCS, f"{names.RESOURCE_EVENT}update"])
@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        (CLUSTER_CATALOG, {"guard_catalog", "unpack_catalog", "notify_extensions"}),
        (CLUSTER_EXTENSION, {"resolve_extension"}),
        (CLUSTER_OBJECT_SET, {"roll_out", "tear_down"}),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_an_event_that_somebody_sends_and_one_of_the_audit_wake_its_steps(
    kind: Kind, steps: set[str], type_: str
) -> None:
    jobs = jobs_for(Event("id", type_, "test", kind.ref("a")))
    assert {job.step.partition("/")[2] for job in jobs if job.ref == kind.ref("a")} == steps


def test_a_namespace_names_the_extensions_that_install_into_it(incident: str) -> None:
    found = olmf("why", "-n", PLACE, "--from", incident)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("ClusterExtension etcd: etcd.v1.0.0 is Retrying: error upgrading")
    reported = json.loads(olmf("why", "-n", PLACE, "--from", incident, "-o", "json").stdout)
    assert [one["extension"] for one in reported["extensions"]] == ["etcd"]
