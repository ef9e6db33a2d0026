"""Looks up the uids of owners at the time of the write, so that no step needs the result of another step's write."""

from __future__ import annotations

from collections.abc import Mapping

from eventing.effects.api import Api
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, metadata, namespace_of, uid_of
from shared.kinds import Ref


class Owners:
    """Fills in the owner references of one run; each owner is read at most once.

    `known` may grow during the run: objects that the run itself wrote need not be read.
    """

    def __init__(self, api: Api, known: Mapping[Ref, Manifest | None]) -> None:
        self._api = api
        self._known = known
        self._uids: dict[Ref, str] = {}

    def fill(self, manifest: Manifest, *, namespace: str = "") -> Manifest:
        """The manifest with a uid in every owner reference. Raises ApiError 404 when an owner does not exist."""
        owners = metadata(manifest).get("ownerReferences") or ()
        if all(owner.get("uid") for owner in owners):
            return manifest
        where = namespace or namespace_of(manifest)
        filled = [owner if owner.get("uid") else {**owner, "uid": self._uid(owner, where)} for owner in owners]
        return {**manifest, "metadata": {**metadata(manifest), "ownerReferences": filled}}

    def _uid(self, owner: Manifest, namespace: str) -> str:
        api_version, kind_name = str(owner.get("apiVersion")), str(owner.get("kind"))
        kind = self._api.find(api_version, kind_name)
        if kind is None:
            raise ApiError(404, "NotFound", f"the owner's kind {api_version} {kind_name} is not served")
        ref = kind.ref_or_none(owner.get("name"), namespace)
        if ref is None:
            raise ApiError(404, "NotFound", f"the owner {kind_name} {owner.get('name')!r} does not exist")
        if not self._uids.get(ref):
            found = self._known.get(ref) or self._api.get(ref)
            if found is None:
                raise ApiError(404, "NotFound", f"the owner {ref} does not exist")
            self._uids[ref] = uid_of(found)
        return self._uids[ref]
