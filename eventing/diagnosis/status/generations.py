"""A package that both generations of OLM run, by a Subscription or version and by a ClusterExtension; pure.

Wherever each of them is: definitions and cluster roles, which both would write, belong to the whole cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eventing.diagnosis.status.package_status import Code, PackageStatus
from shared.domain.command import Fix, olmf
from shared.kinds import Ref


def with_conflicts(statuses: Sequence[PackageStatus], others: Sequence[PackageStatus]) -> list[PackageStatus]:
    """The statuses; of each whose package the other generation runs, according to `others`, it is told first."""
    return [_doubled(one, found) if (found := _conflicting(one, others)) else one for one in statuses]


def move(status: PackageStatus) -> Fix | None:
    """What hands it to the other generation; None for a version that nobody subscribes to."""
    if status.extension:
        return Fix(f"move {status.extension} to a Subscription", olmf("extension", "release", status.extension))
    words = ("extension", "adopt", status.subscription)
    adopt = olmf(*words, namespace=status.namespace)
    return Fix(f"move {status.subscription} to a ClusterExtension", adopt) if status.subscription else None


def removal(status: PackageStatus) -> Fix:
    """What takes it away."""
    package = olmf("uninstall", status.package, namespace=status.namespace)
    command = olmf("extension", "uninstall", status.extension) if status.extension else package
    return Fix(f"take {named(status.ref)} away", command)


def named(ref: Ref) -> str:
    """Kind and name, as people write them."""
    return f"{ref.kind} {f'{ref.namespace}/' if ref.namespace else ''}{ref.name}"


def _conflicting(status: PackageStatus, others: Sequence[PackageStatus]) -> list[PackageStatus]:
    if not _has_objects(status):
        return []
    is_new = bool(status.extension)
    same = (one for one in others if one.package == status.package != "" and bool(one.extension) is not is_new)
    return [one for one in same if _has_objects(one) and not (_moves(status, one) or _moves(one, status))]


def _has_objects(status: PackageStatus) -> bool:
    """Whether it has a version, or one is on its way: nothing else can be in the way of anybody."""
    return bool(status.installed or status.version)


def _moves(status: PackageStatus, other: PackageStatus) -> bool:
    """Whether the first is what the other one is being moved to."""
    return status.moves in (f"{other.namespace}/{other.subscription}", other.extension) if status.moves else False


def _doubled(status: PackageStatus, conflicting: Sequence[PackageStatus]) -> PackageStatus:
    refs = tuple(one.ref for one in conflicting)
    run, number = ("runs", "two") if len(refs) == 1 else ("run", "several")
    who = " and ".join(map(named, refs))
    sentence = f"{who} {run} {status.package}, too, so that {number} owners want the same objects"
    return replace(
        status,
        code=Code.DOUBLED,
        message="; ".join(filter(None, (sentence, status.message))),
        brief=f"{sentence}; {status.brief}" if status.brief else "",
        evidence=tuple(dict.fromkeys((*status.evidence, *refs))),
        fixes=tuple(map(removal, (*conflicting, status))),
    )
