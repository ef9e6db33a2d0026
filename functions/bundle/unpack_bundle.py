"""Unpack the bundles that a namespace is about to install.

Reads:  what `resolve_subscriptions` reads; unpack ConfigMaps and Jobs; pods and RBAC of Jobs that are slow or failed.
Writes: the unpack objects; the conditions `BundleUnpacking` and `BundleUnpackFailed`, and an Event per failure.
Emits:  `io.olmf.bundles.unpacked` when a component has all its bundles.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from shared import kinds, names
from shared.api.manifest import Manifest, name_of, uid_of, version_of
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.scene import look as look_around
from shared.domain.resolver.shelves import IndexedShelf
from shared.domain.unpack import verdict as verdicts
from shared.domain.unpack.content import Promise
from shared.domain.unpack.look import Look, look
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.report import summarise
from shared.domain.unpack.settings import settings
from shared.domain.unpack.verdict import Broken, Unpacked, Verdict
from shared.ports import Bundles, Catalogs, Clock, Cluster, ImageSource, Policy, Unavailable
from shared.step import Apply, Create, Delete, Emit, Outcome, Record, Ref, Replace, SetStatus, Wait, Write

_DIRECT_RETRY = timedelta(minutes=1)


def unpack_bundle(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, bundles: Bundles, clock: Clock, policy: Policy
) -> Outcome:
    """Write the unpack objects and the conditions of one namespace (key: the Namespace)."""
    scene = look_around(
        cluster, lambda at: IndexedShelf(catalogs, at.reference, ImageSource(*at.origin)), ref.name, policy
    )
    resolution, limits, now = resolve(scene.inputs), settings(scene.groups, policy.unpack_timeout), clock.now()
    found: dict[str, Verdict] = {}
    writes: list[Write] = []
    for chosen in resolution.chosen:
        wanted = Unpacking.of(chosen, Promise.of(chosen, scene.subscriptions), policy.unpack_image, limits)
        config_map = cluster.get(kinds.CONFIG_MAP.ref(wanted.name, wanted.catalog.namespace))
        verdict = verdicts.known(wanted, config_map)
        if verdict is None and policy.unpack == "direct":
            verdict, filled = _unpack_here(wanted, bundles)
            writes += map(Apply, filled)
        seen = look(wanted, config_map, cluster, now) if verdict is None else Look(verdict)
        found[chosen.bundle.name] = seen.verdict
        writes += _writes(wanted, seen)
    summary = summarise(scene.subscriptions, resolution, found, now)
    for told in summary.told:
        subscription = kinds.SUBSCRIPTION.ref(name_of(told.subscription), ref.name)
        writes.append(SetStatus(subscription, told.status, version_of(told.subscription)))
        writes += [Record(subscription, "Warning", "BundleUnpackFailed", told.failure)] if told.failure else []
    emits = (Emit(names.BUNDLES_UNPACKED, ref),) if summary.is_any_ready else ()
    wait = Wait(summary.waits, summary.since or now) if summary.waits else None
    spoken = "; ".join(f"{name}: {verdicts.spoken(one)}" for name, one in found.items())
    return Outcome(tuple(writes), emits, again_in=summary.again_in, verdict=spoken, wait=wait)


def _unpack_here(wanted: Unpacking, bundles: Bundles) -> tuple[Verdict, tuple[Manifest, ...]]:
    """The verdict on the bundle, and its ConfigMap, also of one that is refused: it is pulled only once."""
    match bundles.config_map_payload(ImageSource(*wanted.origin)):
        case Unavailable(reason, message):
            return Broken(reason, message, _DIRECT_RETRY), ()
        case payload:
            filled = wanted.config_map(payload)
            return verdicts.known(wanted, filled) or Unpacked(filled), (filled,)


def _writes(wanted: Unpacking, seen: Look) -> Iterator[Write]:
    yield from (Delete(Ref.of(one), uid_of(one)) for one in seen.repair.delete)
    yield from map(Replace, seen.repair.replace)
    yield from map(Create, (*seen.repair.create, *verdicts.to_create(wanted, seen.verdict)))
    for job in verdicts.to_delete(seen.verdict):
        yield Delete(kinds.JOB.ref(name_of(job), wanted.catalog.namespace), uid_of(job))
