"""The two bindings that give operators their rights as servers: those of one name share them (csv.md §7.1).

One is of the cluster, the other in `kube-system`, so that two namespaces with a Deployment of the same name meet there:
each adds its Pods to the subjects, and takes only these away again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv, Object, RoleBinding
from shared.domain.endpoints.endpoint import Endpoint
from shared.domain.objects.ownership import owner_labels
from shared.kinds import Kind, Ref

SYSTEM: Final = "kube-system"
"""Where the API server tells how it proves itself."""
DELEGATOR, READER = "-system:auth-delegator", "-auth-reader"
"""How their names go on after that of the Service."""
_ROLES: Final = ("system:auth-delegator", "extension-apiserver-authentication-reader")


def bindings(service: str) -> tuple[Ref, ...]:
    """Both bindings of what is behind a Service; none for a text that is no name."""
    found = (
        kinds.CLUSTER_ROLE_BINDING.ref_or_none(f"{service}{DELEGATOR}"),
        kinds.ROLE_BINDING.ref_or_none(f"{service}{READER}", SYSTEM),
    )
    return tuple(filter(None, found))


def service_behind(name: str) -> str:
    """The Service of what a binding of that name is for; empty for any other name."""
    return next((name.removesuffix(end) for end in (DELEGATOR, READER) if name.endswith(f"-service{end}")), "")


def delegator(csv: Csv, endpoint: Endpoint, present: RoleBinding | None, accounts: Collection[str] = ()) -> Manifest:
    """The right to ask the API server about callers.

    It is labelled for the first of those that share it, and in its namespace for the version that comes after.
    `accounts`: with which other versions of the namespace run the Deployment.
    """
    is_ours = present is None or present.labels.get(names.OWNER_NAMESPACE, csv.namespace) == csv.namespace
    labels = {**(owner_labels(csv) if is_ours else {}), names.MANAGED: "true"}
    meta = {"name": f"{endpoint.service}{DELEGATOR}", "labels": labels}
    return _binding(
        kinds.CLUSTER_ROLE_BINDING, meta, (kinds.CLUSTER_ROLE, _ROLES[0]), _joined(present, endpoint, accounts)
    )


def reader(endpoint: Endpoint, present: RoleBinding | None, accounts: Collection[str] = ()) -> Manifest:
    """The right to read how the API server proves itself; `accounts` as for `delegator`."""
    meta = {"name": f"{endpoint.service}{READER}", "namespace": SYSTEM, "labels": {names.MANAGED: "true"}}
    return _binding(kinds.ROLE_BINDING, meta, (kinds.ROLE, _ROLES[1]), _joined(present, endpoint, accounts))


def subject(endpoint: Endpoint) -> Manifest:
    """The Pods of the Deployment, as bindings name them."""
    return {"kind": kinds.SERVICE_ACCOUNT.kind, "name": endpoint.account, "namespace": endpoint.namespace}


def without(present: RoleBinding, endpoint: Endpoint) -> list[Manifest]:
    """Who has the right beside the Pods of this Deployment."""
    return [dict(one.raw) for one in present.subjects if not _is(one.raw, subject(endpoint))]


def is_ours(found: Object) -> bool:
    """Whether a binding is labelled as one that we, or OLM, made; no other is ever changed for who goes."""
    return names.MANAGED in found.labels


def is_shared(found: Object) -> bool:
    """Whether a binding gives a right to others than the namespace of the version that it is labelled for."""
    namespace, subjects = found.labels.get(names.OWNER_NAMESPACE), RoleBinding(found.raw).subjects
    is_delegator = found.kind == kinds.CLUSTER_ROLE_BINDING.kind and bool(service_behind(found.name))
    return is_delegator and any(one.namespace != namespace for one in subjects)


def serving_namespaces(found: Iterable[RoleBinding]) -> tuple[str, ...]:
    """The namespaces of the Deployments that these bindings of ours let ask; sorted, each once."""
    subjects = (one for binding in found if service_behind(binding.name) for one in binding.subjects)
    return tuple(sorted({one.namespace for one in subjects if one.namespace}))


def torn(found: Iterable[RoleBinding | None]) -> tuple[str, ...]:
    """The namespaces whose Pods one of both bindings names, and the other one does not; sorted, each once.

    One that is not ours any more counts as gone: nobody hears of its changes.
    """
    ours = [one.subjects if one and is_ours(one) else () for one in found]
    named = [{(one.namespace, one.kind, one.name) for one in subjects} for subjects in ours]
    alone = (each - every for each in named for every in named)
    return tuple(sorted({namespace for some in alone for namespace, *_ in some if namespace}))


def _joined(present: RoleBinding | None, endpoint: Endpoint, accounts: Collection[str]) -> list[Manifest]:
    """Who has the right, and the Pods of this Deployment.

    A binding of ours names no account of the namespace with which no version runs the Deployment any more.
    """
    ours, subjects = subject(endpoint), present.subjects if present else ()
    named = {endpoint.account, *accounts} if present and is_ours(present) else {one.name for one in subjects}
    is_of_here = {"kind": ours["kind"], "namespace": ours["namespace"]}
    others = [dict(one.raw) for one in subjects if one.name in named or not _is(one.raw, is_of_here)]
    return others if any(_is(one, ours) for one in others) else [*others, ours]


def _is(one: ReadOnly, ours: ReadOnly) -> bool:
    return all(one.get(key) == value for key, value in ours.items())


def _binding(kind: Kind, meta: Manifest, role: tuple[Kind, str], subjects: list[Manifest]) -> Manifest:
    role_ref = {"apiGroup": role[0].group, "kind": role[0].kind, "name": role[1]}
    named = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
    return {**named, "roleRef": role_ref, "subjects": subjects}
