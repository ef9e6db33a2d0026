"""What each group of steps may do on the API server, and why the dangerous verbs are where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eventing.routes import ROUTES, Route
from shared import kinds
from shared.domain.authors.approval import VERB
from shared.domain.subscription import operators
from shared.kinds import Kind

READ = ("get", "list")
WRITE = ("create", "update", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Rule:
    """Verbs on one kind; `subresource` is e.g. `status`."""

    kind: Kind
    verbs: tuple[str, ...]
    subresource: str = ""

    @property
    def resource(self) -> str:
        """As a PolicyRule names it."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


def _read(*of: Kind) -> tuple[Rule, ...]:
    return tuple(Rule(kind, READ) for kind in of)


def _write(*of: Kind) -> tuple[Rule, ...]:
    return tuple(Rule(kind, (*READ, *WRITE)) for kind in of)


def _status(*of: Kind) -> tuple[Rule, ...]:
    return tuple(Rule(kind, ("update", "patch"), "status") for kind in of)


EVENTS = (Rule(kinds.EVENT, ("get", "list", "create", "patch", "delete")),)
CSV = kinds.CLUSTER_SERVICE_VERSION
GIVE_AWAY = tuple(Rule(kind, ("escalate", "bind")) for kind in (kinds.ROLE, kinds.CLUSTER_ROLE))
"""To write rules that oneself does not have: for the groups that give operators what their bundles ask for
(`install_plan`, `cluster_service_version`), also outside their namespace (`operator_group`), and for no other."""


ACT_AS = (Rule(kinds.SERVICE_ACCOUNT, ("impersonate",)),)
"""To do with the rights of a ServiceAccount what an OperatorGroup with `serviceAccountName` limits: for the groups
that write what a bundle or a version asks for. They may give any rights away already, so this adds none."""


APPROVE = Rule(kinds.INSTALL_PLAN, (VERB,))
"""To write plans, and Subscriptions, that nobody has to approve: `k8s/optional/plan-approvals.yaml` asks for it."""


OF_OWNERS = (kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS, *kinds.RBAC)
"""What `collect_garbage` deletes when its owner is gone."""


ADOPTED = (
    kinds.SERVICE, kinds.CONFIG_MAP, kinds.OPERATOR_CONDITION, kinds.API_SERVICE, kinds.CUSTOM_RESOURCE_DEFINITION,
    *kinds.COMPONENTS,
)  # fmt: skip
"""What `adopt_components` labels."""


def _routed(group: str) -> tuple[Rule, ...]:
    """To read the kinds whose events wake the steps of a group: a step reads what it is woken for."""
    return _read(*dict.fromkeys(route.on for route in ROUTES if _is_of(group, route) and isinstance(route.on, Kind)))


def _is_of(group: str, route: Route) -> bool:
    return route.step.partition("/")[0] == group


_BEYOND: Mapping[str, tuple[Rule, ...]] = {
    "catalog_source": (
        *_read(kinds.SUBSCRIPTION),  # to tell the users of a catalog
        *_read(kinds.NAMESPACE, kinds.SECRET, *kinds.MIRROR_SETS),
        Rule(kinds.SERVICE, ("get", "create", "update", "delete")),
        Rule(kinds.NETWORK_POLICY, ("create", "update")),  # of the pods that unpack; deleted by garbage collection
        Rule(kinds.CATALOG_SOURCE, ("patch",)),  # `spec.image` of those that carry a template
        Rule(kinds.CONFIG_MAP, ("patch",)),  # label and owner of those that hold a catalog
        *_status(kinds.CATALOG_SOURCE),
    ),
    "cluster_catalog": (
        *_read(kinds.SECRET, *kinds.MIRROR_SETS),
        Rule(kinds.SERVICE_ACCOUNT, ("get",)),  # its own: which pull secrets it has
        Rule(kinds.CLUSTER_CATALOG, ("patch",)),  # its label and its finalizer
        *_status(kinds.CLUSTER_CATALOG),
    ),
    "cluster_extension": (
        *_read(kinds.CLUSTER_CATALOG, kinds.CUSTOM_RESOURCE_DEFINITION, *kinds.MIRROR_SETS),
        Rule(kinds.SERVICE_ACCOUNT, ("get",)),  # its own: which pull secrets it has
        Rule(kinds.SECRET, ("get", "list", "create")),  # pull secrets; those that hold the objects of a revision
        *_write(kinds.CLUSTER_OBJECT_SET),
        Rule(kinds.CLUSTER_EXTENSION, ("patch",)),  # upstream's finalizers on one that is deleted
        Rule(kinds.CLUSTER_EXTENSION, ("update",), "finalizers"),  # to name it as the owner of a revision
        *_status(kinds.CLUSTER_EXTENSION),
    ),
    "cluster_object_set": (
        Rule(kinds.CLUSTER_OBJECT_SET, (*READ, "patch")),  # finalizer; the end of those that are replaced
        *_write(kinds.SERVICE, kinds.CONFIG_MAP, kinds.SECRET, kinds.CUSTOM_RESOURCE_DEFINITION, kinds.NAMESPACE),
        *_write(*kinds.COMPONENTS, kinds.NETWORK_POLICY, *kinds.WEBHOOK_CONFIGURATIONS),
        *GIVE_AWAY,
        Rule(kinds.CLUSTER_OBJECT_SET, ("update",), "finalizers"),  # to name it as the owner of its objects
        *_status(kinds.CLUSTER_OBJECT_SET),
    ),
    "subscription": (
        *_read(kinds.CATALOG_SOURCE, kinds.CONFIG_MAP, kinds.JOB, kinds.NAMESPACE, kinds.SECRET, *kinds.MIRROR_SETS),
        *_write(kinds.SUBSCRIPTION, kinds.INSTALL_PLAN),
        APPROVE,
        Rule(CSV, ("patch",)),  # the label of one that was there already
        Rule(kinds.OPERATOR, ("create",)),
        *_status(kinds.SUBSCRIPTION, kinds.INSTALL_PLAN),
    ),
    "bundle": (
        *_read(kinds.CATALOG_SOURCE, kinds.OPERATOR_GROUP, CSV, kinds.SUBSCRIPTION, kinds.NAMESPACE, kinds.POD),
        *_read(kinds.INSTALL_PLAN, kinds.SECRET, *kinds.MIRROR_SETS),
        *_write(kinds.CONFIG_MAP, kinds.JOB, kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING),
        *_status(kinds.SUBSCRIPTION),
    ),
    "install_plan": (
        *_read(kinds.OPERATOR_GROUP, kinds.NAMESPACE),
        *_write(CSV, kinds.SUBSCRIPTION, kinds.SERVICE_ACCOUNT, kinds.SECRET, kinds.SERVICE, kinds.CONFIG_MAP),
        *_write(kinds.INSTALL_PLAN, kinds.CUSTOM_RESOURCE_DEFINITION, kinds.NETWORK_POLICY, *kinds.RBAC),
        APPROVE,  # Subscriptions of dependencies
        *GIVE_AWAY,
        *ACT_AS,
        *_status(kinds.INSTALL_PLAN),
    ),
    "cluster_service_version": (
        *_read(kinds.OPERATOR_GROUP, kinds.SUBSCRIPTION, kinds.INSTALL_PLAN, kinds.CUSTOM_RESOURCE_DEFINITION),
        *_read(kinds.API_SERVICE, kinds.NAMESPACE, kinds.OLM_CONFIG, kinds.PROXY),
        Rule(kinds.SERVICE_ACCOUNT, ("create",)),
        *_write(CSV, kinds.DEPLOYMENT, kinds.OPERATOR_CONDITION, *kinds.RBAC),
        *_write(kinds.SERVICE, kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS),
        Rule(kinds.SECRET, ("get", "create", "update", "delete")),  # of serving certificates
        *_read(*ADOPTED),
        *(Rule(kind, ("patch",)) for kind in ADOPTED),  # a label; of a definition its conversion, too
        *GIVE_AWAY,
        *ACT_AS,
        *_status(CSV, kinds.OPERATOR_CONDITION),
    ),
    "operator_group": (
        *_read(kinds.CUSTOM_RESOURCE_DEFINITION, kinds.SERVICE_ACCOUNT, kinds.SUBSCRIPTION, kinds.INSTALL_PLAN),
        *_read(kinds.API_SERVICE),
        *_write(kinds.OPERATOR_GROUP, CSV, *kinds.RBAC),
        Rule(kinds.SERVICE_ACCOUNT, ("patch",)),  # the label of one that a group names
        *ACT_AS,
        Rule(kinds.NAMESPACE, (*READ, "create", "patch", "update")),
        Rule(kinds.OLM_CONFIG, (*READ, "create", "patch")),
        *GIVE_AWAY,
        *_status(kinds.OPERATOR_GROUP),
    ),
    "operator": (
        *_read(*operators.WHOLE, *operators.BARE),
        Rule(kinds.OPERATOR, ("create",)),
        *_status(kinds.OPERATOR),
    ),
    "fanout": (
        *_read(kinds.SUBSCRIPTION, kinds.INSTALL_PLAN, kinds.CLUSTER_EXTENSION),
        *_read(kinds.CATALOG_SOURCE),  # of `notify_catalog_users`, which an earlier build queued here
    ),
    "maintenance": (
        *_read(*kinds.WATCHED),  # `audit_cluster` lists them
        *(Rule(kind, ("delete",)) for kind in (kinds.INSTALL_PLAN, kinds.OPERATOR, CSV, *OF_OWNERS)),
        Rule(kinds.API_SERVICE, ("create", "patch")),  # of PackageManifests; the rest: `eventing/deploy/packages.py`
        Rule(kinds.CLUSTER_OPERATOR, ("create",)),
        *_status(kinds.OLM_CONFIG, kinds.CLUSTER_OPERATOR),
    ),
}

RULES: Mapping[str, tuple[Rule, ...]] = {
    group: (*_routed(group), *beyond, *EVENTS) for group, beyond in _BEYOND.items()
}
"""Group to what its ServiceAccount may do: read what wakes its steps, what is listed above, and Kubernetes Events."""

BUNDLED_API_GROUPS: Mapping[str, tuple[str, ...]] = {
    "monitoring.coreos.com": ("prometheusrules", "servicemonitors"),
    "policy": ("poddisruptionbudgets",),
    "scheduling.k8s.io": ("priorityclasses",),
    "autoscaling.k8s.io": ("verticalpodautoscalers",),
    "console.openshift.io": (
        "consoleyamlsamples", "consolequickstarts", "consoleclidownloads", "consolelinks", "consoleplugins",
    ),
}  # fmt: skip
"""API group to the resources that a bundle may carry besides those that have a name in code (catalog.md §4.5)."""

V1_API_GROUPS: Mapping[str, tuple[str, ...]] = {
    **BUNDLED_API_GROUPS,
    "": ("persistentvolumes", "persistentvolumeclaims"),
    "monitoring.coreos.com": ("prometheusrules", "servicemonitors", "podmonitors"),
    "networking.k8s.io": ("ingresses",),
    "storage.k8s.io": ("storageclasses",),
    "cert-manager.io": ("issuers", "certificates"),
    "route.openshift.io": ("routes",),
}  # fmt: skip
"""The same of the revisions of OLM v1: every kind that a phase names (v1.md §21.3), and what certificates take."""
