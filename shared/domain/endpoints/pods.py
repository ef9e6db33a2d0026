"""The certificate in the Pods of a Deployment that serves: volumes, mounts, the digest of the CA (csv.md §7.3)."""

from __future__ import annotations

from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.endpoints.endpoint import DEFAULT_ACCOUNT
from shared.domain.endpoints.naming import secret_name

_PLACES: Final = (
    ("apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"),
    ("webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"),  # noqa: S108
)
"""Volume, mount path, and the files of certificate and key."""


def serving(spec: ReadOnly, deployment: str, digest: str) -> Manifest:
    """The spec of a Deployment whose Pods serve with the certificate whose CA has that digest."""
    template = fields.part(spec, "template")
    meta, pod = fields.part(template, "metadata"), fields.part(template, "spec")
    annotations = {**fields.part(meta, "annotations"), names.CA_HASH: digest}
    mounted = {
        **pod,
        "serviceAccountName": fields.text(pod, "serviceAccountName") or DEFAULT_ACCOUNT,
        "volumes": _with_volumes(pod, secret_name(deployment)),
        "containers": [_with_mounts(one) for one in fields.parts(pod, "containers")],
    }
    return {**spec, "template": {**template, "metadata": {**meta, "annotations": annotations}, "spec": mounted}}


def _with_volumes(pod: ReadOnly, secret: str) -> list[ReadOnly]:
    ours = [_volume(name, secret, (certificate, key)) for name, _, certificate, key in _PLACES]
    taken = {name for name, *_ in _PLACES}
    return [*(one for one in fields.parts(pod, "volumes") if one.get("name") not in taken), *ours]


def _volume(name: str, secret: str, files: tuple[str, str]) -> Manifest:
    items = [{"key": key, "path": path} for key, path in zip(("tls.crt", "tls.key"), files, strict=True)]
    return {"name": name, "secret": {"secretName": secret, "items": items}}


def _with_mounts(container: ReadOnly) -> Manifest:
    """A mount of that name stays as it is, one at that path gives way."""
    mounts = list(fields.parts(container, "volumeMounts"))
    for name, path, *_ in _PLACES:
        if not any(one.get("name") == name for one in mounts):
            mounts = [*(one for one in mounts if one.get("mountPath") != path), {"name": name, "mountPath": path}]
    return {**container, "volumeMounts": mounts}
