"""Warns of webhooks and aggregated APIs that cannot work (csv.md §7); the reference says nothing of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.api.views import Csv
from shared.domain.authoring.validation.finding import Finding, warned
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.model import CRD
from shared.domain.bundle.shape import as_list, as_object, name_in
from shared.domain.endpoints.defects import refused, unplaceable
from shared.domain.go.text import quoted
from shared.domain.syntax import SUBDOMAIN

_ADMISSION: Final = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
_CONVERSION: Final = "ConversionWebhook"
_PORT: Final = 443
_SEGMENTS: Final = 3
_SECONDS: Final = range(1, 31)
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_REVIEWS: Final = frozenset({"v1", "v1beta1"})
_STARTED: Final = frozenset({("", "pods"), ("apps", "deployments"), ("apps", "replicasets")})
"""Group and resource of what has to be created before a webhook answers."""


@dataclass(frozen=True, slots=True)
class _Webhook:
    """An entry of `spec.webhookdefinitions`, and the bundle that it is part of."""

    fields: ReadOnly
    subject: Subject

    @property
    def name(self) -> str:
        return str(self.fields.get("generateName") or "")

    @property
    def type(self) -> str:
        return str(self.fields.get("type") or "")

    @property
    def is_admission(self) -> bool:
        return self.type in _ADMISSION

    @property
    def rules(self) -> list[Any]:
        return as_list(self.fields.get("rules"))

    @property
    def definitions(self) -> list[Any]:
        """The names of the definitions that it converts."""
        return as_list(self.fields.get("conversionCRDs")) if self.type == _CONVERSION else []


def webhooks(subject: Subject) -> Iterator[Finding]:
    """The warnings about everything that the version serves for the API server."""
    found = [_Webhook(one, subject) for one in as_list(subject.spec.get("webhookdefinitions"))]
    for webhook in found:
        for rule in _RULES:
            yield from (warned(f"webhook {quoted(webhook.name)} {why}") for why in rule(webhook))
    for name, count in Counter(one.name for one in found).items():
        if count > 1:
            yield warned(f"webhook {quoted(name)} is defined {count} times: OLM refuses the version")
    yield from map(warned, unplaceable(Csv(subject.csv)))
    yield from _converters(subject, found)
    for api in as_list(as_object(subject.spec.get("apiservicedefinitions")).get("owned")):
        what = f"API service {quoted('.'.join((api['version'], api['group'])))}"
        yield from (warned(f"{what} {why}") for why in _served(subject, api))


def _converters(subject: Subject, webhooks: list[_Webhook]) -> Iterator[Finding]:
    """Definitions that several webhooks convert, or that ask for a webhook that is none of the version."""
    counted = Counter(name for one in webhooks for name in dict.fromkeys(one.definitions))
    for name, count in counted.items():
        if count > 1:
            yield warned(f"{count} webhooks convert the objects of CRD {name}: only one of them is called")
    for path, one in subject.of_kind(CRD):
        conversion = as_object(as_object(one.get("spec")).get("conversion"))
        client = as_object(as_object(conversion.get("webhook")).get("clientConfig"))
        if client.get("service") and name_in(one) not in counted:
            why = "is converted by a Service, but no webhook of the version names it in conversionCRDs"
            yield warned(f"CRD {name_in(one)} {why}", path)


def _type(webhook: _Webhook) -> Iterator[str]:
    if webhook.type not in (*_ADMISSION, _CONVERSION):
        yield f"has the unknown type {quoted(webhook.type)}, so nothing calls it"


def _deployment(webhook: _Webhook) -> Iterator[str]:
    yield from _served(webhook.subject, webhook.fields)


def _served(subject: Subject, fields: ReadOnly) -> Iterator[str]:
    """Whether the Deployment and the port behind a Service are there."""
    name = str(fields.get("deploymentName") or "")
    deployments = {one["name"]: one for one in as_list(subject.install.get("deployments"))}
    if name not in deployments:
        yield f"is served by Deployment {quoted(name)}, which the version does not install"
        return
    pod = as_object(deployments[name]["spec"]["template"].get("spec"))
    ports = [port for container in as_list(pod.get("containers")) for port in as_list(container.get("ports"))]
    desired = fields.get("targetPort") or fields.get("containerPort") or _PORT
    field = "name" if isinstance(desired, str) else "containerPort"
    if desired not in [port.get(field) for port in ports]:
        yield f"is called at port {desired}, which no container of Deployment {quoted(name)} declares"


def _name(webhook: _Webhook) -> Iterator[str]:
    name = webhook.name
    if webhook.is_admission and not (SUBDOMAIN.fits(name) and name.count(".") >= _SEGMENTS - 1):
        yield "needs a domain with at least three segments as generateName: the API server refuses others"


def _settings(webhook: _Webhook) -> Iterator[str]:
    """What the API server refuses."""
    fields = webhook.fields
    if webhook.is_admission and (effects := fields.get("sideEffects")) not in _SIDE_EFFECTS:
        yield f"has sideEffects {quoted(str(effects or ''))}: the API server takes {' or '.join(_SIDE_EFFECTS)}"
    if not _REVIEWS.intersection(as_list(fields.get("admissionReviewVersions"))):
        yield "names neither v1 nor v1beta1 in admissionReviewVersions"
    if webhook.is_admission and fields.get("timeoutSeconds") not in (None, *_SECONDS):
        yield f"has timeoutSeconds {fields['timeoutSeconds']}: the API server takes 1 to 30"
    if not str(fields.get("webhookPath") or "/").startswith("/"):
        yield f"has the webhookPath {quoted(fields['webhookPath'])}, which does not begin with a slash"


def _refused(webhook: _Webhook) -> Iterator[str]:
    """csv.md §7.6: the rules that OLM refuses."""
    yield from (f"is refused: {why}" for why in filter(None, map(refused, webhook.rules)))


def _conversion(webhook: _Webhook) -> Iterator[str]:
    if webhook.type == _CONVERSION and not webhook.definitions:
        yield "names no definition in conversionCRDs"
    owned = {one["name"] for one in webhook.subject.described("owned")}
    for name in webhook.definitions:
        if name not in owned:
            yield f"converts CRD {name}, which spec.customresourcedefinitions.owned does not name"


def _itself(webhook: _Webhook) -> Iterator[str]:
    """A webhook that has to answer before its own Pods can start."""
    if webhook.is_admission and webhook.fields.get("failurePolicy") != "Ignore" and not _is_choosy(webhook.fields):
        for group, resource in sorted(_STARTED):
            if any(_covers(rule, group, resource) for rule in webhook.rules):
                yield (
                    f"is asked about every new object of {resource}, its own among them, and refuses it "
                    "while it does not answer: state an objectSelector, or failurePolicy Ignore"
                )
                return


def _is_choosy(fields: ReadOnly) -> bool:
    selector = as_object(fields.get("objectSelector"))
    return bool(selector.get("matchLabels") or selector.get("matchExpressions"))


def _covers(rule: Mapping[str, Any], group: str, resource: str) -> bool:
    asked = (("apiGroups", group), ("resources", resource), ("operations", "CREATE"))
    return all({"*", value}.intersection(as_list(rule.get(field))) for field, value in asked)


_RULES: Final[tuple[Callable[[_Webhook], Iterator[str]], ...]] = (
    _type, _deployment, _name, _settings, _refused, _conversion, _itself,
)  # fmt: skip
