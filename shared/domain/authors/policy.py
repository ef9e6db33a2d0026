"""The admission policy under which a Subscription names its author."""

from __future__ import annotations

from typing import Final

from shared import names
from shared.api.manifest import Manifest
from shared.domain.authors.admission import AdmissionPolicy
from shared.kinds import SUBSCRIPTION

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
ANNOTATIONS: Final = {
    "annotations": "has(object.metadata.annotations) ? object.metadata.annotations : {}",
    "before": (
        "request.operation == 'UPDATE' && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}"
    ),
}
SAME: Final = (
    "request.operation == 'UPDATE' && object.spec == oldObject.spec && variables.annotations == variables.before"
)
_UNNAMED: Final = f"variables.isSame || !('{names.AUTHOR}' in variables.annotations)"
_NO_GROUPS: Final = f"variables.isSame || !('{names.AUTHOR_GROUPS}' in variables.annotations)"
AUTHORS: Final = AdmissionPolicy(
    name="olmf-subscription-authors",
    file="k8s/optional/subscription-authors.yaml",
    kinds=(SUBSCRIPTION,),
    variables={
        **ANNOTATIONS,
        "isSame": SAME,
        "config": "has(object.spec.config) ? object.spec.config : {}",
        "configBefore": "request.operation == 'UPDATE' && has(oldObject.spec.config) ? oldObject.spec.config : {}",
    },
    rules={
        f"{_UNNAMED} || variables.annotations['{names.AUTHOR}'] == request.userInfo.username": WRONG_AUTHOR,
        f"{_NO_GROUPS} || variables.annotations['{names.AUTHOR_GROUPS}'].split('\\n').all(group, group == '' || "
        "(has(request.userInfo.groups) && group in request.userInfo.groups))": _WRONG_GROUPS,
        f"{_UNNAMED} || !has(request.userInfo.extra) || !('{_SCOPES}' in request.userInfo.extra)": _SCOPED,
        "variables.config == variables.configBefore || authorizer.group('apps').resource('deployments')"
        ".namespace(object.metadata.namespace).check('update').allowed()": _CONFIG,
    },
    probe="a Subscription with a forged author",
    counted="Subscriptions that name their author have to be created",
)


def probe(namespace: str) -> Manifest:
    """A Subscription that the policy refuses, whoever tries to write it: nobody is called so."""
    meta = {"name": AUTHORS.name, "namespace": namespace, "annotations": {names.AUTHOR: "\n"}}
    spec = {"name": AUTHORS.name, "source": AUTHORS.name, "sourceNamespace": namespace}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "spec": spec}
