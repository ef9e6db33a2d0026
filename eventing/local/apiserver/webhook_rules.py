"""Rules of webhook configurations: names, rules, policies, and where their webhooks are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from eventing.local.apiserver import match_conditions
from eventing.local.apiserver.failures import Cause, Shown, as_json, bad_value, required, unsupported
from eventing.local.apiserver.metadata_rules import label_defects
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.syntax import LABEL_1035, QUALIFIED_NAME, SUBDOMAIN

REVIEWS = ("v1", "v1beta1")
_ALLOWED = {
    "failurePolicy": ("Fail", "Ignore"), "matchPolicy": ("Equivalent", "Exact"),
    "sideEffects": ("None", "NoneOnDryRun"), "reinvocationPolicy": ("IfNeeded", "Never"),
}  # fmt: skip
OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
SECONDS = range(1, 31)
MOST_CONDITIONS = 64
LAST_PORT = 65535
_FORM = "; desired format: https://host[/path]"


def configuration(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a webhook configuration."""
    seen: set[str] = set()
    for index, webhook in enumerate(manifest.get("webhooks") or ()):
        path, name = f"webhooks[{index}]", str(webhook.get("name") or "")
        yield from _webhook(path, webhook)
        yield from _versions(f"{path}.admissionReviewVersions", webhook.get("admissionReviewVersions") or ())
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen |= {name} - {""}


def duplicate(path: str, value: str) -> Cause:
    """A value that occurs twice."""
    return Cause(path, "FieldValueDuplicate", f'Duplicate value: "{value}"')


def _webhook(path: str, webhook: ReadOnly) -> Iterator[Cause]:
    yield from _name(f"{path}.name", str(webhook.get("name") or ""))
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from _rule(f"{path}.rules[{index}]", rule)
    for field, known in _ALLOWED.items():
        value = webhook.get(field)
        if value is None and field == "sideEffects":
            yield required(f"{path}.{field}", f"must specify one of {', '.join(known)}")
        elif value is not None and value not in known:
            yield unsupported(f"{path}.{field}", value, *known)
    if (seconds := webhook.get("timeoutSeconds")) is not None and seconds not in SECONDS:
        yield bad_value(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    for field in ("namespaceSelector", "objectSelector"):
        yield from _selector(f"{path}.{field}", webhook.get(field) or {})
    yield from client(f"{path}.clientConfig", webhook.get("clientConfig") or {})
    yield from _conditions(f"{path}.matchConditions", webhook.get("matchConditions") or ())


def _name(path: str, name: str) -> Iterator[Cause]:
    if not name:
        yield required(path)
    elif problems := SUBDOMAIN.problems(name):
        yield bad_value(path, name, ",".join(problems))
    elif name.count(".") < 2:  # three segments
        yield bad_value(path, name, "should be a domain with at least three segments separated by dots")


def _rule(path: str, rule: ReadOnly) -> Iterator[Cause]:
    yield from _names(f"{path}.operations", rule.get("operations") or (), "operations")
    for index, operation in enumerate(rule.get("operations") or ()):
        if operation not in OPERATIONS:
            yield unsupported(f"{path}.operations[{index}]", operation, *OPERATIONS)
    yield from _names(f"{path}.apiGroups", rule.get("apiGroups") or (), "API groups")
    versions = rule.get("apiVersions") or ()
    yield from _names(f"{path}.apiVersions", versions, "API versions")
    yield from (required(f"{path}.apiVersions[{index}]") for index, one in enumerate(versions) if not one)
    yield from _resources(f"{path}.resources", rule.get("resources") or ())
    if (scope := rule.get("scope")) is not None and scope not in SCOPES:
        yield unsupported(f"{path}.scope", scope, *SCOPES)


def _names(path: str, names: Sequence[str], what: str) -> Iterator[Cause]:
    if not names:
        yield required(path)
    if len(names) > 1 and "*" in names:
        yield bad_value(path, Shown(as_json(list(names))), f"if '*' is present, must not specify other {what}")


def _resources(path: str, names: Sequence[str]) -> Iterator[Cause]:
    if not names:
        yield required(path)
    whole, everywhere = set[str](), set[str]()
    for index, name in enumerate(names):
        if not name:
            yield required(f"{path}[{index}]")
        resource, slash, below = name.partition("/")
        if not slash:
            continue
        if resource in whole:
            yield bad_value(f"{path}[{index}]", name, f"if '{resource}/*' is present, must not specify {name}")
        if below in everywhere:
            yield bad_value(f"{path}[{index}]", name, f"if '*/{below}' is present, must not specify {name}")
        whole |= {resource} if below == "*" else set()
        everywhere |= {below} if resource == "*" else set()
    if len(names) > 1 and "*/*" in names:
        yield bad_value(path, Shown(as_json(list(names))), "if '*/*' is present, must not specify other resources")
    if "*" in names and any("/" not in name and name not in ("", "*") for name in names):
        why = "if '*' is present, must not specify other resources without subresources"
        yield bad_value(path, Shown(as_json(list(names))), why)


def _versions(path: str, versions: Sequence[str]) -> Iterator[Cause]:
    if not versions:
        yield required(path, f"must specify one of {', '.join(REVIEWS)}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield bad_value(f"{path}[{index}]", version, "duplicate version")
        else:
            yield from (bad_value(f"{path}[{index}]", version, why) for why in LABEL_1035.problems(version))
    if not set(versions) & set(REVIEWS):
        yield bad_value(path, Shown(as_json(list(versions))), f"must include at least one of {', '.join(REVIEWS)}")


def _selector(path: str, selector: ReadOnly) -> Iterator[Cause]:
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from label_defects(f"{path}.matchLabels", key, value)
    for index, one in enumerate(selector.get("matchExpressions") or ()):
        place, operator, values = f"{path}.matchExpressions[{index}]", one.get("operator", ""), one.get("values") or ()
        if operator in ("In", "NotIn") and not values:
            yield required(f"{place}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        if operator in ("Exists", "DoesNotExist") and values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield Cause(f"{place}.values", "FieldValueForbidden", f"Forbidden: {why}")
        if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            yield bad_value(f"{place}.operator", operator, "not a valid selector operator")


def client(path: str, config: ReadOnly) -> Iterator[Cause]:
    """The defects of a `clientConfig`."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(f"{path}.url", str(url))
    else:
        yield from _service(f"{path}.service", service or {})


def _url(path: str, url: str) -> Iterator[Cause]:
    parts = urlsplit(url)
    if parts.scheme != "https":
        yield bad_value(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not parts.netloc:
        yield bad_value(path, "", f"host must be specified{_FORM}")
    if parts.username is not None:
        user = parts.netloc.rpartition("@")[0]
        yield bad_value(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield bad_value(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield bad_value(path, parts.query, "query parameters are not permitted in the URL")


def _service(path: str, service: ReadOnly) -> Iterator[Cause]:
    yield from (required(f"{path}.{name}") for name in ("name", "namespace") if not service.get(name))
    port: Any = service.get("port", 443)
    if not 1 <= port <= LAST_PORT:
        yield bad_value(f"{path}.port", port, f"port is not valid: must be between 1 and {LAST_PORT}, inclusive")
    yield from _path(f"{path}.path", str(service.get("path") or "/"))


def _path(path: str, value: str) -> Iterator[Cause]:
    if value == "/":
        return
    if value == "//":
        yield bad_value(path, value, "segment[0] may not be empty")
        return
    if not value.startswith("/"):
        yield bad_value(path, value, "must start with a '/'")
    for index, step in enumerate(value[1:].removesuffix("/").split("/")):
        if not step:
            yield bad_value(path, value, f"segment[{index}] may not be empty")
        else:
            yield from (bad_value(path, value, f"segment[{index}]: {why}") for why in SUBDOMAIN.problems(step))


def _conditions(path: str, conditions: Sequence[ReadOnly]) -> Iterator[Cause]:
    if len(conditions) > MOST_CONDITIONS:
        why = f"Too many: {len(conditions)}: must have at most {MOST_CONDITIONS} items"
        yield Cause(path, "FieldValueTooMany", why)
    names = [str(one.get("name") or "") for one in conditions]
    for index, one in enumerate(conditions):
        expression, name = str(one.get("expression") or "").strip(), names[index]
        if not expression:
            yield required(f"{path}[{index}].expression")
        elif why := match_conditions.fault_of(expression):
            yield bad_value(f"{path}[{index}].expression", expression, why)
        if not name:
            yield required(f"{path}[{index}].name")
        else:
            yield from (bad_value(f"{path}[{index}].name", name, why) for why in QUALIFIED_NAME.problems(name))
        if name and name in names[:index]:
            yield duplicate(f"{path}[{index}].name", name)
