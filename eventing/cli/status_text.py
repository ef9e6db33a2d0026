"""The status of a package as people and programs get it, the same from every verb: a row, a message, a line."""

from __future__ import annotations

from typing import TypeAlias

from eventing.cli.commands import fix_text, fix_value, quoted
from eventing.diagnosis.status.package_status import Code, PackageStatus
from shared.domain.command import Command

Row: TypeAlias = dict[str, object]
_UNDER_WAY = ("Resolving", "BundleUnpacking", "InstallPlanPending")
"""Where a package stands before there is a version that could fail."""


def row_of(status: PackageStatus) -> Row:
    """The status as JSON."""
    return {
        "namespace": status.namespace,
        "subscription": status.subscription,
        "extension": status.extension,
        "package": status.package,
        "channel": status.channel,
        "approval": status.approval,
        "catalog": status.catalog,
        "installed": status.installed,
        "version": status.version,
        "phase": status.phase,
        "code": str(status.code),
        "reason": status.reason,
        "message": status.message,
        "since": status.since,
        "until": status.until,
        "nextTry": next_try_of(status),
        "plan": status.plan,
        "held": status.held,
        "deprecated": status.deprecated,
        "evidence": list(map(str, status.evidence)),
        "fixes": list(map(fix_value, status.fixes)),
    }


def message_of(status: PackageStatus, *, is_row: bool = False) -> str:
    """What it waits for and what helps; for a row in few words."""
    message = status.row_message if is_row else status.whole_message
    return "; ".join(filter(None, (message, *(f"fix: {fix_text(one)}" for one in status.advised))))


def next_try_of(status: PackageStatus) -> str:
    """When it is tried again, in words."""
    return quoted(status.next_try) if isinstance(status.next_try, Command) else status.next_try


def listed_message(status: PackageStatus) -> str:
    """The message in a list, with the next try of what fails."""
    message = message_of(status, is_row=True)
    return f"{message} (next try: {next_try_of(status)})" if status.is_failing else message


def stands(status: PackageStatus, *, is_brief: bool = False) -> str:
    """Where it stands and why, in one line; brief: without what helps."""
    what = " is ".join(filter(None, (status.version, status.phase)))
    return ": ".join(filter(None, (what, status.whole_message if is_brief else message_of(status))))


def object_of(status: PackageStatus) -> str:
    """What `olmf why` is asked about it: `Kind/name`."""
    if status.extension:
        return f"ClusterExtension/{status.extension}"
    if status.subscription:
        return f"Subscription/{status.subscription}"
    return f"ClusterServiceVersion/{status.version}"


def is_failing(status: PackageStatus) -> bool:
    """Whether a package neither works nor is on its way: refused, without permissions, or with a run that fails."""
    if status.phase in _UNDER_WAY:
        return status.code in (Code.UNPACK_REFUSED, Code.PERMISSIONS_LACKING) or status.is_failing
    return not status.is_well and (status.code is not Code.INSTALLING or status.is_failing)
