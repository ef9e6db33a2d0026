"""What is left under former names: those that OLM once gave to the objects of APIs, and those of former Deployments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shared.api.views import Csv, Deployment, DeploymentEntry, Object
from shared.domain.endpoints import retreat, sharing
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.endpoint import Endpoint, endpoints_of, has_served
from shared.domain.endpoints.facts import Facts
from shared.domain.endpoints.former import former_objects, former_secrets
from shared.domain.objects.ownership import is_labelled_for
from shared.ports import Cluster, Keys
from shared.reading.objects import read_all


def left_of_former_names(csv: Csv, cluster: Cluster, keys: Keys) -> tuple[Object, ...]:
    """The objects that are labelled for the version; nothing is read for one without aggregated APIs.

    A Secret in which somebody keeps data stays.
    """
    secrets = (keys.stored(ref) for ref in former_secrets(csv))
    found = [
        *(one.manifest for one in secrets if one and not one.is_shared),
        *filter(None, cluster.get_all(former_objects(csv))),
    ]
    return tuple(one for one in Object.each(found) if is_labelled_for(one, csv) and not one.is_deleted)


def left_by(csv: Csv, gone: Iterable[Deployment], facts: Facts, cluster: Cluster) -> tuple[Change | Object, ...]:
    """The rights of Deployments that the version does not name any more; nothing is read when it never served.

    Those stay that a Deployment of another name has now: both names may be one Service's.
    """
    entries = (DeploymentEntry({"name": one.name, "spec": one.spec}) for one in gone if has_served(csv))
    present = {one.service for one in endpoints_of(csv)}
    former = [one for entry in entries if (one := Endpoint(csv.namespace, entry, (), ())).service not in present]
    found = read_all(cluster, (ref for one in former for ref in sharing.bindings(one.service)))
    return tuple(retreat.permissions(csv, replace(facts, objects={**facts.objects, **found}), former))
