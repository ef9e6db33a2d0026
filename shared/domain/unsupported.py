"""What this project does not support yet of an object, and why: every refusal of that sort is made here.

The documents list the topics of this table (`k8s/COMING_FROM_OLM.md`, "Not yet"); a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.api.views import OperatorGroup


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that OLM has and this project has not."""

    topic: str
    """As the documents list it."""
    find: Callable[[Any], str]  # why: each kind has its own view
    """The sentence about an object that has it; empty for any other."""


def unsupported(found: OperatorGroup) -> str:
    """Why an object is not carried out, in a sentence; empty when all of it is supported."""
    return next(filter(None, (gap.find(found) for gap in GAPS[type(found)])), "")


def _account(group: OperatorGroup) -> str:
    """A service account limits what an installation may do: to ignore the limit would be a privilege escalation."""
    if not (account := group.service_account):
        return ""
    return (
        f"spec.serviceAccountName {account!r} is refused: installing with the rights of a ServiceAccount is not"
        " supported yet. Remove the field to install with the rights of the operator lifecycle manager"
    )


GAPS: Final[Mapping[type, tuple[Gap, ...]]] = {
    OperatorGroup: (Gap("OperatorGroups with `serviceAccountName`", _account),),
}
"""By kind, in the order in which they are told."""
