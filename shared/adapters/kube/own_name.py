"""As whom an API server knows who asks it."""

from __future__ import annotations

from typing import Protocol

from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest

_API = "authentication.k8s.io/v1"
_UNANSWERED = (403, 404)


class Request(Protocol):
    """Any request to an API server. ApiError."""

    def __call__(self, method: str, path: str, body: Manifest) -> Manifest:
        """Its answer."""
        ...


def own_name(request: Request) -> str:
    """The name of the user; empty where it may not be asked, or no server of that age answers."""
    try:
        answer = request("POST", f"/apis/{_API}/selfsubjectreviews", {"apiVersion": _API, "kind": "SelfSubjectReview"})
    except ApiError as error:
        if error.status in _UNANSWERED:
            return ""
        raise
    return str(answer["status"]["userInfo"]["username"])
