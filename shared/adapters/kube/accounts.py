"""Questions with the rights of ServiceAccounts, by impersonation: nobody has to hold their tokens."""

from __future__ import annotations

from typing import Protocol, Self

from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref
from shared.ports import Cluster, Denied

_FORBIDDEN = 403
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Server(Cluster, Protocol):
    """A client that may act as a ServiceAccount."""

    def acting_as(self, account: Ref) -> Self:
        """The same client with the rights of the account."""
        ...

    def try_out(self, manifest: Manifest) -> None:
        """Send a write that stores nothing. ApiError."""
        ...

    def request(self, method: str, path: str, body: Manifest | None = None) -> Manifest:
        """Any request. ApiError."""
        ...


class KubeAccounts:
    """The accounts of a cluster. Implements `Accounts`."""

    def __init__(self, client: Server) -> None:
        self._client = client

    def _as(self, account: Ref | None) -> Server:
        return self._client if account is None else self._client.acting_as(account)

    def get(self, ref: Ref, account: Ref | None) -> Manifest | Denied | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        try:
            return self._as(account).get(ref)
        except ApiError as error:
            return _denied(error)

    def list(self, kind: Kind, namespace: str, account: Ref | None) -> tuple[Manifest, ...] | Denied:
        """The objects of a kind in a namespace, sorted by name."""
        try:
            return self._as(account).list(kind, namespace)
        except ApiError as error:
            return _denied(error)

    def refusal(self, manifest: Manifest, account: Ref | None) -> Denied | None:
        """Why it may not write the object; None when it may, or the object is refused for another reason."""
        try:
            self._as(account).try_out(manifest)
        except ApiError as error:
            return Denied(error.message) if error.status == _FORBIDDEN else None
        return None

    def allows(self, access: Manifest) -> bool:
        """Whether a user may do something: `access` is the spec of a SubjectAccessReview."""
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": access}
        return self._client.request("POST", _REVIEWS, review).get("status", {}).get("allowed") is True


def _denied(error: ApiError) -> Denied:
    if error.status == _FORBIDDEN:
        return Denied(error.message)
    raise error
