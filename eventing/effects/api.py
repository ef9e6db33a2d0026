"""The Kubernetes client as effects need it."""

from __future__ import annotations

from typing import Literal, Protocol, Self

from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref


# why: more than five methods, because each is one verb of the Kubernetes API and one client serves them all.
class Api(Protocol):
    """The verbs of the Kubernetes API; every refusal is an `ApiError`."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist."""
        ...

    def acting_as(self, account: Ref) -> Self:
        """The same verbs with the rights of a ServiceAccount."""
        ...

    def create(self, manifest: Manifest, *, field_manager: str = "") -> Manifest:
        """POST; without `field_manager` the server names the program that sent it."""
        ...

    def apply(self, manifest: Manifest, *, field_manager: str, force: bool = True) -> Manifest:
        """Server-side apply."""
        ...

    def try_out(self, manifest: Manifest, *, field_manager: str = "") -> None:
        """Dry run of a POST; of a manifest with a resourceVersion of a PUT, or of an apply by `field_manager`."""
        ...

    def replace(self, manifest: Manifest) -> Manifest:
        """PUT."""
        ...

    def replace_status(self, manifest: Manifest) -> Manifest:
        """PUT of the status subresource."""
        ...

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "") -> Manifest:
        """JSON merge patch."""
        ...

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "",
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
    ) -> None:  # fmt: skip
        """DELETE, with the uid and the resourceVersion as preconditions when given."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """The warnings in the answer of the API server to the last write of this thread."""
        ...

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind, or None when the API server does not serve it."""
        ...
