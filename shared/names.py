"""Labels, annotations, finalizers, reasons and event types: each spelled once."""

from __future__ import annotations

from typing import Final

FIELD_MANAGER: Final = "olmf"

# Labels and annotations of OLM (csv.md §0, catalog.md §1.4, §3.3, §5.1)
MANAGED: Final = "olm.managed"
OWNER: Final = "olm.owner"
OWNER_NAMESPACE: Final = "olm.owner.namespace"
OWNER_KIND: Final = "olm.owner.kind"
OPERATOR_GROUP: Final = "olm.operatorGroup"
OPERATOR_NAMESPACE: Final = "olm.operatorNamespace"
TARGET_NAMESPACES: Final = "olm.targetNamespaces"
PROVIDED_APIS: Final = "olm.providedAPIs"
COPIED_FROM: Final = "olm.copiedFrom"
DEPLOYMENT_SPEC_HASH: Final = "olm.deployment-spec-hash"
PERMISSIONS_HASH: Final = "olm.permissions.hash"
OPERATOR_GROUP_UID_PREFIX: Final = "olm.operatorgroup.uid/"
AGGREGATE_PREFIX: Final = "olm.opgroup.permissions/aggregate-to-"
RBAC_AGGREGATE_PREFIX: Final = "rbac.authorization.k8s.io/aggregate-to-"
COMPONENT_PREFIX: Final = "operators.coreos.com/"
GENERATED_BY: Final = "olm.generated-by"
INSTALLED_ALONGSIDE_PREFIX: Final = "operatorframework.io/installed-alongside-"
PROPERTIES: Final = "operatorframework.io/properties"
EXCLUDE_GLOBAL_CATALOGS: Final = "olm.operatorframework.io/exclude-global-namespace-resolution"
UNPACK_REF: Final = "operatorframework.io/bundle-unpack-ref"
UNPACK_TIMEOUT: Final = "operatorframework.io/bundle-unpack-timeout"
UNPACK_RETRY_INTERVAL: Final = "operatorframework.io/bundle-unpack-min-retry-interval"
CSV_CLEANUP: Final = "operators.coreos.com/csv-cleanup"

# Ours
HOLD: Final = "olmf.io/hold"
"""On a Subscription: any non-empty value keeps what is installed, and names the reason."""
KUBELET_FAIL: Final = "olmf.io/fail"
"""On a Deployment or Job: the stand-in for the kubelet lets it fail with this message."""

# CloudEvents we accept (DESIGN §4)
RESOURCE_EVENT: Final = "dev.knative.apiserver.resource."
REF_EVENT: Final = "dev.knative.apiserver.ref."
ADDED: Final = "dev.knative.apiserver.resource.add"
UPDATED: Final = "dev.knative.apiserver.resource.update"
DELETED: Final = "dev.knative.apiserver.resource.delete"

# CloudEvents we emit
CATALOG_SNAPSHOTTED: Final = "io.olmf.catalog.snapshotted"
CATALOG_REPORTED: Final = "io.olmf.catalog.reported"
"""A namespace whose Subscriptions use a catalog that changed (ref: the Namespace)."""
RESOLUTION_COMPUTED: Final = "io.olmf.resolution.computed"
BUNDLE_COLLECTED: Final = "io.olmf.bundle.collected"
BUNDLES_UNPACKED: Final = "io.olmf.bundles.unpacked"
PLAN_WAITING: Final = "io.olmf.plan.waiting"
PLAN_COMPLETED: Final = "io.olmf.plan.completed"
REQUIREMENT_CHANGED: Final = "io.olmf.requirement.changed"
"""Something a ClusterServiceVersion requires or owns changed (ref: the ClusterServiceVersion)."""
CONFIG_CHANGED: Final = "io.olmf.config.changed"
"""The Subscription that installed a ClusterServiceVersion changed, maybe its configuration (ref: the latter)."""
GROUP_CHANGED: Final = "io.olmf.group.changed"
"""An OperatorGroup must look again (ref: the OperatorGroup)."""
GRANT_DUE: Final = "io.olmf.grant.due"
"""Roles that an OperatorGroup gives may be missing (ref: the OperatorGroup)."""
RIVAL_CHANGED: Final = "io.olmf.rival.changed"
"""A group that shares namespaces with this one gave up an API or a namespace (ref: the OperatorGroup)."""
COPY_DUE: Final = "io.olmf.copy.due"
DEPENDENT_RANG: Final = "io.olmf.dependent.rang"
"""The object at ref must be looked at as if it had changed."""
AUDIT_RANG: Final = "io.olmf.audit.rang"
POKE: Final = "io.olmf.poke"

ANY: Final = "*"
"""As the name in a ref: whichever object of that kind in that namespace."""
