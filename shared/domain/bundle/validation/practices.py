"""What makes a bundle easier to live with (fbc.md §11.6, GoodPractices)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.bundle.annotations import CHANNELS, text_of
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.bundle.validation.finding import WARNING, Finding, about
from shared.domain.bundle.validation.subject import Subject
from shared.domain.go.text import quoted

_NAMING: Final = "https://olm.operatorframework.io/docs/best-practices/channel-naming/"
_CHANNEL: Final = re.compile(r"(candidate|fast|stable)")
_SEMVER: Final = r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
_VERSIONED: Final = re.compile(rf".*?v?{_SEMVER}")
_NAMED: Final = re.compile(rf"[a-z0-9.-]+?\.v{_SEMVER}")


def practices(subject: Subject) -> Iterator[Finding]:
    """What could be better."""
    if not subject.csv:
        return
    name = subject.csv_name
    if not subject.deployments():
        yield about(name, "unable to find a deployment to install in the CSV")
    for detail in (*_requests(subject), *_descriptions(subject), *_channels(subject), *_rights(subject), *_named(name)):
        yield about(name, detail, WARNING)


def _requests(subject: Subject) -> Iterator[str]:
    for deployment in subject.deployments():
        pod = as_object(as_object(deployment["spec"].get("template")).get("spec"))
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
    channels = text_of(subject.annotations.get(CHANNELS)).split(",")
    wrong = sorted(channel for channel in channels if channel and not _CHANNEL.match(channel))
    if wrong:
        listed = f"[{' '.join(map(quoted, wrong))}]"
        yield f"channel(s) {listed} are not following the recommended naming convention: {_NAMING}"


def _rights(subject: Subject) -> Iterator[str]:
    install = as_object(as_object(subject.spec.get("install")).get("spec"))
    for grant in (*as_list(install.get("clusterPermissions")), *as_list(install.get("permissions"))):
        if any(map(_makes_definitions, as_list(grant.get("rules")))):
            account = grant["serviceAccountName"]
            yield f"CSV contains permissions to create CRD ({account}): ship definitions in the bundle instead"
            return


def _makes_definitions(rule: ReadOnly) -> bool:
    groups, resources = set(as_list(rule.get("apiGroups"))), set(as_list(rule.get("resources")))
    verbs = set(as_list(rule.get("verbs")))
    is_about = "apiextensions.k8s.io" in groups and not resources.isdisjoint({"*", "customresourcedefinitions"})
    return is_about and not verbs.isdisjoint({"*", "create", "patch"})


def _named(name: str) -> Iterator[str]:
    if not _VERSIONED.fullmatch(name):
        yield f"csv.metadata.Name {name} does not end in a semantic version"
    if not _NAMED.fullmatch(name):
        yield f"csv.metadata.Name {name} is not following the recommended naming convention: <operator-name>.v<semver>"
