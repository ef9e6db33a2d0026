"""What a step says about some objects: which, a code for programs, a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shared.kinds import Ref


class Code(StrEnum):
    """What can be said of a package by a step that decides for a whole namespace."""

    CHOSEN = "VersionChosen"
    UNCHANGED = "NothingNew"
    UNSATISFIABLE = "ConstraintsNotSatisfiable"
    PREVENTED = "ErrorPreventedResolution"
    UNPACKED = "BundleUnpacked"
    UNPACKING = "BundleUnpacking"
    UNPACK_FAILED = "BundleUnpackFailed"
    UNPACK_PREVENTED = "ErrorPreventedUnpacking"
    UNPACK_REFUSED = "UnpackingRefused"
    PLANNED = "InstallPlanWritten"
    PLAN_REFUSED = "InstallPlanRefused"


@dataclass(frozen=True, slots=True)
class Statement:
    """One finding of a step that looked at many objects: programs read `about` and `code`, people the message."""

    about: tuple[Ref, ...]
    """The objects that it concerns, which thereby belong together; never empty."""
    code: Code
    message: str


def sentence(statements: tuple[Statement, ...]) -> str:
    """The messages of all of them."""
    return "; ".join(one.message for one in statements)
