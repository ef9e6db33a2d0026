"""A cluster with ClusterCatalogs and bundles in memory, in which extensions are installed."""

from __future__ import annotations

from typing import Any

from shared import kinds
from shared.api.manifest import Manifest, timestamp
from shared.domain.catalog.model import Package
from shared.kinds import CLUSTER_CATALOG, CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, DEPLOYMENT, Ref
from tests.functions.subscription.world import World as CatalogWorld
from tests.functions.subscription.world import a_crd, a_package
from tests.kit.kept import kept

IMAGE = "registry/c:v1"
EXTENSION = CLUSTER_EXTENSION.ref("etcd")
PLACE = "etcd-system"


class World(CatalogWorld):
    """Extensions, their revisions, and what wakes them."""

    groups: tuple[str, ...] = ("cluster_extension", "cluster_object_set", "fanout")

    def publish(self, *packages: Package, image: str = IMAGE, name: str = "c") -> None:
        """A catalog that is served, with these packages."""
        self.catalogs.publish(image, *packages)
        self.put(a_served_catalog(name, image, self.catalogs.reference(image)))

    def status(self, ref: Ref = EXTENSION) -> dict[str, Any]:
        """The status of an object."""
        return dict(self.objects[ref].get("status", {}))

    def conditions(self, ref: Ref = EXTENSION) -> dict[str, tuple[str, str, str]]:
        """Its conditions by type: status, reason, message."""
        listed = self.status(ref).get("conditions", [])
        return {one["type"]: (one["status"], one["reason"], one["message"]) for one in listed}

    def revision(self, number: int, extension: str = "etcd") -> Ref:
        """A revision by its number."""
        return CLUSTER_OBJECT_SET.ref(f"{extension}-{number}")

    def runs(self, *, ready: bool = True) -> None:
        """Deployments become available, or stop to be."""
        since = timestamp(self.time)
        for ref in [ref for ref in self.objects if ref.kind == DEPLOYMENT.kind]:
            with self.edited(ref) as found:
                found["metadata"]["generation"] = found["metadata"].get("generation", 1)
                found["status"] = {
                    "observedGeneration": found["metadata"]["generation"], "replicas": 1, "updatedReplicas": 1,
                    "conditions": [{"type": "Available", "status": str(ready), "lastTransitionTime": since}],
                }  # fmt: skip
        self.settle()


def a_served_catalog(name: str, image: str, reference: str, **spec: Any) -> Manifest:
    source = {"type": "Image", "image": {"ref": image}}
    return {
        "apiVersion": CLUSTER_CATALOG.api_version, "kind": "ClusterCatalog",
        "metadata": {"name": name, "labels": {"olm.operatorframework.io/metadata.name": name}},
        "spec": {"source": source, "availabilityMode": "Available", "priority": 0, **spec},
        "status": {
            "conditions": [{"type": "Serving", "status": "True", "reason": "Available"}],
            "resolvedSource": {"type": "Image", "image": {"ref": reference}},
        },
    }  # fmt: skip


def an_extension(name: str = "etcd", package: str = "etcd", *, spec: Manifest | None = None, **source: Any) -> Manifest:
    desired = {"packageName": package, **source}
    return {
        "apiVersion": CLUSTER_EXTENSION.api_version, "kind": "ClusterExtension",
        "metadata": {"name": name, "uid": f"uid-{name}", "generation": 1},
        "spec": {"namespace": PLACE, "source": {"sourceType": "Catalog", "catalog": desired}, **(spec or {})},
    }  # fmt: skip


def a_bundle(
    package: str, version: str, *others: Manifest, modes: tuple[str, ...] = ("AllNamespaces",)
) -> tuple[Manifest, ...]:
    """A bundle with a definition, a ConfigMap, permissions and a Deployment."""
    account = f"{package}-operator"
    permission = {
        "serviceAccountName": account,
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    }
    labels = {"app": package}
    container = {"name": "main", "image": f"registry/{package}-operator:{version}"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "serviceAccountName": account}}
    deployment = {"selector": {"matchLabels": labels}, "template": template}
    strategy = {
        "clusterPermissions": [permission],
        "deployments": [{"name": f"{package}-controller", "spec": deployment}],
    }
    definition = {"name": f"{package}s.example.com", "kind": package.capitalize(), "version": "v1"}
    csv = {
        "apiVersion": kinds.CLUSTER_SERVICE_VERSION.api_version, "kind": "ClusterServiceVersion",
        "metadata": {"name": f"{package}.v{version}"},
        "spec": {
            "version": version, "installModes": [{"type": mode, "supported": True} for mode in modes],
            "install": {"strategy": "deployment", "spec": strategy},
            "customresourcedefinitions": {"owned": [definition]},
        },
    }  # fmt: skip
    settings = a_config_map(f"{package}-settings", version=version)
    return (csv, a_crd(f"{package}s.example.com"), settings, *others)


def a_config_map(name: str, namespace: str = "", **data: str) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **place}, "data": data}


@kept
def a_world(*versions: str, extension: Manifest | None = None, **source: Any) -> World:
    """A world with a catalog of one package, and an extension that wants it."""
    world = World()
    versions = versions or ("1.0.0",)
    for version in versions:
        world.bundles.images[f"registry/etcd:v{version}"] = a_bundle("etcd", version)
    world.publish(a_package("etcd", *versions))
    for place in (PLACE, "olm"):
        world.objects.setdefault_namespace(place)
    world.put(extension or an_extension(**source))
    return world


@kept
def installed(*versions: str, **source: Any) -> World:
    """The same, installed."""
    world = a_world(*versions, **source)
    world.settle()
    world.runs()
    return world
