"""What a running cluster would get, and why: asked of it live, and of a capture of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shared import names
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION
from tests.kit.installation import Installation, a_subscription, an_operator_group


def test_a_pinned_package_reports_why_it_is_not_newer(
    installation: Installation, namespace: str, tmp_path: Path
) -> None:
    pinned(installation, namespace)
    (row,) = rows(installation, "resolve", "-n", namespace)
    why = "tide.v0.3.0 is installed, and nothing in its channel that version <1.0.0 accepts replaces it"
    assert (row["subscription"], row["has"], row["gets"], row["why"]) == ("tide", "tide.v0.3.0", "", why)
    reported = installation.olmf("explain", "-n", namespace).stdout
    assert "not tide.v1.0.0: VersionNotAccepted: Subscription tide accepts only <1.0.0" in reported
    lock = str(tmp_path / "tide.lock")
    installation.olmf("resolve", "-n", namespace, "--lock", lock)
    assert installation.olmf("resolve", "--locked", lock).returncode == 0
    annotate(installation, namespace, None)
    installation.until_phase("tide.v1.0.0", namespace)
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref("tide.v0.3.0", namespace))
    moved = installation.olmf("resolve", "--locked", lock, check=False)
    assert moved.returncode == 1
    assert "Subscription tide is not as it was; ClusterServiceVersion tide.v0.3.0 is gone" in moved.stderr


def test_a_refusal_reads_alike_in_the_cluster_live_and_captured(
    installation: Installation, namespace: str, tmp_path: Path
) -> None:
    pinned(installation, namespace)
    annotate(installation, namespace, "7.0.0")
    condition = installation.until_condition("tide", namespace, "ResolutionFailed")
    live = installation.olmf("explain", "-n", namespace, check=False)
    assert live.returncode == 1
    aim = f" --kubeconfig {installation.status()['kubeconfig']}"
    assert aim in live.stdout, "what a person is told to type is for this cluster"
    summary = live.stdout.replace(aim, "").replace("`", "").partition("\n\n")[0].splitlines()
    assert condition["message"].splitlines()[1:] == summary
    fix = f"kubectl -n {namespace} annotate subscription tide olmf.io/version-"
    assert summary[-1] == f"fix: let Subscription tide do without olmf.io/version: {fix}"
    capture = str(tmp_path / "incident.tar.gz")
    installation.olmf("capture", "-o", capture)
    for verb in (("explain", "-n", namespace), ("resolve", "-n", namespace)):
        now = installation.olmf(*verb, check=False)
        then = installation.olmf(*verb, "--from", capture, check=False)
        assert (then.stdout, then.returncode) == (now.stdout.replace(aim, ""), now.returncode) == (then.stdout, 1)
    annotate(installation, namespace, None)
    installation.until_phase("tide.v1.0.0", namespace)


def test_the_catalogs_of_a_cluster_can_be_asked_about_a_package(installation: Installation) -> None:
    listed = rows(installation, "versions", "tide")
    assert {"tide.v0.3.0", "tide.v1.0.0"} <= {row["name"] for row in listed}
    reported = installation.olmf("upgrades", "tide", "--from", "0.3.0", "--channel", "stable").stdout
    assert reported.startswith("tide.v0.3.0 -> tide.v1.0.0 (channel stable): it replaces tide.v0.3.0")
    graph = json.loads(installation.olmf("graph", "tide", "--json").stdout)
    edges = {(edge["from"], edge["to"]) for channel in graph["channels"] for edge in channel["edges"]}
    assert ("tide.v0.3.0", "tide.v1.0.0") in edges


def rows(installation: Installation, *words: str) -> Any:
    return json.loads(installation.olmf(*words, "-o", "json").stdout)


def pinned(installation: Installation, namespace: str) -> None:
    """Below 1.0.0, tide 0.3.0 is the newest."""
    subscription = a_subscription("tide", namespace, channel="stable")
    subscription["metadata"]["annotations"] = {names.VERSION: "<1.0.0"}
    installation.apply(an_operator_group(namespace), subscription)
    installation.until_phase("tide.v0.3.0", namespace)
    installation.until(
        SUBSCRIPTION.ref("tide", namespace), lambda each: each["status"]["installedCSV"] == "tide.v0.3.0"
    )


def annotate(installation: Installation, namespace: str, version: str | None) -> None:
    patch = {"metadata": {"annotations": {names.VERSION: version}}}
    installation.cluster.merge(SUBSCRIPTION.ref("tide", namespace), patch)
