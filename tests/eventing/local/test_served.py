"""What `olmf up` serves again when nobody names folders."""

from __future__ import annotations

import shutil
from pathlib import Path
from socket import gethostname

from eventing.local.marker import InstallationMarker
from eventing.local.served import Served, is_without_bundles, recall, remember
from eventing.local.state import StateDirectory
from shared.kinds import CATALOG_SOURCE
from tests.kit.installation import SAMPLES, Installation, installed, olmf


def test_the_same_folders_are_served_again_as_long_as_they_are_there(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    bundles, catalog, gone = tmp_path / "bundles", tmp_path / "catalog", tmp_path / "gone"
    bundles.mkdir()
    catalog.mkdir()
    assert recall(state, None) == Served()
    remember(state, Served((bundles, gone), (catalog,)), None)
    remember(state, Served(), None)
    assert recall(state, None) == Served((bundles,), (catalog,))


def test_another_cluster_is_not_served_what_this_one_was(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    remember(state, Served((tmp_path,)), None)
    assert recall(state, tmp_path / "kubeconfig") == Served()


def test_a_folder_without_bundles_is_noticed(tmp_path: Path) -> None:
    assert is_without_bundles(tmp_path)
    assert not is_without_bundles(SAMPLES)


def test_up_reports_what_it_serves_again_and_what_is_empty(tmp_path: Path) -> None:
    state, bundles = tmp_path / "state", tmp_path / "bundles"
    bundles.mkdir()
    try:
        first = olmf("up", "--detach", "--state", str(state), "--bundles", str(bundles))
        olmf("down", "--state", str(state))
        again = olmf("up", "--detach", "--state", str(state))
    finally:
        olmf("down", "--state", str(state), check=False)
    assert f"warning: --bundles {bundles}: no bundle there" in first.stderr
    assert f"# serving again: {bundles}\n" in again.stderr
    assert "  registry    " in again.stdout


def test_a_broken_bundle_is_named_by_up_by_status_and_by_its_catalog(tmp_path: Path) -> None:
    bundles = Path(shutil.copytree(SAMPLES, tmp_path / "bundles"))
    broken = next((bundles / "tide" / "0.3.0" / "manifests").glob("*.clusterserviceversion.yaml"))
    broken.write_text("kind: [ClusterServiceVersion\n")
    state = tmp_path / "state"
    desired = f"{bundles}/tide/0.3.0: no ClusterServiceVersion in manifests/; manifests/{broken.name} cannot be read: "
    started = olmf("up", "--detach", "--state", str(state), "--bundles", str(bundles))
    try:
        assert f"warning: {desired}" in started.stderr
        place = Installation.of(state)
        place.until(CATALOG_SOURCE.ref("local", "olm"), lambda each: desired in each["status"]["message"], desired)
        assert desired in place.olmf("status", check=False).stdout
        [reported] = place.status()["catalogs"]
        assert (reported["name"], reported["state"], desired in reported["message"]) == ("olm/local", "READY", True)
    finally:
        olmf("down", "--state", str(state))


def test_a_broken_catalog_is_named_by_up_by_status_and_by_itself(tmp_path: Path) -> None:
    catalog, state = tmp_path / "mine", tmp_path / "state"
    catalog.mkdir()
    (catalog / "c.yaml").write_text("{schema: olm.package, name: tide}")
    desired = 'invalid package "tide": package must contain at least one channel'
    started = olmf("up", "--detach", "--state", str(state), "--catalog", str(catalog))
    try:
        assert f"warning: {catalog}: {desired}" in started.stderr
        place = Installation.of(state)
        place.until(CATALOG_SOURCE.ref("mine", "olm"), lambda each: desired in each["status"]["message"], desired)
        output = place.olmf("status", check=False).stdout
        assert "olm/mine: wrong in the catalog: " in output
        assert desired in output
    finally:
        olmf("down", "--state", str(state))


def test_a_cluster_that_goes_on_keeps_no_catalog_that_nobody_serves(tmp_path: Path) -> None:
    with installed(tmp_path / "cluster") as cluster:
        kubeconfig, state = cluster.state / "kubeconfig", tmp_path / "state"
        place = {"name": "theirs", "namespace": "olm"}
        spec = {"sourceType": "grpc", "image": "example.com/catalog:1"}
        theirs = {"apiVersion": CATALOG_SOURCE.api_version, "kind": "CatalogSource", "metadata": place, "spec": spec}
        words = ("--kubeconfig", str(kubeconfig), "--take-over")
        refused = olmf("up", "--detach", "--state", str(state), *words[:2], check=False)
        assert (refused.returncode, f"already, on {gethostname()} in {cluster.state}" in refused.stderr) == (1, True)
        with installed(state, *words, "--bundles", str(SAMPLES)) as guest:
            assert InstallationMarker.read(guest.cluster) == InstallationMarker.of(StateDirectory(state))
            assert guest.cluster.get(CATALOG_SOURCE.ref("local", "olm"))
            guest.apply(theirs)
            output = guest.olmf("down", "--take-over").stdout
        assert "OLM has to carry on with nothing" in output
        assert "keeps what was installed, not the catalogs of folders here" in output
        assert cluster.cluster.get(CATALOG_SOURCE.ref("local", "olm")) is None
        assert cluster.cluster.get(CATALOG_SOURCE.ref("theirs", "olm"))
        assert InstallationMarker.read(cluster.cluster) is None
        again = olmf("up", "--detach", "--state", str(state), "--kubeconfig", str(kubeconfig))
        try:
            assert f"serving again: {SAMPLES}" in again.stderr
            assert cluster.cluster.get(CATALOG_SOURCE.ref("local", "olm"))
        finally:
            olmf("down", "--state", str(state))
