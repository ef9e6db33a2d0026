"""Rules of workloads: Deployments and their like, Jobs, and the pods that these make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventing.local.apiserver.failures import Cause, Shown, as_json, bad_value, quoted, required, unsupported
from eventing.local.apiserver.metadata_rules import named
from shared.api.manifest import Manifest, ReadOnly, labels_of
from shared.domain.syntax import LABEL

MAX_PORT = 65535


def workload(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a workload whose pods run for ever."""
    spec = manifest.get("spec") or {}
    labels = labels_of(spec.get("template") or {})
    selector = spec.get("selector") or {}
    if "selector" in spec and not selector:
        yield bad_value("spec.selector", Shown("{}"), "empty selector is invalid for deployment")
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        shown = as_json(labels)
        yield bad_value("spec.template.metadata.labels", Shown(shown), "`selector` does not match template `labels`")
    yield from _natural("spec", spec)
    kind = (spec.get("strategy") or {}).get("type", _STRATEGIES[0])
    if manifest["kind"] == "Deployment" and kind not in _STRATEGIES:
        yield unsupported("spec.strategy", Shown(f'{{"Type":"{kind}","RollingUpdate":null}}'), *_STRATEGIES)
    yield from _pod("spec.template.spec", (spec.get("template") or {}).get("spec") or {}, ("Always",))


_STRATEGIES = ("Recreate", "RollingUpdate")


def job(manifest: Manifest) -> Iterator[Cause]:
    """The defects of a Job."""
    spec = manifest.get("spec") or {}
    if not spec.get("selector"):
        yield required("spec.selector")
    yield from _natural("spec", spec)
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        yield required("spec.completions", "when completion mode is Indexed")
    yield from _choice("spec", spec, "completionMode", "Indexed", "NonIndexed")
    yield from _pod("spec.template.spec", (spec.get("template") or {}).get("spec") or {}, ("OnFailure", "Never"))


def _natural(path: str, spec: ReadOnly) -> Iterator[Cause]:
    """The numbers below zero."""
    for name in _NATURAL:
        if isinstance(found := spec.get(name), int) and found < 0:
            yield bad_value(f"{path}.{name}", found, "must be greater than or equal to 0")


_NATURAL = (
    "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds", "parallelism", "completions",
    "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
)  # fmt: skip


def _choice(path: str, spec: ReadOnly, name: str, *known: str) -> Iterator[Cause]:
    if spec.get(name, known[0]) not in known:
        yield unsupported(f"{path}.{name}", spec[name], *known)


def _pod(path: str, spec: ReadOnly, policies: tuple[str, ...]) -> Iterator[Cause]:
    policy = spec.get("restartPolicy")
    if policy not in policies and "containers" in spec:
        if policies == ("OnFailure", "Never"):
            yield required(f"{path}.restartPolicy", "valid values: " + ", ".join(map(quoted, policies)))
        else:
            yield unsupported(f"{path}.restartPolicy", policy, *policies)
    volumes = {volume.get("name") for volume in spec.get("volumes") or []}
    for group in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(group) or []):
            yield from _container(f"{path}.{group}[{index}]", container, volumes)
    for group in ("volumes", "initContainers", "containers"):
        names = [one.get("name") for one in spec.get(group) or []]
        for index, name in enumerate(names):
            if name in names[:index]:
                yield Cause(f"{path}.{group}[{index}].name", "FieldValueDuplicate", f'Duplicate value: "{name}"')


def _container(path: str, container: ReadOnly, volumes: set[Any]) -> Iterator[Cause]:
    if not container.get("image"):
        yield required(f"{path}.image")
    yield from named(f"{path}.name", container.get("name") or "x", LABEL)
    yield from _choice(path, container, "imagePullPolicy", "Always", "IfNotPresent", "Never")
    for index, variable in enumerate(container.get("env") or []):
        if variable.get("value") and variable.get("valueFrom"):
            yield bad_value(f"{path}.env[{index}].valueFrom", "", "may not be specified when `value` is not empty")
    for index, port in enumerate(container.get("ports") or []):
        at = f"{path}.ports[{index}]"
        if not 1 <= port.get("containerPort", 1) <= MAX_PORT:
            yield bad_value(
                f"{at}.containerPort", port["containerPort"], f"must be between 1 and {MAX_PORT}, inclusive"
            )
        yield from _choice(at, port, "protocol", "SCTP", "TCP", "UDP")
    for index, mount in enumerate(container.get("volumeMounts") or []):
        if mount.get("name") not in volumes:
            yield Cause(f"{path}.volumeMounts[{index}].name", "FieldValueNotFound", f'Not found: "{mount.get("name")}"')
