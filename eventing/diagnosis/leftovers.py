"""What classic OLM has made in a cluster that we manage, and what nobody needs any more once it is gone.

Objects are known by the names that OLM gives them, by the CatalogSource that owns them, and by what they lead to, never
by a label alone; the namespaces of OLM by the account to which its ClusterRoleBinding gives its rights, which no tenant
can write. What both use alike stays: definitions, OperatorGroups, roles of groups and of APIs, unpacked bundles, the
policy of unpack Jobs, and what monitors OLM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from shared import kinds
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import CatalogSource, Csv, Deployment, Object, RoleBinding
from shared.domain.serving.publication import API
from shared.kinds import Ref
from shared.names import ANY, OF_CATALOG, OLM_PROGRAMS
from shared.ports import Cluster, Listing

_UPDATE: Final = "catalogsource.operators.coreos.com/update"
"""The label of the Pods that look for a newer image of a catalog."""
_ACCOUNT: Final = "olm-operator-serviceaccount"
_ROLE: Final = "system:controller:operator-lifecycle-manager"
_PACKAGES: Final = "packageserver"
_RELEASE: Final = ("release.openshift.io/", "include.release.openshift.io/")
"""What the annotations of objects begin with that the release of an OpenShift manages."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """An object that OLM made."""

    ref: Ref
    uid: str
    made_for: str
    """Whom OLM made it for."""
    kept: str = ""
    """Why it is not to be removed; empty when it may go."""


def running(cluster: Cluster) -> tuple[Deployment, ...]:
    """The programs of classic OLM that would make everything again: others may call theirs the same."""
    places = _places(_bindings(cluster))
    found = (one for place in places for one in Deployment.each(cluster.list(kinds.DEPLOYMENT, place)))
    return tuple(one for one in found if one.name in OLM_PROGRAMS and one.wanted_replicas)


def leftovers(cluster: Cluster) -> tuple[Leftover, ...]:
    """What OLM left, in the order in which it may go: the package server needs the account until it is gone."""
    return (*_of_programs(cluster), *_of_catalogs(cluster))


def _of_catalogs(cluster: Cluster) -> Iterator[Leftover]:
    """Pods, accounts, roles and policies of CatalogSources that exist: those of others go by garbage collection."""
    sources = {one.uid: one for one in CatalogSource.each(cluster.list(kinds.CATALOG_SOURCE))}
    pods = cluster.list_all([Listing(kinds.POD, labels={label: ANY}) for label in (OF_CATALOG, _UPDATE)])
    named = cluster.get_all([ref for one in sources.values() for ref in _named_after(one)])
    for one in Object.each(filter(None, (*(pod for listed in pods for pod in listed), *named))):
        owner = next((sources[each.uid] for each in one.owners if each.uid in sources), None)
        if owner is not None and not _is_ours(one):
            yield _leftover(one, f"CatalogSource {owner.namespace}/{owner.name}")


def _named_after(source: CatalogSource) -> Iterator[Ref]:
    """What OLM calls the objects of a catalog: of an image first, then of a ConfigMap."""
    name, server = source.name, f"{source.name}-configmap-server"
    found = (
        *(kinds.SERVICE.ref_or_none(one, source.namespace) for one in dict.fromkeys((name.replace(".", "-"), name))),
        *(kinds.SERVICE_ACCOUNT.ref_or_none(one, source.namespace) for one in (name, server)),
        kinds.ROLE.ref_or_none(f"{name}-configmap-reader", source.namespace),
        kinds.ROLE_BINDING.ref_or_none(f"{name}-server-configmap-reader", source.namespace),
        kinds.NETWORK_POLICY.ref_or_none(f"{name}-grpc-server", source.namespace),
    )
    yield from filter(None, found)


def _is_ours(one: Object) -> bool:
    """Our Service of a catalog has the name of OLM's, and leads to our program instead of Pods."""
    return one.kind == kinds.SERVICE.kind and not fields.part(one.raw, "spec", "selector")


def _of_programs(cluster: Cluster) -> Iterator[Leftover]:
    """The package server first, then what OLM's chart made, whatever its namespace is called."""
    bindings = _bindings(cluster)
    for namespace in _places(bindings):
        for found in filter(None, cluster.get_all(list(_named(namespace)))):
            if _is_of_olm(found):
                yield _leftover(Object(found), f"OLM in {namespace}")
    roles = filter(None, [cluster.get(kinds.CLUSTER_ROLE.ref(_ROLE))]) if bindings else ()
    yield from (_leftover(Object(one), "OLM") for one in (*(each.raw for each in bindings), *roles))


def _bindings(cluster: Cluster) -> list[RoleBinding]:
    """Those that give OLM its rights; without one it can make nothing."""
    return [
        one
        for one in RoleBinding.each(cluster.list(kinds.CLUSTER_ROLE_BINDING))
        if one.role == (kinds.CLUSTER_ROLE.kind, _ROLE) and {each.name for each in one.subjects} == {_ACCOUNT}
    ]


def _places(bindings: Iterable[RoleBinding]) -> list[str]:
    """The namespaces of OLM: a Deployment of that name proves nothing, because any tenant may make one."""
    return sorted({subject.namespace for one in bindings for subject in one.subjects} - {""})


def _named(namespace: str) -> Iterator[Ref]:
    """What OLM's chart makes in its namespace; the policy that denies everything goes before those that allow."""
    yield kinds.CLUSTER_SERVICE_VERSION.ref(_PACKAGES, namespace)
    yield from (kinds.DEPLOYMENT.ref(name, namespace) for name in OLM_PROGRAMS)
    policies = ("default-deny-all-traffic", *OLM_PROGRAMS, _PACKAGES, "olm-catalog-grpc-ingress")
    yield from (kinds.NETWORK_POLICY.ref(name, namespace) for name in policies)
    yield kinds.SERVICE_ACCOUNT.ref(_ACCOUNT, namespace)


def _is_of_olm(found: Manifest) -> bool:
    """Whether a ClusterServiceVersion is the package server: another one may have its name."""
    csv = Csv(found)
    if csv.kind != kinds.CLUSTER_SERVICE_VERSION.kind:
        return True
    return any(one.service == API.name for one in csv.owned_services)


def _leftover(one: Object, made_for: str) -> Leftover:
    return Leftover(Ref.of(one.raw), one.uid, made_for, _kept(one.raw))


def _kept(found: ReadOnly) -> str:
    one = Object(found)
    if any(key.startswith(_RELEASE) for key in one.annotations):
        return "the release of the cluster manages it"
    return "it is being deleted" if one.is_deleted else ""
