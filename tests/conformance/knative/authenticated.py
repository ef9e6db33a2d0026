"""What is shown on Knative with OIDC on: events come with tokens, and who has none or a foreign one is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import urllib3

from eventing.deploy.oidc import AUDIENCE
from tests.conformance.knative.in_services import InServices
from tests.conformance.knative.steps import KUSTOMIZATION, installs, is_ready
from tests.conformance.node.in_pods import OURS

WITH_TOKENS = Path(__file__).parents[3] / "k8s" / "knative-oidc"
FEATURE = {"authentication-oidc": "enabled"}
SERVICE = f"olmf-subscription.{OURS}.svc.cluster.local"
EVENT = {
    "ce-specversion": "1.0", "ce-id": "foreign", "ce-source": "elsewhere", "ce-type": "io.olmf.resync.requested",
    "ce-subject": "operators.coreos.com/v1alpha1/Subscription/default/nothing", "content-type": "application/json",
}  # fmt: skip
REFUSED = 401


def with_tokens(host: InServices) -> str:
    """`k8s/knative-oidc`: an install as without, and what a Service says to senders that it does not know."""
    with with_feature(host):
        host.kubectl("apply", "-k", str(WITH_TOKENS), namespace="")
        is_ready(host)
        said = installs(host, "with-tokens")
        others = {"no token": {}, "an account that sends no events": bearer(host, AUDIENCE),
                  "a token for somebody else": bearer(host, "somebody-else")}  # fmt: skip
        statuses = {what: posted(host, headers) for what, headers in others.items()}
        assert set(statuses.values()) == {REFUSED}, statuses
    return f"{said}; refused with {REFUSED}: {', '.join(statuses)}"


@contextmanager
def with_feature(host: InServices) -> Iterator[None]:
    """OIDC is on in the block; after it `k8s/knative` is there again."""
    place = "knative-eventing"
    host.kubectl("patch", "configmap", "config-features", "--type=merge", "-p", json.dumps({"data": FEATURE}),
                 namespace=place)  # fmt: skip
    try:
        yield
    finally:
        nothing = dict.fromkeys(FEATURE, "disabled")
        host.kubectl("patch", "configmap", "config-features", "--type=merge", "-p", json.dumps({"data": nothing}),
                     namespace=place)  # fmt: skip
        host.kubectl("apply", "-k", str(KUSTOMIZATION), namespace="")
        is_ready(host)


def bearer(host: InServices, audience: str) -> Mapping[str, str]:
    """The header with a token of an account that has nothing to do with events."""
    token = host.kubectl("create", "token", "default", f"--audience={audience}", namespace="default").strip()
    return {"authorization": f"Bearer {token}"}


def posted(host: InServices, headers: Mapping[str, str]) -> int:
    """The status that a Service answers an event with, through the gateway that the Broker uses."""
    words = ("get", "service", "kourier-internal", "-o", "jsonpath={.spec.clusterIP}")
    address = host.kubectl(*words, namespace="kourier-system")
    answer = urllib3.request(
        "POST", f"http://{address}/", body=b"{}", headers={"host": SERVICE, **EVENT, **headers}, timeout=60.0
    )
    return answer.status
