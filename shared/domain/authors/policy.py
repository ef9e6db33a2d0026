"""The admission policy under which a Subscription names its author, and whether it is in force."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Object
from shared.kinds import SUBSCRIPTION, Ref

NAME: Final = "olmf-subscription-authors"
FILE: Final = "k8s/optional/subscription-authors.yaml"
API: Final = "admissionregistration.k8s.io/v1"
POLICY: Final = Ref(API, "ValidatingAdmissionPolicy", NAME)
BINDING: Final = Ref(API, "ValidatingAdmissionPolicyBinding", NAME)
SPREAD: Final = timedelta(minutes=1)
"""How long after it was made a policy may be unknown to one of several API servers, whose clocks may differ."""
WRONG_AUTHOR: Final = (
    f"{names.AUTHOR} has to be the name of whoever writes the spec or an annotation: set it, or remove it"
)
_WRONG_GROUPS: Final = (
    f"{names.AUTHOR_GROUPS} may list, one a line, only groups of whoever writes the spec or an annotation"
)
_SCOPED: Final = "a token with limited scopes names no author: its owner may do more than it may"
_CONFIG: Final = (
    "spec.config reaches Deployments: who writes it has to be allowed to update Deployments of the namespace"
)
_SCOPES: Final = "scopes.authorization.openshift.io"
"""In the extra fields of a user: an OpenShift's token may do less than its user, which no later review would know."""


def manifests() -> list[Manifest]:
    """The policy and its binding, with all that an API server would fill in."""
    return [
        {"apiVersion": API, "kind": POLICY.kind, "metadata": {"name": NAME}, "spec": _policy()},
        {"apiVersion": API, "kind": BINDING.kind, "metadata": {"name": NAME}, "spec": _BOUND},
    ]


_BOUND: Final = {"policyName": NAME, "validationActions": ["Deny"]}
_VARIABLES: Final = {
    "annotations": "has(object.metadata.annotations) ? object.metadata.annotations : {}",
    "before": (
        "request.operation == 'UPDATE' && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}"
    ),
    "isSame": (
        "request.operation == 'UPDATE' && object.spec == oldObject.spec && variables.annotations == variables.before"
    ),
    "config": "has(object.spec.config) ? object.spec.config : {}",
    "configBefore": "request.operation == 'UPDATE' && has(oldObject.spec.config) ? oldObject.spec.config : {}",
}
_UNNAMED: Final = f"variables.isSame || !('{names.AUTHOR}' in variables.annotations)"
_NO_GROUPS: Final = f"variables.isSame || !('{names.AUTHOR_GROUPS}' in variables.annotations)"
_RULES: Final = {
    f"{_UNNAMED} || variables.annotations['{names.AUTHOR}'] == request.userInfo.username": WRONG_AUTHOR,
    f"{_NO_GROUPS} || variables.annotations['{names.AUTHOR_GROUPS}'].split('\\n').all(group, group == '' || "
    "(has(request.userInfo.groups) && group in request.userInfo.groups))": _WRONG_GROUPS,
    f"{_UNNAMED} || !has(request.userInfo.extra) || !('{_SCOPES}' in request.userInfo.extra)": _SCOPED,
    "variables.config == variables.configBefore || authorizer.group('apps').resource('deployments')"
    ".namespace(object.metadata.namespace).check('update').allowed()": _CONFIG,
}


def _policy() -> Manifest:
    rule = {
        "apiGroups": [SUBSCRIPTION.group], "apiVersions": [SUBSCRIPTION.version], "operations": ["CREATE", "UPDATE"],
        "resources": [SUBSCRIPTION.plural], "scope": "*",
    }  # fmt: skip
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [rule],
        },
        "variables": [{"name": name, "expression": expression} for name, expression in _VARIABLES.items()],
        "validations": [
            {"expression": expression, "message": message, "reason": "Forbidden"}
            for expression, message in _RULES.items()
        ],
    }  # fmt: skip


def probe(namespace: str) -> Manifest:
    """A Subscription that the policy refuses, whoever tries to write it: nobody is called so."""
    meta = {"name": NAME, "namespace": namespace, "annotations": {names.AUTHOR: "\n"}}
    spec = {"name": NAME, "source": NAME, "sourceNamespace": namespace}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "spec": spec}


def since(policy: ReadOnly | None, binding: ReadOnly | None, refusal: str) -> datetime | str:
    """Since when each written Subscription is checked, or why authors cannot be believed.

    `refusal` is what the API server says to the probe: a stored policy may rest, as where its plugin is switched off.
    """
    stored = dict(zip((POLICY.kind, BINDING.kind), (policy, binding), strict=True))
    for kind, spec in zip(stored, (_policy(), _BOUND), strict=True):
        found = stored[kind]
        if found is None:
            return f"{kind} {NAME} does not exist: {_apply()}"
        if found.get("spec") != spec or Object(found).generation > 1:
            return f"{kind} {NAME} was changed since it was made, or is of another release: {_again()}"
    if f"ValidatingAdmissionPolicy '{NAME}' with binding '{NAME}' denied request: {WRONG_AUTHOR}" not in refusal:
        return (
            f"ValidatingAdmissionPolicy {NAME} is not in force: a dry run of a Subscription with a forged author was "
            f"not refused by it ({refusal or 'it was taken'})"
        )
    return _begun([found for found in stored.values() if found is not None])


def _begun(stored: Sequence[ReadOnly]) -> datetime | str:
    made = [one for found in stored if (one := Object(found).created) is not None]
    return max(made) + SPREAD if len(made) == len(stored) else f"nothing tells when the policy {NAME} was made"


def _apply() -> str:
    return f"apply {FILE}; Subscriptions that name their author have to be created a minute later, or again"


def _again() -> str:
    return f"delete both objects of {FILE}, and {_apply()}"
