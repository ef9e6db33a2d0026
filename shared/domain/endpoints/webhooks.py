"""The configurations of admission webhooks (csv.md §7.6)."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import MUTATING, VALIDATING, Csv, OperatorGroup, Webhook, WebhookConfiguration
from shared.domain.endpoints.naming import service_name
from shared.domain.go_types import encoding
from shared.domain.go_types.dialects import CONVERTER
from shared.domain.go_types.engine import MisfitError
from shared.domain.objects.hashes import text_hash
from shared.domain.objects.ownership import owner_labels
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.targets import label_of
from shared.domain.subset import covers
from shared.domain.syntax import LABEL_VALUE
from shared.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Kind

Resource: TypeAlias = tuple[str, str]
"""API group and plural."""
KINDS: Final[Mapping[str, Kind]] = {VALIDATING: VALIDATING_WEBHOOKS, MUTATING: MUTATING_WEBHOOKS}
_COPIED: Final = (
    "failurePolicy", "matchPolicy", "objectSelector", "sideEffects", "timeoutSeconds", "admissionReviewVersions",
)  # fmt: skip
_ONLY_MUTATING: Final = ("reinvocationPolicy",)
_DEFAULTS: Final[ReadOnly] = {
    "failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
    "timeoutSeconds": 10, "reinvocationPolicy": "Never",
}  # fmt: skip
"""What the API server states where nothing is said; one that validates has no reinvocation, on either side."""
_WRITTEN: Final = (*_COPIED, *_ONLY_MUTATING, "name", "clientConfig", "rules", "namespaceSelector", "matchConditions")
"""Fields of a webhook that are ours to state; later versions of Kubernetes may add others."""
_DIGEST: Final = 10


def admission(csv: Csv) -> tuple[Webhook, ...]:
    """The webhooks that decide about requests."""
    return tuple(hook for hook in csv.webhooks if hook.type in KINDS)


def labels(csv: Csv, hook: Webhook) -> dict[str, str]:
    """The labels of its configuration: by them it is found."""
    found_label = {names.WEBHOOK_NAME: label_value(hook.name), names.WEBHOOK_HASH: digest(hook)}
    return {**owner_labels(csv), **found_label, names.MANAGED: "true"}


def label_value(name: str) -> str:
    """The name of a webhook as a label: shortened, with a digest, when a label cannot hold it."""
    if LABEL_VALUE.fits(name) and len(name) <= LABEL_VALUE.longest:
        return name
    return text_hash(name)


def digest(hook: Webhook) -> str:
    """A digest of the whole description."""
    return text_hash(encoding.encode(dict(hook.raw)))


def configuration(csv: Csv, hook: Webhook, group: OperatorGroup, own: Collection[Resource], *, bundle: str) -> Manifest:
    """The configuration of a webhook whose server proves itself to who trusts `bundle`, PEM.

    `own` are the cluster-scoped resources that are really this version's own: a group that is not global gives no
    power over other objects outside of its namespaces.
    """
    kind, known = KINDS[hook.type], _known(hook)
    copied = (*_COPIED, *(_ONLY_MUTATING if hook.type == MUTATING else ()))
    written: Manifest = {
        "name": hook.name,
        "clientConfig": {"service": reference(csv, hook), "caBundle": encoded(bundle)},
        "rules": list(known.rules) if Group.of(group).is_global else narrowed(known.rules, own),
        **namespace_selector(group),
        **{key: known.raw[key] for key in copied if known.raw.get(key) is not None},
    }
    meta: Manifest = {"name": name_of(csv, hook), "labels": labels(csv, hook)}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "webhooks": [written]}


def _known(hook: Webhook) -> Webhook:
    """The description without fields that no API server knows: it drops them, so they would be lacking for ever.

    One that does not fit stays as it is: the API server refuses it.
    """
    try:
        return Webhook(CONVERTER.read(dict(hook.raw), "WebhookDescription"))
    except MisfitError:
        return hook


def matches(live: Manifest, desired: Manifest) -> bool:
    """Whether a configuration says what is wanted, and nothing more: a narrower selector is another one."""
    return covers(live, desired) and _compared(live) == _compared(desired)


def _compared(manifest: Manifest) -> list[object]:
    """What the webhooks say, with what the API server adds."""
    return [_plain(_whole(one)) for one in fields.parts(manifest, "webhooks")]


def _whole(webhook: ReadOnly) -> Manifest:
    found_label = {**_DEFAULTS, **_present(webhook)}
    rules = [{"scope": "*", **_present(rule)} for rule in fields.parts(webhook, "rules")]
    return {**{key: found_label[key] for key in _WRITTEN if key in found_label}, "rules": rules}


def _present(part: ReadOnly) -> Manifest:
    return {key: value for key, value in part.items() if value is not None}


def _plain(value: object) -> object:
    """Without fields that hold nothing: the API server leaves them out."""
    if isinstance(value, dict):
        plain = {key: _plain(one) for key, one in value.items()}
        return {key: one for key, one in plain.items() if one not in (None, {}, [])}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def name_of(csv: Csv, hook: Webhook) -> str:
    """The name of a new configuration; one that OLM made has another, and keeps it."""
    tail = text_hash(f"{csv.namespace}/{csv.name}/{hook.type}/{hook.name}")[:_DIGEST].lower()
    return f"{hook.name}-{tail}"


def reference(csv: Csv, hook: Webhook) -> Manifest:
    """The Service that the API server calls."""
    place: Manifest = {"namespace": csv.namespace, "name": service_name(hook.deployment), "port": hook.port}
    return {**place, "path": hook.path} if hook.path else place


def encoded(bundle: str) -> str:
    """Certificates as a `caBundle`."""
    return base64.b64encode(bundle.encode()).decode()


def namespace_selector(group: OperatorGroup) -> Manifest:
    """The namespaces of a group; every namespace for a global one only."""
    if group.target_namespaces or not (group.selector or Group.of(group).is_global):
        return {"namespaceSelector": {"matchLabels": {label_of(group.uid): ""}}}
    return {"namespaceSelector": dict(group.selector)} if group.selector else {}


def narrowed(rules: Iterable[ReadOnly], own: Collection[Resource]) -> list[Manifest]:
    """The rules, for namespaced objects only; a rule about the version's own resources keeps its scope."""
    return [
        dict(rule) if _is_about(rule, own) else {**rule, "scope": "Namespaced"}
        for rule in rules
        if _is_about(rule, own) or rule.get("scope") != "Cluster"
    ]


def _is_about(rule: ReadOnly, own: Collection[Resource]) -> bool:
    plurals = [one.partition("/")[0] for one in fields.texts(rule, "resources")]
    named = [(group, plural) for group in fields.texts(rule, "apiGroups") for plural in plurals]
    return bool(named) and all(one in own for one in named)


def of_webhook(found: Iterable[WebhookConfiguration], hook: Webhook) -> tuple[WebhookConfiguration, ...]:
    """The configurations of one webhook, the oldest first."""
    kind, found_label = KINDS[hook.type].kind, label_value(hook.name)
    ours = [one for one in found if one.kind == kind and one.labels.get(names.WEBHOOK_NAME) == found_label]
    return tuple(sorted(ours, key=lambda one: (one.age_key, one.name)))
