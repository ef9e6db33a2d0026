"""Checks that the API server answered what it was asked."""

from __future__ import annotations

from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref


def about(ref: Ref, answer: Manifest) -> Manifest:
    """The answer, if it is the object that was asked for. ApiError without a status when it is not."""
    said = Ref.read(answer)
    if said != ref:
        raise unexpected(f"{said or answer.get('kind')} where {ref} was asked for")
    return answer


def a_list(kind: Kind, answer: Manifest) -> Manifest:
    """The answer, if it is a list of the kind. ApiError without a status when it is not."""
    is_list = answer.get("kind") in (f"{kind.kind}List", "List", "PartialObjectMetadataList")
    if not is_list or not isinstance(answer.get("items") or [], list):
        raise unexpected(f"{answer.get('kind')} where a list of {kind.plural} was asked for")
    return answer


def unexpected(what: str) -> ApiError:
    """The error for an answer that cannot be believed: asked again, a server or proxy may do better."""
    return ApiError(0, "Unreachable", f"the API server answered with {what}")
