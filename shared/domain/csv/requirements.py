"""The requirements of a ClusterServiceVersion, and whether the cluster meets them (csv.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, name_of, namespace_of, uid_of
from shared.domain.csv import chain
from shared.domain.csv.strategy import Permission, Strategy, UnknownStrategy, strategy_of
from shared.domain.go_types import encoding
from shared.domain.objects.authorizer import Grants, Rules, defect, is_satisfied
from shared.domain.objects.ownership import belongs_to_another
from shared.domain.semver import version as semver
from shared.kinds import Kind, Ref

Api: TypeAlias = tuple[str, str]
"""apiVersion and kind."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read about the requirements of one ClusterServiceVersion."""

    neighbours: tuple[Manifest, ...] = ()
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


def wanted_objects(csv: ReadOnly, neighbours: Sequence[Manifest] = ()) -> tuple[Ref, ...]:
    """The refs of the objects to read."""
    strategy = strategy_of(csv)
    accounts = strategy.service_accounts if isinstance(strategy, Strategy) else ()
    replaced = chain.predecessor(csv, neighbours)
    wanted = (
        *map(kinds.CUSTOM_RESOURCE_DEFINITION.ref_or_none, _definitions(csv)),
        *(kinds.API_SERVICE.ref_or_none(service_name(entry)) for entry in _required_services(csv)),
        *(kinds.SERVICE_ACCOUNT.ref_or_none(name, namespace_of(csv)) for name in accounts),
        *([kinds.OPERATOR_CONDITION.ref(name_of(replaced), namespace_of(csv))] if replaced else ()),
    )
    return tuple(filter(None, wanted))


def wanted_apis(csv: ReadOnly) -> tuple[Api, ...]:
    """The kinds that the API server must serve."""
    return tuple(_api(entry) for entry in (*_native(csv), *_required_services(csv)))


def malformed_definition(csv: ReadOnly) -> str:
    """The name of the first CustomResourceDefinition that lacks its group; empty without one."""
    section = _section(csv, "customresourcedefinitions")
    entries = (*(section.get("owned") or ()), *(section.get("required") or ()))
    return next((str(item.get("name")) for item in entries if "." not in str(item.get("name"))), "")


def owned_definitions(csv: ReadOnly) -> frozenset[str]:
    """The names of the CustomResourceDefinitions that the version owns."""
    return frozenset(str(item.get("name")) for item in _section(csv, "customresourcedefinitions").get("owned") or ())


def own_grants(csv: ReadOnly) -> tuple[Kind, ...]:
    """The kinds of roles and bindings that an InstallPlan creates for the version."""
    strategy = strategy_of(csv)
    if not isinstance(strategy, Strategy):
        return ()
    return tuple(
        kind for kind in kinds.RBAC if (strategy.permissions if kind.is_namespaced else strategy.cluster_permissions)
    )


def is_permitted(csv: ReadOnly, facts: Facts) -> bool:
    """Whether more roles cannot change the result: each rule is satisfied, or its ServiceAccount is missing."""
    strategy = strategy_of(csv)
    if not isinstance(strategy, Strategy):
        return True
    return all(
        _account(csv, facts, name) is None or all(dependent["status"] == "Satisfied" for dependent in dependents)
        for name, dependents in _dependents(csv, facts, strategy)
    )


def wants_version(csv: ReadOnly) -> bool:
    """Whether a requirement depends on the version of the API server."""
    return bool(_spec(csv).get("minKubeVersion"))


def is_judged(csv: ReadOnly) -> bool:
    """Whether `requirementStatus` has an entry for everything that the spec requires now."""
    known, strategy = (csv.get("status") or {}).get("requirementStatus") or (), strategy_of(csv)
    found, minimum = evaluate(csv, Facts()), _spec(csv).get("minKubeVersion") or ""
    if isinstance(found, Undecidable) or isinstance(strategy, UnknownStrategy):
        return False
    rules = {(name, item["message"]) for name, items in _dependents(csv, Facts(), strategy) for item in items}
    return (
        {(item["kind"], item["name"]) for item in found.statuses}
        <= {(item.get("kind"), item.get("name")) for item in known}
        and rules
        <= {(item.get("name"), each.get("message")) for item in known for each in item.get("dependents") or ()}
        and (not minimum or any(f"minKubeVersion ({minimum})" in str(item.get("message")) for item in known))
    )


def evaluate(csv: ReadOnly, facts: Facts) -> Requirements | Undecidable:
    """Every requirement with its verdict, in OLM's order."""
    strategy = strategy_of(csv)
    if isinstance(strategy, UnknownStrategy):
        return Undecidable(strategy.message)
    for permission in (*strategy.permissions, *strategy.cluster_permissions):
        for rule in permission.rules:
            if problem := defect(rule):
                return Undecidable(f"rule invalid: {problem}")
    statuses = (
        *_minimum_version(csv, facts),
        *(_definition(csv, facts, name, entry) for name, entry in _definitions(csv).items()),
        *(_service(facts, entry) for entry in _required_services(csv)),
        *(_native_api(facts, entry) for entry in _native(csv)),
        *(_service_account(csv, facts, *item) for item in _dependents(csv, facts, strategy)),
    )
    return Requirements(all(item["status"] == "Present" for item in statuses), statuses)


def _spec(csv: ReadOnly) -> ReadOnly:
    return csv.get("spec") or {}


def _section(csv: ReadOnly, key: str) -> ReadOnly:
    return _spec(csv).get(key) or {}


def _status(kind: Kind, name: str, status: str, message: str) -> Manifest:
    identity = {"group": kind.group, "version": kind.version, "kind": kind.kind, "name": name}
    return {**identity, "status": status, "message": message}


def _minimum_version(csv: ReadOnly, facts: Facts) -> Iterator[Manifest]:
    if minimum := str(_spec(csv).get("minKubeVersion") or ""):
        kind = kinds.CLUSTER_SERVICE_VERSION
        yield _status(kind, name_of(csv), *_compare(minimum, facts.server_version))


def _compare(minimum: str, server: str) -> tuple[str, str]:
    if not server:
        return "PresentNotSatisfied", "Server version discovery error"
    try:
        actual = semver.parse_version(server.removeprefix("v").partition("-")[0])
    except ValueError:
        return "PresentNotSatisfied", "Server version parsing error"
    try:
        wanted = semver.parse_version(minimum.removeprefix("v"))
    except ValueError:
        return "PresentNotSatisfied", "CSV version parsing error"
    if wanted > actual:
        detail = f"minKubeVersion ({minimum}) > server version ({actual})"
        return "PresentNotSatisfied", f"CSV version requirement not met: {detail}"
    return "Present", f"CSV minKubeVersion ({minimum}) less than server version ({server})"


def _definitions(csv: ReadOnly) -> dict[str, ReadOnly]:
    """Owned and required CRDs by name, sorted; an owned entry overrides a required one."""
    section = _section(csv, "customresourcedefinitions")
    found = {str(item.get("name")): item for item in section.get("required") or ()}
    found |= {str(item.get("name")): item for item in section.get("owned") or ()}
    return dict(sorted(found.items()))


def _definition(csv: ReadOnly, facts: Facts, name: str, entry: ReadOnly) -> Manifest:
    kind = kinds.CUSTOM_RESOURCE_DEFINITION
    crd = kind.look_up(facts.objects.get, name)
    if crd is None:
        return _status(kind, name, "NotPresent", "CRD is not present")
    if name in owned_definitions(csv) and (others := _alongside(csv, facts, crd)):
        message = f"CRD installed alongside other CSV(s): {', '.join(others)}"
        return _status(kind, name, "PresentNotSatisfied", message)
    if not any(
        version.get("name") == entry.get("version") and version.get("served") for version in _spec(crd)["versions"]
    ):
        return _status(kind, name, "NotPresent", "CRD version not served")
    conditions = (crd.get("status") or {}).get("conditions") or ()
    true = {condition.get("type") for condition in conditions if condition.get("status") == "True"}
    if {"Established", "NamesAccepted"} <= true:
        message = "CRD is present and Established condition is true"
        return _status(kind, name, "Present", message) | {"uuid": uid_of(crd)}
    message = "CRD is present but the Established condition is False (not available)"
    return _status(kind, name, "PresentNotAvailable", message)


def _alongside(csv: ReadOnly, facts: Facts, crd: ReadOnly) -> tuple[str, ...]:
    listed = []
    for key, value in annotations_of(crd).items():
        if key.startswith(names.INSTALLED_ALONGSIDE_PREFIX):
            match value.split("/"):
                case [namespace, name] if namespace == namespace_of(csv):
                    listed.append(name)
    return chain.installed_alongside(csv, listed, {name_of(item): item for item in facts.neighbours})


def _api(entry: ReadOnly) -> Api:
    group, version = entry.get("group") or "", entry.get("version") or ""
    return (f"{group}/{version}" if group else version), str(entry.get("kind") or "")


def service_name(entry: ReadOnly) -> str:
    """The name of the APIService of an API; that of the core group ends with its dot (`v1.`)."""
    return f"{entry.get('version') or ''}.{entry.get('group') or ''}"


def _required_services(csv: ReadOnly) -> list[ReadOnly]:
    """Required aggregated APIs that the version does not own, sorted by name; of equal names the last."""
    section = _section(csv, "apiservicedefinitions")
    owned = {service_name(entry) for entry in section.get("owned") or ()}
    required = {service_name(entry): entry for entry in section.get("required") or ()}
    return [entry for name, entry in sorted(required.items()) if name not in owned]


def _service(facts: Facts, entry: ReadOnly) -> Manifest:
    kind, name = kinds.API_SERVICE, service_name(entry)
    service = kind.look_up(facts.objects.get, name)
    conditions = ((service or {}).get("status") or {}).get("conditions") or ()
    is_available = any(item.get("type") == "Available" and item.get("status") == "True" for item in conditions)
    if service is None or not is_available or _api(entry) not in facts.served:
        return _status(kind, name, "NotPresent", "")
    return _status(kind, name, "Present", "") | {"uuid": uid_of(service)}


def _native(csv: ReadOnly) -> tuple[ReadOnly, ...]:
    return tuple(_spec(csv).get("nativeAPIs") or ())


def _native_api(facts: Facts, entry: ReadOnly) -> Manifest:
    api_version, kind = _api(entry)
    status = ("Present", "Native API exists")
    if (api_version, kind) not in facts.served:
        status = ("NotPresent", "Native API does not exist")
    group, _, version = api_version.rpartition("/")
    named = _status(kinds.API_SERVICE, f"{entry.get('version')}.{entry.get('group') or ''}", *status)
    return {**named, "group": group, "version": version, "kind": kind}


def _account(csv: ReadOnly, facts: Facts, name: str) -> Manifest | None:
    return kinds.SERVICE_ACCOUNT.look_up(facts.objects.get, name, namespace_of(csv))


def _dependents(csv: ReadOnly, facts: Facts, strategy: Strategy) -> Iterator[tuple[str, list[Manifest]]]:
    home = namespace_of(csv)
    for name in strategy.service_accounts:
        yield (
            name,
            [
                *_rules("namespaced", name, strategy.permissions, facts.grants.of(name, home, home)),
                *_rules("cluster", name, strategy.cluster_permissions, facts.grants.of(name, home)),
            ],
        )


def _rules(scope: str, account: str, permissions: Sequence[Permission], granted: Rules) -> Iterator[Manifest]:
    group, _, version = kinds.ROLE.api_version.partition("/")
    wanted = (rule for item in permissions if item.service_account == account for rule in item.rules)
    for rule in wanted:
        yield {
            "group": group,
            "version": version,
            "kind": "PolicyRule",
            "status": "Satisfied" if is_satisfied(rule, granted) else "NotSatisfied",
            "message": f"{scope} rule:{encoding.encode(rule, 'PolicyRule')}",
        }


def _service_account(csv: ReadOnly, facts: Facts, name: str, dependents: list[Manifest]) -> Manifest:
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
