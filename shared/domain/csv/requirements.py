"""The requirements of a ClusterServiceVersion, and whether the cluster meets them (csv.md §5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import ApiEntry, ApiService, Csv, CustomResourceDefinition, DefinitionEntry, Object
from shared.domain.csv import chain
from shared.domain.csv.strategy import Permission, Strategy, UnknownStrategy, strategy_of
from shared.domain.go_types import encoding
from shared.domain.objects.authorizer import Grants, PolicyRule, Rules, is_satisfied
from shared.domain.objects.ownership import belongs_to_another
from shared.domain.semver import version as semver
from shared.kinds import Kind, Ref

Api: TypeAlias = tuple[str, str]
"""apiVersion and kind."""


DEPLOYMENT_FOUND: Final = "DeploymentFound"
_MET: Final = ("Present", DEPLOYMENT_FOUND)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read about the requirements of one ClusterServiceVersion."""

    namespace_csvs: tuple[Csv, ...] = ()
    """The ClusterServiceVersions of its namespace."""
    objects: Mapping[Ref, Manifest | None] = field(default_factory=dict)
    """The objects of `wanted_objects` as they were read."""
    served: frozenset[Api] = frozenset()
    """The kinds of `wanted_apis` that the API server serves."""
    server_version: str = ""
    grants: Grants = field(default_factory=Grants)


@dataclass(frozen=True, slots=True)
class Requirements:
    """The verdict on each requirement, in the form of `requirementStatus`."""

    are_met: bool
    statuses: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class Undecidable:
    """The ClusterServiceVersion itself is not valid, so its requirements are unknown."""

    message: str


def required_objects(csv: Csv, namespace_csvs: Sequence[Csv] = ()) -> tuple[Ref, ...]:
    """The refs of the objects to read."""
    strategy = strategy_of(csv)
    accounts = strategy.service_accounts if isinstance(strategy, Strategy) else ()
    replaced = chain.predecessor(csv, namespace_csvs)
    desired = (
        *map(kinds.CUSTOM_RESOURCE_DEFINITION.ref_or_none, _definitions(csv)),
        *(kinds.API_SERVICE.ref_or_none(entry.service) for entry in (*_required_services(csv), *csv.owned_services)),
        *(kinds.SERVICE_ACCOUNT.ref_or_none(name, csv.namespace) for name in accounts),
        *([kinds.OPERATOR_CONDITION.ref(replaced.name, csv.namespace)] if replaced else ()),
    )
    return tuple(filter(None, desired))


def required_apis(csv: Csv) -> tuple[Api, ...]:
    """The kinds that the API server must serve."""
    return tuple(_api(entry) for entry in (*csv.native_apis, *_required_services(csv)))


def malformed_definition(csv: Csv) -> str:
    """The name of the first CustomResourceDefinition that lacks its group; empty without one."""
    entries = (*csv.owned_definitions, *csv.required_definitions)
    return next((entry.name for entry in entries if "." not in entry.name), "")


def owned_definitions(csv: Csv) -> frozenset[str]:
    """The names of the CustomResourceDefinitions that the version owns."""
    return frozenset(entry.name for entry in csv.owned_definitions)


def own_grants(csv: Csv) -> tuple[Kind, ...]:
    """The kinds of roles and bindings that an InstallPlan creates for the version."""
    strategy = strategy_of(csv)
    if not isinstance(strategy, Strategy):
        return ()
    return tuple(
        kind for kind in kinds.RBAC if (strategy.permissions if kind.is_namespaced else strategy.cluster_permissions)
    )


def is_permitted(csv: Csv, facts: Facts) -> bool:
    """Whether more roles cannot change the result: each rule is satisfied, or its ServiceAccount is missing."""
    strategy = strategy_of(csv)
    if not isinstance(strategy, Strategy):
        return True
    return all(
        _account(csv, facts, name) is None or all(dependent["status"] == "Satisfied" for dependent in dependents)
        for name, dependents in _dependents(csv, facts, strategy)
    )


def needs_server_version(csv: Csv) -> bool:
    """Whether a requirement depends on the version of the API server."""
    return bool(csv.min_kube_version)


def too_old(csv: Csv, server: str) -> str:
    """Why the API server is too old for the version; empty when it is not."""
    found = _compare(csv.min_kube_version, server) if csv.min_kube_version else ("Present", "")
    return "" if found[0] == "Present" else found[1]


def are_checked(csv: Csv) -> bool:
    """Whether `requirementStatus` has an entry for everything that the spec requires now.

    Rules and the least version of Kubernetes have no field of their own there: OLM's schema keeps them in messages, so
    these are compared with what would be written.
    """
    known, strategy = csv.requirements, strategy_of(csv)
    found, minimum = evaluate(csv, Facts()), csv.min_kube_version
    if isinstance(found, Undecidable) or isinstance(strategy, UnknownStrategy):
        return False
    rules = {(name, item["message"]) for name, items in _dependents(csv, Facts(), strategy) for item in items}
    return (
        {(item["kind"], item["name"]) for item in found.statuses} <= {(item.kind, item.name) for item in known}
        and rules <= {(item.name, each.message) for item in known for each in item.dependents}
        and (not minimum or any(_named(minimum) in item.message for item in known))
    )


def evaluate(csv: Csv, facts: Facts) -> Requirements | Undecidable:
    """Every requirement with its verdict, in OLM's order."""
    strategy = strategy_of(csv)
    if isinstance(strategy, UnknownStrategy):
        return Undecidable(strategy.message)
    for permission in (*strategy.permissions, *strategy.cluster_permissions):
        for rule in permission.rules:
            if problem := PolicyRule.of(rule).defect():
                return Undecidable(f"rule invalid: {problem}")
    statuses = (
        *_minimum_version(csv, facts),
        *(_definition(csv, facts, name, entry) for name, entry in _definitions(csv).items()),
        *(_service(facts, entry) for entry in _required_services(csv)),
        *(_served_by(strategy, entry) for entry in _by_service(csv.owned_services)),
        *(_native_api(facts, entry) for entry in csv.native_apis),
        *(_service_account(csv, facts, *item) for item in _dependents(csv, facts, strategy)),
    )
    return Requirements(all(item["status"] in _MET for item in statuses), statuses)


def _status(kind: Kind, name: str, status: str, message: str) -> Manifest:
    identity = {"group": kind.group, "version": kind.version, "kind": kind.kind, "name": name}
    return {**identity, "status": status, "message": message}


def _minimum_version(csv: Csv, facts: Facts) -> Iterator[Manifest]:
    if minimum := csv.min_kube_version:
        kind = kinds.CLUSTER_SERVICE_VERSION
        yield _status(kind, csv.name, *_compare(minimum, facts.server_version))


def _named(minimum: str) -> str:
    """The words by which each message about a least version names it."""
    return f"minKubeVersion ({minimum})"


def _compare(minimum: str, server: str) -> tuple[str, str]:
    if not server:
        return "PresentNotSatisfied", "Server version discovery error"
    try:
        actual = semver.parse_version(server.removeprefix("v").partition("-")[0])
    except ValueError:
        return "PresentNotSatisfied", "Server version parsing error"
    try:
        desired = semver.parse_version(minimum.removeprefix("v"))
    except ValueError:
        return "PresentNotSatisfied", "CSV version parsing error"
    if desired > actual:
        detail = f"{_named(minimum)} > server version ({actual})"
        return "PresentNotSatisfied", f"CSV version requirement not met: {detail}"
    return "Present", f"CSV {_named(minimum)} less than server version ({server})"


def _definitions(csv: Csv) -> dict[str, DefinitionEntry]:
    """Owned and required CRDs by name, sorted; an owned entry overrides a required one."""
    found = {entry.name: entry for entry in (*csv.required_definitions, *csv.owned_definitions)}
    return dict(sorted(found.items()))


def _definition(csv: Csv, facts: Facts, name: str, entry: DefinitionEntry) -> Manifest:
    kind = kinds.CUSTOM_RESOURCE_DEFINITION
    crd = CustomResourceDefinition.of(kind.look_up(facts.objects.get, name))
    if crd is None:
        return _status(kind, name, "NotPresent", "CRD is not present")
    if name in owned_definitions(csv) and (others := _alongside(csv, facts, crd)):
        message = f"CRD installed alongside other CSV(s): {', '.join(others)}"
        return _status(kind, name, "PresentNotSatisfied", message)
    if entry.version not in crd.served:
        return _status(kind, name, "NotPresent", "CRD version not served")
    if crd.is_established:
        message = "CRD is present and Established condition is true"
        return _status(kind, name, "Present", message) | {"uuid": crd.uid}
    message = "CRD is present but the Established condition is False (not available)"
    return _status(kind, name, "PresentNotAvailable", message)


def _alongside(csv: Csv, facts: Facts, crd: CustomResourceDefinition) -> tuple[str, ...]:
    listed = []
    for installer in crd.installers:
        match installer.split("/"):
            case [namespace, name] if namespace == csv.namespace:
                listed.append(name)
    return chain.installed_alongside(csv, listed, {one.name: one for one in facts.namespace_csvs})


def _api(entry: ApiEntry) -> Api:
    return entry.api_version, entry.kind


def _required_services(csv: Csv) -> list[ApiEntry]:
    """Required aggregated APIs that the version does not own."""
    owned = {entry.service for entry in csv.owned_services}
    return [entry for entry in _by_service(csv.required_services) if entry.service not in owned]


def _by_service(entries: Iterable[ApiEntry]) -> list[ApiEntry]:
    """One entry of each APIService, sorted by its name; of equal names the last."""
    found = {entry.service: entry for entry in entries}
    return [found[name] for name in sorted(found)]


def _service(facts: Facts, entry: ApiEntry) -> Manifest:
    kind, name = kinds.API_SERVICE, entry.service
    service = ApiService.of(kind.look_up(facts.objects.get, name))
    if service is None or not service.is_available or _api(entry) not in facts.served:
        return _status(kind, name, "NotPresent", "")
    return _status(kind, name, "Present", "") | {"uuid": service.uid}


def _served_by(strategy: Strategy, entry: ApiEntry) -> Manifest:
    """About the spec alone: whether the Deployment that is to serve an aggregated API is in it."""
    is_known = entry.deployment in {one.name for one in strategy.components}
    return _status(kinds.API_SERVICE, entry.service, DEPLOYMENT_FOUND if is_known else "DeploymentNotFound", "")


def _native_api(facts: Facts, entry: ApiEntry) -> Manifest:
    status = ("Present", "Native API exists")
    if _api(entry) not in facts.served:
        status = ("NotPresent", "Native API does not exist")
    named = _status(kinds.API_SERVICE, entry.service, *status)
    return {**named, "group": entry.group, "version": entry.version, "kind": entry.kind}


def _account(csv: Csv, facts: Facts, name: str) -> Object | None:
    return Object.of(kinds.SERVICE_ACCOUNT.look_up(facts.objects.get, name, csv.namespace))


def _dependents(csv: Csv, facts: Facts, strategy: Strategy) -> Iterator[tuple[str, list[Manifest]]]:
    namespace = csv.namespace
    for name in strategy.service_accounts:
        yield (
            name,
            [
                *_rules("namespaced", name, strategy.permissions, facts.grants.of(name, namespace, namespace)),
                *_rules("cluster", name, strategy.cluster_permissions, facts.grants.of(name, namespace)),
            ],
        )


def _rules(scope: str, account: str, permissions: Sequence[Permission], granted: Rules) -> Iterator[Manifest]:
    group, _, version = kinds.ROLE.api_version.partition("/")
    desired = (rule for item in permissions if item.service_account == account for rule in item.rules)
    for rule in desired:
        yield {
            "group": group,
            "version": version,
            "kind": "PolicyRule",
            "status": "Satisfied" if is_satisfied(PolicyRule.of(rule), granted) else "NotSatisfied",
            "message": f"{scope} rule:{encoding.encode(rule, 'PolicyRule')}",
        }


def _service_account(csv: Csv, facts: Facts, name: str, dependents: list[Manifest]) -> Manifest:
    kind, account = kinds.SERVICE_ACCOUNT, _account(csv, facts, name)
    if account is None:
        return _status(kind, name, "NotPresent", "Service account does not exist")
    if belongs_to_another(account, csv):
        message = "Service account is owned by another ClusterServiceVersion"
        return _status(kind, name, "PresentNotSatisfied", message)
    status = ("Present", "")
    if any(item["status"] != "Satisfied" for item in dependents):
        status = ("PresentNotSatisfied", "Policy rule not satisfied for service account")
    return _status(kind, name, *status) | {"dependents": dependents}
