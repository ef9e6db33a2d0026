"""InstallPlan: the objects that one resolution wants in the cluster, and how far that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shared.api.resource import Column, Definition, Model, ObjectReference, Open, Resource, Time, Version


class InstallPlanSpec(Model):
    """Which versions are to be installed, and who has to agree."""

    cluster_service_version_names: Sequence[str]
    """The versions that the plan installs."""
    approval: str
    """`Automatic` or `Manual`."""
    approved: bool
    """Set it to true to let a Manual plan go on."""
    generation: int = 0
    """Counts the plans of the namespace: the higher, the newer."""
    source: str = ""
    """Unused."""
    source_namespace: str = ""
    """Unused."""


class StepResource(Model):
    """The object of a step."""

    source_name: str
    """Name of the CatalogSource that the object comes from."""
    source_namespace: str
    """Namespace of that CatalogSource."""
    group: str
    """API group of the object; empty: the core group."""
    version: str
    """API version of the object."""
    kind: str
    """Kind of the object."""
    name: str
    """Name of the object."""
    manifest: str = ""
    """The object as JSON, or a reference to the ConfigMap that holds it."""


class PlanStep(Model):
    """One object to be created or updated."""

    resolving: str
    """The ClusterServiceVersion the object belongs to."""
    resource: StepResource
    """The object, and where it comes from."""
    status: str
    """`Unknown`, `NotPresent`, `Present`, `Created`, `WaitingForApi` or `UnsupportedResource`."""
    optional: bool = False
    """Unused."""


class BundleLookupCondition(Open):
    """How far the content of a bundle is."""

    type: str
    """`BundleLookupPending` or `BundleLookupFailed`."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: str = ""
    """Why, as one word for programs."""
    message: str = ""
    """Why, as a sentence for people."""
    last_update_time: Time | None = None
    """When this was last looked at."""
    last_transition_time: Time | None = None
    """When `status` last changed."""


class BundleLookup(Model):
    """A bundle whose content is being fetched."""

    path: str
    """The bundle image."""
    identifier: str
    """The version in that bundle."""
    replaces: str
    """The version that it is an upgrade of."""
    catalog_source_ref: ObjectReference
    """The catalog that offers the bundle."""
    conditions: Sequence[BundleLookupCondition] = ()
    """How far fetching is."""
    properties: str = ""
    """What the catalog says the bundle needs and provides, as JSON."""


class InstallPlanCondition(Open):
    """Whether the plan was carried out."""

    type: str = ""
    """`Installed`."""
    status: Literal["True", "False", "Unknown"] | None = None
    """Whether it holds."""
    reason: str = ""
    """Why not, as one word for programs."""
    message: str = ""
    """Why not, as a sentence for people."""
    last_update_time: Time | None = None
    """When this was last looked at."""
    last_transition_time: Time | None = None
    """When `status` last changed."""


class InstallPlanStatus(Open):
    """The steps and how far they are."""

    phase: str
    """Empty, `RequiresApproval`, `Installing`, `Complete` or `Failed`."""
    catalog_sources: Sequence[str]
    """The catalogs that the versions come from."""
    conditions: Sequence[InstallPlanCondition] = ()
    """Whether the plan was carried out, and why not."""
    plan: Sequence[PlanStep] = ()
    """The objects, in the order in which they are written."""
    bundle_lookups: Sequence[BundleLookup] = ()
    """The bundles that the objects come from."""
    attenuated_service_account_ref: ObjectReference | None = None
    """The service account whose rights the plan is limited to."""
    start_time: Time | None = None
    """When the plan began to be carried out."""
    message: str = ""
    """What is wrong or waited for, as a sentence."""


class InstallPlan(Resource):
    """One installation or upgrade, step by step."""

    spec: InstallPlanSpec
    """What is to be installed; set `approved` to let a Manual plan go on."""
    status: InstallPlanStatus | None = None
    """The steps, and how far they are."""


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
