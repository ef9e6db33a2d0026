"""What is told of a ClusterExtension when its status changes: Events of Kubernetes, and notifications."""

from __future__ import annotations

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension
from shared.domain.extension.notices import notice_of
from shared.step import Emit, Record, Ref, SetStatus, Write

_NOTIFIED = {"Installed": names.EXTENSION_INSTALLED, "Failed": names.EXTENSION_FAILED}


def announced(extension: ClusterExtension, status: Manifest) -> tuple[tuple[Write, ...], tuple[Emit, ...]]:
    """The write of a status, and what is told with it; nothing where the status is as it was."""
    if status == extension.status:
        return (), ()
    ref, found = Ref.of(extension), notice_of(extension, status)
    writes: list[Write] = [SetStatus(ref, status, extension.resource_version)]
    if found is not None:
        writes.append(Record(ref, found.severity, found.reason, found.message))
    return tuple(writes), (Emit(_NOTIFIED[found.notified], ref),) if found and found.notified else ()
