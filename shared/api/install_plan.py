"""InstallPlan: the objects that one resolution wants in the cluster, and how far that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shared.api.resource import Column, Definition, Model, ObjectReference, Open, Resource, Time, Version


class InstallPlanSpec(Model):
    """Which versions are to be installed, and who has to agree."""

    cluster_service_version_names: Sequence[str]
    approval: str
    """`Automatic` or `Manual`."""
    approved: bool
    """Set it to true to let a Manual plan go on."""
    generation: int = 0
    source: str = ""
    """Unused."""
    source_namespace: str = ""
    """Unused."""


class StepResource(Model):
    """The object of a step."""

    source_name: str
    source_namespace: str
    group: str
    version: str
    kind: str
    name: str
    manifest: str = ""
    """The object as JSON, or a reference to the ConfigMap that holds it."""


class PlanStep(Model):
    """One object to be created or updated."""

    resolving: str
    """The ClusterServiceVersion the object belongs to."""
    resource: StepResource
    status: str
    """`Unknown`, `NotPresent`, `Present`, `Created`, `WaitingForApi` or `UnsupportedResource`."""
    optional: bool = False


class BundleLookupCondition(Open):
    """How far the content of a bundle is."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""
    last_update_time: Time | None = None
    last_transition_time: Time | None = None


class BundleLookup(Model):
    """A bundle whose content is being fetched."""

    path: str
    identifier: str
    replaces: str
    catalog_source_ref: ObjectReference
    conditions: Sequence[BundleLookupCondition] = ()
    properties: str = ""


class InstallPlanCondition(Open):
    """Whether the plan was carried out."""

    type: str = ""
    status: Literal["True", "False", "Unknown"] | None = None
    reason: str = ""
    message: str = ""
    last_update_time: Time | None = None
    last_transition_time: Time | None = None


class InstallPlanStatus(Open):
    """The steps and how far they are."""

    phase: str
    """Empty, `RequiresApproval`, `Installing`, `Complete` or `Failed`."""
    catalog_sources: Sequence[str]
    conditions: Sequence[InstallPlanCondition] = ()
    plan: Sequence[PlanStep] = ()
    bundle_lookups: Sequence[BundleLookup] = ()
    attenuated_service_account_ref: ObjectReference | None = None
    start_time: Time | None = None
    message: str = ""


class InstallPlan(Resource):
    """One installation or upgrade, step by step."""

    spec: InstallPlanSpec
    status: InstallPlanStatus | None = None


DEFINITION = Definition(
    kind="InstallPlan",
    plural="installplans",
    versions=(Version("v1alpha1", InstallPlan),),
    short_names=("ip",),
    columns=(
        Column("CSV", ".spec.clusterServiceVersionNames[0]", "The first version of the plan"),
        Column("Approval", ".spec.approval", "Who has to agree"),
        Column("Approved", ".spec.approved", "Whether the plan may go on", "boolean"),
    ),
)
