"""Unpack the bundles that a namespace is about to install.

Reads:  what `resolve_subscriptions` reads; unpack ConfigMaps and Jobs; their pods, Events and RBAC when in doubt.
Writes: the unpack objects; the conditions `BundleUnpacking` and `BundleUnpackFailed`, and with them what the status
        says of the catalogs (`track_subscription` writes that, too); an Event per failure or refusal.
Emits:  `io.olmf.bundles.unpacked` when a component has all its bundles; `io.olmf.bundle.requested` for those that a
        worker pulls.
"""

from __future__ import annotations

from functions.bundle._unpacked import pulls, unpacked
from shared import kinds, names
from shared.domain.resolver.resolve import resolve
from shared.domain.subscription import health
from shared.domain.unpack import result as unpack_result
from shared.domain.unpack.content import ExpectedBundle
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.report import fairly_ordered, statements, summarise
from shared.domain.unpack.result import UnpackResult
from shared.domain.unpack.settings import settings
from shared.ports import Attempt, Catalogs, Clock, Cluster, Policy, Warnings, WriteFailure
from shared.reading.namespace import read_namespace
from shared.step import Emit, Outcome, Record, Ref, SetStatus, Wait, Write


def unpack_bundle(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock,
    *, policy: Policy, attempt: Attempt, warnings: Warnings,
) -> Outcome:  # fmt: skip
    """Write the unpack objects and the conditions of one namespace (key: the Namespace)."""
    snapshot = read_namespace(cluster, catalogs, ref.name, policy)
    resolution, limits, now = resolve(snapshot.inputs), settings(snapshot.groups, policy.unpack_timeout), clock.now()
    found: dict[str, UnpackResult] = {}
    global_namespace = policy.global_namespace
    writes: list[Write] = []
    emits: list[Emit] = []
    refusal = _refusal(attempt)
    for chosen in fairly_ordered(resolution.chosen, now):
        expected = ExpectedBundle(chosen.bundle.name)
        desired = Unpacking.of(
            chosen, expected, limits, policy.unpack_image, global_namespace=global_namespace, user=policy.unpack_user
        )
        result, unpacking = unpacked(desired, cluster, now, warnings=warnings, policy=policy)
        # why: objects of other bundles in that namespace are alike, and would be refused, too
        if refusal and unpacking and refusal.ref.namespace == desired.catalog.namespace:
            result, unpacking = unpack_result.refused(desired, refusal.ref, refusal.message), ()
        found[chosen.bundle.name] = result
        writes += unpacking
        emits += pulls(desired, result)
    summary = summarise(snapshot.subscriptions, resolution, found, now)
    for statuses in summary.statuses:
        subscription = kinds.SUBSCRIPTION.ref(statuses.subscription.name, ref.name)
        status = health.with_catalogs(statuses.status, statuses.subscription, snapshot.sources, now)
        writes.append(SetStatus(subscription, status, statuses.subscription.resource_version))
        writes += [Record(subscription, "Warning", "BundleUnpackFailed", statuses.failure)] if statuses.failure else []
    emits += [Emit(names.BUNDLES_UNPACKED, ref)] if summary.is_any_ready else []
    wait = Wait(summary.waits, summary.since or now, about=summary.about) if summary.waits else None
    found_statements = tuple(statements(ref.name, resolution, found))
    return Outcome(tuple(writes), tuple(emits), again_in=summary.again_in, wait=wait, statements=found_statements)


def _refusal(attempt: Attempt) -> WriteFailure | None:
    """The refused write of an unpack object, which a new read does not help."""
    failure = attempt.failure
    is_final = (
        failure
        and failure.kind in ("forbidden", "invalid", "unanswered")
        and failure.ref.kind != kinds.SUBSCRIPTION.kind
    )
    return failure if is_final else None
