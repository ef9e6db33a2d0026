"""The policy of OLM v1 that warns of a field without effect; not every cluster serves such policies (v1.md §10.1)."""

from __future__ import annotations

from typing import Final

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_EXTENSION

NAME: Final = "clusterextension-serviceaccount-deprecated"
WARNING: Final = (
    "spec.serviceAccount is deprecated, ignored, and will be removed in a future release. "
    "The operator-controller's cluster-admin service account is used for all cluster interactions."
)
"""Upstream's text; here the account is that of `olmf-cluster-object-set`."""
_API: Final = "admissionregistration.k8s.io/v1"


def service_account_warning() -> list[Manifest]:
    """A policy that denies nothing, and its binding."""
    unset = "!has(object.spec.serviceAccount) || object.spec.serviceAccount.name == ''"
    rule = {
        "apiGroups": [CLUSTER_EXTENSION.group], "apiVersions": [CLUSTER_EXTENSION.version],
        "operations": ["CREATE", "UPDATE"], "resources": [CLUSTER_EXTENSION.plural],
    }  # fmt: skip
    policy = {
        "failurePolicy": "Ignore", "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": unset, "message": WARNING}],
    }  # fmt: skip
    return [
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": NAME}, "spec": policy},
        {
            "apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": NAME},
            "spec": {"policyName": NAME, "validationActions": ["Warn"]},
        },
    ]  # fmt: skip
