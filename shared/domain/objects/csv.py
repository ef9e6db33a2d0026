"""What the status of a ClusterServiceVersion says of it (csv.md §2.2, §10)."""

from __future__ import annotations

from typing import Final

from shared.api.views import Csv

NO_RETRY: Final = "InstallComponentFailedNoRetry"
"""The reason of a version that was not allowed to write what it consists of."""
UNSUPPORTED_GROUP: Final = "UnsupportedOperatorGroup"


GROUP_REASONS: Final = frozenset({"NoTargetNamespaces", "NoOperatorGroup", "TooManyOperatorGroups", UNSUPPORTED_GROUP})
"""Reasons of failures that end when the OperatorGroup supports the ClusterServiceVersion."""


UNFIT: Final = GROUP_REASONS | {
    "InvalidInstallModes",
    "InterOperatorGroupOwnerConflict",
    "CannotModifyStaticOperatorGroupProvidedAPIs",
}
"""Reasons of failures that are found before the phase is looked at."""


def is_uncopiable(csv: Csv) -> bool:
    """Whether it must not be copied to the namespaces of its group."""
    return csv.phase == "" or csv.reason in {*UNFIT, "Copied"}
