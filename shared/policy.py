"""The settings of the administrator that decisions depend on; each field is an environment variable, too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of the administrator that steps may read; the same for all steps."""

    global_namespace: str = "olm"
    """Namespace of the global catalogs, which every namespace may use."""
    unpack: Literal["job", "direct"] = "job"
    """Unpack bundles in a Job (as OLM does) or in the worker."""
    unpack_image: str = "olm-functions:latest"
    """The image of the container in the unpack Job."""
    unpack_user: int = 1001
    """The user id of that container; 0: that of the image, or the one that the cluster chooses, as OpenShift does."""
    unpack_timeout: timedelta = timedelta(minutes=10)
    """Deadline of an unpack Job; zero means no deadline."""
    plan_scope: Literal["component", "namespace"] = "component"
    """One InstallPlan per connected component of a namespace, or one per namespace as OLM."""
    catalog_policy: Literal["available", "strict"] = "available"
    """For a catalog that cannot be read now: use its last good snapshot, or stop every resolution as OLM does."""
    plan_retry: timedelta = timedelta(minutes=1)
    """How long a failing InstallPlan is retried before its phase becomes `Failed`."""
    crd_safety: Literal["plan", "step"] = "plan"
    """When the definitions of a plan are checked against what is stored: before any of its steps, or each when its turn
    comes, as OLM does, so that the steps before it are carried out."""
    install_timeout: timedelta = timedelta(minutes=5)
    """How long a Deployment may take to become available."""
    lift_foreign_roles: bool = False
    """Give the rights of every Role with the owner labels of a version to its operator in all target namespaces, as
    OLM does, whoever made the Role; otherwise only those of the permissions that an InstallPlan gave it."""
    grant_claimed_apis: bool = False
    """Write the roles of an API (into `admin`, `edit` and `view` of the cluster) for each that a version claims and
    that is there, as OLM does, whoever made it; otherwise only where an InstallPlan brought its definition."""
    bundle_kinds: tuple[str, ...] = ()
    """Kinds that bundles may hold besides those that OLM allows: `Certificate`, or `Certificate.cert-manager.io`."""
    execute_foreign_plans: bool = False
    """Execute InstallPlans whose steps somebody else wrote, too, as OLM does: whoever may write the status of a plan
    then acts with the rights that execute it."""
    protected_copy_namespaces: tuple[str, ...] = ()
    """Namespaces that receive copied CSVs even where copying is disabled."""
    catalogs_url: str = "https://olmf-catalogs.olm.svc"
    """Where ClusterCatalogs are served: what `status.urls.base` begins with."""
    catalogs_address: str = ""
    """Where CatalogSources are served, `host:port`; a Pod adds the domain of its cluster to `.svc`. Empty: nowhere."""
    pull_secrets: tuple[str, ...] = ()
    """Secrets of the global namespace for ClusterCatalogs and extensions; `serviceaccount/NAME`: all of an account."""
