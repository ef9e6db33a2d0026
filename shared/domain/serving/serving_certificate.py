"""The certificate of a server of ours: the Secret that its Pods mount, and how it is rotated (csv.md §7.2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Deployment, Object
from shared.domain.endpoints import naming, objects
from shared.domain.endpoints.certificates import EARLY, ROTATED_BEFORE, Content, Pair, StoredPair, begun, switched
from shared.domain.endpoints.certificates import ended as forgotten
from shared.kinds import SECRET, Ref


def content_of(
    stored: StoredPair | None, hosts: tuple[str, ...], now: datetime, issue: Callable[[], Pair], *, settled: timedelta
) -> Content:
    """What the Secret should contain now; `settled`: after this time every client trusts a CA that it is to trust.

    A certificate follows once every client trusts its CA, too; the CA before it is trusted until its certificate
    has ended: nobody can tell when the last Pod has taken the new one.
    """
    content = begun(stored, hosts, now, issue)
    if content.following and now >= content.following.begins + EARLY + settled:
        return switched(content)
    if content.former and now >= content.pair.begins + EARLY + ROTATED_BEFORE:
        return forgotten(content)
    return content


def secret_of(deployment: Deployment) -> Ref:
    """The Secret with the certificate of a Deployment."""
    return SECRET.ref(naming.secret_name(deployment.name), deployment.namespace)


def secret(deployment: Deployment, content: Content, stored: StoredPair | None) -> Manifest:
    """The Secret without what it holds; it goes with the Deployment."""
    ref = secret_of(deployment)
    meta = {
        "name": ref.name, "namespace": ref.namespace, "labels": {names.MANAGED: "true"},
        "annotations": {names.CA_HASH: content.pair.digest},
        "ownerReferences": [reference(Ref.of(deployment.raw), deployment.uid)],
    }  # fmt: skip
    if stored is not None:
        present = Object(stored.manifest)
        meta["resourceVersion"] = present.resource_version
    type_ = objects.TLS if stored is None else stored.manifest["type"]
    return {"apiVersion": SECRET.api_version, "kind": SECRET.kind, "metadata": meta, "type": type_}


def reference(owner: Ref, uid: str) -> Manifest:
    """What names an owner."""
    return {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": uid}
