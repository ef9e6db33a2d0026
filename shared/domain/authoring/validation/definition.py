"""Checks CustomResourceDefinitions as Kubernetes does, except for their schemas (fbc.md §11.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.finding import ERROR, Finding
from shared.domain.bundle.shape import as_list, as_object, name_in
from shared.domain.go.encode import json_text
from shared.domain.syntax import LABEL_1035, SUBDOMAIN

_SCOPES: Final = ("Cluster", "Namespaced")
_STRATEGIES: Final = ("None", "Webhook")
_MIXED: Final = "may have mixed case, but should otherwise match: "
_PRESERVED: Final = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
)


def definition(manifest: ReadOnly) -> Iterator[Finding]:
    """What is wrong with a CustomResourceDefinition whose fields have the types of Kubernetes."""
    spec = as_object(manifest.get("spec"))
    yield from _group(manifest, spec)
    is_old = not str(manifest.get("apiVersion")).endswith("/v1")
    yield from _scope(spec, default=_SCOPES[1] if is_old else "")
    yield from _versions(spec)
    if spec.get("preserveUnknownFields", is_old):
        yield _found("spec.preserveUnknownFields", "Invalid value", True, _PRESERVED)
    yield from _names(as_object(spec.get("names")))
    yield from _conversion(as_object(spec.get("conversion")), is_old=is_old)


def _found(field: str, problem: str, value: Any, detail: str = "") -> Finding:
    """A finding with the text of a field error of Kubernetes."""
    what = f"{field}: {problem}" + ("" if problem == "Required value" else f": {json_text(value, escapes_html=False)}")
    return Finding(ERROR, f"{what}: {detail}" if detail else what, field=field, value=_plain(value))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value, escapes_html=False)


def _group(manifest: ReadOnly, spec: ReadOnly) -> Iterator[Finding]:
    group, name = spec.get("group") or "", name_in(manifest)
    plural = as_object(spec.get("names")).get("plural") or ""
    if not group:
        yield _found("spec.group", "Required value", "")
    elif wrong := SUBDOMAIN.problems(group):
        yield _found("spec.group", "Invalid value", group, ",".join(wrong))
    elif "." not in group:
        yield _found("spec.group", "Invalid value", group, "should be a domain with at least one dot")
    if not name:
        yield _found("metadata.name", "Required value", "", "name or generateName is required")
        return
    yield from _all("metadata.name", name, SUBDOMAIN.problems(name))
    if name != f"{plural}.{group}":
        yield _found("metadata.name", "Invalid value", name, 'must be spec.names.plural+"."+spec.group')


def _scope(spec: ReadOnly, default: str) -> Iterator[Finding]:
    scope = spec.get("scope") or default
    if not scope:
        yield _found("spec.scope", "Required value", "")
    elif scope not in _SCOPES:
        yield _unsupported("spec.scope", scope, _SCOPES)


def _unsupported(field: str, value: Any, supported: Iterable[str]) -> Finding:
    listed = ", ".join(json_text(one) for one in supported)
    return _found(field, "Unsupported value", value, f"supported values: {listed}")


def _versions(spec: ReadOnly) -> Iterator[Finding]:
    versions = [as_object(one) for one in as_list(spec.get("versions"))]
    names = [one.get("name") or "" for one in versions]
    stored = [one for one in versions if one.get("storage") is True]
    single = spec.get("version")
    if not versions and single:
        return  # the older form
    for index, name in enumerate(names):
        field = f"spec.versions[{index}].name"
        yield from _all(field, name, LABEL_1035.problems(name))
    if any(count > 1 for count in Counter(names).values()):
        yield _found("spec.versions", "Invalid value", names, "must contain unique version names")
    if len(stored) != 1:
        what = "must have exactly one version marked as storage version"
        yield _found("spec.versions", "Invalid value", names, what)
    if single and single != next(iter(names), ""):
        yield _found("spec.version", "Invalid value", single, "must match the first version in spec.versions")


def _names(names: ReadOnly) -> Iterator[Finding]:
    kind = names.get("kind") or ""
    singular = names.get("singular") or kind.lower()
    listed = names.get("listKind") or (f"{kind}List" if kind else "")
    declared = {"plural": names.get("plural") or "", "singular": singular, "kind": kind, "listKind": listed}
    for field, value in declared.items():
        if value:
            yield from _name(f"spec.names.{field}", value, is_mixed=field.lower().endswith("kind"))
        else:
            yield _found(f"spec.names.{field}", "Required value", "")
    for field in ("shortNames", "categories"):
        for index, value in enumerate(as_list(names.get(field))):
            yield from _name(f"spec.names.{field}[{index}]", value)
    if kind and listed == kind:
        yield _found("spec.names.listKind", "Invalid value", kind, "kind and listKind may not be the same")


def _name(place: str, value: str, *, is_mixed: bool = False) -> Iterator[Finding]:
    if wrong := LABEL_1035.problems(value.lower() if is_mixed else value):
        yield _found(place, "Invalid value", value, f"{_MIXED if is_mixed else ''}{','.join(wrong)}")


def _conversion(conversion: ReadOnly, *, is_old: bool) -> Iterator[Finding]:
    strategy = conversion.get("strategy") or _STRATEGIES[0]
    if strategy not in _STRATEGIES:
        yield _unsupported("spec.conversion.strategy", strategy, _STRATEGIES)
    client, reviewed = (
        _client(conversion, field, is_old=is_old) for field in ("clientConfig", "conversionReviewVersions")
    )
    if strategy == _STRATEGIES[1]:
        if client is None:
            yield _required("webhookClientConfig", "required when strategy is set to Webhook")
        elif ("url" in as_object(client)) == ("service" in as_object(client)):
            yield _required("webhookClientConfig", "exactly one of url or service is required")
        if not reviewed and not is_old:
            yield _required("conversionReviewVersions")
        return
    for field, value in (("webhookClientConfig", client), ("conversionReviewVersions", reviewed or None)):
        if value is not None:
            what = f"spec.conversion.{field}: Forbidden: should not be set when strategy is not set to Webhook"
            yield Finding(ERROR, what, field=f"spec.conversion.{field}", value="")


def _client(conversion: ReadOnly, field: str, *, is_old: bool) -> Any:
    """A part of the webhook, which the older form states beside the strategy."""
    if is_old:
        return conversion.get("webhookClientConfig" if field == "clientConfig" else field)
    return as_object(conversion.get("webhook")).get(field)


def _required(field: str, detail: str = "") -> Finding:
    return _found(f"spec.conversion.{field}", "Required value", "", detail)


def _all(field: str, value: Any, wrong: Iterable[str]) -> Iterator[Finding]:
    return (_found(field, "Invalid value", value, why) for why in wrong)
