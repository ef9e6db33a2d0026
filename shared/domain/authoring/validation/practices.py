"""Checks a bundle against good practices (fbc.md §11.6, GoodPractices)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.annotations import CHANNELS, DEFAULT_CHANNEL, text_of
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.go.text import quoted
from shared.domain.semver import version_or_none

_NAMING: Final = "https://olm.operatorframework.io/docs/best-practices/channel-naming"
_SEMVER: Final = "https://semver.org/"
_CHANNEL: Final = ("candidate", "fast", "stable")
_IDENTIFIER: Final = "[0-9A-Za-z-]+"
_VERSION: Final = re.compile(rf"[0-9]+\.[0-9]+\.[0-9]+(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+{_IDENTIFIER})?\Z")


def practices(subject: Subject) -> Iterator[Finding]:
    """The findings of the rules `good-practices`."""
    if not subject.csv:
        return
    name = subject.csv_name
    if subject.install.get("deployments") is None:
        yield Finding(ERROR, "unable to find a deployment to install in the CSV", value=name)
    for detail in (
        *_requests(subject),
        *_descriptions(subject),
        *_channels(subject),
        *_permissions(subject),
        *_named(name),
    ):
        yield Finding(WARNING, detail, value=name)


def _requests(subject: Subject) -> Iterator[str]:
    for pod in subject.pods():
        for container in as_list(pod.get("containers")):
            if not as_object(container.get("resources")).get("requests"):
                name = container["name"]
                yield f"unable to find the resource requests for the container: ({name}). State what it needs"


def _descriptions(subject: Subject) -> Iterator[str]:
    for side in ("owned", "required"):
        for one in subject.described(side):
            if not one.get("description"):
                yield f"{side} CRD {quoted(one['name'])} has an empty description"


def _channels(subject: Subject) -> Iterator[str]:
    found = (*text_of(subject.annotations.get(CHANNELS)).split(","), text_of(subject.annotations.get(DEFAULT_CHANNEL)))
    channels = {channel.strip() for channel in found} - {""}
    wrong = sorted(channel for channel in channels if not channel.startswith(_CHANNEL))
    if wrong:
        listed = f"[{' '.join(map(quoted, wrong))}]"
        yield f"channel(s) {listed} are not following the recommended naming convention: {_NAMING}"


def _permissions(subject: Subject) -> Iterator[str]:
    for grant in (*as_list(subject.install.get("clusterPermissions")), *as_list(subject.install.get("permissions"))):
        if any(map(_makes_definitions, as_list(grant.get("rules")))):
            account = grant["serviceAccountName"]
            yield f"CSV contains permissions to create CRD ({account}): ship definitions in the bundle instead"
            return


def _makes_definitions(rule: ReadOnly) -> bool:
    groups, resources = set(as_list(rule.get("apiGroups"))), set(as_list(rule.get("resources")))
    verbs = set(as_list(rule.get("verbs")))
    is_about = "apiextensions.k8s.io" in groups and not resources.isdisjoint({"*", "[*]", "customresourcedefinitions"})
    return is_about and not verbs.isdisjoint({"*", "[*]", "create", "patch"})


def _named(name: str) -> Iterator[str]:
    version = _VERSION.search(name)
    if version is None or version_or_none(version[0]) is None:
        what = f"is not following the versioning convention (MAJOR.MINOR.PATCH e.g 0.0.1): {_SEMVER}"
        yield f"csv.metadata.Name {name} {what}"
    if name.count(".v") != 1:
        what = "is not following the recommended naming convention: <operator-name>.v<semver>"
        yield f"csv.metadata.Name {name} {what} e.g. memcached-operator.v0.0.1"
