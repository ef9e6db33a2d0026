"""What an OperatorGroup says (csv.md §8)."""

from __future__ import annotations

from typing import Final

from shared import names
from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object

FAIL_FORWARD: Final = "TechPreviewUnsafeFailForward"
"""`spec.upgradeStrategy` of a group whose failed versions may be replaced (csv.md §3.2)."""


class OperatorGroup(Object):
    """The namespaces that the operators of one namespace watch."""

    __slots__ = ()

    target_namespaces = field.texts("spec", "targetNamespaces")
    """`spec.targetNamespaces`: the namespaces that it names."""
    selector = field.part("spec", "selector")
    """`spec.selector` of namespaces; empty without one."""
    service_account = field.text("spec", "serviceAccountName")
    """`spec.serviceAccountName`; empty without one."""
    account = field.part("status", "serviceAccountRef")
    """`status.serviceAccountRef`: the account that was found; empty without one."""
    is_static = field.flag("spec", "staticProvidedAPIs")
    """`spec.staticProvidedAPIs`: the annotation of its provided APIs is not to be changed."""
    provided_apis = field.text("metadata", "annotations", names.PROVIDED_APIS)
    """The annotation `olm.providedAPIs`."""
    catalog_policy = field.text("metadata", "annotations", names.CATALOG_POLICY)
    """The annotation `olmf.io/catalog-policy`; empty without it."""

    @property
    def selected(self) -> tuple[str, ...] | None:
        """`status.namespaces`, sorted: what it selected last; the empty name means all; None before."""
        is_listed = isinstance(fields.value(self.raw, "status", "namespaces"), list)
        return tuple(sorted(fields.texts(self.raw, "status", "namespaces"))) if is_listed else None

    @property
    def fails_forward(self) -> bool:
        """Whether it allows the upgrade of a failed version."""
        return fields.text(self.raw, "spec", "upgradeStrategy") == FAIL_FORWARD

    @property
    def excludes_global_catalogs(self) -> bool:
        """Whether its namespace does not see the catalogs that every namespace sees."""
        return self.annotation(names.EXCLUDE_GLOBAL_CATALOGS) == "true"
