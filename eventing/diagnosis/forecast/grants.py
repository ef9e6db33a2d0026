"""The roles and bindings that give an account what it lacks, ready to be applied; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from eventing.diagnosis.forecast.account import Lacking
from shared.api.manifest import Manifest
from shared.domain.objects.authorizer import PolicyRule
from shared.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, Kind

_API_GROUP: Final = "rbac.authorization.k8s.io"


def grants(found: Iterable[Lacking]) -> list[Manifest]:
    """A role and a binding for each place; named by what they give, so one that is there already stays as it is."""
    rules: dict[tuple[str, str, str], dict[PolicyRule, None]] = {}
    for one in found:
        rules.setdefault((one.scope, one.namespace, one.account), {})[one.rule] = None
    return [each for place, lacks in rules.items() for each in _pair(*place, _merged(lacks))]


def _merged(rules: Iterable[PolicyRule]) -> list[Manifest]:
    """The rules as a role has them, those of the same verbs and API groups in one."""
    resources: dict[tuple[tuple[str, ...], ...], dict[str, None]] = {}
    for one in rules:
        resources.setdefault((one.groups, one.names, one.urls, one.verbs), {}).update(dict.fromkeys(one.resources))
    parts = ("apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs")
    listed = ((groups, tuple(found), *rest) for (groups, *rest), found in resources.items())
    return [{key: list(values) for key, values in zip(parts, one, strict=True) if values} for one in listed]


def _pair(scope: str, namespace: str, account: str, rules: Sequence[Manifest]) -> tuple[Manifest, Manifest]:
    digest = hashlib.sha256(json.dumps([namespace, account, rules], sort_keys=True).encode()).hexdigest()[:10]
    name = f"{account}-{digest}" if scope else f"{namespace}-{account}-{digest}"
    role, binding = (ROLE, ROLE_BINDING) if scope else (CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    reference = {"apiGroup": _API_GROUP, "kind": role.kind, "name": name}
    return (
        _object(role, name, scope, {"rules": list(rules)}),
        _object(binding, name, scope, {"roleRef": reference, "subjects": [subject]}),
    )


def _object(kind: Kind, name: str, scope: str, content: Mapping[str, object]) -> Manifest:
    meta = {"name": name, **({"namespace": scope} if scope else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}
