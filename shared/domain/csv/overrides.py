"""Applies `Subscription.spec.config` to the Deployments of a ClusterServiceVersion (csv.md §6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from shared import kinds
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import Csv, Proxy, Subscription

PROXY: Final = kinds.PROXY.ref("cluster")
"""The proxy that an OpenShift uses."""
_Value: TypeAlias = Any  # why: fields of a pod are any JSON value


def config_of(csv: Csv, subscriptions: Iterable[Subscription]) -> ReadOnly:
    """The configuration of the first Subscription that installed the version, or is about to; empty without any.

    OLM waits until `installedCSV` names the version, and so may roll its Deployments out twice.
    """
    for subscription in subscriptions:
        if csv.name in (subscription.installed_csv, subscription.current_csv):
            return subscription.config
    return {}


def proxied(config: ReadOnly, proxy: Proxy | None) -> ReadOnly:
    """The configuration with the proxy of the cluster, unless it names one of its variables, if only to unset it."""
    own = fields.parts(config, "env")
    if proxy is None or _VARIABLES.keys() & {fields.text(one, "name") for one in own}:
        return config
    env = [{"name": name, "value": value} for name, read in _VARIABLES.items() if (value := read(proxy))]
    return {**config, "env": [*own, *env]} if env else config


def overridden(pod: ReadOnly, config: ReadOnly) -> Manifest:
    """The pod spec with the configuration applied; init containers are not changed."""
    changed = dict(pod)
    for key, merge in _POD.items():
        if config.get(key) is not None:
            _put(changed, key, merge(pod.get(key), config[key]))
    changed["containers"] = [_container(container, config) for container in fields.parts(pod, "containers")]
    return changed


def _container(container: ReadOnly, config: ReadOnly) -> Manifest:
    changed = dict(container)
    for key, merge in _CONTAINER.items():
        if config.get(key) is not None:
            _put(changed, key, merge(container.get(key), config[key]))
    return changed


def _put(target: Manifest, key: str, value: _Value) -> None:
    if value:
        target[key] = value
    else:
        target.pop(key, None)


def by_name(present: Sequence[ReadOnly] | None, desired: Sequence[ReadOnly]) -> list[ReadOnly]:
    """The list in which each wanted entry replaces the present one of its name; new entries are appended."""
    replacements = {fields.text(entry, "name"): entry for entry in desired}
    kept = [replacements.get(fields.text(entry, "name"), entry) for entry in present or ()]
    known = {fields.text(entry, "name") for entry in present or ()}
    return [*kept, *(entry for name, entry in replacements.items() if name not in known)]


def _appended(present: Sequence[ReadOnly] | None, desired: Sequence[ReadOnly]) -> list[ReadOnly]:
    merged = list(present or ())
    for entry in desired:
        if entry not in merged:
            merged.append(entry)
    return merged


def _replaced(_: _Value, desired: _Value) -> _Value:
    return desired


def _affinity(present: ReadOnly | None, desired: Mapping[str, ReadOnly | None]) -> Manifest:
    """The affinity of the pod: a wanted `{}` clears all of it; a part with `{}` is cleared, any other part replaced."""
    if not desired:
        return {}
    named = {key: value for key, value in desired.items() if value is not None}
    return {key: value for key, value in {**(present or {}), **named}.items() if value}


_VARIABLES: Mapping[str, Callable[[Proxy], str]] = {
    "HTTP_PROXY": lambda proxy: proxy.http,
    "HTTPS_PROXY": lambda proxy: proxy.https,
    "NO_PROXY": lambda proxy: proxy.exempt,
}
_POD: Mapping[str, Callable[[_Value, _Value], _Value]] = {
    "volumes": by_name,
    "tolerations": _appended,
    "nodeSelector": _replaced,
    "affinity": _affinity,
}
_CONTAINER: Mapping[str, Callable[[_Value, _Value], _Value]] = {
    "env": by_name,
    "envFrom": _appended,
    "volumeMounts": by_name,
    "resources": _replaced,
}
