"""Unpack the bundles that a namespace is about to install.

Reads:  what `resolve_subscriptions` reads; unpack ConfigMaps and Jobs; their pods, Events and RBAC when in doubt.
Writes: the unpack objects; the conditions `BundleUnpacking` and `BundleUnpackFailed`, an Event per failure or refusal.
Emits:  `io.olmf.bundles.unpacked` when a component has all its bundles.
"""

from __future__ import annotations

from functions.bundle._unpacked import unpacked
from shared import kinds, names
from shared.api.manifest import name_of, resource_version_of
from shared.domain.resolver.resolve import resolve
from shared.domain.unpack import result as unpack_result
from shared.domain.unpack.content import ExpectedBundle
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.report import in_turn, summarise
from shared.domain.unpack.result import UnpackResult
from shared.domain.unpack.settings import settings
from shared.ports import Attempt, Bundles, Catalogs, Clock, Cluster, Policy, Warnings, WriteFailure
from shared.reading.namespace import read_namespace
from shared.step import Emit, Outcome, Record, Ref, SetStatus, Wait, Write


def unpack_bundle(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, bundles: Bundles, clock: Clock,
    *, policy: Policy, attempt: Attempt, warnings: Warnings,
) -> Outcome:  # fmt: skip
    """Write the unpack objects and the conditions of one namespace (key: the Namespace)."""
    snapshot = read_namespace(cluster, catalogs, ref.name, policy)
    resolution, limits, now = resolve(snapshot.inputs), settings(snapshot.groups, policy.unpack_timeout), clock.now()
    found: dict[str, UnpackResult] = {}
    home = policy.global_namespace
    writes: list[Write] = []
    refusal = _refusal(attempt)
    for chosen in in_turn(resolution.chosen, now):
        expected = ExpectedBundle.of(chosen, snapshot.subscriptions)
        wanted = Unpacking.of(chosen, expected, limits, policy.unpack_image, home=home, user=policy.unpack_user)
        verdict, unpacking = unpacked(wanted, cluster, bundles, now, warnings=warnings, policy=policy)
        # why: objects of other bundles in that namespace are alike, and would be refused, too
        if refusal and unpacking and refusal.ref.namespace == wanted.catalog.namespace:
            verdict, unpacking = unpack_result.refused(wanted, refusal.ref, refusal.message), ()
        found[chosen.bundle.name] = verdict
        writes += unpacking
    summary = summarise(snapshot.subscriptions, resolution, found, now)
    for told in summary.told:
        subscription = kinds.SUBSCRIPTION.ref(name_of(told.subscription), ref.name)
        writes.append(SetStatus(subscription, told.status, resource_version_of(told.subscription)))
        writes += [Record(subscription, "Warning", "BundleUnpackFailed", told.failure)] if told.failure else []
    emits = (Emit(names.BUNDLES_UNPACKED, ref),) if summary.is_any_ready else ()
    wait = Wait(summary.waits, summary.since or now) if summary.waits else None
    spoken = "; ".join(f"{name}: {unpack_result.spoken(one)}" for name, one in found.items())
    return Outcome(tuple(writes), emits, again_in=summary.again_in, verdict=spoken, wait=wait)


def _refusal(attempt: Attempt) -> WriteFailure | None:
    """The refused write of an unpack object, which a new read does not help."""
    failure = attempt.failure
    is_final = failure and failure.kind in ("forbidden", "invalid") and failure.ref.kind != kinds.SUBSCRIPTION.kind
    return failure if is_final else None
