"""The certificate in the Pods."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.api.views import DeploymentEntry
from shared.domain.endpoints.endpoint import Endpoint
from shared.domain.endpoints.pods import serving

VOLUME, PATH = "webhook-cert", "/tmp/k8s-webhook-server/serving-certs"
APIS = "/apiserver.local.config/certificates"
OURS = [("apiservice-cert", APIS), (VOLUME, PATH)]


def pod_of(**pod: object) -> Manifest:
    spec = {"template": {"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [], **pod}}}
    template = serving(spec, "operator", "digest")["template"]
    assert template["metadata"]["annotations"] == {"a": "b", "olmcahash": "digest"}
    made: Manifest = template["spec"]
    return made


def test_volumes_csv_md_7_3() -> None:
    """One of the name gives way where it is: in another order a Deployment that OLM made would be another one."""
    first, second, third = pod_of(volumes=[{"name": VOLUME, "emptyDir": {}}, {"name": "y"}])["volumes"]
    assert (first["name"], second, third["name"]) == (VOLUME, {"name": "y"}, "apiservice-cert")
    assert "emptyDir" not in first
    assert third["secret"] == {
        "secretName": "operator-service-cert",
        "items": [{"key": "tls.crt", "path": "apiserver.crt"}, {"key": "tls.key", "path": "apiserver.key"}],
    }


@pytest.mark.parametrize(
    ("listed", "want"),
    [
        pytest.param([], OURS, id="csv.md 7.3: none"),
        pytest.param([("x", "/x")], [("x", "/x"), *OURS], id="csv.md 7.3: appended"),
        pytest.param(
            [("cert", PATH), ("x", "/x")], [(VOLUME, PATH), ("x", "/x"), OURS[0]],
            id="csv.md 7.3: at the path, as of most public operators",
        ),
        pytest.param([(VOLUME, "/mine"), OURS[0]], [(VOLUME, "/mine"), OURS[0]], id="csv.md 7.3: of the name"),
        pytest.param(
            [("cert", PATH), (VOLUME, "/mine")], [(VOLUME, PATH), (VOLUME, "/mine"), OURS[0]],
            id="csv.md 7.3: the first decides, at the path",
        ),
        pytest.param(
            [(VOLUME, "/mine"), ("cert", PATH)], [(VOLUME, "/mine"), ("cert", PATH), OURS[0]],
            id="csv.md 7.3: the first decides, of the name",
        ),
    ],
)  # fmt: skip
def test_mounts(listed: list[tuple[str, str]], want: list[tuple[str, str]]) -> None:
    mounts = [{"name": name, "mountPath": path} for name, path in listed]
    (made,) = pod_of(containers=[{"name": "c", "volumeMounts": mounts}])["containers"]
    assert [(one["name"], one["mountPath"]) for one in made["volumeMounts"]] == want


@pytest.mark.parametrize(
    ("pod", "account"),
    [
        pytest.param({}, "default", id="csv.md 7.1: none"),
        pytest.param({"serviceAccountName": "sa"}, "sa", id="csv.md 7.1: one"),
        pytest.param({"serviceAccount": "sa"}, "default", id="csv.md 7.3: its former name alone"),
    ],
)
def test_who_may_read_the_certificate_is_who_runs_the_pods(pod: Manifest, account: str) -> None:
    made = pod_of(**pod)
    assert (made["serviceAccountName"], made.get("serviceAccount")) == (account, None)
    entry = DeploymentEntry({"name": "operator", "spec": {"template": {"spec": pod}}})
    assert Endpoint("ns", entry, (), ()).account == account
