"""A bundle as plain objects, in the order in which OLM v1 makes them (v1.md §18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.extension.render.additional import additional
from shared.domain.extension.render.certificates import certificates
from shared.domain.extension.render.configuration import configured
from shared.domain.extension.render.definitions import definitions
from shared.domain.extension.render.deployment import deployments
from shared.domain.extension.render.model import (
    ALL,
    MULTI,
    OWN,
    SINGLE,
    SINGLE_OWN_GATE,
    Bundle,
    NotRenderedError,
    Plan,
    RenderOptions,
)
from shared.domain.extension.render.rbac import cluster_roles, roles, service_accounts
from shared.domain.extension.render.validation import validate
from shared.domain.extension.render.webhooks import mutating_configurations, services, validating_configurations

_MAKERS: Final = (
    service_accounts,
    roles,
    cluster_roles,
    definitions,
    additional,
    deployments,
    validating_configurations,
    mutating_configurations,
    services,
    certificates,
)
_WEBHOOKS: Final = "webhookDefinitions are not supported"
_FIXES: Final[Mapping[str, str]] = {
    _WEBHOOKS: "they are with --cert-provider cert-manager (or openshift-service-ca), if the cluster has one of those",
}


def render(bundle: Bundle, options: RenderOptions) -> tuple[ReadOnly, ...]:
    """All objects of a bundle. NotRenderedError, in the words of OLM v1, when there are none to be had."""
    check_supported(bundle, options)
    settings = configured(bundle, options)
    validate(bundle)
    targets = targets_of(bundle, options.install_namespace, settings.watch_namespace)
    plan = Plan(options.install_namespace, targets, options.cert_provider, settings.deployment_config)
    return tuple(manifest for make in _MAKERS for manifest in make(bundle, plan))


def check_supported(bundle: Bundle, options: RenderOptions) -> None:
    """NotRenderedError for the first thing that OLM v1 does not install, however it is configured (v1.md §16.2)."""
    why = _unsupported(bundle, options)
    if why:
        raise NotRenderedError(f"unsupported bundle: {why}", fix=_FIXES.get(why, ""))


def _unsupported(bundle: Bundle, options: RenderOptions) -> str:
    if bundle.csv["spec"]["apiservicedefinitions"].get("owned"):
        return "apiServiceDefintions are not supported"
    if bundle.webhooks and options.cert_provider == "none":
        return _WEBHOOKS
    if not options.is_on(SINGLE_OWN_GATE) and ALL not in bundle.install_modes:
        return f"bundle does not support {ALL} install mode"
    if not bundle.install_modes & {ALL, SINGLE, OWN}:
        return f"bundle must support at least one of [{ALL} {SINGLE} {OWN}] install modes"
    return ""


def targets_of(bundle: Bundle, install_namespace: str, watched: str | None) -> tuple[str, ...]:
    """The namespace that was configured, else all. NotRenderedError when the bundle does not support that."""
    targets = (watched,) if watched is not None else ("",) if ALL in bundle.install_modes else ()
    why = _misfit(bundle.install_modes, install_namespace, targets)
    if why:
        raise NotRenderedError(f"invalid option(s): invalid target namespaces [{' '.join(targets)}]: {why}")
    return targets


def _misfit(modes: frozenset[str], install_namespace: str, targets: tuple[str, ...]) -> str:
    supported = f"supported install modes [{' '.join(sorted(modes))}]"
    match targets:
        case ():
            return f"{'at least' if MULTI in modes else 'exactly'} one target namespace must be specified"
        case ("",):
            return "" if ALL in modes else f"{supported} do not support targeting all namespaces"
        case (namespace,) if namespace == install_namespace:
            return "" if OWN in modes else f"{supported} do not support targeting own namespace"
    return "" if SINGLE in modes else f"{supported} do not support target namespaces [{' '.join(targets)}]"
