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
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version, without the group."""
        return self.api_version.rpartition("/")[2]

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


_OLM = "operators.coreos.com"
_RBAC = "rbac.authorization.k8s.io/v1"

CATALOG_SOURCE = Kind(f"{_OLM}/v1alpha1", "CatalogSource", "catalogsources")
SUBSCRIPTION = Kind(f"{_OLM}/v1alpha1", "Subscription", "subscriptions")
INSTALL_PLAN = Kind(f"{_OLM}/v1alpha1", "InstallPlan", "installplans")
CLUSTER_SERVICE_VERSION = Kind(f"{_OLM}/v1alpha1", "ClusterServiceVersion", "clusterserviceversions")
OPERATOR_GROUP = Kind(f"{_OLM}/v1", "OperatorGroup", "operatorgroups")
OPERATOR_CONDITION = Kind(f"{_OLM}/v2", "OperatorCondition", "operatorconditions")
OPERATOR = Kind(f"{_OLM}/v1", "Operator", "operators", is_namespaced=False)
OLM_CONFIG = Kind(f"{_OLM}/v1", "OLMConfig", "olmconfigs", is_namespaced=False)

NAMESPACE = Kind("v1", "Namespace", "namespaces", is_namespaced=False)
CONFIG_MAP = Kind("v1", "ConfigMap", "configmaps")
SECRET = Kind("v1", "Secret", "secrets")
SERVICE = Kind("v1", "Service", "services")
SERVICE_ACCOUNT = Kind("v1", "ServiceAccount", "serviceaccounts")
POD = Kind("v1", "Pod", "pods")
NODE = Kind("v1", "Node", "nodes", is_namespaced=False)
EVENT = Kind("v1", "Event", "events")
DEPLOYMENT = Kind("apps/v1", "Deployment", "deployments")
JOB = Kind("batch/v1", "Job", "jobs")
ROLE = Kind(_RBAC, "Role", "roles")
ROLE_BINDING = Kind(_RBAC, "RoleBinding", "rolebindings")
CLUSTER_ROLE = Kind(_RBAC, "ClusterRole", "clusterroles", is_namespaced=False)
CLUSTER_ROLE_BINDING = Kind(_RBAC, "ClusterRoleBinding", "clusterrolebindings", is_namespaced=False)
CUSTOM_RESOURCE_DEFINITION = Kind(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", is_namespaced=False
)
API_SERVICE = Kind("apiregistration.k8s.io/v1", "APIService", "apiservices", is_namespaced=False)

KINDS: tuple[Kind, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Kind))
"""Every kind above, in the order of this module."""

RBAC = (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
"""The kinds of roles and bindings."""

COMPONENTS = (DEPLOYMENT, SERVICE_ACCOUNT, *RBAC)
"""The kinds of the objects that an operator consists of."""

CROWDED = (JOB, *COMPONENTS)
"""The kinds of which a cluster has many objects that are neither ours nor about ours."""

BY_IDENTITY = {(kind.api_version, kind.kind): kind for kind in KINDS}
"""`KINDS` by (apiVersion, kind); for any other kind, ask discovery."""

MIRROR_SETS: tuple[Kind, ...] = (
    Kind("config.openshift.io/v1", "ImageDigestMirrorSet", "imagedigestmirrorsets", is_namespaced=False),
    Kind("config.openshift.io/v1", "ImageTagMirrorSet", "imagetagmirrorsets", is_namespaced=False),
)
"""Kinds that configure image mirrors; not part of `KINDS` because only some clusters serve them."""
