"""Checks a bundle that a Job unpacks: its state, and the repairs it needs; reads only through its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

import orjson

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, instant, name_of
from shared.domain.unpack import verdict as verdicts
from shared.domain.unpack.causes import Warnings, causes
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.registries import Registries, copied
from shared.domain.unpack.verdict import Broken, Missing, Refused, Running, Stale, Verdict
from shared.kinds import Kind, Ref

_MIRROR_FIELDS: Final = ("imageDigestMirrors", "imageTagMirrors")


class Objects(Protocol):
    """The two reads of the cluster; each costs one request."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist."""
        ...

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        """All objects of a kind in a namespace."""
        ...


@dataclass(frozen=True, slots=True)
class Repair:
    """The writes that restore the RBAC of a Job: deletions first."""

    delete: tuple[ReadOnly, ...] = ()
    create: tuple[Manifest, ...] = ()
    replace: tuple[Manifest, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a check."""

    verdict: Verdict
    repair: Repair = Repair()


def look(
    wanted: Unpacking, config_map: ReadOnly | None, objects: Objects, now: datetime, *, warnings: Warnings
) -> Look:
    """The state of the Job. More than one read is made only to start a Job, or when it takes its time or failed."""
    jobs = _jobs(wanted, config_map, objects)
    match verdicts.judge(wanted, jobs, now):
        case Running() as running if not verdicts.is_fresh(running, now):
            pods = _pods(wanted, running.job, objects)
            told = verdicts.waiting(running, pods, causes(running.job, pods, warnings))
            return Look(told, repair(wanted, objects) if verdicts.is_slow(running, now) else Repair())
        case Missing() as missing:
            try:
                informed = replace(missing, registries=_registries(wanted, objects))
            except ValueError as error:
                return Look(Refused(str(error)))
            return Look(informed, repair(wanted, objects) if config_map is not None else Repair())
        case Broken() as broken if _is_outdated(wanted, broken, objects):
            return Look(Stale(broken.job))
        case Broken() as broken:
            pods = _pods(wanted, broken.job, objects)
            return Look(verdicts.explained(broken, pods, causes(broken.job, pods, warnings)))
        case other:
            return Look(other)


def repair(wanted: Unpacking, objects: Objects) -> Repair:
    """Restore RBAC that somebody changed or deleted: the Role gets its rule, a wrong binding is created again.

    Foreign rules are removed: to keep them we would need rights that we do not have.
    """
    role, account, binding = wanted.access()
    live_role, live_account, live_binding = (objects.get(Ref.of(one)) for one in (role, account, binding))
    is_lacking = live_role is not None and any(rule not in (live_role.get("rules") or ()) for rule in role["rules"])
    is_foreign = live_binding is not None and any(live_binding.get(key) != binding[key] for key in _BOUND)
    absent = (
        *((role,) if live_role is None else ()),
        *((account,) if live_account is None else ()),
        *((binding,) if live_binding is None or is_foreign else ()),
    )
    return Repair(
        delete=(live_binding,) if live_binding is not None and is_foreign else (),
        create=absent,
        replace=({**live_role, "rules": role["rules"]},) if live_role is not None and is_lacking else (),
    )


_BOUND = ("subjects", "roleRef")


def _jobs(wanted: Unpacking, config_map: ReadOnly | None, objects: Objects) -> Sequence[Manifest]:
    """The Jobs of the bundle; a Job of an older version of this program has its name, but not the label."""
    place = wanted.catalog.namespace
    found = objects.list(kinds.JOB, place, labels={names.UNPACK_REF: wanted.name})
    old = None if found or config_map is None else objects.get(kinds.JOB.ref(wanted.name, place))
    return found if old is None else (old,)


def _registries(wanted: Unpacking, objects: Objects) -> Registries:
    """How the Job reaches registries; ValueError when it cannot be told."""
    sets = (one for kind in kinds.MIRROR_SETS for one in objects.list(kind))
    variables = () if wanted.is_at_home else copied(objects.get, wanted.home)
    return Registries(mirrors_about(wanted.path, sets), variables)


def _pods(wanted: Unpacking, job: ReadOnly, objects: Objects) -> Sequence[Manifest]:
    return objects.list(kinds.POD, wanted.catalog.namespace, labels={"job-name": name_of(job)})


def _is_outdated(wanted: Unpacking, broken: Broken, objects: Objects) -> bool:
    """Whether the catalog has changed since the failure, so that unpacking may succeed now."""
    source = kinds.CATALOG_SOURCE.look_up(objects.get, wanted.catalog.name, wanted.catalog.namespace) or {}
    changed = instant(((source.get("status") or {}).get("connectionState") or {}).get("lastConnect"))
    return changed is not None and changed > broken.since


def mirrors_about(image: str, sets: Iterable[ReadOnly]) -> str:
    """The mirror sets that apply to an image, reduced to it, as a JSON list; empty when none does."""
    found = [
        {"spec": {field: listed}}
        for one in sets
        for field in _MIRROR_FIELDS
        if (listed := list(_about(image, one, field)))
    ]
    return orjson.dumps(found).decode() if found else ""


def _about(image: str, mirror_set: ReadOnly, field: str) -> Iterator[ReadOnly]:
    for one in (mirror_set.get("spec") or {}).get(field) or ():
        source = str(one.get("source") or "")
        host = image.partition("/")[0].partition(":")[0]
        is_wildcard = source.startswith("*.") and host.endswith(source[1:])
        if is_wildcard or (source and image.startswith(tuple(f"{source}{end}" for end in "/:@"))):
            yield one
