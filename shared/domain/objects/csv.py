"""What the status of a ClusterServiceVersion says of it (csv.md §2.2, §10)."""

from __future__ import annotations

from typing import Final

from shared import names
from shared.api.manifest import ReadOnly, annotations_of, labels_of, namespace_of

UNSUPPORTED_GROUP: Final = "UnsupportedOperatorGroup"


GROUP_REASONS: Final = frozenset({"NoTargetNamespaces", "NoOperatorGroup", "TooManyOperatorGroups", UNSUPPORTED_GROUP})
"""Reasons of failures that end when the OperatorGroup supports the ClusterServiceVersion."""


UNFIT: Final = GROUP_REASONS | {
    "InvalidInstallModes",
    "InterOperatorGroupOwnerConflict",
    "CannotModifyStaticOperatorGroupProvidedAPIs",
}
"""Reasons of failures that are found before the phase is looked at."""


def phase_of(csv: ReadOnly) -> str:
    """`status.phase`, empty before the first phase."""
    return str((csv.get("status") or {}).get("phase") or "")


def reason_of(csv: ReadOnly) -> str:
    """`status.reason`, empty when absent."""
    return str((csv.get("status") or {}).get("reason") or "")


def is_copied(csv: ReadOnly) -> bool:
    """Whether this is a copy, whose original lives in another namespace."""
    home = annotations_of(csv).get(names.OPERATOR_NAMESPACE)
    return (
        names.COPIED_FROM in labels_of(csv)
        or (home is not None and home != namespace_of(csv))
        or reason_of(csv) == "Copied"
    )


def is_uncopiable(csv: ReadOnly) -> bool:
    """Whether it must not be copied to the namespaces of its group."""
    return phase_of(csv) == "" or reason_of(csv) in {*UNFIT, "Copied"}
