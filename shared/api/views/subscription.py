"""What a Subscription says (catalog.md §3)."""

from __future__ import annotations

from shared import names
from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object
from shared.api.views.view import View


class CatalogHealth(View):
    """The health of one catalog, as the status of a Subscription has it."""

    __slots__ = ()

    uid = field.text("catalogSourceRef", "uid")
    """The identity of the catalog."""
    name = field.text("catalogSourceRef", "name")
    """The name of the catalog."""
    namespace = field.text("catalogSourceRef", "namespace")
    """The namespace of the catalog."""
    is_healthy = field.flag("healthy")
    """Whether it could be read."""


class Subscription(Object):
    """The wish to have a package, and to keep it up to date."""

    __slots__ = ()

    package = field.text("spec", "name")
    """`spec.name`."""
    channel = field.text("spec", "channel")
    """`spec.channel`; empty for the default channel."""
    source = field.text("spec", "source")
    """The name of the CatalogSource."""
    source_namespace = field.text("spec", "sourceNamespace")
    """The namespace of the CatalogSource."""
    starting_csv = field.text("spec", "startingCSV")
    """`spec.startingCSV`: the first version to install; empty for the newest."""
    config = field.part("spec", "config")
    """`spec.config`: what to change in the Deployments of the operator."""
    state = field.text("status", "state")
    """`status.state`."""
    installed_csv = field.text("status", "installedCSV")
    """The ClusterServiceVersion that is installed; empty before there is one."""
    current_csv = field.text("status", "currentCSV")
    """The ClusterServiceVersion that is installed or on its way; empty before there is one."""
    plan = field.text("status", "installPlanRef", "name")
    """The name of the InstallPlan that the status refers to; empty without one."""
    plan_uid = field.text("status", "installPlanRef", "uid")
    """The uid of that InstallPlan; empty until it was read."""
    plan_generation = field.count("status", "installPlanGeneration")
    """The generation of that InstallPlan; 0 when it is no number that we would write."""
    generated_by = field.text("metadata", "annotations", names.GENERATED_BY)
    """The name of the InstallPlan that created the Subscription, for a dependency; empty for any other."""
    catalog_health = field.views(CatalogHealth, "status", "catalogHealth")
    """`status.catalogHealth`."""

    @property
    def is_manual(self) -> bool:
        """Whether somebody approves each InstallPlan."""
        return fields.text(self.raw, "spec", "installPlanApproval") == "Manual"
