"""The Kubernetes kinds this project names in code, and the identity of one object."""

from __future__ import annotations

from dataclasses import dataclass

from shared.api.manifest import ReadOnly, metadata


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """Identity of one object, namespaced or not; never its content.

    As text: `<apiVersion>/<kind>/<namespace>/<name>`, the namespace empty for cluster-scoped objects,
    e.g. `operators.coreos.com/v1alpha1/Subscription/olm/etcd`, `v1/Namespace//olm`.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.api_version}/{self.kind}/{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """The inverse of `str`. Raises ValueError, which quotes the text, when it is not a ref."""
        match text.split("/"):
            case [version, kind, namespace, name] if version and kind and name:
                return cls(version, kind, name, namespace)
            case [group, version, kind, namespace, name] if group and version and kind and name:
                return cls(f"{group}/{version}", kind, name, namespace)
        raise ValueError(f"{text!r} is not a ref: wanted apiVersion/kind/namespace/name")

    @classmethod
    def of(cls, manifest: ReadOnly) -> Ref:
        """The identity in the apiVersion, kind and metadata of an object."""
        meta = metadata(manifest)
        return cls(
            str(manifest.get("apiVersion") or ""),
            str(manifest.get("kind") or ""),
            str(meta.get("name") or ""),
            str(meta.get("namespace") or ""),
        )


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """One kind that an API server serves, with the parts of its URL."""

    api_version: str
    kind: str
    plural: str
    is_namespaced: bool = True

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version, without the group."""
        return self.api_version.rpartition("/")[2]

    def ref(self, name: str, namespace: str = "") -> Ref:
        """The identity of one object of this kind."""
        return Ref(self.api_version, self.kind, name, namespace if self.is_namespaced else "")


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
