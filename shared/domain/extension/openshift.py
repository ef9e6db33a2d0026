"""Which extensions keep an OpenShift cluster from its next minor version (v1.md §23)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.bundle.shape import is_deep
from shared.domain.catalog.schemas import PROPERTY
from shared.domain.catalog.shapes import list_of, why_not
from shared.domain.conditions import Condition
from shared.domain.go.json import CUT_OFF, TYPES, JsonError, loads
from shared.domain.go.text import quoted
from shared.domain.openshift import MAXIMUM, effective, following
from shared.domain.semver import Version, parse_tolerant, parse_version

CONDITION: Final = "InstalledOLMOperatorsUpgradeable"
_MAJOR_MINOR: Final = re.compile(r"([1-9][0-9]*)\.(0|[1-9][0-9]*)")
_PROPERTIES: Final = list_of(PROPERTY)
_NOTHING: Final = object()
"""Stands for a value that is not there; null would be one."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the newest active revision of an extension says about itself."""

    extension: str
    bundle: str
    properties: str | None
    """The text of the annotation `olm.properties`; None when there is none."""


class Unreadable(Exception):
    """The metadata of a bundle says nothing usable; the message says why."""


class _Number(float):
    """A number that remembers how it was written: 4.10 is not 4.1."""

    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def blockers(published: Iterable[Published], cluster: str) -> Condition:
    """Whether the cluster may go on to its next minor version, in the words of OpenShift. InvalidVersion."""
    current = minor_of(cluster)
    incompatible, errors = [], []
    for one in published:
        try:
            if is_blocking(one, current):
                incompatible.append(f"bundle {quoted(one.bundle)} for ClusterExtension {quoted(one.extension)}")
        except Unreadable as error:
            errors.append(str(error))
    wrong = "\n".join(errors)
    if incompatible:
        what = (
            f"Found ClusterExtensions that require upgrades prior to upgrading cluster to version {following(current)}"
        )
        more = f"\n Additionally the following errors were encountered while getting extension metadata: {wrong}"
        message = f"{what}: {','.join(sorted(incompatible))}.{more if wrong else ''}"
        return Condition(CONDITION, "False", "IncompatibleOperatorsInstalled", message)
    return (
        Condition(CONDITION, "False", "FailureGettingExtensionMetadata", wrong)
        if wrong
        else Condition(CONDITION, "True")
    )


def minor_of(cluster: str) -> tuple[int, int]:
    """Major and minor of a cluster's version; what follows does not count. InvalidVersion."""
    version = parse_version(cluster if cluster.count(".") > 1 else f"{cluster}.0")
    return version.major, version.minor


def is_blocking(published: Published, current: tuple[int, int]) -> bool:
    """Whether this bundle is not for the next minor version. Unreadable when it cannot be told."""
    if published.properties is None:
        return False
    where = f"with cluster extension {published.extension}: error in bundle {published.bundle}"
    try:
        maxima = [value for kind, value in _properties(published.properties) if kind == MAXIMUM]
    except JsonError as error:
        what = f"could not convert olm.properties: failed to unmarshal properties annotation: {error}"
        raise Unreadable(f"error {where}: {what}") from error
    wrong = [f"more than one {MAXIMUM} found in bundle"] if len(maxima) > 1 else []
    for value in maxima[:1]:
        try:
            limit = _limit(value)
        except ValueError as error:
            wrong.insert(0, f"error converting to semver for version {_text(value)}: {error}")
    if wrong:
        joined = "\n".join(wrong)
        raise Unreadable(f"error(s) {where}: {joined}")
    return bool(maxima) and (limit.major, limit.minor) <= effective(current)


def _properties(text: str) -> Iterator[tuple[str, Any]]:
    """Type and value of each property. JsonError, as Go words it, when the text is no list of properties."""
    value = loads(text.encode())
    if why := why_not(_PROPERTIES, value):
        raise JsonError(why, 0)
    if is_deep(value):
        raise JsonError("exceeded max depth", 0)
    for one in map(PROPERTY.read, json.loads(text, parse_float=_Number) or ()):
        yield one.get("type") or "", one.get("value", _NOTHING)


def _limit(value: Any) -> Version:
    """The version that the value of the property names. ValueError, with a sentence."""
    match value:
        case float() | int() if not isinstance(value, bool):
            if not _MAJOR_MINOR.fullmatch(_text(value)):
                raise ValueError(f"invalid semver format {quoted(_text(value))}: expected <major>.<minor>")
            return parse_tolerant(_text(value))
        case str():
            if value.startswith("v") or value.count(".") != 1:
                raise ValueError("invalid version format")
            return parse_tolerant(value)
    if value is _NOTHING:
        raise ValueError(CUT_OFF)
    raise ValueError(f"invalid type {TYPES[type(value)]} for olm.maxOpenshiftVersion: {_text(value)}")


def _text(value: Any) -> str:
    if value is _NOTHING:
        return ""
    return value.text if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
