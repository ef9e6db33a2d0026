"""A bundle as plain objects, in the order in which OLM v1 makes them (v1.md §18)."""

from __future__ import annotations

from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.extension.render.additional import additional
from shared.domain.extension.render.certificates import certificates
from shared.domain.extension.render.configuration import configured
from shared.domain.extension.render.definitions import definitions
from shared.domain.extension.render.deployment import deployments
from shared.domain.extension.render.gates import check_supported
from shared.domain.extension.render.model import Bundle, Plan, Wishes
from shared.domain.extension.render.rbac import cluster_roles, roles, service_accounts
from shared.domain.extension.render.targets import targets_of
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


def render(bundle: Bundle, wishes: Wishes) -> tuple[ReadOnly, ...]:
    """All objects of a bundle. NotRenderedError, in the words of OLM v1, when there are none to be had."""
    check_supported(bundle, wishes)
    settings = configured(bundle, wishes)
    validate(bundle)
    targets = targets_of(bundle, wishes.install_namespace, settings.watch_namespace)
    plan = Plan(wishes.install_namespace, targets, wishes.cert_provider, settings.deployment_config)
    return tuple(manifest for make in _MAKERS for manifest in make(bundle, plan))
