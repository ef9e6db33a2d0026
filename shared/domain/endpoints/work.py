"""What an installation writes so that a version can serve: in what order, and why it must not (csv.md §6.1, §7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shared import kinds
from shared.api import fields
from shared.api.manifest import Manifest
from shared.api.views import Csv, Object, RoleBinding
from shared.domain.endpoints import api_services, conversion, naming, objects, retreat, sharing, webhooks
from shared.domain.endpoints.certificates import Content
from shared.domain.endpoints.changes import Change, change
from shared.domain.endpoints.defects import invalid_description, unusable
from shared.domain.endpoints.endpoint import Endpoint, endpoints_of
from shared.domain.endpoints.facts import Facts
from shared.domain.endpoints.owning import is_named, other_owner
from shared.kinds import Ref

NO_GROUP = "error retrieving OperatorGroup info"


def stored(facts: Facts) -> dict[str, Content]:
    """What the Secrets hold now, by Deployment; those that hold nothing of use are left out."""
    return {name: one.content for name, one in facts.pairs.items() if one}


def unfit(csv: Csv) -> str:
    """Why nobody installs the version, which is known before anything of the cluster is read; empty when one may."""
    return invalid_description(csv) or unusable(csv)


def refusal(csv: Csv, facts: Facts) -> str:
    """Why nothing of it must be written as the cluster is; empty when it may."""
    checks: Iterable[str] = (
        *(
            conversion.refusal(csv, name, facts.definition(name), facts.objects)
            for _, name in conversion.conversions(csv)
        ),
        *(
            api_services.refusal(csv, api, facts.api_service(api.service), facts.namespace_csvs)
            for api in csv.owned_services
        ),
        NO_GROUP if webhooks.admission(csv) and facts.group is None else "",
    )
    return next(filter(None, checks), "")


def around(csv: Csv, facts: Facts) -> Iterator[Change]:
    """Services and rights to write, in that order."""
    for endpoint in endpoints_of(csv):
        for desired, present in _around(csv, endpoint, facts):
            if found := change(desired, present):
                yield found


def _around(csv: Csv, endpoint: Endpoint, facts: Facts) -> Iterator[tuple[Manifest, Object | None]]:
    place = csv.namespace
    service = facts.find(kinds.SERVICE, Object, endpoint.service, place)
    yield objects.service(csv, endpoint, service), service
    yield objects.role(csv, endpoint), facts.find(kinds.ROLE, Object, endpoint.secret, place)
    yield objects.role_binding(csv, endpoint), facts.find(kinds.ROLE_BINDING, Object, endpoint.secret, place)
    accounts = retreat.accounts_of_others(csv, endpoint, facts)
    delegator = facts.find(kinds.CLUSTER_ROLE_BINDING, RoleBinding, f"{endpoint.service}{sharing.DELEGATOR}")
    yield sharing.delegator(csv, endpoint, delegator, accounts), delegator
    reader = facts.find(kinds.ROLE_BINDING, RoleBinding, f"{endpoint.service}{sharing.READER}", sharing.SYSTEM)
    yield sharing.reader(endpoint, reader, accounts), reader


def served(csv: Csv, facts: Facts, contents: Mapping[str, Content]) -> Iterator[Change]:
    """What tells the API server of webhooks, to write after their Deployments."""
    bundles = {name: content.bundle for name, content in contents.items()}
    yield from filter(None, (change(*pair, webhooks.matches) for pair in _configurations(csv, facts, bundles)))
    for hook, name in conversion.conversions(csv):
        if (definition := facts.definition(name)) and hook.deployment in bundles:
            spec = {"conversion": conversion.desired(csv, hook, bundle=bundles[hook.deployment])}
            identity = {"apiVersion": definition.api_version, "kind": definition.kind}
            if found := change({**identity, "metadata": {"name": name}, "spec": spec}, definition):
                yield found


def is_in_force(change: Change) -> bool:
    """Whether it changes a configuration that the API server asks already, perhaps about the version's own objects."""
    return change.patch is not None and change.ref.kind in {kind.kind for kind in kinds.WEBHOOK_CONFIGURATIONS}


def aggregated(csv: Csv, facts: Facts, contents: Mapping[str, Content]) -> Iterator[Change]:
    """What tells the API server of aggregated APIs, to write after their Deployments."""
    for api in api_services.registered(csv):
        if api.deployment in contents:
            present, bundle = facts.api_service(api.service), contents[api.deployment].bundle
            desired = api_services.desired(csv, api, present, bundle=bundle, annotations=facts.annotations)
            if found := change(desired, present):
                yield found


def _configurations(csv: Csv, facts: Facts, bundles: Mapping[str, str]) -> Iterator[tuple[Manifest, Object | None]]:
    own = facts.own_resources(csv)
    for hook in webhooks.admission(csv):
        if facts.group and hook.deployment in bundles:
            present = next(iter(webhooks.of_webhook(facts.configurations, hook)), None)
            desired = webhooks.configuration(csv, hook, facts.group, own, bundle=bundles[hook.deployment])
            yield _named(desired, present), present


def _named(desired: Manifest, present: Object | None) -> Manifest:
    """One that is there keeps its name."""
    return {**desired, "metadata": {**desired["metadata"], "name": present.name}} if present else desired


def moved(csv: Csv, facts: Facts, contents: Mapping[str, Content]) -> tuple[Change, ...]:
    """The changes of configurations that differ in nothing but the namespaces and scopes that the group gives them.

    Empty when anything else differs: then the version is installed again.
    """
    bundles = {name: content.bundle for name, content in contents.items()}
    pairs = [*_configurations(csv, facts, bundles)]
    if any(change(_as_placed(desired, present), present, webhooks.matches) for desired, present in pairs):
        return ()
    return tuple(filter(None, (change(*pair, webhooks.matches) for pair in pairs)))


def _as_placed(desired: Manifest, present: Object | None) -> Manifest:
    """The configuration for the namespaces and scopes that the present one is for."""
    (hook,), (there, *_) = desired["webhooks"], fields.parts(present.raw if present else {}, "webhooks") or ({},)
    placed: Manifest = {key: there.get(key) or empty for key, empty in (("rules", []), ("namespaceSelector", {}))}
    return {**desired, "webhooks": [{**hook, **placed}]}


def surplus(csv: Csv, facts: Facts) -> tuple[Object, ...]:
    """What leads to the version, and is not wanted any more: configurations, also the second of one webhook; APIs."""
    kept = {
        first.name for hook in webhooks.admission(csv) for first in webhooks.of_webhook(facts.configurations, hook)[:1]
    }
    apis = {api.service for api in csv.owned_services}
    found = (
        *(one for one in facts.configurations if one.name not in kept),
        *(one for one in facts.services if one.name not in apis),
    )
    return tuple(one for one in found if not one.is_deleted)


def given_up(csv: Csv, facts: Facts) -> Iterator[Change]:
    """The end of conversions by the version that it does not describe any more."""
    described = {name for _, name in conversion.conversions(csv)} | conversion.kept_by_others(csv, facts.namespace_csvs)
    services = {naming.service_name(entry.name) for entry in csv.install.deployments}
    claimed = dict.fromkeys(entry.name for entry in csv.owned_definitions)
    for one in filter(None, (facts.definition(name) for name in claimed if name not in described)):
        is_own = is_named(csv, one) and not other_owner(csv, one, facts.objects)
        if is_own and conversion.is_served_by(csv, services, one):
            yield Change(Ref.of(one), dict(one.raw), conversion.ENDED, one.resource_version)
