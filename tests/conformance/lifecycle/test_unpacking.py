"""What keeps an unpack Job from running is said where people look; only a real server has quotas."""

from __future__ import annotations

import pytest

from shared.kinds import CATALOG_SOURCE, SUBSCRIPTION, Ref
from tests.conformance.targets import REAL
from tests.kit.installation import Installation, a_subscription, an_operator_group, condition


@pytest.mark.parametrize("installation", [pytest.param(REAL, marks=pytest.mark.conformance)], indirect=True)
def test_a_quota_that_keeps_the_pod_away_is_named(installation: Installation, namespace: str) -> None:
    local = installation.cluster.get(CATALOG_SOURCE.ref("local", "olm"))
    assert local is not None
    place = {"namespace": namespace}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-pods", **place}}
    installation.apply({**quota, "spec": {"hard": {"pods": "0"}}})
    installation.until(Ref.of(quota), lambda each: each["status"]["hard"], "what its controller makes it count from")
    catalog = {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind}
    installation.apply(
        an_operator_group(namespace, targets=(namespace,)),
        {**catalog, "metadata": {"name": "own", **place}, "spec": {**local["spec"], "sourceType": "grpc"}},
        a_subscription("beacon", namespace, source="own", sourceNamespace=namespace),
    )
    ref = SUBSCRIPTION.ref("beacon", namespace)
    seen = installation.until(
        ref, lambda each: "exceeded quota" in condition(each, "BundleUnpacking").get("message", ""), "the quota"
    )
    output = condition(seen, "BundleUnpacking")
    assert (output["status"], output["reason"]) == ("True", "UnpackingInProgress")
    assert "FailedCreate" in output["message"]
    assert "exceeded quota" in installation.olmf("why", "-n", namespace, check=False).stdout
