"""Whether packages are as they are wanted: by the statuses that `olmf why` gives, so both say the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from eventing.diagnosis.doctor.finding import Check, Finding
from eventing.diagnosis.doctor.groups import missing_accounts
from eventing.diagnosis.status.chain import package_named_by
from eventing.diagnosis.status.extension_reader import extension_statuses
from eventing.diagnosis.status.generations import with_conflicts
from eventing.diagnosis.status.package_status import Code, PackageStatus, ref_of
from eventing.diagnosis.status.reader import Sources, package_statuses
from eventing.diagnosis.status.siblings import package_of, siblings
from shared.api.views import Csv, OperatorGroup
from shared.domain.command import Fix, olmf
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, Ref
from shared.ports import Cluster

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.workqueue import Listed

PATIENCE: Final = timedelta(minutes=10)
"""What is under way for longer waits for something."""
_CALM: Final = frozenset({Code.INSTALLED, Code.HELD, Code.PINNED})
"""As somebody wants it."""
_UNDER_WAY: Final = frozenset({
    Code.RESOLVING, Code.PULLING, Code.UNPACKING, Code.PLAN_UNFINISHED, Code.INSTALLING, Code.DELETING,
})  # fmt: skip


def check_packages(jobs: tuple[Listed, ...] = ()) -> Check:
    """The check of Subscriptions, versions and the accounts that install them.

    Jobs of the work queue know what fails before a status does.
    """

    def check(cluster: Cluster, now: datetime) -> Iterator[Finding]:
        found = list(_findings(package_statuses(Sources(cluster, jobs)), now))
        yield from found
        advised = {fix for one in found for fix in (one.fix, *one.more_fixes)}
        yield from missing_accounts(OperatorGroup.each(cluster.list(OPERATOR_GROUP)), advised)

    return check


def check_extensions(jobs: tuple[Listed, ...] = ()) -> Check:
    """The check of ClusterExtensions, and of whatever else runs the package of one."""

    def check(cluster: Cluster, now: datetime) -> Iterator[Finding]:
        sources = Sources(cluster, jobs)
        found = extension_statuses(sources, lists_catalogs=True)
        return _findings(with_conflicts(found, package_statuses(sources)) if found else found, now)

    return check


def check_doubled(cluster: Cluster, _: datetime) -> Iterator[Finding]:
    """Versions beside another one of their package that was installed elsewhere, for their namespace, too."""
    csvs = Csv.each(cluster.list(CLUSTER_SERVICE_VERSION))
    copies: dict[str, list[Csv]] = defaultdict(list)
    for one in csvs:
        if one.is_copy:
            copies[one.namespace].append(one)
    for one in csvs:
        if one.is_copy or one.is_leaving:
            continue
        package = package_named_by(one) or package_of(one)
        for copy in siblings(package, copies[one.namespace], one.name):
            ref = ref_of(CLUSTER_SERVICE_VERSION, one)
            state = f"works beside {copy.name}, which namespace {copy.origin} installed for this namespace, too"
            fix = Fix("keep one of them", olmf("uninstall", package, namespace=one.namespace))
            evidence = (ref_of(CLUSTER_SERVICE_VERSION, copy),)
            yield Finding(ref, state, "two operators do the same work", fix, reason="Doubled", evidence=evidence)


def _findings(statuses: Iterable[PackageStatus], now: datetime) -> Iterator[Finding]:
    explained: dict[tuple[str, str], Ref] = {}
    for one in statuses:
        if not _is_troubled(one, now):
            yield from _deprecated(one)
            continue
        ref = one.ref
        look = Fix("see what happened", olmf("why", f"{ref.kind}/{ref.name}", namespace=ref.namespace))
        fix, *more = one.fixes or (look,)
        first = explained.setdefault((one.namespace, _refusal(one)), ref) if _refusal(one) else ref
        evidence = tuple(dict.fromkeys(each for each in (*one.evidence, first) if each != ref))
        stands = f"runs {one.version}" if one.is_well else f"is {one.phase}"
        message = one.whole_message if first == ref else f"for the same reason as {first.kind} {first.name}"
        state = ": ".join(filter(None, (stands, message)))
        yield Finding(ref, state, _effect(one), fix, more_fixes=tuple(more), reason=str(one.code), evidence=evidence)


def _refusal(status: PackageStatus) -> str:
    """What is said of a conflict, the same of each Subscription in it; empty where there is none."""
    if status.code is not Code.UNSATISFIABLE:
        return ""
    words, _, lines = status.message.partition("\n")
    return lines or words


def _deprecated(status: PackageStatus) -> Iterator[Finding]:
    """What works, and what its catalog advises to leave."""
    if status.deprecated:
        state, effect = f"is deprecated: {status.deprecated}", "it may get no newer version, and may leave its catalog"
        fix = Fix("see what catalogs offer instead", olmf("list", "--available"))
        yield Finding(status.ref, state, effect, fix, reason="Deprecated")


def _is_troubled(status: PackageStatus, now: datetime) -> bool:
    if status.code in _CALM or (status.code is Code.PLAN_DELETED and status.is_well):
        return status.is_failing
    # why: a version that is tried again and again begins each phase anew
    moments = map(datetime.fromisoformat, filter(None, (status.not_working_since, status.since)))
    return status.code not in _UNDER_WAY or status.is_failing or now - min(moments, default=now) > PATIENCE


def _effect(status: PackageStatus) -> str:
    if status.code is Code.DOUBLED:
        return "only one of them can have the objects that both want"
    if status.is_well:
        return f"{status.version} works, and nothing newer is installed"
    if status.installed == status.version:
        return f"{status.version} does not work" if status.version else "nothing is installed"
    return f"{status.installed} is not upgraded" if status.installed else f"{status.version} is not installed"
