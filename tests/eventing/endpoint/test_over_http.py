"""An installation that no watcher of ours tells anything: every event comes over HTTP, as on Knative (DESIGN §4)."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
import urllib3

from eventing.local.state import StateDirectory
from shared.kinds import DEPLOYMENT, NAMESPACE, OPTIONAL, SUBSCRIPTION, WATCHED
from tests.kit.api_server_source import Mode, api_server_source, request_of
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, installed

SERVED = tuple(kind for kind in WATCHED if kind not in OPTIONAL)
"""What the source of `k8s/knative` watches."""


@pytest.mark.parametrize("mode", ["ref", "resource"])
def test_an_operator_is_installed_and_removed_by_events_over_http(tmp_path: Path, mode: Mode) -> None:
    with installed(tmp_path / "state", "--bundles", str(SAMPLES), "--source", "endpoint") as found:
        status = found.status()
        assert "watch" not in {process["name"] for process in status["processes"]}
        kubeconfig = Path(status["kubeconfig"])
        token = StateDirectory(found.state).endpoint_token.read_text().strip()
        with api_server_source(kubeconfig, status["endpoint"], SERVED, mode, token) as source:
            found.apply(a_namespace("zz"), an_operator_group("zz"), a_subscription("tide", "zz"))
            found.until_phase("tide.v1.0.0", "zz")
            sub = SUBSCRIPTION.ref("tide", "zz")
            found.until(sub, lambda each: each["status"].get("state") == "AtLatestKnown")
            _remove(found)
        metrics = urllib3.request("GET", f"{status['endpoint']}/metrics").data.decode()
        assert 'olmf_run_duration_seconds_count{result="done",step="install_plan/execute_install_plan"} ' in metrics
        assert source.refused == []
        assert urllib3.request("POST", status["endpoint"], headers=source.sent[0], retries=False).status == 401
        assert found.olmf("events", "send", "Namespace/zz").stdout.startswith("sent io.olmf.resync.requested about")
        output = {headers["ce-subject"]: headers for headers in source.sent}
    seen = output["/apis/v1/namespaces//namespaces/zz"]
    assert (seen["ce-namespace"], seen["kn-namespace"], seen["ce-type"]) == (
        "",
        "",
        f"dev.knative.apiserver.{mode}.add",
    )


def _remove(found: Installation) -> None:
    done = found.olmf("uninstall", "tide", "-n", "zz")
    assert "deleted ClusterServiceVersion tide.v1.0.0" in done.stdout
    found.until_gone(DEPLOYMENT.ref("tide-controller", "zz"))


def test_the_source_speaks_as_knative_does() -> None:
    zz = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "zz"}}
    headers, body = request_of("DELETED", zz, NAMESPACE.plural, "https://10.96.0.1:443", "ref")
    assert uuid.UUID(headers.pop("ce-id")).version == 4
    assert headers == {
        "ce-specversion": "1.0",
        "ce-source": "https://10.96.0.1:443",
        "ce-type": "dev.knative.apiserver.ref.delete",
        "ce-subject": "/apis/v1/namespaces//namespaces/zz",
        "ce-kind": "Namespace",
        "ce-name": "zz",
        "ce-apiversion": "v1",
        "ce-namespace": "",
        "kn-namespace": "",
        "content-type": "application/json",
    }
    assert json.loads(body) == {"kind": "Namespace", "namespace": "", "name": "zz", "apiVersion": "v1"}
