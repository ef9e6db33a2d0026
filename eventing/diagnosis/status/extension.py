"""Decides where a ClusterExtension of OLM v1 stands, why it does not go on and what helps, as of a package; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from eventing.diagnosis.status.decider import WORKS, timed
from eventing.diagnosis.status.package_status import Code, Package, PackageStatus
from shared import names
from shared.api.views import ABSENT, CatalogSource, ClusterExtension, ClusterObjectSet, StoredCondition
from shared.domain.command import Command, Fix, kubectl, olmf
from shared.domain.extension.decision import Decision, Failed, Target, request_for
from shared.domain.extension.deprecation import DEPRECATED
from shared.domain.extension.model import CatalogView
from shared.domain.extension.relaxed import relaxations
from shared.domain.extension.report import AVAILABLE, PROGRESSING
from shared.domain.extension.revisions import Revisions, bundle_of
from shared.domain.extension.trace import sentences
from shared.kinds import CLUSTER_CATALOG, CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, Ref

if TYPE_CHECKING:  # why: the queue and the journal are not needed to decide
    from eventing.diagnosis.why.facts import LastRun
    from eventing.workqueue import Listed

_CHANGE: Final = "when the ClusterExtension, a catalog or a revision changes"
_EDIT: Final = "when the ClusterExtension is edited"
_SETTLED: Final = ("Succeeded", "RollingOut")
"""What `Progressing` says where no other revision is on its way; the latter while objects of it are not ready."""
NO_CATALOG: Final = "there is no ClusterCatalog to install from"
_READY: Final = "when the objects of the revision are ready"


@dataclass(frozen=True, slots=True)
class ExtensionRead:
    """What was read about one extension."""

    extension: ClusterExtension
    revisions: Revisions = field(default_factory=Revisions)
    decision: Decision | None = None
    """What it would be given now; None: catalogs were not read."""
    catalogs: tuple[CatalogView, ...] = ()
    lacks_catalogs: bool = False
    """The cluster has no ClusterCatalog at all, as far as that was read."""
    images: tuple[CatalogSource, ...] = ()
    """Then: the CatalogSources that one may be made of, first those that offer the package."""
    job: Listed | None = None
    """The job about it, or about one of its revisions, whose last run failed."""
    due: str = ""
    """When the queue runs a step on one of these again."""
    last: tuple[LastRun, ...] = ()
    """Where steps left its newest revision, then itself, as the journal has it."""


@dataclass(frozen=True, slots=True)
class Link:
    """One thing that is waited for, and what it says."""

    ref: Ref
    message: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a reason of `Progressing` means."""

    code: Code
    until: str = ""
    is_stuck: bool = False
    """Only a person can help."""


OF_REASON: Final[Mapping[str, _Rule]] = {
    "RollingOut": _Rule(Code.INSTALLING, _READY),
    "Retrying": _Rule(Code.RETRYING),
    "InvalidConfiguration": _Rule(Code.CONFIGURATION_INVALID, _EDIT, is_stuck=True),
    "Blocked": _Rule(Code.ROLLOUT_BLOCKED, _EDIT, is_stuck=True),
    "ProgressDeadlineExceeded": _Rule(Code.ROLLOUT_LATE, _READY),
}
"""By the reason of `Progressing`, of an extension that is not as it should be."""
_RESOLVING: Final = _Rule(Code.RESOLVING)
_DELETING: Final = _Rule(Code.DELETING, "when its objects are gone")
_REFUSED: Final = _Rule(Code.ROLLOUT_REFUSED)
_UNAVAILABLE: Final = _Rule(Code.UNAVAILABLE, _READY)
_INSTALLED: Final = _Rule(Code.INSTALLED)


def decide_extension(read: ExtensionRead) -> PackageStatus:
    """The status of an extension. Without catalogs nothing is advised about them; everything else is the same."""
    phase, rule, condition = _cause(read)
    status = replace(
        _identity(read, phase),
        code=rule.code,
        reason=condition.reason,
        since=condition.since.isoformat(timespec="seconds") if condition.since else "",
        message="; ".join(dict.fromkeys(filter(None, _messages(read, rule, condition)))),
        until=_CHANGE if rule.code is Code.RETRYING and isinstance(read.decision, Failed) else rule.until,
        evidence=tuple(dict.fromkeys((_ref(read.extension), *_evidence(read, rule)))),
        fixes=tuple(_fixes(read, rule)),
        is_done=rule.code is Code.INSTALLED,
        is_stuck=rule.is_stuck,
        is_failing=read.job is not None,
    )
    return timed(status, Package(None, job=read.job, due=read.due, last=read.last))


def reasons(read: ExtensionRead) -> tuple[str, ...]:
    """Which rule removed which bundles, as sentences; none when catalogs were not read."""
    resolution = read.decision.resolution if read.decision else None
    if resolution is None:
        return ()
    kept = read.revisions.installed
    return sentences(resolution, request_for(read.extension), bundle_of(kept) if kept else None)


def chain(read: ExtensionRead) -> Iterator[Link]:
    """What it waits for: catalogs that cannot be asked, and revisions that are rolled out or go."""
    for ref, catalog in _unasked(read):
        yield Link(ref, catalog.problem)
    for one in _waited_for(read):
        states = (one.condition(kind) for kind in (PROGRESSING, AVAILABLE))
        found = [each for each in states if each.message and each.reason not in ("Succeeded", "ProbesSucceeded")]
        yield Link(CLUSTER_OBJECT_SET.ref(one.name), "; ".join(f"{each.reason}: {each.message}" for each in found))


def _cause(read: ExtensionRead) -> tuple[str, _Rule, StoredCondition]:
    """The phase, the rule that applies, and the condition that states its reason."""
    extension = read.extension
    progressing, available = (extension.condition(kind) for kind in (PROGRESSING, AVAILABLE))
    if extension.is_deleted:
        return "Deleting", _DELETING, ABSENT
    if progressing.observed_generation != extension.generation or not progressing.type:
        return "Resolving", _RESOLVING, ABSENT
    if available.status == "False" and progressing.reason in _SETTLED and not read.revisions.rolling:
        return "Unavailable", _UNAVAILABLE, available
    if progressing.reason == "Succeeded":
        return WORKS, _INSTALLED, progressing
    if progressing.reason == "Retrying" and not isinstance(read.decision, Failed) and _is_of_revision(read):
        return "Retrying", _REFUSED, progressing
    return progressing.reason, OF_REASON.get(progressing.reason, _RESOLVING), progressing


def _is_of_revision(read: ExtensionRead) -> bool:
    """Whether it repeats what its newest revision says, which is rolled out, or was and met another owner since."""
    newest = next(reversed(read.revisions.active), ClusterObjectSet({})).condition(PROGRESSING)
    message = read.extension.condition(PROGRESSING).message
    return newest.reason == "Retrying" and (bool(read.revisions.rolling) or newest.message == message)


def _identity(read: ExtensionRead, phase: str) -> PackageStatus:
    extension, kept = read.extension, read.revisions.installed
    deprecated = extension.condition(DEPRECATED)
    installed = bundle_of(kept).name if kept else ""
    rolling = read.revisions.rolling
    target = read.decision.bundle.name if isinstance(read.decision, Target) and phase != WORKS else ""
    return PackageStatus(
        extension.install_namespace, "", request_for(extension).package, installed,
        (bundle_of(rolling[-1]).name if rolling else target) or installed, phase,
        channel=", ".join(request_for(extension).channels), extension=extension.name,
        moves=extension.annotation(names.ADOPTS) or "",
        deprecated="; ".join(deprecated.message.splitlines()) if deprecated.is_true else "",
        catalog=read.decision.resolution.catalog if read.decision and read.decision.resolution else "",
    )  # fmt: skip


def _messages(read: ExtensionRead, rule: _Rule, condition: StoredCondition) -> Iterator[str]:
    """What is to be said, the gravest first."""
    if rule.code is Code.DELETING:
        yield from (f"{one.name}: {one.condition(PROGRESSING).message}" for one in read.revisions.all)
    elif rule.code is Code.INSTALLING:
        probed = _rolling(read).condition(AVAILABLE)
        yield probed.message if probed.reason == "ProbeFailure" else condition.message
    elif rule.code is not Code.INSTALLED:
        yield condition.message
        yield NO_CATALOG if read.lacks_catalogs and rule.code is Code.RETRYING else ""
    if condition.type == PROGRESSING and read.extension.condition(AVAILABLE).status == "False":
        yield read.extension.condition(AVAILABLE).message  # what is installed does not work either
    if read.job and read.job.error != condition.message:
        yield " ".join(read.job.error.split())


def _evidence(read: ExtensionRead, rule: _Rule) -> Iterator[Ref]:
    """The objects that show it."""
    yield from (ref for ref, _ in _unasked(read) if rule.code is not Code.INSTALLED)
    yield from (CLUSTER_OBJECT_SET.ref(one.name) for one in _waited_for(read))


def _fixes(read: ExtensionRead, rule: _Rule) -> Iterator[Fix]:
    name = read.extension.name
    match rule.code:
        case Code.RETRYING:
            for ref, _ in _unasked(read):
                yield Fix(f"see why {ref.name} is not served", olmf("why", f"{ref.kind}/{ref.name}"))
            yield from _relaxed(read)
            yield from (Fix(f"make one of {each.namespace}/{each.name}", made_of(each)) for each in read.images[:1])
            if read.lacks_catalogs and read.decision and not read.images:
                yield Fix("make a ClusterCatalog")
            if read.decision is None:
                what = "see how to make one" if read.lacks_catalogs else "see which rule removed which bundle"
                yield Fix(what, olmf("extension", "why", name))
        case Code.CONFIGURATION_INVALID | Code.ROLLOUT_BLOCKED:
            yield Fix("edit it", kubectl("edit", "clusterextension", name))
        case Code.ROLLOUT_LATE | Code.ROLLOUT_REFUSED | Code.UNAVAILABLE | Code.DELETING:
            yield Fix("see its objects", olmf("extension", "get", name))
        case _:
            return


def made_of(source: CatalogSource) -> Command:
    """Makes a ClusterCatalog of the image of a CatalogSource: the content is the same."""
    spec = {"source": {"type": "Image", "image": {"ref": source.image}}}
    found = {"apiVersion": CLUSTER_CATALOG.api_version, "kind": CLUSTER_CATALOG.kind}
    return kubectl("apply", "-f", "-", stdin=json.dumps({**found, "metadata": {"name": source.name}, "spec": spec}))


def _relaxed(read: ExtensionRead) -> Iterator[Fix]:
    """Edits that were tried, and what they would give."""
    if not isinstance(read.decision, Failed):
        return
    kept = read.revisions.installed
    installed = bundle_of(kept) if kept else None
    for one in relaxations(request_for(read.extension), installed, read.catalogs):
        patch = json.dumps({"spec": {"source": {"catalog": dict(one.patch)}}}, separators=(",", ":"))
        words = ("patch", "clusterextension", read.extension.name, "--type=merge", "-p", patch)
        yield Fix(f"{one.what}, which gives {one.bundle}", kubectl(*words))


def _unasked(read: ExtensionRead) -> Iterator[tuple[Ref, CatalogView]]:
    """The catalogs that it selects, and that cannot be asked."""
    yield from ((CLUSTER_CATALOG.ref(one.name), one) for one in read.catalogs if one.problem)


def _waited_for(read: ExtensionRead) -> tuple[ClusterObjectSet, ...]:
    """The revisions that are not as they should be."""
    if read.extension.is_deleted:
        return read.revisions.all
    kept = read.revisions.installed
    is_unavailable = kept is not None and kept.condition(AVAILABLE).status == "False"
    return (*((kept,) if kept and is_unavailable else ()), *read.revisions.rolling)


def _rolling(read: ExtensionRead) -> ClusterObjectSet:
    return next(reversed(read.revisions.rolling), ClusterObjectSet({}))


def _ref(extension: ClusterExtension) -> Ref:
    return CLUSTER_EXTENSION.ref(extension.name)
