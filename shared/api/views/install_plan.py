"""What an InstallPlan says (catalog.md §4)."""

from __future__ import annotations

from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object
from shared.api.views.view import View


class PlanStep(View):
    """One object that a plan writes."""

    __slots__ = ()

    csv = field.text("resolving")
    """`resolving`: the name of the ClusterServiceVersion that the object belongs to."""
    status = field.text("status")
    """What became of it: `Unknown`, `NotPresent`, `Present`, `Created`, `WaitingForApi`, …; empty when absent."""
    group = field.text("resource", "group")
    """The API group of the object."""
    version = field.text("resource", "version")
    """The API version of the object, without the group."""
    kind = field.text("resource", "kind")
    """The kind of the object; `BundleSecret` for a Secret of a bundle."""
    name = field.text("resource", "name")
    """The name of the object."""
    manifest = field.text("resource", "manifest")
    """The object in JSON, or a reference to the ConfigMap that has it."""


class BundleLookup(View):
    """One bundle of a plan."""

    __slots__ = ()

    path = field.text("path")
    """The image of the bundle."""
    identifier = field.text("identifier")
    """The name of the bundle."""

    @property
    def catalog(self) -> tuple[str, str]:
        """Namespace and name of its CatalogSource."""
        return (
            fields.text(self.raw, "catalogSourceRef", "namespace"),
            fields.text(self.raw, "catalogSourceRef", "name"),
        )

    @property
    def pending(self) -> str:
        """The message of its condition `BundleLookupPending`; empty without it."""
        found = (one for one in fields.parts(self.raw, "conditions") if one.get("type") == "BundleLookupPending")
        return next((fields.text(one, "message") for one in found), "")


class InstallPlan(Object):
    """The objects to write for some versions, in order, and how far that is."""

    __slots__ = ()

    csvs = field.texts("spec", "clusterServiceVersionNames")
    """The names of the ClusterServiceVersions that it installs."""
    is_approved = field.flag("spec", "approved")
    """`spec.approved`."""
    number = field.count("spec", "generation")
    """`spec.generation`: later plans of a namespace have higher ones; 0 when it is none that we would write."""
    phase = field.text("status", "phase")
    """`status.phase`."""
    message = field.text("status", "message")
    """`status.message`: why it is tried again, or has failed."""
    account = field.part("status", "attenuatedServiceAccountRef")
    """`status.attenuatedServiceAccountRef`: with whose rights it is executed; empty: with ours."""
    started = field.moment("status", "startTime")
    """`status.startTime`; None before it is executed."""
    steps = field.views(PlanStep, "status", "plan")
    """`status.plan`."""
    lookups = field.views(BundleLookup, "status", "bundleLookups")
    """`status.bundleLookups`."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no steps: its status was not written yet, or somebody emptied it."""
        return not (fields.value(self.raw, "status", "plan") or fields.value(self.raw, "status", "bundleLookups"))
