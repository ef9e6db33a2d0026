"""Whether a bundle stays on an OpenShift that has its old APIs (fbc.md §11.6, Community)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared import names
from shared.domain.authoring.validation.finding import WARNING, Finding, about
from shared.domain.authoring.validation.removed_apis import REMOVED, listed, tolerant_version, used_apis
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.properties import parse_annotation
from shared.domain.semver import parse_tolerant

_LABEL: Final = "com.redhat.openshift.versions"
_LABELLED: Final = re.compile(
    rf"^[ \t]*LABEL[ \t](?:.*[ \t])?[\"']?{re.escape(_LABEL)}[\"']?[ \t]*=[ \t]*[\"']?([^\"'\s]+)", re.MULTILINE
)
_CONTINUED: Final = re.compile(r"\\[ \t]*\r?\n")
_PROPERTIES: Final = names.V1_PROPERTIES
_MAX_OPENSHIFT: Final = "olm.maxOpenShiftVersion"
_FIRST_WITHOUT: Final = "4.9"
"""The OpenShift whose Kubernetes lacks what 1.22 removed."""


def community(subject: Subject) -> Iterator[Finding]:
    """Whether a bundle with APIs that 1.22 removed keeps away from the OpenShift that lacks them."""
    used = used_apis(subject, REMOVED["1.22"])
    if not used:
        return
    name, dockerfile = subject.csv_name, subject.options.dockerfile
    yield from _max_openshift(name, subject.csv_annotations.get(_PROPERTIES, ""), listed(used))
    if dockerfile is None:
        what = f"please name the Dockerfile in the option index-path, so that its label {_LABEL} can be checked"
        yield about(name, f"{what}, or migrate the API(s) for {listed(used)}", WARNING)
    else:
        yield from (about(name, detail) for detail in _label(dockerfile))


def _max_openshift(name: str, properties: str, used: str) -> Iterator[Finding]:
    fix = f"Migrate the API(s) for {used}, or state {_MAX_OPENSHIFT} lower than {_FIRST_WITHOUT}"
    if not properties:
        yield about(name, f"csv.Annotations not specified {_MAX_OPENSHIFT}. {fix}")
        return
    limit = parse_annotation(properties)
    if limit is None or not all(isinstance(value, str | None) for _, value in limit):
        yield about(name, f"csv.Annotations has an invalid value specified for {_PROPERTIES}: {properties}")
        return
    highest = next((value or "" for kind, value in limit if kind == _MAX_OPENSHIFT), None)
    if highest is None:
        yield about(name, f"csv.Annotations.{_PROPERTIES} lacks {_MAX_OPENSHIFT}. {fix}")
    elif (version := tolerant_version(highest)) is None:
        yield about(name, f"csv.Annotations.{_PROPERTIES} has an invalid value. {highest} is no version")
    elif version.patch or version.prerelease:
        what = f"csv.Annotations.{_PROPERTIES} has an invalid value. {_MAX_OPENSHIFT} must specify only major.minor"
        yield about(name, f"{what}: {highest}", WARNING)
    elif version >= parse_tolerant(_FIRST_WITHOUT):
        yield about(name, f"csv.Annotations.{_PROPERTIES}: {_MAX_OPENSHIFT} is {highest}. {fix}")


def _label(dockerfile: str) -> Iterator[str]:
    found = _LABELLED.search(_CONTINUED.sub(" ", dockerfile))
    if found is None:
        yield f"the Dockerfile has no label {_LABEL}: the bundle uses APIs that Kubernetes 1.22 removed"
        return
    first, dash, last = found[1].partition("-")
    ends = last if dash else first.removeprefix("=") if first.startswith("=") else ""
    version = tolerant_version(ends)
    if version is None or version >= parse_tolerant(_FIRST_WITHOUT):
        yield f"the label {_LABEL}={found[1]} has to end below 4.9, e.g. v4.6-v4.8"
