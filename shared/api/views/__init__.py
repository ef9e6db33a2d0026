"""What stored objects say: one frozen class per kind, over the object as it was read (README of the folder above)."""

from __future__ import annotations

from shared.api.views.access import Role, RoleBinding, Subject
from shared.api.views.apis import ApiService, CustomResourceDefinition
from shared.api.views.catalog_source import CatalogSource, Connection
from shared.api.views.cluster_catalog import ClusterCatalog
from shared.api.views.cluster_extension import ClusterExtension, ClusterObjectSet
from shared.api.views.core import ConfigMap, Event, Namespace
from shared.api.views.csv import (
    ApiEntry,
    Csv,
    DefinitionEntry,
    DeploymentEntry,
    InstallMode,
    InstallStrategy,
    Requirement,
)
from shared.api.views.install_plan import BundleLookup, InstallPlan, PlanStep
from shared.api.views.object import ABSENT, ManagedFields, Object, OwnerReference, StoredCondition
from shared.api.views.olm_config import OlmConfig
from shared.api.views.openshift import ClusterVersion, Proxy
from shared.api.views.operator_condition import OperatorCondition
from shared.api.views.operator_group import FAIL_FORWARD, OperatorGroup
from shared.api.views.subscription import CatalogHealth, Subscription
from shared.api.views.view import View
from shared.api.views.webhooks import CONVERSION, MUTATING, VALIDATING, Webhook, WebhookConfiguration
from shared.api.views.workloads import ContainerStatus, Deployment, Job, Pod, PodTemplate

__all__ = [
    "ABSENT",
    "CONVERSION",
    "FAIL_FORWARD",
    "MUTATING",
    "VALIDATING",
    "ApiEntry",
    "ApiService",
    "BundleLookup",
    "CatalogHealth",
    "CatalogSource",
    "ClusterCatalog",
    "ClusterExtension",
    "ClusterObjectSet",
    "ClusterVersion",
    "ConfigMap",
    "Connection",
    "ContainerStatus",
    "Csv",
    "CustomResourceDefinition",
    "DefinitionEntry",
    "Deployment",
    "DeploymentEntry",
    "Event",
    "InstallMode",
    "InstallPlan",
    "InstallStrategy",
    "Job",
    "ManagedFields",
    "Namespace",
    "Object",
    "OlmConfig",
    "OperatorCondition",
    "OperatorGroup",
    "OwnerReference",
    "PlanStep",
    "Pod",
    "PodTemplate",
    "Proxy",
    "Requirement",
    "Role",
    "RoleBinding",
    "StoredCondition",
    "Subject",
    "Subscription",
    "View",
    "Webhook",
    "WebhookConfiguration",
]
