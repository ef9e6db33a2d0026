"""What operatorhub.io demands of a bundle (fbc.md §11.6, OperatorHubV2, StandardCapabilities, StandardCategories)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shared.domain.authoring.validation.addresses import why_no_email, why_no_url
from shared.domain.authoring.validation.csv import min_kube_version
from shared.domain.authoring.validation.finding import WARNING, Finding, about
from shared.domain.authoring.validation.removed_apis import removed_apis
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.go.text import quoted
from shared.domain.semver import parse_version, version_or_none

_CAPABILITIES: Final = ("Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot")
_CATEGORIES: Final = (
    "AI/Machine Learning", "Application Runtime", "Big Data", "Cloud Provider", "Developer Tools", "Database",
    "Integration & Delivery", "Logging & Tracing", "Monitoring", "Modernization & Migration", "Networking",
    "OpenShift Optional", "Security", "Storage", "Streaming & Messaging", "Observability",
)  # fmt: skip
_DEPRECATED: Final = (
    'The "operatorhub" validator is deprecated; for equivalent validation use "operatorhub/v2", '
    '"standardcapabilities" and "standardcategories" validators'
)
_MEDIA_TYPES: Final = ("image/gif", "image/jpeg", "image/png", "image/svg+xml")
_NO_VERSION: Final = parse_version("0.0.0")


def operatorhub(subject: Subject) -> Iterator[Finding]:
    """The findings of the rules `operatorhubv2`."""
    if not subject.csv:
        return
    for detail in _details(subject):
        yield about(subject.csv_name, detail)
    yield from _icons(subject)
    yield from min_kube_version(subject)
    yield from removed_apis(subject)


def operatorhub_old(subject: Subject) -> Iterator[Finding]:
    """The findings of the deprecated rules `operatorhub`, which include capabilities and categories."""
    yield Finding(WARNING, _DEPRECATED, value="")
    yield from operatorhub(subject)
    yield from capabilities(subject)
    yield from categories(subject)


def _details(subject: Subject) -> Iterator[str]:
    spec = subject.spec
    if not as_object(spec.get("provider")).get("name", "").strip():
        yield "csv.Spec.Provider.Name not specified"
    for one in as_list(spec.get("maintainers")):
        if not one.get("name") or not one.get("email"):
            yield "csv.Spec.Maintainers elements should contain both name and email"
        if (email := one.get("email")) and (why := why_no_email(email)):
            yield f"csv.Spec.Maintainers email {email} is invalid: {why}"
    for one in as_list(spec.get("links")):
        if not one.get("name") or not one.get("url"):
            yield "csv.Spec.Links elements should contain both name and url"
        if (url := one.get("url")) and (why := why_no_url(url)):
            yield f"csv.Spec.Links url {url} is invalid: {why}"
    if version_or_none(spec["version"]) == _NO_VERSION:
        yield "csv.Spec.Version must be set"


def _icons(subject: Subject) -> Iterator[Finding]:
    name = subject.csv_name
    if as_object(subject.raw_csv.get("spec")).get("icon") is None:
        yield about(name, "csv.Spec.Icon not specified", WARNING)
        return
    icons = as_list(subject.spec.get("icon"))
    if len(icons) != 1:
        yield about(name, "csv.Spec.Icon should only have one element")
    for icon in icons[:1]:
        if not icon["base64data"] or not icon["mediatype"]:
            yield about(name, "csv.Spec.Icon elements should contain both data and mediatype")
        if icon["mediatype"] and icon["mediatype"] not in _MEDIA_TYPES:
            yield about(name, f"csv.Spec.Icon {icon['mediatype']} does not have a valid mediatype")


def capabilities(subject: Subject) -> Iterator[Finding]:
    """Whether the annotation `capabilities` names a known level."""
    level = subject.csv_annotations.get("capabilities")
    if level is not None and level not in _CAPABILITIES:
        what = f"csv.Metadata.Annotations.Capabilities {quoted(level)} is not a valid capabilities level"
        yield about(subject.csv_name, what)


def categories(subject: Subject) -> Iterator[Finding]:
    """Whether the annotation `categories` names known categories."""
    listed, custom = subject.csv_annotations.get("categories"), subject.options.categories
    if listed is None:
        return
    kind = "custom categories" if custom else "standard categories"
    for category in listed.split(","):
        if category.strip() not in (custom or _CATEGORIES):
            where = 'csv.Metadata.Annotations["categories"]'
            what = f"{where} value {quoted(category)} is not in the set of {kind}"
            yield about(subject.csv_name, what)
