"""What makes the webhooks of a bundle invalid to OLM v1 (v1.md §16.3, rules 6 to 12)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.extension.render.model import ALL, Bundle
from shared.domain.extension.render.webhooks import CONVERSION, deployment_of
from shared.domain.go.text import quoted
from shared.domain.syntax import SUBDOMAIN

_FORBIDDEN_GROUPS: Final = ("*", "olm.operatorframework.io")
_ADMISSION: Final = "admissionregistration.k8s.io"
_FORBIDDEN_RESOURCES: Final = frozenset({
    "*", "mutatingwebhookconfiguration", "mutatingwebhookconfigurations", "validatingwebhookconfiguration",
    "validatingwebhookconfigurations",
})  # fmt: skip


def reasons_against(name: str) -> list[str]:
    """Why a name cannot be that of a Deployment or of a webhook."""
    reasons = [] if SUBDOMAIN.fits(name) else [SUBDOMAIN.rule]
    longest = SUBDOMAIN.longest
    return reasons + ([f"must be no more than {longest} characters"] if len(name.encode()) > longest else [])


def owned(bundle: Bundle) -> set[str]:
    """The definitions that the version says are its own."""
    return {one["name"] for one in bundle.csv["spec"]["customresourcedefinitions"].get("owned") or ()}


def _name(webhook: ReadOnly) -> str:
    return webhook.get("generateName") or ""


def _type_and_name(webhook: ReadOnly) -> tuple[str, str]:
    return webhook["type"], _name(webhook)


def _conversions(bundle: Bundle) -> list[Manifest]:
    return [webhook for webhook in bundle.webhooks if webhook["type"] == CONVERSION]


def conversion_modes(bundle: Bundle) -> Iterator[str]:
    """Rule 6."""
    if bundle.install_modes == {ALL}:
        return
    modes = " ".join(sorted(bundle.install_modes))
    for webhook in _conversions(bundle):
        yield (
            f"bundle contains conversion webhook {quoted(_name(webhook))} and supports install modes [{modes}] - "
            f"conversion webhooks are only supported for bundles that only support {ALL} install mode"
        )


def deployments(bundle: Bundle) -> Iterator[str]:
    """Rule 7."""
    known = {one["name"] for one in bundle.deployments}
    lost = [webhook for webhook in bundle.webhooks if deployment_of(webhook) not in known]
    for webhook in sorted(lost, key=lambda one: (deployment_of(one), *_type_and_name(one))):
        yield (
            f"webhook of type '{webhook['type']}' with name '{_name(webhook)}' references non-existent deployment "
            f"'{deployment_of(webhook)}'"
        )


def repeated_names(bundle: Bundle) -> Iterator[str]:
    """Rule 8."""
    for (kind, name), count in sorted(Counter(map(_type_and_name, bundle.webhooks)).items()):
        if count > 1:
            yield f"duplicate webhook '{name}' of type '{kind}'"


def names(bundle: Bundle) -> Iterator[str]:
    """Rule 9."""
    for kind, name in sorted(set(map(_type_and_name, bundle.webhooks))):
        if reasons := reasons_against(name):
            yield f"webhook of type '{kind}' has invalid name '{name}': {','.join(reasons)}"


def shared_definitions(bundle: Bundle) -> Iterator[str]:
    """Rule 10."""
    converters = defaultdict(list)
    for webhook in _conversions(bundle):
        for definition in webhook.get("conversionCRDs") or ():
            converters[definition].append(_name(webhook))
    for definition, found in sorted(converters.items()):
        if len(found) > 1:
            listed = ",".join(sorted(found))
            yield f"conversion webhooks [{listed}] reference same custom resource definition '{definition}'"


def definitions_of_others(bundle: Bundle) -> Iterator[str]:
    """Rule 11."""
    known = owned(bundle)
    for webhook in sorted(_conversions(bundle), key=_name):
        for definition in sorted(webhook.get("conversionCRDs") or ()):
            if definition not in known:
                yield (
                    f"conversion webhook '{_name(webhook)}' references custom resource definition '{definition}' "
                    "not owned bundle"
                )


def rules(bundle: Bundle) -> Iterator[str]:
    """Rule 12."""
    for webhook in bundle.webhooks:
        if webhook["type"] != CONVERSION:
            for rule in webhook.get("rules") or ():
                yield from _forbidden(f"webhook {quoted(_name(webhook))} contains forbidden rule", rule)


def _forbidden(where: str, rule: ReadOnly) -> Iterator[str]:
    for group in rule.get("apiGroups") or ():
        if group in _FORBIDDEN_GROUPS:
            yield f"{where}: admission webhook rules cannot reference API group {quoted(group)}"
        for resource in rule.get("resources") or () if group == _ADMISSION else ():
            if resource.lower() in _FORBIDDEN_RESOURCES:
                what = f"resource {quoted(resource)} for API group {quoted(group)}"
                yield f"{where}: admission webhook rules cannot reference {what}"
