"""The objects around a Deployment that serves: its Service, its Secret, and who reads it (csv.md §7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from shared import kinds, names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv, Object
from shared.domain.endpoints.certificates import Content
from shared.domain.endpoints.endpoint import Endpoint
from shared.domain.endpoints.sharing import subject
from shared.domain.objects.ownership import owner_reference
from shared.kinds import Kind

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


def service(csv: Csv, endpoint: Endpoint, present: Object | None = None) -> Manifest:
    """The Service; the API server calls only Services.

    One more label in the selector of the one that is there would lead to no Pod: it is taken out. Other ports stay: a
    bundle may bring a Service of that name, and the version before may still be called at another port. They keep their
    order, which is no difference.
    """
    ours = [{"name": str(port), "port": port, "targetPort": target} for port, target in endpoint.ports]
    there = fields.part(present.raw, "spec") if present else fields.EMPTY
    labels = dict.fromkeys(fields.part(there, "selector"))
    selector = {**labels, **fields.strings(endpoint.entry.spec, "selector", "matchLabels")}
    known = [_port(one) for one in fields.parts(there, "ports")]
    ports = [*ours, *_others(ours, fields.parts(there, "ports"))]
    ports.sort(key=lambda one: known.index(_port(one)) if _port(one) in known else len(known))
    return {**_owned(kinds.SERVICE, endpoint.service, csv), "spec": {"ports": ports, "selector": selector}}


def _others(ours: Iterable[Manifest], there: Iterable[ReadOnly]) -> Iterator[Manifest]:
    """The ports of a Service that are not ours; each has a name, without which none may be beside others."""
    taken, names_taken = {_port(one) for one in ours}, {one["name"] for one in ours}
    for one in there:
        named = {**one, "name": fields.text(one, "name") or "-".join(map(str, _port(one))).lower()}
        if _port(one) not in taken and named["name"] not in names_taken:
            yield named


def _port(port: ReadOnly) -> tuple[str, object]:
    """What a Service has once."""
    return fields.text(port, "protocol") or "TCP", port.get("port")


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
    role_ref = {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.kind, "name": endpoint.secret}
    return {**_owned(kinds.ROLE_BINDING, endpoint.secret, csv), "roleRef": role_ref, "subjects": [subject(endpoint)]}


def _owned(kind: Kind, name: str, csv: Csv) -> Manifest:
    meta = {
        "name": name,
        "namespace": csv.namespace,
        "labels": {names.MANAGED: "true"},
        "ownerReferences": [owner_reference(csv)],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
