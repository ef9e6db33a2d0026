"""Get the bundles that a namespace is about to install out of their images."""

from __future__ import annotations

from datetime import datetime, timedelta

from shared import kinds, names
from shared.api.manifest import Manifest, name_of, uid_of, version_of
from shared.domain.resolver import resolve
from shared.domain.resolver.scene import look
from shared.domain.unpack import verdict as verdicts
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.report import summarise
from shared.domain.unpack.settings import settings
from shared.domain.unpack.verdict import Broken, Running, Unpacked, Verdict
from shared.ports import Bundles, Catalogs, Clock, Cluster, ImageSource, Policy, Unavailable
from shared.step import Apply, Create, Delete, Emit, Outcome, Record, Ref, SetStatus, Wait, Write

_DIRECT_RETRY = timedelta(minutes=1)


def unpack_bundle(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, bundles: Bundles, clock: Clock, policy: Policy
) -> Outcome:
    """Get the bundles that a namespace is about to install out of their images.

    Reads:  what `resolve_subscriptions` reads; unpack ConfigMaps, Jobs, and the pods of slow Jobs.
    Writes: the unpack objects; the conditions `BundleUnpacking` and `BundleUnpackFailed`, and an Event per failure.
    Emits:  `io.olmf.bundles.unpacked` when a component has all its bundles.
    """
    scene = look(
        cluster, lambda at, name: catalogs.package(at.reference, name, ImageSource(*at.origin)), ref.name, policy
    )
    resolution, limits, now = resolve(scene.inputs), settings(scene.groups, policy.unpack_timeout), clock.now()
    found: dict[str, Verdict] = {}
    writes: list[Write] = []
    for chosen in resolution.chosen:
        wanted = Unpacking.of(chosen, policy.unpack_image, limits)
        config_map = cluster.get(kinds.CONFIG_MAP.ref(wanted.name, wanted.catalog.namespace))
        verdict = verdicts.known(wanted, config_map)
        if verdict is None and policy.unpack == "direct":
            verdict = _unpack_here(wanted, bundles)
        found[chosen.bundle.name] = verdict or _unpack_in_job(wanted, cluster, now)
        writes += _writes(wanted, config_map, found[chosen.bundle.name])
    summary = summarise(scene.subscriptions, resolution, found, now)
    for told in summary.told:
        subscription = kinds.SUBSCRIPTION.ref(name_of(told.subscription), ref.name)
        writes.append(SetStatus(subscription, told.status, version_of(told.subscription)))
        writes += [Record(subscription, "Warning", "BundleUnpackFailed", told.failure)] if told.failure else []
    emits = (Emit(names.BUNDLES_UNPACKED, ref),) if summary.is_any_ready else ()
    wait = Wait(summary.waits, summary.since or now) if summary.waits else None
    return Outcome(tuple(writes), emits, again_in=summary.again_in, wait=wait)


def _unpack_here(wanted: Unpacking, bundles: Bundles) -> Verdict:
    match bundles.config_map_payload(ImageSource(*wanted.origin)):
        case Unavailable(reason, message):
            return Broken(reason, message, _DIRECT_RETRY)
        case payload:
            return Unpacked(wanted.config_map(payload))


def _unpack_in_job(wanted: Unpacking, cluster: Cluster, now: datetime) -> Verdict:
    place = wanted.catalog.namespace
    jobs = cluster.list(kinds.JOB, place, labels={names.UNPACK_REF: wanted.name})
    verdict = verdicts.judge(wanted, jobs, now)
    if isinstance(verdict, Running) and verdicts.is_slow(verdict, now):
        return verdicts.waiting(verdict, cluster.list(kinds.POD, place, labels={"job-name": name_of(verdict.job)}))
    return verdict


def _writes(wanted: Unpacking, config_map: Manifest | None, verdict: Verdict) -> tuple[Write, ...]:
    if isinstance(verdict, Unpacked):
        return () if verdict.config_map is config_map else (Apply(verdict.config_map),)
    place = wanted.catalog.namespace
    deleted = (Delete(kinds.JOB.ref(name_of(job), place), uid_of(job)) for job in verdicts.to_delete(verdict))
    return (*map(Create, verdicts.to_create(wanted, verdict)), *deleted)
