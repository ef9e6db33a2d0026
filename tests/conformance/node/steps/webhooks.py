"""The sample operator with webhooks and an aggregated API, served by its own container."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

from shared.adapters.keys import x509
from shared.adapters.keys.stored import public_part
from shared.adapters.kube import ApiError
from shared.domain.endpoints.certificates import VALID
from shared.domain.endpoints.naming import hosts
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION
from tests.conformance.lifecycle.lamps import DEPLOYMENT, FIRST, MEASURES, NEXT, Lamps, installed, is_gone
from tests.conformance.node.in_pods import InPods, calling
from tests.kit.installation import a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

PLACE = "lampland"
ROTATING_SECONDS = 5.0
"""Calls go on for so long after the new certificate is everywhere."""


def serves(host: InPods) -> str:
    """A validating, a mutating and a conversion webhook, and an aggregated API, through an upgrade and to the end."""
    with host.namespaces(PLACE):
        lamps = installed(host, PLACE)
        host.until(MEASURES, is_available, "Available")
        assert "lux" in host.kubectl("get", "measures")
        with calling(lambda: works(lamps)) as output:
            lamps.approve(NEXT)
            wait_for(lambda: len(output) > 5, "some calls")
        removed(host, lamps, FIRST, NEXT)
    failed = [each for each in output if each]
    return (
        f"refused, completed, converted; `kubectl get measures` answers; lamps.v{NEXT} Succeeded: "
        f"{len(output)} rounds of calls meanwhile, {len(failed)} failed{': ' + failed[0][:200] if failed else ''}; "
        "nothing of it is left"
    )


def is_available(api: dict[str, object]) -> bool:
    """Whether an APIService is."""
    conditions: list[dict[str, str]] = api["status"]["conditions"]  # type: ignore[index]
    return any(one["type"] == "Available" and one["status"] == "True" for one in conditions)


def works(lamps: Lamps) -> None:
    """All that it serves answers; ApiError."""
    complaint = lamps.complaint()
    if complaint:
        raise ApiError(500, "Complaint", complaint)


def removed(host: InPods, lamps: Lamps, *versions: str) -> None:
    """Take it away, and see that nothing leads to it."""
    host.cluster.delete(SUBSCRIPTION.ref("lamps", PLACE))
    for version in versions:
        if host.cluster.get(lamps.ref(version)):
            host.cluster.delete(lamps.ref(version))
        host.until_gone(lamps.ref(version))
    wait_for(lambda: is_gone(lamps), "the end of what leads to it")


def rotates(host: InPods) -> str:
    """A certificate that ends soon is there before the installation, which rotates it in its last phase."""
    with host.namespaces(PLACE):
        host.apply(a_namespace(PLACE))
        lamps, old = Lamps(host, PLACE), almost_over(host)
        host.apply(an_operator_group(PLACE), a_subscription("lamps", PLACE))
        wait_for(lambda: host.cluster.get(MEASURES) and lamps.configurations() and lamps.works(), "answers")
        with calling(lambda: lamps.create("dim", is_dry_run=True, lumens=1)) as output:
            host.until(CLUSTER_SERVICE_VERSION.ref(f"lamps.v{NEXT}", PLACE), has_new_certificate, "a new certificate")
            host.until_phase(f"lamps.v{NEXT}", PLACE)
            wait_for(lambda: old not in authorities(lamps), "that nobody trusts the former CA")
            calls = len(output)
            wait_for(lambda: len(output) > calls + ROTATING_SECONDS * 5, "calls after it")
        now = public_part(host.cluster.get(lamps.secret) or {}).content
        assert (now.is_rotating, now.pair.authority == old) == (False, False)
        failed = [each for each in output if each]
        assert not failed, f"{len(failed)} of {len(output)} calls failed, the first {failed[0]}"
        assert lamps.works()
        removed(host, lamps, NEXT)
    return f"{len(output)} calls of a webhook meanwhile, none failed; the former CA is trusted nowhere"


def has_new_certificate(csv: dict[str, object]) -> bool:
    """Whether the version says until when its certificate holds, far from now."""
    return str(csv["status"]["certsRotateAt"]) > (datetime.now(UTC) + timedelta(days=30)).isoformat()  # type: ignore[index]


def authorities(lamps: Lamps) -> str:
    """Every CA that is trusted, as text."""
    return " ".join(base64.b64decode(one).decode() for one in lamps.authorities() if one != "None")


def almost_over(host: InPods) -> str:
    """A Secret with a certificate that ends within a day, as if it had been made two years ago; returns its CA."""
    issued = datetime.now(UTC).replace(microsecond=0) - VALID + timedelta(hours=12)
    pair, private = x509.issue(hosts(DEPLOYMENT, PLACE), issued)
    texts = {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority}
    meta = {"name": f"{DEPLOYMENT}-service-cert", "namespace": PLACE}
    host.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": texts, "type": "kubernetes.io/tls"}
    )
    return pair.authority
