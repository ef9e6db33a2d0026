"""The NetworkPolicy of a CatalogSource: nobody connects to the pods that unpack bundles (catalog.md §2.4.1)."""

from __future__ import annotations

from collections.abc import Mapping

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Object
from shared.domain.objects.ownership import reference_to
from shared.domain.subset import covers
from shared.domain.syntax import LABEL_VALUE
from shared.kinds import CATALOG_SOURCE, NETWORK_POLICY, Ref


def policy_ref(source: CatalogSource) -> Ref | None:
    """OLM's name for it; None where no object can be called so."""
    return NETWORK_POLICY.ref_or_none(f"{source.name}{names.UNPACK_POLICY_SUFFIX}", source.namespace)


def is_its_own(source: CatalogSource, present: Object) -> bool:
    """Whether a policy is that of the catalog, made by us or by OLM: an owner says so, or without any the labels.

    Also one whose owner is a former catalog of the same name: it is about to be deleted, and that is an event.
    """
    if not present.owners:
        return _labels(source).items() <= present.labels.items()
    catalog = (CATALOG_SOURCE.kind, CATALOG_SOURCE.group, source.name)
    return any((one.kind, one.group, one.name) == catalog for one in present.owners)


def policy_of(source: CatalogSource, ref: Ref) -> Manifest:
    """The policy, as the API server stores it."""
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {
            "name": ref.name,
            "namespace": ref.namespace,
            "labels": dict(_labels(source)),
            "ownerReferences": [reference_to(CATALOG_SOURCE, source.name, source.uid)],
        },
        "spec": _spec(),
    }


def repaired(present: Object, desired: Manifest) -> Manifest | None:
    """The present policy made right: what others added beside its spec stays. None when it is right."""
    labels, spec = desired["metadata"]["labels"], desired["spec"]
    is_labelled = labels.items() <= present.labels.items()
    if present.owners and is_labelled and covers(present.spec, spec) and covers(spec, present.spec):
        return None
    owners = [dict(one.raw) for one in present.owners] or desired["metadata"]["ownerReferences"]
    about = {**present.metadata, "labels": {**present.labels, **labels}, "ownerReferences": owners}
    return {**desired, "metadata": about}


def _labels(source: CatalogSource) -> Mapping[str, str]:
    """A name that is too long for a label, on which OLM fails, is left out."""
    of_catalog = {} if LABEL_VALUE.problems(source.name) else {names.OF_CATALOG: source.name}
    return {names.MANAGED: "true", **of_catalog}


def _spec() -> Manifest:
    """Into the pods nothing, out of them everything: the API server and registries are anywhere."""
    of_jobs = [
        {"key": names.UNPACK_REF, "operator": "Exists"},
        {"key": names.MANAGED, "operator": "In", "values": ["true"]},
    ]
    dns = [{"port": port, "protocol": protocol} for port in (53, 5353) for protocol in ("TCP", "UDP")]
    return {
        "podSelector": {"matchExpressions": of_jobs},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [{}, {"ports": dns}],
    }
