"""The certificate in the Pods of a Deployment that serves: volumes, mounts, the digest of the CA (csv.md §7.3).

Order counts: a Deployment that OLM made is left as it is only while every list of it is the one that is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.endpoints.endpoint import account_of
from shared.domain.endpoints.naming import secret_name

_PLACES: Final = (
    ("apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"),
    ("webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"),  # noqa: S108
)
"""Volume, mount path, and the files of certificate and key."""
_ALIAS: Final = "serviceAccount"
"""A former name of `serviceAccountName`, beside which it does not count."""


def serving(spec: ReadOnly, deployment: str, digest: str) -> Manifest:
    """The spec of a Deployment whose Pods serve with the certificate whose CA has that digest."""
    template = fields.part(spec, "template")
    meta, pod = fields.part(template, "metadata"), fields.part(template, "spec")
    annotations = {**fields.part(meta, "annotations"), names.CA_HASH: digest}
    mounted = {
        **{key: value for key, value in pod.items() if key != _ALIAS},
        "serviceAccountName": account_of(pod),
        "volumes": _with_volumes(pod, secret_name(deployment)),
        "containers": [_with_mounts(one) for one in fields.parts(pod, "containers")],
    }
    return {**spec, "template": {**template, "metadata": {**meta, "annotations": annotations}, "spec": mounted}}


def _with_volumes(pod: ReadOnly, secret: str) -> list[ReadOnly]:
    """A volume of one of the names gives way where it is."""
    volumes = list(fields.parts(pod, "volumes"))
    for name, _, certificate, key in _PLACES:
        at = _first(volumes, name=name)
        volumes[at : at + 1] = [_volume(name, secret, (certificate, key))]
    return volumes


def _volume(name: str, secret: str, files: tuple[str, str]) -> Manifest:
    items = [{"key": key, "path": path} for key, path in zip(("tls.crt", "tls.key"), files, strict=True)]
    return {"name": name, "secret": {"secretName": secret, "items": items}}


def _with_mounts(container: ReadOnly) -> Manifest:
    """The first mount of the name or at the path decides: one of the name stays as it is, another gives way."""
    mounts = list(fields.parts(container, "volumeMounts"))
    for name, path, *_ in _PLACES:
        at = _first(mounts, name=name, mountPath=path)
        if at == len(mounts) or mounts[at].get("name") != name:
            mounts[at : at + 1] = [{"name": name, "mountPath": path}]
    return {**container, "volumeMounts": mounts}


def _first(entries: Sequence[ReadOnly], **values: str) -> int:
    """Where the first entry is that has one of the values; behind the last one when none has."""
    found = (at for at, one in enumerate(entries) if any(one.get(key) == value for key, value in values.items()))
    return next(found, len(entries))
