from __future__ import annotations

import pytest

from eventing.events.hints import hints
from shared import kinds
from shared.api.manifest import Manifest
from shared.kinds import Kind


def a(kind: Kind, **parts: object) -> Manifest:
    """An object `x` in namespace `olm`; metadata fields by name, `spec` and `status` beside them."""
    body: Manifest = {key: parts.pop(key) for key in ("spec", "status") if key in parts}
    meta = {"name": "x", "namespace": "olm", **parts}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **body}


def owned_by(name: str, namespace: str, kind: str = "") -> dict[str, str]:
    labels = {"olm.owner": name, "olm.owner.namespace": namespace}
    return labels | ({"olm.owner.kind": kind} if kind else {})


LIMIT = '{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.18"}]}'
SUBSCRIPTION_OWNER = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "name": "s", "uid": "1"}


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        pytest.param(a(kinds.ROLE), {"owners": ""}, id="metadata alone says nothing of the status"),
        pytest.param(a(kinds.ROLE, spec={}), {"owners": "", "phase": ""}, id="an object without a status has no phase"),
        pytest.param(
            a(kinds.INSTALL_PLAN, status={"phase": "Complete"}, ownerReferences=[SUBSCRIPTION_OWNER]),
            {"phase": "Complete", "owners": "Subscription/s"},
            id="an owner reference is in the same namespace",
        ),
        pytest.param(
            a(kinds.CLUSTER_ROLE, labels=owned_by("csv", "olm", "ClusterServiceVersion")),
            {"owners": "ClusterServiceVersion/csv"},
            id="csv.md 0: owner labels naming the same namespace",
        ),
        pytest.param(
            a(kinds.ROLE, labels=owned_by("csv", "other")),
            {"owners": "ClusterServiceVersion/other/csv"},
            id="csv.md 0: owner labels naming another namespace, the kind left out",
        ),
        pytest.param(
            a(kinds.ROLE, labels=owned_by("s", "olm", "Subscription"), ownerReferences=[SUBSCRIPTION_OWNER]),
            {"owners": "Subscription/s"},
            id="the same owner twice is named once",
        ),
        pytest.param(
            a(kinds.CLUSTER_SERVICE_VERSION, labels={"olm.copiedFrom": "operators"}),
            {"owners": "", "copied": "true", "limited": "false"},
            id="csv.md 2: a copy by its label",
        ),
        pytest.param(
            a(kinds.CLUSTER_SERVICE_VERSION, annotations={"olm.operatorNamespace": "operators"}),
            {"owners": "", "copied": "true", "limited": "false"},
            id="csv.md 2: a copy by its annotation",
        ),
        pytest.param(
            a(kinds.CLUSTER_SERVICE_VERSION, annotations={"olm.operatorNamespace": "olm"}),
            {"owners": "", "copied": "false", "limited": "false"},
            id="csv.md 2: an original whose annotation names its own namespace",
        ),
        pytest.param(
            a(kinds.CLUSTER_SERVICE_VERSION, annotations={"operatorframework.io/properties": LIMIT}),
            {"owners": "", "copied": "false", "limited": "true"},
            id="csv.md 15.1: a version that names the last OpenShift that it is for",
        ),
        pytest.param(
            a(kinds.JOB, labels={"operatorframework.io/bundle-unpack-ref": "h"}),
            {"owners": "", "unpack": "true"},
            id="catalog.md 5.1: an unpack Job by its label",
        ),
        pytest.param(
            a(kinds.CATALOG_SOURCE, status={"conditions": [{"type": "Pulling", "status": "True"}]}),
            {"owners": "", "phase": "Pulling"},
            id="a catalog that is being pulled",
        ),
        pytest.param(
            a(kinds.CATALOG_SOURCE, status={"reason": "RegistryServerError"}),
            {"owners": "", "phase": ""},
            id="a catalog that is not being pulled",
        ),
        pytest.param(a(kinds.JOB), {"owners": "", "unpack": "false"}, id="a Job of somebody else"),
        pytest.param(
            a(kinds.JOB) | {"status": {"active": 1}}, {"owners": "", "unpack": "false", "phase": ""}, id="a Job at work"
        ),
        pytest.param(
            a(kinds.JOB) | {"status": {"conditions": [{"type": "Complete", "status": "True"}]}},
            {"owners": "", "unpack": "false", "phase": "Over"},
            id="a Job that has completed",
        ),
        pytest.param(
            a(kinds.JOB) | {"status": {"conditions": [{"type": "Failed", "status": "True"}]}},
            {"owners": "", "unpack": "false", "phase": "Over"},
            id="a Job that has failed",
        ),
        pytest.param(
            a(kinds.CONFIG_MAP, annotations={"olm.sourceImage": "r/a@sha256:1"}),
            {"owners": "", "unpack": "true"},
            id="catalog.md 5.5: a ConfigMap with an unpacked bundle by its annotation",
        ),
        pytest.param(
            a(kinds.API_SERVICE, labels={"kube-aggregator.kubernetes.io/automanaged": "onstart"}),
            {"owners": "", "automatic": "true"},
            id="an APIService that the API server made for what it serves",
        ),
        pytest.param(
            a(kinds.API_SERVICE), {"owners": "", "automatic": "false"}, id="an APIService of a server of its own"
        ),
        pytest.param(a(kinds.CONFIG_MAP), {"owners": "", "unpack": "false"}, id="a ConfigMap that is not filled"),
    ],
)
def test_what_an_event_reports_of_an_object(manifest: Manifest, want: dict[str, str]) -> None:
    assert hints(manifest) == want
