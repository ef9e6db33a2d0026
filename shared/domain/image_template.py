"""Templates of catalog images that contain the version of the API server (catalog.md §2.10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.conditions import Condition, put_into

TEMPLATES_RESOLVED = "TemplatesHaveResolved"
IMAGE_RESOLVED = "ResolvedImage"
CONDITIONS = (TEMPLATES_RESOLVED, IMAGE_RESOLVED)
VARIABLES = ("{kube_major_version}", "{kube_minor_version}", "{kube_patch_version}")

_UNKNOWN = "missing"
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<name>(?:{_HOST}(?:\.{_HOST})*(?::\d+)?/)?{_PART}(?:/{_PART})*)"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Filled:
    """A template in which the known variables are replaced."""

    image: str
    unresolved: tuple[str, ...] = ()
    """The variables of the template without a value."""

    @property
    def is_reference(self) -> bool:
        """Whether the text is a valid image reference."""
        found = _REFERENCE.fullmatch(self.image)
        return found is not None and len(found["name"]) <= _LONGEST_NAME

    @property
    def is_usable(self) -> bool:
        """Whether the image can be read."""
        return self.is_reference and not self.unresolved


def filled(template: str, version: str) -> Filled:
    """The template filled in for an API server of that version (its `gitVersion`; empty: not known)."""
    known = _VERSION.match(version)
    image, unresolved = template, []
    for index, variable in enumerate(VARIABLES, start=1):
        if variable in template:
            image = image.replace(variable, known[index] if known else _UNKNOWN)
            unresolved += [] if known else [variable]
    return Filled(image, tuple(unresolved))


def with_conditions(status: ReadOnly, image: Filled | None, now: datetime) -> Manifest:
    """The status with both conditions, or without them when there is no template; times change with the conditions."""
    old = fields.parts(status, "conditions")
    conditions = [one for one in old if image or fields.text(one, "type") not in CONDITIONS]
    for condition in _conditions(image) if image else ():
        conditions = put_into(conditions, condition, now)
    rest = {key: value for key, value in status.items() if key != "conditions"}
    return {**rest, "conditions": conditions} if conditions else rest


def _conditions(image: Filled) -> tuple[Condition, ...]:
    status_text, reason = ("True", "AllTemplatesResolved") if image.is_usable else ("False", "UnableToResolve")
    texts = {TEMPLATES_RESOLVED: _sentence(image), IMAGE_RESOLVED: image.image}
    return tuple(Condition(kind, status_text, reason, message) for kind, message in texts.items())


def _sentence(image: Filled) -> str:
    listed = ", ".join(f'"{variable}"' for variable in image.unresolved)
    return _SENTENCES[bool(image.unresolved), not image.is_reference].format(listed)


_SENTENCES: Mapping[tuple[bool, bool], str] = {
    (False, False): "catalog image reference was successfully resolved",
    (False, True): ("cannot construct catalog image reference, because one or more template(s) has improper syntax"),
    (True, False): "cannot construct catalog image reference, because variable(s) {} could not be resolved",
    (True, True): (
        "cannot construct catalog image reference, because variable(s) {} could not be resolved and one or more "
        "template(s) has improper syntax"
    ),
}
"""Reason and message by problem: variables without a value, a text that is not an image reference."""
