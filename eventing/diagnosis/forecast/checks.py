"""What stands in the way of a version: kinds, what is stored, the group and its account, the API server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from eventing.diagnosis.forecast.account import Identity, Lacking, is_known, lacking, unread
from eventing.diagnosis.forecast.present_objects import PresentObjects, definitions
from shared.api.manifest import Manifest, name_of
from shared.api.views import Csv, CustomResourceDefinition, OperatorGroup
from shared.domain.crd_safety import stored
from shared.domain.csv.requirements import too_old
from shared.domain.extension.outlook import identity_of
from shared.domain.extension.scopes import group_kind
from shared.domain.operator_groups import install_modes, provided_apis
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.provision import BUILT_IN
from shared.domain.plan import bundle_kinds, crds, execution, safety
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, OPERATOR_GROUP
from shared.policy import Policy

Grade = Literal["blocks", "unknown", "remark"]


class Finding(NamedTuple):
    """One thing to know about an install."""

    grade: Grade
    text: str
    lacking: tuple[Lacking, ...] = ()
    """What the account of the group lacks; all that is needed where nobody knows what it has."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version that is to be installed, and where."""

    csv: Csv
    """As a member of its group."""
    steps: Sequence[Manifest]
    """The objects of its plan."""
    installed: Sequence[Manifest]
    """The objects that its installation makes besides, with the same rights."""
    group: OperatorGroup | None
    """The only one of the namespace, with the namespaces that it selects."""
    before: Mapping[Identity, Manifest]
    """What exists of all of these, by identity."""


def check_kinds(version: Version, present: PresentObjects, policy: Policy) -> Iterator[Finding]:
    """Kinds that no bundle may hold, or that the API server does not serve."""
    known = {*execution.RULES, CUSTOM_RESOURCE_DEFINITION.kind, "Secret"}
    defining = (*definitions(present.objects), *definitions(version.steps))
    brought = {CustomResourceDefinition(one).defined for one in defining}
    for one in version.steps:
        api_group, kind = group_kind(one)
        if kind in known:
            continue
        what, more = f"{kind} {name_of(one)}", policy.bundle_kinds
        if not bundle_kinds.is_allowed(kind, api_group, more):
            hint = bundle_kinds.how_to_allow(kind, api_group, more, policy.global_namespace)
            yield Finding("blocks", "; ".join(filter(None, (f"{what} cannot be a step of a plan", hint))))
        elif present.cluster is not None and present.kind_of(one) is None:
            yield Finding("blocks", f"{what}: the API server does not serve {one['apiVersion']}, Kind={kind}")
        elif present.cluster is None and api_group not in BUILT_IN and (api_group, kind) not in brought:
            yield Finding("unknown", f"{what}: nothing says whether the API server serves {one['apiVersion']}")


def check_stored(version: Version, present: PresentObjects, _: Policy) -> Iterator[Finding]:
    """What definitions do to what is stored, by the rules of the plan."""
    for new in definitions(version.steps):
        live = version.before.get(identity_of(new))
        if live is None:
            continue
        converts, objects = CustomResourceDefinition(live).converts_by_webhook, []
        for kind in stored.to_check(live, new):
            objects.append((kind, present.stored(kind, is_converted=converts)))
            if present.is_partial and not objects[-1][1]:
                yield Finding("unknown", f"the capture holds no {kind.kind} of {kind.api_version}: some may be stored")
        found = safety.judged(new, live, objects)
        yield from (Finding("blocks", one.text) for one in found.problems)
        if found.unnamed:
            yield Finding("blocks", f"{found.unnamed} more objects of {name_of(new)} become invalid")
        yield from (Finding("remark", one) for one in found.warnings)


def check_group(version: Version, present: PresentObjects, _: Policy) -> Iterator[Finding]:
    """Whether the group of the namespace can have the version as a member, and which namespaces it reaches."""
    csv, group = version.csv, version.group
    if group is None:
        return
    own = Group.of(group)
    if own.targets is None:
        yield Finding("unknown", f"OperatorGroup {group.name} does not say yet which namespaces it selects")
        return
    yield Finding("remark", f"reaches {', '.join(one or 'all namespaces' for one in own.targets) or 'no namespace'}")
    if why := install_modes.supports(csv.install_modes, csv.namespace, own.targets):
        yield Finding("blocks", f"{csv.name}: {why}")
    others = [Group.of(OperatorGroup(one)) for one in present.all_of(OPERATOR_GROUP)]
    result = provided_apis.intersection(
        provided_apis.apis_of(csv),
        own,
        [one for one in others if (one.namespace, one.name) != (own.namespace, own.name)],
    )
    if isinstance(result, provided_apis.Refused):
        yield Finding("blocks", f"{csv.name}: {result.message}")


def check_server(version: Version, present: PresentObjects, _: Policy) -> Iterator[Finding]:
    """Whether the API server is new enough, and serves the APIs that are no operator's."""
    if present.cluster is None:
        return
    if why := too_old(version.csv, present.cluster.version()):
        yield Finding("blocks", f"{version.csv.name}: {why}")
    for api in version.csv.native_apis:
        if present.cluster.find(f"{api.group}/{api.version}".lstrip("/"), api.kind) is None:
            yield Finding(
                "blocks", f"{version.csv.name}: the native API {api.kind}.{api.version}.{api.group} is missing"
            )


def check_account(version: Version, present: PresentObjects, _: Policy) -> Iterator[Finding]:
    """What the ServiceAccount of the group may not do; new definitions are made with our rights."""
    group = version.group
    if group is None or not group.service_account:
        return
    if not is_known(group, present):
        grade: Grade = "blocks" if present.cluster is not None else "unknown"
        yield Finding(grade, f"ServiceAccount {group.service_account} of OperatorGroup {group.name} is not there")
        return
    limited = [one for one in (*version.steps, *version.installed) if _is_limited(one, version)]
    lacks = tuple(lacking(limited, version.before.keys(), group, present))
    if lacks and (why := unread(group, present)):
        yield Finding("unknown", why, lacks)
    else:
        yield from (Finding("blocks", str(one), (one,)) for one in lacks)


def _is_limited(one: Manifest, version: Version) -> bool:
    """Whether the account writes it: of definitions those of others, where they change."""
    if one.get("kind") != CUSTOM_RESOURCE_DEFINITION.kind:
        return True
    live = version.before.get(identity_of(one))
    if live is None or crds.is_of(version.csv.namespace, CustomResourceDefinition(live)):
        return False
    return crds.changes(one, live)


Check = Callable[[Version, PresentObjects, Policy], Iterator[Finding]]
CHECKS: Final[Sequence[Check]] = (check_kinds, check_stored, check_group, check_server, check_account)
