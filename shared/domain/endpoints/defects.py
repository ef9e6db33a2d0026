"""What makes a version and its webhooks unfit for any cluster (csv.md §4.2-6, §7.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import Csv
from shared.domain.endpoints.conversion import misuse
from shared.domain.endpoints.endpoint import Endpoint, endpoints_of
from shared.domain.endpoints.naming import service_name
from shared.domain.endpoints.webhooks import admission, name_of
from shared.domain.syntax import SUBDOMAIN

REPEATED: Final = "CSV contains repeated WebhookDescription name"
_EVERY: Final = "*"
_GROUPS: Final[Mapping[str, str]] = {
    _EVERY: "webhook rules cannot include all groups",
    "operators.coreos.com": "webhook rules cannot include the OLM group",
}
_ADMISSION: Final = "admissionregistration.k8s.io"
_CONFIGURATIONS: Final = frozenset({
    _EVERY, "mutatingwebhookconfiguration", "mutatingwebhookconfigurations", "validatingwebhookconfiguration",
    "validatingwebhookconfigurations",
})  # fmt: skip
"""OLM compares with the names of the kinds, which no rule of Kubernetes has: rules name resources in the plural."""
_ABOUT_WEBHOOKS: Final = (
    "webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration resources"
)

MOST_ENDPOINTS: Final = 64
"""Deployments of one version that serve: an installation makes all certificates at once, and holds their keys."""
MOST_APIS: Final = 64
"""APIServices of one version: an installation looks at each, and at what was called after it once."""
_SHOWN: Final = 80
"""Characters of a wrong name in a message."""
_TOO_MANY: Final = f"{{}} Deployments serve webhooks or APIs: a version may have {MOST_ENDPOINTS} of them"
_TOO_MANY_APIS: Final = f"{{}} APIServices are owned: a version may own {MOST_APIS} of them"
_ABSENT: Final = "webhook {!r} is served by Deployment {!r}, which is not in the install strategy"
_TWICE: Final = "Deployment {!r} is in the install strategy twice, and differs: each would replace the other for ever"
_FORKED: Final = "Service {!r} would lead from its port {} to two ports of the Pods: {} and {}"
_SHARED: Final = "two Deployments of the strategy would have the Service {!r}: the names differ in dots and dashes only"


def invalid_description(csv: Csv) -> str:
    """Why the descriptions of webhooks are refused; empty when they are not."""
    known = set[str]()
    for hook in csv.webhooks:
        if hook.name in known:
            return REPEATED
        known.add(hook.name)
        for rule in hook.rules:
            if found := refused(rule):
                return found
    return ""


def unusable(csv: Csv) -> str:
    """Why nobody can install the version and what it serves, whatever is in the cluster; empty when one can."""
    known = {one.name: one.raw for one in csv.install.deployments}
    checks = (
        *(_TWICE.format(one.name) for one in csv.install.deployments if one.raw != known[one.name]),
        *(_misnamed(one.name, "webhook") for one in admission(csv)),
        *unplaceable(csv),
        *("" if one.deployment in known else _ABSENT.format(one.name, one.deployment) for one in csv.webhooks),
        misuse(csv),
    )
    return next(filter(None, checks), "")


def unplaceable(csv: Csv) -> tuple[str, ...]:
    """Why the objects around what serves cannot be there: names that nothing may have, or that two would have."""
    endpoints = endpoints_of(csv)
    counted = Counter(service_name(name) for name in dict.fromkeys(one.deployment for one in endpoints))
    apis = {one.service for one in csv.owned_services}
    checks = (
        _TOO_MANY.format(len(endpoints)) if len(endpoints) > MOST_ENDPOINTS else "",
        _TOO_MANY_APIS.format(len(apis)) if len(apis) > MOST_APIS else "",
        *(
            _misnamed(name_of(csv, one), "configuration of webhook")
            for one in admission(csv)
            if SUBDOMAIN.fits(one.name)
        ),
        *(_misnamed(one.service, "APIService") for one in csv.owned_services),
        *(_misnamed(one.deployment, "Deployment") for one in endpoints),
        *(_SHARED.format(name) for name, count in counted.items() if count > 1),
        *map(_forked, endpoints),
    )
    return tuple(dict.fromkeys(filter(None, checks)))


def _forked(endpoint: Endpoint) -> str:
    """Why its Service cannot be: a port of it leads to one port of the Pods."""
    targets: dict[int, int | str] = {}
    for port, target in endpoint.ports:
        if targets.setdefault(port, target) != target:
            return _FORKED.format(endpoint.service, port, targets[port], target)
    return ""


def _misnamed(name: str, what: str) -> str:
    problem = next(iter(SUBDOMAIN.problems(name)), "")
    return problem and f"{what} {name[:_SHOWN]!r}: {problem}"


def refused(rule: ReadOnly) -> str:
    """Why a rule is refused; empty when it is not."""
    groups = fields.texts(rule, "apiGroups")
    for group, message in _GROUPS.items():
        if group in groups:
            return message
    plurals = {one.partition("/")[0].lower() for one in fields.texts(rule, "resources")}
    return _ABOUT_WEBHOOKS if _ADMISSION in groups and plurals & _CONFIGURATIONS else ""
