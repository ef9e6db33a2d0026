"""Reads which bundles a plan needs, what the Job of a bundle has come to, and which repairs its rights need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from shared import kinds, names
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, ConfigMap, InstallPlan, Job, Object, Pod, Role, RoleBinding
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack import result as unpack_result
from shared.domain.unpack.causes import causes, event_objects
from shared.domain.unpack.content import ExpectedBundle
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.registries import CONFIG_MAPS, Registries, TooLong, copied, mirrors_about
from shared.domain.unpack.result import Broken, Missing, Refused, Running, Stale, UnpackResult
from shared.domain.unpack.settings import Settings
from shared.kinds import Ref
from shared.ports import Cluster, Listing, Policy, Warnings


@dataclass(frozen=True, slots=True)
class Repair:
    """The writes that restore the RBAC of a Job: deletions first."""

    delete: tuple[Object, ...] = ()
    create: tuple[Manifest, ...] = ()
    replace: tuple[Manifest, ...] = ()


@dataclass(frozen=True, slots=True)
class UnpackState:
    """What the Job of a bundle has come to, and what its rights lack."""

    result: UnpackResult
    repair: Repair = Repair()


def read_bundles(
    plan: InstallPlan, cluster: Cluster, limits: Settings, policy: Policy
) -> Iterator[tuple[str, Unpacking]]:
    """Each bundle of the plan by name, unless its catalog was deleted: nothing says then with which secrets to pull."""
    place, user = policy.global_namespace, policy.unpack_user
    for lookup in plan.lookups:
        key, expected = CatalogKey(*lookup.catalog), ExpectedBundle(lookup.identifier)
        if source := _source(key, cluster):
            secrets, image = source.secrets, policy.unpack_image
            yield lookup.identifier, Unpacking(lookup.path, key, secrets, image, limits, expected, place, user)


def _source(key: CatalogKey, cluster: Cluster) -> CatalogSource | None:
    return CatalogSource.of(kinds.CATALOG_SOURCE.look_up(cluster.get, key.name, key.namespace))


def read_unpacking(
    desired: Unpacking, config_map: ConfigMap | None, cluster: Cluster, now: datetime, *, warnings: Warnings
) -> UnpackState:
    """The state of the Job. More than one read is made only to start a Job, or when it takes its time or failed."""
    jobs = _jobs(desired, config_map, cluster)
    match unpack_result.judge(desired, jobs, now):
        case Running() as running if not unpack_result.is_fresh(running, now):
            pods = _pods(desired, running.job, cluster)
            result = unpack_result.waiting(running, pods, _causes(running.job, pods, warnings))
            return UnpackState(result, repair(desired, cluster) if unpack_result.is_slow(running, now) else Repair())
        case Missing() as missing:
            try:
                informed = replace(missing, registries=_registries(desired, cluster))
            except TooLong as error:
                return UnpackState(Refused(str(error)))
            return UnpackState(informed, repair(desired, cluster) if config_map is not None else Repair())
        case Broken() as broken if _is_outdated(desired, broken, cluster):
            return UnpackState(Stale(broken.job))
        case Broken() as broken:
            pods = _pods(desired, broken.job, cluster)
            return UnpackState(unpack_result.explained(broken, pods, _causes(broken.job, pods, warnings)))
        case other:
            return UnpackState(other)


def repair(desired: Unpacking, cluster: Cluster) -> Repair:
    """Restore RBAC that somebody changed or deleted: the Role gets its rule, a wrong binding is created again.

    Foreign rules are removed: to keep them we would need rights that we do not have.
    """
    role, account, binding = desired.access()
    found, live_account, bound = cluster.get_all([Ref.of(one) for one in (role, account, binding)])
    live_role, live_binding = Role.of(found), RoleBinding.of(bound)
    is_lacking = live_role is not None and any(rule not in live_role.rules for rule in role["rules"])
    is_foreign = live_binding is not None and any(live_binding.raw.get(key) != binding[key] for key in _BOUND)
    absent = (
        *((role,) if live_role is None else ()),
        *((account,) if live_account is None else ()),
        *((binding,) if live_binding is None or is_foreign else ()),
    )
    return Repair(
        delete=(live_binding,) if live_binding is not None and is_foreign else (),
        create=absent,
        replace=({**live_role.raw, "rules": role["rules"]},) if live_role is not None and is_lacking else (),
    )


_BOUND = ("subjects", "roleRef")


def _jobs(desired: Unpacking, config_map: ConfigMap | None, cluster: Cluster) -> Sequence[Job]:
    """The Jobs of the bundle; a Job of an older version of this program has its name, but not the label."""
    place = desired.catalog.namespace
    found = Job.each(cluster.list(kinds.JOB, place, labels={names.UNPACK_REF: desired.name}))
    old = None if found or config_map is None else Job.of(cluster.get(kinds.JOB.ref(desired.name, place)))
    return found if old is None else (old,)


def _registries(desired: Unpacking, cluster: Cluster) -> Registries:
    """How the Job reaches registries; TooLong when it cannot be told."""
    sets = chain.from_iterable(cluster.list_all(list(map(Listing, kinds.MIRROR_SETS))))
    return Registries(mirrors_about(desired.path, sets), _variables(desired, cluster))


def _variables(desired: Unpacking, cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """What a Job in another namespace cannot read itself."""
    if desired.is_in_global_namespace:
        return ()
    place = desired.global_namespace
    return copied({one: ConfigMap(cluster.get(kinds.CONFIG_MAP.ref(one, place)) or {}) for one in CONFIG_MAPS}, place)


def _pods(desired: Unpacking, job: Job, cluster: Cluster) -> Sequence[Pod]:
    return Pod.each(cluster.list(kinds.POD, desired.catalog.namespace, labels={"job-name": job.name}))


def _causes(job: Job, pods: Sequence[Pod], warnings: Warnings) -> tuple[str, ...]:
    """Why the Job does not end, as the Events about it and its newest Pods say."""
    return causes(job, pods, {ref: warnings.about(ref, uid) for ref, uid in event_objects(job, pods)})


def _is_outdated(desired: Unpacking, broken: Broken, cluster: Cluster) -> bool:
    """Whether the catalog has changed since the failure, so that unpacking may succeed now."""
    source = _source(desired.catalog, cluster)
    changed = source.connection.since if source else None
    return changed is not None and changed > broken.since
