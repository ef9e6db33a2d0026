"""The objects around a Deployment that serves: its Service, its Secret, who reads it, whom it may ask (csv.md §7.1)."""

from __future__ import annotations

from typing import Final

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv, RoleBinding
from shared.domain.endpoints import naming
from shared.domain.endpoints.certificates import Content
from shared.domain.endpoints.endpoint import Endpoint
from shared.domain.objects.ownership import owner_labels, owner_reference
from shared.kinds import Kind

SYSTEM: Final = "kube-system"
"""Where the API server tells how it proves itself."""
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "olmCAKey"
"""What OLM calls the parts of a Secret."""
NEXT_CERTIFICATE, NEXT_KEY, NEXT_AUTHORITY = "olmf-next.crt", "olmf-next.key", "olmf-next-ca.crt"
FORMER_AUTHORITY: Final = "olmf-former-ca.crt"
"""Ours, during a rotation: no volume of OLM's shows them to a Pod."""
OURS: Final = frozenset({
    CERTIFICATE, KEY, AUTHORITY, NEXT_CERTIFICATE, NEXT_KEY, NEXT_AUTHORITY, FORMER_AUTHORITY,
})  # fmt: skip
"""The keys of a Secret that say what we want; any other is somebody else's."""
TLS: Final = "kubernetes.io/tls"
_DELEGATOR: Final = "system:auth-delegator"
_READER: Final = "extension-apiserver-authentication-reader"


def service(csv: Csv, endpoint: Endpoint) -> Manifest:
    """The Service; the API server calls only Services."""
    ports = [{"name": str(port), "port": port, "targetPort": target} for port, target in endpoint.ports]
    selector = dict(fields.strings(endpoint.entry.spec, "selector", "matchLabels"))
    return {**_owned(kinds.SERVICE, endpoint.service, csv), "spec": {"ports": ports, "selector": selector}}


def secret(csv: Csv, endpoint: Endpoint, content: Content) -> Manifest:
    """The Secret without what it holds."""
    manifest = _owned(kinds.SECRET, endpoint.secret, csv)
    manifest["metadata"]["annotations"] = {names.CA_HASH: content.pair.digest}
    return {**manifest, "type": TLS}


def texts(content: Content) -> dict[str, str]:
    """What everybody may read of it, by key."""
    found = {CERTIFICATE: content.pair.certificate, AUTHORITY: content.pair.authority}
    if content.following:
        found |= {NEXT_CERTIFICATE: content.following.certificate, NEXT_AUTHORITY: content.following.authority}
    return found | ({FORMER_AUTHORITY: content.former} if content.former else {})


def keys(content: Content) -> dict[str, str]:
    """The handles of the private keys in it, by key."""
    return {KEY: content.pair.key} | ({NEXT_KEY: content.following.key} if content.following else {})


def role(csv: Csv, endpoint: Endpoint) -> Manifest:
    """The right to read the Secret."""
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": [kinds.SECRET.plural], "resourceNames": [endpoint.secret]}
    return {**_owned(kinds.ROLE, endpoint.secret, csv), "rules": [rule]}


def role_binding(csv: Csv, endpoint: Endpoint) -> Manifest:
    """That right, for the Pods."""
    manifest = _owned(kinds.ROLE_BINDING, endpoint.secret, csv)
    return {**manifest, "roleRef": _ref(kinds.ROLE, endpoint.secret), "subjects": [subject(endpoint)]}


def delegator(csv: Csv, endpoint: Endpoint, present: RoleBinding | None) -> Manifest:
    """The right to ask the API server about callers. Operators of the same name in other namespaces share it.

    It is labelled for the first of them, and in its namespace for the version that comes after.
    """
    is_ours = present is None or present.labels.get(names.OWNER_NAMESPACE, csv.namespace) == csv.namespace
    labels = {**(owner_labels(csv) if is_ours else {}), names.MANAGED: "true"}
    meta = {"name": naming.delegator_name(endpoint.deployment), "labels": labels}
    role_ref = _ref(kinds.CLUSTER_ROLE, _DELEGATOR)
    return _binding(kinds.CLUSTER_ROLE_BINDING, meta, role_ref, _joined(present, endpoint))


def reader(endpoint: Endpoint, present: RoleBinding | None) -> Manifest:
    """The right to read how the API server proves itself; shared as the one above."""
    name = naming.reader_name(endpoint.deployment)
    meta = {"name": name, "namespace": SYSTEM, "labels": {names.MANAGED: "true"}}
    return _binding(kinds.ROLE_BINDING, meta, _ref(kinds.ROLE, _READER), _joined(present, endpoint))


def subject(endpoint: Endpoint) -> Manifest:
    """The Pods of the Deployment, as bindings name them."""
    return {"kind": kinds.SERVICE_ACCOUNT.kind, "name": endpoint.account, "namespace": endpoint.namespace}


def _joined(present: RoleBinding | None, endpoint: Endpoint) -> list[Manifest]:
    """Who has the right, and the Pods of this Deployment."""
    ours, others = subject(endpoint), [dict(one.raw) for one in present.subjects] if present else []
    return others if any(_is(one, ours) for one in others) else [*others, ours]


def _is(one: ReadOnly, ours: ReadOnly) -> bool:
    return all(one.get(key) == value for key, value in ours.items())


def without(present: RoleBinding, endpoint: Endpoint) -> list[Manifest]:
    """Who has the right beside the Pods of this Deployment."""
    return [dict(one.raw) for one in present.subjects if not _is(one.raw, subject(endpoint))]


def _ref(kind: Kind, name: str) -> Manifest:
    return {"apiGroup": kind.group, "kind": kind.kind, "name": name}


def _binding(kind: Kind, meta: Manifest, role_ref: Manifest, subjects: list[Manifest]) -> Manifest:
    named = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
    return {**named, "roleRef": role_ref, "subjects": subjects}


def _owned(kind: Kind, name: str, csv: Csv) -> Manifest:
    meta = {
        "name": name,
        "namespace": csv.namespace,
        "labels": {names.MANAGED: "true"},
        "ownerReferences": [owner_reference(csv)],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
