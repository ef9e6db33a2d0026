"""Deletes an object that may be gone already, because the functions remove objects, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.adapters.kube.errors import ApiError
from shared.kinds import Ref

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def delete(cluster: KubeClient, ref: Ref, uid: str) -> None:
    """Delete the object of that uid, unless it is gone."""
    try:
        cluster.delete(ref, uid=uid)
    except ApiError as error:
        if not (error.is_not_found or error.is_conflict):
            raise
