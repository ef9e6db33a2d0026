"""The Kubernetes kinds this project names in code, and how the text of others becomes the identity of an object."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from shared.refs import InvalidName, Ref, names_of

__all__ = ["BY_IDENTITY", "KINDS", "InvalidName", "Kind", "Ref"]

_PLURAL = re.compile("[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Watch:
    """How a kind is watched: what beside its routes distinguishes one watched kind from another."""

    is_high_cardinality: bool = False
    """A cluster has many that are neither ours nor about ours: those make no event, only ours are audited and come
    from Knative's source, and only reads of ours are cached, as not every change of others becomes an event."""
    is_whole: bool = False
    """Whole objects are fetched, because their status matters; of other kinds the metadata alone where that does."""
    is_ours_alone: bool = False
    """Only those with the label `olm.managed` are watched: no other one affects an object of ours."""
    is_optional: bool = False
    """Only some clusters serve it: nobody asks for it again until its CustomResourceDefinition changes."""


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """One kind that an API server serves, with the parts of its URL. InvalidName when none can be called so."""

    api_version: str
    kind: str
    plural: str
    is_namespaced: bool = True

    def __post_init__(self) -> None:
        names_of(self.api_version, self.kind)
        if not _PLURAL.fullmatch(self.plural):
            raise InvalidName(f"{self.plural!r} is no plural of a kind: wanted lower case letters and digits")

    @classmethod
    def or_none(cls, api_version: object, kind: object, plural: object, *, is_namespaced: bool = True) -> Kind | None:
        """The kind that a text of somebody else describes; None when no kind can be called so."""
        try:
            return cls(str(api_version), str(kind), str(plural), is_namespaced)
        except InvalidName:
            return None

    @property
    def watch(self) -> Watch | None:
        """How it is watched; None when it is not: it is read, but no event tells of it."""
        return _WATCHES.get(self)

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version, without the group."""
        return self.api_version.rpartition("/")[2]

    @property
    def definition(self) -> str:
        """The name of the CustomResourceDefinition that serves it, if one does: `<plural>.<group>`."""
        return f"{self.plural}.{self.group}".rstrip(".")

    def ref(self, name: str, namespace: str = "") -> Ref:
        """The identity of one object of this kind. InvalidName when no object can have it."""
        if self.is_namespaced and not namespace:
            raise InvalidName(f"{name!r}: a {self.kind} is in a namespace")
        return Ref(self.api_version, self.kind, name, namespace if self.is_namespaced else "")

    def ref_or_none(self, name: object, namespace: object = "") -> Ref | None:
        """The identity of an object that a text of somebody else names; None when no object can have it."""
        if not isinstance(name, str) or not isinstance(namespace, str):
            return None
        try:
            return self.ref(name, namespace)
        except InvalidName:
            return None

    def look_up(self, get: Callable[[Ref], _T | None], name: object, namespace: object = "") -> _T | None:
        """What `get` has of an object that a text of somebody else names; None when no object can have that name."""
        ref = self.ref_or_none(name, namespace)
        return None if ref is None else get(ref)


_WATCHES: dict[Kind, Watch] = {}
"""Apart from the kinds, which are identities: they are compared, and stand in recordings."""


def watched(
    kind: Kind,
    *,
    is_high_cardinality: bool = False,
    is_whole: bool = False,
    is_ours_alone: bool = False,
    is_optional: bool = False,
) -> Kind:
    """The kind, watched from now on: for the watcher, its rights and those of the audit, caches, Knative's source."""
    _WATCHES[kind] = Watch(is_high_cardinality, is_whole, is_ours_alone, is_optional)
    return kind


_OLM = "operators.coreos.com"
_ADMISSION = "admissionregistration.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io/v1"

CATALOG_SOURCE = watched(Kind(f"{_OLM}/v1alpha1", "CatalogSource", "catalogsources"), is_whole=True)
SUBSCRIPTION = watched(Kind(f"{_OLM}/v1alpha1", "Subscription", "subscriptions"), is_whole=True)
INSTALL_PLAN = watched(Kind(f"{_OLM}/v1alpha1", "InstallPlan", "installplans"), is_whole=True)
CLUSTER_SERVICE_VERSION = watched(
    Kind(f"{_OLM}/v1alpha1", "ClusterServiceVersion", "clusterserviceversions"), is_whole=True
)
OPERATOR_GROUP = watched(Kind(f"{_OLM}/v1", "OperatorGroup", "operatorgroups"))
OPERATOR_CONDITION = watched(Kind(f"{_OLM}/v2", "OperatorCondition", "operatorconditions"))
OPERATOR = watched(Kind(f"{_OLM}/v1", "Operator", "operators", is_namespaced=False))
OLM_CONFIG = watched(Kind(f"{_OLM}/v1", "OLMConfig", "olmconfigs", is_namespaced=False))
CLUSTER_CATALOG = watched(
    Kind("olm.operatorframework.io/v1", "ClusterCatalog", "clustercatalogs", is_namespaced=False), is_whole=True
)
CLUSTER_EXTENSION = watched(
    Kind("olm.operatorframework.io/v1", "ClusterExtension", "clusterextensions", is_namespaced=False), is_whole=True
)
CLUSTER_OBJECT_SET = watched(
    Kind("olm.operatorframework.io/v1", "ClusterObjectSet", "clusterobjectsets", is_namespaced=False), is_whole=True
)

NAMESPACE = watched(Kind("v1", "Namespace", "namespaces", is_namespaced=False))
CONFIG_MAP = watched(Kind("v1", "ConfigMap", "configmaps"), is_high_cardinality=True, is_ours_alone=True)
SECRET = Kind("v1", "Secret", "secrets")
SERVICE = watched(Kind("v1", "Service", "services"), is_high_cardinality=True, is_ours_alone=True)
SERVICE_ACCOUNT = watched(Kind("v1", "ServiceAccount", "serviceaccounts"), is_high_cardinality=True)
POD = Kind("v1", "Pod", "pods")
NODE = Kind("v1", "Node", "nodes", is_namespaced=False)
EVENT = Kind("v1", "Event", "events")
DEPLOYMENT = watched(Kind("apps/v1", "Deployment", "deployments"), is_high_cardinality=True)
NETWORK_POLICY = watched(
    Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"), is_high_cardinality=True, is_ours_alone=True
)
JOB = watched(Kind("batch/v1", "Job", "jobs"), is_high_cardinality=True, is_whole=True, is_ours_alone=True)
ROLE = watched(Kind(_RBAC, "Role", "roles"), is_high_cardinality=True)
ROLE_BINDING = watched(Kind(_RBAC, "RoleBinding", "rolebindings"), is_high_cardinality=True)
CLUSTER_ROLE = watched(Kind(_RBAC, "ClusterRole", "clusterroles", is_namespaced=False), is_high_cardinality=True)
CLUSTER_ROLE_BINDING = watched(
    Kind(_RBAC, "ClusterRoleBinding", "clusterrolebindings", is_namespaced=False), is_high_cardinality=True
)
CUSTOM_RESOURCE_DEFINITION = watched(
    Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", is_namespaced=False)
)
API_SERVICE = watched(Kind("apiregistration.k8s.io/v1", "APIService", "apiservices", is_namespaced=False))

VALIDATING_WEBHOOKS = watched(
    Kind(_ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", is_namespaced=False)
)
MUTATING_WEBHOOKS = watched(
    Kind(_ADMISSION, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", is_namespaced=False)
)

PROXY = watched(
    Kind("config.openshift.io/v1", "Proxy", "proxies", is_namespaced=False), is_whole=True, is_optional=True
)
CLUSTER_VERSION = watched(
    Kind("config.openshift.io/v1", "ClusterVersion", "clusterversions", is_namespaced=False), is_optional=True
)
CLUSTER_OPERATOR = watched(
    Kind("config.openshift.io/v1", "ClusterOperator", "clusteroperators", is_namespaced=False),
    is_high_cardinality=True,
    is_optional=True,
)

KINDS: tuple[Kind, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Kind))
"""Every kind above, in the order of this module."""

RBAC = (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
"""The kinds of roles and bindings."""

WEBHOOK_CONFIGURATIONS = (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS)
"""The kinds of admission webhooks."""

COMPONENTS = (DEPLOYMENT, SERVICE_ACCOUNT, *RBAC)
"""The kinds of the objects that an operator consists of."""

API_PROVIDERS = (CUSTOM_RESOURCE_DEFINITION, API_SERVICE)
"""The kinds that bring an API to a cluster."""

WATCHED: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind.watch)
"""The kinds of which events tell: those that a route may name."""

HIGH_CARDINALITY = tuple(kind for kind in WATCHED if kind.watch and kind.watch.is_high_cardinality)
"""The kinds of which a cluster has many objects that are neither ours nor about ours.

Every change of an object with the label `olm.managed` becomes an event, so that reads of those may be cached.
"""

OPTIONAL = tuple(kind for kind in WATCHED if kind.watch and kind.watch.is_optional)
"""The kinds that only some clusters serve: those of OpenShift."""

CACHED = tuple(kind for kind in WATCHED if kind not in HIGH_CARDINALITY)
"""The kinds of which every change becomes an event, so that reads may be cached until then."""

BY_IDENTITY = {(kind.api_version, kind.kind): kind for kind in KINDS}
"""`KINDS` by (apiVersion, kind); for any other kind, ask discovery."""

MIRROR_SETS: tuple[Kind, ...] = (
    Kind("config.openshift.io/v1", "ImageDigestMirrorSet", "imagedigestmirrorsets", is_namespaced=False),
    Kind("config.openshift.io/v1", "ImageTagMirrorSet", "imagetagmirrorsets", is_namespaced=False),
)
"""Kinds that configure image mirrors; not part of `KINDS` because only some clusters serve them."""
